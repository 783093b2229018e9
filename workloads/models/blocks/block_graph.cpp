#include "workloads/models/blocks/block_graph.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace workloads {
namespace {

using runtime::Attrs;
using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

/// The terms y * dy of a loss whose gradient is given. Shapes: y, dy [R, C] -> [R, C].
runtime::Tensors terms(const Attrs&, std::span<const runtime::Tensor> in) {
  return runtime::map(in, [](float y, float dy) { return y * dy; });
}
void terms_backward(runtime::Backward& b, const runtime::Node& node) { b.add(node, 0, node.in[1]); }
void terms_lower(runtime::RowTiler& r, const runtime::Node& node, runtime::Span span) {
  r.e().tensor_tensor(r.out(node, 0, span), r.in(node, 0, span), isa::Alu::kMul, r.in(node, 1, span));
}
const runtime::Op kLossTerms{.name = "loss_terms",
                             .text = "y * dy",
                             .infer = runtime::same_or_broadcast,
                             .forward = terms,
                             .backward = terms_backward,
                             .lower_columns = terms_lower};

class Blocks {
 public:
  explicit Blocks(const BlockSpec& spec) : spec_{spec}, graph_{spec.numerics} {}

  Graph run() {
    const std::int64_t rows = spec_.batch * spec_.seq;
    ValueId x = graph_.tensor("x", rows, spec_.hidden, spec_.numerics.activation, Kind::kInput);
    for (layer_ = 0; layer_ < spec_.layers; ++layer_) {
      enter("block", isa::Phase::kForward);
      x = block(x);
    }
    if (spec_.training) train(x);
    graph_.output(x, "y");
    return std::move(graph_);
  }

 private:
  void enter(const char* name, isa::Phase phase) {
    const auto layer = static_cast<std::int32_t>(layer_);
    graph_.enter({.name = name, .instance = layer, .phase = phase, .layer = layer});
  }

  ValueId weight(const std::string& name, std::int64_t rows, std::int64_t cols) {
    return graph_.tensor(fmt::format("blocks.{}.{}", layer_, name), rows, cols, spec_.numerics.weight, Kind::kWeight);
  }

  ValueId linear(const std::string& name, ValueId x, std::int64_t cols) {
    const ValueId w = weight(name + ".weight", graph_.value(x).cols, cols);
    const ValueId y =
        graph_.add1(runtime::kMatmul, name, {x, w}, runtime::MatmulAttrs{.operand = spec_.numerics.operand});
    return spec_.bias ? graph_.add1(runtime::kAdd, name + ".bias", {y, weight(name + ".bias", 1, cols)}) : y;
  }

  ValueId normalized(const std::string& name, ValueId x) {
    const ValueId gain = weight(name + ".weight", 1, spec_.hidden), bias = weight(name + ".bias", 1, spec_.hidden);
    return graph_.add(runtime::kLayerNorm, name, {x, gain, bias}, runtime::NormAttrs{.eps = 1e-5})[0];
  }

  ValueId block(ValueId x) {
    const ValueId before = normalized("attention.norm", x);
    const ValueId q = linear("attention.query", before, spec_.hidden);
    const ValueId k = linear("attention.key", before, spec_.hidden);
    const ValueId v = linear("attention.value", before, spec_.hidden);
    const std::int64_t head = spec_.hidden / spec_.heads;
    const runtime::AttentionAttrs attrs{.scale = 1 / std::sqrt(static_cast<double>(head)),
                                        .batch = spec_.batch,
                                        .seq = spec_.seq,
                                        .heads = spec_.heads,
                                        .kv_heads = spec_.heads,
                                        .causal = spec_.causal,
                                        .operand = spec_.numerics.operand,
                                        .softmax = spec_.numerics.softmax};
    const ValueId context = graph_.add(runtime::kAttention, "attention.heads", {q, k, v}, attrs)[0];
    const ValueId attended = linear("attention.output", context, spec_.hidden);
    x = graph_.add1(runtime::kAdd, "attention.residual", {attended, x});
    ValueId h = linear("mlp.up", normalized("mlp.norm", x), spec_.ffn);
    h = graph_.add1(runtime::kActivate, "mlp.gelu", {h}, runtime::ActivationAttrs{.fn = isa::Fn::kGelu});
    return graph_.add1(runtime::kAdd, "mlp.residual", {linear("mlp.down", h, spec_.hidden), x});
  }

  void train(ValueId y) {
    layer_ = spec_.layers - 1;
    enter("block", isa::Phase::kForward);
    const runtime::Value& value = graph_.value(y);
    const ValueId dy = graph_.tensor("dy", value.rows, value.cols, value.dtype, Kind::kInput);
    const ValueId hyper = graph_.tensor("hyper", 1, runtime::kOptimizerInputs, isa::Dtype::kFp32, Kind::kInput);
    const auto gradients = runtime::differentiate(graph_, graph_.add1(kLossTerms, "loss", {y, dy}));
    for (layer_ = 0; layer_ < spec_.layers; ++layer_) {
      enter("optimizer.block", isa::Phase::kOptimizer);
      const std::string mine = fmt::format("blocks.{}.", layer_);
      for (const auto& [w, gradient] : gradients) {
        const std::string name = graph_.value(w).name;
        if (name.starts_with(mine)) graph_.add(runtime::kSgd, name.substr(mine.size()), {w, gradient, hyper});
      }
    }
  }

  const BlockSpec& spec_;
  Graph graph_;
  std::int64_t layer_ = 0;
};

}  // namespace

runtime::Graph block_graph(const BlockSpec& spec) {
  if (spec.heads < 1 || spec.hidden % spec.heads != 0 || spec.hidden / spec.heads > isa::kPartitions)
    throw base::Error{base::Fault::kUsage, "blocks", fmt::format("{} heads of {} columns", spec.heads, spec.hidden),
                      "use heads that divide the columns into at most 128 each"};
  return Blocks{spec}.run();
}

double block_flops(const BlockSpec& spec) {
  const auto h = static_cast<double>(spec.hidden), f = static_cast<double>(spec.ffn);
  const auto rows = static_cast<double>(spec.batch * spec.seq), seq = static_cast<double>(spec.seq);
  const double layer = 2 * rows * (4 * h * h + 2 * h * f) + 4 * rows * seq * h;
  return layer * static_cast<double>(spec.layers) * (spec.training ? 3 : 1);
}

FrameworkOps framework_ops(const BlockSpec& spec) {
  const auto n = static_cast<double>(spec.layers);
  constexpr double kForward = 59, kBackward = 89;  // of Megatron-LM's ParallelTransformerLayer, as GPT has it
  constexpr double kTensors = 12;  // weights and biases of four linear layers, gains and biases of two norms
  return {n * kForward, n * kBackward, n * kTensors};
}

}  // namespace workloads
