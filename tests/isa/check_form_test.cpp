// One test per rule: valid input passes, a breach is refused with the instruction's text and a fix.
#include <gtest/gtest.h>

#include <limits>

#include "tests/isa/check_instr.h"

namespace {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Fn;
using isa::Instr;
using isa::Opcode;
using isa::Tile;

// ---- every instruction

TEST(CheckForm, EngineMustBeAllowed) {
  EXPECT_TRUE(accepted(copy(sbuf(1, 1), sbuf(1, 1), Engine::kScalar)));
  EXPECT_TRUE(refused(copy(sbuf(1, 1), sbuf(1, 1), Engine::kTensor), "the tensor engine cannot run tensor_copy"));
  const Instr gelu =
      with(make(Opcode::kActivation, Engine::kScalar, sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.fn = Fn::kGelu; });
  EXPECT_TRUE(accepted(gelu));
  EXPECT_TRUE(refused(with(gelu, [](Instr& i) { i.engine = Engine::kVector; }), "issue it on scalar"));
}

TEST(CheckForm, FeaturesThatTrn1LacksAreRefusedWithTheReason) {
  EXPECT_TRUE(refused(make(Opcode::kRangeSelect, Engine::kVector, sbuf(1, 1), sbuf(1, 1)), "NeuronCore-v3"));
  const auto words = sbuf(128, 6, Dtype::kUint32);
  EXPECT_TRUE(refused(make(Opcode::kRandSetState, Engine::kGpSimd, {}, words), "NeuronCore-v3"));
  EXPECT_TRUE(refused(make(Opcode::kRandGetState, Engine::kGpSimd, words), "NeuronCore-v3"));
  EXPECT_TRUE(refused(make(Opcode::kCustomOp, Engine::kGpSimd, sbuf(1, 1), sbuf(1, 1)), "nothing is published"));
}

TEST(CheckForm, OpcodeMustExist) {
  EXPECT_TRUE(refused(make(static_cast<Opcode>(200), Engine::kVector), "opcode 200 does not exist"));
}

TEST(CheckForm, OperandsMustBeThere) {
  EXPECT_TRUE(refused(copy(sbuf(1, 1), {}), "tensor_copy needs the operand a"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.dst2 = sbuf(1, 1); }), "no operand dst2"));
}

TEST(CheckForm, OperandsMustBeInTheRightMemory) {
  EXPECT_TRUE(accepted(matmul(128, 128, 512)));
  EXPECT_TRUE(
      refused(with(matmul(128, 128, 512), [](Instr& i) { i.a.space = isa::Space::kPsum; }), "cannot have a in psum"));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.dst.space = isa::Space::kSbuf; }),
                      "cannot have dst in sbuf"));
  EXPECT_TRUE(refused(copy(sbuf(1, 1), hbm(1, 1)), "cannot have a in hbm"));
}

TEST(CheckForm, GpSimdCannotReachPsum) {
  EXPECT_TRUE(accepted(copy(sbuf(1, 1), psum(1, 1), Engine::kVector)));
  EXPECT_TRUE(accepted(copy(sbuf(1, 1), sbuf(1, 1), Engine::kGpSimd)));
  EXPECT_TRUE(refused(copy(sbuf(1, 1), psum(1, 1), Engine::kGpSimd), "GpSimdE cannot reach"));
  EXPECT_TRUE(accepted(make(Opcode::kDmaCopy, Engine::kGpSimd, hbm(1, 1), psum(1, 1)))) << "DMA moves it, not GpSimdE";
}

TEST(CheckForm, AluMustFitTheInstruction) {
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.alu0 = Alu::kAdd; }), "cannot be add"));
  EXPECT_TRUE(
      refused(with(add(sbuf(1, 1), sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.alu0 = Alu::kNone; }), "choose from:"));
}

TEST(CheckForm, FlagsMustMeanSomething) {
  EXPECT_TRUE(accepted(with(matmul(1, 1, 1), [](Instr& i) { i.accumulate = true; })));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.accumulate = true; }), "cannot accumulate"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.reverse0 = true; }), "cannot exchange"));
}

TEST(CheckForm, QueueMustExist) {
  Instr load = make(Opcode::kDmaCopy, Engine::kSync, sbuf(1, 1), hbm(1, 1));
  load.queue = 15;
  EXPECT_TRUE(accepted(load));
  load.queue = 16;
  EXPECT_TRUE(refused(load, "queue 16 does not exist"));
  Instr reduce = make(Opcode::kAllGather, Engine::kSync, hbm(1, 2), hbm(1, 1));
  reduce.queue = 1;
  EXPECT_TRUE(accepted(reduce));
  reduce.queue = 2;
  EXPECT_TRUE(refused(reduce, "queue 2 does not exist"));
}

TEST(CheckForm, WaitsMustMeanSomething) {
  Instr wait = make(Opcode::kWait, Engine::kSync);
  EXPECT_TRUE(refused(wait, "it does nothing"));
  wait.wait_count = 1;
  wait.waits[0] = {0, 0, 1};
  EXPECT_TRUE(accepted(wait));
  wait.waits[0] = {0, 0, 0};
  EXPECT_TRUE(refused(wait, "always holds"));
  wait.waits[0] = {isa::kSemaphores, 0, 1};
  EXPECT_TRUE(refused(wait, "semaphore 23 does not exist"));
  wait.wait_count = 5;
  EXPECT_TRUE(refused(wait, "at most 4 fit"));
}

// ---- tiles

TEST(CheckTile, StartPartition) {
  for (const int start : {0, 32, 64, 96}) EXPECT_TRUE(accepted(copy(at(sbuf(32, 1), start), sbuf(32, 1))));
  EXPECT_TRUE(refused(copy(at(sbuf(32, 1), 16), sbuf(32, 1)), "begin at 0, 32, 64 or 96"));
  for (const int start : {0, 64}) EXPECT_TRUE(accepted(copy(at(sbuf(33, 1), start), sbuf(33, 1))));
  EXPECT_TRUE(refused(copy(at(sbuf(33, 1), 32), sbuf(33, 1)), "begin at 0 or 64"));
  EXPECT_TRUE(refused(copy(at(sbuf(65, 1), 64), sbuf(65, 1)), "reaches beyond"));
  EXPECT_TRUE(refused(copy(at(sbuf(65, 1), 32), sbuf(65, 1)), "fix: begin at 0"));
  EXPECT_TRUE(accepted(make(Opcode::kDmaCopy, Engine::kSync, at(sbuf(1, 1), 17), hbm(1, 1)))) << "descriptors may";
}

TEST(CheckTile, PartitionCount) {
  EXPECT_TRUE(accepted(copy(sbuf(128, 1), sbuf(128, 1))));
  EXPECT_TRUE(refused(copy(sbuf(129, 1), sbuf(129, 1)), "129 partitions, but there are only 128"));
  EXPECT_TRUE(refused(copy(sbuf(0, 1), sbuf(0, 1)), "has no partition"));
  EXPECT_TRUE(refused(copy(at(sbuf(64, 1), 96), sbuf(64, 1)), "reaches beyond partition 128"));
  EXPECT_TRUE(refused(make(Opcode::kDmaCopy, Engine::kSync, at(hbm(1, 1), 3), sbuf(1, 1)), "in HBM and begins"));
}

TEST(CheckTile, BoundsOfSbufAndPsum) {
  EXPECT_TRUE(accepted(copy(sbuf(1, 49152), sbuf(1, 49152))));
  EXPECT_TRUE(refused(copy(sbuf(1, 49153), sbuf(1, 49153)), "a partition of sbuf has 196608"));
  EXPECT_TRUE(accepted(copy(sbuf(1, 1), psum(1, 1, Dtype::kFp32, 16380))));
  EXPECT_TRUE(refused(copy(sbuf(1, 1), psum(1, 1, Dtype::kFp32, 16384)), "a partition of psum has 16384"));
  EXPECT_TRUE(accepted(copy(sbuf(1, 4), axes(sbuf(1, 4, Dtype::kFp32, 12), {{-1, 4}}))));
  EXPECT_TRUE(refused(copy(sbuf(1, 4), axes(sbuf(1, 4, Dtype::kFp32, 8), {{-1, 4}})), "covers bytes -4 to 12"));
}

TEST(CheckTile, FreeSize) {
  EXPECT_TRUE(accepted(copy(psum(1, 4096), axes(sbuf(1, 1), {{0, 4096}}))));
  const Tile repeated = axes(psum(1, 1), {{0, 4097}});
  EXPECT_TRUE(refused(copy(sbuf(1, 4097), repeated), "at most 4096 fit"));
  const Tile wide = axes(sbuf(1, 1), {{0, 2}, {0, 40000}});
  EXPECT_TRUE(refused(copy(wide, wide), "at most 65536 fit"));
}

TEST(CheckTile, AccessPattern) {
  EXPECT_TRUE(accepted(copy(sbuf(1, 16), axes(sbuf(1, 1), {{8, 2}, {4, 2}, {2, 2}, {1, 2}}))));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.rank = 5; }), "a has 5 free axes"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.rank = 0; }), "a has 0 free axes"));
  EXPECT_TRUE(refused(copy(sbuf(1, 0), sbuf(1, 0)), "is empty"));
  EXPECT_TRUE(refused(copy(axes(sbuf(1, 1), {{0, 65536}}), sbuf(1, 65536, Dtype::kInt8)), "a size has 16 bits"));
  EXPECT_TRUE(accepted(copy(sbuf(1, 2), axes(sbuf(1, 1), {{32767, 2}}))));
  EXPECT_TRUE(refused(copy(sbuf(1, 2), axes(sbuf(1, 1), {{32768, 2}})), "a step has 16 bits with a sign"));
  const Tile long_step = axes(sbuf(1, 1), {{32768, 2}});
  EXPECT_TRUE(accepted(make(Opcode::kDmaCopy, Engine::kSync, long_step, hbm(1, 2)))) << "descriptors may";
}

TEST(CheckTile, Addressing) {
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.reg = 7; }), "virtual buffer 7"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.pstep = 4; }), "partition step"));
  EXPECT_TRUE(
      refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.offset = 2; }), "in the middle of an element"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.a.dtype = static_cast<Dtype>(99); }),
                      "data type number 99"));
}

}  // namespace
