// Copies of a block share its instructions until one changes its own.
#include <gtest/gtest.h>

#include "isa/program.h"

namespace {

TEST(Instrs, AreSharedByCopiesAndChangedAlone) {
  isa::Block block{.name = "block", .instrs = {isa::Instr{}, isa::Instr{}}, .labels = {}};
  isa::Block copy = block;
  EXPECT_EQ(copy.instrs.begin(), block.instrs.begin());
  EXPECT_EQ(copy.instrs.identity(), block.instrs.identity());
  copy.instrs.own()[1].queue = 3;
  EXPECT_NE(copy.instrs.identity(), block.instrs.identity());
  EXPECT_EQ(block.instrs[1].queue, 0);
  EXPECT_FALSE(copy.instrs == block.instrs);
  const isa::Instr* const alone = copy.instrs.begin();
  copy.instrs.own()[1].queue = 0;
  EXPECT_EQ(copy.instrs.begin(), alone);  // nobody else has them
  EXPECT_TRUE(copy.instrs == block.instrs);
}

TEST(Instrs, NoneAreAnEmptyList) {
  isa::Instrs none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_TRUE(none == isa::Instrs{});
  EXPECT_THROW(none.at(0), std::out_of_range);
  none.own().emplace_back();
  EXPECT_EQ(none.size(), 1u);
}

}  // namespace
