// Sums over rows too long for SBUF, and sums in place, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;

// PSUM adds one row after the other in fp32: an ulp of the largest partial sum for each tile of 128 rows.
TEST(WideColSum, SumsEachColumn) {
  for (const auto& [rows, cols] : {std::pair{1, 4097}, {320, 30522}, {129, 9000}})
    for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
      const Inputs in{{random_normal(rows, cols, 1), type}};
      expect_reference(runtime::kWideColSum, in, ResultAttrs{.dtype = Dtype::kFp32}, {{.ulps = 32, .floor = 8}},
                       type == Dtype::kFp32 ? "fp32" : "bf16");
    }
}

TEST(Accumulate, AddsInPlace) {
  for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {1, 7919}})
    for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
      const Inputs in{{random_normal(rows, cols, 1), type}, {random_normal(rows, cols, 2), type}};
      expect_reference(runtime::kAccumulate, in, {}, {{.ulps = 0.51, .floor = 0.1, .dtype = type}});
    }
}

}  // namespace
