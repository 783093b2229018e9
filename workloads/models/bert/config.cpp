// The config.json of BERT and its relatives.
#include <fmt/format.h>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config_keys.h"

namespace workloads {
using nlohmann::json;

namespace {

/// The task that the model was saved from, where reading for another one would need another head.
BertHead head_of(const Keys& keys) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  return made.ends_with("ForTokenClassification\"]") ? BertHead::kTokens : BertHead::kClassifier;
}

std::string architecture_of(const BertConfig& c) {
  const char* task = c.head == BertHead::kPretraining ? "ForPreTraining"
                     : c.head == BertHead::kTokens    ? "ForTokenClassification"
                                                      : "ForSequenceClassification";
  return fmt::format("{}{}", dialect_of(c.kind).architecture, task);
}

/// DistilBERT's own keys, and what it has not.
BertConfig read_distilbert(const Keys& keys) {
  BertConfig c;
  c.kind = BertKind::kDistilBert;
  keys.required("vocab_size", c.vocab_size);
  keys.required("dim", c.hidden_size);
  keys.required("n_layers", c.num_hidden_layers);
  keys.required("n_heads", c.num_attention_heads);
  keys.required("hidden_dim", c.intermediate_size);
  keys.required("max_position_embeddings", c.max_position_embeddings);
  keys.optional("pad_token_id", c.pad_token_id);
  keys.optional("activation", c.hidden_act, {Activation::kGelu, Activation::kGeluTanh});
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("dropout", c.hidden_dropout_prob);
  keys.optional("attention_dropout", c.attention_probs_dropout_prob);
  c.classifier_dropout = 0.2;
  keys.optional("seq_classif_dropout", *c.classifier_dropout);
  keys.only("sinusoidal_pos_embds", false);
  c.label_names = keys.label_names(), c.head = head_of(keys);
  check(c, keys.where());
  return c;
}

json distilbert_json(const BertConfig& c) {
  json file = {{"activation", name_of(c.hidden_act)},
               {"architectures", {architecture_of(c)}},
               {"attention_dropout", c.attention_probs_dropout_prob},
               {"dim", c.hidden_size},
               {"dropout", c.hidden_dropout_prob},
               {"hidden_dim", c.intermediate_size},
               {"initializer_range", c.initializer_range},
               {"max_position_embeddings", c.max_position_embeddings},
               {"model_type", "distilbert"},
               {"n_heads", c.num_attention_heads},
               {"n_layers", c.num_hidden_layers},
               {"pad_token_id", c.pad_token_id},
               {"seq_classif_dropout", c.classifier_dropout.value_or(c.hidden_dropout_prob)},
               {"sinusoidal_pos_embds", false},
               {"torch_dtype", "float32"},
               {"vocab_size", c.vocab_size}};
  put_labels(file, c.label_names);
  if (c.head == BertHead::kClassifier) file["problem_type"] = "single_label_classification";
  return file;
}

/// How wide the tables are: ALBERT's and ELECTRA's may be narrower than the layers.
void read_embedding_size(const Keys& keys, const BertDialect& dialect, BertConfig& c) {
  if (dialect.projection.empty()) return keys.only("embedding_size", c.hidden_size);
  c.embedding_size = 128;  // as transformers
  keys.optional("embedding_size", c.embedding_size);
  if (!dialect.one_layer) return;
  c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0.1;
  keys.optional("classifier_dropout_prob", *c.classifier_dropout);
  keys.only("num_hidden_groups", 1), keys.only("inner_group_num", 1);
}

}  // namespace

BertConfig read_bert(const Keys& keys, BertKind kind) {
  const BertDialect& dialect = dialect_of(kind);
  if (dialect.own_keys) return read_distilbert(keys);
  BertConfig c;
  c.kind = kind;
  c.hidden_act = dialect.activation;
  if (dialect.one_token_type) c.type_vocab_size = 1;
  if (dialect.places_after_pad) c.pad_token_id = 1;
  keys.required("vocab_size", c.vocab_size);
  keys.required("hidden_size", c.hidden_size);
  keys.required("num_hidden_layers", c.num_hidden_layers);
  keys.required("num_attention_heads", c.num_attention_heads);
  keys.required("intermediate_size", c.intermediate_size);
  keys.required("max_position_embeddings", c.max_position_embeddings);
  keys.optional("type_vocab_size", c.type_vocab_size);
  keys.optional("pad_token_id", c.pad_token_id);
  keys.optional("hidden_act", c.hidden_act, {Activation::kGelu, Activation::kGeluTanh});
  keys.optional("layer_norm_eps", c.layer_norm_eps);
  keys.optional("initializer_range", c.initializer_range);
  read_embedding_size(keys, dialect, c);
  keys.optional("hidden_dropout_prob", c.hidden_dropout_prob);
  keys.optional("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  if (keys.has("classifier_dropout")) keys.optional("classifier_dropout", c.classifier_dropout.emplace());
  keys.only("position_embedding_type", "absolute");
  keys.only("is_decoder", false);
  if (dialect.one_token_type) keys.only("type_vocab_size", 1);
  c.label_names = keys.label_names(), c.head = head_of(keys);
  check(c, keys.where());
  return c;
}

void check(const BertConfig& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("hidden_size", c.hidden_size);
  rules.positive("num_hidden_layers", c.num_hidden_layers, 10'000);
  rules.positive("num_attention_heads", c.num_attention_heads);
  rules.positive("intermediate_size", c.intermediate_size);
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  rules.positive("type_vocab_size", c.type_vocab_size);
  if (c.embedding_size != 0) rules.positive("embedding_size", c.embedding_size);
  rules.positive("num_labels", c.num_labels());
  rules.divides("num_attention_heads", c.num_attention_heads, "hidden_size", c.hidden_size);
  if (c.max_position_embeddings <= c.first_position())
    rules.fail("max_position_embeddings", fmt::format("{} leaves none after pad_token_id", c.max_position_embeddings));
  if (c.pad_token_id != 0) rules.positive("pad_token_id", c.pad_token_id, c.vocab_size - 1);
  rules.positive("layer_norm_eps", c.layer_norm_eps);
  rules.positive("initializer_range", c.initializer_range);
  rules.probability("hidden_dropout_prob", c.hidden_dropout_prob);
  rules.probability("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  rules.probability("classifier_dropout", c.classifier_dropout.value_or(0));
}

json to_json(const BertConfig& c) {
  const bool classifies = c.head == BertHead::kClassifier;
  const BertDialect& dialect = dialect_of(c.kind);
  const bool own_dropout = c.classifier_dropout.has_value() && !dialect.one_layer;
  if (dialect.own_keys) return distilbert_json(c);
  json file = {{"architectures", {architecture_of(c)}},
               {"attention_probs_dropout_prob", c.attention_probs_dropout_prob},
               {"classifier_dropout", own_dropout ? json(*c.classifier_dropout) : json()},
               {"hidden_act", name_of(c.hidden_act)},
               {"hidden_dropout_prob", c.hidden_dropout_prob},
               {"hidden_size", c.hidden_size},
               {"initializer_range", c.initializer_range},
               {"intermediate_size", c.intermediate_size},
               {"layer_norm_eps", c.layer_norm_eps},
               {"max_position_embeddings", c.max_position_embeddings},
               {"model_type", dialect.type},
               {"num_attention_heads", c.num_attention_heads},
               {"num_hidden_layers", c.num_hidden_layers},
               {"pad_token_id", c.pad_token_id},
               {"position_embedding_type", "absolute"},
               {"torch_dtype", "float32"},
               {"type_vocab_size", c.type_vocab_size},
               {"vocab_size", c.vocab_size}};
  if (!dialect.projection.empty()) file["embedding_size"] = c.embedding_width();
  if (dialect.one_layer)
    file.update({{"classifier_dropout_prob", c.classifier_dropout.value_or(c.hidden_dropout_prob)},
                 {"inner_group_num", 1},
                 {"num_hidden_groups", 1}});
  put_labels(file, c.label_names);
  if (classifies) file["problem_type"] = "single_label_classification";
  return file;
}

}  // namespace workloads
