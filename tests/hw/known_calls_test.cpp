// What one simulation tells of a block is true in others.
#include <gtest/gtest.h>

#include "base/error.h"
#include "hw/run/call_memo.h"
#include "hw/timed_block.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;

hw::MachineParams one_chip() { return hw::load_machine("trn1.2xlarge"); }

/// A load, matmuls, and a store.
isa::Block worker(const char* name, int matmuls) {
  std::vector<Instr> instrs{dma(sbuf(128, 2048, 0, Dtype::kBf16), hbm(128, 2048, 0, Dtype::kBf16), 0)};
  for (int k = 0; k < matmuls; ++k) {
    const Instr mm =
        matmul(psum(128, 512), sbuf(128, 128, 256 * (k % 8), Dtype::kBf16), sbuf(128, 512, 2048, Dtype::kBf16), k > 0);
    instrs.push_back(k == 0 ? after(mm, dma_sem(0), 1) : k + 1 == matmuls ? signal(mm) : mm);
  }
  instrs.push_back(signal(after(activate(sbuf(128, 512, 8192), psum(128, 512)), sem(Engine::kTensor), 1)));
  instrs.push_back(after(dma(hbm(128, 512, 1 << 22), sbuf(128, 512, 8192), 1), sem(Engine::kScalar), 1));
  return {.name = name, .instrs = std::move(instrs), .registers = 1, .labels = {"work"}};
}

isa::Program of(const std::vector<isa::Block>& blocks, const std::vector<std::uint32_t>& order, std::uint32_t ranks) {
  isa::Program out = program({}, static_cast<int>(order.size()), ranks);
  out.blocks = blocks;
  for (std::size_t c = 0; c < order.size(); ++c) out.calls[c].block = order[c];
  return out;
}

// The second block draws more power than lasts: what it takes depends on what the calls before it have left.
TEST(KnownCalls, AreThoseThatWouldBeSimulated) {
  isa::Block reduce{.name = "reduce", .instrs = {}, .registers = 1, .labels = {"sum"}};
  reduce.instrs = {all_reduce(hbm(1, 1 << 20, 1 << 26), hbm(1, 1 << 20, 1 << 27))};
  const std::vector<isa::Block> blocks{worker("short", 64), worker("long", 4000), reduce};
  const std::vector<isa::Program> programs{of(blocks, {0, 0, 0, 1, 1, 1, 1, 0}, 1), of(blocks, {1, 0, 1, 1, 0, 0}, 1),
                                           of(blocks, {0, 2, 0, 0, 1, 1, 1, 0, 0, 2, 1}, 2),
                                           of(blocks, {1, 1, 1, 1, 0, 2, 0, 1}, 2)};
  hw::BlockTimes times;
  for (const isa::Program& one : programs) {
    const hw::SimResult fresh = hw::simulate_in_child(one, one_chip());
    EXPECT_TRUE(hw::simulate_in_child(one, one_chip(), {.times = &times}) == fresh);
    EXPECT_TRUE(hw::simulate_in_child(one, one_chip(), {.times = &times}) == fresh);
    EXPECT_TRUE(times.news().empty());  // the second time every call that may be was known
  }
  EXPECT_GT(times.found(), 6u);
}

TEST(BlockTimes, UnusedAndForeignTimesAreForgotten) {
  hw::BlockTimes times;
  std::vector<isa::Block> blocks{worker("a", 8)};
  const auto first = times.get(blocks[0], one_chip());
  EXPECT_EQ(times.get(blocks[0], one_chip()), first);
  isa::Block changed = blocks[0];
  changed.instrs.own().back().wait_count = 0;
  EXPECT_NE(times.get(changed, one_chip()), first);
  EXPECT_EQ(times.get(blocks[0], one_chip()), first);
  EXPECT_EQ(times.found(), 2u);
  const std::vector<std::string> slower{"tensor.clock=1.4 GHz"};
  const hw::MachineParams other = hw::load_machine("trn1.2xlarge", slower);
  EXPECT_NE(times.get(blocks[0], other), first);
  EXPECT_NE(times.get(blocks[0], one_chip()), first);
}

}  // namespace
