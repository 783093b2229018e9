#include "workloads/models/encoder_graph.h"

#include <cmath>

#include "base/error.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"

namespace workloads {
namespace {

isa::Fn function_of(Activation activation) {
  switch (activation) {
    case Activation::kGelu: return isa::Fn::kGelu;
    case Activation::kGeluTanh: return isa::Fn::kGeluTanh;
    case Activation::kSilu: return isa::Fn::kSilu;
  }
  throw base::Error{base::Fault::kInternal, "encoder", "unknown activation", "report it"};
}

}  // namespace

EncoderGraph::EncoderGraph(const Step& step, const std::vector<WeightSpec>& weights, std::string_view layers,
                           const Sizes& sizes)
    : step_{step},
      graph_{step.plan.numerics},
      weights_{declare_weights(graph_, weights, step.kind.fold_weights)},
      layers_{layers},
      sizes_{sizes} {
  graph_.set_replica_groups(replica_groups(step.plan));
}

bool EncoderGraph::only_updates() {
  if (step_.kind.part != Part::kUpdate) return false;
  add_update(graph_, declare_gradients(graph_, weights_), step_, layers_);
  return true;
}

void EncoderGraph::train_on(const std::vector<ValueId>& losses) {
  if (!step_.kind.training) return;
  const auto gradients = runtime::differentiate(graph_, losses);
  if (step_.kind.part == Part::kMicroStep)
    add_accumulation(graph_, gradients, layers_);
  else
    add_update(graph_, gradients, step_, layers_);
}

void EncoderGraph::enter(const char* name, std::int64_t number, std::int64_t layer) {
  graph_.enter({.name = name,
                .instance = static_cast<std::int32_t>(number),
                .phase = isa::Phase::kForward,
                .rng = ++calls_,
                .layer = static_cast<std::int32_t>(layer)});
  stream_ = 0;
}

runtime::ValueId EncoderGraph::input(const char* name, std::int64_t rows, std::int64_t cols, isa::Dtype type) {
  return graph_.tensor(micro_name(name, micro_), rows, cols, type, runtime::Kind::kInput);
}

runtime::ValueId EncoderGraph::matmul(const std::string& label, ValueId x, ValueId weight, runtime::MatmulAttrs attrs) {
  attrs.operand = step_.plan.numerics.operand;
  return graph_.add1(runtime::kMatmul, label, {x, weight}, attrs);
}

runtime::ValueId EncoderGraph::linear(const std::string& label, ValueId x, const std::string& name,
                                      runtime::MatmulAttrs attrs) {
  const ValueId y = matmul(label, x, w(name + ".weight"), attrs);
  return graph_.add1(runtime::kAdd, label + ".bias", {y, w(name + ".bias")});
}

runtime::ValueId EncoderGraph::layernorm(const std::string& label, ValueId x, const std::string& name) {
  return graph_.add(runtime::kLayerNorm, label, {x, w(name + ".weight"), w(name + ".bias")},
                    runtime::NormAttrs{.eps = sizes_.eps})[0];
}

runtime::ValueId EncoderGraph::dropout(const std::string& label, ValueId x, double p) {
  if (!step_.kind.training || p <= 0) return x;
  return graph_.add1(runtime::kDropout, label, {x}, runtime::DropoutAttrs{.p = p, .stream = stream_++});
}

runtime::ValueId EncoderGraph::activation(const std::string& label, ValueId x, Activation fn) {
  return graph_.add1(runtime::kActivate, label, {x}, runtime::ActivationAttrs{.fn = function_of(fn)});
}

runtime::ValueId EncoderGraph::attention(const std::vector<ValueId>& in) {
  const std::int64_t head = sizes_.hidden / sizes_.heads;
  runtime::AttentionAttrs attrs{.scale = 1 / std::sqrt(static_cast<double>(head)),
                                .batch = step_.plan.micro_batch,
                                .seq = step_.kind.length,
                                .heads = sizes_.heads,
                                .kv_heads = sizes_.heads,
                                .p = step_.kind.training ? sizes_.attention_dropout : 0,
                                .operand = step_.plan.numerics.operand,
                                .softmax = step_.plan.numerics.softmax};
  if (attrs.p > 0) attrs.stream = stream_++;
  return graph_.add(runtime::kAttention, "attention.heads", in, attrs)[0];
}

runtime::ValueId EncoderGraph::loss_of(ValueId logits, std::int64_t rows, const char* label, const char* weight,
                                       const char* name) {
  const ValueId labels = input(label, rows, 1, isa::Dtype::kInt32);
  const ValueId weights = input(weight, rows, 1, isa::Dtype::kFp32);
  const ValueId loss = graph_.add(runtime::kCrossEntropy, name, {logits, labels, weights},
                                  runtime::LossAttrs{.scale = step_.plan.numerics.loss_scale,
                                                     .smoothing = step_.kind.training ? step_.kind.smoothing : 0,
                                                     .dtype = step_.plan.numerics.activation})[0];
  graph_.output(loss, micro_name(name, micro_));
  return loss;
}

}  // namespace workloads
