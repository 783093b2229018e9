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
          .vocabulary = c.vocab_size,
          .positions = c.max_position_embeddings,
          .blocks = "transformer.h.",
          .block = {.norm = {.eps = c.layer_norm_eps},
                    .attention = {.heads = c.num_attention_heads,
                                  .kv_heads = c.num_attention_heads,
                                  .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                                  .dropout = c.attn_pdrop,
                                  .qkv_bias = true,
                                  .out_bias = true},
                    .mlp = {.size = c.intermediate_size, .activation = device_function(c.hidden_act), .bias = true},
                    .residual = {.dropout = c.resid_pdrop},
                    .names = {.attention = {.query = "attn.c_attn.q",
                                            .key = "attn.c_attn.k",
                                            .value = "attn.c_attn.v",
                                            .out = "attn.c_proj"},
                              .mlp = {.up = "mlp.c_fc", .down = "mlp.c_proj"},
                              .norm1 = "ln_1",
                              .norm2 = "ln_2"}},
          .embedding = {.name = "transformer.wte", .positions = "transformer.wpe", .dropout = c.embd_pdrop},
          .head = {.norm = "transformer.ln_f", .name = "lm_head", .tied = c.tie_word_embeddings},
          .end_tokens = {c.eos_token_id}};
}

ModelInfo info_of(const GptConfig& c) {
  ModelInfo info = decoder_info("GPT", arch_of(c),
                                {.prefix = "transformer.",
                                 .tops = {"wte.", "wpe.", "h.", "ln_f."},
                                 .left_out = {"*.attn.bias", "*.attn.masked_bias"}});  // causal masks of older files
  info.initializer_range = c.initializer_range;
  return info;
}

class GptModel final : public DecoderModel<GptConfig> {
 public:
  explicit GptModel(const GptConfig& config)
      : DecoderModel{config, info_of(config), {.forward = 59, .backward = 89, .core = 24}} {}

  std::vector<WeightSpec> weights() const override { return gpt_weights(config_); }
};

}  // namespace

void apply(const ModelChange& change, GptConfig& c) {
  set_common(c, change.sizes);
  set_size(c.vocab_size, change.sizes.vocabulary), set_size(c.max_position_embeddings, change.sizes.positions);
  if (const auto& ids = change.tokens) {
    c.vocab_size = ids->vocabulary;
    c.bos_token_id = ids->begin.value_or(c.bos_token_id);
    c.eos_token_id = ids->end.value_or(c.bos_token_id);
  }
  if (change.own_head) c.tie_word_embeddings = false;
  if (change.no_dropout) c.embd_pdrop = c.resid_pdrop = c.attn_pdrop = 0;
}

GptConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(GptConfig config) { return std::make_shared<GptModel>(config); }

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
