// One way from virtual instructions to a block, for the compiler, for NKI and for kernels written by hand.
#include "runtime/compiler/lower.h"

#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using isa::Alu;
using isa::Opcode;
using runtime::Emitter;
using runtime::VirtualBlock;

/// y = x + x, tile by tile, by one load, one addition and one store each.
VirtualBlock doubled(const Graph& graph, ValueId x, ValueId y, std::int64_t tiles) {
  Emitter e{graph, trn1_target(), "doubled"};
  for (std::int64_t t = 0; t < tiles; ++t) {
    const auto in = e.loaded(Dtype::kFp32, e.hbm(x, t * 128, 128)), out = e.sbuf(Dtype::kFp32, 128, 512);
    e.tensor_tensor(out, in, Alu::kAdd, in);
    e.store(e.hbm(y, t * 128, 128), out);
  }
  return e.finish();
}

struct Doubling {
  explicit Doubling(std::int64_t tiles) {
    x = graph.tensor("x", tiles * 128, 512, Dtype::kFp32, Kind::kInput);
    y = graph.tensor("y", tiles * 128, 512, Dtype::kFp32, Kind::kOutput);
  }
  Graph graph{runtime::numerics("fp32")};
  ValueId x, y;
};

std::vector<Opcode> opcodes(const isa::Block& block) {
  std::vector<Opcode> out;
  for (const isa::Instr& i : block.instrs) out.push_back(i.op);
  return out;
}

TEST(Lower, FillsABlockWithAddressesAndWaits) {
  Doubling t{8};
  const runtime::Lowered made = lower(doubled(t.graph, t.x, t.y, 8), trn1_target(), {});
  EXPECT_EQ(made.block.name, "doubled");
  EXPECT_EQ(made.block.instrs.size(), 24u);
  EXPECT_EQ(made.registers, (std::vector<ValueId>{t.x, t.y}));
  EXPECT_EQ(made.block.registers, 2u);
  EXPECT_EQ(made.allocation.spill_bytes, 0);
  EXPECT_GE(made.waits, 16u);  // each addition for its load, each store for its addition
  EXPECT_GT(made.block.sbuf_bytes, 0);
  EXPECT_EQ(made.block.matmul_flops, 0);
}

TEST(Lower, KeepsTheOrderAsWrittenOnRequest) {
  Doubling t{8};
  const VirtualBlock written = doubled(t.graph, t.x, t.y, 8);
  isa::Block as_written;
  as_written.instrs = written.instrs;
  EXPECT_EQ(opcodes(lower(written, trn1_target(), {.reorder = false}).block), opcodes(as_written));
  EXPECT_NE(opcodes(lower(written, trn1_target(), {}).block), opcodes(as_written));
}

TEST(Lower, ReservedSbufIsNotTheBlocks) {
  Doubling t{8};
  const VirtualBlock written = doubled(t.graph, t.x, t.y, 8);
  const std::int64_t all = trn1_target().geometry.sbuf_partition_bytes;
  const runtime::Lowered narrow =
      lower(written, trn1_target(), {.reorder = false, .reserved_sbuf = all - 2 * 512 * 4});  // two tiles
  EXPECT_EQ(narrow.block.sbuf_bytes, 2 * 512 * 4);
  EXPECT_EQ(narrow.allocation.spills, 0);
}

TEST(Lower, MovementByTensorEIsNotCountedAsFlops) {
  Doubling t{1};
  Emitter e{t.graph, trn1_target(), "spread"};
  e.store(e.hbm(t.y, 0, 128), e.broadcast(t.x, 128, 0, 512));
  const runtime::Lowered made = lower(e.finish(), trn1_target(), {});
  EXPECT_EQ(std::ranges::count(opcodes(made.block), Opcode::kMatMul), 1);
  EXPECT_EQ(made.block.matmul_flops, 0);
}

}  // namespace
