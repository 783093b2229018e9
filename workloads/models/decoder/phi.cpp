// Phi-1.5 and Phi-2 (Li et al., arXiv:2309.05463): attention and MLP side by side behind one norm, rotary positions of
// a part of each head, biases everywhere. Names and keys as in transformers' modeling_phi.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kPhiFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "num_key_value_heads", .read = read_own_keys},
    {.key = "hidden_act", .member = &P::hidden_act, .choices = kGelus},
    {.key = "partial_rotary_factor", .member = &P::rotary_share},
    {.key = "rope_theta", .member = &P::rope_theta},
    {.key = "layer_norm_eps", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "embd_pdrop", .only = 0.0},
    {.key = "qk_layernorm", .member = &P::qk_layernorm},
    {.key = "tie_word_embeddings", .only = false},
    {.key = "architectures", .always = Listed{"PhiForCausalLM"}},
    {.key = "model_type", .always = "phi"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& phi_family() {
  static const PlainFamily family{
      .name = "Phi-2",
      .type = "phi",
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kGeluTanh, c.rotary_share = 0.5, c.block = PlainBlock::kParallel,
            c.bos_token_id = 1, c.eos_token_id = 2;
          },
      .fields = kPhiFields,
      .blocks = "model.layers.",
      .block = {.attention = {.query = "self_attn.q_proj",
                              .key = "self_attn.k_proj",
                              .value = "self_attn.v_proj",
                              .out = "self_attn.dense",
                              .query_norm = "self_attn.q_layernorm",
                              .key_norm = "self_attn.k_layernorm"},
                .mlp = {.up = "mlp.fc1", .down = "mlp.fc2"},
                .norm1 = "input_layernorm"},
      .embedding = {.name = "model.embed_tokens"},
      .head = {.norm = "model.final_layernorm", .name = "lm_head", .bias = true},
      .names = {.prefix = "model.",
                .tops = {"embed_tokens.", "layers.", "final_layernorm."},
                .left_out = {"*.rotary_emb.inv_freq"}},
      // Counted on modeling_phi.py, beside a Llama's layer (tests/golden/make/count_ops.py): 17 and 20 less than that;
      // queries and keys are cast before their product.
      .layer = {.forward = 92, .backward = 137, .core = 24}};
  return family;
}

}  // namespace workloads
