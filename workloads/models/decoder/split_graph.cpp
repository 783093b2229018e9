#include "workloads/models/decoder/split_graph.h"

#include <fmt/format.h>

#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_weights.h"

namespace workloads {

using runtime::Kind;
using runtime::ValueId;

namespace {

LayerProgram program_of(const Step& step, const DecoderArch& arch) {
  const Plan& plan = step.plan;
  return {.batch = plan.micro_batch,
          .length = step.kind.length,
          .ranks = plan.tensor,
          .group = tensor_group(plan),
          .sequence = plan.tensor > 1 && plan.sequence,
          .training = step.kind.training,
          .smoothing = step.kind.training ? step.kind.smoothing : 0,
          .lora = arch.lora};
}

}  // namespace

SplitGraph::SplitGraph(const ModelPtr& model, const Step& step, std::int64_t rows)
    : model_{model},
      arch_{decoder_arch(model)},
      step_{step},
      graph_{step.plan.numerics},
      specs_{decoder_weights(model, step)},
      net_{graph_, declare_weights(graph_, specs_, step.kind.fold_weights), program_of(step, arch_), *this},
      rows_{rows},
      split_{step.plan.tensor > 1},
      sequence_{split_ && step.plan.sequence} {}

StepGraph SplitGraph::run() {
  graph_.set_replica_groups(model_->groups(step_.plan));
  declare_tables();
  runtime::Backward backward{graph_};
  backward.recompute([this](const runtime::Node& node) { return segment_of(node); });
  // The norms of all tokens would be most of the kept memory.
  backward.repeat_ahead([](const runtime::Node& node) { return node.op->repeated_ahead_by; });
  // Backward follows its forward as soon as it can, so that a micro-batch's activations are gone before others begin.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<ValueId>> ends;
  for (const Turn& turn :
       pipeline_turns(step_.plan.pipeline, step_.stage, step_.plan.chunks, step_.plan.micro_batches)) {
    micro_ = turn.micro_batch;
    if (turn.forward)
      ends[{turn.chunk, micro_}] = forward(turn.chunk);
    else if (step_.kind.training)
      backward.run(ends.at({turn.chunk, micro_}));
  }
  std::vector<ZeroBucket> zero;
  require_read(graph_, specs_, net_.weights());
  if (step_.kind.training) zero = add_update(graph_, backward.finish(), step_, arch_.blocks, parameter_sets());
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

/// The recomputed segment of a node: numbered by layer and micro-batch.
std::int32_t SplitGraph::segment_of(const runtime::Node& node) const {
  const runtime::Scope& scope = graph_.scope_of(node);
  return scope.name.starts_with("layer") && is_recomputed(node, step_.plan.recompute) ? scope.instance : -1;
}

ValueId SplitGraph::receive(std::int64_t chunk, std::int64_t rows, std::uint8_t from) {
  layer_ = -1;
  enter("stage.receive", micro_ * step_.plan.chunks + chunk);
  return graph_.add1(runtime::kStageReceive, "receive", {},
                     runtime::ReceiveAttrs{.rows = sequence_ ? rows / step_.plan.tensor : rows,
                                           .cols = arch_.hidden,
                                           .group = from,
                                           .peer = 0,
                                           .dtype = step_.plan.numerics.activation});
}

ValueId SplitGraph::send(std::int64_t chunk, ValueId x, std::uint8_t to) {
  enter("stage.send", micro_ * step_.plan.chunks + chunk);
  return graph_.add1(runtime::kStageSend, "send", {x}, runtime::SendAttrs{.group = to, .peer = 1});
}

ValueId SplitGraph::head(ValueId x) {
  const HeadArch& head = arch_.head;
  enter("head.norm");
  if (!head.norm.empty()) x = net_.norm("norm", x, arch_.block.norm, head.norm);
  x = net_.dropout("norm.dropout", x, head.dropout);
  if (!head.projection.empty()) x = net_.linear("head.projection", x, head.projection);
  x = net_.before_logits(x, head, arch_.block.norm);
  x = net_.times("logits.scale", x, head.scale);  // logits are linear in it
  if (split_) enter("head.share");
  x = net_.shared(x);
  enter("head");
  if (head.classes > 0) x = last_tokens(x);
  const ValueId logits = net_.logits(x, head, arch_.embedding.name);
  if (step_.kind.keep_logits || head.classes > 0) graph_.output(logits, host_name("logits"));
  if (!step_.kind.training && !step_.kind.with_loss) return logits;
  return head.classes > 0 ? net_.class_loss(logits, step_.plan.micro_batch)
                          : net_.token_loss(logits, rows_, arch_.vocabulary);
}

ValueId SplitGraph::last_tokens(ValueId x) {
  const ValueId places = net_.input("last_tokens", step_.plan.micro_batch, 1, isa::Dtype::kInt32);
  return graph_.add1(runtime::kEmbedding, "last_tokens", {x, places},
                     runtime::ResultAttrs{.dtype = net_.numerics().activation});
}

ParameterSets SplitGraph::parameter_sets() const {
  ParameterSets sets = workloads::parameter_sets(specs_, net_.weights());
  for (const WeightSpec& spec : specs_)
    if (step_.plan.pipeline > 1 && spec.layer == WeightSpec::kBeforeAndAfterLayers) sets.tied.insert(net_.w(spec.name));
  if (!split_) return sets;
  sets.sharing = head_sharing(model_, step_.plan.tensor);
  for (const WeightSpec& spec : specs_) {
    const ValueId v = net_.w(spec.name);
    if (spec.split == TensorSplit::kKeyValue && sets.sharing > 1) sets.shared.insert(v);
    if (spec.split != TensorSplit::kNone)
      sets.split.insert(v);
    else if (sequence_ || arch_.lora || arch_.head.name + ".weight" == spec.name ||
             of_heads(spec))  // a factor on all ranks adds to one rank's columns or inputs
      sets.partial.insert(v);
  }
  return sets;
}

}  // namespace workloads
