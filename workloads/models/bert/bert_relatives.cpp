// The relatives of BERT: the differences of each, and its names.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/models/bert/bert_config.h"

namespace workloads {
namespace {

/// A relative with BERT's names of a layer's weights.
constexpr BertDialect like_bert(BertKind kind, std::string_view family, std::string_view type,
                                std::string_view architecture) {
  return {.kind = kind,
          .family = family,
          .type = type,
          .architecture = architecture,
          .prefix = "bert.",
          .layers = "bert.encoder.layer.",
          .in_layer = {.query = "attention.self.query",
                       .key = "attention.self.key",
                       .value = "attention.self.value",
                       .out = "attention.output.dense",
                       .out_norm = "attention.output.LayerNorm",
                       .up = "intermediate.dense",
                       .down = "output.dense",
                       .down_norm = "output.LayerNorm"},
          .pooled = "bert.pooler.dense",
          .classifier = "classifier",
          .masked = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
                     "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}};
}
constexpr BertDialect roberta() {
  BertDialect d = like_bert(BertKind::kRoberta, "RoBERTa", "roberta", "Roberta");
  d.prefix = "roberta.", d.layers = "roberta.encoder.layer.";
  d.pooled = "classifier.dense", d.classifier = "classifier.out_proj";
  d.pooled_dropout = d.one_token_type = d.places_after_pad = d.masked_gelu = true;
  d.masked = {"lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder.weight", "lm_head.decoder.bias"};
  return d;
}
/// RoBERTa in many languages; transformers names its tensors alike.
constexpr BertDialect xlm_roberta() {
  BertDialect d = roberta();
  d.kind = BertKind::kXlmRoberta, d.family = "XLM-RoBERTa", d.type = "xlm-roberta", d.architecture = "XLMRoberta";
  return d;
}
/// RoBERTa in French.
constexpr BertDialect camembert() {
  BertDialect d = roberta();
  d.kind = BertKind::kCamembert, d.family = "CamemBERT", d.type = "camembert", d.architecture = "Camembert";
  return d;
}
constexpr BertDialect electra() {
  BertDialect d = like_bert(BertKind::kElectra, "ELECTRA", "electra", "Electra");
  d.prefix = "electra.", d.layers = "electra.encoder.layer.";
  d.pooled = "classifier.dense", d.classifier = "classifier.out_proj", d.pooled_fn = isa::Fn::kGelu;
  d.pooled_dropout = d.masked_gelu = true, d.projection = "electra.embeddings_project";
  d.masked = {"generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias",
              "generator_lm_head.weight", ""};
  return d;
}
constexpr BertDialect albert() {
  BertDialect d = like_bert(BertKind::kAlbert, "ALBERT", "albert", "Albert");
  d.prefix = "albert.", d.layers = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  d.in_layer.query = "attention.query", d.in_layer.key = "attention.key", d.in_layer.value = "attention.value",
  d.in_layer.out = "attention.dense";
  d.in_layer.out_norm = "attention.LayerNorm", d.in_layer.up = "ffn", d.in_layer.down = "ffn_output",
  d.in_layer.down_norm = "full_layer_layer_norm";
  d.pooled = "albert.pooler", d.projection = "albert.encoder.embedding_hidden_mapping_in";
  d.one_layer = true, d.activation = Activation::kGeluTanh;
  d.masked = {"predictions.dense", "predictions.LayerNorm", "predictions.bias", "predictions.decoder.weight",
              "predictions.decoder.bias"};
  return d;
}
constexpr BertDialect kDistilBert{
    .kind = BertKind::kDistilBert,
    .family = "DistilBERT",
    .type = "distilbert",
    .architecture = "DistilBert",
    .prefix = "distilbert.",
    .layers = "distilbert.transformer.layer.",
    .in_layer = {.query = "attention.q_lin",
                 .key = "attention.k_lin",
                 .value = "attention.v_lin",
                 .out = "attention.out_lin",
                 .out_norm = "sa_layer_norm",
                 .up = "ffn.lin1",
                 .down = "ffn.lin2",
                 .down_norm = "output_layer_norm"},
    .pooled = "pre_classifier",
    .classifier = "classifier",
    .masked = {"vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight", ""},
    .pooled_fn = isa::Fn::kRelu,
    .token_types = false,
    .own_keys = true};
constexpr std::array kBertDialects = {like_bert(BertKind::kBert, "BERT", "bert", "Bert"),
                                      roberta(),
                                      kDistilBert,
                                      electra(),
                                      albert(),
                                      xlm_roberta(),
                                      camembert()};

BertConfig blank(BertKind kind) {
  BertConfig c;
  c.kind = kind;
  if (dialect_of(kind).places_after_pad) c.type_vocab_size = 1, c.pad_token_id = 1, c.layer_norm_eps = 1e-5;
  if (kind == BertKind::kDistilBert) c.classifier_dropout = 0.2;
  if (kind == BertKind::kAlbert) c.embedding_size = 128, c.classifier_dropout = 0.1;
  c.hidden_act = dialect_of(kind).activation;
  return c;
}

}  // namespace

const BertDialect& dialect_of(BertKind kind) { return *std::ranges::find(kBertDialects, kind, &BertDialect::kind); }

std::string BertDialect::layer(std::int64_t number) const {
  return one_layer ? std::string{layers} : fmt::format("{}{}.", layers, number);
}

bool has_projection(const BertConfig& c) {
  return dialect_of(c.kind).one_layer || c.embedding_width() != c.hidden_size;
}

std::string classifier_of(const BertConfig& c) {
  return c.head == Head::kTokens ? "classifier" : std::string{dialect_of(c.kind).classifier};
}

ModelPtr blank_bert(BertKind kind) { return make_model(blank(kind)); }

}  // namespace workloads
