// The config.json of BERT and its relatives.
#include <fmt/format.h>

#include <array>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config/table.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

/// The task that the model was saved from, where reading for another one would need another head.
void read_head(const Keys& keys, BertConfig& c) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  c.head = made.ends_with("ForTokenClassification\"]") ? Head::kTokens : Head::kClassifier;
}

json architectures_of(const BertConfig& c) {
  const char* task = c.head == Head::kPretraining    ? "ForPreTraining"
                     : c.head == Head::kTokens       ? "ForTokenClassification"
                     : c.head == Head::kMaskedTokens ? "ForMaskedLM"
                                                     : "ForSequenceClassification";
  return json::array({fmt::format("{}{}", dialect_of(c.kind).architecture, task)});
}

/// Tables may be narrower than the layers only where a projection follows.
void read_embedding_size(const Keys& keys, BertConfig& c) {
  if (dialect_of(c.kind).projection.empty()) return keys.only("embedding_size", c.hidden_size);
  c.embedding_size = 128;  // as transformers
  keys.optional("embedding_size", c.embedding_size);
}

void check_positions(const Rules& rules, const BertConfig& c) {
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  if (c.max_position_embeddings <= c.first_position())
    rules.fail("max_position_embeddings", fmt::format("{} leaves none after pad_token_id", c.max_position_embeddings));
}

bool has_projection_key(const BertConfig& c) { return !dialect_of(c.kind).projection.empty(); }
bool shares_layer(const BertConfig& c) { return dialect_of(c.kind).one_layer; }
bool has_own_layers(const BertConfig& c) { return !shares_layer(c); }
bool has_one_type(const BertConfig& c) { return dialect_of(c.kind).one_token_type; }
bool classifies_texts(const BertConfig& c) { return c.head == Head::kClassifier; }
void read_labels(const Keys& keys, BertConfig& c) { c.label_names = keys.label_names(); }
json number_or_dropout(const BertConfig& c) { return json(c.classifier_dropout.value_or(c.hidden_dropout_prob)); }

/// Labels and task: behind the keys of a model.
constexpr Field<B> kIdToLabel{.key = "id2label",
                              .read = read_labels,
                              .write = [](const B& c) { return labels_by_id(c.label_names); },
                              .check = [](const Rules& r, const B& c) { r.positive("num_labels", c.num_labels()); }};
constexpr Field<B> kLabelToId{.key = "label2id", .write = [](const B& c) { return ids_by_label(c.label_names); }};
constexpr Field<B> kTask{.key = "architectures", .read = read_head, .write = architectures_of};
// transformers computes another loss for the other problems.
constexpr Field<B> kProblem{.key = "problem_type", .only = "single_label_classification", .when = classifies_texts};
constexpr Field<B> kType{.key = "model_type", .write = [](const B& c) { return json(dialect_of(c.kind).type); }};
constexpr Field<B> kTorchType{.key = "torch_dtype", .always = "float32"};

// clang-format off
constexpr auto kBertFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true,
     .check = check_positions},
    {.key = "type_vocab_size", .member = &B::type_vocab_size},
    {.key = "type_vocab_size", .only = 1, .when = has_one_type},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_act", .member = &B::hidden_act, .choices = kGelus},
    {.key = "layer_norm_eps", .member = &B::layer_norm_eps},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "embedding_size", .member = &B::embedding_size, .range = kPositiveOrNone, .written = has_projection_key,
     .read = read_embedding_size, .write = [](const B& c) { return json(c.embedding_width()); }},
    {.key = "classifier_dropout_prob", .member = &B::classifier_dropout, .range = kProbability, .when = shares_layer,
     .write = number_or_dropout},
    {.key = "num_hidden_groups", .only = 1, .when = shares_layer},
    {.key = "inner_group_num", .only = 1, .when = shares_layer},
    {.key = "hidden_dropout_prob", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "classifier_dropout", .member = &B::classifier_dropout, .range = kProbability, .when = has_own_layers},
    {.key = "classifier_dropout", .when = shares_layer, .write = [](const B&) { return json(); }},
    {.key = "position_embedding_type", .only = "absolute"},
    {.key = "is_decoder", .only = false, .written = kNever},
    kIdToLabel, kLabelToId, kTask, kProblem, kType, kTorchType,
});

constexpr auto kDistilBertFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "dim", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "hidden_dim", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "activation", .member = &B::hidden_act, .choices = kGelus},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "dropout", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_dropout", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "seq_classif_dropout", .member = &B::classifier_dropout, .range = kProbability, .write = number_or_dropout},
    {.key = "sinusoidal_pos_embds", .only = false},
    kIdToLabel, kLabelToId, kTask, kProblem, kType, kTorchType,
});
// clang-format on

std::span<const Field<B>> fields_of(BertKind kind) {
  if (dialect_of(kind).own_keys) return kDistilBertFields;
  return kBertFields;
}

/// The defaults of transformers' configuration of the relative.
BertConfig defaults_of(BertKind kind) {
  const BertDialect& dialect = dialect_of(kind);
  BertConfig c;
  c.kind = kind;
  c.hidden_act = dialect.activation;
  if (dialect.own_keys) c.classifier_dropout = 0.2;
  if (dialect.one_token_type) c.type_vocab_size = 1;
  if (dialect.places_after_pad) c.pad_token_id = 1;
  if (dialect.one_layer) c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0.1;
  return c;
}

}  // namespace

BertConfig read_bert(const Keys& keys, BertKind kind) {
  const BertConfig c = read_fields<B>(fields_of(kind), keys, defaults_of(kind));
  check(c, keys.where());
  return c;
}

void check(const BertConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<B>(fields_of(c.kind), c, rules);
  const bool own = dialect_of(c.kind).own_keys;
  rules.divides(own ? "n_heads" : "num_attention_heads", c.num_attention_heads, own ? "dim" : "hidden_size",
                c.hidden_size);
}

json to_json(const BertConfig& c) { return write_fields<B>(fields_of(c.kind), c); }

}  // namespace workloads
