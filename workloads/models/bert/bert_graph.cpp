#include "workloads/models/bert/bert_graph.h"

#include <fmt/format.h>

#include "base/error.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/ops.h"
#include "workloads/models/encoder_graph.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::ValueId;

std::vector<WeightSpec> weights_of(const BertConfig& config, const Step& step) {
  const BertDialect& names = dialect_of(config.kind);
  std::vector<WeightSpec> out;
  for (WeightSpec& w : bert_weights(config)) {
    const bool pooler = w.name.starts_with(names.pooled);
    const bool top = pooler || w.layer == WeightSpec::kAfterLayers;
    if (step.kind.head == Head::kNone && top) continue;
    if (step.kind.head == Head::kTokens && pooler) continue;
    out.push_back(std::move(w));
  }
  return out;
}

BlockArch block_of(const BertConfig& c) {
  const BertDialect& names = dialect_of(c.kind);
  const auto text = [](std::string_view name) { return std::string{name}; };
  return {.norm = {.eps = c.layer_norm_eps},
          .attention = {.heads = c.num_attention_heads,
                        .kv_heads = c.num_attention_heads,
                        .head = c.head_size(),
                        .causal = false,
                        .dropout = c.attention_probs_dropout_prob},
          .mlp = {.size = c.intermediate_size, .activation = device_function(c.hidden_act)},
          .residual = {.norms = NormPlace::kAfterSum, .dropout = c.hidden_dropout_prob},
          .names = {.attention = {.query = text(names.in_layer.query),
                                  .key = text(names.in_layer.key),
                                  .value = text(names.in_layer.value),
                                  .out = text(names.in_layer.out)},
                    .mlp = {.up = text(names.in_layer.up), .down = text(names.in_layer.down)},
                    .norm1 = text(names.in_layer.out_norm),
                    .norm2 = text(names.in_layer.down_norm)}};
}

class Bert : EncoderGraph {
 public:
  Bert(const BertConfig& config, const Step& step)
      : EncoderGraph{step, weights_of(config, step), dialect_of(config.kind).layers, block_of(config)},
        config_{config},
        names_{dialect_of(config.kind)} {}

  Graph run() {
    if (only_updates()) return std::move(graph_);
    std::vector<ValueId> losses;
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      const ValueId hidden = encode();
      if (step_.kind.head == Head::kNone) {
        graph_.output(hidden, host_name("hidden"));
      } else if (step_.kind.head == Head::kPretraining) {
        for (const ValueId loss : pretraining(hidden)) losses.push_back(loss);
      } else {
        losses.push_back(step_.kind.head == Head::kMaskedTokens ? masked_tokens(hidden) : head(hidden));
      }
    }
    train_on(losses);
    return std::move(graph_);
  }

 private:
  std::string embeddings(const char* name) const { return fmt::format("{}embeddings.{}", names_.prefix, name); }

  /// The rows of a table that the host's numbers name.
  ValueId rows_of(const char* label, const std::string& table, ValueId ids) {
    return graph_.add1(runtime::kEmbedding, label, {net_.w(table), ids},
                       runtime::ResultAttrs{.dtype = net_.numerics().activation});
  }

  /// The embedding of token types: one per type, the same for all, or none.
  ValueId token_type(std::int64_t tokens) {
    const std::string table = embeddings("token_type_embeddings.weight");
    if (names_.one_token_type) return net_.w(table);
    if (!names_.token_types) return runtime::kNoValue;
    return rows_of("token_type", table, net_.input("token_type_ids", tokens, 1, isa::Dtype::kInt32));
  }

  ValueId encode() {
    const std::int64_t batch = step_.plan.micro_batch, length = step_.kind.length, tokens = batch * length;
    enter("embeddings");
    const ValueId ids = net_.input("input_ids", tokens, 1, isa::Dtype::kInt32);
    const ValueId seen = net_.input("attention_mask", batch, length, net_.numerics().activation);
    const ValueId mask = net_.hidden("mask", seen, net_.numerics().softmax);
    ValueId x = rows_of("word", embeddings("word_embeddings.weight"), ids);
    const ValueId type = token_type(tokens);
    const ValueId position = graph_.add1(
        runtime::kPositions, "position", {net_.w(embeddings("position_embeddings.weight"))},
        runtime::PositionsAttrs{
            .batch = batch, .seq = length, .first = config_.first_position(), .dtype = net_.numerics().activation});
    if (type != runtime::kNoValue) x = net_.add("add_type", x, type);
    x = norm("layernorm", net_.add("add_position", x, position), embeddings("LayerNorm"));
    x = net_.dropout("dropout", x, config_.hidden_dropout_prob);
    if (has_projection(config_)) x = net_.linear("projection", x, std::string{names_.projection});
    for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l)
      x = layer(x, l, config_.num_hidden_layers, names_.layer(l), mask);
    return x;
  }

  double head_dropout() const { return config_.classifier_dropout.value_or(config_.hidden_dropout_prob); }

  ValueId head(ValueId x) {
    enter("head");
    std::int64_t rows = step_.plan.micro_batch * step_.kind.length;
    if (step_.kind.head == Head::kClassifier) {
      rows = step_.plan.micro_batch;
      x = pooled(x);
    }
    return classified(net_.dropout("classifier.dropout", x, head_dropout()), rows, classifier_of(config_));
  }

  ValueId pooled(ValueId x) {
    x = graph_.add1(runtime::kTakeRows, "pooler.first", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
    if (names_.pooled_dropout) x = net_.dropout("pooler.dropout", x, head_dropout());
    return net_.active("pooler.tanh", net_.linear("pooler.dense", x, std::string{names_.pooled}), names_.pooled_fn);
  }

  /// The two losses of BertForPreTraining. Source: Devlin et al., section 3.1; only masked tokens meet the decoder.
  std::vector<ValueId> pretraining(ValueId x) {
    enter("pretraining");
    const std::int64_t rows = step_.plan.micro_batch * step_.kind.predictions;
    const ValueId places = net_.input("masked_positions", rows, 1, isa::Dtype::kInt32);
    const ValueId t = graph_.add1(runtime::kEmbedding, "mlm.gather", {x, places},
                                  runtime::ResultAttrs{.dtype = net_.numerics().activation});
    const ValueId masked =
        net_.token_loss(token_logits(t), rows, 0, {"masked_labels", "masked_weights", "masked_loss"});
    const ValueId next = net_.linear("nsp", pooled(x), "cls.seq_relationship", {.dtype = isa::Dtype::kFp32});
    return {masked, net_.class_loss(next, step_.plan.micro_batch, {"next_labels", "next_weights", "next_loss"})};
  }

  /// BertForMaskedLM: every token meets the table of tokens, as in transformers, also those whose loss does not count.
  ValueId masked_tokens(ValueId x) {
    enter("head");
    const ValueId logits = token_logits(x);
    if (step_.kind.keep_logits) graph_.output(logits, host_name("logits"));
    return net_.token_loss(logits, step_.plan.micro_batch * step_.kind.length, 0);
  }

  /// A transform of each token, then the table of tokens. The loss behind it is computed in pieces of columns: SBUF
  /// does not hold 128 rows of a vocabulary, a float and its gradient each.
  ValueId token_logits(ValueId x) {
    const MaskedHeadNames& masked = names_.masked;
    const Activation activation = names_.masked_gelu ? Activation::kGelu : config_.hidden_act;
    x = net_.linear("mlm.transform", x, std::string{masked.dense});
    x = norm("mlm.layernorm", net_.active("mlm.activation", x, device_function(activation)), std::string{masked.norm});
    x = net_.matmul("mlm.decoder", x, net_.w(embeddings("word_embeddings.weight")),
                    {.trans_b = true, .dtype = net_.numerics().activation});
    return net_.add("mlm.decoder.bias", x, net_.w(std::string{masked.bias}));
  }

  const BertConfig& config_;
  const BertDialect& names_;
};

}  // namespace

runtime::Graph bert_graph(const BertConfig& config, const Step& step) {
  require_positions(step.kind.length, config.max_position_embeddings - config.first_position());
  if (step.kind.head == Head::kPretraining && config.kind != BertKind::kBert)
    throw base::Error{base::Fault::kUsage, "model", "has no pre-training head here", "pre-train a model of type bert"};
  const auto differs = [&](Head head) { return (step.kind.head == head) != (config.head == head); };
  if ((differs(Head::kPretraining) || differs(Head::kMaskedTokens)) && step.kind.head != Head::kNone)
    throw base::Error{base::Fault::kInternal, "bert", "the step's head is not the model's", "give both the same head"};
  return Bert{config, step}.run();
}

double bert_flops(const BertConfig& c, const Step& step) {
  const auto h = static_cast<double>(c.hidden_size), f = static_cast<double>(c.intermediate_size);
  const auto tokens = static_cast<double>(step.plan.micro_batch * step.kind.length),
             length = static_cast<double>(step.kind.length);
  const double layer = 2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * length * h;
  double forward = layer * static_cast<double>(c.num_hidden_layers);
  if (has_projection(c)) forward += 2 * tokens * h * static_cast<double>(c.embedding_width());
  const auto labels = static_cast<double>(c.num_labels());
  if (step.kind.head == Head::kClassifier)
    forward += 2 * static_cast<double>(step.plan.micro_batch) * (h * h + h * labels);
  if (step.kind.head == Head::kTokens) forward += 2 * tokens * h * labels;
  if (step.kind.head == Head::kMaskedTokens)
    forward += 2 * tokens * static_cast<double>(c.embedding_width()) * (h + static_cast<double>(c.vocab_size));
  if (step.kind.head == Head::kPretraining) {
    const auto batch = static_cast<double>(step.plan.micro_batch),
               masked = batch * static_cast<double>(step.kind.predictions);
    forward += 2 * masked * (h * h + h * static_cast<double>(c.vocab_size)) + 2 * batch * (h * h + 2 * h);
  }
  return forward * (step.kind.training ? 3 : 1) * static_cast<double>(step.plan.micro_batches);
}

}  // namespace workloads
