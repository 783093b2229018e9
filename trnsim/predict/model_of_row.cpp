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
std::optional<workloads::ModelConfig> preset_of(std::string_view model) {
  const auto plain = [](std::string_view name) {
    std::string out = base::lower(name);
    std::erase_if(out, [](char c) { return c == '-' || c == '_' || c == ' '; });
    return out;
  };
  for (const std::string& name : workloads::model_preset_names())
    if (plain(name) == plain(model)) return workloads::model_preset(name);
  return std::nullopt;
}

template <typename Config>
Config preset_or_default(std::string_view model) {
  if (const auto preset = preset_of(model))
    if (const Config* config = std::get_if<Config>(&*preset)) return *config;
  return {};
}

/// The sizes that every family has; false when one is missing.
template <typename Config>
bool fill(const analysis::TrainingRow& row, Config& c) {
  const auto set = [](const std::optional<int>& cell, std::int64_t& size) {
    if (cell && *cell > 0) size = *cell;
  };
  set(row.layers, c.num_hidden_layers);
  set(row.hidden, c.hidden_size);
  set(row.heads, c.num_attention_heads);
  set(row.ffn, c.intermediate_size);
  set(row.vocab, c.vocab_size);
  if (row.seq_len) c.max_position_embeddings = std::max<std::int64_t>(c.max_position_embeddings, *row.seq_len);
  return row.seq_len && c.num_hidden_layers > 0 && c.hidden_size > 0 && c.num_attention_heads > 0 &&
         c.intermediate_size > 0 && c.vocab_size > 0;
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

std::optional<workloads::BertConfig> encoder_config_of(const analysis::TrainingRow& row,
                                                       std::vector<std::string>& assumed) {
  const ModelWord* word = word_of(row.model);
  if (!word || word->shape != Shape::kBert) return std::nullopt;
  auto config = preset_or_default<workloads::BertConfig>(row.model);
  config.max_position_embeddings = std::max<std::int64_t>(config.max_position_embeddings, 512);
  if (!fill(row, config)) return std::nullopt;
  say(*word, assumed);
  return config;
}

std::optional<workloads::ModelConfig> decoder_config_of(const analysis::TrainingRow& row,
                                                        std::vector<std::string>& assumed) {
  const ModelWord* word = word_of(row.model);
  if (!word) return std::nullopt;
  if (word->shape == Shape::kLlama) {
    auto llama = preset_or_default<workloads::LlamaConfig>(row.model);
    if (!fill(row, llama)) return std::nullopt;
    if (row.kv_heads && *row.kv_heads > 0) llama.num_key_value_heads = *row.kv_heads;
    if (llama.num_key_value_heads == 0) llama.num_key_value_heads = llama.num_attention_heads;
    llama.head_dim = llama.hidden_size / llama.num_attention_heads;
    say(*word, assumed);
    return llama;
  }
  if (word->shape != Shape::kGpt && word->shape != Shape::kNeoX) return std::nullopt;
  auto gpt = preset_or_default<workloads::GptConfig>(row.model);
  if (word->shape == Shape::kNeoX) {  // config.json of EleutherAI/gpt-neox-20b: no dropout, a head of its own
    gpt.embd_pdrop = gpt.resid_pdrop = gpt.attn_pdrop = 0;
    gpt.tie_word_embeddings = false;
  }
  if (!fill(row, gpt)) return std::nullopt;
  say(*word, assumed);
  return gpt;
}

}  // namespace trnsim
