// StarCoder and SantaCoder (Li et al., arXiv:2305.06161): GPT-2 whose heads share one head of keys and values. Names
// and keys as in transformers' modeling_gpt_bigcode.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kBigCodeFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "n_embd", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layer", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "n_positions", .member = &P::max_position_embeddings, .required = true},
    {.key = "n_inner", .member = &P::intermediate_size, .range = kWidth,
     .otherwise = [](P& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "activation_function", .member = &P::hidden_act, .choices = kGelus},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "embd_pdrop", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "attn_pdrop", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "multi_query", .only = true},
    {.key = "scale_attn_weights", .only = true},
    {.key = "add_cross_attention", .only = false, .written = kNever},
    {.key = "architectures", .always = Listed{"GPTBigCodeForCausalLM"}},
    {.key = "model_type", .always = "gpt_bigcode"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& gpt_bigcode_family() {
  static const PlainFamily family{
      .name = "GPTBigCode",
      .type = "gpt_bigcode",
      .defaults =
          [](P& c) {
            c.num_key_value_heads = 1, c.hidden_act = Activation::kGeluTanh, c.dropout = 0.1, c.attention_dropout = 0.1,
            c.embedding_dropout = 0.1, c.tie_word_embeddings = true, c.bos_token_id = 50256, c.eos_token_id = 50256;
          },
      .fields = kBigCodeFields,
      .blocks = "transformer.h.",
      .block = {.attention = {.query = "attn.query",
                              .key = "attn.key",
                              .value = "attn.value",
                              .out = "attn.c_proj",
                              .fused = "attn.c_attn"},
                .mlp = {.up = "mlp.c_fc", .down = "mlp.c_proj"},
                .norm1 = "ln_1",
                .norm2 = "ln_2"},
      .embedding = {.name = "transformer.wte", .positions = "transformer.wpe"},
      .head = {.norm = "transformer.ln_f", .name = "lm_head"},
      .names = {.prefix = "transformer.",
                .tops = {"wte.", "wpe.", "h.", "ln_f."},
                .left_out = {"*.attn.bias", "*.attn.masked_bias"}},
      // Counted on its modeling file beside a Llama's layer, without dropout (tests/golden/make/count_ops.py).
      .layer = {.forward = 50, .backward = 77, .core = 25}};
  return family;
}

}  // namespace workloads
