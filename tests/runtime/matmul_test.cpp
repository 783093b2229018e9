// Matrix products and sums over rows, against their references.
#include <gtest/gtest.h>

#include "runtime/compiler/row_tiler.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using runtime::kMatmul;
using runtime::kMatmulTn;

/// A sum of `n` products of standard normal numbers, about sqrt(n) large, whose partial sums are rounded one by one:
/// each step errs by 0.29 ulp (standard deviation), all of them by 0.29 sqrt(n); five of these for the worst element,
/// and twice that, since partial sums may be larger than their standard deviation.
Tolerance sum_of(std::int64_t n, Dtype dtype) {
  const double root = std::sqrt(static_cast<double>(n));
  if (dtype == Dtype::kFp32) return {.ulps = 3 * root + 1, .floor = root};
  return {.ulps = 0.52, .floor = root / 32, .dtype = dtype};  // the rounding of the result
}

Tensor transposed(const Tensor& t) {
  return runtime::generate(t.cols, t.rows, [&](auto r, auto c) { return t.at(c, r); });
}

struct MatmulCase {
  std::int64_t rows, k, n;
  Dtype dtype;

  friend void PrintTo(const MatmulCase& c, std::ostream* out) {
    *out << c.rows << "x" << c.k << "x" << c.n << " " << int(c.dtype);
  }
};

class Products : public testing::TestWithParam<MatmulCase> {
 protected:
  Dtype dtype() const { return GetParam().dtype; }
  std::string_view numerics() const { return dtype() == Dtype::kFp32 ? "fp32" : "bf16"; }
};

TEST_P(Products, Matmul) {
  const auto [rows, k, n, type] = GetParam();
  const Tensor x = random_normal(rows, k, 1), w = random_normal(k, n, 2);
  expect_reference(kMatmul, in_type(type, {x, w}), {}, {sum_of(k, type)}, numerics());
  expect_reference(kMatmul, in_type(type, {x, w}), MatmulAttrs{.alpha = 0.25, .dtype = Dtype::kFp32},
                   {sum_of(k, Dtype::kFp32)}, numerics());
  expect_reference(kMatmul, in_type(type, {x, transposed(w)}), MatmulAttrs{.trans_b = true}, {sum_of(k, type)},
                   numerics());
}

TEST_P(Products, MatmulTn) {
  const auto [rows, m, n, type] = GetParam();
  const Inputs in = in_type(type, {random_normal(rows, m, 1), random_normal(rows, n, 2)});
  expect_reference(kMatmulTn, in, {}, {sum_of(rows, type)}, numerics());
  for (const Inputs& sums_of_b_or_a : {in, Inputs{in[0], in[1], in[0]}})
    expect_reference(kMatmulTn, sums_of_b_or_a, MatmulTnAttrs{.row_sums = true},
                     {sum_of(rows, type), sum_of(rows, type)}, numerics());
}

TEST_P(Products, ColSum) {
  const auto [rows, k, n, type] = GetParam();
  expect_reference(runtime::kColSum, in_type(type, {random_normal(rows, n, 1)}), {}, {sum_of(rows, type)}, numerics());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Products,
                         testing::Values(MatmulCase{5, 6, 6, Dtype::kFp32}, MatmulCase{130, 192, 600, Dtype::kFp32},
                                         MatmulCase{257, 320, 192, Dtype::kBf16}, MatmulCase{1, 600, 6, Dtype::kFp32},
                                         MatmulCase{130, 6, 1100, Dtype::kBf16},
                                         MatmulCase{257, 130, 514, Dtype::kFp32}));

// Weights that do not stay in SBUF come in pieces, which several row tiles use.
TEST(Matmul, StreamsLargeWeights) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
    const std::int64_t k = 700, n = type == Dtype::kFp32 ? 4200 : 8300;
    ASSERT_GT(6 * n * isa::size_of(type), trn1_target().geometry.sbuf_partition_bytes / 2);
    const Tensor x = random_normal(140, k, 1), w = random_normal(n, k, 2);
    const MatmulAttrs t{.trans_b = true};
    const Inputs in = in_type(type, {x, w}), natural = in_type(type, {x, transposed(w)});
    const Tensor want = kMatmul.forward(t, values(in))[0];
    const std::string_view numerics = type == Dtype::kFp32 ? "fp32" : "bf16";
    EXPECT_TRUE(close(run_on_device(kMatmul, in, t, numerics)[0], want, sum_of(k, type)));
    EXPECT_TRUE(close(run_on_device(kMatmul, natural, {}, numerics)[0], want, sum_of(k, type)));
  }
}

// A row tile of the operand does not fit into SBUF: its segments' sums add up there.
TEST(Matmul, DeepOperandsAreTakenInSegments) {
  constexpr std::int64_t kDeep = 65536 + 300;
  const Tensor x = random_normal(130, kDeep, 1), w = random_normal(kDeep, 20, 2);
  const Tensor want = kMatmul.forward(MatmulAttrs{}, Tensors{x, w})[0];
  const Inputs in = in_type(Dtype::kFp32, {x, w}), turned = in_type(Dtype::kFp32, {x, transposed(w)});
  EXPECT_TRUE(close(run_on_device(kMatmul, in, {}, "fp32")[0], want, sum_of(kDeep, Dtype::kFp32)));
  EXPECT_TRUE(close(run_on_device(kMatmul, turned, MatmulAttrs{.trans_b = true}, "fp32")[0], want,
                    sum_of(kDeep, Dtype::kFp32)));
}

// Neither operand of a weight gradient stays in SBUF: blocks of the result read them again.
TEST(MatmulTn, BlocksThatDoNotStay) {
  const std::int64_t rows = 24300, m = 134, n = 600;
  ASSERT_GT(rows / 128 * m * 4, trn1_target().geometry.sbuf_partition_bytes / 2);
  const Inputs in = in_type(Dtype::kFp32, {random_normal(rows, m, 1), random_normal(rows, n, 2)});
  const Tensor want =
      kMatmul.forward(MatmulAttrs{.trans_b = true}, Tensors{transposed(in[0].value), transposed(in[1].value)})[0];
  EXPECT_TRUE(
      close(run_on_device(kMatmulTn, in, MatmulTnAttrs{.row_sums = true})[0], want, sum_of(rows, Dtype::kFp32)));
}

// Operands enter TensorE in the type that the numerics say, whatever they are in HBM.
TEST(Matmul, RoundsItsOperands) {
  const Inputs in{random_normal(130, 192, 1), random_normal(192, 320, 2)};
  for (const Dtype operand : {Dtype::kBf16, Dtype::kFp8E4m3}) {
    const MatmulAttrs attrs{.operand = operand};
    const Tensors cast{rounded(in[0].value, operand), rounded(in[1].value, operand)};
    const auto want = kMatmul.forward(attrs, cast);
    EXPECT_TRUE(close(run_on_device(kMatmul, in, attrs)[0], want[0], sum_of(192, Dtype::kFp32)))
        << isa::name_of(operand);
  }
}

TEST(Matmul, RefusesOtherShapes) {
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [] {
                      run_on_device(kMatmul, {random_normal(4, 5, 1), random_normal(6, 7, 2)});
                    },
                    {"matmul matmul: w", "is [6, 7] but must be [5, 7]"}));
}

}  // namespace
