// Falcon (Almazrouei et al., arXiv:2311.16867): attention and MLP side by side without biases, heads that share keys.
// The 7B model has one norm for both parts and one head of keys; later ones a norm of each part (Falcon 2 one again)
// and several. Those of RefinedWeb alone have one part after the other, biases, and slopes of heads in the place of
// positions; transformers rounds these to bf16, which is not done here. Names and keys as in transformers'
// modeling_falcon.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

const PlainFamily &later(), &later_with_one_norm(), &in_turn();

/// The later architecture says how many heads of keys there are.
bool is_later(const P& c) { return c.family == &later() || c.family == &later_with_one_norm(); }
bool is_first(const P& c) { return !is_later(c); }

void read_multi_query(const Keys& keys, P& c) {
  bool shared = true;
  keys.optional("multi_query", shared);
  c.num_key_value_heads = shared ? 1 : c.num_attention_heads;
}

void read_positions(const Keys& keys, P& c) {
  bool slopes = false;
  keys.optional("alibi", slopes);
  if (slopes) c.rotary_share = 0, c.alibi_bias_max = 8;
}

// clang-format off
constexpr auto kFalconFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "num_kv_heads", .member = &P::num_key_value_heads, .range = kHeadCounts, .when = is_later,
     .otherwise = [](P& c) { c.num_key_value_heads = c.num_attention_heads; }},
    {.key = "multi_query", .when = is_first, .read = read_multi_query,
     .write = [](const P& c) { return nlohmann::json(c.num_key_value_heads == 1); }},
    {.key = "ffn_hidden_size", .member = &P::intermediate_size, .range = kWidth,
     .otherwise = [](P& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings},
    {.key = "activation", .member = &P::hidden_act, .choices = kGelus},
    {.key = "rope_theta", .member = &P::rope_theta},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "hidden_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "new_decoder_architecture", .write = [](const P& c) { return nlohmann::json(is_later(c)); }},
    {.key = "num_ln_in_parallel_attn", .when = is_later,
     .write = [](const P& c) { return nlohmann::json(c.family == &later() ? 2 : 1); }},
    {.key = "parallel_attn", .write = [](const P& c) { return nlohmann::json(c.family != &in_turn()); }},
    {.key = "bias", .member = &P::bias},
    {.key = "alibi", .read = read_positions, .write = [](const P& c) { return nlohmann::json(c.rotary_share == 0); }},
    {.key = "architectures", .always = Listed{"FalconForCausalLM"}},
    {.key = "model_type", .always = "falcon"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

PlainFamily falcon(std::string norm1, std::string norm2) {
  return {.name = "Falcon",
          .type = "falcon",
          .defaults =
              [](P& c) {
                c.num_key_value_heads = 1, c.max_position_embeddings = 2048, c.rotary_share = 1,
                c.block = PlainBlock::kParallel, c.tie_word_embeddings = true, c.bos_token_id = 11, c.eos_token_id = 11;
              },
          .fields = kFalconFields,
          .blocks = "transformer.h.",
          .block = {.attention = {.query = "self_attention.query",
                                  .key = "self_attention.key",
                                  .value = "self_attention.value",
                                  .out = "self_attention.dense",
                                  .fused = "self_attention.query_key_value",
                                  .fused_groups = 0},
                    .mlp = {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"},
                    .norm1 = std::move(norm1),
                    .norm2 = std::move(norm2)},
          .embedding = {.name = "transformer.word_embeddings"},
          .head = {.norm = "transformer.ln_f", .name = "lm_head"},
          .qkv_bias = false,
          .out_bias = false,
          .mlp_bias = false,
          .scores = {.scaled_slopes = true},
          .names = {.prefix = "transformer.",
                    .tops = {"word_embeddings.", "h.", "ln_f."},
                    .left_out = {"*.rotary_emb.inv_freq"}},
          // Counted on its modeling file beside a Llama's layer, without dropout (tests/golden/make/count_ops.py).
          .layer = {.forward = 89, .backward = 99, .core = 22}};
}

const PlainFamily& later() {
  static const PlainFamily family = falcon("ln_attn", "ln_mlp");
  return family;
}

const PlainFamily& later_with_one_norm() {
  static const PlainFamily family = falcon("input_layernorm", "");
  return family;
}

const PlainFamily& in_turn() {
  static const PlainFamily family = [] {
    PlainFamily one_by_one = falcon("input_layernorm", "post_attention_layernorm");
    one_by_one.defaults = [](P& c) { later().defaults(c), c.block = PlainBlock::kInTurn; };
    return one_by_one;
  }();
  return family;
}

}  // namespace

const PlainFamily& falcon_family() {
  static const PlainFamily family = falcon("input_layernorm", "");
  return family;
}

ModelPtr read_falcon(const Keys& keys) {
  bool is_new = false, parallel = true;
  std::int64_t norms = 2;
  keys.optional("new_decoder_architecture", is_new), keys.optional("parallel_attn", parallel);
  keys.optional("num_ln_in_parallel_attn", norms);
  if (is_new && (!parallel || norms < 1 || norms > 2))
    keys.fail("\"new_decoder_architecture\" requires \"parallel_attn\" and one or two norms",
              "use the config.json of a published Falcon");
  if (is_new) return read_plain(keys, norms == 2 ? later() : later_with_one_norm());
  return read_plain(keys, parallel ? falcon_family() : in_turn());
}

}  // namespace workloads
