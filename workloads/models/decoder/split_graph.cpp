#include "workloads/models/decoder/split_graph.h"

#include <fmt/format.h>

#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_weights.h"

namespace workloads {

using runtime::Kind;
using runtime::ValueId;

SplitGraph::SplitGraph(const ModelPtr& config, const Step& spec, std::int64_t rows)
    : config_{config},
      arch_{decoder_arch(config)},
      spec_{spec},
      graph_{spec.plan.numerics},
      specs_{decoder_weights(config, spec)},
      weights_{declare_weights(graph_, specs_, spec.kind.fold_weights)},
      rows_{rows},
      split_{spec.plan.tensor > 1},
      sequence_{split_ && spec.plan.sequence} {}

StepGraph SplitGraph::run() {
  graph_.set_replica_groups(config_->groups(spec_.plan));
  declare_tables();
  runtime::Backward backward{graph_};
  backward.recompute([this](const runtime::Node& node) { return segment_of(node); });
  // All tokens of a layer's norms would be most of what is kept.
  backward.repeat_ahead([](const runtime::Node& node) { return node.op->repeated_ahead_by; });
  // Backward follows its forward as soon as it can, so that a micro-batch's activations are gone before others begin.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<ValueId>> ends;
  for (const Turn& turn :
       pipeline_turns(spec_.plan.pipeline, spec_.stage, spec_.plan.chunks, spec_.plan.micro_batches)) {
    micro_ = turn.micro_batch;
    if (turn.forward)
      ends[{turn.chunk, micro_}] = forward(turn.chunk);
    else if (spec_.kind.training)
      backward.run(ends.at({turn.chunk, micro_}));
  }
  std::vector<ZeroBucket> zero;
  if (spec_.kind.training) zero = add_update(graph_, backward.finish(), spec_, arch_.blocks, parameter_sets());
  return {std::move(graph_), std::move(zero)};
}

void SplitGraph::enter(std::string name, std::int64_t number) {
  const std::int64_t layer = name.starts_with("layer") ? layer_ : -1;
  graph_.enter({.name = std::move(name),
                .instance = static_cast<std::int32_t>(number),
                .phase = isa::Phase::kForward,
                .rng = static_cast<std::uint32_t>(micro_ * (arch_.layers + 2) + layer_ + 2),
                .layer = static_cast<std::int32_t>(layer)});
}

void SplitGraph::enter_part(const std::string& part, const char* layer) {
  const std::int64_t number = micro_ * arch_.layers + layer_;
  if (split_)
    enter(fmt::format("{}.{}", layer, part), number);
  else
    enter(layer, number);
}

/// What a backward pass computes again: numbered by layer and micro-batch.
std::int32_t SplitGraph::segment_of(const runtime::Node& node) const {
  const runtime::Scope& scope = graph_.scope_of(node);
  if (spec_.plan.recompute == Recompute::kNone || !scope.name.starts_with("layer")) return -1;
  if (spec_.plan.recompute == Recompute::kSelective && !node.op->recomputed_selectively) return -1;
  return scope.instance;
}

ValueId SplitGraph::shared(ValueId x) {
  if (!split_) return x;
  return graph_.add1(sequence_ ? runtime::kRankGather : runtime::kRankFork, "share", {x}, group());
}

ValueId SplitGraph::summed(ValueId x) {
  if (!split_) return x;
  return graph_.add1(sequence_ ? runtime::kRankScatter : runtime::kRankSum, "sum", {x}, group());
}

ValueId SplitGraph::receive(std::int64_t chunk, std::int64_t rows, std::uint8_t from) {
  layer_ = -1;
  enter("stage.receive", micro_ * spec_.plan.chunks + chunk);
  return graph_.add1(runtime::kStageReceive, "receive", {},
                     runtime::ReceiveAttrs{.rows = sequence_ ? rows / spec_.plan.tensor : rows,
                                           .cols = arch_.hidden,
                                           .group = from,
                                           .peer = 0,
                                           .dtype = spec_.plan.numerics.activation});
}

ValueId SplitGraph::send(std::int64_t chunk, ValueId x, std::uint8_t to) {
  enter("stage.send", micro_ * spec_.plan.chunks + chunk);
  return graph_.add1(runtime::kStageSend, "send", {x}, runtime::SendAttrs{.group = to, .peer = 1});
}

ValueId SplitGraph::input(const char* name, std::int64_t rows, std::int64_t cols, isa::Dtype type) {
  return graph_.tensor(micro_name(name, micro_), rows, cols, type, Kind::kInput);
}

ValueId SplitGraph::linear(const std::string& label, ValueId x, const std::string& name, bool bias) {
  ValueId y = graph_.add1(runtime::kMatmul, label, {x, w(name + ".weight")},
                          runtime::MatmulAttrs{.operand = spec_.plan.numerics.operand});
  if (weights_.contains(name + ".lora_A.weight")) y = adapted(label + ".lora", y, x, name);
  const bool has = bias && weights_.contains(name + ".bias");
  return has ? graph_.add1(runtime::kAdd, label + ".bias", {y, w(name + ".bias")}) : y;
}

ValueId SplitGraph::times(const std::string& label, ValueId x, double factor) {
  return factor == 1 ? x : graph_.add1(runtime::kAffine, label, {x}, runtime::AffineAttrs{.alpha = factor});
}

/// With what low rank adds to a frozen weight's product y. Between ranks a product of split inputs is a sum, and so
/// is this; one of split outputs has the same columns.
ValueId SplitGraph::adapted(const std::string& label, ValueId y, ValueId x, const std::string& name) {
  runtime::MatmulAttrs attrs{.operand = spec_.plan.numerics.operand};
  x = dropout(label + ".dropout", x, arch_.lora->dropout);
  x = graph_.add1(runtime::kMatmul, label + ".a", {x, w(name + ".lora_A.weight")}, attrs);
  attrs.alpha = arch_.lora->scale();
  x = graph_.add1(runtime::kMatmul, label + ".b", {x, w(name + ".lora_B.weight")}, attrs);
  return graph_.add1(runtime::kAdd, label, {y, x});
}

ValueId SplitGraph::norm(const std::string& label, ValueId x, const std::string& name) {
  if (arch_.rms) {
    ValueId gain = w(name + ".weight");
    if (arch_.norm_offset != 0)
      gain = graph_.add1(runtime::kAffine, label + ".gain", {gain}, runtime::AffineAttrs{.beta = arch_.norm_offset});
    return graph_.add(runtime::kRmsNorm, label, {x, gain}, runtime::NormAttrs{.eps = arch_.eps})[0];
  }
  return graph_.add(runtime::kLayerNorm, label, {x, w(name + ".weight"), w(name + ".bias")},
                    runtime::NormAttrs{.eps = arch_.eps})[0];
}

ValueId SplitGraph::dropout(const std::string& label, ValueId x, double p) {
  if (!spec_.kind.training || p <= 0) return x;
  return graph_.add1(runtime::kDropout, label, {x}, runtime::DropoutAttrs{.p = p, .stream = stream_++});
}

ValueId SplitGraph::tokens(const char* place, const char* ids, const char* mine, std::int64_t rows) {
  enter(place, micro_);
  ValueId x = graph_.add1(runtime::kEmbedding, "word", {w(arch_.embedding), input(ids, rows, 1, isa::Dtype::kInt32)},
                          runtime::ResultAttrs{.dtype = spec_.plan.numerics.activation});
  x = times("word.scale", x, arch_.embedding_scale);
  if (!split_) return x;
  x = graph_.add1(runtime::kMul, "word.mine", {x, input(mine, rows, 1, spec_.plan.numerics.activation)});
  enter(fmt::format("{}.sum", place), micro_);
  return summed(x);
}

ValueId SplitGraph::head(ValueId x) {
  enter("head.norm", micro_);
  x = dropout("norm.dropout", norm("norm", x, arch_.last_norm), arch_.last_dropout);
  x = times("logits.scale", x, arch_.logit_scale);  // logits are linear in it
  if (split_) enter("head.share", micro_);
  x = shared(x);
  enter("head", micro_);
  const ValueId logits = graph_.add1(
      runtime::kMatmul, "head", {x, w(arch_.tied ? arch_.embedding : "lm_head.weight")},
      runtime::MatmulAttrs{.trans_b = arch_.tied, .dtype = isa::Dtype::kFp32, .operand = spec_.plan.numerics.operand});
  if (spec_.kind.keep_logits) graph_.output(logits, micro_name("logits", micro_));
  return spec_.kind.training || spec_.kind.with_loss ? loss(logits) : logits;
}

ValueId SplitGraph::loss(ValueId logits) {
  const ValueId labels = input("labels", rows_, 1, isa::Dtype::kInt32),
                weights = input("weights", rows_, 1, isa::Dtype::kFp32);
  const runtime::LossAttrs attrs{.scale = spec_.plan.numerics.loss_scale,
                                 .smoothing = spec_.kind.training ? spec_.kind.smoothing : 0,
                                 .classes = arch_.vocabulary,
                                 .dtype = spec_.plan.numerics.activation};
  runtime::CollectiveAttrs most_attrs = group();
  most_attrs.alu = isa::Alu::kMax;
  ValueId most = graph_.add1(runtime::kRowMax, "loss.max", {logits});
  if (split_) {
    enter("head.max", micro_);
    most = graph_.add1(runtime::kRankSum, "loss.max.all", {most}, most_attrs);
    enter("head.sums", micro_);
  }
  ValueId sums = graph_.add1(runtime::kLossSums, "loss.sums", {logits, labels, most}, attrs);
  if (split_) {
    enter("head.sum", micro_);
    sums = graph_.add1(runtime::kRankSum, "loss.sums.all", {sums}, group());
    enter("head.loss", micro_);
  }
  const ValueId loss = graph_.add(runtime::kSplitLoss, "loss", {logits, labels, weights, most, sums}, attrs)[0];
  graph_.output(loss, micro_name("loss", micro_));
  return loss;
}

ParameterSets SplitGraph::parameter_sets() const {
  ParameterSets sets;
  for (const WeightSpec& spec : specs_)
    if (spec_.plan.pipeline > 1 && spec.layer == WeightSpec::kBeforeAndAfterLayers)
      sets.tied.insert(weights_.at(spec.name));
  if (!split_) return sets;
  sets.sharing = head_sharing(config_, spec_.plan.tensor);
  for (const WeightSpec& spec : specs_) {
    const ValueId v = weights_.at(spec.name);
    if (spec.split == TensorSplit::kKeyValue && sets.sharing > 1) sets.shared.insert(v);
    if (spec.split != TensorSplit::kNone)
      sets.split.insert(v);
    else if (sequence_ || arch_.lora ||
             of_heads(spec))  // what a factor of all ranks adds to is one rank's columns or inputs
      sets.partial.insert(v);
  }
  return sets;
}

}  // namespace workloads
