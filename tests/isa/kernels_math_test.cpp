// Every function against double libm over its whole range; every host instruction set against the generic one.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/philox.h"
#include "isa/exec/operand.h"
#include "isa/exec/random.h"
#include "isa/kernels/accuracy.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

double cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_tanh_argument(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x); }
double gelu_tanh_slope(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x); }
double times(double x, double y) { return y == 0 ? 0 : x * y; }

double exact(Fn fn, double x) {
  switch (fn) {
    case Fn::kCopy: return x;
    case Fn::kSquare: return x * x;
    case Fn::kSigmoid: return sigmoid(x);
    case Fn::kRelu: return std::max(x, 0.0);
    case Fn::kGelu: return times(x, cdf(x));
    case Fn::kGeluTanh: return times(x, sigmoid(gelu_tanh_argument(x)));
    case Fn::kGeluSigmoid: return times(x, sigmoid(1.702 * x));
    case Fn::kGeluSigmoidGrad: {
      const double s = sigmoid(1.702 * x);
      return s + times(1.702 * x, s * sigmoid(-1.702 * x));
    }
    case Fn::kGeluGrad: return cdf(x) + times(x, density(x));
    case Fn::kGeluTanhGrad: {
      const double s = sigmoid(gelu_tanh_argument(x));
      return s + (std::abs(x) > 30 ? 0 : x * s * (1 - s) * gelu_tanh_slope(x));
    }
    case Fn::kSilu: return times(x, sigmoid(x));
    case Fn::kSiluGrad: return sigmoid(x) + times(x, sigmoid(x) * sigmoid(-x));
    case Fn::kTanh: return std::tanh(x);
    case Fn::kTanhGrad: return 1 / (std::cosh(x) * std::cosh(x));
    case Fn::kSoftplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Fn::kMish: return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    case Fn::kErf: return std::erf(x);
    case Fn::kErfGrad: return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x);
    case Fn::kExp: return std::exp(x);
    case Fn::kLog: return std::log(x);
    case Fn::kSin: return std::sin(x);
    case Fn::kArctan: return std::atan(x);
    case Fn::kSqrt: return std::sqrt(x);
    case Fn::kRsqrt: return 1 / std::sqrt(x);
    case Fn::kReciprocal: return 1 / x;
    case Fn::kSign: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Fn::kAbs: return std::abs(x);
  }
  return std::nan("");
}

/// Floats of [low, high], equally spaced in their bit patterns: about 2 million of each sign.
std::vector<float> samples(double low, double high) {
  std::vector<float> out;
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 1021)
    for (const float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)})
      if (x >= low && x <= high) out.push_back(x);
  return out;
}

float ulp_of(double scale) {
  const float at = std::max(static_cast<float>(scale), 0x1p-126f);
  return std::nextafter(at, std::numeric_limits<float>::infinity()) - at;
}

class Function : public testing::TestWithParam<Accuracy> {};

TEST_P(Function, StaysWithinItsStatedError) {
  const Accuracy& accuracy = GetParam();
  const std::vector<float> x = samples(accuracy.low, accuracy.high);
  std::vector<float> got(x.size());
  kernels().unary[static_cast<std::size_t>(accuracy.fn)](x.data(), 1, 0, got.data(), x.size());
  double worst = 0;
  float where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = exact(accuracy.fn, x[i]);
    if (std::abs(want) > kLargest) continue;  // infinite in fp32: checked below
    const double ulps = std::abs(got[i] - want) / ulp_of(std::max(std::abs(want), accuracy.floor));
    if (!(ulps <= worst)) worst = ulps, where = x[i];
    if (!(ulps <= 1e9)) break;
  }
  EXPECT_LE(worst, accuracy.ulps) << "at x = " << where;
  RecordProperty("worst_ulps", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, Function, testing::ValuesIn(kAccuracy),
                         [](const auto& info) { return "Fn" + std::to_string(static_cast<int>(info.param.fn)); });

// Angles of many turns, beyond the documented range, among others and in place.
TEST(Functions, SineOfFarAngles) {
  std::vector<float> x;
  for (const float size : samples(100, kLargest)) x.push_back(size), x.push_back(-size);
  std::vector<float> got = x;
  kernels().unary[static_cast<std::size_t>(Fn::kSin)](got.data(), 1, 0, got.data(), got.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - std::sin(static_cast<double>(x[i]))));
  EXPECT_LE(worst, 0x1p-22);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float ends[] = {kInf, -kInf, NAN};
  kernels().unary[static_cast<std::size_t>(Fn::kSin)](ends, 1, 0, ends, 3);
  for (const float end : ends) EXPECT_TRUE(std::isnan(end));
}

float at(Fn fn, float x) {
  float out = 0;
  kernels().unary[static_cast<std::size_t>(fn)](&x, 1, 0, &out, 1);
  return out;
}

TEST(Functions, TableListsEachInOrder) {
  for (std::size_t i = 0; i < kFnCount; ++i) EXPECT_EQ(static_cast<std::size_t>(kAccuracy[i].fn), i);
}

TEST(Functions, KeepNaN) {
  for (const Accuracy& accuracy : kAccuracy) EXPECT_TRUE(std::isnan(at(accuracy.fn, NAN))) << int(accuracy.fn);
}

TEST(Functions, AreRightAtTheEnds) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(at(Fn::kExp, 90), kInf);
  EXPECT_EQ(at(Fn::kExp, kInf), kInf);
  EXPECT_EQ(at(Fn::kExp, -kInf), 0);
  EXPECT_NEAR(at(Fn::kExp, -100), std::exp(-100.0), 0x1p-149);  // subnormal
  EXPECT_EQ(at(Fn::kLog, 0), -kInf);
  EXPECT_EQ(at(Fn::kLog, kInf), kInf);
  EXPECT_TRUE(std::isnan(at(Fn::kLog, -1)));
  EXPECT_NEAR(at(Fn::kLog, 0x1p-140f), std::log(0x1p-140), 1e-5);
  EXPECT_EQ(at(Fn::kTanh, kInf), 1);
  EXPECT_EQ(at(Fn::kTanh, -kInf), -1);
  EXPECT_EQ(at(Fn::kSigmoid, -kInf), 0);
  EXPECT_EQ(at(Fn::kErf, -kInf), -1);
  EXPECT_EQ(at(Fn::kGelu, kInf), kInf);
  EXPECT_EQ(at(Fn::kGelu, -40), 0);
  EXPECT_EQ(at(Fn::kGeluGrad, 40), 1);
  EXPECT_EQ(at(Fn::kGeluTanhGrad, -kInf), 0);
  EXPECT_FLOAT_EQ(at(Fn::kArctan, kInf), static_cast<float>(std::numbers::pi / 2));
  EXPECT_TRUE(std::isnan(at(Fn::kSqrt, -1)));
}

// ---- The same bits on every host

std::vector<float> mixed(std::size_t n, std::uint64_t seed) {
  base::PhiloxStream random{seed};
  std::vector<float> out(n);
  for (float& x : out) {
    const std::uint32_t bits = random.next();
    x = bits % 4 == 0 ? std::bit_cast<float>(random.next()) : (random.uniform() - 0.5f) * 20;
    if (std::isnan(x)) x = 0;  // whose NaN survives differs; that it is one is compared below
  }
  return out;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& x) {
  std::vector<std::uint32_t> out;
  for (const float value : x) out.push_back(std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value));
  return out;
}

class Host : public testing::TestWithParam<Level> {
 protected:
  void SetUp() override {
    if (!host_supports(GetParam())) GTEST_SKIP() << "this host has no " << name_of(GetParam());
  }
  const Kernels& mine() { return kernels(GetParam()); }
  const Kernels& reference() { return kernels(Level::kGeneric); }
  static constexpr std::size_t kN = 4099;  // leaves a rest in every vector width
};

TEST_P(Host, FunctionsHaveTheSameBits) {
  const std::vector<float> x = mixed(kN, 1);
  for (std::size_t f = 0; f < kFnCount; ++f) {
    std::vector<float> got(kN), want(kN);
    mine().unary[f](x.data(), 1.25f, 0.5f, got.data(), kN);
    reference().unary[f](x.data(), 1.25f, 0.5f, want.data(), kN);
    EXPECT_EQ(bits_of(got), bits_of(want)) << "function " << f;
  }
}

TEST_P(Host, AluHasTheSameBits) {
  const std::vector<float> x = mixed(kN, 1), y = mixed(kN, 2);
  for (std::size_t op = 0; op < kAluCount; ++op) {
    ASSERT_EQ(mine().binary[op] == nullptr, reference().binary[op] == nullptr);
    if (!mine().binary[op]) continue;
    std::vector<float> got(kN), want(kN);
    mine().binary[op](x.data(), y.data(), got.data(), kN);
    reference().binary[op](x.data(), y.data(), want.data(), kN);
    EXPECT_EQ(bits_of(got), bits_of(want)) << "op " << op;
    mine().with_scalar[op](x.data(), 1.7f, got.data(), kN);
    reference().with_scalar[op](x.data(), 1.7f, want.data(), kN);
    EXPECT_EQ(bits_of(got), bits_of(want)) << "op " << op << " with a scalar";
    mine().scalar_first[op](x.data(), 1.7f, got.data(), kN);
    reference().scalar_first[op](x.data(), 1.7f, want.data(), kN);
    EXPECT_EQ(bits_of(got), bits_of(want)) << "op " << op << " scalar first";
  }
}

TEST_P(Host, FoldsInTheSameOrder) {
  const std::vector<float> x = mixed(kN, 3);
  for (std::size_t op = 0; op < kAluCount; ++op) {
    if (!mine().fold[op]) continue;
    std::vector<float> got(64, 1), want(64, 1);
    mine().fold[op](x.data(), kN, got.data());
    reference().fold[op](x.data(), kN, want.data());
    EXPECT_EQ(bits_of(got), bits_of(want)) << "op " << op;
  }
}

TEST_P(Host, RandomBitsAndDropoutAreTheSame) {
  const Stream stream{{1, 2}, {3, 4}};
  for (const std::size_t cols : {1, 64, 100, 128, 300, 600}) {
    constexpr std::size_t kRows = 5;
    const std::vector<float> x = mixed(kRows * cols, 4);
    std::vector<float> kept(x.size()), expected(x.size());
    std::vector<std::uint16_t> drawn((cols + 63) / 64 * 64);
    mine().random_row({stream, 7, 256}, cols, drawn.data());
    for (std::size_t i = 0; i < cols; ++i)
      EXPECT_EQ(drawn[i], exec::random16(stream, 7, 256 + static_cast<std::uint32_t>(i))) << i;
    mine().dropout(x.data(), {stream, 7, 256}, {6554, 1.1f}, kept.data(), kRows, cols);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t i = 0; i < cols; ++i) {
        const std::uint16_t random =
            exec::random16(stream, 7 + static_cast<std::uint32_t>(r), 256 + static_cast<std::uint32_t>(i));
        expected[r * cols + i] = random >= 6554 ? x[r * cols + i] * 1.1f : 0.0f;
      }
    EXPECT_EQ(bits_of(kept), bits_of(expected)) << cols;
  }
}

TEST_P(Host, ReducesAsItFolds) {
  for (const std::size_t n : {0, 1, 63, 64, 65, 200, 512})
    for (std::size_t op = 0; op < kAluCount; ++op) {
      if (!mine().reduce[op]) continue;
      const std::vector<float> x = mixed(n, 5);
      std::vector<float> lanes(64, exec::identity_of(static_cast<Alu>(op)));
      reference().fold[op](x.data(), n, lanes.data());
      for (std::size_t half = 32; half > 0; half /= 2)
        reference().binary[op](lanes.data(), lanes.data() + half, lanes.data(), half);
      EXPECT_EQ(bits_of({mine().reduce[op](x.data(), n)}), bits_of({lanes[0]})) << "op " << op << ", " << n;
    }
}

TEST_P(Host, StatisticsAreOfEverySecondNumber) {
  for (const std::size_t n : {1, 2, 64, 127, 128, 300, 512}) {
    const std::vector<float> x = mixed(n, 6);
    std::vector<float> got(6), want;
    mine().statistics(x.data(), n, got.data());
    for (std::size_t odd = 0; odd < 2; ++odd) {
      std::vector<float> half;
      for (std::size_t i = odd; i < n; i += 2) half.push_back(x[i]);
      const auto sum = reference().reduce[static_cast<std::size_t>(Alu::kAdd)];
      const auto count = static_cast<float>(half.size());
      const float mean = half.empty() ? 0.0f : sum(half.data(), half.size()) / count;
      for (float& value : half) value = (value - mean) * (value - mean);
      want.insert(want.end(), {count, mean, sum(half.data(), half.size())});
    }
    EXPECT_EQ(bits_of(got), bits_of(want)) << n;
  }
}

TEST_P(Host, TransposesAnyShape) {
  for (const auto& [rows, cols] : {std::pair{128, 128}, {5, 33}, {16, 8}, {31, 17}, {1, 128}}) {
    const auto n = static_cast<std::size_t>(rows * cols);
    std::vector<std::uint16_t> a(n), b(n);
    std::vector<std::uint32_t> c(n), d(n);
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<std::uint16_t>(i), c[i] = static_cast<std::uint32_t>(i);
    mine().transpose16(reinterpret_cast<std::byte*>(a.data()), cols * 2, reinterpret_cast<std::byte*>(b.data()),
                       rows * 2, rows, cols);
    mine().transpose32(reinterpret_cast<std::byte*>(c.data()), cols * 4, reinterpret_cast<std::byte*>(d.data()),
                       rows * 4, rows, cols);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < cols; ++k) {
        ASSERT_EQ(b[static_cast<std::size_t>(k * rows + r)], r * cols + k);
        ASSERT_EQ(d[static_cast<std::size_t>(k * rows + r)], static_cast<std::uint32_t>(r * cols + k));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Host, testing::Values(Level::kAvx2, Level::kAvx512, Level::kAvx512Bf16, Level::kAmx),
                         [](const auto& info) { return std::string{name_of(info.param)}; });

}  // namespace
}  // namespace isa::kernels
