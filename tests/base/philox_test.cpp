#include "base/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace base {
namespace {

constexpr PhiloxCounter kZeros{0, 0, 0, 0};
constexpr PhiloxCounter kOnes{~0u, ~0u, ~0u, ~0u};
constexpr PhiloxCounter kPi{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
constexpr PhiloxKey kPiKey{0xa4093822, 0x299f31d0};

// Known answers: Random123, tests/kat_vectors (the authors' own). At compile time too.
static_assert(philox4x32<7>(kZeros, {0, 0}) == PhiloxCounter{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
static_assert(philox4x32<10>(kZeros, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox4x32<7>(kOnes, {~0u, ~0u}), (PhiloxCounter{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(philox4x32<7>(kPi, kPiKey), (PhiloxCounter{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
  EXPECT_EQ(philox4x32<10>(kOnes, {~0u, ~0u}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32<10>(kPi, kPiKey), (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformStaysBelowOne) {
  EXPECT_EQ(uniform01(0u), 0.0f);
  EXPECT_EQ(uniform01(~0u), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform01(~0u, ~0u), 1.0 - 0x1p-53);
}

TEST(PhiloxStream, IsTheBlocksInOrder) {
  PhiloxStream stream{5, 9};
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : philox4x32<10>({block, 0, 9, 0}, {5, 0})) EXPECT_EQ(stream.next(), word);
  }
}

TEST(PhiloxStream, StreamsOfOneSeedDiffer) {
  EXPECT_NE(PhiloxStream(1, 0).next(), PhiloxStream(1, 1).next());
  EXPECT_NE(PhiloxStream(1, 0).next(), PhiloxStream(2, 0).next());
}

TEST(PhiloxStream, BelowIsInRangeAndUniform) {
  PhiloxStream stream{42};
  std::array<int, 6> counts{};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(stream.below(6));
  // Binomial: mean 10000, standard deviation sqrt(60000 * 1/6 * 5/6) = 91; five of them.
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 5 * 91);
  EXPECT_EQ(stream.below(1), 0u);
}

}  // namespace
}  // namespace base
