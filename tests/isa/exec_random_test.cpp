// Random bits: the documented streams, dropout, stochastic rounding, and that threads change nothing.
#include "isa/exec/random.h"

#include "tests/isa/exec_fixture.h"

namespace isa {
namespace {

class RandomExec : public ExecTest {};

TEST_F(RandomExec, RandomRowsAreTheScalarStream) {
  const kernels::Stream stream = exec::random_stream(exec::Purpose::kDropout, 5, context);
  std::vector<std::uint16_t> row(640);
  kernels::kernels().random_row(exec::draw_of(stream, 9, 256), 600, row.data());
  for (std::uint32_t i = 0; i < 600; ++i) ASSERT_EQ(row[i], exec::random16(stream, 9, 256 + i)) << i;
}

TEST_F(RandomExec, DropoutKeepsTheMaskOfAStreamForAnyIndex) {
  const Tile a = on(kSbuf, 128, 1000), first = on(kSbuf, 128, 1000, Dtype::kFp32, 4096),
             again = on(kSbuf, 128, 1000, Dtype::kFp32, 8192);
  fill(a, [](auto, auto) { return 1.0f; });
  Instr instr{.op = Opcode::kDropout, .rng = 3, .imm0 = 0.1f, .imm1 = 1 / 0.9f, .dst = first, .a = a};
  run(instr, 17);
  instr.dst = again;
  run(instr, 99);
  const std::vector<float> mask = values(first);
  EXPECT_EQ(mask, values(again));
  double kept = 0;
  for (const float x : mask) {
    ASSERT_TRUE(x == 0 || x == 1 / 0.9f);
    kept += x != 0;
  }
  EXPECT_NEAR(kept / 128000, 0.9, 4 * std::sqrt(0.09 / 128000));  // four standard deviations
  const auto differs = [&] {
    run(instr, 17);
    return values(again) != mask;
  };
  instr.rng = 4;
  EXPECT_TRUE(differs());
  instr.rng = 3;
  context.call_rng = 1;
  EXPECT_TRUE(differs());
  context.call_rng = 0, context.step = 1;
  EXPECT_TRUE(differs());
  context.step = 0, context.rank = 1;
  EXPECT_TRUE(differs());
  instr.alike = 2;  // ranks 0 and 1, which draw what a single rank does
  EXPECT_FALSE(differs());
  context.rank = 2;
  EXPECT_TRUE(differs());
  instr.alike = 0, context.rank = 0, context.seed = 1;
  EXPECT_TRUE(differs());
}

TEST_F(RandomExec, DropoutOfAllAndOfNothing) {
  const Tile a = on(kSbuf, 4, 300), dst = on(kSbuf, 4, 300, Dtype::kFp32, 4096);
  fill_random(a, 1);
  run({.op = Opcode::kDropout, .imm0 = 0, .imm1 = 1, .dst = dst, .a = a});
  expect(dst, [&](auto p, auto i) { return get(a, p, i); });
  run({.op = Opcode::kDropout, .imm0 = 1, .imm1 = 1, .dst = dst, .a = a});
  expect(dst, [](auto, auto) { return 0.0f; });
}

TEST_F(RandomExec, StochasticCastsAreUnbiasedAndKeyedByTheInstruction) {
  context.rounding = Rounding::kStochastic;
  const float value = 1 + 0.3f * 0x1p-7f;  // 0.3 of the way between two bf16 numbers
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16, Dtype::kFp8E4m3}) {
    const Tile a = on(kSbuf, 128, 512), dst = on(kSbuf, 128, 512, dtype, 4096);
    fill(a, [&](auto, auto) { return value; });
    run({.op = Opcode::kTensorCopy, .dst = dst, .a = a}, 7);
    const std::vector<float> once = values(dst);
    double sum = 0;
    for (const float x : once) sum += x;
    const float gap = dtype == Dtype::kFp8E4m3 ? 0x1p-3f : dtype == Dtype::kBf16 ? 0x1p-7f : 0x1p-10f;
    EXPECT_NEAR(sum / 65536, value, 4 * gap * 0.5 / 256);  // four standard deviations of the mean
    run({.op = Opcode::kTensorCopy, .dst = dst, .a = a}, 7);
    EXPECT_EQ(values(dst), once);
    run({.op = Opcode::kTensorCopy, .dst = dst, .a = a}, 8);
    EXPECT_NE(values(dst), once);
  }
}

TEST_F(RandomExec, ATeamChangesNoRandomBit) {
  context.rounding = Rounding::kStochastic;
  const Tile a = on(kSbuf, 128, 3000), dst = on(kSbuf, 128, 3000, Dtype::kBf16, 16384);
  fill_random(a, 1);
  const Instr instr{.op = Opcode::kActivation, .fn = Fn::kGelu, .imm0 = 1, .dst = dst, .a = a};
  run(instr);
  const std::vector<float> alone = values(dst);
  Team team{3};
  context.team = &team;
  run(instr);
  EXPECT_EQ(values(dst), alone);
}

TEST_F(RandomExec, RngFillsIntegersAndNothingElse) {
  const Tile bits = on(kSbuf, 128, 256, Dtype::kUint32), bytes = on(kSbuf, 128, 256, Dtype::kUint8, 4096);
  run({.op = Opcode::kRng, .rng = 1, .dst = bits});
  run({.op = Opcode::kRng, .rng = 1, .dst = bytes});
  double high = 0;
  for (const float x : values(bits)) high += x >= 0x1p31f;
  EXPECT_NEAR(high / 32768, 0.5, 4 * std::sqrt(0.25 / 32768));
  for (int i = 0; i < 256; ++i)  // the least significant bits of the same numbers
    ASSERT_EQ(std::to_integer<int>(*at(bytes, 7, i)), std::to_integer<int>(*at(bits, 7, i)));
  EXPECT_TRUE(throws({.op = Opcode::kRng, .dst = on(kSbuf, 4, 4)}, base::Fault::kProgram, "integers"));
}

TEST_F(RandomExec, ASeedBeginsASequenceThatRepeats) {
  const Tile seed = on(kSbuf, 1, 1, Dtype::kUint32), bits = on(kSbuf, 4, 64, Dtype::kUint32, 4096);
  const auto set = [&](float value) {
    put(seed, 0, 0, value);
    run({.op = Opcode::kSetRngSeed, .engine = Engine::kVector, .a = seed});
  };
  const auto draw = [&] {
    run({.op = Opcode::kRng, .engine = Engine::kVector, .rng = 5, .dst = bits});
    return values(bits);
  };
  const std::vector<float> unseeded = draw();
  EXPECT_EQ(draw(), unseeded) << "without a seed, `rng` names the numbers";
  set(7);
  const std::vector<float> first = draw(), second = draw();
  EXPECT_NE(first, second);
  set(8);
  EXPECT_NE(draw(), first);
  context.step = 3, context.call_rng = 9, context.rank = 1;
  set(7);
  EXPECT_EQ(draw(), first);
  EXPECT_EQ(draw(), second);
}

TEST_F(RandomExec, DropoutTakesAProbabilityPerPartition) {
  const Tile a = on(kSbuf, 4, 4000), p = on(kSbuf, 4, 1, Dtype::kBf16, 20000),
             dst = on(kSbuf, 4, 4000, Dtype::kFp32, 32768);
  fill(a, [](auto, auto) { return -3.0f; });
  const float drop[] = {0, 0.25f, 0.5f, 1};
  fill(p, [&](auto row, auto) { return drop[row]; });
  run({.op = Opcode::kDropout, .rng = 3, .imm0 = 0.9f, .imm1 = 1, .dst = dst, .a = a, .b = p});
  for (int row = 0; row < 4; ++row) {
    double kept = 0;
    for (int i = 0; i < 4000; ++i) {
      ASSERT_TRUE(get(dst, row, i) == 0 || get(dst, row, i) == -3);
      kept += get(dst, row, i) != 0;
    }
    EXPECT_NEAR(kept / 4000, 1 - drop[row], 4 * std::sqrt(drop[row] * (1 - drop[row]) / 4000));
  }
  put(p, 0, 0, 1.5f), put(p, 1, 0, -1);  // as if 1 and 0
  run({.op = Opcode::kDropout, .rng = 3, .imm0 = 0.9f, .imm1 = 1, .dst = dst, .a = a, .b = p});
  for (int i = 0; i < 4000; ++i) {
    ASSERT_EQ(get(dst, 0, i), 0);
    ASSERT_EQ(get(dst, 1, i), -3);
  }
}

}  // namespace
}  // namespace isa
