// GPT as a model: tensors, names, architecture.
#include <fmt/format.h>

#include <array>

#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

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
