// Reductions, scans, statistics, sorting, and selections by place.
#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class ReduceExec : public ExecTest {};

TEST_F(ReduceExec, TensorReduceFoldsTheInnermostAxis) {
  for (const std::uint32_t inner : {1u, 5u, 64u, 700u}) {
    const Tile a = tile(kSbuf, 3, {{static_cast<std::int32_t>(inner), 4}, {1, inner}}, Dtype::kBf16);
    const Tile dst = on(kSbuf, 3, 4, Dtype::kFp32, 16384);
    fill(a, [](auto p, auto i) { return static_cast<float>((p * 31 + i * 17) % 23 - 11); });
    for (const Alu op : {Alu::kAdd, Alu::kMax, Alu::kMin}) {
      run({.op = Opcode::kTensorReduce, .alu0 = op, .dst = dst, .a = a});
      expect(dst, [&](auto p, auto i) {
        float want = get(a, p, i * inner);  // small integers: every order gives the same sum
        for (std::uint32_t k = 1; k < inner; ++k) {
          const float x = get(a, p, i * inner + k);
          want = op == Alu::kAdd ? want + x : op == Alu::kMax ? std::max(want, x) : std::min(want, x);
        }
        return want;
      });
    }
  }
}

// The order that NeuronCore-v2 was measured to add in; NumPy's own sum gives other bits for most of these rows.
TEST_F(ReduceExec, TensorReduceAddsAndMultipliesOneAfterTheOther) {
  for (const std::uint32_t inner : {128u, 127u, 3000u}) {
    const Tile a = on(kSbuf, 64, inner), dst = on(kSbuf, 64, 1, Dtype::kFp32, 16384);
    fill_random(a, 3);
    for (const Alu op : {Alu::kAdd, Alu::kMul}) {
      run({.op = Opcode::kTensorReduce, .alu0 = op, .dst = dst, .a = a});
      expect(dst, [&](auto p, auto) {
        float want = op == Alu::kAdd ? 0.0f : 1.0f;
        for (std::uint32_t k = 0; k < inner; ++k) want = op == Alu::kAdd ? want + get(a, p, k) : want * get(a, p, k);
        return want;
      });
    }
  }
}

TEST_F(ReduceExec, PartitionReduceAddsAndAnds) {
  const Tile a = on(kSbuf, 128, 600), sum = on(kSbuf, 1, 600, Dtype::kFp32, 4096);
  fill(a, [](auto p, auto i) { return static_cast<float>(p * (i % 7)); });
  run({.op = Opcode::kPartitionReduce, .alu0 = Alu::kAdd, .dst = sum, .a = a});
  expect(sum, [](auto, auto i) { return static_cast<float>(127 * 128 / 2 * (i % 7)); });
  const Tile bits = on(kSbuf, 3, 10, Dtype::kUint8, 8192), all = on(kSbuf, 1, 10, Dtype::kUint8, 9000);
  fill(bits, [](auto p, auto i) { return static_cast<float>((0xf0 >> p) | i); });
  run({.op = Opcode::kPartitionReduce, .alu0 = Alu::kAnd, .dst = all, .a = bits});
  expect(all, [](auto, auto i) { return static_cast<float>((0xf0 | i) & (0x78 | i) & (0x3c | i)); });
}

TEST_F(ReduceExec, ScanCarriesItsState) {
  const Tile a = on(kSbuf, 2, 700), b = on(kSbuf, 2, 700, Dtype::kFp32, 4096),
             dst = on(kSbuf, 2, 700, Dtype::kFp32, 8192);
  fill(a, [](auto, auto i) { return i % 2 ? 0.5f : 2.0f; });
  fill(b, [](auto p, auto i) { return static_cast<float>(p + i % 3); });
  run({.op = Opcode::kTensorTensorScan, .alu0 = Alu::kMul, .alu1 = Alu::kAdd, .imm0 = 3, .dst = dst, .a = a, .b = b});
  for (int p = 0; p < 2; ++p) {
    float last = 3;
    for (int i = 0; i < 700; ++i) {
      last = last * get(a, p, i) + get(b, p, i);
      ASSERT_EQ(get(dst, p, i), last);
    }
  }
}

TEST_F(ReduceExec, BatchNormStatisticsMatchTheTextbook) {
  const Tile x = on(kSbuf, 4, 768), low = on(kSbuf, 4, 512), high = on(kSbuf, 4, 256, Dtype::kFp32, 2048);
  const Tile stats = on(kSbuf, 4, 12, Dtype::kFp32, 8192), tail = on(kSbuf, 4, 6, Dtype::kFp32, 8192 + 24);
  const Tile head = on(kSbuf, 4, 6, Dtype::kFp32, 8192), dst = on(kSbuf, 4, 2, Dtype::kFp32, 9000);
  fill_random(x, 5);
  run({.op = Opcode::kBnStats, .dst = head, .a = low});
  run({.op = Opcode::kBnStats, .dst = tail, .a = high});
  run({.op = Opcode::kBnAggr, .dst = dst, .a = stats});
  EXPECT_EQ(get(head, 0, 0), 256);
  EXPECT_EQ(get(tail, 0, 3), 128);
  for (int p = 0; p < 4; ++p) {
    double mean = 0, var = 0;
    for (int i = 0; i < 768; ++i) mean += get(x, p, i) / 768.0;
    for (int i = 0; i < 768; ++i) var += (get(x, p, i) - mean) * (get(x, p, i) - mean) / 768.0;
    EXPECT_NEAR(get(dst, p, 0), mean, 20 * 0x1p-24);  // about 20 additions of values below 2
    EXPECT_NEAR(get(dst, p, 1), var, var * 40 * 0x1p-24);
  }
}

TEST_F(ReduceExec, EightLargestAndWhereTheyAre) {
  const Tile a = on(kSbuf, 1, 20), top = on(kSbuf, 1, 8, Dtype::kFp32, 512),
             place = on(kSbuf, 1, 8, Dtype::kUint16, 1024);
  const Tile rest = on(kSbuf, 1, 20, Dtype::kFp32, 2048);
  fill(a, [](auto, auto i) { return static_cast<float>(i * 7 % 20); });
  run({.op = Opcode::kMax8, .dst = top, .a = a});
  expect(top, [](auto, auto i) { return static_cast<float>(19 - i); });
  run({.op = Opcode::kFindIndex8, .dst = place, .a = a, .b = top});
  expect(place, [&](auto, auto i) {
    for (int k = 0; k < 20; ++k)
      if (get(a, 0, k) == get(top, 0, i)) return static_cast<float>(k);
    return -1.0f;
  });
  run({.op = Opcode::kMatchReplace8, .imm0 = -5, .dst = rest, .a = a, .b = top});
  expect(rest, [&](auto, auto i) { return get(a, 0, i) >= 12 ? -5 : get(a, 0, i); });
  put(top, 0, 0, 99);
  run({.op = Opcode::kFindIndex8, .dst = place, .a = a, .b = top});
  EXPECT_EQ(get(place, 0, 0), 65535);
}

TEST_F(ReduceExec, SequenceBoundsOfRuns) {
  const Tile a = on(kSbuf, 1, 6, Dtype::kInt32), dst = tile(kSbuf, 1, {{6, 2}, {1, 6}}, Dtype::kInt32, 512);
  const float ids[] = {1, 1, 2, 5, 5, 5};
  fill(a, [&](auto, auto i) { return ids[i]; });
  run({.op = Opcode::kSequenceBounds, .dst = dst, .a = a});
  EXPECT_THAT(values(dst), testing::ElementsAre(0, 0, 2, 3, 3, 3, 2, 2, 3, 6, 6, 6));
}

TEST_F(ReduceExec, PatternsShufflesAndGathers) {
  const Tile numbers = on(kSbuf, 32, 48, Dtype::kInt32), triangle = on(kSbuf, 32, 48, Dtype::kFp32, 1024);
  run({.op = Opcode::kIota, .imm0 = 16777216, .imm1 = 100, .imm2 = 1, .dst = numbers});
  std::int32_t value = 0;
  std::memcpy(&value, at(numbers, 3, 5), 4);
  EXPECT_EQ(value, 16777216 + 305);
  run({.op = Opcode::kIota, .imm1 = 48, .imm2 = 1, .dst = triangle});
  expect(triangle, [](auto p, auto i) { return static_cast<float>(p * 48 + i); });
  const Tile masked = on(kSbuf, 32, 48, Dtype::kFp32, 2048);
  run({.op = Opcode::kAffineSelect, .alu0 = Alu::kGe, .imm1 = 1, .imm2 = -1, .imm3 = -1, .dst = masked, .a = triangle});
  expect(masked, [&](auto p, auto i) { return p >= i ? get(triangle, p, i) : -1; });
  const Tile mask = on(kSbuf, 1, 32, Dtype::kUint8, 4096);
  fill(mask, [](auto, auto i) { return i == 0 ? 255.0f : static_cast<float>(31 - i); });
  run({.op = Opcode::kStreamShuffle, .dst = masked, .a = triangle, .b = mask});
  expect(masked,
         [&](auto p, auto i) { return p == 0 ? (i == 0 ? get(triangle, 0, 0) : -1) : get(triangle, 31 - p, i); });
  const Tile index = on(kSbuf, 32, 2, Dtype::kUint16, 8192), gathered = on(kSbuf, 32, 32, Dtype::kFp32, 9000);
  fill(index, [](auto p, auto i) { return static_cast<float>((p * 3 + i) % 48); });
  run({.op = Opcode::kLocalGather, .dst = gathered, .a = triangle, .b = index});
  expect(gathered, [&](auto p, auto k) {
    return get(triangle, p, static_cast<std::int64_t>(get(index, p / 16 * 16 + k % 16, k / 16)));
  });
  put(index, 5, 1, 48);
  EXPECT_TRUE(
      throws({.op = Opcode::kLocalGather, .dst = gathered, .a = triangle, .b = index}, base::Fault::kData, "48"));
}

TEST_F(ReduceExec, CopiesByARegister) {
  const Tile a = on(kSbuf, 2, 20), index = on(kSbuf, 1, 1, Dtype::kInt32, 512),
             dst = on(kSbuf, 2, 8, Dtype::kFp32, 1024);
  fill_random(a, 1);
  put(index, 0, 0, 12);
  const Instr instr{.op = Opcode::kTensorCopyDynamic, .dst = dst, .a = a, .b = index};
  run(instr);
  expect(dst, [&](auto p, auto i) { return get(a, p, i + 12); });
  put(index, 0, 0, 13);
  EXPECT_TRUE(throws(instr, base::Fault::kData, "13"));
}

}  // namespace
}  // namespace isa
