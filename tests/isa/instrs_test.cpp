// Copies of a block share its instructions until one changes its own.
#include <gtest/gtest.h>

#include "isa/program.h"

namespace {

TEST(Instrs, AreSharedByCopiesAndChangedAlone) {
  isa::Block block{.name = "block", .instrs = {isa::Instr{}, isa::Instr{}}, .labels = {}};
  isa::Block copy = block;
  EXPECT_EQ(copy.instrs.begin(), block.instrs.begin());
  EXPECT_EQ(copy.instrs.identity(), block.instrs.identity());
  EXPECT_TRUE(block.instrs.is_shared());
  copy.instrs.own()[1].queue = 3;
  EXPECT_NE(copy.instrs.identity(), block.instrs.identity());
  EXPECT_EQ(block.instrs[1].queue, 0);
  EXPECT_FALSE(copy.instrs == block.instrs);
  EXPECT_FALSE(block.instrs.is_shared());
  const isa::Instr* const alone = copy.instrs.begin();
  copy.instrs.own()[1].queue = 0;
  EXPECT_EQ(copy.instrs.begin(), alone);  // not shared
  EXPECT_TRUE(copy.instrs == block.instrs);
}

TEST(Instrs, AnEmptyListHasNone) {
  isa::Instrs none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_TRUE(none == isa::Instrs{});
  EXPECT_THROW(none.at(0), std::out_of_range);
  none.own().emplace_back();
  EXPECT_EQ(none.size(), 1u);
}

isa::Instrs::List mixed_instrs() {
  isa::Instrs::List all;
  for (int i = 0; i < 1000; ++i) {
    isa::Instr instr{.op = i % 3 == 0 ? isa::Opcode::kMatMul : isa::Opcode::kDmaCopy, .label = 7};
    instr.dst = {.space = isa::Space::kSbuf, .partitions = 128, .offset = i * 512};
    instr.a = {.space = isa::Space::kHbm, .reg = 3, .offset = std::int64_t{1} << 40, .pstep = i};
    if (i % 5 == 0) instr.waits[1] = {.sem = 2, .count = static_cast<std::uint32_t>(i)};
    all.push_back(instr);
  }
  return all;
}

TEST(Instrs, PackingKeepsInstructionsAndSharesEqualOnes) {
  const isa::Instrs instrs{mixed_instrs()}, copy = instrs;
  const auto identity = instrs.identity();
  instrs.pack();
  EXPECT_TRUE(copy.is_packed());
  EXPECT_EQ(copy.size(), 1000u);
  EXPECT_EQ(copy.identity(), identity);
  EXPECT_TRUE(copy == isa::Instrs{mixed_instrs()});
  EXPECT_FALSE(instrs.is_packed());
}

TEST(Instrs, PackedOnesAreChangedAlone) {
  isa::Instrs instrs{mixed_instrs()};
  const isa::Instrs copy = instrs;
  instrs.pack();
  instrs.own()[1].queue = 5;
  EXPECT_EQ(copy[1].queue, 0);
  instrs.pack();
  instrs.own()[2].queue = 6;
  instrs.pack();
  EXPECT_EQ(instrs[1].queue, 5);
  EXPECT_EQ(instrs[2].queue, 6);
}

TEST(Instrs, AReaderLeavesThemAsItFoundThem) {
  const isa::Instrs instrs{mixed_instrs()};
  { const isa::ReadOnce reading{instrs}; }
  EXPECT_FALSE(instrs.is_packed());
  instrs.pack();
  {
    const isa::ReadOnce reading{instrs};
    EXPECT_EQ(instrs[6].op, isa::Opcode::kMatMul);
  }
  EXPECT_TRUE(instrs.is_packed());
}

}  // namespace
