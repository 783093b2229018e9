#include "trnsim/predict/model_of_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "workloads/presets.h"

namespace trnsim {
namespace {

enum class Shape { kNone, kBlocks, kBert, kLlama, kGpt, kNeoX };

struct ModelWord {
  std::string_view word;
  Shape shape;
  std::string_view differs;  // what the model has otherwise than the family's graph
};
/// The first that the name contains decides.
constexpr std::array kModelWords = {
    ModelWord{" block", Shape::kBlocks, ""},
    ModelWord{"albert", Shape::kNone, ""},
    ModelWord{"deberta", Shape::kNone, ""},
    ModelWord{"mixtral", Shape::kNone, ""},
    ModelWord{"bert", Shape::kBert, ""},  // RoBERTa, DistilBERT, CamemBERT, XLM-RoBERTa, ...
    ModelWord{"electra", Shape::kBert, "as BERT's encoder"},
    ModelWord{"llama", Shape::kLlama, ""},
    ModelWord{"mistral", Shape::kLlama, "as a Llama; no sliding window"},
    ModelWord{"vicuna", Shape::kLlama, ""},
    ModelWord{"qwen", Shape::kLlama, "as a Llama; no bias of queries, keys and values"},
    ModelWord{"neox", Shape::kNeoX, "as a GPT: attention before the MLP, learned positions"},
    ModelWord{"pythia", Shape::kNeoX, "as a GPT: attention before the MLP, learned positions"},
    ModelWord{"gpt-j", Shape::kNeoX, "as a GPT: attention before the MLP, learned positions"},
    ModelWord{"codegen", Shape::kNeoX, "as a GPT: attention before the MLP, learned positions"},
    ModelWord{"gpt", Shape::kGpt, ""},
    ModelWord{"opt-", Shape::kGpt, "as a GPT: GELU"},
    ModelWord{"bloom", Shape::kGpt, "as a GPT: learned positions"},
};

const ModelWord* word_of(std::string_view model) {
  const std::string name = base::lower(model);
  const auto found =
      std::ranges::find_if(kModelWords, [&](const ModelWord& w) { return name.find(w.word) != std::string::npos; });
  return found == kModelWords.end() ? nullptr : &*found;
}

/// The preset under the row's name, or one that only its case or hyphens distinguish.
std::optional<workloads::ModelPtr> preset_of(std::string_view model) {
  const auto plain = [](std::string_view name) {
    std::string out = base::lower(name);
    std::erase_if(out, [](char c) { return c == '-' || c == '_' || c == ' '; });
    return out;
  };
  for (const std::string& name : workloads::model_preset_names())
    if (plain(name) == plain(model)) return workloads::model_preset(name);
  return std::nullopt;
}

/// The preset of the row's name if it is of the family, or a blank one of it, with the sizes that the columns give;
/// nothing when one is missing.
std::optional<workloads::ModelPtr> sized(const analysis::TrainingRow& row, std::string_view family) {
  auto model = preset_of(row.model);
  if (!model || (*model)->family() != family) model = workloads::blank_model(family);
  const auto size = [](const std::optional<int>& cell) { return cell ? std::int64_t{std::max(*cell, 0)} : 0; };
  workloads::Sizes sizes{.layers = size(row.layers),
                         .hidden = size(row.hidden),
                         .heads = size(row.heads),
                         .kv_heads = size(row.kv_heads),
                         .ffn = size(row.ffn),
                         .vocabulary = size(row.vocab)};
  if (row.seq_len) sizes.positions = std::max<std::int64_t>((*model)->sizes().positions, *row.seq_len);
  model = (*model)->with_sizes(sizes);
  sizes = (*model)->sizes();
  const bool known =
      row.seq_len && sizes.layers > 0 && sizes.hidden > 0 && sizes.heads > 0 && sizes.ffn > 0 && sizes.vocabulary > 0;
  return known ? model : std::nullopt;
}

void say(const ModelWord& word, std::vector<std::string>& assumed) {
  if (!word.differs.empty()) assumed.emplace_back(word.differs);
}

}  // namespace

Family family_of(std::string_view model) {
  const ModelWord* word = word_of(model);
  switch (word ? word->shape : Shape::kNone) {
    case Shape::kNone: return Family::kNone;
    case Shape::kBlocks: return Family::kBlocks;
    case Shape::kBert: return Family::kEncoder;
    case Shape::kLlama:
    case Shape::kGpt:
    case Shape::kNeoX: return Family::kDecoder;
  }
  return Family::kNone;
}

std::optional<workloads::ModelPtr> encoder_config_of(const analysis::TrainingRow& row,
                                                     std::vector<std::string>& assumed) {
  const ModelWord* word = word_of(row.model);
  if (!word || word->shape != Shape::kBert) return std::nullopt;
  const auto model = sized(row, "BERT");
  if (!model) return std::nullopt;
  say(*word, assumed);
  const std::int64_t positions = std::max<std::int64_t>((*model)->sizes().positions, 512);
  return (*model)->with_sizes({.positions = positions});
}

std::optional<workloads::ModelPtr> decoder_config_of(const analysis::TrainingRow& row,
                                                     std::vector<std::string>& assumed) {
  const ModelWord* word = word_of(row.model);
  if (!word) return std::nullopt;
  const bool llama = word->shape == Shape::kLlama, neox = word->shape == Shape::kNeoX;
  if (!llama && !neox && word->shape != Shape::kGpt) return std::nullopt;
  auto model = sized(row, llama ? "Llama" : "GPT");
  if (!model) return std::nullopt;
  // config.json of EleutherAI/gpt-neox-20b: no dropout, a head of its own
  if (neox) model = (*model)->without_dropout()->with_own_head();
  say(*word, assumed);
  return model;
}

}  // namespace trnsim
