// Addresses, spills and semaphores of blocks that were made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>

#include "hw/sim_device.h"
#include "isa/check.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/schedule.h"
#include "runtime/compiler/spill.h"
#include "runtime/compiler/synchronize.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using isa::Alu;
using isa::Instr;
using isa::Tile;
using runtime::Allocation;
using runtime::Emitter;
using runtime::VirtualBlock;
using testing::HasSubstr;

constexpr std::int64_t kParts = 100;

/// Loads `count` tiles of `cols` columns, all before the first is used, then adds them up from the last to the first
/// and back again: each is needed twice, long after it was loaded.
VirtualBlock much_in_flight(const Graph& graph, ValueId x, ValueId y, std::int64_t count, std::int64_t cols) {
  Emitter e{graph, trn1_target(), "much"};
  std::vector<Tile> tiles;
  for (std::int64_t i = 0; i < count; ++i) tiles.push_back(e.loaded(Dtype::kFp32, e.hbm(x, i * kParts, kParts)));
  const Tile sum = e.sbuf(Dtype::kFp32, kParts, cols);
  e.fill(sum, 0);
  for (std::int64_t i = count; i-- > 0;) e.tensor_tensor(sum, sum, Alu::kAdd, tiles[static_cast<std::size_t>(i)]);
  for (const Tile& t : tiles) e.tensor_tensor(sum, sum, Alu::kAdd, t);
  e.store(e.hbm(y, 0, kParts), sum);
  return e.finish();
}

struct Spilled {
  Allocation allocation;
  isa::Program program;
  std::uint64_t y = 0;  // the address of the result
};

/// `place` gives the block its addresses.
Spilled spilled_sum(std::int64_t count, std::int64_t cols, const std::function<Allocation(VirtualBlock&)>& place) {
  Graph graph{runtime::numerics("fp32")};
  const ValueId x = graph.tensor("x", count * kParts, cols, Dtype::kFp32, Kind::kInput);
  const ValueId y = graph.tensor("y", kParts, cols, Dtype::kFp32, Kind::kOutput);
  VirtualBlock block = much_in_flight(graph, x, y, count, cols);
  Spilled out;
  out.allocation = place(block);
  runtime::synchronize(block.instrs, trn1_target().geometry);
  const std::uint64_t x_bytes = graph.value(x).bytes(), y_bytes = graph.value(y).bytes();
  const auto spill = static_cast<std::uint64_t>(out.allocation.spill_bytes);
  isa::Call call;
  for (const ValueId v : block.registers) call.bases.push_back(v == x ? 0 : v == y ? x_bytes : x_bytes + y_bytes);
  out.y = x_bytes;
  out.program.name = "spills";
  out.program.blocks.push_back({.name = block.name,
                                .instrs = block.instrs,
                                .registers = static_cast<std::uint32_t>(block.registers.size()),
                                .labels = block.labels,
                                .sbuf_bytes = out.allocation.sbuf_bytes,
                                .psum_bytes = out.allocation.psum_bytes});
  out.program.calls.push_back(call);
  out.program.hbm_bytes = x_bytes + y_bytes + spill;
  return out;
}

Spilled spilled_sum(std::int64_t count, std::int64_t cols, bool rotate) {
  return spilled_sum(count, cols,
                     [&](VirtualBlock& block) { return runtime::allocate(block, trn1_target().geometry, rotate); });
}

/// The same with saves and restores that a schedule may move. `room`: bytes of a partition that they leave free.
Spilled scheduled_sum(std::int64_t count, std::int64_t cols, std::int64_t room) {
  return spilled_sum(count, cols, [&](VirtualBlock& block) {
    const runtime::Spills spills =
        runtime::spill(block, trn1_target(), trn1_target().geometry.sbuf_partition_bytes - room);
    Allocation found = runtime::schedule(block, trn1_target(), {.rotate = true, .keep_room = true}).value();
    found.spills = spills.saves, found.spill_bytes = spills.bytes;
    return found;
  });
}

/// The sum that the block computes, on the device, of tile i filled with random numbers.
void expect_sum(isa::Device& device, const Spilled& s, std::int64_t count, std::int64_t cols) {
  device.load(s.program);
  const Tensor x = random_normal(count * kParts, cols, 5);
  std::memcpy(device.memory(0).hbm(), x.data.data(), x.data.size() * sizeof(float));
  device.run({});
  Tensor got(kParts, cols);
  std::memcpy(got.data.data(), device.memory(0).hbm() + s.y, got.data.size() * sizeof(float));
  Tensor want(kParts, cols);
  const auto add = [&](std::int64_t i) {
    for (std::int64_t r = 0; r < kParts; ++r)
      for (std::int64_t c = 0; c < cols; ++c) want.at(r, c) += x.at(i * kParts + r, c);
  };
  for (std::int64_t i = count; i-- > 0;) add(i);
  for (std::int64_t i = 0; i < count; ++i) add(i);
  EXPECT_TRUE(same(got, want));
}

// Eight tiles of 40 KiB in 192 KiB.
TEST(Place, SpillsTheTileThatIsNeededLast) {
  for (const bool rotate : {false, true}) {
    const Spilled s = spilled_sum(8, 10240, rotate);
    isa::check(s.program, trn1_target());
    EXPECT_GE(s.allocation.spills, 4);  // five tiles less the sum's place fit
    EXPECT_EQ(s.allocation.spill_bytes % (kParts * 40960), 0);
    EXPECT_LE(s.allocation.sbuf_bytes, trn1_target().geometry.sbuf_partition_bytes);
    EXPECT_GE(s.allocation.sbuf_bytes, 4 * 40960);
    expect_sum(*isa::make_numeric_device(), s, 8, 10240);
  }
}

TEST(Place, SpillsWithoutARace) {
  const Spilled s = spilled_sum(8, 10240, true);
  hw::SimOptions options;
  options.check_races = true;
  expect_sum(*hw::make_sim_device(hw::load_machine("trn1.2xlarge"), options), s, 8, 10240);
}

// A tile that is loaded once is saved once, however often it is restored; restores come before earlier instructions.
TEST(Place, RestoresEarlyWhereRoomIsLeft) {
  const Spilled s = scheduled_sum(8, 10240, 41000);
  isa::check(s.program, trn1_target());
  EXPECT_GE(s.allocation.spills, 4);
  EXPECT_LE(s.allocation.spills, 8);
  EXPECT_EQ(s.allocation.spill_bytes, s.allocation.spills * kParts * 40960);
  EXPECT_GT(s.allocation.moved, 0u);
  expect_sum(*isa::make_numeric_device(), s, 8, 10240);
  hw::SimOptions options;
  options.check_races = true;
  expect_sum(*hw::make_sim_device(hw::load_machine("trn1.2xlarge"), options), s, 8, 10240);
}

// Eight tiles of 40 KiB, of each of which 1 KiB is written again: a tile leaves as a whole once, then its 1 KiB.
TEST(Place, SavesAndRestoresTheBytesThatAreNamed) {
  Graph graph{runtime::numerics("fp32")};
  Emitter e{graph, trn1_target(), "parts"};
  std::vector<Tile> tiles;
  for (int i = 0; i < 8; ++i) e.fill(tiles.emplace_back(e.sbuf(Dtype::kFp32, kParts, 10240)), 1);
  for (int round = 0; round < 3; ++round)
    for (const Tile& t : tiles) {
      const Tile part = runtime::columns(t, 512, 256);
      e.tensor_tensor(part, part, Alu::kAdd, part);
    }
  VirtualBlock block = e.finish();
  const runtime::Spills spills =
      runtime::spill(block, trn1_target(), trn1_target().geometry.sbuf_partition_bytes - 40960);
  std::set<std::int64_t> whole;  // places of tiles that left
  for (const Instr& i : block.instrs) {
    if (!isa::is_dma(i.op)) continue;
    const bool first = i.dst.space == isa::Space::kHbm && whole.insert(i.dst.offset).second && i.dst.cols() == 40960;
    EXPECT_EQ(i.dst.cols(), first ? 40960 : 1024);
  }
  EXPECT_GT(spills.saves, 8);
  EXPECT_EQ(spills.bytes % (kParts * 40960), 0);
}

TEST(Place, SavesNothingThatFits) {
  const Spilled s = scheduled_sum(3, 10240, 0);
  EXPECT_EQ(s.allocation.spills, 0);
  EXPECT_EQ(s.allocation.spill_bytes, 0);
  expect_sum(*isa::make_numeric_device(), s, 3, 10240);
}

TEST(Place, SpillsNothingThatFits) {
  const Spilled s = spilled_sum(3, 10240, true);
  EXPECT_EQ(s.allocation.spills, 0);
  EXPECT_EQ(s.allocation.spill_bytes, 0);
  EXPECT_EQ(s.allocation.sbuf_bytes, 4 * 40960);
  expect_sum(*isa::make_numeric_device(), s, 3, 10240);
}

TEST(Place, NamesTheTileThatDoesNotFit) {
  Graph graph{runtime::numerics("fp32")};
  EXPECT_TRUE(fails(base::Fault::kCapacity,
                    [&] {
                      Emitter e{graph, trn1_target(), "large"};
                      e.label("the.node");
                      const Tile a = e.sbuf(Dtype::kFp32, 128, 30000), b = e.sbuf(Dtype::kFp32, 128, 30000);
                      e.tensor_tensor(b, a, Alu::kAdd, a);
                      VirtualBlock block = e.finish();
                      runtime::allocate(block, trn1_target().geometry, true);
                    },
                    {"block large, the.node", "120000 more bytes per partition do not fit in SBUF", "smaller tiles"}));
  EXPECT_TRUE(fails(base::Fault::kCapacity,
                    [&] {
                      Emitter e{graph, trn1_target(), "banks"};
                      std::vector<Tile> banks;
                      for (int i = 0; i < 9; ++i) e.fill(banks.emplace_back(e.psum(128, 512)), 0);
                      for (const Tile& t : banks) e.copy(e.sbuf(Dtype::kFp32, 128, 512), t);
                      VirtualBlock block = e.finish();
                      runtime::allocate(block, trn1_target().geometry, true);
                    },
                    {"block banks", "2048 more bytes per partition do not fit in PSUM"}));
}

// Freed places are used again as late as possible when buffers rotate, at once when they do not.
TEST(Place, RotatesForDoubleBuffering) {
  for (const bool rotate : {false, true}) {
    Graph graph{runtime::numerics("fp32")};
    Emitter e{graph, trn1_target(), "tiles"};
    for (int i = 0; i < 3; ++i) e.fill(e.sbuf(Dtype::kFp32, 128, 1024), 0);
    VirtualBlock block = e.finish();
    runtime::allocate(block, trn1_target().geometry, rotate);
    std::set<std::int64_t> places;
    for (const Instr& i : block.instrs) places.insert(i.dst.offset);
    EXPECT_EQ(places.size(), rotate ? 3u : 1u);
  }
}

// ---- semaphores

/// A program with two row tiles and work on all engines but GpSimdE.
isa::Program product() {
  Graph g{runtime::numerics("fp32")};
  const ValueId x = g.tensor("x", 130, 192, Dtype::kFp32, Kind::kInput),
                w = g.tensor("w", 192, 600, Dtype::kFp32, Kind::kInput);
  const ValueId b = g.tensor("b", 1, 600, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "product"});
  const ValueId y = g.add1(runtime::kAdd, "bias", {g.add1(runtime::kMatmul, "product", {x, w}), b});
  g.output(g.add1(runtime::kActivate, "gelu", {y}, ActivationAttrs{.fn = isa::Fn::kGelu}), "y");
  return runtime::compile(std::move(g), trn1_target(), {.name = "product"}).program;
}

/// The content of HBM after a run in full mode, or the checker's error.
std::string outcome(const isa::Program& program) {
  hw::SimOptions options;
  options.check_races = true;
  const auto device = hw::make_sim_device(hw::load_machine("trn1.2xlarge"), options);
  device->load(program);
  auto* values = reinterpret_cast<float*>(device->memory(0).hbm());
  for (std::uint64_t i = 0; i < program.hbm_bytes / 4; ++i) values[i] = static_cast<float>(i % 1013) / 1013;
  try {
    device->run({});
  } catch (const base::Error& error) {
    return error.what();
  }
  return {reinterpret_cast<const char*>(device->memory(0).hbm()), program.hbm_bytes};
}

// Every wait is there for a reason or for safety: without it, a race is found or the numbers are still right.
TEST(Synchronize, WithoutAWaitThereIsARaceOrTheSameResult) {
  const isa::Program program = product();
  const std::string intact = outcome(program);
  ASSERT_EQ(intact.size(), program.hbm_bytes) << intact;
  int races = 0, waits = 0;
  for (std::size_t i = 0; i < program.blocks[0].instrs.size(); ++i)
    for (std::uint8_t w = 0; w < program.blocks[0].instrs[i].wait_count; ++w) {
      isa::Program without = program;
      Instr& instr = without.blocks[0].instrs.own()[i];
      instr.waits[w] = instr.waits[--instr.wait_count];
      const std::string result = outcome(without);
      ++waits;
      if (result.starts_with("program error: race"))
        ++races;
      else
        EXPECT_TRUE(result == intact) << "instruction " << i << ", wait " << int(w) << ": " << result.substr(0, 300);
    }
  EXPECT_GT(waits, 20);
  EXPECT_GE(races, waits / 3);
}

TEST(Synchronize, WaitsForReadersBeforeTheyAreOverwritten) {
  Graph graph{runtime::numerics("fp32")};
  Emitter e{graph, trn1_target(), "reuse"};
  const Tile a = e.sbuf(Dtype::kFp32, 128, 64), b = e.sbuf(Dtype::kFp32, 128, 64);
  e.fill(a, 1);                         // GpSimdE
  e.tensor_tensor(b, a, Alu::kAdd, a);  // VectorE: waits for it
  e.fill(a, 2);                         // GpSimdE again: waits for the reader
  VirtualBlock block = e.finish();
  runtime::allocate(block, trn1_target().geometry, false);
  EXPECT_EQ(runtime::synchronize(block.instrs, trn1_target().geometry), 2u);
  EXPECT_EQ(block.instrs[0].wait_count, 0);
  ASSERT_EQ(block.instrs[1].wait_count, 1);
  EXPECT_EQ(block.instrs[1].waits[0].sem, static_cast<int>(isa::Engine::kGpSimd));
  ASSERT_EQ(block.instrs[2].wait_count, 1);
  EXPECT_EQ(block.instrs[2].waits[0].sem, static_cast<int>(isa::Engine::kVector));
  EXPECT_TRUE(block.instrs[0].signal && block.instrs[1].signal);
}

// A third engine that follows the second knows of the first: its wait is left out.
TEST(Synchronize, LeavesOutImpliedWaits) {
  Graph graph{runtime::numerics("fp32")};
  Emitter e{graph, trn1_target(), "chain"};
  const Tile a = e.sbuf(Dtype::kFp32, 128, 64), b = e.sbuf(Dtype::kFp32, 128, 64), c = e.sbuf(Dtype::kFp32, 128, 64);
  e.fill(a, 1);                                   // GpSimdE
  e.tensor_tensor(b, a, Alu::kAdd, a);            // VectorE waits for GpSimdE
  e.activation(c, isa::Fn::kExp, b, 1.0F, 0.0F);  // ScalarE waits for VectorE
  e.activation(c, isa::Fn::kExp, a, 1.0F, 0.0F);  // GpSimdE's work is known
  VirtualBlock block = e.finish();
  runtime::allocate(block, trn1_target().geometry, false);
  EXPECT_EQ(runtime::synchronize(block.instrs, trn1_target().geometry), 2u);
  EXPECT_EQ(block.instrs[3].wait_count, 0);
}

// Each engine waits for all others, and for the rings, as they were in front of the first wait.
TEST(Synchronize, WaitsInARowAreABarrier) {
  Graph graph{runtime::numerics("fp32")};
  Emitter e{graph, trn1_target(), "barrier"};
  const Tile a = e.sbuf(Dtype::kFp32, 128, 64), b = e.sbuf(Dtype::kFp32, 128, 64);
  e.fill(a, 1);                         // GpSimdE
  e.tensor_tensor(b, b, Alu::kAdd, b);  // VectorE
  for (const isa::Engine engine : {isa::Engine::kScalar, isa::Engine::kVector, isa::Engine::kGpSimd})
    e.emit({.op = isa::Opcode::kWait, .engine = engine, .imm0 = 1});
  e.tensor_tensor(b, b, Alu::kAdd, a);  // VectorE knows of GpSimdE, but not that its own result is there
  VirtualBlock block = e.finish();
  runtime::allocate(block, trn1_target().geometry, false);
  EXPECT_EQ(runtime::synchronize(block.instrs, trn1_target().geometry), 5u);
  const auto waited = [&](std::size_t i) {
    std::vector<int> sems;
    for (int w = 0; w < block.instrs[i].wait_count; ++w)
      sems.push_back(block.instrs[i].waits[static_cast<std::size_t>(w)].sem);
    std::ranges::sort(sems);
    return sems;
  };
  const int vector = static_cast<int>(isa::Engine::kVector), pool = static_cast<int>(isa::Engine::kGpSimd);
  EXPECT_EQ(waited(2), (std::vector{vector, pool}));  // ScalarE
  EXPECT_EQ(waited(3), std::vector{pool});
  EXPECT_EQ(waited(4), std::vector{vector});
  EXPECT_EQ(waited(5), std::vector{vector});
}

}  // namespace
