// BLOOM (Le Scao et al., arXiv:2211.05100): as GPT-2, with a norm of the tokens and slopes of heads in the place of
// positions. Names and keys as in transformers' modeling_bloom.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

/// Files of the first release have other words for sizes than later ones.
void read_size(const Keys& keys, std::array<const char*, 2> names, std::int64_t& size) {
  for (const char* name : names) keys.optional(name, size);
  if (!keys.has(names[1])) keys.require(names[0]);
}

/// transformers reads no other width.
void read_inner(const Keys& keys, P& c) {
  c.intermediate_size = 4 * c.hidden_size;
  keys.only("n_inner", c.intermediate_size);
}

void check_inner(const Rules& rules, const P& c) {
  if (c.intermediate_size != 4 * c.hidden_size) rules.fail("n_inner", "is not 4 times hidden_size");
}

// clang-format off
constexpr auto kBloomFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .range = kWidth,
     .read = [](const Keys& keys, P& c) { read_size(keys, {"hidden_size", "n_embed"}, c.hidden_size); }},
    {.key = "n_layer", .member = &P::num_hidden_layers, .range = kLayers,
     .read = [](const Keys& keys, P& c) { read_size(keys, {"n_layer", "num_hidden_layers"}, c.num_hidden_layers); }},
    {.key = "n_head", .member = &P::num_attention_heads, .range = kHeadCounts,
     .read = [](const Keys& keys, P& c) { read_size(keys, {"n_head", "num_attention_heads"}, c.num_attention_heads); }},
    {.key = "n_inner", .read = read_inner, .check = check_inner},
    {.key = "seq_length", .member = &P::max_position_embeddings},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "hidden_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "apply_residual_connection_post_layernorm", .only = false},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"BloomForCausalLM"}},
    {.key = "model_type", .always = "bloom"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& bloom_family() {
  static const PlainFamily family{
      .name = "BLOOM",
      .type = "bloom",
      .defaults =
          [](P& c) {
            c.max_position_embeddings = 2048, c.hidden_act = Activation::kGeluTanh, c.alibi_bias_max = 8,
            c.tie_word_embeddings = true, c.bos_token_id = 1, c.eos_token_id = 2;
          },
      .fields = kBloomFields,
      .blocks = "transformer.h.",
      .block = {.attention = {.query = "self_attention.query",
                              .key = "self_attention.key",
                              .value = "self_attention.value",
                              .out = "self_attention.dense",
                              .fused = "self_attention.query_key_value",
                              .fused_groups = 0},
                .mlp = {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"},
                .norm1 = "input_layernorm",
                .norm2 = "post_attention_layernorm"},
      .embedding = {.name = "transformer.word_embeddings", .norm = "transformer.word_embeddings_layernorm"},
      .head = {.norm = "transformer.ln_f", .name = "lm_head"},
      .scores = {.fp32_softmax = true},
      .expansion = 4,
      .names = {.prefix = "transformer.", .tops = {"word_embeddings.", "word_embeddings_layernorm.", "h.", "ln_f."}},
      // Counted on its modeling file beside a Llama's layer (tests/golden/make/count_ops.py).
      .layer = {.forward = 66, .backward = 102, .core = 15}};
  return family;
}

}  // namespace workloads
