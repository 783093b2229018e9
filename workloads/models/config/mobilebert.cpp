// MobileBERT's config.json.
#include "workloads/models/mobilebert/mobilebert.h"
#include "workloads/models/config/table.h"

namespace workloads {
namespace {

using nlohmann::json;
using M = MobileBertConfig;

constexpr Activation kReluOrGelu[] = {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh};

/// A model that was saved from labelling tokens does that.
void read_head(const Keys& keys, M& c) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  if (made.find("ForTokenClassification") != std::string::npos) c.head = Head::kTokens;
}

json architectures(const M& c) {
  return json::array(
      {c.head == Head::kTokens ? "MobileBertForTokenClassification" : "MobileBertForSequenceClassification"});
}

// clang-format off
constexpr auto kMobileBertFields = std::to_array<Field<M>>({
    {.key = "vocab_size", .member = &M::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &M::hidden_size, .range = kWidth},
    {.key = "num_hidden_layers", .member = &M::num_hidden_layers, .range = kLayers},
    {.key = "num_attention_heads", .member = &M::num_attention_heads, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &M::intermediate_size, .range = kWidth},
    {.key = "embedding_size", .member = &M::embedding_size, .range = kWidth},
    {.key = "intra_bottleneck_size", .member = &M::intra_bottleneck_size, .range = kWidth},
    {.key = "num_feedforward_networks", .member = &M::num_feedforward_networks, .range = {.most = 64}},
    {.key = "max_position_embeddings", .member = &M::max_position_embeddings},
    {.key = "type_vocab_size", .member = &M::type_vocab_size},
    {.key = "pad_token_id", .member = &M::pad_token_id, .range = kToken},
    {.key = "hidden_act", .member = &M::hidden_act, .choices = kReluOrGelu},
    {.key = "key_query_shared_bottleneck", .member = &M::key_query_shared_bottleneck},
    {.key = "classifier_activation", .member = &M::classifier_activation},
    {.key = "trigram_input", .only = true},
    {.key = "use_bottleneck", .only = true},
    {.key = "use_bottleneck_attention", .only = false},
    {.key = "normalization_type", .only = "no_norm"},
    {.key = "initializer_range", .member = &M::initializer_range},
    {.key = "hidden_dropout_prob", .member = &M::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &M::attention_probs_dropout_prob, .range = kProbability},
    {.key = "classifier_dropout", .member = &M::classifier_dropout, .range = kProbability},
    {.key = "id2label", .read = [](const Keys& keys, M& c) { c.label_names = keys.label_names(); },
     .write = [](const M& c) { return labels_by_id(c.label_names); },
     .check = [](const Rules& r, const M& c) { r.positive("num_labels", std::ssize(c.label_names)); }},
    {.key = "label2id", .write = [](const M& c) { return ids_by_label(c.label_names); }},
    {.key = "problem_type", .only = "single_label_classification"},
    {.key = "architectures", .read = read_head, .write = architectures},
    {.key = "model_type", .always = "mobilebert"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

MobileBertConfig read_mobilebert(const Keys& keys) {
  const M c = read_fields<M>(kMobileBertFields, keys, M{});
  check(c, keys.where());
  return c;
}

void check(const MobileBertConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<M>(kMobileBertFields, c, rules);
  rules.divides("num_attention_heads", c.num_attention_heads, "intra_bottleneck_size", c.intra_bottleneck_size);
}

json to_json(const MobileBertConfig& c) { return write_fields<M>(kMobileBertFields, c); }

}  // namespace workloads
