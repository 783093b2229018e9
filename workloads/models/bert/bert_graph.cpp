#include "workloads/models/bert/bert_graph.h"

#include <fmt/format.h>

#include "base/error.h"
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

class Bert : EncoderGraph {
 public:
  Bert(const BertConfig& config, const Step& step)
      : EncoderGraph{step,
                     weights_of(config, step),
                     dialect_of(config.kind).layers,
                     {.hidden = config.hidden_size,
                      .heads = config.num_attention_heads,
                      .eps = config.layer_norm_eps,
                      .attention_dropout = config.attention_probs_dropout_prob}},
        config_{config},
        names_{dialect_of(config.kind)} {}

  Graph run() {
    if (only_updates()) return std::move(graph_);
    std::vector<ValueId> losses;
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      const ValueId hidden = encode();
      if (step_.kind.head == Head::kNone) {
        graph_.output(hidden, micro_name("hidden", micro_));
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

  /// What a token's type adds: of its own, the same for all, or nothing.
  ValueId token_type(std::int64_t tokens) {
    if (names_.one_token_type) return w(embeddings("token_type_embeddings.weight"));
    if (!names_.token_types) return runtime::kNoValue;
    const ValueId types = input("token_type_ids", tokens, 1, isa::Dtype::kInt32);
    return graph_.add1(runtime::kEmbedding, "token_type", {w(embeddings("token_type_embeddings.weight")), types},
                       runtime::ResultAttrs{.dtype = step_.plan.numerics.activation});
  }

  ValueId encode() {
    const std::int64_t tokens = step_.plan.micro_batch * step_.kind.length;
    enter("embeddings", micro_);
    const ValueId ids = input("input_ids", tokens, 1, isa::Dtype::kInt32);
    const ValueId mask =
        input("attention_mask", step_.plan.micro_batch, step_.kind.length, step_.plan.numerics.activation);
    // What hides a key: large, and still a number in fp16.
    const double hide = step_.plan.numerics.softmax == isa::Dtype::kFp16 ? 3e4 : 1e9;
    mask_ = graph_.add1(runtime::kAffine, "mask", {mask},
                        runtime::AffineAttrs{.alpha = hide, .beta = -hide, .dtype = step_.plan.numerics.softmax});
    ValueId x = graph_.add1(runtime::kEmbedding, "word", {w(embeddings("word_embeddings.weight")), ids},
                            runtime::ResultAttrs{.dtype = step_.plan.numerics.activation});
    const ValueId type = token_type(tokens);
    const ValueId position = graph_.add1(runtime::kPositions, "position", {w(embeddings("position_embeddings.weight"))},
                                         runtime::PositionsAttrs{.batch = step_.plan.micro_batch,
                                                                 .seq = step_.kind.length,
                                                                 .first = config_.first_position(),
                                                                 .dtype = step_.plan.numerics.activation});
    if (type != runtime::kNoValue) x = graph_.add1(runtime::kAdd, "add_type", {x, type});
    x = graph_.add1(runtime::kAdd, "add_position", {x, position});
    x = layernorm("layernorm", x, embeddings("LayerNorm"));
    x = dropout("dropout", x, config_.hidden_dropout_prob);
    if (has_projection(config_)) x = linear("projection", x, std::string{names_.projection});
    for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l) x = layer(l, x);
    return x;
  }

  ValueId layer(std::int64_t l, ValueId x) {
    enter("layer", micro_ * config_.num_hidden_layers + l, l);
    const auto name = [&](std::string_view part) { return names_.layer(l).append(part); };
    const ValueId q = linear("attention.query", x, name(names_.query));
    const ValueId k = linear("attention.key", x, name(names_.key));
    const ValueId v = linear("attention.value", x, name(names_.value));
    const ValueId context = attention({q, k, v, mask_});
    ValueId y = linear("attention.output", context, name(names_.out));
    y = dropout("attention.dropout", y, config_.hidden_dropout_prob);
    y = graph_.add1(runtime::kAdd, "attention.residual", {y, x});
    const ValueId middle = layernorm("attention.layernorm", y, name(names_.out_norm));
    ValueId h = linear("ffn.intermediate", middle, name(names_.up));
    h = activation("ffn.activation", h, config_.hidden_act);
    h = linear("ffn.output", h, name(names_.down));
    h = dropout("ffn.dropout", h, config_.hidden_dropout_prob);
    h = graph_.add1(runtime::kAdd, "ffn.residual", {h, middle});
    return layernorm("ffn.layernorm", h, name(names_.down_norm));
  }

  ValueId head(ValueId x) {
    enter("head", micro_);
    const double p = config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
    std::int64_t rows = step_.plan.micro_batch * step_.kind.length;
    if (step_.kind.head == Head::kClassifier) {
      rows = step_.plan.micro_batch;
      x = pooled(x);
    }
    x = dropout("classifier.dropout", x, p);
    const ValueId logits = linear("classifier", x, classifier_of(config_), {.dtype = isa::Dtype::kFp32});
    graph_.output(logits, micro_name("logits", micro_));
    return loss_of(logits, rows, "labels", "weights", "loss");
  }

  ValueId pooled(ValueId x) {
    x = graph_.add1(runtime::kTakeRows, "pooler.first", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
    if (names_.pooled_dropout)
      x = dropout("pooler.dropout", x, config_.classifier_dropout.value_or(config_.hidden_dropout_prob));
    x = linear("pooler.dense", x, std::string{names_.pooled});
    return graph_.add1(runtime::kActivate, "pooler.tanh", {x}, runtime::ActivationAttrs{.fn = names_.pooled_fn});
  }

  /// The two losses of BertForPreTraining. Source: Devlin et al., section 3.1; only masked tokens meet the decoder.
  std::vector<ValueId> pretraining(ValueId x) {
    enter("pretraining", micro_);
    const std::int64_t rows = step_.plan.micro_batch * step_.kind.predictions;
    const ValueId places = input("masked_positions", rows, 1, isa::Dtype::kInt32);
    const ValueId t = graph_.add1(runtime::kEmbedding, "mlm.gather", {x, places},
                                  runtime::ResultAttrs{.dtype = step_.plan.numerics.activation});
    const ValueId masked = vocabulary_loss(token_logits(t), rows, "masked_");
    const ValueId next = linear("nsp", pooled(x), "cls.seq_relationship", {.dtype = isa::Dtype::kFp32});
    return {masked, loss_of(next, step_.plan.micro_batch, "next_labels", "next_weights", "next_loss")};
  }

  /// BertForMaskedLM: every token meets the table of tokens, as in transformers, also those whose loss does not count.
  ValueId masked_tokens(ValueId x) {
    enter("head", micro_);
    const ValueId logits = token_logits(x);
    if (step_.kind.keep_logits) graph_.output(logits, micro_name("logits", micro_));
    return vocabulary_loss(logits, step_.plan.micro_batch * step_.kind.length, "");
  }

  ValueId token_logits(ValueId x) {
    const MaskedHeadNames& masked = names_.masked;
    x = linear("mlm.transform", x, std::string{masked.dense});
    x = activation("mlm.activation", x, names_.masked_gelu ? Activation::kGelu : config_.hidden_act);
    x = layernorm("mlm.layernorm", x, std::string{masked.norm});
    x = matmul("mlm.decoder", x, w(embeddings("word_embeddings.weight")),
               {.trans_b = true, .dtype = step_.plan.numerics.activation});
    return graph_.add1(runtime::kAdd, "mlm.decoder.bias", {x, w(std::string{masked.bias})});
  }

  /// Cross-entropy in pieces of columns: SBUF does not hold 128 rows of a vocabulary, a float and its gradient each.
  /// `prefix`: of the names of labels, weights and loss.
  ValueId vocabulary_loss(ValueId logits, std::int64_t rows, const std::string& prefix) {
    const ValueId labels = input((prefix + "labels").c_str(), rows, 1, isa::Dtype::kInt32);
    const ValueId weights = input((prefix + "weights").c_str(), rows, 1, isa::Dtype::kFp32);
    const ValueId most = graph_.add1(runtime::kRowMax, "mlm.max", {logits});
    const ValueId sums = graph_.add1(runtime::kLossSums, "mlm.sums", {logits, labels, most});
    const auto out = graph_.add(
        runtime::kSplitLoss, "mlm.loss", {logits, labels, weights, most, sums},
        runtime::LossAttrs{.scale = step_.plan.numerics.loss_scale, .dtype = step_.plan.numerics.activation});
    graph_.output(out[0], micro_name(prefix + "loss", micro_));
    return out[0];
  }

  const BertConfig& config_;
  const BertDialect& names_;
  ValueId mask_ = runtime::kNoValue;
};

}  // namespace

runtime::Graph bert_graph(const BertConfig& config, const Step& spec) {
  require_positions(spec.kind.length, config.max_position_embeddings - config.first_position());
  if (spec.kind.head == Head::kPretraining && config.kind != BertKind::kBert)
    throw base::Error{base::Fault::kUsage, "model", "has no pre-training head here", "pre-train a model of type bert"};
  const auto differs = [&](Head head) { return (spec.kind.head == head) != (config.head == head); };
  if ((differs(Head::kPretraining) || differs(Head::kMaskedTokens)) && spec.kind.head != Head::kNone)
    throw base::Error{base::Fault::kInternal, "bert", "the step's head is not the model's", "give both the same head"};
  return Bert{config, spec}.run();
}

double bert_flops(const BertConfig& c, const Step& spec) {
  const auto h = static_cast<double>(c.hidden_size), f = static_cast<double>(c.intermediate_size);
  const auto tokens = static_cast<double>(spec.plan.micro_batch * spec.kind.length),
             length = static_cast<double>(spec.kind.length);
  const double layer = 2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * length * h;
  double forward = layer * static_cast<double>(c.num_hidden_layers);
  if (has_projection(c)) forward += 2 * tokens * h * static_cast<double>(c.embedding_width());
  const auto labels = static_cast<double>(c.num_labels());
  if (spec.kind.head == Head::kClassifier)
    forward += 2 * static_cast<double>(spec.plan.micro_batch) * (h * h + h * labels);
  if (spec.kind.head == Head::kTokens) forward += 2 * tokens * h * labels;
  if (spec.kind.head == Head::kMaskedTokens)
    forward += 2 * tokens * static_cast<double>(c.embedding_width()) * (h + static_cast<double>(c.vocab_size));
  if (spec.kind.head == Head::kPretraining) {
    const auto batch = static_cast<double>(spec.plan.micro_batch),
               masked = batch * static_cast<double>(spec.kind.predictions);
    forward += 2 * masked * (h * h + h * static_cast<double>(c.vocab_size)) + 2 * batch * (h * h + 2 * h);
  }
  return forward * (spec.kind.training ? 3 : 1) * static_cast<double>(spec.plan.micro_batches);
}

}  // namespace workloads
