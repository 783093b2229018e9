// The config.json of DeBERTa, -v2 and -v3.
#include <fmt/format.h>

#include <array>

#include "workloads/models/bert/bert_block.h"
#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

bool is_second(const B& c) { return c.kind == BertKind::kDebertaV2; }

bool convolves(const B& c) { return c.conv_kernel_size > 0; }
constexpr Activation kConvolved[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu, Activation::kSilu};

/// As many neighbours on both sides.
void check_convolution(const Rules& rules, const B& c) {
  constexpr std::int64_t kMost = 63;
  if (c.conv_kernel_size < 0 || c.conv_kernel_size > kMost || (convolves(c) && c.conv_kernel_size % 2 == 0))
    rules.fail("conv_kernel_size", fmt::format("{} is not an odd number up to {}", c.conv_kernel_size, kMost));
}

/// "p2c|c2p", or a list of these: products of a query and the place of its key, of a key and the place of its query.
void read_attention_types(const Keys& keys, BertConfig& c) {
  constexpr const char* kKey = "pos_att_type";
  if (!keys.has(kKey)) return;
  std::string types;
  for (const json& type : keys.at(kKey).is_array() ? keys.at(kKey) : json::array({keys.at(kKey)}))
    types += (type.is_string() ? type.get<std::string>() : type.dump()) + "|";
  for (std::size_t at = 0; at < types.size(); at = types.find('|', at) + 1) {
    const std::string type = types.substr(at, types.find('|', at) - at);
    (type == "c2p" ? c.of_keys : c.of_queries) = true;
    if (type != "c2p" && type != "p2c" && !type.empty())
      keys.fail(fmt::format("\"{}\" has \"{}\"; only \"c2p\" and \"p2c\" are modelled", kKey, type),
                "use a model with these");
  }
}
json attention_types(const BertConfig& c) {
  json out = json::array();
  if (c.of_queries) out.push_back("p2c");
  if (c.of_keys) out.push_back("c2p");
  return out;
}

void read_norm(const Keys& keys, BertConfig& c) {
  c.normed_places = keys.has("norm_rel_ebd") && keys.at("norm_rel_ebd") == "layer_norm";
  if (!c.normed_places) keys.only("norm_rel_ebd", "none");
}

void check_types(const Rules& rules, const B& c) {
  if (c.type_vocab_size != 0) rules.positive("type_vocab_size", c.type_vocab_size, kVocabulary.most);
}

void check_places(const Rules& rules, const B& c) {
  if (c.max_relative_positions > 0) rules.positive("max_relative_positions", c.max_relative_positions, kWidth.most);
}

/// Half of the buckets have a distance each; the others share those up to the furthest, if there are such.
void check_buckets(const Rules& rules, const B& c) {
  const Buckets places = places_of(c);
  if (c.position_buckets <= 0) return;
  rules.positive("position_buckets", c.position_buckets, kWidth.most);
  if (c.position_buckets < 2 || places.count / 2 >= places.most - 1)
    rules.fail("position_buckets", fmt::format("{} for {} distances", c.position_buckets, places.most));
}

/// The head for masked tokens has other names where this is false.
void read_head_names(const Keys& keys, BertConfig&) {
  if (keys.has("architectures") && keys.at("architectures").dump().find("ForMaskedLM") != std::string::npos)
    keys.only("legacy", true);
}

/// The pooled layer and the heads are as wide as the layers.
void read_pooled_size(const Keys& keys, BertConfig& c) {
  for (const char* key : {"pooler_hidden_size", "embedding_size"}) keys.only(key, c.hidden_size);
  keys.only("attention_head_size", c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0);
}

// clang-format off
constexpr auto kDebertaFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true, .range = kWidth},
    {.key = "type_vocab_size", .member = &B::type_vocab_size, .range = kAny, .check = check_types},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_act", .member = &B::hidden_act, .choices = kGelus},
    {.key = "layer_norm_eps", .member = &B::layer_norm_eps},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "hidden_dropout_prob", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "cls_dropout", .member = &B::classifier_dropout, .range = kProbability},
    {.key = "position_biased_input", .member = &B::absolute},
    {.key = "relative_attention", .member = &B::relative_attention},
    {.key = "max_relative_positions", .member = &B::max_relative_positions, .range = kAny, .check = check_places},
    {.key = "position_buckets", .member = &B::position_buckets, .range = kAny, .when = is_second,
     .check = check_buckets},
    {.key = "pos_att_type", .read = read_attention_types, .write = attention_types},
    {.key = "share_att_key", .member = &B::shared_projections, .when = is_second},
    {.key = "norm_rel_ebd", .when = is_second, .read = read_norm,
     .write = [](const B& c) { return json(c.normed_places ? "layer_norm" : "none"); }},
    {.key = "conv_kernel_size", .member = &B::conv_kernel_size, .range = kAny, .when = is_second,
     .written = convolves, .check = check_convolution},
    // "tanh" where a file does not say it; published ones say "gelu".
    {.key = "conv_act", .member = &B::conv_act, .required = true, .choices = kConvolved, .when = convolves},
    {.key = "conv_groups", .only = 1, .when = convolves, .written = kNever},
    {.key = "pooler_hidden_size", .read = read_pooled_size, .write = [](const B& c) { return json(c.hidden_size); }},
    {.key = "pooler_hidden_act", .only = "gelu"},
    {.key = "pooler_dropout", .only = 0.0},
    {.key = "tie_word_embeddings", .only = true, .written = kNever},
    {.key = "legacy", .written = kNever, .read = read_head_names},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> deberta_fields() { return kDebertaFields; }

}  // namespace workloads
