// BERT as a model: tensors, names, operations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/bert/bert_block.h"
#include "workloads/models/bert/bert_config.h"
#include "workloads/models/bert/bert_graph.h"
#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/spec_list.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

/// Operations of PyTorch's dispatcher, each way.
struct EncoderOps {
  double forward, backward;
};
constexpr LayerOps kBertLayer{.forward = 70, .backward = 118, .core = 23};
/// Layers that turn queries and keys: tests/golden/make/count_ops.py prints how many more they have than BERT's.
constexpr LayerOps kEsmLayer{.forward = 70 + 38, .backward = 118 + 27, .core = 23};
constexpr LayerOps kModernBertLayer{.forward = 70 + 3, .backward = 118 - 23, .core = 23};
/// Layers with scores by place, which transformers' DeBERTa writes with a dropout of its own: the same.
/// EuroBERT's, which are those of a Llama, and as many more where heads share keys and values.
constexpr LayerOps kEuroBertLayer{.forward = 109, .backward = 157, .core = 22};
constexpr double kSharedKeys = 14;
/// EmbeddingGemma's beyond these: norms of outputs and of heads, by 1 + weight in fp32, as a Gemma 3 has them.
constexpr EncoderOps kGemmaMore{4 + 22 + 22, 2 + 42 + 42};
constexpr LayerOps kDebertaLayer{.forward = 70 + 68, .backward = 118 + 66, .core = 23};
constexpr EncoderOps kBertEmbeddings{33, 19};  // with the mask
constexpr EncoderOps kBertClassifier{18, 38};
constexpr EncoderOps kBertTokens{13, 21};
constexpr EncoderOps kBertPretraining{31, 76};
constexpr EncoderOps kBertMasked{15, 40};

/// Heads of other tasks, and buffers.
std::vector<std::string> left_out(const BertDialect& dialect) {
  const std::string prefix{dialect.prefix};
  std::vector<std::string> out{prefix + "embeddings.position_ids", "classifier.*", prefix + "pooler.*", "cls.*"};
  if (!dialect.pooled.empty()) out.push_back(std::string{dialect.pooled} + "*");
  if (dialect.kind == BertKind::kBert) return out;
  out.insert(out.end(), {"lm_head.*", "vocab_*", "discriminator_predictions.*", "generator_*", "qa_outputs.*",
                         "predictions.*", "sop_classifier.*"});
  if (dialect.keys == BertKeys::kModernBert) out.insert(out.end(), {"head.*", "decoder.*"});
  if (dialect.keys == BertKeys::kXlm)
    out.insert(out.end(),
               {"pred_layer.*", "sequence_summary.*", prefix + "position_ids", prefix + "lang_embeddings.*"});
  if (dialect.keys == BertKeys::kDeberta)
    out.insert(out.end(),
               {"pooler.*", "lm_predictions.*", "mask_predictions.*", prefix + "embeddings.position_embeddings.weight",
                prefix + "encoder.LayerNorm.*", prefix + "encoder.rel_embeddings.weight"});
  if (dialect.kind == BertKind::kRoFormer) out.push_back(prefix + "encoder.embed_positions.weight");
  if (dialect.kind == BertKind::kEsm)
    out.insert(out.end(), {prefix + "contact_head.*", "*.rotary_embeddings.inv_freq",
                           prefix + "embeddings.position_embeddings.weight"});
  return out;
}

TensorNames names_of(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const std::string pooled{dialect.pooled}, prefix{dialect.prefix};
  TensorNames names{.prefix = prefix,
                    .tops = {"embeddings.", "encoder.", "transformer.", "pooler.", "layers.", "final_norm.", "emb_ln.",
                             "embed_tokens.", "norm."},
                    .endings = {{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}},
                    .left_out = left_out(dialect)};
  if (dialect.pooled.starts_with("pooler.")) std::erase(names.tops, "pooler.");  // it is outside the encoder
  if (dialect.keys == BertKeys::kXlm)
    names.tops = {"embeddings.", "position_embeddings.", "lang_embeddings.", "attentions.", "layer_norm", "ffns."};
  if (c.head == Head::kPretraining || c.head == Head::kMaskedTokens) {
    const MaskedHeadNames& masked = dialect.masked;
    if (!masked.own_table)
      names.copies = {{std::string{masked.table_copy}, fmt::format("{}{}.weight", prefix, dialect.embedding.tokens)}};
    if (!masked.bias_copy.empty()) names.copies.emplace(masked.bias_copy, masked.bias);
    names.drawn = {"cls.", std::string{masked.bias}};
    for (const std::string_view name : {dialect.pooled, masked.dense, masked.norm})
      if (!name.empty()) names.drawn.emplace_back(name);
    if (masked.own_table) names.drawn.emplace_back(masked.table_copy);
  } else {
    names.drawn = {classifier_of(c)};
    for (const std::string_view name : {dialect.pooled, dialect.heads.norm})
      if (!name.empty()) names.drawn.emplace_back(name);
  }
  return names;
}

ModelInfo info_of(const BertConfig& c) {
  return {.family = dialect_of(c.kind).family,
          .sizes = {.layers = c.num_hidden_layers,
                    .hidden = c.hidden_size,
                    .heads = c.num_attention_heads,
                    .kv_heads = c.key_heads(),
                    .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                    .ffn = c.intermediate_size,
                    .vocabulary = c.vocab_size,
                    .positions = c.max_position_embeddings - c.first_position(),
                    .whole_vocabulary = true},
          .task = c.head == Head::kMaskedTokens ? Task::kMaskedTokens : Task::kClassification,
          .head = c.head,
          .initializer_range = c.initializer_range,
          .sharing = Sharing::kTensors,
          .label_names = c.label_names,
          .pad_row = c.pad_token_id,
          .fading = c.token_dropout ? std::optional{TokenFading{.mask = c.mask_token_id}} : std::nullopt,
          .names = names_of(c)};
}

/// A framework's parameters: one where a file has several layers as one.
double tensors_in_file(const std::vector<WeightSpec>& weights) {
  const auto later = std::ranges::count_if(
      weights, [](const WeightSpec& w) { return w.frozen || (!w.pieces.empty() && w.pieces.front().first > 0); });
  return static_cast<double>(std::ssize(weights) - later);
}

class BertModel final : public ConfigModel<BertConfig> {
 public:
  explicit BertModel(const BertConfig& config) : ConfigModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return with_adapters(bert_weights(config_), config_.lora); }
  StepGraph step(const Step& step) const override { return bert_graph(config_, step); }
  std::vector<HostTable> host_tables(const StepKind& kind, std::optional<std::int64_t>) const override {
    return bert_tables(config_, kind.length);
  }
  double flops(const Step& step) const override {
    return bert_flops(config_, step, adapter_flops(weights())) * step.plan.data;
  }

  FrameworkOps traced_ops(const Step& step) const override {
    const auto n = static_cast<double>(config_.num_hidden_layers);
    const EncoderOps head = step.kind.head == Head::kNone           ? EncoderOps{0, 0}
                            : step.kind.head == Head::kTokens       ? kBertTokens
                            : step.kind.head == Head::kPretraining  ? kBertPretraining
                            : step.kind.head == Head::kMaskedTokens ? kBertMasked
                                                                    : kBertClassifier;
    const LayerOps kind = config_.rms                   ? llama_layer()
                          : config_.uses_places()       ? kDebertaLayer
                          : !config_.rotary             ? kBertLayer
                          : config_.local_attention > 0 ? kModernBertLayer
                                                        : kEsmLayer;
    const std::vector<WeightSpec> all = weights();
    const LayerOps layer =
        with_recomputation(with_collectives(with_adapter_ops(kind, lora(), all), step.plan), step.plan.recompute);
    return {n * layer.forward + kBertEmbeddings.forward + head.forward,
            n * layer.backward + kBertEmbeddings.backward + head.backward, tensors_in_file(all)};
  }
  std::optional<Problem> refuses(const Plan& plan) const override { return encoder_problem(plan, sizes()); }

 private:
  LayerOps llama_layer() const {
    LayerOps ops = kEuroBertLayer;
    if (config_.key_heads() != config_.num_attention_heads) ops.forward += kSharedKeys, ops.backward += kSharedKeys;
    if (config_.norm_offset != 0) ops.forward += kGemmaMore.forward, ops.backward += kGemmaMore.backward;
    return ops;
  }
};

/// MPNet's positions begin after token 1, whatever else its files say: transformers takes that for padding.
std::int64_t padding_of(const TokenIds& ids, BertKind kind) {
  if (dialect_of(kind).relative.empty()) return ids.pad.value_or(0);
  if (ids.pad.value_or(1) == 1) return 1;
  throw base::Error{
      base::Fault::kUsage, "model",
      fmt::format("the vocabulary pads with token {}, but an {} model with token 1", *ids.pad, dialect_of(kind).family),
      "give the vocabulary of the model by `vocab`, or use another encoder"};
}

}  // namespace

void apply(const ModelChange& change, BertConfig& c) {
  set_common(c, change.sizes);
  if (c.num_key_value_heads > 0) set_size(c.num_key_value_heads, change.sizes.kv_heads);
  // Heads that are no longer divided by those of keys have keys of their own.
  if (c.num_key_value_heads > 0 && c.num_attention_heads % c.num_key_value_heads != 0)
    c.num_key_value_heads = c.num_attention_heads;
  if (dialect_of(c.kind).keys == BertKeys::kXlm) c.intermediate_size = 4 * c.hidden_size;  // no key says otherwise
  set_size(c.vocab_size, change.sizes.vocabulary);
  if (change.sizes.positions > 0) c.max_position_embeddings = change.sizes.positions + c.first_position();
  if (const auto& ids = change.tokens) {
    const std::int64_t places = c.max_position_embeddings - c.first_position();
    c.vocab_size = ids->vocabulary, c.pad_token_id = padding_of(*ids, c.kind);
    c.mask_token_id = ids->mask.value_or(std::min(c.mask_token_id, std::max<std::int64_t>(c.vocab_size - 1, 0)));
    c.max_position_embeddings = places + c.first_position();
  }
  if (change.labels) c.label_names = *change.labels;
  if (change.head == Head::kMaskedTokens && dialect_of(c.kind).masked.bias.empty())
    throw base::Error{base::Fault::kUsage, "`task`",
                      fmt::format("no class of {} learns hidden tokens", dialect_of(c.kind).family),
                      "label texts or tokens, or use another encoder"};
  if (change.head == Head::kMaskedTokens && !c.tie_word_embeddings && !dialect_of(c.kind).masked.own_table)
    throw base::Error{
        base::Fault::kUsage, "`task`",
        "\"tie_word_embeddings\" is false: a head for hidden tokens with a table of its own is not built in",
        "label texts or tokens, or use a model whose head is its table of tokens"};
  const bool has_head = change.head != Head::kPretraining || c.kind == BertKind::kBert;  // no other one has it
  if (change.head && has_head) c.head = *change.head == Head::kNone ? Head::kClassifier : *change.head;
  if (change.no_dropout) c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0;
  if (change.no_dropout) c.embedding_dropout = c.mlp_dropout = 0;
}

BertConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(BertConfig config) { return std::make_shared<BertModel>(config); }

BertConfig read_bert_config(const std::filesystem::path& path) { return read_one<BertConfig>(path, "bert"); }

namespace {

void embedding_weights(SpecList& list, const BertConfig& c, bool masked) {
  const BertDialect& dialect = dialect_of(c.kind);
  const BertEmbeddingNames& names = dialect.embedding;
  const std::int64_t width = c.embedding_width();
  const auto full = [&](std::string_view name) { return fmt::format("{}{}", dialect.prefix, name); };
  list.at(masked && !dialect.masked.own_table ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.tensor(full(names.tokens) + ".weight", {c.vocab_size, width}, Init::kNormalPadZero, false,
              TensorSplit::kEvenVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  if (c.has_positions()) list.embedding(full(names.positions), c.max_position_embeddings, width);
  if (c.has_types()) list.embedding(full(names.types), c.type_vocab_size, width);
  if (c.use_task_id) list.embedding(full(kTaskTypes), c.task_type_vocab_size, width);
  if (!names.norm.empty() && c.norm_before) list.layer_norm(full(names.norm), width, c.norm_bias);
  if (has_projection(c)) list.linear(std::string{dialect.projection}, width, c.hidden_size);
  if (c.uses_places()) list.embedding(full(names.places), 2 * places_of(c).count, c.hidden_size);
  if (c.uses_places() && c.normed_places) list.layer_norm(full(names.places_norm), c.hidden_size);
  if (c.conv_kernel_size > 0) {
    list.convolution(full(names.convolution), c.hidden_size, c.hidden_size, c.conv_kernel_size);
    list.layer_norm(full(names.convolution_norm), c.hidden_size);
  }
  if (dialect.relative.empty()) return;
  // [heads, buckets] on the device, because heads are rows of the scores
  list.tensor(fmt::format("{}.weight", dialect.relative), {kMpnetBuckets.count, c.num_attention_heads}, Init::kNormal,
              true, TensorSplit::kAxis1);
  list.table();
}

/// A layer on the first token, or on all of them; its norm, if it has one.
void pooled_weights(SpecList& list, const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const bool pools = c.head == Head::kPretraining || c.head == Head::kClassifier || !dialect.heads.norm.empty();
  if (dialect.pooled.empty() || !pools) return;
  list.matrix(std::string{dialect.pooled}, c.hidden_size, c.hidden_size);
  list.deviation(out_deviation(c));
  if (c.classifier_bias) list.tensor(fmt::format("{}.bias", dialect.pooled), {c.hidden_size}, Init::kZeros);
  if (!dialect.heads.norm.empty()) list.layer_norm(std::string{dialect.heads.norm}, c.hidden_size, c.norm_bias);
}

void masked_weights(SpecList& list, const BertConfig& c) {
  const MaskedHeadNames& names = dialect_of(c.kind).masked;
  const std::int64_t width = masked_width(c);
  if (names.own_table) {
    const std::string table{names.table_copy};
    list.matrix(table.substr(0, table.rfind('.')), width, c.vocab_size, TensorSplit::kEvenVocabulary);
  }
  if (c.decoder_bias)
    list.tensor(std::string{names.bias}, {c.vocab_size}, Init::kZeros, false, TensorSplit::kEvenVocabulary);
  if (names.dense.empty()) return;
  if (names.dense == dialect_of(c.kind).pooled) return pooled_weights(list, c);
  list.matrix(std::string{names.dense}, c.hidden_size, width);
  if (c.decoder_bias) list.tensor(fmt::format("{}.bias", names.dense), {width}, Init::kZeros);
  list.layer_norm(std::string{names.norm}, width);
}

}  // namespace

std::vector<WeightSpec> bert_weights(const BertConfig& c) {
  const bool pretraining = c.head == Head::kPretraining, masked = pretraining || c.head == Head::kMaskedTokens;
  const BertDialect& dialect = dialect_of(c.kind);
  SpecList list;
  embedding_weights(list, c, masked);
  for (std::int64_t layer = 0; layer < (dialect.one_layer ? 1 : c.num_hidden_layers); ++layer)
    bert_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  if (!dialect.last_norm.empty()) norm_weights(list, std::string{dialect.last_norm}, c.hidden_size, c);
  if (pretraining || !masked) pooled_weights(list, c);
  if (masked) {
    masked_weights(list, c);
  } else {
    list.matrix(classifier_of(c), c.hidden_size, c.num_labels());
    if (dialect.keys == BertKeys::kModernBert) list.deviation(1 / std::sqrt(static_cast<double>(c.hidden_size)));
    list.tensor(classifier_of(c) + ".bias", {c.num_labels()}, Init::kZeros);
  }
  if (pretraining) list.linear("cls.seq_relationship", c.hidden_size, 2);
  std::vector<WeightSpec> specs = list.take();
  number_behind(specs, dialect);
  return specs;
}

}  // namespace workloads
