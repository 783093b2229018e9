// BERT's config.json.
#include <fmt/format.h>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config_keys.h"

namespace workloads {
using nlohmann::json;

BertConfig read_bert(const Keys& keys) {
  BertConfig c;
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
  keys.optional("hidden_dropout_prob", c.hidden_dropout_prob);
  keys.optional("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  if (keys.has("classifier_dropout")) keys.optional("classifier_dropout", c.classifier_dropout.emplace());
  keys.only("position_embedding_type", "absolute");
  keys.only("is_decoder", false);
  c.label_names = keys.label_names();
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
  rules.positive("num_labels", c.num_labels());
  rules.divides("num_attention_heads", c.num_attention_heads, "hidden_size", c.hidden_size);
  if (c.pad_token_id != 0) rules.positive("pad_token_id", c.pad_token_id, c.vocab_size - 1);
  rules.positive("layer_norm_eps", c.layer_norm_eps);
  rules.positive("initializer_range", c.initializer_range);
  rules.probability("hidden_dropout_prob", c.hidden_dropout_prob);
  rules.probability("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
  rules.probability("classifier_dropout", c.classifier_dropout.value_or(0));
}

json to_json(const BertConfig& c) {
  const bool classifies = c.head == BertHead::kClassifier;
  json file = {{"architectures", {classifies ? "BertForSequenceClassification" : "BertForPreTraining"}},
               {"attention_probs_dropout_prob", c.attention_probs_dropout_prob},
               {"classifier_dropout", c.classifier_dropout ? json(*c.classifier_dropout) : json()},
               {"hidden_act", name_of(c.hidden_act)},
               {"hidden_dropout_prob", c.hidden_dropout_prob},
               {"hidden_size", c.hidden_size},
               {"initializer_range", c.initializer_range},
               {"intermediate_size", c.intermediate_size},
               {"layer_norm_eps", c.layer_norm_eps},
               {"max_position_embeddings", c.max_position_embeddings},
               {"model_type", "bert"},
               {"num_attention_heads", c.num_attention_heads},
               {"num_hidden_layers", c.num_hidden_layers},
               {"pad_token_id", c.pad_token_id},
               {"position_embedding_type", "absolute"},
               {"torch_dtype", "float32"},
               {"type_vocab_size", c.type_vocab_size},
               {"vocab_size", c.vocab_size}};
  put_labels(file, c.label_names);
  if (classifies) file["problem_type"] = "single_label_classification";
  return file;
}

}  // namespace workloads
