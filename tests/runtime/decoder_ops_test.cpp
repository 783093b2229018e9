// RMS normalization, rotary positions and the loss in parts, against their references.
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kLossSums;
using runtime::kRmsNorm;
using runtime::kRmsNormGrad;
using runtime::kRope;
using runtime::kRowMax;
using runtime::kSplitLoss;

struct DecoderCase {
  std::int64_t rows, cols;
  Dtype dtype;

  friend void PrintTo(const DecoderCase& c, std::ostream* out) {
    *out << c.rows << "x" << c.cols << " " << int(c.dtype);
  }
};

class LayerOps : public testing::TestWithParam<DecoderCase> {
 protected:
  bool fp32() const { return GetParam().dtype == Dtype::kFp32; }
  std::string_view numerics() const { return fp32() ? "fp32" : "bf16"; }
};

// A sum of `cols` squares in another order; in bf16 xhat is rounded, then multiplied and rounded.
TEST_P(LayerOps, RmsNorm) {
  const auto [rows, cols, type] = GetParam();
  const Inputs in = in_type(type, {random_normal(rows, cols, 1, 3), random_normal(1, cols, 2)});
  const double ulps = fp32() ? 4 + std::sqrt(static_cast<double>(cols)) : 2;
  expect_reference(kRmsNorm, in, NormAttrs{.eps = 1e-5},
                   {{.ulps = ulps, .floor = 1, .dtype = type},
                    {.ulps = fp32() ? ulps : 0.6, .floor = 1, .dtype = type},
                    {.ulps = 8 + std::sqrt(static_cast<double>(cols))}},
                   numerics());
}

TEST_P(LayerOps, RmsNormGrad) {
  const auto [rows, cols, type] = GetParam();
  const Inputs x = in_type(type, {random_normal(rows, cols, 1, 3), random_normal(1, cols, 2)});
  const Tensors kept = kRmsNorm.forward(NormAttrs{.eps = 1e-5}, values(x));
  Inputs in = in_type(type, {random_normal(rows, cols, 4), x[1].value, kept[1]});
  in.emplace_back(kept[2]);
  const Tolerance within{.ulps = fp32() ? 8 + std::sqrt(static_cast<double>(cols)) : 3, .floor = 1, .dtype = type};
  expect_reference(kRmsNormGrad, in, {}, {within}, numerics());
}

// Two products and their sum; rotating back restores the input.
TEST_P(LayerOps, RopeTurnsAndTurnsBack) {
  const auto [rows, cols, type] = GetParam();
  const std::int64_t half = cols % 8 == 0 ? cols / 8 : cols / 2;
  const Tensor x = rounded(random_normal(rows, cols, 1), type);
  const Tensor cos = runtime::generate(rows, half, [](auto r, auto c) { return std::cos(0.1 * r * (c + 1)); });
  const Tensor sin = runtime::generate(rows, half, [](auto r, auto c) { return std::sin(0.1 * r * (c + 1)); });
  const Inputs in{{x, type}, cos, sin};
  expect_reference(kRope, in, RopeAttrs{.inverse = false}, {{.ulps = fp32() ? 2.0 : 0.6, .floor = 1, .dtype = type}},
                   numerics());
  const Tensors rotated = run_on_device(kRope, in, RopeAttrs{.inverse = false}, numerics());
  const Tensors back = run_on_device(kRope, {{rotated[0], type}, cos, sin}, RopeAttrs{.inverse = true}, numerics());
  EXPECT_TRUE(close(back[0], x, {.ulps = 4, .floor = 2, .dtype = type}));
}

// Columns that are not rotated stay unchanged.
TEST_P(LayerOps, RopeTurnsThePartOfEachHeadThatHasAngles) {
  const auto [rows, cols, type] = GetParam();
  const std::int64_t head = cols % 8 == 0 ? cols / 4 : cols, half = std::max<std::int64_t>(1, head / 8);
  const Tensor x = rounded(random_normal(rows, cols, 1), type);
  const Tensor cos = runtime::generate(rows, half, [](auto r, auto c) { return std::cos(0.1 * r * (c + 1)); });
  const Tensor sin = runtime::generate(rows, half, [](auto r, auto c) { return std::sin(0.1 * r * (c + 1)); });
  const RopeAttrs attrs{.head = head};
  expect_reference(kRope, {{x, type}, cos, sin}, attrs, {{.ulps = fp32() ? 2.0 : 0.6, .floor = 1, .dtype = type}},
                   numerics());
  const Tensor rotated = run_on_device(kRope, {{x, type}, cos, sin}, attrs, numerics())[0];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 2 * half; c < head; ++c) ASSERT_EQ(rotated.at(r, c), x.at(r, c)) << r << " " << c;
}

// In parts, over the columns of two ranks, the loss is that of the whole.
void expect_loss_of_parts(const DecoderCase& sizes, double smoothing, bool fp32, std::string_view numerics) {
  const auto [rows, cols, type] = sizes;
  const LossAttrs attrs{.smoothing = smoothing, .classes = cols};
  Tensor labels = random_ids(rows, cols, 5);
  const Tensor weights = runtime::generate(rows, 1, [&](auto r, auto) { return r % 3 == 2 ? 0.0 : 1.0 / rows; });
  if (rows > 2) labels.at(2, 0) = -100;
  const Tensor x = rounded(random_normal(rows, cols, 6, 2), type);
  const Tensors whole = runtime::kCrossEntropy.forward(attrs, std::vector<Tensor>{x, labels, weights});
  const std::int64_t first = cols / 2;
  const auto part = [&](std::int64_t begin, std::int64_t size) {
    return Input{runtime::generate(rows, size, [&](auto r, auto c) { return x.at(r, begin + c); }), type};
  };
  const auto counted_from = [&](std::int64_t begin) {
    return Input{runtime::generate(rows, 1, [&](auto r, auto) { return labels.at(r, 0) - begin; }), Dtype::kInt32};
  };
  const std::vector<Input> parts{part(0, first), part(first, cols - first)}, ids{counted_from(0), counted_from(first)};
  std::vector<Tensor> most, sums;
  for (const Input& p : parts) most.push_back(run_on_device(kRowMax, {p}, {}, numerics)[0]);
  const Tensor m =
      runtime::generate(rows, 1, [&](auto r, auto) { return std::max(most[0].at(r, 0), most[1].at(r, 0)); });
  for (std::size_t i = 0; i < 2; ++i)
    sums.push_back(run_on_device(kLossSums, {parts[i], ids[i], m}, attrs, numerics)[0]);
  const Tensor s = runtime::generate(rows, 2, [&](auto r, auto c) { return sums[0].at(r, c) + sums[1].at(r, c); });
  const double share = 1.0 / static_cast<double>(rows);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensors got = run_on_device(kSplitLoss, {parts[i], ids[i], weights, m, s}, attrs, numerics);
    EXPECT_TRUE(close(got[0], whole[0], {.ulps = 32 + std::sqrt(static_cast<double>(cols)), .floor = 4 * share}));
    const std::int64_t begin = i == 0 ? 0 : first;
    const Tensor want =
        runtime::generate(rows, parts[i].value.cols, [&](auto r, auto c) { return whole[1].at(r, begin + c); });
    EXPECT_TRUE(
        close(got[1], want,
              {.ulps = fp32 ? 32 + std::sqrt(static_cast<double>(cols)) : 0.6, .floor = share / 4, .dtype = type}));
  }
}

TEST_P(LayerOps, TheLossInPartsIsTheLoss) {
  for (const double smoothing : {0.0, 0.1}) expect_loss_of_parts(GetParam(), smoothing, fp32(), numerics());
}

// 0 times a score of -inf would be NaN: only the label's own score may be -inf.
TEST(MaskedScores, AreNoPartOfTheLabelsScore) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = runtime::generate(2, 4104, [&](auto r, auto c) { return c == 3 + r ? -inf : 1.0F + r; });
  const Tensor labels = runtime::generate(2, 1, [&](auto, auto) { return 4; });
  const Tensor most = runtime::generate(2, 1, [&](auto r, auto) { return 1.0F + r; });
  const LossAttrs attrs{.classes = 4104, .masked = true};
  const std::vector<Input> in{{x, Dtype::kFp32}, {labels, Dtype::kInt32}, {most, Dtype::kFp32}};
  const Tensor sums = run_on_device(kLossSums, in, attrs, "fp32")[0];
  EXPECT_EQ(sums.at(0, 1), 1.0F);
  EXPECT_EQ(sums.at(1, 1), -inf);
  for (const std::int64_t r : {0, 1}) EXPECT_NEAR(sums.at(r, 0), 4103, 4103e-6);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LayerOps,
                         testing::Values(DecoderCase{5, 6, Dtype::kFp32}, DecoderCase{130, 192, Dtype::kFp32},
                                         DecoderCase{257, 320, Dtype::kBf16}, DecoderCase{96, 4104, Dtype::kFp32},
                                         DecoderCase{130, 600, Dtype::kBf16}));

}  // namespace
