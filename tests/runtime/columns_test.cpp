// Elements of rows in other places of their rows.
#include "tests/runtime/run_op.h"

namespace runtime_test {
namespace {

using runtime::ColumnsAttrs;
using runtime::JoinAttrs;
using runtime::kJoinColumns;
using runtime::kTakeColumns;

/// Copies between tiles of one type round nothing.
Tolerance exact(Dtype dtype) { return {.ulps = 0, .floor = 1, .dtype = dtype}; }

TEST(Columns, AreTakenAtStrides) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kBf16})
    for (const std::int64_t rows : {1, 127, 260}) {
      const Input x{rounded(random_normal(rows, 60, 1), type), type};
      for (const ColumnsAttrs& attrs : {ColumnsAttrs{.sizes = {30}, .strides = {2}, .first = 1},
                                        ColumnsAttrs{.sizes = {4, 7}, .strides = {15, 2}, .first = 2},
                                        ColumnsAttrs{.sizes = {3, 20}, .strides = {0, 1}, .first = 40},
                                        ColumnsAttrs{.sizes = {2, 3, 2, 5}, .strides = {30, 10, 5, 1}}})
        expect_reference(kTakeColumns, {x}, attrs, {exact(type)}, type == Dtype::kFp32 ? "fp32" : "bf16");
    }
}

TEST(Columns, OfLongRowsAreTakenInPieces) {
  const Input x{random_normal(5, 6000, 2), Dtype::kFp32};
  expect_reference(kTakeColumns, {x}, ColumnsAttrs{.sizes = {5999}, .strides = {1}, .first = 1}, {exact(Dtype::kFp32)});
}

TEST(Columns, OfSeveralOperandsAreJoinedByBlocks) {
  for (const std::int64_t rows : {2, 129}) {
    const Input a{random_normal(rows, 12, 3), Dtype::kFp32}, b{random_normal(rows, 20, 4), Dtype::kFp32},
        one{random_normal(1, 8, 5), Dtype::kFp32};
    for (const std::int64_t blocks : {1, 4})
      expect_reference(kJoinColumns, {a, one, b}, JoinAttrs{.blocks = blocks}, {exact(Dtype::kFp32)});
  }
}

TEST(Columns, BeyondTheirRowAreRefused) {
  const Input x{random_normal(3, 10, 6), Dtype::kFp32};
  EXPECT_TRUE(
      fails(base::Fault::kProgram,
            [&] { run_on_device(kTakeColumns, {x}, ColumnsAttrs{.sizes = {5}, .strides = {2}, .first = 2}, "fp32"); },
            {"reaches beyond its row"}));
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] {
                      run_on_device(kJoinColumns, {x, x}, JoinAttrs{.blocks = 3}, "fp32");
                    },
                    {"have no such blocks"}));
}

}  // namespace
}  // namespace runtime_test
