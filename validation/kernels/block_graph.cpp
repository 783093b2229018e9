#include "validation/kernels/block_graph.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/error.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"
#include "workloads/models/layers/block.h"

namespace validation {
namespace {

using runtime::Attrs;
using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;
using workloads::BlockArch;

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

BlockArch arch_of(const BlockSpec& s) {
  return {.norm = {.eps = 1e-5},
          .attention = {.heads = s.heads, .kv_heads = s.heads, .head = s.hidden / s.heads, .causal = s.causal},
          .mlp = {.size = s.ffn, .activation = isa::Fn::kGelu},
          .names = {.attention = {.query = "attention.query",
                                  .key = "attention.key",
                                  .value = "attention.value",
                                  .out = "attention.output"},
                    .mlp = {.up = "mlp.up", .down = "mlp.down"},
                    .norm1 = "attention.norm",
                    .norm2 = "mlp.norm"}};
}

class Blocks : workloads::Places {
 public:
  explicit Blocks(const BlockSpec& spec)
      : spec_{spec},
        arch_{arch_of(spec)},
        graph_{spec.numerics},
        x_{graph_.tensor("x", spec.batch * spec.seq, spec.hidden, spec.numerics.activation, Kind::kInput)},
        net_{graph_, weights(), {.batch = spec.batch, .length = spec.seq}, *this},
        block_{net_, arch_, spec.layers} {}

  Graph run() {
    workloads::Residual x{.sum = x_};
    for (layer_ = 0; layer_ < spec_.layers; ++layer_) {
      enter("block", isa::Phase::kForward);
      block_.layer(x, layer_, fmt::format("blocks.{}.", layer_));
    }
    if (spec_.training) train(x.sum);
    graph_.output(x.sum, "y");
    return std::move(graph_);
  }

 private:
  void enter(const char* name, isa::Phase phase) {
    const auto layer = static_cast<std::int32_t>(layer_);
    graph_.enter({.name = name, .instance = layer, .phase = phase, .layer = layer});
  }
  void enter(const std::string&) override {}
  void enter_part(const std::string&) override {}  // a layer is one block

  std::map<std::string, ValueId> weights() {
    std::map<std::string, ValueId> out;
    const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t cols) {
      out[name] = graph_.tensor(name, rows, cols, spec_.numerics.weight, Kind::kWeight);
    };
    const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t cols) {
      add(name + ".weight", in, cols);
      if (spec_.bias) add(name + ".bias", 1, cols);
    };
    for (std::int64_t layer = 0; layer < spec_.layers; ++layer) {
      const std::string prefix = fmt::format("blocks.{}.", layer);
      const auto norm = [&](const char* name) {
        add(prefix + name + ".weight", 1, spec_.hidden), add(prefix + name + ".bias", 1, spec_.hidden);
      };
      norm("attention.norm");
      for (const char* name : {"attention.query", "attention.key", "attention.value", "attention.output"})
        linear(prefix + name, spec_.hidden, spec_.hidden);
      norm("mlp.norm");
      linear(prefix + "mlp.up", spec_.hidden, spec_.ffn), linear(prefix + "mlp.down", spec_.ffn, spec_.hidden);
    }
    return out;
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
  const BlockArch arch_;
  Graph graph_;
  const ValueId x_;
  workloads::Layers net_;
  workloads::Block block_;
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

workloads::FrameworkOps framework_ops(const BlockSpec& spec) {
  const auto n = static_cast<double>(spec.layers);
  constexpr double kForward = 59, kBackward = 89;  // of Megatron-LM's ParallelTransformerLayer, as GPT has it
  constexpr double kTensors = 12;  // weights and biases of four linear layers, gains and biases of two norms
  return {n * kForward, n * kBackward, n * kTensors};
}

}  // namespace validation
