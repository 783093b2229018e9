// Kernels of steps one after the other, as published tables name them: "add + rmsnorm + matmul".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/compiler/compile.h"
#include "runtime/ops/elementwise.h"
#include "validation/kernels/micro.h"

namespace validation {
namespace {

using isa::Alu;
using isa::Dtype;
using isa::Fn;
using isa::Tile;
using runtime::Attrs;
using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

// ---- softmax by rows, which models have inside of attention only

/// y = exp(x - max(x)) / sum(exp(x - max(x))) by rows. Shapes: x [R, C] -> y [R, C]. No gradient.
std::vector<runtime::Shape> row_softmax_infer(const runtime::Contract& c) {
  return {{c.in(0).rows, c.in(0).cols, c.result_type()}};
}

runtime::Tensors row_softmax(const Attrs&, std::span<const runtime::Tensor> in) {
  runtime::Tensor y = in[0];
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const auto row = std::span{y.data}.subspan(static_cast<std::size_t>(r * y.cols), static_cast<std::size_t>(y.cols));
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (const float x : row) sum += std::exp(x - most);
    for (float& x : row) x = static_cast<float>(std::exp(x - most) / sum);
  }
  return {y};
}

void row_softmax_lower(runtime::RowTiler& r, const runtime::Node& node) {
  const Tile x = r.in(node, 0), y = r.out(node, 0);
  const Tile most = r.scratch(Dtype::kFp32, 1), sum = r.scratch(Dtype::kFp32, 1), inverse = r.scratch(Dtype::kFp32, 1);
  r.e().reduce(most, Alu::kMax, x);
  r.e().tensor_scalar(most, most, Alu::kMul, -1.0F);
  r.e().activation(y, Fn::kExp, x, 1.0F, most, &sum);
  r.e().emit({.op = isa::Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = sum});
  r.e().copy(y, y, inverse);
}

const runtime::Op kRowSoftmax{.name = "row_softmax",
                              .text = "exp(x - max) / sum, by rows",
                              .infer = row_softmax_infer,
                              .forward = row_softmax,
                              .lower_rows = row_softmax_lower};

// ---- the steps

class ChainGraph {
 public:
  explicit ChainGraph(const Chain& chain) : chain_{chain}, graph_{runtime::numerics("fp32")} {}

  Graph run() {
    for (batch_ = 0; batch_ < chain_.batch; ++batch_) {
      graph_.enter({.name = "kernel", .instance = static_cast<std::int32_t>(batch_)});
      step_ = 0;
      ValueId x = input("x", chain_.rows, chain_.cols);
      for (const std::string& name : chain_.steps) x = row_of(name).add(*this, x), ++step_;
      graph_.output(x, named("out"));
    }
    return std::move(graph_);
  }

  struct Row {
    std::string_view name;
    ValueId (*add)(ChainGraph&, ValueId);
  };
  static std::span<const Row> rows();
  static const Row& row_of(std::string_view name) {
    for (const Row& row : rows())
      if (row.name == name) return row;
    throw base::Error{base::Fault::kUsage, "kernel", fmt::format("'{}' is not a step", name),
                      base::suggest_fix(name, chain_steps())};
  }

 private:
  std::string named(const std::string& name) const {
    return chain_.batch > 1 ? fmt::format("{}.{}", name, batch_) : name;
  }
  std::string step_name() const { return fmt::format("{}.{}", step_, chain_.steps[step_]); }
  ValueId input(const std::string& name, std::int64_t rows, std::int64_t cols) {
    return graph_.tensor(named(name), rows, cols, chain_.dtype, Kind::kInput);
  }
  std::int64_t cols_of(ValueId x) const { return graph_.value(x).cols; }

  ValueId matmul(ValueId x) {
    const std::string name = step_name();
    return graph_.add1(runtime::kMatmul, name, {x, input(name, cols_of(x), chain_.n)});
  }
  /// With a second operand: all rows of it, or one that every row meets.
  ValueId with(const runtime::Op& op, ValueId x, bool row) {
    const std::string name = step_name();
    return graph_.add1(op, name, {x, input(name, row ? 1 : chain_.rows, cols_of(x))});
  }
  ValueId norm(const runtime::Op& op, ValueId x, bool bias) {
    const std::string name = step_name();
    std::vector<ValueId> in{x, input(name, 1, cols_of(x))};
    if (bias) in.push_back(input(name + ".bias", 1, cols_of(x)));
    return graph_.add(op, name, std::move(in), runtime::NormAttrs{.eps = 1e-5})[0];
  }
  ValueId activation(Fn fn, ValueId x) {
    return graph_.add1(runtime::kActivate, step_name(), {x}, runtime::ActivationAttrs{.fn = fn});
  }

  const Chain& chain_;
  Graph graph_;
  std::int64_t batch_ = 0;
  std::size_t step_ = 0;
};

std::span<const ChainGraph::Row> ChainGraph::rows() {
  static constexpr std::array kRows = {
      Row{"matmul", [](ChainGraph& g, ValueId x) { return g.matmul(x); }},
      Row{"add", [](ChainGraph& g, ValueId x) { return g.with(runtime::kAdd, x, false); }},
      Row{"bias", [](ChainGraph& g, ValueId x) { return g.with(runtime::kAdd, x, true); }},
      Row{"multiply", [](ChainGraph& g, ValueId x) { return g.with(runtime::kMul, x, false); }},
      Row{"rmsnorm", [](ChainGraph& g, ValueId x) { return g.norm(runtime::kRmsNorm, x, false); }},
      Row{"layernorm", [](ChainGraph& g, ValueId x) { return g.norm(runtime::kLayerNorm, x, true); }},
      Row{"softmax", [](ChainGraph& g, ValueId x) { return g.graph_.add1(kRowSoftmax, g.step_name(), {x}); }},
      Row{"silu", [](ChainGraph& g, ValueId x) { return g.activation(Fn::kSilu, x); }},
      Row{"gelu", [](ChainGraph& g, ValueId x) { return g.activation(Fn::kGelu, x); }},
      Row{"gelu_tanh", [](ChainGraph& g, ValueId x) { return g.activation(Fn::kGeluTanh, x); }},
      Row{"tanh", [](ChainGraph& g, ValueId x) { return g.activation(Fn::kTanh, x); }},
  };
  return kRows;
}

}  // namespace

std::vector<std::string> chain_steps() {
  std::vector<std::string> names;
  for (const ChainGraph::Row& row : ChainGraph::rows()) names.emplace_back(row.name);
  return names;
}

double flops(const Chain& chain) {
  double sum = 0;
  std::int64_t cols = chain.cols;
  for (const std::string& step : chain.steps) {
    if (step != "matmul") continue;
    sum += flops(Gemm{.m = chain.rows, .k = cols, .n = chain.n, .batch = chain.batch});
    cols = chain.n;
  }
  return sum;
}

isa::Program chain_kernel(const Chain& chain, const isa::Target& target) {
  return runtime::compile(ChainGraph{chain}.run(), target, {.name = "kernel"}).program;
}

isa::Program compiled_gemm(const Gemm& gemm, const isa::Target& target) {
  return chain_kernel(
      {.steps = {"matmul"}, .rows = gemm.m, .cols = gemm.k, .n = gemm.n, .batch = gemm.batch, .dtype = gemm.dtype},
      target);
}

}  // namespace validation
