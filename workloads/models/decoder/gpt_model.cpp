// GPT as a model: tensors, names, presets, architecture.
#include <fmt/format.h>

#include <array>

#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

struct GptRow {
  std::string_view name;
  std::int64_t hidden, layers, heads, positions;
  std::string_view source;
};
constexpr std::string_view kGpt2 = "Radford et al. 2019, table 2; config.json of openai-community/gpt2*";
constexpr std::string_view kGpt3 = "Brown et al., arXiv:2005.14165, table 2.1";
constexpr std::string_view kNemo = "aws-neuron/neuronx-nemo-megatron, examples/nlp/language_modeling/gpt_*.sh";
// clang-format off
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

GptConfig make(const GptRow& row) {
  GptConfig c;
  c.hidden_size = row.hidden;
  c.num_hidden_layers = row.layers;
  c.num_attention_heads = row.heads;
  c.intermediate_size = 4 * row.hidden;
  c.max_position_embeddings = row.positions;
  return c;
}

void gpt_layer(SpecList& list, const GptConfig& c, std::int64_t layer) {
  const std::string prefix = fmt::format("transformer.h.{}.", layer);
  list.at(layer);
  list.layer_norm(prefix + "ln_1", c.hidden_size);
  list.conv1d(prefix + "attn.c_attn", c.hidden_size, 3 * c.hidden_size, TensorSplit::kFused);
  list.conv1d(prefix + "attn.c_proj", c.hidden_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
  list.layer_norm(prefix + "ln_2", c.hidden_size);
  list.conv1d(prefix + "mlp.c_fc", c.hidden_size, c.intermediate_size, TensorSplit::kAxis1);
  list.conv1d(prefix + "mlp.c_proj", c.intermediate_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
}

DecoderArch arch_of(const GptConfig& c) {
  return {.layers = c.num_hidden_layers,
          .hidden = c.hidden_size,
          .heads = c.num_attention_heads,
          .kv_heads = c.num_attention_heads,
          .head = c.num_attention_heads > 0 ? c.head_size() : 0,
          .ffn = c.intermediate_size,
          .vocabulary = c.vocab_size,
          .positions = c.max_position_embeddings,
          .eps = c.layer_norm_eps,
          .rms = false,
          .gated = false,
          .rotary = false,
          .bias = true,
          .tied = c.tie_word_embeddings,
          .activation = device_function(c.hidden_act),
          .dropout = c.resid_pdrop,
          .embedding_dropout = c.embd_pdrop,
          .attention_dropout = c.attn_pdrop,
          .blocks = "transformer.h.",
          .norm1 = "ln_1",
          .norm2 = "ln_2",
          .last_norm = "transformer.ln_f",
          .query = "attn.c_attn.q",
          .key = "attn.c_attn.k",
          .value = "attn.c_attn.v",
          .out = "attn.c_proj",
          .up = "mlp.c_fc",
          .down = "mlp.c_proj",
          .embedding = "transformer.wte.weight",
          .end_tokens = {c.eos_token_id}};
}

class GptModel final : public DecoderModel<GptConfig> {
 public:
  explicit GptModel(GptConfig config) : DecoderModel{std::move(config)}, arch_{arch_of(config_)} {}

  std::string_view family() const override { return "GPT"; }
  std::vector<WeightSpec> weights() const override { return gpt_weights(config_); }
  const DecoderArch* decoder() const override { return &arch_; }
  FrameworkOps traced_ops(const Step& step) const override {
    return decoder_ops({.forward = 59, .backward = 89, .core = 24}, step);
  }

  std::string canonical_name(std::string name) const override {
    return with_prefix(std::move(name), "transformer.", std::array<std::string_view, 4>{"wte.", "wpe.", "h.", "ln_f."});
  }
  bool is_left_out(std::string_view name) const override {
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");  // the causal masks of older files
  }

  ModelPtr with_sizes(const Sizes& s) const override {
    return changed([&](GptConfig& c) {
      set_common(c, s);
      set(c.vocab_size, s.vocabulary), set(c.max_position_embeddings, s.positions);
    });
  }
  ModelPtr with_tokens(const TokenIds& ids) const override {
    return changed([&](GptConfig& c) {
      c.vocab_size = ids.vocabulary;
      c.bos_token_id = ids.begin.value_or(c.bos_token_id);
      c.eos_token_id = ids.end.value_or(c.bos_token_id);
    });
  }
  ModelPtr without_dropout() const override {
    return changed([](GptConfig& c) { c.embd_pdrop = c.resid_pdrop = c.attn_pdrop = 0; });
  }

 private:
  const DecoderArch arch_;
};

}  // namespace

GptConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(GptConfig config) { return std::make_shared<GptModel>(std::move(config)); }

GptConfig read_gpt_config(const std::filesystem::path& path) { return read_one<GptConfig>(path, "gpt2"); }

std::vector<Preset> gpt_presets() {
  std::vector<Preset> out;
  for (const GptRow& row : kGpt) out.push_back({row.name, row.source, make_model(make(row))});
  return out;
}

std::vector<WeightSpec> gpt_weights(const GptConfig& c) {
  SpecList list;
  list.at(c.tie_word_embeddings ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.embedding("transformer.wte", c.vocab_size, c.hidden_size, TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  list.embedding("transformer.wpe", c.max_position_embeddings, c.hidden_size);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) gpt_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  list.layer_norm("transformer.ln_f", c.hidden_size);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.hidden_size, c.vocab_size, TensorSplit::kVocabulary);
  return list.take();
}

}  // namespace workloads
