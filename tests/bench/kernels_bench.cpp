// How fast the host executes instructions on one thread and on two: FLOP/s of matmuls, ns of an element of the others.
// Operands cycle through SBUF, as in a real program, so that they are not all in the L1 cache.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "isa/exec.h"
#include "isa/exec/thread_team.h"
#include "isa/kernels/kernels.h"

namespace {

using namespace isa;  // NOLINT: a benchmark

Tile tile(Space space, std::uint32_t partitions, std::uint32_t cols, Dtype dtype, std::int64_t offset = 0) {
  Tile out{.space = space, .dtype = dtype};
  out.partitions = static_cast<std::uint16_t>(partitions);
  out.offset = offset;
  out.pstep = std::int64_t{cols} * size_of(dtype);
  out.free[0].size = cols;
  return out;
}

/// A core whose memories are touched and hold small numbers of any type.
struct Core {
  Core() {
    for (std::int64_t p = 0; p < kPartitions; ++p) {
      std::memset(memory.sbuf() + p * Memory::kSbufStride, 0x3c, kMostSbufPartitionBytes);
      std::memset(memory.psum() + p * Memory::kPsumStride, 0x3c, kMostPsumPartitionBytes);
    }
    std::memset(memory.hbm(), 0x3c, kHbmBytes);
    for (std::int32_t p = 0; p < kPartitions; ++p) {
      const std::int32_t index = p * 37 % 120;
      std::memcpy(memory.hbm() + kIndexAt + 4 * p, &index, 4);
    }
  }
  static constexpr std::int64_t kIndexAt = std::int64_t{63} << 20;  // row numbers for gather and scatter
  static constexpr std::uint64_t kHbmBytes = std::uint64_t{64} << 20;
  Memory memory{kHbmBytes};
  std::array<std::uint64_t, 1> bases{0};
  Context context{.memory = memory, .bases = bases};
};

Core& core() {
  static Core the_core;
  the_core.context.team = nullptr;
  the_core.context.rounding = Rounding::kNearestEven;
  return the_core;
}

/// One instruction, `work` units of which it does: "FLOP/s", or the nanoseconds of one "element" or "byte".
struct Case {
  std::string name;
  Instr instr;
  double work = 0;
  std::string unit = "element";
  Rounding rounding = Rounding::kNearestEven;
};

/// Executes the case on `threads` host threads, with dst and a moved through 8 places of SBUF.
void run(benchmark::State& state, const Case& what, int threads) {
  Core& c = core();
  Team team{threads};
  c.context.team = threads > 1 ? &team : nullptr;
  c.context.rounding = what.rounding;
  Instr instr = what.instr;
  const auto move = [](Tile& t, std::int64_t i) {
    if (t.space == Space::kSbuf && t.cols() > 1)
      t.offset += (i % 8 == 0 ? -7 : 1) * ((t.cols() * size_of(t.dtype) + 63) / 64 * 64);
  };
  std::int64_t i = 1;
  for (auto _ : state) {
    execute(instr, 0, c.context);
    move(instr.a, i);
    move(instr.dst, i++);
  }
  using benchmark::Counter;
  const double work = what.work * static_cast<double>(state.iterations());
  if (what.unit == "FLOP/s")
    state.counters[what.unit] = Counter(work, Counter::kIsRate);
  else
    state.counters["ns/" + what.unit] = Counter(work * 1e-9, Counter::kIsRate | Counter::kInvert);
  c.context.team = nullptr;
}

constexpr Dtype kB = Dtype::kBf16;
constexpr Dtype kF = Dtype::kFp32;
constexpr std::uint32_t kCols = 512;
Tile in(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype); }
Tile second(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype, 32768); }
Tile out(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype, 65536); }
Tile accumulator() { return tile(Space::kPsum, 128, kCols, Dtype::kFp32); }
Tile column(std::int64_t at, Dtype dtype = Dtype::kFp32) { return tile(Space::kSbuf, 128, 1, dtype, at); }
constexpr std::int64_t kFirstColumn = 131072, kSecondColumn = 131080;

Case matmul(Dtype dtype, std::uint32_t k, std::uint32_t n) {
  return {"matmul_" + std::string{name_of(dtype)} + "_" + std::to_string(k) + "x128x" + std::to_string(n),
          {.op = Opcode::kMatMul,
           .engine = Engine::kTensor,
           .accumulate = true,
           .dst = tile(Space::kPsum, 128, n, Dtype::kFp32),
           .a = tile(Space::kSbuf, k, 128, dtype),
           .b = tile(Space::kSbuf, k, n, dtype, 32768)},
          2.0 * k * 128 * n,
          "FLOP/s"};
}

Case transpose(Dtype dtype) {
  return {"pe_transpose_" + std::string{name_of(dtype)},
          {.op = Opcode::kPeTranspose,
           .dst = tile(Space::kPsum, 128, 128, dtype),
           .a = tile(Space::kSbuf, 128, 128, dtype)},
          128 * 128};
}

Case element_wise(std::string name, const Instr& instr) { return {std::move(name), instr, 128.0 * kCols}; }

Case activation(std::string name, Fn fn, const Tile& dst, const Tile& a) {
  return element_wise("activation_" + name, {.op = Opcode::kActivation, .fn = fn, .imm0 = 1, .dst = dst, .a = a});
}

Case stochastic(Case what) {
  what.name += "_stochastic";
  what.rounding = Rounding::kStochastic;
  return what;
}

Case dma_copy(std::uint32_t cols, Dtype from, Dtype to) {
  return {"dma_copy_" + std::string{name_of(from)} + "_to_" + std::string{name_of(to)} + "_" + std::to_string(cols),
          {.op = Opcode::kDmaCopy, .dst = tile(Space::kSbuf, 128, cols, to), .a = tile(Space::kHbm, 128, cols, from)},
          128.0 * cols * size_of(from),
          "byte"};
}

/// 128 rows of a table of 120, as an embedding looks them up and adds their gradients.
Case dma_rows(Opcode op, Dtype dtype, bool accumulate) {
  const Tile table = tile(Space::kHbm, 120, kCols, dtype);
  const bool gather = op == Opcode::kDmaGather;
  return {
      std::string{gather ? "dma_gather_" : "dma_scatter_"} + (accumulate ? "add_" : "") + std::string{name_of(dtype)},
      {.op = op,
       .accumulate = accumulate,
       .dst = gather ? out(dtype) : table,
       .a = gather ? table : in(dtype),
       .b = tile(Space::kHbm, 128, 1, Dtype::kInt32, Core::kIndexAt)},
      128.0 * kCols};
}

/// [128, 8, 64] of an HBM matrix whose heads are 768 elements apart.
Case dma_heads() {
  Case what = dma_copy(kCols, kB, kB);
  what.name = "dma_copy_heads";
  what.instr.a.rank = 2;
  what.instr.a.free = {Dim{.step = 768, .size = 8}, Dim{.step = 1, .size = 64}};
  what.instr.a.pstep = 8 * 768 * 2;
  return what;
}

void add_products(std::vector<Case>& all) {
  for (const std::uint32_t k : {128u, 64u})
    for (const std::uint32_t n : {512u, 64u}) all.push_back(matmul(kB, k, n));
  for (const Dtype dtype : {kF, Dtype::kFp16, Dtype::kFp8E4m3}) all.push_back(matmul(dtype, 128, 512));
  for (const Dtype dtype : {kB, kF}) all.push_back(transpose(dtype));
}

void add_vector_ops(std::vector<Case>& all) {
  using enum Opcode;
  const Instr add{.op = kTensorTensor, .alu0 = Alu::kAdd, .dst = out(kB), .a = in(kB), .b = second(kB)};
  Instr of = add;
  all.push_back(element_wise("tensor_tensor_add_bf16", add));
  all.push_back(stochastic(all.back()));
  of.dst = out(kF), of.a = in(kF), of.b = second(kF);
  all.push_back(element_wise("tensor_tensor_add_fp32", of));
  of = add, of.a = accumulator(), of.alu0 = Alu::kMul;
  all.push_back(element_wise("tensor_tensor_mul_psum_bf16", of));
  all.push_back(element_wise("tensor_scalar_bf16", {.op = kTensorScalar,
                                                    .alu0 = Alu::kSub,
                                                    .alu1 = Alu::kMul,
                                                    .dst = out(kB),
                                                    .a = in(kB),
                                                    .b = column(kFirstColumn),
                                                    .c = column(kSecondColumn)}));
  all.push_back(element_wise("scalar_tensor_tensor_fp32", {.op = kScalarTensorTensor,
                                                           .alu0 = Alu::kMul,
                                                           .alu1 = Alu::kAdd,
                                                           .imm0 = 0.5f,
                                                           .dst = out(kF),
                                                           .a = in(kF),
                                                           .c = second(kF)}));
  all.push_back(element_wise("tensor_copy_psum_to_bf16", {.op = kTensorCopy, .dst = out(kB), .a = accumulator()}));
  all.push_back(stochastic(all.back()));
  all.push_back(element_wise("tensor_copy_bf16_to_fp8", {.op = kTensorCopy, .dst = out(Dtype::kFp8E4m3), .a = in(kB)}));
}

void add_activations(std::vector<Case>& all) {
  using enum Opcode;
  all.push_back(activation("copy_psum_to_bf16", Fn::kCopy, out(kB), accumulator()));
  all.push_back(activation("exp_psum_to_bf16", Fn::kExp, out(kB), accumulator()));
  all.push_back(activation("gelu_psum_to_bf16", Fn::kGelu, out(kB), accumulator()));
  all.push_back(stochastic(all.back()));
  all.push_back(activation("gelu_grad_bf16", Fn::kGeluGrad, out(kB), in(kB)));
  all.push_back(activation("tanh_fp32", Fn::kTanh, out(kF), in(kF)));
  all.push_back(activation("sqrt_fp32", Fn::kSqrt, out(kF), in(kF)));
  all.push_back(element_wise("activation_reduce_exp_bf16", {.op = kActivationReduce,
                                                            .fn = Fn::kExp,
                                                            .imm0 = 1,
                                                            .dst = out(kB),
                                                            .dst2 = column(kFirstColumn),
                                                            .a = accumulator(),
                                                            .c = column(kSecondColumn)}));
}

void add_reductions(std::vector<Case>& all) {
  using enum Opcode;
  all.push_back(element_wise("tensor_reduce_add_bf16",
                             {.op = kTensorReduce, .alu0 = Alu::kAdd, .dst = column(kFirstColumn), .a = in(kB)}));
  all.push_back(element_wise("bn_stats_bf16",
                             {.op = kBnStats, .dst = tile(Space::kSbuf, 128, 6, kF, kFirstColumn), .a = in(kB)}));
  all.push_back({"bn_aggr",
                 {.op = kBnAggr,
                  .dst = tile(Space::kSbuf, 128, 2, kF, kFirstColumn),
                  .a = tile(Space::kSbuf, 128, 12, kF, kFirstColumn + 64)},
                 128 * 12});
  all.push_back(
      element_wise("dropout_bf16", {.op = kDropout, .imm0 = 0.1f, .imm1 = 1 / 0.9f, .dst = out(kB), .a = in(kB)}));
  all.push_back(stochastic(all.back()));
  all.push_back({"one_column",
                 {.op = kTensorScalar,
                  .alu0 = Alu::kMul,
                  .alu1 = Alu::kAdd,
                  .imm0 = 2,
                  .imm1 = 1,
                  .dst = column(kFirstColumn),
                  .a = column(kSecondColumn)},
                 128});
}

void add_transfers(std::vector<Case>& all) {
  using enum Opcode;
  for (const std::uint32_t cols : {256u, 4096u}) all.push_back(dma_copy(cols, kB, kB));
  all.push_back(dma_copy(1024, kF, kB));
  all.push_back(dma_copy(1024, kB, kF));
  all.push_back(dma_heads());
  all.push_back(dma_rows(kDmaGather, kB, false));
  all.push_back(dma_rows(kDmaScatter, kF, true));
  all.push_back(dma_rows(kDmaScatter, kB, true));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto add : {add_products, add_vector_ops, add_activations, add_reductions, add_transfers}) add(all);
  return all;
}

/// Registered before main() runs.
const bool kRegistered = [] {
  for (const Case& what : cases())
    for (const int threads : {1, 2})
      benchmark::RegisterBenchmark((what.name + "/threads:" + std::to_string(threads)).c_str(),
                                   [what, threads](benchmark::State& state) { run(state, what, threads); })
          ->UseRealTime();
  return true;
}();

void fork_and_join(benchmark::State& state) {
  Team team{2};
  for (auto _ : state) team.run([](int) {});
}
BENCHMARK(fork_and_join)->UseRealTime();

void all_reduce(benchmark::State& state) {
  constexpr std::uint32_t kElements = 4 << 20;
  Core first, other;
  Context* group[] = {&first.context, &other.context};
  const Instr instr{.op = Opcode::kAllReduce,
                    .alu0 = Alu::kAdd,
                    .dst = tile(Space::kHbm, 1, kElements, Dtype::kFp32),
                    .a = tile(Space::kHbm, 1, kElements, Dtype::kFp32)};
  for (auto _ : state) execute_collective(instr, group);
  state.counters["elements/s"] =
      benchmark::Counter(double{kElements} * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(all_reduce);

}  // namespace
