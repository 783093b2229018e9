// Layer normalization, its gradient, and the loss, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kCrossEntropy;
using runtime::kLayerNorm;
using runtime::kLayerNormGrad;

struct RowsCase {
  std::int64_t rows, cols;
  Dtype dtype;

  friend void PrintTo(const RowsCase& c, std::ostream* out) { *out << c.rows << "x" << c.cols << " " << int(c.dtype); }
};

class ByRows : public testing::TestWithParam<RowsCase> {
 protected:
  bool fp32() const { return GetParam().dtype == Dtype::kFp32; }
  std::string_view numerics() const { return fp32() ? "fp32" : "bf16"; }
  Inputs layernorm_inputs() const {
    const auto [rows, cols, type] = GetParam();
    return in_type(type, {random_normal(rows, cols, 1, 3), random_normal(1, cols, 2), random_normal(1, cols, 3)});
  }
};

// In fp32 the order of a sum of `cols` numbers of magnitude 1 differs: sqrt(cols) ulps. In bf16 xhat is rounded, then
// multiplied (rounded) and shifted (rounded): three halves of a step, of numbers up to four times the result.
TEST_P(ByRows, LayerNorm) {
  const auto [rows, cols, type] = GetParam();
  const double ulps = fp32() ? 4 + std::sqrt(static_cast<double>(cols)) : 3;
  const Tolerance y{.ulps = ulps, .floor = 4, .dtype = type};
  const Tolerance xhat{.ulps = fp32() ? ulps : 0.6, .floor = 1, .dtype = type};
  expect_reference(kLayerNorm, layernorm_inputs(), NormAttrs{.eps = 1e-12},
                   {y, xhat, {.ulps = 8 + std::sqrt(static_cast<double>(cols))}}, numerics());
}

// Two means of `cols` products and three products of magnitude 1; in bf16 dy * gamma is rounded before.
TEST_P(ByRows, LayerNormGrad) {
  const auto [rows, cols, type] = GetParam();
  const Tensors kept = kLayerNorm.forward(NormAttrs{.eps = 1e-12}, values(layernorm_inputs()));
  Inputs in = in_type(type, {random_normal(rows, cols, 4), layernorm_inputs()[1].value, kept[1]});
  in.emplace_back(kept[2]);
  const Tolerance within{.ulps = fp32() ? 8 + std::sqrt(static_cast<double>(cols)) : 3, .floor = 1, .dtype = type};
  expect_reference(kLayerNormGrad, in, {}, {within}, numerics());
  // factors that are data: one for both means, and one each
  for (const int count : {1, 2}) {
    Inputs with = in;
    with.emplace_back(runtime::generate(1, count, [c = cols](auto, auto i) { return -(1.0 + i) / c; }));
    expect_reference(kLayerNormGrad, with, {}, {within}, numerics());
  }
}

// Without beta, and without gamma: one rounding less of each.
TEST_P(ByRows, LayerNormOfFewerVectors) {
  const auto [rows, cols, type] = GetParam();
  const double ulps = fp32() ? 4 + std::sqrt(static_cast<double>(cols)) : 3;
  const Tolerance y{.ulps = ulps, .floor = 4, .dtype = type};
  const Tolerance xhat{.ulps = fp32() ? ulps : 0.6, .floor = 1, .dtype = type};
  for (const std::size_t vectors : {0, 1}) {
    Inputs in = layernorm_inputs();
    in.erase(in.begin() + 1 + vectors, in.end());
    const NormAttrs attrs{.eps = 1e-12, .vectors = vectors};
    expect_reference(kLayerNorm, in, attrs, {y, xhat, {.ulps = 8 + std::sqrt(static_cast<double>(cols))}}, numerics());
    const Tensors kept = kLayerNorm.forward(attrs, values(in));
    Inputs back = in_type(type, {random_normal(rows, cols, 4)});
    if (vectors > 0) back.push_back(in[1]);
    back.emplace_back(kept[1], type), back.emplace_back(kept[2]);
    expect_reference(kLayerNormGrad, back, {},
                     {{.ulps = fp32() ? 8 + std::sqrt(static_cast<double>(cols)) : 3, .floor = 1, .dtype = type}},
                     numerics());
  }
}

// Heads of 16 side by side, each by itself.
TEST(LayerNorm, OfHeadsIsOfEachByItself) {
  for (const std::int64_t rows : {1, 130}) {
    const Inputs in{random_normal(rows, 96, 1, 3), random_normal(1, 16, 2), random_normal(1, 16, 3)};
    expect_reference(kLayerNorm, in, NormAttrs{.eps = 1e-5},
                     {{.ulps = 8, .floor = 4}, {.ulps = 8, .floor = 1}, {.ulps = 12}});
    const Tensors kept = kLayerNorm.forward(NormAttrs{.eps = 1e-5}, values(in));
    EXPECT_EQ(kept[2].cols, 6);
    expect_reference(kLayerNormGrad, {random_normal(rows, 96, 4), in[1].value, kept[1], kept[2]}, {},
                     {{.ulps = 12, .floor = 1}});
  }
}

TEST_P(ByRows, CrossEntropy) {
  const auto [rows, cols, type] = GetParam();
  Tensor labels = random_ids(rows, cols, 5);
  Tensor weights = runtime::generate(rows, 1, [&](auto r, auto) { return r % 3 == 2 ? 0.0 : 1.0 / rows; });
  if (rows > 2) labels.at(2, 0) = -100;  // has no weight, so an invalid label is allowed
  const Inputs in{{random_normal(rows, cols, 6, 2), type}, {labels, Dtype::kInt32}, weights};
  const double share = 1.0 / static_cast<double>(rows);
  // exp and log within 4 ulps each, a sum of `cols` terms, a difference of numbers of magnitude 8.
  const Tolerance loss{.ulps = 16 + std::sqrt(static_cast<double>(cols)), .floor = 4 * share};
  const Tolerance dx{
      .ulps = fp32() ? 32 + std::sqrt(static_cast<double>(cols)) : 0.6, .floor = share / 4, .dtype = type};
  expect_reference(kCrossEntropy, in, {}, {loss, dx}, numerics());
  const Tolerance scaled{.ulps = dx.ulps, .floor = 1024 * dx.floor, .dtype = type};
  expect_reference(kCrossEntropy, in, LossAttrs{.scale = 1024}, {loss, scaled}, numerics());
  expect_reference(kCrossEntropy, in, LossAttrs{.smoothing = 0.1}, {loss, dx}, numerics());
}

INSTANTIATE_TEST_SUITE_P(Sizes, ByRows,
                         testing::Values(RowsCase{5, 6, Dtype::kFp32}, RowsCase{130, 192, Dtype::kFp32},
                                         RowsCase{257, 320, Dtype::kBf16}, RowsCase{5, 1100, Dtype::kFp32},
                                         RowsCase{130, 600, Dtype::kBf16}, RowsCase{1, 2, Dtype::kFp32},
                                         RowsCase{3, 1030, Dtype::kFp32}));

TEST(LayerNorm, RefusesOtherShapes) {
  EXPECT_TRUE(
      fails(base::Fault::kProgram,
            [] {
              run_on_device(kLayerNorm, {random_normal(4, 8, 1), random_normal(1, 7, 2), random_normal(1, 8, 3)});
            },
            {"layernorm", "gamma", "is [1, 7] but must be [1, 8]"}));
}

}  // namespace
