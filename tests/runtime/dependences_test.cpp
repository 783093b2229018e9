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
      log.add(rect);
      all.push_back(rect);
    }
  }
}

}  // namespace
