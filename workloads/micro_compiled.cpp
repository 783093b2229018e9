// Kernels that the compiler makes from a graph of one or a few operations.
#include <fmt/format.h>

#include "runtime/compile.h"
#include "runtime/hyper.h"
#include "runtime/ops.h"
#include "workloads/micro.h"

namespace workloads {
namespace {

using isa::Dtype;
using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

isa::Program compiled(Graph graph, const char* name) {
  runtime::CompileOptions options;
  options.name = name;
  return runtime::compile(std::move(graph), options).program;
}

}  // namespace

isa::Program compiled_gemm(const Gemm& gemm) {
  Graph graph{runtime::numerics("fp32")};
  for (std::int64_t b = 0; b < gemm.batch; ++b) {
    const std::string index = gemm.batch > 1 ? fmt::format(".{}", b) : "";
    graph.enter({.name = "gemm", .instance = static_cast<std::int32_t>(b)});
    const ValueId lhs = graph.tensor("lhs" + index, gemm.m, gemm.k, gemm.dtype, Kind::kInput);
    const ValueId rhs = graph.tensor("rhs" + index, gemm.k, gemm.n, gemm.dtype, Kind::kInput);
    graph.output(graph.add1(runtime::kMatmul, "matmul", {lhs, rhs}), "out" + index);
  }
  return compiled(std::move(graph), "gemm");
}

isa::Program activation_kernel(isa::Fn fn, std::int64_t rows, std::int64_t cols, Dtype dtype) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "activation"});
  const ValueId x = graph.tensor("x", rows, cols, dtype, Kind::kInput);
  graph.output(graph.add1(runtime::kActivate, "activation", {x}, {.fn = fn}), "out");
  return compiled(std::move(graph), "activation");
}

isa::Program adamw_kernel(std::int64_t rows, std::int64_t cols, Dtype dtype) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "adamw", .phase = isa::Phase::kOptimizer});
  const ValueId w = graph.tensor("w", rows, cols, dtype, Kind::kWeight);
  const ValueId g = graph.tensor("g", rows, cols, dtype, Kind::kInput);
  const ValueId m = graph.tensor("m", rows, cols, dtype, Kind::kOptimizer);
  const ValueId v = graph.tensor("v", rows, cols, dtype, Kind::kOptimizer);
  const ValueId hyper = graph.tensor("hyper", 1, runtime::kHyperSize, Dtype::kFp32, Kind::kInput);
  const ValueId clip = graph.tensor("clip", 1, 1, Dtype::kFp32, Kind::kInput);
  graph.add(runtime::kAdamW, "adamw", {w, g, m, v, hyper, clip}, {.alpha = 0.9, .beta = 0.999, .p = 1, .eps = 1e-8});
  return compiled(std::move(graph), "adamw");
}

isa::Program swiglu_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "swiglu"});
  const ValueId x = graph.tensor("x", m, k, dtype, Kind::kInput);
  const ValueId gate = graph.tensor("gate", k, n, dtype, Kind::kWeight);
  const ValueId up = graph.tensor("up", k, n, dtype, Kind::kWeight);
  const ValueId down = graph.tensor("down", n, k, dtype, Kind::kWeight);
  const ValueId g = graph.add1(runtime::kMatmul, "gate", {x, gate});
  const ValueId gated = graph.add1(runtime::kActivate, "silu", {g}, {.fn = isa::Fn::kSilu});
  const ValueId u = graph.add1(runtime::kMatmul, "up", {x, up});
  const ValueId h = graph.add1(runtime::kMul, "product", {u, gated});
  graph.output(graph.add1(runtime::kMatmul, "down", {h, down}), "out");
  return compiled(std::move(graph), "swiglu");
}

}  // namespace workloads
