// Element-wise instructions against their definition, over types, shapes, access patterns and aliasing.
#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

float alu(Alu op, float x, float y) {
  switch (op) {
    case Alu::kAdd: return x + y;
    case Alu::kSub: return x - y;
    case Alu::kMul: return x * y;
    case Alu::kDiv: return x / y;
    case Alu::kMax: return std::max(x, y);
    case Alu::kMin: return std::min(x, y);
    case Alu::kPow: return static_cast<float>(std::pow(double{x}, double{y}));
    case Alu::kEq: return x == y;
    case Alu::kNe: return x != y;
    case Alu::kGt: return x > y;
    case Alu::kGe: return x >= y;
    case Alu::kLt: return x < y;
    case Alu::kLe: return x <= y;
    default: return NAN;
  }
}
float cast(Dtype dtype, float x) { return decode(dtype, encode(dtype, x)); }

class ElementWise : public ExecTest {};

TEST_F(ElementWise, TensorTensorOfEveryTypeAndOperation) {
  for (const Dtype in : {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16, Dtype::kFp8E4m3, Dtype::kInt8})
    for (const Dtype out : {Dtype::kFp32, Dtype::kBf16, Dtype::kInt16})
      for (const Alu op : {Alu::kAdd, Alu::kSub, Alu::kMul, Alu::kMax, Alu::kMin, Alu::kGe, Alu::kEq})
        for (const bool reverse : {false, true}) {
          const Tile a = on(kSbuf, 5, 600, in, 0), b = on(kSbuf, 5, 600, Dtype::kBf16, 8192);
          const Tile dst = on(kPsum, 5, 600, out);
          fill_random(a, 1, 100);
          fill_random(b, 2, 100);
          run({.op = Opcode::kTensorTensor, .alu0 = op, .reverse0 = reverse, .dst = dst, .a = a, .b = b});
          expect(dst, [&](auto p, auto i) {
            const float x = get(a, p, i), y = get(b, p, i);
            return cast(out, reverse ? alu(op, y, x) : alu(op, x, y));
          });
        }
}

TEST_F(ElementWise, OperandsMayFoldTheirAxesDifferently) {
  const Tile a = tile(kSbuf, 3, {{100, 4}, {3, 6}, {1, 2}});                 // strided
  const Tile b = tile(kSbuf, 3, {{0, 8}, {1, 6}}, Dtype::kBf16, 4096);       // repeated
  const Tile dst = tile(kSbuf, 3, {{-1, 48}}, Dtype::kFp32, 8192 + 47 * 4);  // backwards
  fill_random(a, 1);
  fill_random(b, 2);
  run({.op = Opcode::kTensorTensor, .alu0 = Alu::kSub, .dst = dst, .a = a, .b = b});
  expect(dst, [&](auto p, auto i) { return get(a, p, i) - get(b, p, i); });
}

TEST_F(ElementWise, TensorScalarTakesColumnsAndImmediates) {
  const Tile a = on(kSbuf, 128, 70, Dtype::kBf16), dst = on(kSbuf, 128, 70, Dtype::kFp32, 1024);
  const Tile b = on(kSbuf, 128, 1, Dtype::kFp32, 4096), c = on(kSbuf, 128, 1, Dtype::kBf16, 4100);
  for (const Tile& t : {a, b, c}) fill_random(t, static_cast<std::uint64_t>(t.offset));
  run({.op = Opcode::kTensorScalar, .alu0 = Alu::kSub, .alu1 = Alu::kMul, .dst = dst, .a = a, .b = b, .c = c});
  expect(dst, [&](auto p, auto i) { return (get(a, p, i) - get(b, p, 0)) * get(c, p, 0); });
  run({.op = Opcode::kTensorScalar, .alu0 = Alu::kDiv, .reverse0 = true, .imm0 = 2, .dst = dst, .a = a});
  expect(dst, [&](auto p, auto i) { return 2 / get(a, p, i); });
}

TEST_F(ElementWise, OneColumnIsComputedAsOneRow) {
  const Tile a = on(kSbuf, 128, 1), b = on(kSbuf, 128, 1, Dtype::kFp32, 64), dst = on(kSbuf, 128, 1, Dtype::kBf16, 128);
  fill_random(a, 1);
  fill_random(b, 2);
  run({.op = Opcode::kTensorScalar, .alu0 = Alu::kMul, .alu1 = Alu::kAdd, .imm1 = 3, .dst = dst, .a = a, .b = b});
  expect(dst, [&](auto p, auto) { return cast(Dtype::kBf16, get(a, p, 0) * get(b, p, 0) + 3); });
  run({.op = Opcode::kActivation, .fn = Fn::kSquare, .imm0 = 0, .dst = dst, .a = a, .b = b});
  expect(dst, [&](auto p, auto) {
    const float x = get(a, p, 0) * get(b, p, 0);
    return cast(Dtype::kBf16, x * x);
  });
}

TEST_F(ElementWise, ScalarTensorTensorMayWriteItsSecondOperand) {
  const Tile a = on(kSbuf, 9, 1000), w = on(kSbuf, 9, 1000, Dtype::kFp32, 8192);
  fill_random(a, 1);
  fill_random(w, 2);
  const std::vector<float> old = values(w);
  run({.op = Opcode::kScalarTensorTensor,
       .alu0 = Alu::kMul,
       .alu1 = Alu::kAdd,
       .imm0 = -0.5f,
       .dst = w,
       .a = a,
       .c = w});
  expect(w, [&](auto p, auto i) { return get(a, p, i) * -0.5f + old[static_cast<std::size_t>(p * 1000 + i)]; });
}

TEST_F(ElementWise, BitwiseWorksOnIntegerBits) {
  const Tile a = on(kSbuf, 2, 64, Dtype::kInt32), b = on(kSbuf, 2, 64, Dtype::kInt32, 1024);
  const Tile dst = on(kSbuf, 2, 64, Dtype::kInt32, 2048);
  fill(a, [](auto p, auto i) { return static_cast<float>((i * 37 - 900) * (p + 1)); });
  fill(b, [](auto, auto i) { return static_cast<float>(i * 11); });
  const auto integer = [&](const Tile& t, auto p, auto i) { return static_cast<int>(get(t, p, i)); };
  run({.op = Opcode::kTensorTensor, .alu0 = Alu::kXor, .dst = dst, .a = a, .b = b});
  expect(dst, [&](auto p, auto i) { return static_cast<float>(integer(a, p, i) ^ integer(b, p, i)); });
  run({.op = Opcode::kTensorScalar, .alu0 = Alu::kShr, .alu1 = Alu::kAnd, .imm0 = 2, .imm1 = 0xff, .dst = dst, .a = a});
  expect(dst,
         [&](auto p, auto i) { return static_cast<float>((static_cast<unsigned>(integer(a, p, i)) >> 2) & 0xff); });
  EXPECT_TRUE(throws({.op = Opcode::kTensorScalar, .alu0 = Alu::kAnd, .alu1 = Alu::kAdd, .dst = dst, .a = a},
                     base::Fault::kProgram, "mixes"));
}

TEST_F(ElementWise, GpSimdIntegersAreExactAndWrap) {
  const Tile a = on(kSbuf, 1, 2, Dtype::kInt32), b = on(kSbuf, 1, 2, Dtype::kInt32, 64), dst = a;
  const std::int32_t x[2] = {0x7fffffff, 123456789}, y[2] = {1, 1000003};
  std::memcpy(at(a, 0, 0), x, 8);
  std::memcpy(at(b, 0, 0), y, 8);
  run({.op = Opcode::kTensorTensor, .engine = Engine::kGpSimd, .alu0 = Alu::kAdd, .dst = dst, .a = a, .b = b});
  std::int32_t got[2];
  std::memcpy(got, at(dst, 0, 0), 8);
  EXPECT_EQ(got[0], std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(got[1], 124456792);
}

TEST_F(ElementWise, OddFunctionsAndCopiesKeepTheSignOfZero) {
  const Tile a = on(kSbuf, 2, 20), dst = on(kSbuf, 2, 20, Dtype::kFp32, 4096);
  fill(a, [](auto, auto i) { return i % 2 ? -0.0f : 0.0f; });
  const auto expect_signs = [&](bool kept) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(std::signbit(get(dst, 1, i)), kept && i % 2) << i;
  };
  for (const Fn fn : {Fn::kCopy, Fn::kTanh, Fn::kSin, Fn::kErf, Fn::kArctan, Fn::kSqrt}) {
    run({.op = Opcode::kActivation, .engine = Engine::kScalar, .fn = fn, .imm0 = 1, .imm1 = -0.0f, .dst = dst, .a = a});
    expect_signs(true);
  }
  run({.op = Opcode::kActivation, .engine = Engine::kScalar, .imm0 = 1, .imm1 = 0.0f, .dst = dst, .a = a});
  expect_signs(false);  // +0 is added
}

TEST_F(ElementWise, ActivationReduceSumsBeforeTheCast) {
  const Tile a = on(kPsum, 128, 700), dst = on(kSbuf, 128, 700, Dtype::kBf16),
             sum = on(kSbuf, 128, 1, Dtype::kFp32, 4096);
  const Tile bias = on(kSbuf, 128, 1, Dtype::kFp32, 8192);
  fill_random(a, 1);
  fill_random(bias, 2);
  run({.op = Opcode::kActivationReduce, .fn = Fn::kExp, .imm0 = 0.5f, .dst = dst, .dst2 = sum, .a = a, .c = bias});
  for (int p = 0; p < 128; ++p) {
    double want = 0;
    for (int i = 0; i < 700; ++i) want += std::exp(double{get(a, p, i)} * 0.5 + get(bias, p, 0));
    // Each term is off by 2 ulps at most, 700 / 64 additions a lane and 6 of the tree by half an ulp each.
    ASSERT_NEAR(get(sum, p, 0), want, want * 20 * 0x1p-24);
    ASSERT_NEAR(get(dst, p, 3), std::exp(get(a, p, 3) * 0.5 + get(bias, p, 0)), get(dst, p, 3) * 0x1p-8);
  }
}

TEST_F(ElementWise, TensorScalarReduceAndSelects) {
  const Tile a = on(kSbuf, 4, 100), dst = on(kSbuf, 4, 100, Dtype::kFp32, 1024),
             last = on(kSbuf, 4, 1, Dtype::kFp32, 2048);
  const Tile mask = on(kSbuf, 4, 100, Dtype::kUint8, 4096), c = on(kSbuf, 4, 100, Dtype::kBf16, 8192);
  fill_random(a, 1);
  fill_random(c, 2);
  fill(mask, [](auto p, auto i) { return static_cast<float>((p + i) % 3); });
  run({.op = Opcode::kTensorScalarReduce,
       .alu0 = Alu::kMul,
       .alu1 = Alu::kMax,
       .imm0 = -2,
       .dst = dst,
       .dst2 = last,
       .a = a});
  for (int p = 0; p < 4; ++p) {
    float want = -INFINITY;
    for (int i = 0; i < 100; ++i) want = std::max(want, get(a, p, i) * -2);
    EXPECT_EQ(get(last, p, 0), want);
  }
  run({.op = Opcode::kSelect, .dst = dst, .a = a, .b = mask, .c = c});
  expect(dst, [&](auto p, auto i) { return get(mask, p, i) != 0 ? get(a, p, i) : get(c, p, i); });
  run({.op = Opcode::kSelectReduce, .imm0 = -9, .dst = dst, .dst2 = last, .a = a, .b = mask});
  expect(dst, [&](auto p, auto i) { return get(mask, p, i) != 0 ? get(a, p, i) : -9.0f; });
  const std::vector<float> chosen = values(dst);
  EXPECT_EQ(get(last, 1, 0), *std::max_element(chosen.begin() + 100, chosen.begin() + 200));
  const std::vector<float> old = values(dst);
  run({.op = Opcode::kCopyPredicated, .dst = dst, .a = a, .b = on(kSbuf, 4, 100, Dtype::kUint8, 4096)});
  expect(dst, [&](auto p, auto i) {
    return get(mask, p, i) != 0 ? get(a, p, i) : old[static_cast<std::size_t>(p * 100 + i)];
  });
}

TEST_F(ElementWise, RefusesMismatchedShapes) {
  const Tile a = on(kSbuf, 4, 100), b = on(kSbuf, 4, 99, Dtype::kFp32, 1024);
  const auto refused = [&](const Instr& instr, const std::string& text) {
    return throws(instr, base::Fault::kProgram, text);
  };
  EXPECT_TRUE(refused({.op = Opcode::kTensorTensor, .alu0 = Alu::kAdd, .dst = a, .a = a, .b = b}, "[4, 99]"));
  EXPECT_TRUE(refused({.op = Opcode::kTensorTensor, .dst = a, .a = a, .b = a}, "ALU"));
  EXPECT_TRUE(refused({.op = Opcode::kTensorTensor, .alu0 = Alu::kAdd, .dst = a, .a = a}, "b is missing"));
  EXPECT_TRUE(refused({.op = Opcode::kTensorScalar, .alu0 = Alu::kAdd, .dst = a, .a = a, .b = a}, "per partition"));
  EXPECT_TRUE(
      refused({.op = Opcode::kTensorCopy, .dst = a, .a = on(kSbuf, 4, 100, Dtype::kFp32, kMostSbufPartitionBytes)},
              "leaves SBUF"));
  EXPECT_TRUE(refused({.op = Opcode::kTensorCopy, .dst = a, .a = on(kSbuf, 4, 100, Dtype::kFp32, 2)}, "aligned"));
  EXPECT_TRUE(refused({.op = Opcode::kDmaCopy, .dst = a, .a = on(Space::kHbm, 4, 100, Dtype::kFp32, 8 << 20)}, "HBM"));
  EXPECT_TRUE(refused({.op = Opcode::kCustomOp, .dst = a, .a = a}, "NeuronCore-v2"));
}

TEST_F(ElementWise, RangeSelectKeepsPlacesBetweenTheBounds) {
  const Tile a = on(kSbuf, 3, 700, Dtype::kBf16, 0), dst = on(kSbuf, 3, 700, Dtype::kFp32, 8192);
  const Tile low = on(kSbuf, 3, 1, Dtype::kFp32, 16384), high = on(kSbuf, 3, 1, Dtype::kFp32, 16388);
  const Tile most = on(kSbuf, 3, 1, Dtype::kFp32, 16392);
  fill_random(a, 1, 100);
  fill(low, [](auto p, auto) { return static_cast<float>(10 + 600 * p); });
  fill(high, [](auto p, auto) { return static_cast<float>(650 + 40 * p); });
  Instr select{.op = Opcode::kRangeSelect, .alu0 = Alu::kGe, .alu1 = Alu::kLt, .imm0 = 5, .imm1 = -1e30F};
  select.dst = dst, select.dst2 = most, select.a = a, select.b = low, select.c = high;
  run(select);
  const auto want = [&](auto p, auto i) {
    const float place = 5 + static_cast<float>(i);  // imm0 places further on
    return place >= get(low, p, 0) && place < get(high, p, 0) ? get(a, p, i) : -1e30F;
  };
  expect(dst, want);
  expect(most, [&](auto p, auto) {
    float largest = -1e30F;
    for (std::int64_t i = 0; i < 700; ++i) largest = std::max(largest, want(p, i));
    return largest;
  });
  EXPECT_EQ(get(most, 2, 0), -1e30F);  // no place of the last row is between its bounds
}

}  // namespace
}  // namespace isa
