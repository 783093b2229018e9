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

// ---- TensorE

TEST(CheckMatmul, OperandLimits) {
  EXPECT_TRUE(accepted(matmul(128, 128, 512)));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.b.partitions = 64; }), "b has K = 64"));
  EXPECT_TRUE(refused(matmul(128, 129, 512), "129"));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.b.free[0].size = 513; }), "at most 512 fit"));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.a.free[0].size = 160; }), "at most 128 fit"));
  EXPECT_TRUE(refused(with(matmul(128, 64, 512), [](Instr& i) { i.dst.partitions = 128; }), "must be [64, 512]"));
}

TEST(CheckMatmul, OnePsumBank) {
  EXPECT_TRUE(accepted(with(matmul(128, 128, 512), [](Instr& i) { i.dst.offset = 2048; })));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.dst.offset = 1024; }), "covers PSUM banks 0 to 1"));
  const Instr strided = with(matmul(128, 128, 256), [](Instr& i) { i.dst.free[0].step = 4; });
  EXPECT_TRUE(refused(strided, "covers PSUM banks 0 to 1"));
}

TEST(CheckMatmul, Types) {
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.dst.dtype = Dtype::kBf16; }), "dst is bf16"));
  EXPECT_TRUE(refused(matmul(128, 128, 512, Dtype::kInt8), "TensorE cannot multiply int8"));
  EXPECT_TRUE(refused(with(matmul(128, 128, 512), [](Instr& i) { i.b.dtype = Dtype::kFp32; }), "fp32 goes with fp32"));
}

TEST(CheckTranspose, TensorEngine) {
  const Tile in = sbuf(64, 128, Dtype::kBf16);
  EXPECT_TRUE(accepted(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 64, Dtype::kBf16), in)));
  EXPECT_TRUE(accepted(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 64, Dtype::kFp32), in)));
  EXPECT_TRUE(refused(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 64, Dtype::kFp16), in), "dst is fp16"));
  EXPECT_TRUE(
      refused(make(Opcode::kPeTranspose, Engine::kTensor, psum(64, 128, Dtype::kBf16), in), "must be [128, 64]"));
  EXPECT_TRUE(
      refused(make(Opcode::kPeTranspose, Engine::kTensor, psum(64, 64), sbuf(64, 129, Dtype::kBf16)), "128 x 128"));
  for (const Dtype dtype : {Dtype::kUint8, Dtype::kInt16})
    EXPECT_TRUE(accepted(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 64, dtype), sbuf(64, 128, dtype))));
  EXPECT_TRUE(refused(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 64), sbuf(64, 128, Dtype::kInt32)),
                      "cannot multiply int32"));
}

TEST(CheckTranspose, VectorEngine) {
  EXPECT_TRUE(accepted(make(Opcode::kVectorTranspose, Engine::kVector, sbuf(16, 32), sbuf(32, 16))));
  EXPECT_TRUE(refused(make(Opcode::kVectorTranspose, Engine::kVector, sbuf(64, 32), sbuf(32, 64)), "at most 32 x 32"));
  EXPECT_TRUE(
      refused(make(Opcode::kVectorTranspose, Engine::kVector, sbuf(32, 32, Dtype::kBf16), sbuf(32, 32)), "agree"));
}

// ---- element-wise

TEST(CheckTensorTensor, ShapesAndMemories) {
  EXPECT_TRUE(accepted(add(sbuf(128, 512), psum(128, 512), sbuf(128, 512))));
  EXPECT_TRUE(accepted(add(sbuf(128, 12), axes(sbuf(128, 1), {{4, 3}, {1, 4}}), sbuf(128, 12))))
      << "folded differently";
  EXPECT_TRUE(refused(add(sbuf(128, 512), sbuf(128, 512), sbuf(128, 511)), "b is [128, 511] but a is [128, 512]"));
  EXPECT_TRUE(refused(add(sbuf(64, 512), sbuf(128, 512), sbuf(128, 512)), "dst is [64, 512]"));
  EXPECT_TRUE(refused(add(sbuf(128, 512), psum(128, 512), psum(128, 512)), "both in PSUM"));
}

TEST(CheckTensorTensor, EngineOfTheOperation) {
  const auto ints = sbuf(128, 8, Dtype::kInt32), floats = sbuf(128, 8);
  EXPECT_TRUE(accepted(add(ints, ints, ints))) << "in fp32";
  const auto on_gpsimd = [](Instr& i) { i.engine = Engine::kGpSimd; };
  EXPECT_TRUE(accepted(with(add(ints, ints, ints), on_gpsimd)));
  EXPECT_TRUE(accepted(with(add(floats, floats, floats), on_gpsimd)));
  const Instr power = with(add(floats, floats, floats), [](Instr& i) { i.alu0 = Alu::kPow; });
  EXPECT_TRUE(refused(power, "pow runs on GpSimdE only"));
  EXPECT_TRUE(accepted(with(power, on_gpsimd)));
}

TEST(CheckAlu, BitwiseNeedsIntegersAndVectorE) {
  const auto ints = sbuf(128, 8, Dtype::kInt32);
  const auto shift = [](Instr& i) { i.alu0 = Alu::kShl; };
  EXPECT_TRUE(accepted(with(add(ints, ints, ints), shift)));
  EXPECT_TRUE(refused(with(add(sbuf(128, 8), ints, ints), shift), "shl works on bits, but an operand is fp32"));
  EXPECT_TRUE(refused(with(add(ints, ints, ints), [&](Instr& i) { shift(i), i.engine = Engine::kGpSimd; }),
                      "shl runs on VectorE only"));
  Instr mixed = make(Opcode::kTensorScalar, Engine::kVector, ints, ints);
  mixed.alu0 = Alu::kAnd;
  mixed.alu1 = Alu::kAdd;
  EXPECT_TRUE(refused(mixed, "bitwise and arithmetic"));
}

TEST(CheckTensorScalar, ScalarsAreColumns) {
  Instr scalar = make(Opcode::kTensorScalar, Engine::kVector, sbuf(128, 8), sbuf(128, 8), sbuf(128, 1), psum(128, 1));
  scalar.alu0 = Alu::kMul;
  scalar.alu1 = Alu::kAdd;
  EXPECT_TRUE(accepted(scalar));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.b = sbuf(128, 8); }), "b is [128, 8] but must be [128, 1]"));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.alu1 = Alu::kNone; }), "c has no ALU step"));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.alu0 = Alu::kPow; }), "pow runs on GpSimdE only"));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.engine = Engine::kGpSimd, i.c = sbuf(128, 1); }),
                      "with pow or inverse_sqrt"));
}

TEST(CheckReductions, Columns) {
  Instr reduce = make(Opcode::kTensorScalarReduce, Engine::kVector, sbuf(128, 8), sbuf(128, 8));
  reduce.alu0 = Alu::kMul;
  reduce.alu1 = Alu::kAdd;
  reduce.dst2 = sbuf(128, 1);
  EXPECT_TRUE(accepted(reduce));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.dst2 = sbuf(128, 2); }), "dst2 is [128, 2]"));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.alu1 = Alu::kEq; }), "alu1 of tensor_scalar_reduce cannot be eq"));
}

TEST(CheckReductions, InnermostAxis) {
  Instr reduce = make(Opcode::kTensorReduce, Engine::kVector, sbuf(128, 4), axes(sbuf(128, 1), {{8, 4}, {1, 8}}));
  reduce.alu0 = Alu::kMax;
  EXPECT_TRUE(accepted(reduce));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.dst = sbuf(128, 8); }), "must be [128, 4]"));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.alu0 = Alu::kLt; }), "cannot be lt"));
}

TEST(CheckThreeInputs, ShapesAndPsum) {
  Instr stt =
      make(Opcode::kScalarTensorTensor, Engine::kVector, sbuf(128, 8), psum(128, 8), sbuf(128, 1), sbuf(128, 8));
  stt.alu0 = Alu::kSub;
  stt.alu1 = Alu::kMul;
  EXPECT_TRUE(accepted(stt));
  EXPECT_TRUE(refused(with(stt, [](Instr& i) { i.c = psum(128, 8); }), "a and c are both in PSUM"));
  EXPECT_TRUE(refused(with(stt, [](Instr& i) { i.c = sbuf(128, 7); }), "c is [128, 7]"));
  Instr scan = make(Opcode::kTensorTensorScan, Engine::kVector, sbuf(128, 8), sbuf(128, 8), sbuf(128, 8), sbuf(128, 1));
  scan.alu0 = Alu::kMul;
  scan.alu1 = Alu::kAdd;
  EXPECT_TRUE(accepted(scan));
  EXPECT_TRUE(refused(with(scan, [](Instr& i) { i.c = sbuf(128, 2); }), "c is [128, 2]"));
  EXPECT_TRUE(refused(with(scan, [](Instr& i) { i.a = i.b = psum(128, 8); }), "both in PSUM"));
}

TEST(CheckSelect, Predicates) {
  const auto mask = sbuf(128, 8, Dtype::kUint8);
  const Instr predicated = make(Opcode::kCopyPredicated, Engine::kVector, sbuf(128, 8), sbuf(128, 8), mask);
  EXPECT_TRUE(accepted(predicated));
  EXPECT_TRUE(refused(with(predicated, [](Instr& i) { i.b.dtype = Dtype::kFp32; }), "b is fp32"));
  EXPECT_TRUE(refused(with(predicated, [](Instr& i) { i.dst.dtype = Dtype::kBf16; }), "dst is bf16 but a is fp32"));
  const Instr select = make(Opcode::kSelect, Engine::kVector, sbuf(128, 8), sbuf(128, 8), mask, sbuf(128, 1));
  EXPECT_TRUE(accepted(select));
  EXPECT_TRUE(accepted(with(select, [](Instr& i) { i.c = sbuf(128, 8); })));
  EXPECT_TRUE(refused(with(select, [](Instr& i) { i.c = sbuf(128, 3); }), "c is [128, 3]"));
  EXPECT_TRUE(
      refused(with(select, [](Instr& i) { i.a = psum(128, 8), i.b.space = isa::Space::kPsum; }), "both in PSUM"));
}

TEST(CheckStatistics, BnStatsAndBnAggr) {
  EXPECT_TRUE(accepted(make(Opcode::kBnStats, Engine::kVector, sbuf(128, 6), sbuf(128, 512))));
  EXPECT_TRUE(refused(make(Opcode::kBnStats, Engine::kVector, sbuf(128, 6), sbuf(128, 513)), "at most 512 fit"));
  EXPECT_TRUE(refused(make(Opcode::kBnStats, Engine::kVector, sbuf(128, 5), sbuf(128, 512)), "must be [128, 6]"));
  EXPECT_TRUE(accepted(make(Opcode::kBnAggr, Engine::kVector, sbuf(128, 2), sbuf(128, 12))));
  EXPECT_TRUE(refused(make(Opcode::kBnAggr, Engine::kVector, sbuf(128, 2), sbuf(128, 13)), "not a multiple of 3"));
}

TEST(CheckDropout, Probability) {
  Instr dropout = make(Opcode::kDropout, Engine::kVector, sbuf(128, 8), sbuf(128, 8));
  dropout.imm0 = 0.1f;
  EXPECT_TRUE(accepted(dropout));
  for (const float bad : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()}) {
    dropout.imm0 = bad;
    EXPECT_TRUE(refused(dropout, "probability"));
  }
}

TEST(CheckSearch, EightAtATime) {
  EXPECT_TRUE(accepted(make(Opcode::kMax8, Engine::kVector, sbuf(128, 8), sbuf(128, 16384))));
  EXPECT_TRUE(refused(make(Opcode::kMax8, Engine::kVector, sbuf(128, 8), sbuf(128, 7)), "8 to 16384"));
  EXPECT_TRUE(refused(make(Opcode::kMax8, Engine::kVector, sbuf(128, 8), sbuf(128, 16385)), "8 to 16384"));
  EXPECT_TRUE(refused(make(Opcode::kMax8, Engine::kVector, sbuf(128, 9), sbuf(128, 16)), "must be [128, 8]"));
  const auto index = sbuf(128, 8, Dtype::kUint32);
  EXPECT_TRUE(accepted(make(Opcode::kFindIndex8, Engine::kVector, index, sbuf(128, 64), sbuf(128, 8))));
  EXPECT_TRUE(
      refused(make(Opcode::kFindIndex8, Engine::kVector, sbuf(128, 8), sbuf(128, 64), sbuf(128, 8)), "dst is fp32"));
  EXPECT_TRUE(accepted(make(Opcode::kMatchReplace8, Engine::kVector, sbuf(128, 64), sbuf(128, 64), sbuf(128, 8))));
  EXPECT_TRUE(
      refused(make(Opcode::kMatchReplace8, Engine::kVector, sbuf(128, 64), sbuf(128, 64), sbuf(128, 9)), "[128, 8]"));
}

TEST(CheckShuffle, MaskAndType) {
  const auto mask = sbuf(1, 32, Dtype::kUint8);
  EXPECT_TRUE(accepted(make(Opcode::kStreamShuffle, Engine::kVector, sbuf(128, 8), sbuf(128, 8), mask)));
  EXPECT_TRUE(
      refused(make(Opcode::kStreamShuffle, Engine::kVector, sbuf(128, 8), sbuf(128, 8), sbuf(1, 32)), "b is fp32"));
  EXPECT_TRUE(
      refused(make(Opcode::kStreamShuffle, Engine::kVector, sbuf(128, 8), sbuf(128, 8), sbuf(2, 32, Dtype::kUint8)),
              "must be [1, 32]"));
}

TEST(CheckActivation, ScaleAndBias) {
  Instr act = make(Opcode::kActivation, Engine::kScalar, sbuf(128, 8), psum(128, 8), sbuf(128, 1), sbuf(128, 1));
  act.fn = Fn::kGelu;
  EXPECT_TRUE(accepted(act));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.b.dtype = Dtype::kBf16; }), "b is bf16"));
  EXPECT_TRUE(accepted(with(act, [](Instr& i) { i.c.dtype = Dtype::kBf16; })));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.c = sbuf(128, 8); }), "c is [128, 8]"));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.fn = Fn::kReciprocal; }), "takes no bias"));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.fn = static_cast<Fn>(99); }), "function number 99"));
  const Instr reduce = with(act, [](Instr& i) { i.op = Opcode::kActivationReduce; });
  EXPECT_TRUE(refused(reduce, "needs the operand dst2"));
  EXPECT_TRUE(accepted(with(reduce, [](Instr& i) { i.dst2 = sbuf(128, 1); })));
}

TEST(CheckGpSimd, Operands) {
  Instr select = make(Opcode::kAffineSelect, Engine::kGpSimd, sbuf(128, 8), sbuf(128, 8));
  select.alu0 = Alu::kGe;
  EXPECT_TRUE(accepted(select));
  EXPECT_TRUE(refused(with(select, [](Instr& i) { i.alu0 = Alu::kAdd; }), "cannot be add"));
  EXPECT_TRUE(refused(with(select, [](Instr& i) { i.a.dtype = Dtype::kInt32; }), "cannot take int32"));
  const auto index = sbuf(128, 4, Dtype::kUint16);
  const Instr gather = make(Opcode::kLocalGather, Engine::kGpSimd, sbuf(128, 64), sbuf(128, 512), index);
  EXPECT_TRUE(accepted(gather));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.b.dtype = Dtype::kInt32; }), "b is int32"));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.a.partitions = 120; }), "not a multiple of 16"));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.dst = sbuf(128, 8192), i.b = sbuf(128, 512, Dtype::kUint16); }),
                      "at most 4096 fit"));
  Instr fold = make(Opcode::kPartitionReduce, Engine::kGpSimd, sbuf(1, 8), sbuf(128, 8));
  fold.alu0 = Alu::kAdd;
  EXPECT_TRUE(accepted(fold));
  EXPECT_TRUE(refused(with(fold, [](Instr& i) { i.dst = sbuf(2, 8); }), "must be [1, 8]"));
  EXPECT_TRUE(refused(with(fold, [](Instr& i) { i.alu0 = Alu::kMul; }), "cannot be mul"));
  EXPECT_TRUE(accepted(make(Opcode::kSequenceBounds, Engine::kGpSimd, sbuf(1, 16), sbuf(1, 8))));
  EXPECT_TRUE(refused(make(Opcode::kSequenceBounds, Engine::kGpSimd, sbuf(1, 8), sbuf(1, 8)), "must be [1, 16]"));
  EXPECT_TRUE(accepted(make(Opcode::kIota, Engine::kGpSimd, sbuf(128, 8, Dtype::kInt32))));
}

// ---- DMA and collectives

TEST(CheckDma, Shapes) {
  EXPECT_TRUE(accepted(make(Opcode::kDmaCopy, Engine::kSync, sbuf(128, 8), hbm(128, 8))));
  EXPECT_TRUE(
      refused(make(Opcode::kDmaCopy, Engine::kSync, sbuf(128, 8), hbm(128, 9)), "a has 1152 elements, dst has 1024"));
  EXPECT_TRUE(accepted(make(Opcode::kDmaCopy, Engine::kSync, sbuf(128, 8), hbm(1, 1024)))) << "folded differently";
  const auto index = sbuf(16, 1, Dtype::kInt32);
  EXPECT_TRUE(accepted(make(Opcode::kDmaGather, Engine::kGpSimd, sbuf(16, 768), hbm(30522, 768), index)));
  EXPECT_TRUE(
      refused(make(Opcode::kDmaGather, Engine::kGpSimd, sbuf(8, 768), hbm(30522, 768), index), "must be [8, 1]"));
  EXPECT_TRUE(
      refused(make(Opcode::kDmaGather, Engine::kGpSimd, sbuf(16, 700), hbm(30522, 768), index), "a row of dst"));
  EXPECT_TRUE(
      refused(make(Opcode::kDmaGather, Engine::kGpSimd, sbuf(16, 768), hbm(30522, 768), sbuf(16, 1)), "b is fp32"));
  Instr moved = make(Opcode::kDmaGather, Engine::kSync, sbuf(16, 768), hbm(30522, 768), sbuf(1, 1, Dtype::kInt32));
  EXPECT_TRUE(refused(moved, "must be [16, 1]"));
  moved.integers = true;
  EXPECT_TRUE(accepted(moved)) << "one number that moves all rows";
  EXPECT_TRUE(accepted(make(Opcode::kDmaScatter, Engine::kGpSimd, hbm(30522, 768), sbuf(16, 768), index)));
  EXPECT_TRUE(refused(make(Opcode::kDmaScatter, Engine::kGpSimd, sbuf(16, 768), sbuf(16, 768), index), "dst in sbuf"));
  EXPECT_TRUE(accepted(make(Opcode::kDmaTranspose, Engine::kSync, sbuf(64, 128), hbm(128, 64))));
  EXPECT_TRUE(refused(make(Opcode::kDmaTranspose, Engine::kSync, sbuf(128, 64), hbm(128, 64)), "must be [64, 128]"));
}

TEST(CheckCollective, OperandsInHbmAndCounts) {
  Instr reduce = make(Opcode::kAllReduce, Engine::kSync, hbm(1, 64), hbm(1, 64));
  reduce.alu0 = Alu::kAdd;
  EXPECT_TRUE(accepted(reduce));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.a = sbuf(1, 64); }), "cannot have a in sbuf"));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.a = hbm(1, 63); }), "a has 63 elements, dst has 64"));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.a.dtype = Dtype::kBf16; }), "dst is fp32 but a is bf16"));
  EXPECT_TRUE(refused(with(reduce, [](Instr& i) { i.alu0 = Alu::kDiv; }), "cannot be div"));
  EXPECT_TRUE(refused(make(Opcode::kAllGather, Engine::kSync, hbm(1, 65), hbm(1, 32)), "multiple of a's elements"));
  EXPECT_TRUE(accepted(make(Opcode::kSend, Engine::kSync, {}, hbm(1, 4))));
  EXPECT_TRUE(refused(make(Opcode::kSend, Engine::kSync, hbm(1, 4), hbm(1, 4)), "send has no operand dst"));
  EXPECT_TRUE(accepted(make(Opcode::kBarrier, Engine::kSync)));
}

}  // namespace
