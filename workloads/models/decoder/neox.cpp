// GPT-NeoX (Black et al., arXiv:2204.06745) and Pythia (Biderman et al., arXiv:2304.01373): attention and MLP side by
// side, rotary positions of a part of each head. Names and keys as in transformers' modeling_gpt_neox.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kNeoxFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "hidden_act", .member = &P::hidden_act, .choices = kGelus},
    {.key = "rotary_pct", .member = &P::rotary_share},
    {.key = "rotary_emb_base", .member = &P::rope_theta},
    {.key = "partial_rotary_factor", .member = &P::rotary_share, .written = kNever},  // as newer files name them
    {.key = "rope_theta", .member = &P::rope_theta, .written = kNever},
    {.key = "layer_norm_eps", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "hidden_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "use_parallel_residual",
     .read = [](const Keys& keys, P& c) {
       read_block<PlainBlock::kParallel, PlainBlock::kInTurn>(keys, "use_parallel_residual", c);
     },
     .write = [](const P& c) { return nlohmann::json(c.block == PlainBlock::kParallel); }},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "attention_bias", .only = true},
    {.key = "architectures", .always = Listed{"GPTNeoXForCausalLM"}},
    {.key = "model_type", .always = "gpt_neox"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& neox_family() {
  static const PlainFamily family{
      .name = "GPT-NeoX",
      .type = "gpt_neox",
      .defaults = [](P& c) { c.rotary_share = 0.25, c.block = PlainBlock::kParallel; },
      .fields = kNeoxFields,
      .blocks = "gpt_neox.layers.",
      .block = {.attention = {.query = "attention.query",
                              .key = "attention.key",
                              .value = "attention.value",
                              .out = "attention.dense",
                              .fused = "attention.query_key_value",
                              .fused_groups = 0},
                .mlp = {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"},
                .norm1 = "input_layernorm",
                .norm2 = "post_attention_layernorm"},
      .embedding = {.name = "gpt_neox.embed_in"},
      .head = {.norm = "gpt_neox.final_layer_norm", .name = "embed_out"},
      .names = {.prefix = "gpt_neox.",
                .tops = {"embed_in.", "layers.", "final_layer_norm."},
                .left_out = {"*.attention.bias", "*.attention.masked_bias", "*.rotary_emb.inv_freq"}},
      .layer = {.forward = 85, .backward = 123, .core = 22}};
  return family;
}

}  // namespace workloads
