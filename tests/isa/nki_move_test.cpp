// GpSimdE, DMA, TensorE and instructions that move elements, as nki.isa documents them.
#include <limits>

#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class NkiMove : public ExecTest {
 protected:
  std::int32_t integer(const Tile& t, std::int64_t p, std::int64_t i) {
    std::int32_t out = 0;
    std::memcpy(&out, at(t, p, i), 4);
    return out;
  }
};

TEST_F(NkiMove, SequenceBoundsTakeZeroAsPadding) {
  const std::vector<std::vector<float>> sequences = {
      {0, 1, 1, 2, 2, 2, 0, 3, 3}, {4, 4, 4}, {0, 0}, {1, 0, 1}, {2, 1, 2, 2}};
  for (const auto& ids : sequences)
    for (const Dtype dtype : {Dtype::kFp32, Dtype::kInt32}) {
      const auto n = static_cast<std::uint32_t>(ids.size());
      const Tile a = on(kSbuf, 1, n, dtype),
                 dst = tile(kSbuf, 1, {{static_cast<std::int32_t>(n), 2}, {1, n}}, dtype, 512);
      fill(a, [&](auto, auto i) { return ids[static_cast<std::size_t>(i)]; });
      run({.op = Opcode::kSequenceBounds, .dst = dst, .a = a});
      for (std::int64_t i = 0; i < n; ++i) {
        const float id = ids[static_cast<std::size_t>(i)];
        std::int64_t begin = i, end = i + 1;
        while (begin > 0 && ids[static_cast<std::size_t>(begin - 1)] == id) --begin;
        while (end < n && ids[static_cast<std::size_t>(end)] == id) ++end;
        ASSERT_EQ(get(dst, 0, i), id == 0 ? static_cast<float>(n) : static_cast<float>(begin)) << i;
        ASSERT_EQ(get(dst, 0, n + i), id == 0 ? -1 : static_cast<float>(end)) << i;
      }
    }
}

TEST_F(NkiMove, PatternsOfSeveralAxesAndLargeIntegers) {
  const Tile dst = tile(kSbuf, 4, {{6, 2}, {2, 3}, {1, 2}}, Dtype::kInt32);
  Instr iota{.op = Opcode::kIota, .engine = Engine::kGpSimd, .integers = true, .dst = dst};
  iota.ints = {1 << 30, -3, 0, 0}, iota.steps = {100, 0, -7, 0};
  run(iota);
  for (int p = 0; p < 4; ++p)
    for (int i = 0; i < 12; ++i) ASSERT_EQ(integer(dst, p, i), (1 << 30) - 3 * p + i / 6 * 100 - i % 2 * 7);
  const Tile a = tile(kSbuf, 4, {{4, 3}, {1, 4}}, Dtype::kFp32, 512),
             chosen = tile(kSbuf, 4, {{4, 3}, {1, 4}}, Dtype::kFp32, 1024);
  fill(a, [](auto p, auto i) { return i == 5 ? kInf : static_cast<float>(p * 12 + i); });
  Instr select{.op = Opcode::kAffineSelect, .engine = Engine::kGpSimd, .alu0 = Alu::kGt, .imm0 = -1, .imm1 = 1};
  select.imm3 = -1e30f, select.steps = {2, -1, 0, 0}, select.dst = chosen, select.a = a;
  run(select);  // -1 + p + 2 * (i / 4) - i % 4 > 0
  expect(chosen, [&](auto p, auto i) { return -1 + p + 2 * (i / 4) - i % 4 > 0 ? get(a, p, i) : -1e30f; });
}

TEST_F(NkiMove, MemsetHoldsAll32Bits) {
  const Tile dst = on(kSbuf, 2, 3, Dtype::kUint32);
  Instr memset{.op = Opcode::kMemset, .engine = Engine::kVector, .integers = true, .dst = dst};
  memset.ints[0] = -2;
  run(memset);
  EXPECT_EQ(integer(dst, 1, 2), -2);
  memset.ints[0] = 16777217;
  run(memset);
  EXPECT_EQ(integer(dst, 0, 0), 16777217);
  run({.op = Opcode::kMemset, .engine = Engine::kVector, .imm0 = -kInf, .dst = on(kSbuf, 2, 3, Dtype::kFp8E5m2, 64)});
  EXPECT_EQ(get(on(kSbuf, 2, 3, Dtype::kFp8E5m2, 64), 1, 1), -kInf);
}

TEST_F(NkiMove, LocalGatherTakesSeveralElementsPerIndex) {
  const Tile a = on(kSbuf, 32, 64, Dtype::kBf16), index = on(kSbuf, 32, 2, Dtype::kUint16, 512);
  fill(a, [](auto p, auto i) { return static_cast<float>(p - i); });
  fill(index, [](auto p, auto i) { return static_cast<float>((p * 3 + i * 5) % 16 * 4); });  // also the same twice
  for (const std::uint32_t indices : {32u, 19u}) {  // all, and num_valid_indices of them
    const Tile dst = on(kSbuf, 32, indices * 4, Dtype::kBf16, 1024);
    run({.op = Opcode::kLocalGather, .engine = Engine::kGpSimd, .imm0 = 4, .dst = dst, .a = a, .b = index});
    expect(dst, [&](auto p, auto i) {
      const std::int64_t k = i / 4;  // flattened along the partitions first
      return get(a, p, static_cast<std::int64_t>(get(index, p / 16 * 16 + k % 16, k / 16)) + i % 4);
    });
  }
  put(index, 3, 0, 61);
  EXPECT_TRUE(
      throws({.op = Opcode::kLocalGather, .imm0 = 4, .dst = on(kSbuf, 32, 128, Dtype::kBf16, 1024), .a = a, .b = index},
             base::Fault::kData, "61"));
}

TEST_F(NkiMove, NGatherTakesElementsOfItsOwnPartition) {
  const Tile a = tile(kSbuf, 3, {{40, 2}, {1, 20}}), index = on(kSbuf, 3, 600, Dtype::kUint32, 1024);
  const Tile dst = on(kSbuf, 3, 600, Dtype::kFp32, 8192);
  fill(a, [](auto p, auto i) { return i == 7 ? -kInf : static_cast<float>(p * 100 - i); });
  fill(index, [](auto p, auto i) { return static_cast<float>((p * 11 + i * 7) % 40); });
  const Instr gather{.op = Opcode::kNGather, .engine = Engine::kGpSimd, .dst = dst, .a = a, .b = index};
  run(gather);
  expect(dst, [&](auto p, auto i) { return get(a, p, (p * 11 + i * 7) % 40); });
  put(index, 2, 599, 40);
  EXPECT_TRUE(throws(gather, base::Fault::kData, "index 40"));
}

TEST_F(NkiMove, DynamicPlacesCountInUnits) {
  const Tile wide = on(kSbuf, 2, 24), part = on(kSbuf, 2, 4, Dtype::kFp32, 512),
             index = on(kSbuf, 1, 1, Dtype::kInt32, 1024);
  fill(wide, [](auto p, auto i) { return static_cast<float>(p * 100 + i); });
  fill(part, [](auto p, auto i) { return i == 0 ? kInf : static_cast<float>(-p - i); });
  put(index, 0, 0, 5);
  Instr to{
      .op = Opcode::kTensorCopyDynamicDst, .engine = Engine::kScalar, .imm0 = 4, .dst = wide, .a = part, .b = index};
  run(to);  // the elements 20 to 23
  expect(wide, [&](auto p, auto i) { return i >= 20 ? get(part, p, i - 20) : static_cast<float>(p * 100 + i); });
  run({.op = Opcode::kTensorCopyDynamic, .imm0 = 3, .dst = part, .a = wide, .b = index});
  expect(part, [&](auto p, auto i) { return get(wide, p, 15 + i); });
  put(index, 0, 0, 6);
  EXPECT_TRUE(throws(to, base::Fault::kData, "index 6"));
  put(index, 0, 0, -1);
  EXPECT_TRUE(throws(to, base::Fault::kData, "index -1"));
}

TEST_F(NkiMove, DynamicPlacesFollowSteps) {
  const Tile wide = on(kSbuf, 2, 40), part = tile(kSbuf, 2, {{8, 3}, {1, 2}}, Dtype::kBf16, 512),
             index = on(kSbuf, 1, 1, Dtype::kInt32, 1024);
  fill(wide, [](auto p, auto i) { return static_cast<float>(p * 100 + i); });
  put(index, 0, 0, 2);
  // Element (i, j) is that at 9 + 2 * 5 - 7 * i + 3 * j.
  const Instr from{.op = Opcode::kTensorCopyDynamic,
                   .integers = true,
                   .ints = {5, 9, 1, 0},
                   .steps = {-7, 3},
                   .dst = part,
                   .a = wide,
                   .b = index};
  run(from);
  expect(part, [&](auto p, auto k) { return get(wide, p, 19 - 7 * (k / 2) + 3 * (k % 2)); });
  Instr to = from;
  to.op = Opcode::kTensorCopyDynamicDst, to.dst = wide, to.a = part;
  fill(part, [](auto p, auto k) { return static_cast<float>(-p - k); });
  run(to);
  expect(wide, [&](auto p, auto i) {
    for (int k = 0; k < 6; ++k)
      if (i == 19 - 7 * (k / 2) + 3 * (k % 2)) return static_cast<float>(-p - k);
    return static_cast<float>(p * 100 + i);
  });
  put(index, 0, 0, 1);  // the lowest element is 0: it still fits
  run(from);
  expect(part, [&](auto p, auto k) { return get(wide, p, 14 - 7 * (k / 2) + 3 * (k % 2)); });
  put(index, 0, 0, 0);
  EXPECT_TRUE(throws(from, base::Fault::kData, "index 0 and 6 elements leave the 40 of its tile: they are -5 to 12"));
  put(index, 0, 0, 6);
  EXPECT_TRUE(throws(to, base::Fault::kData, "they are 25 to 42"));
  put(index, 0, 0, 5);
  run(from);
}

TEST_F(NkiMove, StepsOfZeroRepeatOneElement) {
  const Tile wide = on(kPsum, 3, 12), part = tile(kSbuf, 3, {{1, 4}}, Dtype::kFp32, 512),
             index = on(kSbuf, 1, 1, Dtype::kInt32, 1024);
  fill(wide, [](auto p, auto i) { return static_cast<float>(p * 100 + i); });
  put(index, 0, 0, 11);
  run({.op = Opcode::kTensorCopyDynamic, .imm2 = 1, .dst = part, .a = wide, .b = index});
  expect(part, [&](auto p, auto) { return get(wide, p, 11); });
}

TEST_F(NkiMove, ShuffleBroadcastsOnePartition) {
  const Tile one = on(kSbuf, 1, 8), all = on(kSbuf, 32, 8, Dtype::kFp32, 512),
             mask = on(kSbuf, 1, 32, Dtype::kUint8, 1024);
  fill(one, [](auto, auto i) { return i == 2 ? kInf : static_cast<float>(i - 4); });
  fill(all, [](auto, auto) { return 3.0f; });
  fill(mask, [](auto, auto i) { return i == 9 ? 255.0f : 0.0f; });
  run({.op = Opcode::kStreamShuffle, .engine = Engine::kVector, .dst = all, .a = one, .b = mask});
  expect(all, [&](auto p, auto i) { return p == 9 ? 3.0f : get(one, 0, i); });
}

TEST_F(NkiMove, SkipsRowsOutOfBounds) {
  const Tile table = on(kHbm, 10, 6), index = on(kSbuf, 5, 1, Dtype::kInt32), rows = on(kSbuf, 5, 6, Dtype::kFp32, 512);
  const float places[] = {9, 10, -1, 9, 2};
  fill(table, [](auto p, auto i) { return static_cast<float>(p * 10 + i); });
  fill(index, [&](auto p, auto) { return places[p]; });
  fill(rows, [](auto, auto) { return -1.0f; });
  run({.op = Opcode::kDmaGather, .skip = true, .dst = rows, .a = table, .b = index});
  expect(rows, [&](auto p, auto i) { return p == 1 || p == 2 ? -1.0f : places[p] * 10 + static_cast<float>(i); });
  fill(rows, [](auto p, auto) { return static_cast<float>(-p); });
  run({.op = Opcode::kDmaScatter, .skip = true, .dst = table, .a = rows, .b = index});
  expect(table, [](auto p, auto i) { return p == 9 ? -3.0f : p == 2 ? -4.0f : static_cast<float>(p * 10 + i); });
}

TEST_F(NkiMove, DmaTransposesThreeAndFourAxes) {
  // [P, F1, F2] -> [F2, F1, P] and [P, F1, F2, F3] -> [F3, F1, F2, P]; all free axes as one: [P, F] -> [F, P].
  const Tile a3 = tile(kSbuf, 6, {{20, 3}, {1, 20}}, Dtype::kBf16),
             b3 = tile(kSbuf, 20, {{6, 3}, {1, 6}}, Dtype::kBf16, 1024);
  fill(a3, [](auto p, auto i) { return static_cast<float>(p * 37 % 11 - i); });
  run({.op = Opcode::kDmaTranspose, .dst = b3, .a = a3});
  expect(b3, [&](auto f, auto i) { return get(a3, i % 6, i / 6 * 20 + f); });
  const Tile a4 = tile(kHbm, 5, {{24, 2}, {8, 3}, {1, 8}}),
             b4 = tile(kSbuf, 8, {{15, 2}, {5, 3}, {1, 5}}, Dtype::kFp32, 2048);
  fill(a4, [](auto p, auto i) { return i == 3 ? kInf : static_cast<float>(p - i * 2); });
  run({.op = Opcode::kDmaTranspose, .dst = b4, .a = a4});
  expect(b4, [&](auto f, auto i) { return get(a4, i % 5, i / 5 * 8 + f); });
  const Tile flat = on(kSbuf, 60, 6, Dtype::kBf16, 4096);
  run({.op = Opcode::kDmaTranspose, .dst = flat, .a = a3});
  expect(flat, [&](auto f, auto p) { return get(a3, p, f); });
}

TEST_F(NkiMove, TensorTransposesMultiplyByTheIdentity) {
  for (const Dtype dtype : {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16, Dtype::kFp8E5m2}) {
    const Tile a = on(kSbuf, 40, 6, dtype), dst = on(kPsum, 6, 40, dtype);
    fill(a, [](auto p, auto i) { return static_cast<float>((p * 3 + i) % 16 - 8); });
    put(a, 5, 1, kInf);
    put(a, 9, 2, kNan);
    put(a, 0, 3, kInf);
    put(a, 7, 3, -kInf);
    run({.op = Opcode::kPeTranspose, .engine = Engine::kTensor, .dst = dst, .a = a});
    for (int f = 0; f < 6; ++f)
      for (int p = 0; p < 40; ++p) {
        const float x = get(dst, f, p);
        if (f == 0 || f > 3)
          ASSERT_EQ(x, get(a, p, f)) << "a column without them is exact";
        else if (f == 1 && p == 5)
          ASSERT_EQ(x, kInf);
        else
          ASSERT_TRUE(std::isnan(x)) << f << ", " << p;
      }
    const Tile square = on(kSbuf, 6, 32, dtype, 4096), transposed = on(kSbuf, 32, 6, dtype, 8192);
    fill(square, [](auto p, auto i) { return i == 2 ? kInf : static_cast<float>(p); });
    run({.op = Opcode::kVectorTranspose, .engine = Engine::kVector, .dst = transposed, .a = square});
    expect(transposed, [&](auto i, auto p) { return get(square, p, i); });  // VectorE moves them
  }
}

TEST_F(NkiMove, MatmulsOfSpecialNumbers) {
  const Tile a = on(kSbuf, 4, 2, Dtype::kBf16), b = on(kSbuf, 4, 3, Dtype::kBf16, 512), dst = on(kPsum, 2, 3);
  fill(a, [](auto p, auto i) { return i == 0 ? static_cast<float>(p - 1) : p == 2 ? kInf : 0.0f; });
  fill(b, [](auto p, auto i) { return static_cast<float>(i * p); });
  run({.op = Opcode::kMatMul, .engine = Engine::kTensor, .dst = dst, .a = a, .b = b});
  EXPECT_THAT(values(dst), testing::ElementsAre(0, 8, 16, testing::IsNan(), kInf, kInf));
}

TEST_F(NkiMove, CastsToFp8BecomeInfinite) {
  const Tile a = on(kSbuf, 1, 6);
  const float x[] = {1e6f, -1e6f, 240, -0.0f, kInf, kNan};
  fill(a, [&](auto, auto i) { return x[i]; });
  for (const Rounding rounding : {Rounding::kNearestEven, Rounding::kStochastic}) {
    context.rounding = rounding;
    const Tile dst = on(kSbuf, 1, 6, Dtype::kFp8E4m3, 64);
    run({.op = Opcode::kTensorCopy, .engine = Engine::kVector, .dst = dst, .a = a});
    EXPECT_THAT(values(dst), testing::ElementsAre(kInf, -kInf, 240, 0, kInf, testing::IsNan()));
  }
}

}  // namespace
}  // namespace isa
