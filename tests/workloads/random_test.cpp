#include "workloads/data/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace workloads {
namespace {

TEST(Random, ShuffleIsAPermutationFixedForAllHosts) {
  const std::vector<std::uint32_t> order = shuffled(8, 42, 0);
  std::vector<std::uint32_t> sorted = order;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order, shuffled(8, 42, 0));
  EXPECT_NE(shuffled(100, 42, 0), shuffled(100, 42, 1));
  EXPECT_NE(shuffled(100, 42, 0), shuffled(100, 43, 0));
}

TEST(Random, EveryOrderOfThreeIsEquallyLikely) {
  std::array<int, 27> counts{};
  constexpr int kDraws = 60000;
  for (std::uint64_t stream = 0; stream < kDraws; ++stream) {
    const auto order = shuffled(3, 7, stream);
    ++counts[order[0] * 9 + order[1] * 3 + order[2]];
  }
  // 10,000 of each of 6 expected; the standard deviation is 91.
  for (const int count : counts)
    if (count > 0) {
      EXPECT_NEAR(count, kDraws / 6, 6 * 91);
    }
  EXPECT_EQ(std::ranges::count(counts, 0), 27 - 6);
}

TEST(Random, NormalHasTheMomentsOfTheNormalDistribution) {
  Random random{1, 2};
  constexpr int kDraws = 400000;
  double sum = 0, squares = 0, fourth = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond_two += std::abs(x) > 2;
  }
  const double sigma = 1 / std::sqrt(double{kDraws});  // of the mean
  EXPECT_NEAR(sum / kDraws, 0, 5 * sigma);
  EXPECT_NEAR(squares / kDraws, 1, 5 * sigma * std::sqrt(2.0));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * sigma * std::sqrt(96.0));
  EXPECT_NEAR(beyond_two / double{kDraws}, 0.0455003, 5 * sigma * 0.21);
}

TEST(Random, ChanceHasItsProbability) {
  Random random{3, 4};
  int hits = 0;
  for (int i = 0; i < 100000; ++i) hits += random.chance(0.04);
  EXPECT_NEAR(hits, 4000, 5 * 62);  // standard deviation sqrt(100000 * 0.04 * 0.96) = 62
}

}  // namespace
}  // namespace workloads
