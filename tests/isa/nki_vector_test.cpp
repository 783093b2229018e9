// VectorE and ScalarE as nki.isa documents them: reductions, scans, searches, ALU operations, accumulator registers,
// with duplicates, zeros, negative numbers, infinities and NaN among the inputs.
#include <limits>

#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

constexpr float kSpecials[] = {0.0f, -0.0f, 1, -1, 2.5f, -2.5f, 7, 7, kInf, -kInf, kNan, 1e-40f, -3e38f, 100, -100, 7};
constexpr int kN = 16;

class NkiVector : public ExecTest {
 protected:
  Tile row(std::int64_t offset, std::uint32_t n = kN, Dtype dtype = Dtype::kFp32) {
    return on(kSbuf, 1, n, dtype, offset);
  }
  Tile specials(std::int64_t offset = 0) {
    const Tile a = row(offset);
    fill(a, [](auto, auto i) { return kSpecials[i]; });
    return a;
  }
  Tile numbers(std::int64_t offset, const std::vector<float>& x, Dtype dtype = Dtype::kFp32) {
    const Tile a = row(offset, static_cast<std::uint32_t>(x.size()), dtype);
    fill(a, [&](auto, auto i) { return x[static_cast<std::size_t>(i)]; });
    return a;
  }
  /// As expect(), and NaN equals NaN.
  void expect_same(const Tile& t, const std::function<float(int)>& want) {
    for (int i = 0; i < t.cols(); ++i) {
      const float got = get(t, 0, i);
      ASSERT_TRUE(got == want(i) || (std::isnan(got) && std::isnan(want(i)))) << i << ": " << got << " for " << want(i);
    }
  }
};

TEST_F(NkiVector, ScanHasTheDataOnTheLeftOfOp0) {
  const Tile a = numbers(0, {8, -2, 0.5f, 0, kInf, 3}), b = numbers(64, {1, 1, -4, 2, 2, 2}), dst = row(128, 6);
  const auto scan = [&](Alu op0, Alu op1, bool reverse0, bool reverse1, float initial) {
    run({.op = Opcode::kTensorTensorScan,
         .alu0 = op0,
         .alu1 = op1,
         .reverse0 = reverse0,
         .reverse1 = reverse1,
         .imm0 = initial,
         .dst = dst,
         .a = a,
         .b = b});
    return values(dst);
  };
  // result = (data0 - result) + data1
  EXPECT_THAT(scan(Alu::kSub, Alu::kAdd, false, false, 3), testing::ElementsAre(6, -7, 3.5f, -1.5f, kInf, -kInf));
  // result = (result - data0) + data1
  EXPECT_THAT(scan(Alu::kSub, Alu::kAdd, true, false, 3), testing::ElementsAre(-4, -1, -5.5f, -3.5f, -kInf, -kInf));
  // result = data1 - data0 * result
  EXPECT_THAT(scan(Alu::kMul, Alu::kSub, false, true, 1), testing::ElementsAre(-7, -13, 2.5f, 2, -kInf, kInf));
}

TEST_F(NkiVector, ScanSpreadsNan) {
  const Tile a = specials(), b = row(64), dst = row(128);
  fill(b, [](auto, auto i) { return static_cast<float>(i % 3 - 1); });
  run({.op = Opcode::kTensorTensorScan, .alu0 = Alu::kMax, .alu1 = Alu::kAdd, .imm0 = -5, .dst = dst, .a = a, .b = b});
  float last = -5;
  expect_same(dst, [&](int i) {
    last = (std::isnan(kSpecials[i]) || std::isnan(last) ? kNan : std::max(kSpecials[i], last)) + get(b, 0, i);
    return last;
  });
}

TEST_F(NkiVector, ReducesSeveralAxesNegatesAndSubtracts) {
  const Tile a = tile(kSbuf, 2, {{24, 3}, {8, 3}, {1, 4}}), one = on(kSbuf, 2, 1, Dtype::kFp32, 2048);
  const Tile three = on(kSbuf, 2, 3, Dtype::kFp32, 3072), nine = on(kSbuf, 2, 9, Dtype::kFp32, 4096);
  fill(a, [](auto p, auto i) { return static_cast<float>((i * 5 + p) % 7 - 3); });
  for (const Tile& dst : {one, three, nine}) {
    const std::int64_t inner = 36 / dst.cols();
    run({.op = Opcode::kTensorReduce, .alu0 = Alu::kAdd, .negate = true, .dst = dst, .a = a});
    expect(dst, [&](auto p, auto i) {
      float sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) sum += get(a, p, i * inner + k);
      return -sum;
    });
    run({.op = Opcode::kTensorReduce, .alu0 = Alu::kSub, .dst = dst, .a = a});
    expect(dst, [&](auto p, auto i) {  // np.subtract.reduce
      float rest = get(a, p, i * inner);
      for (std::int64_t k = 1; k < inner; ++k) rest -= get(a, p, i * inner + k);
      return rest;
    });
  }
}

TEST_F(NkiVector, ReductionsOfSpecialNumbers) {
  const Tile a = specials(), dst = row(256, 1);
  const auto reduced = [&](Alu op, const Tile& x) {
    run({.op = Opcode::kTensorReduce, .alu0 = op, .dst = dst, .a = x});
    return get(dst, 0, 0);
  };
  for (const Alu op : {Alu::kAdd, Alu::kMul, Alu::kMax, Alu::kMin, Alu::kSub}) EXPECT_TRUE(std::isnan(reduced(op, a)));
  EXPECT_EQ(reduced(Alu::kLogicalAnd, a), 0);
  EXPECT_EQ(reduced(Alu::kLogicalOr, a), 1);
  const Tile finite = numbers(512, {5, 5, -2, kNan, kInf});
  EXPECT_EQ(reduced(Alu::kLogicalAnd, finite), 1) << "every number but zero is true";
  EXPECT_EQ(reduced(Alu::kLogicalXor, finite), 1) << "five true ones";
  const Tile zeros = numbers(600, {0, -0.0f, 0});
  EXPECT_EQ(reduced(Alu::kLogicalOr, zeros), 0);
  EXPECT_EQ(reduced(Alu::kLogicalXor, zeros), 0);
}

TEST_F(NkiVector, TensorScalarReduceSubtracts) {
  const Tile a = numbers(0, {10, 3, 3, -4}), dst = row(64, 4), sum = row(128, 1);
  run({.op = Opcode::kTensorScalarReduce,
       .alu0 = Alu::kMul,
       .alu1 = Alu::kSub,
       .imm0 = 2,
       .dst = dst,
       .dst2 = sum,
       .a = a});
  EXPECT_THAT(values(dst), testing::ElementsAre(20, 6, 6, -8));
  EXPECT_EQ(get(sum, 0, 0), 20 - 6 - 6 + 8);
}

TEST_F(NkiVector, TensorScalarReduceAccumulates) {
  const Tile a = numbers(0, {10, 3, -4}), dst = row(64, 3), sum = row(128, 1);
  Instr instr{.op = Opcode::kTensorScalarReduce, .alu0 = Alu::kMul, .alu1 = Alu::kAdd, .imm0 = 2, .dst = dst, .a = a};
  instr.imm1 = 100;
  const auto with = [&](Registers command, bool written, bool negate = false) {
    instr.registers = command, instr.negate = negate, instr.dst2 = written ? sum : Tile{};
    run(instr);
    return get(sum, 0, 0);
  };
  with(Registers::kResetReduce, false);
  EXPECT_EQ(with(Registers::kReduce, true), 18 + 18) << "the first sum was kept";
  EXPECT_EQ(with(Registers::kLoadReduce, true, true), -(100 + 18));
  EXPECT_EQ(with(Registers::kReduce, true), 100 + 18 + 18) << "the sign is of the result alone";
  EXPECT_EQ(with(Registers::kDefault, true), 18);
}

TEST_F(NkiVector, AluOperationsOnSpecialNumbers) {
  const Tile a = specials(), b = row(64), dst = row(128);
  fill(b, [](auto, auto i) { return i % 4 == 0 ? 0.0f : i % 4 == 1 ? kNan : -2.0f; });
  const auto truth = [](float x) { return x != 0; };
  const auto pair = [&](Alu op, const std::function<float(float, float)>& want) {
    run({.op = Opcode::kTensorTensor, .alu0 = op, .dst = dst, .a = a, .b = b});
    expect_same(dst, [&](int i) { return want(kSpecials[i], get(b, 0, i)); });
  };
  pair(Alu::kLogicalAnd, [&](float x, float y) { return truth(x) && truth(y); });
  pair(Alu::kLogicalOr, [&](float x, float y) { return truth(x) || truth(y); });
  pair(Alu::kLogicalXor, [&](float x, float y) { return truth(x) != truth(y); });
  const auto single = [&](Alu op, Engine engine, const std::function<float(float)>& want) {
    run({.op = Opcode::kTensorScalar, .engine = engine, .alu0 = op, .imm0 = 5, .dst = dst, .a = a});
    expect_same(dst, [&](int i) { return want(kSpecials[i]); });
  };
  single(Alu::kLogicalNot, Engine::kVector, [&](float x) { return !truth(x); });
  single(Alu::kAbs, Engine::kVector, [](float x) { return std::abs(x); });
  single(Alu::kRsqrt, Engine::kGpSimd, [](float x) { return static_cast<float>(1 / std::sqrt(double{x})); });
}

TEST_F(NkiVector, ShiftsAreLogicalAndBitsInvert) {
  const std::int32_t numbers32[] = {-1, -8, 8, 0x7fffffff, std::numeric_limits<std::int32_t>::min(), 0};
  const Tile a = on(kSbuf, 1, 6, Dtype::kInt32), dst = on(kSbuf, 1, 6, Dtype::kInt32, 64);
  std::memcpy(at(a, 0, 0), numbers32, sizeof(numbers32));
  const auto result = [&](Alu op, std::int32_t by) {
    Instr instr{.op = Opcode::kTensorScalar, .alu0 = op, .integers = true, .dst = dst, .a = a};
    instr.ints[0] = by;
    run(instr);
    std::vector<std::uint32_t> out(6);
    std::memcpy(out.data(), at(dst, 0, 0), 24);
    return out;
  };
  EXPECT_THAT(result(Alu::kShr, 1), testing::ElementsAre(0x7fffffffu, 0x7ffffffcu, 4, 0x3fffffffu, 0x40000000u, 0));
  EXPECT_THAT(result(Alu::kShr, 32), testing::Each(0));
  EXPECT_THAT(result(Alu::kShl, 4), testing::ElementsAre(~15u, ~127u, 128, ~15u, 0, 0));
  EXPECT_THAT(result(Alu::kNot, 0), testing::ElementsAre(0, 7, ~8u, 0x80000000u, 0x7fffffffu, ~0u));
  EXPECT_THAT(result(Alu::kAnd, 16777217), testing::ElementsAre(16777217, 0x01000000, 0, 16777217, 0, 0))
      << "an immediate that fp32 cannot hold";
  const Tile small = on(kSbuf, 1, 3, Dtype::kInt8, 128), shifted = on(kSbuf, 1, 3, Dtype::kInt8, 192);
  fill(small, [](auto, auto i) { return i == 0 ? -1.0f : i == 1 ? -128.0f : 64.0f; });
  run({.op = Opcode::kTensorScalar, .alu0 = Alu::kShr, .imm0 = 1, .dst = shifted, .a = small});
  EXPECT_THAT(values(shifted), testing::ElementsAre(127, 64, 32)) << "of eight bits";
}

TEST_F(NkiVector, ScalarCopiesIntegersThroughFp32) {
  const std::int32_t x[] = {16777217, -16777217, std::numeric_limits<std::int32_t>::max(), 5};
  const Tile a = on(kSbuf, 1, 4, Dtype::kInt32), dst = on(kSbuf, 1, 4, Dtype::kInt32, 64);
  std::memcpy(at(a, 0, 0), x, sizeof(x));
  const auto copied = [&](Engine engine, const Tile& to) {
    run({.op = Opcode::kTensorCopy, .engine = engine, .dst = to, .a = a});
    std::vector<std::int32_t> out(4);
    std::memcpy(out.data(), at(to, 0, 0), 16);
    return out;
  };
  EXPECT_THAT(copied(Engine::kVector, dst), testing::ElementsAreArray(x));
  EXPECT_THAT(copied(Engine::kScalar, dst), testing::ElementsAre(16777216, -16777216, 0x7fffffff, 5));
  const Tile other = on(kSbuf, 1, 4, Dtype::kUint32, 128);  // another type: through fp32 on every engine
  EXPECT_THAT(copied(Engine::kVector, other), testing::ElementsAre(16777216, 0, std::numeric_limits<int>::min(), 5));
}

TEST_F(NkiVector, EqualValuesFindSuccessivePlaces) {
  const Tile a = numbers(0, {3, -1, 3, 0, 9, 3, kInf, -0.0f, 9, kNan});
  const Tile wanted = numbers(64, {kInf, 9, 9, 3, 3, 3, 0, 0}), places = row(128, 8, Dtype::kUint32);
  run({.op = Opcode::kFindIndex8, .dst = places, .a = a, .b = wanted});
  EXPECT_THAT(values(places), testing::ElementsAre(6, 4, 8, 0, 2, 5, 3, 7));
  const Tile rest = row(256, 10), where = row(320, 8, Dtype::kUint16);
  run({.op = Opcode::kMatchReplace8, .imm0 = -7, .dst = rest, .dst2 = where, .a = a, .b = wanted});
  EXPECT_THAT(values(where), testing::ElementsAre(6, 8, 4, 5, 2, 0, 7, 3));  // of equal values the last one first
  const float left[] = {-7, -1, -7, -7, -7, -7, -7, -7, -7, kNan};
  expect_same(rest, [&](int i) { return left[i]; });
  const Tile same = numbers(384, {2, 2, 1, 1, 1, 1, 1, 1});  // the value that replaces is found again
  run({.op = Opcode::kMatchReplace8, .imm0 = 2, .dst = same, .dst2 = where, .a = same, .b = same});
  EXPECT_THAT(values(where), testing::ElementsAre(0, 0, 7, 6, 5, 4, 3, 2));
}

TEST_F(NkiVector, EightLargestOfDuplicatesAndNan) {
  const Tile a = specials(), top = row(64, 8);
  run({.op = Opcode::kMax8, .dst = top, .a = a});
  EXPECT_THAT(values(top), testing::ElementsAre(kInf, 100, 7, 7, 7, 2.5f, 1, 1e-40f));
}

TEST_F(NkiVector, PredicatesReverse) {
  const Tile a = specials(), mask = row(64, kN, Dtype::kUint8), dst = row(128);
  fill(mask, [](auto, auto i) { return static_cast<float>(i % 3); });
  const auto copy = [&](bool reverse, const Tile& from) {
    fill(dst, [](auto, auto) { return 50.0f; });
    run({.op = Opcode::kCopyPredicated, .reverse0 = reverse, .imm0 = -9, .dst = dst, .a = from, .b = mask});
  };
  copy(false, a);
  expect_same(dst, [](int i) { return i % 3 != 0 ? kSpecials[i] : 50; });
  copy(true, a);
  expect_same(dst, [](int i) { return i % 3 == 0 ? kSpecials[i] : 50; });
  copy(true, {});
  expect_same(dst, [](int i) { return i % 3 == 0 ? -9.0f : 50; });
  run({.op = Opcode::kSelect, .reverse0 = true, .imm0 = 4, .dst = dst, .a = a, .b = mask});
  expect_same(dst, [](int i) { return i % 3 == 0 ? kSpecials[i] : 4; });
}

TEST_F(NkiVector, SelectReduceAccumulatesMaxima) {
  const Tile a = row(0, 4), mask = row(64, 4, Dtype::kUint8), dst = row(128, 4), most = row(192, 1);
  fill(mask, [](auto, auto i) { return i == 3 ? 0.0f : 1.0f; });
  const auto select = [&](std::vector<float> x, Registers command, bool read) {
    numbers(0, x);
    Instr instr{.op = Opcode::kSelectReduce, .engine = Engine::kVector, .registers = command};
    instr.imm0 = -1e30f, instr.dst = dst, instr.a = a, instr.b = mask;
    if (read) instr.dst2 = most;
    run(instr);
    return get(most, 0, 0);
  };
  select({-5, -7, -9, 100}, Registers::kResetReduce, false);
  EXPECT_EQ(get(dst, 0, 3), -1e30f);
  EXPECT_EQ(select({-6, -20, -6, 0}, Registers::kReduce, true), -5) << "what was there counts";
  EXPECT_EQ(select({3, 3, 3, 3}, Registers::kIdle, true), -5) << "idle leaves it";
  EXPECT_EQ(select({-6, -20, -6, 0}, Registers::kDefault, true), -6) << "dst2 alone begins anew";
}

TEST_F(NkiVector, ActivationAccumulatesSums) {
  const Tile a = on(kSbuf, 3, 5), dst = on(kSbuf, 3, 5, Dtype::kFp32, 64), sum = on(kSbuf, 3, 1, Dtype::kFp32, 128);
  fill(a, [](auto p, auto i) { return static_cast<float>(p + i); });
  const auto activate = [&](Registers command, bool read) {
    Instr instr{.op = read ? Opcode::kActivationReduce : Opcode::kActivation, .engine = Engine::kScalar};
    instr.fn = Fn::kCopy, instr.registers = command, instr.imm0 = 1, instr.dst = dst, instr.a = a;
    if (read) instr.dst2 = sum;
    run(instr);
    return get(sum, 1, 0);  // the sum of row 1 is 15
  };
  activate(Registers::kResetReduce, false);
  expect(dst, [&](auto p, auto i) { return get(a, p, i); });
  activate(Registers::kReduce, false);
  activate(Registers::kIdle, false);
  EXPECT_EQ(activate(Registers::kReduce, true), 45);
  EXPECT_EQ(activate(Registers::kIdle, true), 45);
  EXPECT_EQ(activate(Registers::kDefault, true), 15);
  EXPECT_EQ(activate(Registers::kReset, true), 0);
  EXPECT_EQ(get(sum, 2, 0), 0);
}

TEST_F(NkiVector, CumulativeOperations) {
  const Tile a = numbers(0, {1, -2, 3, 3}), dst = row(64, 4);
  const auto cumulative = [&](Alu op0, Alu op1, Registers command, bool reverse = false) {
    Instr instr{.op = Opcode::kTensorScalarCumulative, .engine = Engine::kVector, .alu0 = op0, .alu1 = op1};
    instr.registers = command, instr.reverse0 = reverse, instr.imm0 = 2, instr.imm1 = 10, instr.dst = dst, instr.a = a;
    run(instr);
    return values(dst);
  };
  using testing::ElementsAre;
  EXPECT_THAT(cumulative(Alu::kMul, Alu::kAdd, Registers::kDefault), ElementsAre(2, -2, 4, 10));
  EXPECT_THAT(cumulative(Alu::kMul, Alu::kAdd, Registers::kReduce), ElementsAre(12, 8, 14, 20));
  EXPECT_THAT(cumulative(Alu::kMul, Alu::kAdd, Registers::kLoadReduce), ElementsAre(12, 8, 14, 20));
  EXPECT_THAT(cumulative(Alu::kAdd, Alu::kMul, Registers::kResetReduce), ElementsAre(3, 0, 0, 0));
  EXPECT_THAT(cumulative(Alu::kSub, Alu::kMax, Registers::kResetReduce, true), ElementsAre(1, 4, 4, 4));
  EXPECT_THAT(cumulative(Alu::kAdd, Alu::kMin, Registers::kResetReduce), ElementsAre(3, 0, 0, 0));
  EXPECT_THAT(cumulative(Alu::kAdd, Alu::kSub, Registers::kResetReduce), ElementsAre(3, -3, 8, -3));
}

TEST_F(NkiVector, ReciprocalAndStatisticsOfSpecialNumbers) {
  const Tile a = specials(), dst = row(64), stats = row(128, 6);
  run({.op = Opcode::kReciprocal, .engine = Engine::kVector, .dst = dst, .a = a});
  expect_same(dst, [](int i) { return 1 / kSpecials[i]; });
  EXPECT_TRUE(std::signbit(get(dst, 0, 1)));  // of -0
  const Tile few = numbers(256, {1, kInf, 3});
  run({.op = Opcode::kBnStats, .dst = stats, .a = few});
  EXPECT_THAT(values(stats), testing::ElementsAre(2, 2, 2, 1, kInf, testing::IsNan()));
}

}  // namespace
}  // namespace isa
