// DMA between the three memories, rows by index, and collectives.
#include <cstring>

#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class DmaExec : public ExecTest {};

TEST_F(DmaExec, DmaCopiesConvertsAndAccumulates) {
  const Tile source = on(kHbm, 128, 700), chip = on(kSbuf, 128, 700, Dtype::kBf16), back = on(kPsum, 128, 700);
  fill_random(source, 1);
  run({.op = Opcode::kDmaCopy, .dst = chip, .a = source});
  expect(chip, [&](auto p, auto i) { return decode(Dtype::kBf16, encode(Dtype::kBf16, get(source, p, i))); });
  run({.op = Opcode::kDmaCopy, .dst = back, .a = chip});
  expect(back, [&](auto p, auto i) { return get(chip, p, i); });
  run({.op = Opcode::kDmaCopy, .accumulate = true, .dst = back, .a = source});
  expect(back, [&](auto p, auto i) { return get(chip, p, i) + get(source, p, i); });
}

TEST_F(DmaExec, DmaKeepsTheBitsOfEqualTypes) {
  const Tile source = on(kHbm, 2, 3, Dtype::kInt32), dst = on(kSbuf, 2, 3, Dtype::kInt32);
  const std::int32_t numbers[6] = {16777217, -2147483647, 1, 2, 3, 123456789};
  std::memcpy(at(source, 0, 0), numbers, 24);
  run({.op = Opcode::kDmaCopy, .dst = dst, .a = source});
  EXPECT_EQ(std::memcmp(at(dst, 0, 0), numbers, 12), 0);
  EXPECT_EQ(std::memcmp(at(dst, 1, 0), numbers + 3, 12), 0);
  const Tile small = on(kSbuf, 2, 3, Dtype::kUint8, 512);
  run({.op = Opcode::kDmaCopy, .dst = small, .a = source});
  EXPECT_THAT(values(small), testing::ElementsAre(255, 0, 1, 2, 3, 255));
}

TEST_F(DmaExec, DmaBroadcastsAndReshapes) {
  Tile row = on(kHbm, 128, 64);
  row.pstep = 0;  // one row for all partitions
  const Tile all = on(kSbuf, 128, 64);
  fill(row, [](auto, auto i) { return static_cast<float>(i); });
  run({.op = Opcode::kDmaCopy, .dst = all, .a = row});
  expect(all, [](auto, auto i) { return static_cast<float>(i); });
  const Tile line = on(kHbm, 1, 128 * 6), spread = on(kSbuf, 128, 6, Dtype::kBf16);
  fill(line, [](auto, auto i) { return static_cast<float>(i % 251); });
  run({.op = Opcode::kDmaCopy, .dst = spread, .a = line});
  expect(spread, [](auto p, auto i) { return static_cast<float>((p * 6 + i) % 251); });
}

TEST_F(DmaExec, GathersRowsAndRefusesAWrongIndex) {
  const Tile table = on(kHbm, 1000, 70, Dtype::kBf16), index = on(kSbuf, 128, 1, Dtype::kInt32),
             dst = on(kSbuf, 128, 70, Dtype::kFp32, 512);
  fill(table, [](auto p, auto i) { return static_cast<float>(p % 200 + i % 3); });
  fill(index, [](auto p, auto) { return static_cast<float>(p * 37 % 1000); });
  const Instr instr{.op = Opcode::kDmaGather, .dst = dst, .a = table, .b = index};
  run(instr);
  expect(dst, [&](auto p, auto i) { return get(table, p * 37 % 1000, i); });
  put(index, 77, 0, 1000);
  EXPECT_TRUE(throws(instr, base::Fault::kData, "index 1000 of partition 77 is not one of the 1000 rows"));
  put(index, 77, 0, -1);
  EXPECT_TRUE(throws(instr, base::Fault::kData, "index -1"));
}

TEST_F(DmaExec, OneNumberMovesAllRows) {
  const Tile table = on(kHbm, 1000, 8), number = on(kSbuf, 1, 1, Dtype::kInt32),
             dst = on(kSbuf, 128, 8, Dtype::kFp32, 512);
  fill(table, [](auto p, auto i) { return static_cast<float>(p * 8 + i); });
  put(number, 0, 0, 7);
  Instr instr{.op = Opcode::kDmaGather, .integers = true, .ints = {100, 2}, .dst = dst, .a = table, .b = number};
  run(instr);
  expect(dst, [&](auto p, auto i) { return get(table, 700 + 2 * p, i); });
  put(number, 0, 0, 8);
  EXPECT_TRUE(throws(instr, base::Fault::kData, "the number 8 moves row 100 out of the tensor"));
  const Tile to = on(kHbm, 1000, 8);
  fill(to, [](auto, auto) { return 0.0f; });
  put(number, 0, 0, 2);
  run({.op = Opcode::kDmaScatter, .integers = true, .ints = {300, 1}, .dst = to, .a = dst, .b = number});
  expect(to, [&](auto p, auto i) { return p >= 600 && p < 728 ? get(dst, p - 600, i) : 0.0f; });
}

TEST_F(DmaExec, ScattersInOrderWithAndWithoutAdding) {
  const Tile table = on(kHbm, 50, 1100), index = on(kSbuf, 128, 1, Dtype::kInt32),
             rows = on(kSbuf, 128, 1100, Dtype::kFp32, 512);
  fill(table, [](auto, auto) { return 100.0f; });
  fill(index, [](auto p, auto) { return static_cast<float>(p % 40); });
  fill(rows, [](auto p, auto i) { return static_cast<float>(p + i); });
  Team team{2};
  context.team = &team;
  Instr instr{.op = Opcode::kDmaScatter, .accumulate = true, .dst = table, .a = rows, .b = index};
  run(instr);
  expect(table, [](auto r, auto i) {
    float want = 100;
    for (std::int64_t p = r; r < 40 && p < 128; p += 40) want += static_cast<float>(p + i);
    return want;
  });
  instr.accumulate = false;
  run(instr);
  expect(table, [](auto r, auto i) {  // the last row wins
    return r >= 40 ? 100.0f : static_cast<float>((r < 8 ? r + 120 : r + 80) + i);
  });
}

// ---- Collectives

class Collective : public ExecTest {
 protected:
  static constexpr std::int64_t kRanks = 3;
  void SetUp() override {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      memories.push_back(std::make_unique<Memory>(1 << 20));
      contexts.push_back({.memory = *memories.back(), .bases = bases, .rank = r});
    }
    for (Context& one : contexts) group.push_back(&one);
  }
  void fill_ranks(const Tile& t, const std::function<float(std::int64_t, std::int64_t)>& value) {
    for (std::int64_t r = 0; r < kRanks; ++r)
      for (std::int64_t i = 0; i < t.cols(); ++i) put(memory_of(r), t, 0, i, value(r, i));
  }
  void expect_ranks(const Tile& t, const std::function<float(std::int64_t, std::int64_t)>& want) {
    for (std::int64_t r = 0; r < kRanks; ++r)
      for (std::int64_t i = 0; i < t.cols(); ++i) ASSERT_EQ(get(memory_of(r), t, 0, i), want(r, i)) << r << ", " << i;
  }
  Memory& memory_of(std::int64_t rank) { return *memories[static_cast<std::size_t>(rank)]; }
  static float number(std::int64_t r, std::int64_t i) { return static_cast<float>((r * 7 + i * 3) % 50); }

  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Context> contexts;
  std::vector<Context*> group;
};

TEST_F(Collective, AllReduceSumsInRankOrderForAll) {
  const Tile a = on(kHbm, 1, 5000, Dtype::kBf16), dst = on(kHbm, 1, 5000, Dtype::kBf16, 65536);
  fill_ranks(a, [](auto r, auto i) { return 1.0f / static_cast<float>(r + i + 1); });
  for (const Rounding rounding : {Rounding::kNearestEven, Rounding::kStochastic}) {
    for (Context& one : contexts) one.rounding = rounding;
    execute_collective({.op = Opcode::kAllReduce, .alu0 = Alu::kAdd, .dst = dst, .a = a}, group);
    expect_ranks(dst, [&](auto, auto i) { return get(memory_of(0), dst, 0, i); });
  }
  for (Context& one : contexts) one.rounding = Rounding::kNearestEven;
  execute_collective({.op = Opcode::kAllReduce, .alu0 = Alu::kAdd, .dst = a, .a = a}, group);  // in place
  expect_ranks(a, [](auto, auto i) {
    float sum = 0;
    for (int r = 0; r < kRanks; ++r)
      sum += decode(Dtype::kBf16, encode(Dtype::kBf16, 1.0f / static_cast<float>(r + i + 1)));
    return decode(Dtype::kBf16, encode(Dtype::kBf16, sum));
  });
}

TEST_F(Collective, ReduceScatterAndAllGather) {
  const Tile whole = on(kHbm, 1, 3 * 700), part = on(kHbm, 1, 700, Dtype::kFp32, 65536),
             again = on(kHbm, 1, 3 * 700, Dtype::kFp32, 131072);
  fill_ranks(whole, number);
  execute_collective({.op = Opcode::kReduceScatter, .alu0 = Alu::kAdd, .dst = part, .a = whole}, group);
  const auto sum = [](std::int64_t i) { return number(0, i) + number(1, i) + number(2, i); };
  expect_ranks(part, [&](auto r, auto i) { return sum(r * 700 + i); });
  execute_collective({.op = Opcode::kAllGather, .dst = again, .a = part}, group);
  expect_ranks(again, [&](auto, auto i) { return sum(i); });
}

TEST_F(Collective, AllToAllAndBroadcast) {
  const Tile a = on(kHbm, 1, 3 * 600), dst = on(kHbm, 1, 3 * 600, Dtype::kFp32, 65536);
  fill_ranks(a, number);
  execute_collective({.op = Opcode::kAllToAll, .dst = dst, .a = a}, group);
  expect_ranks(dst, [](auto r, auto i) { return number(i / 600, r * 600 + i % 600); });
  execute_collective({.op = Opcode::kBroadcast, .imm0 = 1, .dst = a, .a = a}, group);  // in place
  expect_ranks(a, [](auto, auto i) { return number(1, i); });
}

TEST_F(Collective, SendsToItsPeerInOrder) {
  const Tile a = on(kHbm, 1, 900), dst = on(kHbm, 1, 900, Dtype::kFp32, 65536);
  fill_ranks(a, number);
  const std::span<Context*> pair{group.data(), 2};
  execute_collective({.op = Opcode::kSend, .peer = 1, .a = a}, pair);
  execute_collective({.op = Opcode::kRecv, .peer = 0, .dst = dst}, pair);
  for (int i = 0; i < 900; ++i) ASSERT_EQ(get(memory_of(1), dst, 0, i), number(0, i));
  EXPECT_EQ(get(memory_of(0), dst, 0, 5), 0);
  EXPECT_THROW(execute_collective({.op = Opcode::kRecv, .peer = 0, .dst = dst}, pair), base::Error);
  EXPECT_THROW(execute_collective({.op = Opcode::kSend, .peer = 1, .a = a}, group), base::Error);
}

TEST_F(Collective, RefusesWrongSizesAndOneRankAlone) {
  const Tile a = on(kHbm, 1, 900), dst = on(kHbm, 1, 900, Dtype::kFp32, 65536);
  EXPECT_THROW(execute_collective({.op = Opcode::kAllGather, .dst = dst, .a = a}, group), base::Error);
  EXPECT_THROW(execute_collective({.op = Opcode::kTensorCopy, .dst = dst, .a = a}, group), base::Error);
  EXPECT_TRUE(
      throws({.op = Opcode::kAllReduce, .alu0 = Alu::kAdd, .dst = dst, .a = a}, base::Fault::kInternal, "one rank"));
}

}  // namespace
}  // namespace isa
