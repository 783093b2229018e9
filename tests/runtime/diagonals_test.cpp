// A bias by distance, and the sums along diagonals, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::DiagonalsAttrs;

/// Heads, queries, keys: one row, more keys than queries and fewer, several transfers, more heads than partitions.
constexpr std::tuple<std::int64_t, std::int64_t, std::int64_t> kDiagonalSizes[] = {
    {1, 1, 1}, {3, 5, 2}, {2, 4, 9}, {8, 130, 129}, {4, 40, 600}, {130, 6, 5}};

TEST(Diagonals, EveryRowIsOnePlaceFurtherLeft) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kBf16})
    for (const auto& [heads, rows, cols] : kDiagonalSizes)
      expect_reference(runtime::kDiagonals, {{random_normal(heads, rows + cols - 1, 1), type}},
                       DiagonalsAttrs{.rows = rows}, {Tolerance{}});
}

/// A diagonal has min(rows, cols) numbers at the most, whose sums are in another order than the reference's.
TEST(Diagonals, GradientsAddUpAlongThem) {
  for (const auto& [heads, rows, cols] : kDiagonalSizes) {
    const double n = static_cast<double>(std::min(rows, cols));
    expect_reference(runtime::kDiagonalsGrad, {random_normal(heads * rows, cols, 2)}, DiagonalsAttrs{.rows = rows},
                     {{.ulps = 2 * std::sqrt(n) + 1, .floor = std::sqrt(n)}});
  }
}

TEST(Diagonals, RefusesFewerColumnsThanDiagonals) {
  const auto wrong = [] { run_on_device(runtime::kDiagonals, {random_normal(2, 3, 1)}, DiagonalsAttrs{.rows = 4}); };
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong, {"fewer columns than diagonals"}));
}

}  // namespace
