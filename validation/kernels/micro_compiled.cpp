// Kernels that the compiler makes from a graph of one or a few operations.
#include <cmath>

#include "runtime/compiler/compile.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"
#include "validation/kernels/micro.h"

namespace validation {
namespace {

using isa::Dtype;
using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

isa::Program compiled(Graph graph, const isa::Target& target, const char* name) {
  runtime::CompileOptions options;
  options.name = name;
  return runtime::compile(std::move(graph), target, options).program;
}

}  // namespace

double flops(const LoraProduct& l) {
  const Gemm weight{.m = l.m, .k = l.k, .n = l.n}, down{.m = l.m, .k = l.k, .n = l.rank};
  return flops(weight) + flops(down) + flops(Gemm{.m = l.m, .k = l.rank, .n = l.n});
}

isa::Program lora_kernel(const LoraProduct& l, const isa::Target& target) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "lora"});
  const ValueId x = graph.tensor("x", l.m, l.k, l.dtype, Kind::kInput);
  const ValueId w = graph.tensor("w", l.k, l.n, l.dtype, Kind::kWeight);
  const ValueId a = graph.tensor("a", l.k, l.rank, l.dtype, Kind::kWeight);
  const ValueId b = graph.tensor("b", l.rank, l.n, l.dtype, Kind::kWeight);
  const ValueId down = graph.add1(runtime::kMatmul, "down", {x, a});
  const ValueId base = graph.add1(runtime::kMatmul, "base", {x, w});
  const ValueId up = graph.add1(runtime::kMatmul, "up", {down, b});
  graph.output(graph.add1(runtime::kAdd, "sum", {up, base}), "out");
  return compiled(std::move(graph), target, "lora");
}

isa::Program attention_kernel(const HeadsShape& s, bool causal, bool flash, const isa::Target& target) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "attention"});
  const auto tensor = [&](const char* name, std::int64_t heads) {
    return graph.tensor(name, s.batch * s.seq, heads * s.size, s.dtype, Kind::kInput);
  };
  const ValueId q = tensor("q", s.heads), k = tensor("k", s.kv_heads), v = tensor("v", s.kv_heads);
  const runtime::AttentionAttrs attrs{.scale = 1 / std::sqrt(static_cast<double>(s.size)),
                                      .batch = s.batch,
                                      .seq = s.seq,
                                      .heads = s.heads,
                                      .kv_heads = s.kv_heads,
                                      .causal = causal,
                                      .flash = flash};
  graph.output(graph.add(runtime::kAttention, "attention", {q, k, v}, attrs)[0], "out");
  return compiled(std::move(graph), target, "attention");
}

double attention_flops(const HeadsShape& s) {
  return 4.0 * static_cast<double>(s.batch * s.heads * s.size) * static_cast<double>(s.seq) *
         static_cast<double>(s.seq);
}

isa::Program rope_kernel(const HeadsShape& s, const isa::Target& target) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "rope"});
  const ValueId x = graph.tensor("x", s.batch * s.seq, s.heads * s.size, s.dtype, Kind::kInput);
  const auto angles = [&](const char* name) {
    const ValueId table = graph.tensor(name, s.seq, s.size / 2, s.dtype, Kind::kInput);
    return graph.add1(runtime::kPositions, std::string{"all."} + name, {table},
                      runtime::PositionsAttrs{.batch = s.batch, .seq = s.seq, .dtype = s.dtype});
  };
  const ValueId cos = angles("cos"), sin = angles("sin");
  graph.output(graph.add1(runtime::kRope, "rope", {x, cos, sin}), "out");
  return compiled(std::move(graph), target, "rope");
}

isa::Program adamw_kernel(std::int64_t rows, std::int64_t cols, Dtype dtype, const isa::Target& target,
                          bool moments_stay) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "adamw", .phase = isa::Phase::kOptimizer});
  const ValueId w = graph.tensor("w", rows, cols, dtype, Kind::kWeight);
  const ValueId g = graph.tensor("g", rows, cols, dtype, Kind::kInput);
  const ValueId m = graph.tensor("m", rows, cols, dtype, Kind::kOptimizer);
  const ValueId v = graph.tensor("v", rows, cols, dtype, Kind::kOptimizer);
  const ValueId hyper = graph.tensor("hyper", 1, runtime::kOptimizerInputs, Dtype::kFp32, Kind::kInput);
  const ValueId clip = graph.tensor("clip", 1, 1, Dtype::kFp32, Kind::kInput);
  graph.add(
      runtime::kAdamW, "adamw", {w, g, m, v, hyper, clip},
      runtime::OptimizerAttrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decays = true, .forgets = !moments_stay});
  return compiled(std::move(graph), target, "adamw");
}

isa::Program swiglu_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype, const isa::Target& target) {
  Graph graph{runtime::numerics("fp32")};
  graph.enter({.name = "swiglu"});
  const ValueId x = graph.tensor("x", m, k, dtype, Kind::kInput);
  const ValueId gate = graph.tensor("gate", k, n, dtype, Kind::kWeight);
  const ValueId up = graph.tensor("up", k, n, dtype, Kind::kWeight);
  const ValueId down = graph.tensor("down", n, k, dtype, Kind::kWeight);
  const ValueId g = graph.add1(runtime::kMatmul, "gate", {x, gate});
  const ValueId gated = graph.add1(runtime::kActivate, "silu", {g}, runtime::ActivationAttrs{.fn = isa::Fn::kSilu});
  const ValueId u = graph.add1(runtime::kMatmul, "up", {x, up});
  const ValueId h = graph.add1(runtime::kMul, "product", {u, gated});
  graph.output(graph.add1(runtime::kMatmul, "down", {h, down}), "out");
  return compiled(std::move(graph), target, "swiglu");
}

}  // namespace validation
