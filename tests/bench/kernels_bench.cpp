// How fast the host executes instructions: GFLOP/s of matmuls, elements per second of the others. One host thread
// unless the name says otherwise. Operands cycle through SBUF, as in a real program, so that they are not all in the L1
// cache.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>

#include "isa/exec.h"
#include "isa/kernels/kernels.h"
#include "isa/team.h"

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
      std::memset(memory.sbuf() + p * Memory::kSbufStride, 0x3c, kSbufPartitionBytes);
      std::memset(memory.psum() + p * Memory::kPsumStride, 0x3c, kPsumPartitionBytes);
    }
    std::memset(memory.hbm(), 0x3c, kHbmBytes);
  }
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

/// Runs `instr` with dst and a moved through 8 places of SBUF; rates by `items` per instruction.
void run(benchmark::State& state, Instr instr, double items, const char* rate) {
  Core& c = core();
  const auto places = [&](Tile& t, std::int64_t i) {
    if (t.space == Space::kSbuf && t.cols() > 1)
      t.offset += (i % 8 == 0 ? -7 : 1) * ((t.cols() * size_of(t.dtype) + 63) / 64 * 64);
  };
  std::int64_t i = 1;
  for (auto _ : state) {
    execute(instr, 0, c.context);
    places(instr.a, i);
    places(instr.dst, i++);
  }
  state.counters[rate] =
      benchmark::Counter(items * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void matmul(benchmark::State& state, Dtype dtype) {
  const auto k = static_cast<std::uint32_t>(state.range(0)), n = static_cast<std::uint32_t>(state.range(1));
  Instr instr{.op = Opcode::kMatMul,
              .engine = Engine::kTensor,
              .accumulate = true,
              .dst = tile(Space::kPsum, 128, n, Dtype::kFp32),
              .a = tile(Space::kSbuf, k, 128, dtype),
              .b = tile(Space::kSbuf, k, n, dtype, 32768)};
  run(state, instr, 2.0 * k * 128 * n, "FLOP/s");
  state.SetLabel(std::string{kernels::kernels().name});
}
BENCHMARK_CAPTURE(matmul, bf16, Dtype::kBf16)->Args({128, 512})->Args({64, 512})->Args({128, 64})->Args({64, 64});
BENCHMARK_CAPTURE(matmul, fp32, Dtype::kFp32)->Args({128, 512})->Args({64, 512})->Args({128, 64});
BENCHMARK_CAPTURE(matmul, fp16, Dtype::kFp16)->Args({128, 512});
BENCHMARK_CAPTURE(matmul, fp8_e4m3, Dtype::kFp8E4m3)->Args({128, 512});

void matmul_on_two_threads(benchmark::State& state) {
  Core& c = core();
  Team team{2};
  c.context.team = &team;
  const Instr instr{.op = Opcode::kMatMul,
                    .accumulate = true,
                    .dst = tile(Space::kPsum, 128, 512, Dtype::kFp32),
                    .a = tile(Space::kSbuf, 128, 128, Dtype::kBf16),
                    .b = tile(Space::kSbuf, 128, 512, Dtype::kBf16, 32768)};
  for (auto _ : state) execute(instr, 0, c.context);
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * 128 * 128 * 512 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  c.context.team = nullptr;
}
BENCHMARK(matmul_on_two_threads)->UseRealTime();

void fork_and_join(benchmark::State& state) {
  Team team{2};
  for (auto _ : state) team.run([](int) {});
}
BENCHMARK(fork_and_join)->UseRealTime();

void transpose(benchmark::State& state, Dtype dtype) {
  run(state,
      {.op = Opcode::kPeTranspose,
       .dst = tile(Space::kPsum, 128, 128, dtype),
       .a = tile(Space::kSbuf, 128, 128, dtype)},
      128 * 128, "elements/s");
}
BENCHMARK_CAPTURE(transpose, bf16, Dtype::kBf16);
BENCHMARK_CAPTURE(transpose, fp32, Dtype::kFp32);

constexpr std::uint32_t kCols = 512;
Tile in(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype); }
Tile second(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype, 32768); }
Tile out(Dtype dtype) { return tile(Space::kSbuf, 128, kCols, dtype, 65536); }
Tile accumulator() { return tile(Space::kPsum, 128, kCols, Dtype::kFp32); }
Tile column(std::int64_t at) { return tile(Space::kSbuf, 128, 1, Dtype::kFp32, at); }

void element_wise(benchmark::State& state, const Instr& instr) { run(state, instr, 128.0 * kCols, "elements/s"); }

constexpr Dtype kB = Dtype::kBf16;
constexpr Dtype kF = Dtype::kFp32;
BENCHMARK_CAPTURE(element_wise, tensor_tensor_add_bf16,
                  Instr{.op = Opcode::kTensorTensor, .alu0 = Alu::kAdd, .dst = out(kB), .a = in(kB), .b = second(kB)});
BENCHMARK_CAPTURE(element_wise, tensor_tensor_add_fp32,
                  Instr{.op = Opcode::kTensorTensor, .alu0 = Alu::kAdd, .dst = out(kF), .a = in(kF), .b = second(kF)});
BENCHMARK_CAPTURE(
    element_wise, tensor_tensor_mul_psum_bf16,
    Instr{.op = Opcode::kTensorTensor, .alu0 = Alu::kMul, .dst = out(kB), .a = accumulator(), .b = second(kB)});
BENCHMARK_CAPTURE(element_wise, tensor_scalar_sub_mul_bf16,
                  Instr{.op = Opcode::kTensorScalar,
                        .alu0 = Alu::kSub,
                        .alu1 = Alu::kMul,
                        .dst = out(kB),
                        .a = in(kB),
                        .b = column(131072),
                        .c = column(131076)});
BENCHMARK_CAPTURE(element_wise, scalar_tensor_tensor_fp32,
                  Instr{.op = Opcode::kScalarTensorTensor,
                        .alu0 = Alu::kMul,
                        .alu1 = Alu::kAdd,
                        .imm0 = 0.5f,
                        .dst = out(kF),
                        .a = in(kF),
                        .c = second(kF)});
BENCHMARK_CAPTURE(element_wise, tensor_copy_psum_to_bf16,
                  Instr{.op = Opcode::kTensorCopy, .dst = out(kB), .a = accumulator()});
BENCHMARK_CAPTURE(element_wise, activation_exp_psum_to_bf16,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kExp, .imm0 = 1, .dst = out(kB), .a = accumulator()});
BENCHMARK_CAPTURE(element_wise, activation_reduce_exp_psum_to_bf16,
                  Instr{.op = Opcode::kActivationReduce,
                        .fn = Fn::kExp,
                        .imm0 = 1,
                        .dst = out(kB),
                        .dst2 = column(131072),
                        .a = accumulator(),
                        .c = column(131076)});
BENCHMARK_CAPTURE(element_wise, activation_gelu_psum_to_bf16,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kGelu, .imm0 = 1, .dst = out(kB), .a = accumulator()});
BENCHMARK_CAPTURE(element_wise, activation_gelu_grad_bf16,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kGeluGrad, .imm0 = 1, .dst = out(kB), .a = in(kB)});
BENCHMARK_CAPTURE(element_wise, activation_tanh_fp32,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kTanh, .imm0 = 1, .dst = out(kF), .a = in(kF)});
BENCHMARK_CAPTURE(element_wise, activation_sqrt_fp32,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kSqrt, .imm0 = 1, .dst = out(kF), .a = in(kF)});
BENCHMARK_CAPTURE(element_wise, activation_square_fp32,
                  Instr{.op = Opcode::kActivation, .fn = Fn::kSquare, .imm0 = 1, .dst = out(kF), .a = in(kF)});
BENCHMARK_CAPTURE(element_wise, tensor_reduce_add_bf16,
                  Instr{.op = Opcode::kTensorReduce, .alu0 = Alu::kAdd, .dst = column(131072), .a = in(kB)});
BENCHMARK_CAPTURE(element_wise, bn_stats_bf16,
                  Instr{.op = Opcode::kBnStats, .dst = tile(Space::kSbuf, 128, 6, kF, 131072), .a = in(kB)});
BENCHMARK_CAPTURE(element_wise, dropout_bf16,
                  Instr{.op = Opcode::kDropout, .imm0 = 0.1f, .imm1 = 1 / 0.9f, .dst = out(kB), .a = in(kB)});

void stochastic_cast(benchmark::State& state) {
  Core& c = core();
  c.context.rounding = Rounding::kStochastic;
  const Instr instr{.op = Opcode::kTensorCopy, .dst = out(kB), .a = in(kF)};
  for (auto _ : state) execute(instr, 0, c.context);
  state.counters["elements/s"] =
      benchmark::Counter(128.0 * kCols * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(stochastic_cast);

void one_column(benchmark::State& state) {
  run(state,
      {.op = Opcode::kTensorScalar,
       .alu0 = Alu::kMul,
       .alu1 = Alu::kAdd,
       .imm0 = 2,
       .imm1 = 1,
       .dst = column(131072),
       .a = column(131076)},
      128, "elements/s");
}
BENCHMARK(one_column);

void dma(benchmark::State& state, Dtype from, Dtype to) {
  const auto cols = static_cast<std::uint32_t>(state.range(0));
  run(state,
      {.op = Opcode::kDmaCopy, .dst = tile(Space::kSbuf, 128, cols, to), .a = tile(Space::kHbm, 128, cols, from)},
      128.0 * cols * size_of(from), "bytes/s");
}
BENCHMARK_CAPTURE(dma, bf16, Dtype::kBf16, Dtype::kBf16)->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK_CAPTURE(dma, fp32_to_bf16, Dtype::kFp32, Dtype::kBf16)->Arg(1024);

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
