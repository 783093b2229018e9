#include "workloads/models/bert/bert_graph.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "runtime/autodiff.h"
#include "runtime/ops.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

constexpr std::string_view kLayers = "bert.encoder.layer.";

class Bert {
 public:
  Bert(const BertConfig& config, const Step& spec)
      : config_{config},
        spec_{spec},
        graph_{spec.plan.numerics},
        weights_{declare_weights(graph_, weights(config, spec), spec.kind.fold_weights)} {}

  Graph run() {
    graph_.set_replica_groups(replica_groups(spec_.plan));
    if (spec_.kind.part == Part::kUpdate) {
      add_update(graph_, declare_gradients(graph_, weights_), spec_, kLayers);
      return std::move(graph_);
    }
    std::vector<ValueId> losses;
    for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) {
      micro_ = m;
      const ValueId hidden = encode();
      if (spec_.kind.head == Head::kNone) {
        graph_.output(hidden, micro_name("hidden", m));
      } else if (spec_.kind.head == Head::kPretraining) {
        for (const ValueId loss : pretraining(hidden)) losses.push_back(loss);
      } else {
        losses.push_back(head(hidden));
      }
    }
    if (!spec_.kind.training) return std::move(graph_);
    const auto gradients = runtime::differentiate(graph_, losses);
    if (spec_.kind.part == Part::kMicroStep)
      add_accumulation(graph_, gradients, kLayers);
    else
      add_update(graph_, gradients, spec_, kLayers);
    return std::move(graph_);
  }

 private:
  static std::vector<WeightSpec> weights(const BertConfig& config, const Step& spec) {
    std::vector<WeightSpec> out;
    for (WeightSpec& w : bert_weights(config)) {
      const bool top =
          w.name.starts_with("classifier") || w.name.starts_with("cls.") || w.name.starts_with("bert.pooler");
      const bool pooler = w.name.starts_with("bert.pooler");
      if (spec.kind.head == Head::kNone && top) continue;
      if (spec.kind.head == Head::kTokens && pooler) continue;
      out.push_back(std::move(w));
    }
    return out;
  }

  void enter(const char* name, std::int64_t number, std::int64_t layer = -1) {
    graph_.enter({.name = name,
                  .instance = static_cast<std::int32_t>(number),
                  .phase = isa::Phase::kForward,
                  .rng = ++calls_,
                  .layer = static_cast<std::int32_t>(layer)});
    stream_ = 0;
  }
  ValueId w(const std::string& name) const { return weights_.at(name); }
  ValueId input(const char* name, std::int64_t rows, std::int64_t cols, isa::Dtype type) {
    return graph_.tensor(micro_name(name, micro_), rows, cols, type, Kind::kInput);
  }

  ValueId linear(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs = {}) {
    attrs.operand = spec_.plan.numerics.operand;
    const ValueId y = graph_.add1(runtime::kMatmul, label, {x, w(name + ".weight")}, attrs);
    return graph_.add1(runtime::kAdd, label + ".bias", {y, w(name + ".bias")});
  }
  ValueId layernorm(const std::string& label, ValueId x, const std::string& name) {
    return graph_.add(runtime::kLayerNorm, label, {x, w(name + ".weight"), w(name + ".bias")},
                      runtime::NormAttrs{.eps = config_.layer_norm_eps})[0];
  }
  ValueId dropout(const std::string& label, ValueId x, double p) {
    if (!spec_.kind.training || p <= 0) return x;
    return graph_.add1(runtime::kDropout, label, {x}, runtime::DropoutAttrs{.p = p, .stream = stream_++});
  }

  ValueId encode() {
    const std::int64_t tokens = spec_.plan.micro_batch * spec_.kind.length;
    enter("embeddings", micro_);
    const ValueId ids = input("input_ids", tokens, 1, isa::Dtype::kInt32);
    const ValueId types = input("token_type_ids", tokens, 1, isa::Dtype::kInt32);
    const ValueId mask =
        input("attention_mask", spec_.plan.micro_batch, spec_.kind.length, spec_.plan.numerics.activation);
    // What hides a key: large, and still a number in fp16.
    const double hide = spec_.plan.numerics.softmax == isa::Dtype::kFp16 ? 3e4 : 1e9;
    mask_ = graph_.add1(runtime::kAffine, "mask", {mask},
                        runtime::AffineAttrs{.alpha = hide, .beta = -hide, .dtype = spec_.plan.numerics.softmax});
    ValueId x = graph_.add1(runtime::kEmbedding, "word", {w("bert.embeddings.word_embeddings.weight"), ids},
                            runtime::ResultAttrs{.dtype = spec_.plan.numerics.activation});
    const ValueId type =
        graph_.add1(runtime::kEmbedding, "token_type", {w("bert.embeddings.token_type_embeddings.weight"), types},
                    runtime::ResultAttrs{.dtype = spec_.plan.numerics.activation});
    const ValueId position = graph_.add1(
        runtime::kPositions, "position", {w("bert.embeddings.position_embeddings.weight")},
        runtime::PositionsAttrs{
            .batch = spec_.plan.micro_batch, .seq = spec_.kind.length, .dtype = spec_.plan.numerics.activation});
    x = graph_.add1(runtime::kAdd, "add_type", {x, type});
    x = graph_.add1(runtime::kAdd, "add_position", {x, position});
    x = layernorm("layernorm", x, "bert.embeddings.LayerNorm");
    x = dropout("dropout", x, config_.hidden_dropout_prob);
    for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l) x = layer(l, x);
    return x;
  }

  ValueId layer(std::int64_t l, ValueId x) {
    enter("layer", micro_ * config_.num_hidden_layers + l, l);
    const std::string name = fmt::format("{}{}.", kLayers, l);
    const ValueId q = linear("attention.query", x, name + "attention.self.query");
    const ValueId k = linear("attention.key", x, name + "attention.self.key");
    const ValueId v = linear("attention.value", x, name + "attention.self.value");
    runtime::AttentionAttrs attrs{.scale = 1 / std::sqrt(static_cast<double>(config_.head_size())),
                                  .batch = spec_.plan.micro_batch,
                                  .seq = spec_.kind.length,
                                  .heads = config_.num_attention_heads,
                                  .kv_heads = config_.num_attention_heads,
                                  .p = spec_.kind.training ? config_.attention_probs_dropout_prob : 0,
                                  .operand = spec_.plan.numerics.operand,
                                  .softmax = spec_.plan.numerics.softmax};
    if (attrs.p > 0) attrs.stream = stream_++;
    const ValueId context = graph_.add(runtime::kAttention, "attention.heads", {q, k, v, mask_}, attrs)[0];
    ValueId y = linear("attention.output", context, name + "attention.output.dense");
    y = dropout("attention.dropout", y, config_.hidden_dropout_prob);
    y = graph_.add1(runtime::kAdd, "attention.residual", {y, x});
    const ValueId middle = layernorm("attention.layernorm", y, name + "attention.output.LayerNorm");
    ValueId h = linear("ffn.intermediate", middle, name + "intermediate.dense");
    h = graph_.add1(runtime::kActivate, "ffn.activation", {h}, runtime::ActivationAttrs{.fn = activation()});
    h = linear("ffn.output", h, name + "output.dense");
    h = dropout("ffn.dropout", h, config_.hidden_dropout_prob);
    h = graph_.add1(runtime::kAdd, "ffn.residual", {h, middle});
    return layernorm("ffn.layernorm", h, name + "output.LayerNorm");
  }

  isa::Fn activation() const {
    switch (config_.hidden_act) {
      case Activation::kGelu: return isa::Fn::kGelu;
      case Activation::kGeluTanh: return isa::Fn::kGeluTanh;
      case Activation::kSilu: return isa::Fn::kSilu;
    }
    throw base::Error{base::Fault::kInternal, "bert", "unknown activation", "report it"};
  }

  ValueId head(ValueId x) {
    enter("head", micro_);
    const double p = config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
    std::int64_t rows = spec_.plan.micro_batch * spec_.kind.length;
    if (spec_.kind.head == Head::kClassifier) {
      rows = spec_.plan.micro_batch;
      x = pooled(x);
    }
    x = dropout("classifier.dropout", x, p);
    const ValueId logits = linear("classifier", x, "classifier", {.dtype = isa::Dtype::kFp32});
    graph_.output(logits, micro_name("logits", micro_));
    return loss_of(logits, rows, "labels", "weights", "loss");
  }

  ValueId pooled(ValueId x) {
    x = graph_.add1(runtime::kTakeRows, "pooler.first", {x}, runtime::StrideAttrs{.stride = spec_.kind.length});
    x = linear("pooler.dense", x, "bert.pooler.dense");
    return graph_.add1(runtime::kActivate, "pooler.tanh", {x}, runtime::ActivationAttrs{.fn = isa::Fn::kTanh});
  }

  /// The two losses of BertForPreTraining. Source: Devlin et al., section 3.1; only masked tokens meet the decoder.
  std::vector<ValueId> pretraining(ValueId x) {
    enter("pretraining", micro_);
    const std::int64_t rows = spec_.plan.micro_batch * spec_.kind.predictions;
    const ValueId places = input("masked_positions", rows, 1, isa::Dtype::kInt32);
    ValueId t = graph_.add1(runtime::kEmbedding, "mlm.gather", {x, places},
                            runtime::ResultAttrs{.dtype = spec_.plan.numerics.activation});
    t = linear("mlm.transform", t, "cls.predictions.transform.dense");
    t = graph_.add1(runtime::kActivate, "mlm.activation", {t}, runtime::ActivationAttrs{.fn = activation()});
    t = layernorm("mlm.layernorm", t, "cls.predictions.transform.LayerNorm");
    const runtime::MatmulAttrs tied{
        .trans_b = true, .dtype = spec_.plan.numerics.activation, .operand = spec_.plan.numerics.operand};
    t = graph_.add1(runtime::kMatmul, "mlm.decoder", {t, w("bert.embeddings.word_embeddings.weight")}, tied);
    t = graph_.add1(runtime::kAdd, "mlm.decoder.bias", {t, w("cls.predictions.bias")});
    const ValueId masked = vocabulary_loss(t, rows);
    const ValueId next = linear("nsp", pooled(x), "cls.seq_relationship", {.dtype = isa::Dtype::kFp32});
    return {masked, loss_of(next, spec_.plan.micro_batch, "next_labels", "next_weights", "next_loss")};
  }

  ValueId loss_of(ValueId logits, std::int64_t rows, const char* label, const char* weight, const char* name) {
    const ValueId labels = input(label, rows, 1, isa::Dtype::kInt32);
    const ValueId weights = input(weight, rows, 1, isa::Dtype::kFp32);
    const auto out = graph_.add(
        runtime::kCrossEntropy, name, {logits, labels, weights},
        runtime::LossAttrs{.scale = spec_.plan.numerics.loss_scale, .dtype = spec_.plan.numerics.activation});
    graph_.output(out[0], micro_name(name, micro_));
    return out[0];
  }

  /// Cross-entropy in pieces of columns: SBUF does not hold 128 rows of a vocabulary, a float and its gradient each.
  ValueId vocabulary_loss(ValueId logits, std::int64_t rows) {
    const ValueId labels = input("masked_labels", rows, 1, isa::Dtype::kInt32);
    const ValueId weights = input("masked_weights", rows, 1, isa::Dtype::kFp32);
    const ValueId most = graph_.add1(runtime::kRowMax, "mlm.max", {logits});
    const ValueId sums = graph_.add1(runtime::kLossSums, "mlm.sums", {logits, labels, most});
    const auto out = graph_.add(
        runtime::kSplitLoss, "mlm.loss", {logits, labels, weights, most, sums},
        runtime::LossAttrs{.scale = spec_.plan.numerics.loss_scale, .dtype = spec_.plan.numerics.activation});
    graph_.output(out[0], micro_name("masked_loss", micro_));
    return out[0];
  }

  const BertConfig& config_;
  const Step& spec_;
  Graph graph_;
  std::map<std::string, ValueId> weights_;
  std::int64_t micro_ = 0;
  std::uint32_t calls_ = 0, stream_ = 0;
  ValueId mask_ = runtime::kNoValue;
};

}  // namespace

runtime::Graph bert_graph(const BertConfig& config, const Step& spec) {
  if (spec.kind.length > config.max_position_embeddings)
    throw base::Error{base::Fault::kUsage, "--max_length",
                      fmt::format("a sequence of {} tokens is longer than the model's {} positions", spec.kind.length,
                                  config.max_position_embeddings),
                      fmt::format("use --max_length {} or less", config.max_position_embeddings)};
  if ((spec.kind.head == Head::kPretraining) != (config.head == BertHead::kPretraining) &&
      spec.kind.head != Head::kNone)
    throw base::Error{base::Fault::kInternal, "bert", "the step's head is not the model's", "give both the same head"};
  return Bert{config, spec}.run();
}

double bert_flops(const BertConfig& c, const Step& spec) {
  const auto h = static_cast<double>(c.hidden_size), f = static_cast<double>(c.intermediate_size);
  const auto tokens = static_cast<double>(spec.plan.micro_batch * spec.kind.length),
             length = static_cast<double>(spec.kind.length);
  const double layer = 2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * length * h;
  double forward = layer * static_cast<double>(c.num_hidden_layers);
  const auto labels = static_cast<double>(c.num_labels());
  if (spec.kind.head == Head::kClassifier)
    forward += 2 * static_cast<double>(spec.plan.micro_batch) * (h * h + h * labels);
  if (spec.kind.head == Head::kTokens) forward += 2 * tokens * h * labels;
  if (spec.kind.head == Head::kPretraining) {
    const auto batch = static_cast<double>(spec.plan.micro_batch),
               masked = batch * static_cast<double>(spec.kind.predictions);
    forward += 2 * masked * (h * h + h * static_cast<double>(c.vocab_size)) + 2 * batch * (h * h + 2 * h);
  }
  return forward * (spec.kind.training ? 3 : 1) * static_cast<double>(spec.plan.micro_batches);
}

}  // namespace workloads
