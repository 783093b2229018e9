// The config.json of relatives of BERT that have a gate in each layer, from their publishers: Alibaba-NLP's GTE ("new",
// of which Snowflake's "gte" is a copy) and Nomic's BERT.
#include <fmt/format.h>

#include <array>

#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

void read_scaling(const Keys& keys, BertConfig& c) {
  if (!keys.has("rope_scaling")) return;
  const Keys scaling{keys, "rope_scaling"};
  scaling.only("type", "ntk");
  scaling.only("mixed_b", json());
  scaling.required("factor", c.rope_factor);
}
json scaling_of(const BertConfig& c) {
  return c.rope_factor == 1 ? json() : json{{"type", "ntk"}, {"factor", c.rope_factor}};
}
void check_scaling(const Rules& rules, const BertConfig& c) {
  if (!(c.rope_factor >= 1)) rules.fail("rope_scaling", fmt::format("has the factor {}", c.rope_factor));
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The publisher's code has more rows than words, where a file's number is not a multiple.
void read_vocabulary(const Keys& keys, BertConfig& c) {
  std::int64_t multiple = 1;
  keys.required("vocab_size", c.vocab_size);
  keys.optional("pad_vocab_size_multiple", multiple);
  if (multiple > 1) c.vocab_size = rounded_up(c.vocab_size, multiple);
}

/// So has a gated MLP: multiples of 256.
void read_inner(const Keys& keys, BertConfig& c) {
  c.intermediate_size = 4 * c.hidden_size;
  keys.optional("n_inner", c.intermediate_size);
  c.intermediate_size = rounded_up(c.intermediate_size, 256);
}

void read_gate(const Keys& keys, BertConfig& c) {
  const json& name = keys.at("activation_function");
  c.hidden_act = name == "swiglu" ? Activation::kSilu : Activation::kGelu;
  if (name != "swiglu" && name != "geglu")
    keys.fail(fmt::format("\"activation_function\" is {}; only \"swiglu\" and \"geglu\" are modelled", name.dump()),
              "use a model with one of these");
}
json gate_of(const BertConfig& c) { return json(c.hidden_act == Activation::kSilu ? "swiglu" : "geglu"); }

/// The head for masked tokens has biases where an MLP's first layer has them.
void read_wide_bias(const Keys& keys, BertConfig& c) {
  keys.optional("mlp_fc1_bias", c.mlp_bias);
  c.decoder_bias = c.mlp_bias;
}
void read_down_bias(const Keys& keys, BertConfig& c) {
  bool bias = true;
  keys.optional("mlp_fc2_bias", bias);
  c.down_bias = bias;
}

// clang-format off
constexpr auto kNewFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true},
    {.key = "type_vocab_size", .member = &B::type_vocab_size, .range = kPositiveOrNone},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_act", .member = &B::hidden_act, .choices = kGelus},
    {.key = "layer_norm_type", .only = "layer_norm"},
    {.key = "layer_norm_eps", .member = &B::layer_norm_eps},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "hidden_dropout_prob", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "classifier_dropout", .member = &B::classifier_dropout, .range = kProbability},
    {.key = "position_embedding_type", .only = "rope"},
    {.key = "rope_theta", .member = &B::global_theta},
    {.key = "rope_scaling", .read = read_scaling, .write = scaling_of, .check = check_scaling},
    {.key = "logn_attention_scale", .only = false, .written = kNever},
    {.key = "pack_qkv", .only = true},
    {.key = "tie_word_embeddings", .only = true, .written = kNever},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});

constexpr auto kNomicFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .read = read_vocabulary, .write = [](const B& c) { return json(c.vocab_size); },
     .check = [](const Rules& r, const B& c) { r.positive("vocab_size", c.vocab_size, kVocabulary.most); }},
    {.key = "n_embd", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layer", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "n_inner", .read = read_inner, .write = [](const B& c) { return json(c.intermediate_size); },
     .check = [](const Rules& r, const B& c) { r.positive("n_inner", c.intermediate_size, kWidth.most); }},
    {.key = "n_positions", .member = &B::max_position_embeddings, .required = true},
    {.key = "type_vocab_size", .member = &B::type_vocab_size, .range = kPositiveOrNone},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "activation_function", .required = true, .read = read_gate, .write = gate_of},
    {.key = "layer_norm_epsilon", .member = &B::layer_norm_eps},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "resid_pdrop", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attn_pdrop", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "embd_pdrop", .member = &B::classifier_dropout, .range = kProbability},  // of the classifier, unless
    {.key = "classifier_dropout", .member = &B::classifier_dropout, .range = kProbability},  // it has a key of its own
    {.key = "qkv_proj_bias", .member = &B::attention_bias},
    {.key = "mlp_fc1_bias", .read = read_wide_bias, .write = [](const B& c) { return json(c.mlp_bias); }},
    {.key = "mlp_fc2_bias", .read = read_down_bias,
     .write = [](const B& c) { return json(c.down_bias.value_or(c.mlp_bias)); }},
    {.key = "rotary_emb_base", .member = &B::global_theta},
    {.key = "rotary_emb_fraction", .only = 1.0},  // 0: positions are rows of a table
    {.key = "rotary_emb_interleaved", .only = false, .written = kNever},
    {.key = "rotary_emb_scale_base", .only = None{}, .written = kNever},
    {.key = "rotary_scaling_factor", .only = None{}, .written = kNever},
    {.key = "prenorm", .only = false, .written = kNever},
    {.key = "parallel_block", .only = false, .written = kNever},
    {.key = "use_rms_norm", .only = false, .written = kNever},
    {.key = "causal", .only = false, .written = kNever},
    {.key = "scale_attn_weights", .only = true, .written = kNever},
    {.key = "scale_attn_by_inverse_layer_idx", .only = false, .written = kNever},
    {.key = "tie_word_embeddings", .only = true, .written = kNever},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> new_fields() { return kNewFields; }
std::span<const Field<B>> nomic_fields() { return kNomicFields; }

}  // namespace workloads
