// TensorE: every operand type, shapes, accumulation; transposes; teams of threads.
#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class MatMulExec : public ExecTest {
 protected:
  void expect_product(const Tile& dst, const Tile& a, const Tile& b, double before) {
    for (int m = 0; m < dst.partitions; ++m)
      for (int n = 0; n < dst.cols(); ++n) {
        double want = before;
        for (int k = 0; k < a.partitions; ++k) want += double{get(a, k, m)} * get(b, k, n);
        // Values below 1: K products below 1, each of K sums rounded.
        ASSERT_NEAR(get(dst, m, n), want, a.partitions * a.partitions * 0x1p-24 + 1e-6) << m << ", " << n;
      }
  }
};

TEST_F(MatMulExec, EveryTypeAccumulatesInFp32) {
  for (const Dtype dtype :
       {Dtype::kBf16, Dtype::kFp32, Dtype::kFp16, Dtype::kTf32, Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4}) {
    const Tile a = on(kSbuf, 96, 40, dtype), b = on(kSbuf, 96, 130, dtype, 1024), dst = on(kPsum, 40, 130);
    fill_random(a, 1, 2);
    fill_random(b, 2, 2);
    Instr instr{.op = Opcode::kMatMul, .engine = Engine::kTensor, .dst = dst, .a = a, .b = b};
    fill(dst, [](auto, auto) { return 7.0f; });
    run(instr);
    expect_product(dst, a, b, 0);
    instr.accumulate = true;
    fill(dst, [](auto, auto) { return 7.0f; });
    run(instr);
    expect_product(dst, a, b, 7);
  }
}

TEST_F(MatMulExec, StridedOperandsAndCastOnWrite) {
  const Tile a = tile(kSbuf, 64, {{64, 2}, {2, 16}}, Dtype::kBf16);
  const Tile b = tile(kSbuf, 64, {{100, 4}, {1, 20}}, Dtype::kBf16, 4096);
  const Tile wide = tile(kPsum, 32, {{32, 4}, {1, 20}}), narrow = on(kPsum, 32, 80, Dtype::kBf16, 2048);
  fill_random(a, 1, 2);
  fill_random(b, 2, 2);
  run({.op = Opcode::kMatMul, .dst = wide, .a = a, .b = b});
  expect_product(wide, a, b, 0);
  run({.op = Opcode::kMatMul, .dst = narrow, .a = a, .b = b});
  expect(narrow, [&](auto p, auto i) { return decode(Dtype::kBf16, encode(Dtype::kBf16, get(wide, p, i))); });
}

TEST_F(MatMulExec, ATeamChangesNoBit) {
  Team team{3};
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp32, Dtype::kFp8E5m2})
    for (const auto& [m, n] : {std::pair{128, 500u}, {128, 64u}, {100, 40u}, {70, 130u}}) {  // by columns, by rows
      const Tile a = on(kSbuf, 128, static_cast<std::uint32_t>(m), dtype), b = on(kSbuf, 128, n, dtype, 1024);
      const Tile alone = on(kPsum, m, n), shared = on(kPsum, m, n, Dtype::kFp32, 2048);
      fill_random(a, 1);
      fill_random(b, 2);
      context.team = nullptr;
      run({.op = Opcode::kMatMul, .dst = alone, .a = a, .b = b});
      context.team = &team;
      run({.op = Opcode::kMatMul, .dst = shared, .a = a, .b = b});
      EXPECT_EQ(values(alone), values(shared)) << name_of(dtype) << ' ' << m << " x " << n;
    }
}

TEST_F(MatMulExec, ATeamTransposesLargeTilesToo) {
  const Tile a = on(Space::kHbm, 120, 600, Dtype::kBf16);
  Tile dst = on(Space::kHbm, 600, 120, Dtype::kBf16, 1 << 20);
  fill_random(a, 5);
  Team team{2};
  context.team = &team;
  run({.op = Opcode::kDmaTranspose, .dst = dst, .a = a});
  expect(dst, [&](auto p, auto i) { return get(a, i, p); });
}

TEST_F(MatMulExec, TransposesExactly) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp32, Dtype::kFp8E4m3, Dtype::kUint8, Dtype::kInt16}) {
    const Tile a = on(kSbuf, 128, 96, dtype), dst = on(kPsum, 96, 128, dtype),
               fp32 = on(kPsum, 96, 128, Dtype::kFp32, 2048);
    fill_random(a, 3);
    run({.op = Opcode::kPeTranspose, .dst = dst, .a = a});
    expect(dst, [&](auto p, auto i) { return get(a, i, p); });
    run({.op = Opcode::kPeTranspose, .dst = fp32, .a = a});
    expect(fp32, [&](auto p, auto i) { return get(a, i, p); });
  }
  const Tile square = on(kSbuf, 32, 32, Dtype::kFp32, 8192);
  fill_random(square, 4);
  const std::vector<float> old = values(square);
  run({.op = Opcode::kVectorTranspose, .dst = square, .a = square});  // in place
  expect(square, [&](auto p, auto i) { return old[static_cast<std::size_t>(i * 32 + p)]; });
  const Tile rows = on(Space::kHbm, 100, 50), columns = on(kSbuf, 50, 100, Dtype::kBf16, 512);
  fill(rows, [](auto p, auto i) { return static_cast<float>(p - i); });
  run({.op = Opcode::kDmaTranspose, .dst = columns, .a = rows});
  expect(columns, [](auto p, auto i) { return static_cast<float>(i - p); });
}

TEST_F(MatMulExec, RefusesIntegersAndWrongShapes) {
  const Tile a = on(kSbuf, 64, 32, Dtype::kBf16), b = on(kSbuf, 32, 64, Dtype::kBf16, 512);
  EXPECT_TRUE(
      throws({.op = Opcode::kMatMul, .dst = on(kPsum, 32, 64), .a = a, .b = b}, base::Fault::kProgram, "[K, M]"));
  const Tile integers = on(kSbuf, 64, 32, Dtype::kInt8);
  EXPECT_TRUE(throws({.op = Opcode::kMatMul, .dst = on(kPsum, 32, 32), .a = integers, .b = a}, base::Fault::kProgram,
                     "integers"));
}

}  // namespace
}  // namespace isa
