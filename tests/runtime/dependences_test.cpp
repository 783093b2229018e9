// Order without shared bytes: accumulator registers and the state of the random generator.
#include "runtime/compiler/dependences.h"

#include <gmock/gmock.h>

#include <random>

#include "runtime/compiler/rect_log.h"

namespace {

using isa::Instr;
using isa::Opcode;
using isa::Registers;
using testing::ElementsAre;
using testing::IsEmpty;

isa::Tile buffer(std::uint32_t number) {
  isa::Tile tile{.space = isa::Space::kSbuf, .partitions = 128, .reg = number};
  tile.free[0].size = 8;
  return tile;
}

Instr activate(std::uint32_t from, Registers registers) {
  return {.op = Opcode::kActivation,
          .engine = isa::Engine::kScalar,
          .registers = registers,
          .imm0 = 1,
          .dst = buffer(from + 1),
          .a = buffer(from)};
}

runtime::VirtualBlock block_of(std::vector<Instr> instrs) {
  runtime::VirtualBlock block;
  block.instrs = std::move(instrs);
  block.buffers.resize(20);
  return block;
}

TEST(Dependences, RegistersKeepTheOrderOfTheirEngine) {
  Instr reads = activate(7, Registers::kDefault);
  reads.op = Opcode::kActivationReduce, reads.dst2 = buffer(9);
  const auto before =
      runtime::dependences(block_of({activate(1, Registers::kResetReduce), activate(3, Registers::kDefault),
                                     activate(5, Registers::kReduce), reads}));
  EXPECT_THAT(before[1], IsEmpty()) << "it leaves the registers alone";
  EXPECT_THAT(before[2], ElementsAre(0));
  EXPECT_THAT(before[3], ElementsAre(2));
}

TEST(Dependences, WithoutACommandReductionsAreFree) {
  Instr one = activate(1, Registers::kDefault), other = activate(7, Registers::kDefault);
  one.op = other.op = Opcode::kActivationReduce;
  one.dst2 = buffer(3), other.dst2 = buffer(9);
  EXPECT_THAT(runtime::dependences(block_of({one, other}))[1], IsEmpty());
}

TEST(Dependences, WaitsInARowPartWhatIsBeforeThemFromWhatFollows) {
  const Instr first = activate(1, Registers::kDefault), second = activate(3, Registers::kDefault);
  const Instr third = activate(5, Registers::kDefault), wait{.op = Opcode::kWait, .imm0 = 1};
  const auto before = runtime::dependences(block_of({first, second, wait, wait, third, wait}));
  EXPECT_THAT(before[1], IsEmpty());
  EXPECT_THAT(before[2], ElementsAre(0, 1));
  EXPECT_THAT(before[3], ElementsAre(0, 1)) << "not for one another";
  EXPECT_THAT(before[4], ElementsAre(2, 3));
  EXPECT_THAT(before[5], ElementsAre(4));
}

TEST(Dependences, RandomNumbersFollowTheirSeed) {
  const Instr seed{.op = Opcode::kSetRngSeed, .engine = isa::Engine::kVector, .a = buffer(1)};
  const Instr first{.op = Opcode::kRng, .engine = isa::Engine::kVector, .dst = buffer(2)};
  const Instr second{.op = Opcode::kRng, .engine = isa::Engine::kVector, .dst = buffer(3)};
  const auto before = runtime::dependences(block_of({seed, first, second}));
  EXPECT_THAT(before[1], ElementsAre(0));
  EXPECT_THAT(before[2], ElementsAre(1));
}

TEST(Dependences, ALanesStateIsReadBehindItsDraws) {
  const Instr set{.op = Opcode::kRandSetState, .engine = isa::Engine::kGpSimd, .a = buffer(1)};
  const Instr draw{.op = Opcode::kRng, .engine = isa::Engine::kGpSimd, .dst = buffer(2)};
  const Instr get{.op = Opcode::kRandGetState, .engine = isa::Engine::kGpSimd, .dst = buffer(3)};
  const auto before = runtime::dependences(block_of({set, draw, get}));
  EXPECT_THAT(before[1], ElementsAre(0));
  EXPECT_THAT(before[2], ElementsAre(1));
}

/// Bytes [low, low + size) of a tile.
isa::Tile piece(std::uint32_t low, std::uint32_t size) {
  isa::Tile tile{.space = isa::Space::kSbuf, .dtype = isa::Dtype::kUint8, .partitions = 128, .reg = 1};
  tile.offset = low, tile.free[0].size = size;
  return tile;
}

/// Which instructions come before which, directly or by others.
std::vector<std::vector<bool>> closure(const std::vector<std::vector<std::uint32_t>>& before) {
  std::vector<std::vector<bool>> out(before.size(), std::vector<bool>(before.size()));
  for (std::size_t i = 0; i < before.size(); ++i)
    for (const std::uint32_t p : before[i]) {
      out[i][p] = true;
      for (std::size_t q = 0; q < p; ++q) out[i][q] = out[i][q] || out[p][q];
    }
  return out;
}

// Accesses that others represent are left out, and long lists are parted: the order must stay.
TEST(Dependences, OrderAllThatShareBytes) {
  constexpr std::uint32_t kBytes = 4096, kInstrs = 250;
  std::mt19937 random{7};
  for (const std::uint32_t widest : {4u, 40u, kBytes}) {
    const auto drawn = [&] {
      const std::uint32_t size = random() % 4 ? 1 + random() % 4 : 1 + random() % widest;
      return piece(random() % (kBytes - size + 1), size);
    };
    std::vector<Instr> instrs;
    for (std::uint32_t i = 0; i < kInstrs; ++i) {
      Instr instr{.op = Opcode::kTensorCopy, .engine = isa::Engine::kVector, .a = drawn()};
      instr.dst = random() % 3 ? buffer(2 + i % 2) : drawn();
      instrs.push_back(instr);
    }
    std::vector<std::vector<std::uint32_t>> naive(kInstrs), found(kInstrs);
    const auto meet = [](const isa::Tile& x, const isa::Tile& y) {
      const runtime::ByteRange a = runtime::ByteRange::of(x), b = runtime::ByteRange::of(y);
      return x.reg == y.reg && x.offset + a.low < y.offset + b.high && y.offset + b.low < x.offset + a.high;
    };
    for (std::uint32_t i = 0; i < kInstrs; ++i)
      for (std::uint32_t p = 0; p < i; ++p)
        if (meet(instrs[i].a, instrs[p].dst) || meet(instrs[i].dst, instrs[p].dst) || meet(instrs[i].dst, instrs[p].a))
          naive[i].push_back(p);
    runtime::VirtualBlock block = block_of(instrs);
    for (runtime::Buffer& b : block.buffers) b.bytes = kBytes;
    const auto lists = runtime::dependences(block);
    for (std::uint32_t i = 0; i < kInstrs; ++i) found[i].assign(lists[i].begin(), lists[i].end());
    EXPECT_EQ(closure(found), closure(naive)) << widest;
  }
}

// Rows of memory that are read from the last to the first are below the place of the first.
TEST(Dependences, RowsThatGoBackwardsFollowTheirWrites) {
  isa::Tile memory = buffer(1);
  memory.space = isa::Space::kHbm, memory.reg = 0, memory.pstep = 32, memory.partitions = 4;
  isa::Tile turned = memory;
  turned.offset = 3 * 32, turned.pstep = -32;
  const Instr write{.op = Opcode::kDmaCopy, .dst = memory, .a = buffer(1)};
  const Instr read{.op = Opcode::kDmaCopy, .dst = buffer(2), .a = turned};
  EXPECT_THAT(runtime::dependences(block_of({write, read}))[1], ElementsAre(0));
  EXPECT_THAT(runtime::dependences(block_of({read, write}))[1], ElementsAre(0));
}

// A loop that reads a whole tile and writes a part of it depends on its last iteration, not on all of them.
TEST(Dependences, GrowWithTheLoop) {
  std::vector<Instr> instrs;
  constexpr std::size_t kTimes = 1000;
  for (std::size_t i = 0; i < kTimes; ++i) {
    instrs.push_back({.op = Opcode::kTensorCopy, .dst = buffer(2), .a = piece(0, 64)});
    instrs.push_back({.op = Opcode::kTensorCopy, .dst = piece(8, 4), .a = buffer(2)});
  }
  EXPECT_LE(runtime::dependences(block_of(instrs)).items.size(), 5 * kTimes);
}

// A store over an earlier one depends on that alone, and so does one over what a load and a store have touched since.
TEST(Dependences, GrowWithTheStoresToOnePlace) {
  const isa::Tile chip = buffer(1);
  isa::Tile memory = chip;
  memory.space = isa::Space::kHbm, memory.reg = 0, memory.pstep = 4096;
  std::vector<Instr> instrs;
  constexpr std::size_t kTimes = 1000;
  for (std::size_t i = 0; i < kTimes; ++i) {
    instrs.push_back({.op = Opcode::kDmaCopy, .dst = memory, .a = chip});
    instrs.push_back({.op = Opcode::kDmaCopy, .dst = chip, .a = memory});
  }
  EXPECT_LE(runtime::dependences(block_of(instrs)).items.size(), 5 * kTimes);
}

// The log against a list, for walks through a tensor and for rectangles in no order.
TEST(RectLog, FindsWhatAListFinds) {
  struct Numbered : runtime::HbmRect {
    int number = 0;
  };
  std::mt19937 random{3};
  for (const bool walks : {true, false}) {
    runtime::RectLog<Numbered> log;
    std::vector<Numbered> all;
    for (int n = 0; n < 5000; ++n) {
      const std::int64_t low = walks ? n * 64 : static_cast<std::int64_t>(random() % 300'000);
      Numbered rect{{.row0 = 0, .row1 = 1, .col0 = low, .col1 = low + 100, .low = low, .high = low + 100}, n};
      std::vector<int> found, wanted;
      log.each(rect, [&](const Numbered& other) { found.push_back(other.number); });
      for (const Numbered& other : all)
        if (rect.meets(other)) wanted.push_back(other.number);
      ASSERT_EQ(found, wanted) << n;
      if (n % 7 == 0) {
        runtime::HbmRect wide = rect;
        wide.high += 2000, wide.col1 += 2000;
        log.drop_covered(wide);
        std::erase_if(all, [&](const Numbered& other) { return wide.covers(other); });
      }
      log.add(rect);
      all.push_back(rect);
    }
  }
}

}  // namespace
