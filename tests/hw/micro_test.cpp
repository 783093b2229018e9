// Published measurements of real hardware, as programs written by hand. The values are in validation/micro.csv.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;
using hw::seconds;

/// Prints the comparison, for the record.
void expect_within(double got, double published, double tolerance, const char* row) {
  testing::Test::RecordProperty(row, fmt::format("{:.5g}", got));
  fmt::print("{}: published {:.5g}, simulated {:.5g}, {:+.2f} %\n", row, published, got, (got / published - 1) * 100);
  EXPECT_NEAR(got, published, tolerance * published) << row;
}

/// A core reads `rows_bytes`-long pieces into SBUF on 8 rings; GB/s.
double read_rate(std::uint32_t cols) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 256; ++i)
    instrs.push_back(dma(sbuf(128, cols, 0, Dtype::kBf16), hbm(128, cols, 0, Dtype::kBf16, 2 * cols + 64), i % 8));
  const auto result = run(program(instrs, 8));
  return static_cast<double>(result.dma.read_bytes) / seconds(result.total) * 1e-9;
}

TEST(Micro, HbmReadLongRows) { expect_within(read_rate(8192), 272.98, 0.10, "hbm_read_1"); }
TEST(Micro, HbmReadKibRows) { expect_within(read_rate(512), 208.4, 0.10, "hbm_read_1k"); }

TEST(Micro, SiluIsBoundByDma) {
  std::vector<Instr> instrs;
  constexpr std::uint32_t kCols = 7168;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::int64_t place = (i % 3) * kCols * 4;
    Instr load = dma(sbuf(128, kCols, place), hbm(128, kCols, i * 128ll * kCols * 4), 0);
    if (i >= 3) load = after(load, dma_sem(1), i - 2);
    instrs.push_back(load);
    instrs.push_back(
        signal(after(activate(sbuf(128, kCols, place), sbuf(128, kCols, place), Fn::kSilu), dma_sem(0), i + 1)));
    instrs.push_back(
        after(dma(hbm(128, kCols, (1 << 27) + i * 128ll * kCols * 4), sbuf(128, kCols, place), 1, Engine::kScalar),
              sem(Engine::kScalar), i + 1));
  }
  expect_within(seconds(run(program(instrs)).total) * 1e3, 0.798, 0.20, "silu");
}

TEST(Micro, DependentOneElementActivations) {
  std::vector<Instr> instrs{signal(activate(sbuf(1, 1), sbuf(1, 1)))};
  for (std::uint32_t i = 1; i <= 100; ++i)
    instrs.push_back(signal(after(activate(sbuf(1, 1), sbuf(1, 1)), sem(Engine::kScalar), i)));
  expect_within(body(run(program(instrs))) * 1e9 / 101, 189, 0.01, "chain_1elem");
}

TEST(Micro, MambaInnerLoop) {
  std::vector<Instr> instrs;
  std::uint32_t count = 0;
  const auto chain = [&](Opcode op) {
    Instr instr = signal(on(Engine::kVector, op));
    instr.dst = sbuf(128, 512, 0);
    instr.a = sbuf(128, 512, 2048);
    instr.b = op == Opcode::kTensorScalar ? Tile{} : sbuf(128, 512, 4096);
    instr.alu0 = Alu::kMul;
    instr.alu1 = op == Opcode::kTensorTensorScan ? Alu::kAdd : Alu::kNone;
    if (count > 0) instr = after(instr, sem(Engine::kVector), count);
    ++count;
    instrs.push_back(instr);
  };
  // Per iteration: multiply by a row's value (N), scan (2N), multiply (2N), add up (N).
  for (int i = 0; i < 512; ++i) {
    chain(Opcode::kTensorScalar);
    chain(Opcode::kTensorTensorScan);
    chain(Opcode::kTensorTensor);
    chain(Opcode::kTensorScalar);
  }
  const auto result = run(program(instrs));
  EXPECT_NEAR(body(result) / 512 * 1.12e9, 3509, 4);  // cycles of an iteration
  expect_within(seconds(result.total) * 1e3, 1.61, 0.02, "mamba_v2_512");
}

/// In a benchmark's loop.
double all_reduce_time(std::uint32_t bytes) {
  isa::Program one = program({all_reduce(hbm(1, bytes / 4, 0), hbm(1, bytes / 4, 1 << 29))}, 1, 2);
  return (body(run(one)) + trn1().cc_loop.value) * 1e6;
}

TEST(Micro, AllReduceOfTwoCores) {
  EXPECT_LT(all_reduce_time(1024), 58);  // ar2_1024 includes a benchmark's launch of the next one
  expect_within(all_reduce_time(1048576), 68, 0.15, "ar2_1048576");
  expect_within(all_reduce_time(16777216), 332, 0.10, "ar2_16777216");
  expect_within(all_reduce_time(268435456), 4750, 0.10, "ar2_268435456");
}

TEST(Micro, LargeMatmulIsThrottled) {
  // 8192^3 as TensorE sees it: each stationary tile meets 16 moving tiles of 512 columns, the reads are left out.
  std::vector<Instr> instrs;
  for (int k = 0; k < 64; ++k) {
    const Tile a = sbuf(128, 128, k * 256, Dtype::kBf16);
    for (int n = 0; n < 4; ++n)
      instrs.push_back(matmul(psum(128, 512, n * 2048), a, sbuf(128, 512, 65536 + n * 1024, Dtype::kBf16), k > 0));
  }
  const auto result = run(program(instrs, 64 * 4));
  expect_within(result.matmul_flops / seconds(result.total) * 1e-12, 78.6, 0.10, "gemm_8192");
}

}  // namespace
