// GPT-2's config.json.
#include <array>

#include "workloads/models/config/table.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

using nlohmann::json;
using G = GptConfig;

/// As the published files call it.
json written_activation(const GptConfig& c) {
  return json(c.hidden_act == Activation::kGeluTanh ? "gelu_new" : name_of(c.hidden_act));
}

// clang-format off
constexpr auto kGptFields = std::to_array<Field<G>>({
    {.key = "vocab_size", .member = &G::vocab_size, .required = true},
    {.key = "n_embd", .member = &G::hidden_size, .required = true},
    {.key = "n_layer", .member = &G::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &G::num_attention_heads, .required = true},
    {.key = "n_positions", .member = &G::max_position_embeddings, .required = true},
    {.key = "n_inner", .member = &G::intermediate_size,
     .otherwise = [](G& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "activation_function", .member = &G::hidden_act, .choices = kGelus,
     .write = written_activation},
    {.key = "layer_norm_epsilon", .member = &G::layer_norm_eps},
    {.key = "initializer_range", .member = &G::initializer_range},
    {.key = "embd_pdrop", .member = &G::embd_pdrop, .range = kProbability},
    {.key = "resid_pdrop", .member = &G::resid_pdrop, .range = kProbability},
    {.key = "attn_pdrop", .member = &G::attn_pdrop, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &G::tie_word_embeddings},
    // A small vocabulary that has not the ids of GPT-2's ends with its own.
    {.key = "bos_token_id", .member = &G::bos_token_id, .range = kToken,
     .otherwise = [](G& c) { c.bos_token_id = c.vocab_size - 1; }},
    {.key = "eos_token_id", .member = &G::eos_token_id, .range = kToken,
     .otherwise = [](G& c) { c.eos_token_id = c.vocab_size - 1; }},
    {.key = "scale_attn_weights", .only = true},
    {.key = "scale_attn_by_inverse_layer_idx", .only = false, .written = kNever},
    {.key = "add_cross_attention", .only = false, .written = kNever},
    {.key = "architectures", .always = Listed{"GPT2LMHeadModel"}},
    {.key = "model_type", .always = "gpt2"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

GptConfig read_gpt(const Keys& keys) {
  const GptConfig c = read_fields<G>(kGptFields, keys, {});
  check(c, keys.where());
  return c;
}

void check(const GptConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<G>(kGptFields, c, rules);
  rules.divides("n_head", c.num_attention_heads, "n_embd", c.hidden_size);
}

json to_json(const GptConfig& c) { return write_fields<G>(kGptFields, c); }

}  // namespace workloads
