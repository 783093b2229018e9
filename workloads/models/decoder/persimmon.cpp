// Persimmon (Adept AI): norms of queries' and keys' heads, the square of ReLU, rotary positions of a part of each head.
// Names and keys as in transformers' modeling_persimmon.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kPersimmonFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "num_key_value_heads", .read = read_own_keys},
    {.key = "hidden_act", .member = &P::hidden_act, .choices = kRelu2Only},
    {.key = "partial_rotary_factor", .member = &P::rotary_share},
    {.key = "rope_theta", .member = &P::rope_theta},
    {.key = "layer_norm_eps", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "hidden_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "qk_layernorm", .member = &P::qk_layernorm},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"PersimmonForCausalLM"}},
    {.key = "model_type", .always = "persimmon"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& persimmon_family() {
  static const PlainFamily family{
      .name = "Persimmon",
      .type = "persimmon",
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kRelu2, c.rotary_share = 0.5, c.rope_theta = 25000, c.qk_layernorm = true,
            c.bos_token_id = 1, c.eos_token_id = 2;
          },
      .fields = kPersimmonFields,
      .blocks = "model.layers.",
      .block = {.attention = {.query = "self_attn.query",
                              .key = "self_attn.key",
                              .value = "self_attn.value",
                              .out = "self_attn.dense",
                              .query_norm = "self_attn.q_layernorm",
                              .key_norm = "self_attn.k_layernorm",
                              .fused = "self_attn.query_key_value",
                              .fused_groups = 0},
                .mlp = {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"},
                .norm1 = "input_layernorm",
                .norm2 = "post_attention_layernorm"},
      .embedding = {.name = "model.embed_tokens"},
      .head = {.norm = "model.final_layernorm", .name = "lm_head"},
      .scores = {.fp32_softmax = true},
      .names = {.prefix = "model.",
                .tops = {"embed_tokens.", "layers.", "final_layernorm."},
                .left_out = {"*.rotary_emb.inv_freq"}},
      // Beside GPT-NeoX's layer, whose parts they are: two norms of heads, and the square of ReLU.
      .layer = {.forward = 89, .backward = 132, .core = 22}};
  return family;
}

}  // namespace workloads
