#include "workloads/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/suggest.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

struct BertRow {
  std::string_view name;
  std::int64_t vocab, hidden, layers, heads;
  std::string_view source;
};
constexpr std::string_view kBertPaper = "Devlin et al., arXiv:1810.04805, section 3; config.json on huggingface.co";
// clang-format off
constexpr std::array kBert = {
    BertRow{"bert-base-uncased",  30522,  768, 12, 12, kBertPaper},
    BertRow{"bert-base-cased",    28996,  768, 12, 12, kBertPaper},
    BertRow{"bert-large-uncased", 30522, 1024, 24, 16, kBertPaper},
    BertRow{"bert-small",         30522,  128,  2,  2, "ours, for quick runs"},
    BertRow{"bert-base",          30522,  768, 12, 12, "bert-base-uncased"},
    BertRow{"bert-large",         30522, 1024, 24, 16, "bert-large-uncased"},
};

struct LlamaRow {
  std::string_view name;
  std::int64_t vocab, hidden, layers, heads, kv_heads, ffn, positions;
  double theta, eps, scaling;  // scaling: the factor of rope_type "llama3", 0 for none
  bool tied;
  std::string_view source;
};
constexpr std::string_view kLlama2 = "Touvron et al., arXiv:2307.09288; config.json of meta-llama/Llama-2-*-hf";
constexpr std::string_view kLlama3 = "Dubey et al., arXiv:2407.21783, table 3; config.json of meta-llama/*";
constexpr std::array kLlama = {
    LlamaRow{"llama2-7b",     32000,   4096,  32,  32, 32, 11008,   4096,  1e4, 1e-5,  0, false, kLlama2},
    LlamaRow{"llama2-13b",    32000,   5120,  40,  40, 40, 13824,   4096,  1e4, 1e-5,  0, false, kLlama2},
    LlamaRow{"llama2-70b",    32000,   8192,  80,  64,  8, 28672,   4096,  1e4, 1e-5,  0, false, kLlama2},
    LlamaRow{"llama3-8b",     128256,  4096,  32,  32,  8, 14336,   8192,  5e5, 1e-5,  0, false, kLlama3},
    LlamaRow{"llama3-70b",    128256,  8192,  80,  64,  8, 28672,   8192,  5e5, 1e-5,  0, false, kLlama3},
    LlamaRow{"llama3.1-8b",   128256,  4096,  32,  32,  8, 14336, 131072,  5e5, 1e-5,  8, false, kLlama3},
    LlamaRow{"llama3.1-70b",  128256,  8192,  80,  64,  8, 28672, 131072,  5e5, 1e-5,  8, false, kLlama3},
    LlamaRow{"llama3.1-405b", 128256, 16384, 126, 128,  8, 53248, 131072,  5e5, 1e-5,  8, false, kLlama3},
    LlamaRow{"llama3.2-1b",   128256,  2048,  16,  32,  8,  8192, 131072,  5e5, 1e-5, 32, true,  kLlama3},
    LlamaRow{"llama3.2-3b",   128256,  3072,  28,  24,  8,  8192, 131072,  5e5, 1e-5, 32, true,  kLlama3},
    LlamaRow{"llama-small",   512,     128,   2,   8,  8,   384,   2048,  1e4, 1e-5,  0, false, "ours, for quick runs"},
};

struct GptRow {
  std::string_view name;
  std::int64_t hidden, layers, heads, positions;
  std::string_view source;
};
constexpr std::string_view kGpt2 = "Radford et al. 2019, table 2; config.json of openai-community/gpt2*";
constexpr std::string_view kGpt3 = "Brown et al., arXiv:2005.14165, table 2.1";
constexpr std::string_view kNemo = "aws-neuron/neuronx-nemo-megatron, examples/nlp/language_modeling/gpt_*.sh";
constexpr std::array kGpt = {
    GptRow{"gpt-small",     128,  2,  8, 2048, "ours, for quick runs"},
    GptRow{"gpt2",          768, 12, 12, 1024, kGpt2},
    GptRow{"gpt2-medium",  1024, 24, 16, 1024, kGpt2},
    GptRow{"gpt2-large",   1280, 36, 20, 1024, kGpt2},
    GptRow{"gpt2-xl",      1600, 48, 25, 1024, kGpt2},
    GptRow{"gpt3-6.7b",    4096, 32, 32, 2048, kGpt3},
    GptRow{"gpt3-13b",     5120, 40, 40, 2048, "as gpt3-6.7b; width 40 heads x 128, not the table's 5140"},
    GptRow{"gpt3-23b",     8192, 28, 64, 2048, kNemo},
    GptRow{"gpt3-46b",     8192, 56, 64, 2048, kNemo},
    GptRow{"gpt3-175b",   12288, 96, 96, 2048, kGpt3},
};
// clang-format on

BertConfig make(const BertRow& row) {
  BertConfig c;
  c.vocab_size = row.vocab;
  c.hidden_size = row.hidden;
  c.num_hidden_layers = row.layers;
  c.num_attention_heads = row.heads;
  c.intermediate_size = 4 * row.hidden;
  c.max_position_embeddings = 512;
  return c;
}

LlamaConfig make(const LlamaRow& row) {
  LlamaConfig c;
  c.vocab_size = row.vocab;
  c.hidden_size = row.hidden;
  c.num_hidden_layers = row.layers;
  c.num_attention_heads = row.heads;
  c.num_key_value_heads = row.kv_heads;
  c.head_dim = row.hidden / row.heads;
  c.intermediate_size = row.ffn;
  c.max_position_embeddings = row.positions;
  c.rms_norm_eps = row.eps;
  c.rope_theta = row.theta;
  c.tie_word_embeddings = row.tied;
  if (row.scaling > 0) c.rope_scaling = RopeScaling{.factor = row.scaling};
  if (row.vocab == 128256) {  // <|begin_of_text|>, <|end_of_text|>
    c.bos_token_id = 128000;
    c.eos_token_ids = {128001};
  }
  return c;
}

GptConfig make(const GptRow& row) {
  GptConfig c;
  c.hidden_size = row.hidden;
  c.num_hidden_layers = row.layers;
  c.num_attention_heads = row.heads;
  c.intermediate_size = 4 * row.hidden;
  c.max_position_embeddings = row.positions;
  return c;
}

template <typename Rows>
auto find(const Rows& rows, std::string_view name) {
  const auto at = std::ranges::find_if(rows, [name](const auto& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

[[noreturn]] void unknown(std::string_view name, const std::vector<std::string>& names) {
  throw Error{Fault::kUsage, "model preset", fmt::format("\"{}\" is unknown", name), base::suggest_fix(name, names)};
}

}  // namespace

std::vector<std::string> bert_preset_names() {
  std::vector<std::string> names;
  for (const BertRow& row : kBert) names.emplace_back(row.name);
  return names;
}

BertConfig bert_preset(std::string_view name) {
  if (const BertRow* row = find(kBert, name)) return make(*row);
  unknown(name, bert_preset_names());
}

ModelConfig model_preset(std::string_view name) {
  if (const BertRow* row = find(kBert, name)) return make(*row);
  if (const LlamaRow* row = find(kLlama, name)) return make(*row);
  if (const GptRow* row = find(kGpt, name)) return make(*row);
  unknown(name, model_preset_names());
}

std::vector<PresetRow> model_presets() {
  std::vector<PresetRow> presets;
  const auto add = [&presets](const auto& rows) {
    for (const auto& row : rows) presets.push_back({row.name, row.source});
  };
  add(kBert);
  add(kLlama);
  add(kGpt);
  return presets;
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (const PresetRow& preset : model_presets()) names.emplace_back(preset.name);
  return names;
}

bool is_model_preset(std::string_view name) {
  return std::ranges::any_of(model_presets(), [name](const PresetRow& preset) { return preset.name == name; });
}

}  // namespace workloads
