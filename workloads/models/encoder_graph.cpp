#include "workloads/models/encoder_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/checkpoints/shards.h"

namespace workloads {

EncoderGraph::EncoderGraph(const Step& step, const std::vector<WeightSpec>& weights, std::string_view layers,
                           BlockArch arch, const std::optional<Lora>& lora)
    : step_{step},
      arch_{std::move(arch)},
      graph_{step.plan.numerics},
      net_{graph_,
           declare_weights(graph_, weights, step.kind.fold_weights),
           {.batch = step.plan.micro_batch,
            .length = step.kind.length,
            .ranks = step.plan.tensor,
            .group = tensor_group(step.plan),
            .training = step.kind.training,
            .smoothing = step.kind.training ? step.kind.smoothing : 0,
            .lora = lora},
           *this},
      layers_{layers},
      specs_{weights},
      block_{net_, arch_, 0} {
  graph_.set_replica_groups(replica_groups(step.plan));
  backward_.recompute([this](const runtime::Node& node) { return segment_of(node); });
}

std::vector<WeightSpec> weights_of_rank(const ModelPtr& model, const Step& step) {
  return step.plan.tensor == 1 ? model->weights() : shard_specs(model, shard_plan(step.plan), {});
}

ParameterSets EncoderGraph::sets() const {
  ParameterSets out = parameter_sets(specs_, net_.weights());
  if (!net_.program().split()) return out;
  for (const WeightSpec& spec : specs_)
    if (spec.split != TensorSplit::kNone)
      out.split.insert(net_.w(spec.name));
    else if (is_adapter(spec.name) || of_heads(spec.name))  // a factor on all ranks: as those of decoders
      out.partial.insert(net_.w(spec.name));
  return out;
}

bool EncoderGraph::only_updates() {
  if (step_.kind.part != Part::kUpdate) return false;
  zero_ = add_update(graph_, declare_gradients(graph_, net_.weights()), step_, layers_, sets());
  return true;
}

/// Backward follows its forward at once, as in decoders: with recomputation a micro-batch's activations are gone before
/// others begin.
void EncoderGraph::add_losses(const std::vector<ValueId>& losses) {
  if (step_.kind.training) backward_.run(losses);
}

void EncoderGraph::train() {
  if (!step_.kind.training) return;
  require_read(graph_, specs_, net_.weights());
  const auto gradients = backward_.finish();
  if (step_.kind.part == Part::kMicroStep)
    add_accumulation(graph_, gradients, layers_);
  else
    zero_ = add_update(graph_, gradients, step_, layers_, sets());
}

/// The recomputed segment of a node: a layer of a micro-batch.
std::int32_t EncoderGraph::segment_of(const runtime::Node& node) const {
  const runtime::Scope& scope = graph_.scope_of(node);
  return scope.layer >= 0 && is_recomputed(node, step_.plan.recompute) ? scope.instance : -1;
}

void EncoderGraph::enter(const std::string& name, std::int64_t number, std::int64_t layer) {
  graph_.enter({.name = name,
                .instance = static_cast<std::int32_t>(number),
                .phase = isa::Phase::kForward,
                .rng = ++calls_,
                .layer = static_cast<std::int32_t>(layer)});
  net_.restart_stream();
}

bool EncoderGraph::is_split(const std::string& weight) const {
  return net_.program().split() && std::ranges::find(specs_, weight, &WeightSpec::name)->split != TensorSplit::kNone;
}

void EncoderGraph::enter_part(const std::string& part) {
  if (net_.program().split()) enter(fmt::format("layer.{}", part), number_, layer_);
}

runtime::ValueId EncoderGraph::layer(ValueId x, std::int64_t number, std::int64_t layers, const std::string& prefix,
                                     const LayerInputs& inputs) {
  number_ = micro_ * layers + number, layer_ = number;
  if (!net_.program().split()) enter("layer", number_, layer_);
  Residual sum{.sum = x};
  block_.layer(sum, number, prefix, inputs);
  return sum.sum;
}

runtime::ValueId EncoderGraph::norm(const std::string& label, ValueId x, const std::string& name) {
  return net_.norm(label, x, arch_.norm, name);
}

runtime::ValueId EncoderGraph::rows_of(const char* label, const std::string& table, ValueId ids) {
  return graph_.add1(runtime::kEmbedding, label, {net_.w(table), ids},
                     runtime::ResultAttrs{.dtype = net_.numerics().activation});
}

runtime::ValueId EncoderGraph::mean_of(ValueId x, ValueId first, ValueId mask) {
  const ValueId query = graph_.add1(runtime::kAffine, "mean.query", {first}, runtime::AffineAttrs{.alpha = 0});
  AttentionArch arch = arch_.attention;  // every rank has the tokens with all of their heads
  arch.heads *= net_.program().ranks, arch.kv_heads = arch.heads, arch.dropout = 0;
  return net_.heads("mean", {query, x, x}, arch, {.queries = 1, .mask = mask});
}

runtime::ValueId EncoderGraph::classified(ValueId x, std::int64_t rows, const std::string& name) {
  const std::string_view head = name;
  return classified({x}, rows, {&head, 1});
}

runtime::ValueId EncoderGraph::classified(const std::vector<ValueId>& xs, std::int64_t rows,
                                          std::span<const std::string_view> heads) {
  ValueId logits = runtime::kNoValue;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::string label = i == 0 ? "classifier" : fmt::format("classifier.{}", i + 1);
    const ValueId one = net_.linear(label, xs[i], std::string{heads[i]}, {.dtype = isa::Dtype::kFp32});
    logits = i == 0 ? one : net_.add(label + ".sum", logits, one);
  }
  logits = net_.times("classifier.mean", logits, 1 / static_cast<double>(xs.size()));
  graph_.output(logits, host_name("logits"));
  return net_.class_loss(logits, rows);
}

}  // namespace workloads
