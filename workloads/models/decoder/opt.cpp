// OPT (Zhang et al., arXiv:2205.01068): learned positions, of whose table no token has the first two rows, and ReLU.
// Names and keys as in transformers' modeling_opt.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kOptFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "ffn_dim", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "activation_function", .member = &P::hidden_act, .choices = kReluOnly},
    {.key = "init_std", .member = &P::initializer_range},
    {.key = "dropout", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "word_embed_proj_dim", .member = &P::embedding_size, .range = kPositiveOrNone,
     .written = [](const P& c) { return c.embedding_size > 0; }},
    {.key = "do_layer_norm_before",
     .read = [](const Keys& keys, P& c) {
       read_block<PlainBlock::kInTurn, PlainBlock::kNormOfSum>(keys, "do_layer_norm_before", c);
     },
     .write = [](const P& c) { return nlohmann::json(c.block == PlainBlock::kInTurn); }},
    {.key = "enable_bias", .only = true},
    {.key = "layerdrop", .only = 0.0, .written = kNever},
    {.key = "layer_norm_elementwise_affine", .only = true},
    {.key = "_remove_final_layer_norm", .only = false},
    {.key = "architectures", .always = Listed{"OPTForCausalLM"}},
    {.key = "model_type", .always = "opt"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& opt_family() {
  static const PlainFamily family{
      .name = "OPT",
      .type = "opt",
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kRelu, c.dropout = 0.1, c.tie_word_embeddings = true, c.bos_token_id = 2,
            c.eos_token_id = 2;
          },
      .fields = kOptFields,
      .blocks = "model.decoder.layers.",
      .block = {.attention = {.query = "self_attn.q_proj",
                              .key = "self_attn.k_proj",
                              .value = "self_attn.v_proj",
                              .out = "self_attn.out_proj"},
                .mlp = {.up = "fc1", .down = "fc2"},
                .norm1 = "self_attn_layer_norm",
                .norm2 = "final_layer_norm"},
      .embedding = {.name = "model.decoder.embed_tokens",
                    .positions = "model.decoder.embed_positions",
                    .first_position = 2,
                    .projection = "model.decoder.project_in"},
      .head = {.norm = "model.decoder.final_layer_norm", .name = "lm_head", .projection = "model.decoder.project_out"},
      .names = {.prefix = "model.", .tops = {"decoder."}},
      .layer = {.forward = 63, .backward = 124, .core = 14}};
  return family;
}

}  // namespace workloads
