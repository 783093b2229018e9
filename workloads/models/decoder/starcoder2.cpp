// StarCoder2 (Lozhkov et al., arXiv:2402.19173): LayerNorm and biases as GPT-2, heads that share keys, rotary positions
// and a window. Names and keys as in transformers' modeling_starcoder2.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kStarCoderFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "num_key_value_heads", .member = &P::num_key_value_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "hidden_act", .member = &P::hidden_act, .choices = kGelus},
    {.key = "sliding_window", .member = &P::sliding_window, .range = kPositiveOrNone},
    {.key = "rope_theta", .member = &P::rope_theta},
    {.key = "norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "residual_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "embedding_dropout", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "use_bias", .only = true},
    {.key = "rope_scaling", .only = None{}, .written = kNever},
    {.key = "architectures", .always = Listed{"Starcoder2ForCausalLM"}},
    {.key = "model_type", .always = "starcoder2"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& starcoder2_family() {
  static const PlainFamily family{
      .name = "StarCoder2",
      .type = "starcoder2",
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kGeluTanh, c.rotary_share = 1, c.tie_word_embeddings = true, c.bos_token_id = 0,
            c.eos_token_id = 0, c.initializer_range = 0.018042;
          },
      .fields = kStarCoderFields,
      .blocks = "model.layers.",
      .block = {.attention = {.query = "self_attn.q_proj",
                              .key = "self_attn.k_proj",
                              .value = "self_attn.v_proj",
                              .out = "self_attn.o_proj"},
                .mlp = {.up = "mlp.c_fc", .down = "mlp.c_proj"},
                .norm1 = "input_layernorm",
                .norm2 = "post_attention_layernorm"},
      .embedding = {.name = "model.embed_tokens"},
      .head = {.norm = "model.norm", .name = "lm_head"},
      .names = {.prefix = "model.",
                .tops = {"embed_tokens.", "layers.", "norm."},
                .left_out = {"*.rotary_emb.inv_freq"}},
      // Counted on its modeling file beside a Llama's layer, without dropout (tests/golden/make/count_ops.py).
      .layer = {.forward = 98, .backward = 137, .core = 22}};
  return family;
}

}  // namespace workloads
