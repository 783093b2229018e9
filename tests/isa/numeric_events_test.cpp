// Silent losses of numbers are counted.
#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class NumericEventsTest : public ExecTest {
 protected:
  NumericEvents after(const Instr& instr) {
    memory.events() = {};
    run(instr);
    return memory.events();
  }
};

TEST_F(NumericEventsTest, CastsThatOverflow) {
  const Tile a = on(kSbuf, 3, 700);
  fill(a, [](auto p, auto i) { return static_cast<float>(p + i % 90); });
  put(a, 1, 600, 3.4e38f);  // rounds to infinity in bf16
  put(a, 2, 1, -1e6f);
  put(a, 2, 2, kInf);  // lost nothing
  put(a, 2, 3, kNan);
  const auto copy = [&](Dtype dtype) {
    const Tile dst = on(kSbuf, 3, 700, dtype, 8192);
    return after({.op = Opcode::kTensorCopy, .engine = Engine::kVector, .dst = dst, .a = a});
  };
  EXPECT_EQ(copy(Dtype::kFp32), NumericEvents{});
  EXPECT_EQ(copy(Dtype::kBf16), NumericEvents{.overflowed = 1});
  EXPECT_EQ(copy(Dtype::kFp16), NumericEvents{.overflowed = 2});
  EXPECT_EQ(copy(Dtype::kFp8E5m2), NumericEvents{.overflowed = 2});
  EXPECT_EQ(copy(Dtype::kInt32), NumericEvents{.overflowed = 1});
  EXPECT_EQ(copy(Dtype::kUint8), NumericEvents{.overflowed = 2});
}

TEST_F(NumericEventsTest, InputsOutsideOfTheDocumentedRanges) {
  const Tile a = on(kSbuf, 2, 3), dst = on(kSbuf, 2, 3, Dtype::kFp32, 4096);
  fill(a, [](auto p, auto i) { return static_cast<float>(p * 3 + i) - 2; });  // -2 to 3
  const auto events = [&](Engine engine, Fn fn, float scale) {
    return after({.op = Opcode::kActivation, .engine = engine, .fn = fn, .imm0 = scale, .dst = dst, .a = a});
  };
  EXPECT_EQ(events(Engine::kScalar, Fn::kReciprocal, 1), NumericEvents{.out_of_range = 1});  // of 0
  EXPECT_EQ(events(Engine::kScalar, Fn::kLog, 1), NumericEvents{.out_of_range = 3});         // -2, -1, 0
  EXPECT_EQ(events(Engine::kScalar, Fn::kSqrt, 1), NumericEvents{.out_of_range = 2}) << "the root of 0 is exact";
  EXPECT_EQ(events(Engine::kScalar, Fn::kSin, 1), NumericEvents{});
  EXPECT_EQ(events(Engine::kScalar, Fn::kSin, 1.5f), NumericEvents{.out_of_range = 1});  // 4.5
  EXPECT_EQ(events(Engine::kScalar, Fn::kExp, 1e30f), NumericEvents{}) << "no range is documented";
  EXPECT_EQ(after({.op = Opcode::kReciprocal, .engine = Engine::kVector, .dst = dst, .a = a}), NumericEvents{});
}

TEST_F(NumericEventsTest, SpecialsInTransposesAndSubnormalOperands) {
  const Tile a = on(kSbuf, 40, 6, Dtype::kBf16), dst = on(kPsum, 6, 40, Dtype::kBf16);
  fill(a, [](auto p, auto i) { return static_cast<float>(p + i); });
  const Instr transpose{.op = Opcode::kPeTranspose, .engine = Engine::kTensor, .dst = dst, .a = a};
  EXPECT_EQ(after(transpose), NumericEvents{});
  put(a, 3, 2, kInf);
  put(a, 4, 2, kNan);
  EXPECT_EQ(after(transpose), NumericEvents{.transposed = 2});

  fill(a, [](auto p, auto i) { return i == 5 ? 0x1p-130f : p == 0 ? 0.0f : 1.0f; });  // 40 subnormal
  const Tile b = on(kSbuf, 40, 70, Dtype::kBf16, 4096), product = on(kPsum, 6, 70);
  fill(b, [](auto p, auto i) { return p == 7 && i == 69 ? -0x1p-127f : 2.0f; });
  const Instr matmul{.op = Opcode::kMatMul, .engine = Engine::kTensor, .dst = product, .a = a, .b = b};
  EXPECT_EQ(after(matmul), NumericEvents{.flushed = 41});
}

}  // namespace
}  // namespace isa
