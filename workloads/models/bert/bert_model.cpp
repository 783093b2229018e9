// BERT as a model: tensors, names, operations.
#include <fmt/format.h>

#include "base/text.h"
#include "workloads/models/bert/bert_config.h"
#include "workloads/models/bert/bert_graph.h"
#include "workloads/models/config_model.h"
#include "workloads/models/spec_list.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

void bert_layer(SpecList& list, const BertConfig& c, std::int64_t layer) {
  const BertDialect& names = dialect_of(c.kind);
  const auto name = [&](std::string_view part) { return names.layer(layer).append(part); };
  list.at(layer);
  for (const std::string_view part : {names.in_layer.query, names.in_layer.key, names.in_layer.value})
    list.linear(name(part), c.hidden_size, c.hidden_size, TensorSplit::kAxis0);
  list.linear(name(names.in_layer.out), c.hidden_size, c.hidden_size, TensorSplit::kAxis1);
  list.layer_norm(name(names.in_layer.out_norm), c.hidden_size);
  list.linear(name(names.in_layer.up), c.hidden_size, c.intermediate_size, TensorSplit::kAxis0);
  list.linear(name(names.in_layer.down), c.intermediate_size, c.hidden_size, TensorSplit::kAxis1);
  list.layer_norm(name(names.in_layer.down_norm), c.hidden_size);
}

/// Operations of PyTorch's dispatcher, each way.
struct EncoderOps {
  double forward, backward;
};
constexpr EncoderOps kBertLayer{70, 118};
constexpr EncoderOps kBertEmbeddings{33, 19};  // with the mask
constexpr EncoderOps kBertClassifier{18, 38};
constexpr EncoderOps kBertTokens{13, 21};
constexpr EncoderOps kBertPretraining{31, 76};
constexpr EncoderOps kBertMasked{15, 40};

TensorNames names_of(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const std::string pooled{dialect.pooled}, prefix{dialect.prefix};
  TensorNames names{
      .prefix = prefix,
      .tops = {"embeddings.", "encoder.", "transformer.", "pooler."},
      .endings = {{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}},
      .left_out = {prefix + "embeddings.position_ids", "classifier.*", pooled + "*", prefix + "pooler.*", "cls.*"}};
  if (c.kind != BertKind::kBert)  // heads of other tasks
    names.left_out.insert(names.left_out.end(), {"lm_head.*", "vocab_*", "discriminator_predictions.*", "generator_*",
                                                 "qa_outputs.*", "predictions.*", "sop_classifier.*"});
  if (c.head == Head::kPretraining || c.head == Head::kMaskedTokens) {
    const MaskedHeadNames& masked = dialect.masked;
    names.copies = {{std::string{masked.table_copy}, prefix + "embeddings.word_embeddings.weight"}};
    if (!masked.bias_copy.empty()) names.copies.emplace(masked.bias_copy, masked.bias);
    names.drawn = {pooled, "cls.", std::string{masked.dense}, std::string{masked.norm}, std::string{masked.bias}};
  } else {
    names.drawn = {pooled, classifier_of(c)};
  }
  return names;
}

ModelInfo info_of(const BertConfig& c) {
  return {.family = dialect_of(c.kind).family,
          .sizes = {.layers = c.num_hidden_layers,
                    .hidden = c.hidden_size,
                    .heads = c.num_attention_heads,
                    .kv_heads = c.num_attention_heads,
                    .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                    .ffn = c.intermediate_size,
                    .vocabulary = c.vocab_size,
                    .positions = c.max_position_embeddings - c.first_position()},
          .task = c.head == Head::kMaskedTokens ? Task::kMaskedTokens : Task::kClassification,
          .head = c.head,
          .initializer_range = c.initializer_range,
          .label_names = c.label_names,
          .pad_row = c.pad_token_id,
          .names = names_of(c)};
}

class BertModel final : public ConfigModel<BertConfig> {
 public:
  explicit BertModel(const BertConfig& config) : ConfigModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return bert_weights(config_); }
  StepGraph step(const Step& step) const override { return {bert_graph(config_, step), {}}; }
  double flops(const Step& step) const override { return bert_flops(config_, step) * step.plan.data; }

  FrameworkOps traced_ops(const Step& step) const override {
    const auto n = static_cast<double>(config_.num_hidden_layers);
    const EncoderOps head = step.kind.head == Head::kNone           ? EncoderOps{0, 0}
                            : step.kind.head == Head::kTokens       ? kBertTokens
                            : step.kind.head == Head::kPretraining  ? kBertPretraining
                            : step.kind.head == Head::kMaskedTokens ? kBertMasked
                                                                    : kBertClassifier;
    return {n * kBertLayer.forward + kBertEmbeddings.forward + head.forward,
            n * kBertLayer.backward + kBertEmbeddings.backward + head.backward, static_cast<double>(weights().size())};
  }
  std::optional<Problem> refuses(const Plan& plan) const override { return encoder_problem(plan); }
};

}  // namespace

void apply(const ModelChange& change, BertConfig& c) {
  set_common(c, change.sizes);
  set_size(c.vocab_size, change.sizes.vocabulary);
  if (change.sizes.positions > 0) c.max_position_embeddings = change.sizes.positions + c.first_position();
  if (const auto& ids = change.tokens) {
    const std::int64_t places = c.max_position_embeddings - c.first_position();
    c.vocab_size = ids->vocabulary, c.pad_token_id = ids->pad.value_or(0);
    c.max_position_embeddings = places + c.first_position();
  }
  if (change.labels) c.label_names = *change.labels;
  if (change.head) c.head = *change.head == Head::kNone ? Head::kClassifier : *change.head;
  if (change.no_dropout) c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0;
}

BertConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(BertConfig config) { return std::make_shared<BertModel>(config); }

BertConfig read_bert_config(const std::filesystem::path& path) { return read_one<BertConfig>(path, "bert"); }

std::vector<WeightSpec> bert_weights(const BertConfig& c) {
  const bool pretraining = c.head == Head::kPretraining, masked = pretraining || c.head == Head::kMaskedTokens;
  const std::int64_t width = c.embedding_width();
  const BertDialect& names = dialect_of(c.kind);
  const auto embeddings = [&](const char* name) { return fmt::format("{}embeddings.{}", names.prefix, name); };
  SpecList list;
  list.at(masked ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.tensor(embeddings("word_embeddings.weight"), {c.vocab_size, width}, Init::kNormalPadZero, false,
              TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  list.embedding(embeddings("position_embeddings"), c.max_position_embeddings, width);
  if (names.token_types) list.embedding(embeddings("token_type_embeddings"), c.type_vocab_size, width);
  list.layer_norm(embeddings("LayerNorm"), width);
  if (has_projection(c)) list.linear(std::string{names.projection}, width, c.hidden_size);
  for (std::int64_t layer = 0; layer < (names.one_layer ? 1 : c.num_hidden_layers); ++layer) bert_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  if (pretraining || c.head == Head::kClassifier) list.linear(std::string{names.pooled}, c.hidden_size, c.hidden_size);
  if (masked) {
    list.tensor(std::string{names.masked.bias}, {c.vocab_size}, Init::kZeros, false, TensorSplit::kVocabulary);
    list.linear(std::string{names.masked.dense}, c.hidden_size, width);
    list.layer_norm(std::string{names.masked.norm}, width);
  } else {
    list.linear(classifier_of(c), c.hidden_size, c.num_labels());
  }
  if (pretraining) list.linear("cls.seq_relationship", c.hidden_size, 2);
  return list.take();
}

}  // namespace workloads
