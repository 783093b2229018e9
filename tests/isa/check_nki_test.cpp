// The checker on the forms that NKI kernels use: registers, PE tiles, predicates, integers, patterns.
#include <gtest/gtest.h>

#include "tests/isa/check_instr.h"

namespace {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Fn;
using isa::Instr;
using isa::Opcode;
using isa::Registers;

isa::Target second_generation() { return hw::load_machine("trn2.3xlarge").target(); }

TEST(CheckNki, NumbersAreNoBiasOnTrn1) {
  Instr act = make(Opcode::kActivation, Engine::kScalar, sbuf(128, 8), sbuf(128, 8));
  act.imm0 = 2;
  EXPECT_TRUE(accepted(act));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.imm1 = 1; }), "the bias is the number 1, not a tile"));
  EXPECT_TRUE(accepted(with(act, [](Instr& i) { i.c = sbuf(128, 1); })));
  act.imm1 = 1;
  EXPECT_NO_THROW(isa::check(act, second_generation()));
}

TEST(CheckNki, RegistersBelongToAccumulatingInstructions) {
  Instr act = make(Opcode::kActivation, Engine::kScalar, sbuf(128, 8), sbuf(128, 8));
  for (const Registers r : {Registers::kIdle, Registers::kReset, Registers::kReduce, Registers::kResetReduce})
    EXPECT_TRUE(accepted(with(act, [&](Instr& i) { i.registers = r; })));
  EXPECT_TRUE(refused(with(act, [](Instr& i) { i.registers = Registers::kLoadReduce; }), "cannot load its registers"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)), [](Instr& i) { i.registers = Registers::kReduce; }),
                      "has no accumulator registers"));
  Instr cumulative = make(Opcode::kTensorScalarCumulative, Engine::kVector, sbuf(128, 8), sbuf(128, 8));
  cumulative.alu0 = Alu::kMul, cumulative.alu1 = Alu::kAdd;
  EXPECT_TRUE(accepted(with(cumulative, [](Instr& i) { i.registers = Registers::kLoadReduce; })));
  EXPECT_TRUE(refused(with(cumulative, [](Instr& i) { i.registers = Registers::kReset; }), "always accumulates"));
  EXPECT_TRUE(refused(with(cumulative, [](Instr& i) { i.a.dtype = Dtype::kInt32; }), "cannot take int32"));
  EXPECT_TRUE(refused(with(cumulative, [](Instr& i) { i.alu1 = Alu::kEq; }), "cannot be eq"));
  EXPECT_TRUE(refused(with(cumulative, [](Instr& i) { i.b = sbuf(128, 1, Dtype::kBf16); }), "b is bf16"));
}

TEST(CheckNki, PeTilesFitTheArray) {
  const auto tiled = [](int k, std::uint32_t m, isa::PeTile pe) {
    return with(matmul(static_cast<std::uint32_t>(k), m, 512), [&](Instr& i) { i.pe = pe; });
  };
  EXPECT_TRUE(accepted(tiled(64, 64, {64, 64, 64, 64})));
  EXPECT_TRUE(accepted(tiled(32, 128, {96, 0, 32, 128})));
  EXPECT_TRUE(accepted(tiled(20, 50, {32, 64, 32, 64})));
  EXPECT_TRUE(refused(tiled(32, 32, {0, 0, 32, 32}), "32 x 32 exist from NeuronCore-v3 on"));
  EXPECT_NO_THROW(isa::check(tiled(32, 32, {0, 0, 32, 32}), second_generation()));
  EXPECT_TRUE(refused(tiled(32, 32, {0, 0, 48, 64}), "a PE tile of 48 rows does not exist"));
  EXPECT_TRUE(refused(tiled(64, 64, {32, 0, 64, 64}), "begins at row 32"));
  EXPECT_TRUE(refused(tiled(64, 64, {128, 0, 64, 64}), "begins at row 128"));
  EXPECT_TRUE(refused(tiled(65, 64, {0, 0, 64, 64}), "the stationary a is 65 x 64"));
  EXPECT_TRUE(refused(with(copy(sbuf(1, 1), sbuf(1, 1)),
                           [](Instr& i) {
                             i.pe = {0, 0, 64, 64};
                           }),
                      "does not take a tile of the PE array"));
}

TEST(CheckNki, FlagsBelongToTheirInstructions) {
  const Instr plain = copy(sbuf(1, 1), sbuf(1, 1));
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.negate = true; }), "cannot negate"));
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.skip = true; }), "cannot skip"));
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.integers = true; }), "cannot be integers"));
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.onezero = true; }), "ones and zeros"));
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.bitwise = true; }), "computes with numbers"));
  Instr turn = make(Opcode::kPeTranspose, Engine::kTensor, psum(16, 32), sbuf(32, 16), sbuf(32, 32));
  EXPECT_TRUE(refused(turn, "no operand b"));
  EXPECT_THROW(isa::check(turn, second_generation()), base::Error);  // an operand of the transpose mode alone
  turn.bitwise = true;
  EXPECT_NO_THROW(isa::check(turn, second_generation()));
  turn.b = sbuf(32, 16);
  EXPECT_THROW(isa::check(turn, second_generation()), base::Error);
  EXPECT_TRUE(refused(with(plain, [](Instr& i) { i.steps[2] = 3; }), "has no steps"));
  const auto index = sbuf(16, 1, Dtype::kInt32);
  Instr scatter = make(Opcode::kDmaScatter, Engine::kGpSimd, hbm(100, 8), sbuf(16, 8), index);
  scatter.skip = true;
  EXPECT_TRUE(accepted(scatter));
  EXPECT_TRUE(accepted(with(scatter, [](Instr& i) { i.accumulate = true; })));  // nki.isa.dma_compute has an oob_mode
}

TEST(CheckNki, ReductionsOfSeveralAxes) {
  Instr reduce =
      make(Opcode::kTensorReduce, Engine::kVector, sbuf(128, 1), axes(sbuf(128, 1), {{24, 2}, {8, 3}, {1, 8}}));
  reduce.alu0 = Alu::kAdd, reduce.negate = true;
  for (const std::uint32_t kept : {1u, 2u, 6u})
    EXPECT_TRUE(accepted(with(reduce, [&](Instr& i) { i.dst = sbuf(128, kept); })));
  for (const std::uint32_t kept : {3u, 4u, 48u})
    EXPECT_TRUE(refused(with(reduce, [&](Instr& i) { i.dst = sbuf(128, kept); }), "must be [128, 6]"));
  const auto ints = sbuf(128, 8, Dtype::kInt32);
  EXPECT_TRUE(
      refused(with(reduce, [&](Instr& i) { i.alu0 = Alu::kXor, i.a = ints, i.dst = sbuf(128, 1, Dtype::kInt32); }),
              "bits, which have no sign"));
}

TEST(CheckNki, OperationsOfOneOperand) {
  const auto ints = sbuf(128, 8, Dtype::kInt32), floats = sbuf(128, 8);
  Instr scalar = make(Opcode::kTensorScalar, Engine::kVector, ints, ints);
  scalar.alu0 = Alu::kNot;
  EXPECT_TRUE(accepted(scalar));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.reverse0 = true; }), "not takes one operand"));
  EXPECT_TRUE(refused(with(scalar, [&](Instr& i) { i.a = floats; }), "not works on bits"));
  EXPECT_TRUE(refused(with(scalar, [](Instr& i) { i.alu1 = Alu::kLogicalNot; }), "bitwise and arithmetic"));
  scalar.dst = scalar.a = floats, scalar.alu0 = Alu::kRsqrt;
  EXPECT_TRUE(refused(scalar, "inverse_sqrt runs on GpSimdE only"));
  EXPECT_TRUE(accepted(with(scalar, [](Instr& i) { i.engine = Engine::kGpSimd; })));
  EXPECT_TRUE(refused(with(add(floats, floats, floats), [](Instr& i) { i.alu0 = Alu::kAbs; }), "cannot be absolute"));
  EXPECT_TRUE(accepted(with(add(floats, floats, floats), [](Instr& i) { i.alu0 = Alu::kLogicalXor; })));
}

TEST(CheckNki, GathersAndDynamicPlaces) {
  const auto words = sbuf(128, 16, Dtype::kUint32);
  const Instr gather = make(Opcode::kNGather, Engine::kGpSimd, sbuf(128, 16), sbuf(128, 512), words);
  EXPECT_TRUE(accepted(gather));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.b.dtype = Dtype::kInt32; }), "b is int32"));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.dst.dtype = Dtype::kBf16; }), "dst is bf16"));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.dst = sbuf(128, 17); }), "dst is [128, 17]"));
  EXPECT_TRUE(refused(with(gather, [](Instr& i) { i.engine = Engine::kVector; }), "issue it on gpsimd"));
  Instr local =
      make(Opcode::kLocalGather, Engine::kGpSimd, sbuf(128, 256), sbuf(128, 512), sbuf(128, 4, Dtype::kUint16));
  local.imm0 = 4;
  EXPECT_TRUE(accepted(local));
  EXPECT_TRUE(accepted(with(local, [](Instr& i) { i.dst = sbuf(128, 200); }))) << "not all indices are valid";
  EXPECT_TRUE(refused(with(local, [](Instr& i) { i.imm0 = 3; }), "each index takes 3 elements"));
  EXPECT_TRUE(refused(with(local, [](Instr& i) { i.dst = sbuf(128, 260); }), "must be [128, 256]"));
  const Instr dynamic =
      make(Opcode::kTensorCopyDynamicDst, Engine::kScalar, sbuf(128, 64), psum(128, 8), sbuf(1, 1, Dtype::kInt32));
  EXPECT_TRUE(accepted(dynamic));
  EXPECT_TRUE(refused(with(dynamic, [](Instr& i) { i.a = psum(128, 65); }), "copy less"));
  EXPECT_TRUE(accepted(with(dynamic, [](Instr& i) { i.imm2 = 1, i.steps = {8}; })));
  EXPECT_TRUE(refused(with(dynamic, [](Instr& i) { i.steps = {8}; }), "set imm2"));
  EXPECT_TRUE(refused(with(dynamic, [](Instr& i) { i.imm2 = 1, i.steps = {40000}; }), "a step has 16 bits"));
  EXPECT_TRUE(refused(with(dynamic,
                           [](Instr& i) {
                             i.imm2 = 1, i.dst.rank = 2, i.dst.free = {{{8, 8}, {1, 8}}};
                           }),
                      "dst has 2 free axes"));
}

TEST(CheckNki, PredicatesTypesAndSeeds) {
  const auto mask = sbuf(128, 8, Dtype::kUint8);
  Instr predicated = make(Opcode::kCopyPredicated, Engine::kVector, sbuf(128, 8), {}, mask);
  predicated.reverse0 = true;
  EXPECT_TRUE(accepted(predicated));
  EXPECT_TRUE(refused(with(predicated, [](Instr& i) { i.reverse1 = true; }), "clear reverse1"));
  EXPECT_TRUE(refused(make(Opcode::kRng, Engine::kVector, sbuf(128, 8)), "dst is fp32"));
  EXPECT_TRUE(accepted(make(Opcode::kRng, Engine::kVector, sbuf(128, 8, Dtype::kUint16))));
  EXPECT_TRUE(accepted(make(Opcode::kSetRngSeed, Engine::kVector, {}, sbuf(1, 1, Dtype::kUint32))));
  EXPECT_TRUE(refused(make(Opcode::kSetRngSeed, Engine::kVector, {}, sbuf(1, 1, Dtype::kUint8)), "a is uint8"));
  Instr dropout = make(Opcode::kDropout, Engine::kVector, sbuf(128, 8), sbuf(128, 8), sbuf(128, 1, Dtype::kBf16));
  EXPECT_TRUE(accepted(dropout));
  EXPECT_TRUE(refused(with(dropout, [](Instr& i) { i.b.dtype = Dtype::kInt8; }), "the probability b is int8"));
  EXPECT_TRUE(refused(with(dropout, [](Instr& i) { i.a.dtype = i.dst.dtype = Dtype::kInt16; }), "b is bf16"));
  const auto ids = sbuf(128, 8, Dtype::kUint32);
  Instr replace = make(Opcode::kMatchReplace8, Engine::kVector, sbuf(128, 64), sbuf(128, 64), sbuf(128, 8));
  replace.dst2 = ids;
  EXPECT_TRUE(accepted(replace));
  EXPECT_TRUE(refused(with(replace, [](Instr& i) { i.dst2.dtype = Dtype::kFp32; }), "dst2 is fp32"));
  EXPECT_TRUE(
      accepted(make(Opcode::kStreamShuffle, Engine::kVector, sbuf(32, 8), sbuf(1, 8), sbuf(1, 32, Dtype::kUint8))));
}

TEST(CheckNki, DmaTransposesOfSeveralAxes) {
  const auto three = axes(sbuf(6, 1), {{20, 3}, {1, 20}});
  EXPECT_TRUE(accepted(make(Opcode::kDmaTranspose, Engine::kSync, sbuf(20, 18), three)));
  EXPECT_TRUE(accepted(make(Opcode::kDmaTranspose, Engine::kSync, sbuf(60, 6), three)));
  EXPECT_TRUE(refused(make(Opcode::kDmaTranspose, Engine::kSync, sbuf(20, 17), three), "must be [20, 18]"));
}

}  // namespace
