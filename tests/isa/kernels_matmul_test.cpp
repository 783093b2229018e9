// The matmul tile of every host instruction set: near double precision, and with the bits of the definition; AMX's code
// on emulated tile registers too, for hosts that have none.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "isa/kernels/body_amx.h"
#include "isa/kernels/kernels.h"
#include "tests/isa/matmul_definition.h"

namespace isa::kernels {
namespace {

/// Operands whose rows are farther apart than they are long, and the exact product.
struct Problem {
  int k, m, n;
  bool bf16;
  std::vector<float> a, b, c;
  std::vector<std::uint16_t> a16, b16;
  static constexpr int kPad = 3;

  Problem(int rows, int left, int right, bool as_bf16, std::uint64_t seed) : k{rows}, m{left}, n{right}, bf16{as_bf16} {
    base::PhiloxStream random{seed};
    fill(a, a16, k * (m + kPad), random);
    fill(b, b16, k * (n + kPad), random);
    c.assign(static_cast<std::size_t>(m * (n + kPad)), 0.25f);
  }
  void fill(std::vector<float>& x, std::vector<std::uint16_t>& half, int count, base::PhiloxStream& random) const {
    for (int i = 0; i < count; ++i) {
      const float value = random.uniform() - 0.5f;
      half.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
      x.push_back(bf16 ? std::bit_cast<float>(static_cast<std::uint32_t>(half.back()) << 16) : value);
    }
  }
  MatMul args(bool accumulate) {
    const int size = bf16 ? 2 : 4;
    const auto bytes = [](auto& v) { return reinterpret_cast<const std::byte*>(v.data()); };
    return {.k = k,
            .m = m,
            .n = n,
            .a = bf16 ? bytes(a16) : bytes(a),
            .a_stride = (m + kPad) * size,
            .b = bf16 ? bytes(b16) : bytes(b),
            .b_stride = (n + kPad) * size,
            .c = c.data(),
            .c_stride = (n + kPad) * 4,
            .accumulate = accumulate};
  }
  double exact(int row, int column, bool accumulate) const {
    double sum = accumulate ? 0.25 : 0;
    for (int i = 0; i < k; ++i) sum += double{a[at(i, m, row)]} * b[at(i, n, column)];
    return sum;
  }
  static std::size_t at(int row, int width, int column) {
    return static_cast<std::size_t>(row * (width + kPad) + column);
  }

  /// Every kind of number there is, so that some sums overflow, cancel, or become subnormal.
  void make_wild(std::uint64_t seed) {
    base::PhiloxStream random{seed};
    const auto wild = [&]() -> float {
      const auto kind = static_cast<int>(random.uniform() * 40);
      const float sign = random.uniform() < 0.5F ? -1.0F : 1.0F, part = 1 + random.uniform();
      if (kind == 0) return sign * 0.0F;
      if (kind == 1 && seed % 3 == 0) return sign * std::numeric_limits<float>::infinity();
      if (kind == 2 && seed % 5 == 0) return std::bit_cast<float>(sign < 0 ? 0xffc10000U : 0x7f810000U);  // NaN
      if (kind <= 5) return sign * part * 0x1p-130F;                                                      // subnormal
      if (kind <= 9 && seed % 2 == 0) return sign * part * 0x1p63F;
      if (kind <= 25 && seed % 4 >= 2) return sign * part * 0x1p-63F;  // products at the edge of the subnormal ones
      return sign * part * std::ldexp(1.0F, static_cast<int>(random.uniform() * 16) - 8);
    };
    for (auto* list : {&a, &b})
      for (float& x : *list) x = wild();
    for (float& x : c) x = wild() * (seed % 4 == 3 ? 0x1p-60F : 1.0F);
    if (!bf16) return;
    const auto cut = [](std::vector<float>& x, std::vector<std::uint16_t>& half) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        half[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x[i]) >> 16);
        x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half[i]) << 16);
      }
    };
    cut(a, a16), cut(b, b16);
  }

  /// Zeros of both signs in half of the groups of 32 rows of one operand, as in the gradients of padding.
  void make_groups_zero(std::uint64_t seed) {
    base::PhiloxStream random{seed};
    const bool left = seed % 2 == 0;
    const int width = left ? m : n;
    for (int row = 0; row < k; row += 32) {
      if (random.uniform() < 0.5F) continue;
      for (int i = row; i < k && i < row + 32; ++i)
        for (int j = 0; j < width; ++j) {
          const bool minus = random.uniform() < 0.5F;
          (left ? a : b)[at(i, width, j)] = minus ? -0.0F : 0.0F;
          (left ? a16 : b16)[at(i, width, j)] = minus ? 0x8000 : 0;
        }
    }
  }

  /// The result of the definition; called before the kernel has run.
  std::vector<std::uint32_t> defined(bool accumulate) const {
    std::vector<std::uint32_t> out;
    std::vector<float> left(static_cast<std::size_t>(k)), right(left);
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < k; ++i) {
          left[static_cast<std::size_t>(i)] = a[at(i, m, r)];
          right[static_cast<std::size_t>(i)] = b[at(i, n, j)];
        }
        const float before = c[at(r, n, j)];
        out.push_back(bf16 ? isa_test::bf16_dot(left, right, accumulate, before)
                           : isa_test::fp32_dot(left, right, accumulate, before));
      }
    return out;
  }
  std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> out;
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < n; ++j) out.push_back(std::bit_cast<std::uint32_t>(c[at(r, n, j)]));
    return out;
  }

  /// bf16 operands that are subnormal.
  std::size_t subnormal() const {
    const auto count = [&](const std::vector<std::uint16_t>& half, int width) {
      std::size_t sum = 0;
      for (int i = 0; i < k; ++i)
        for (int j = 0; j < width; ++j) {
          const std::uint16_t x = half[at(i, width, j)];
          sum += (x & 0x7f80) == 0 && (x & 0x7f) != 0 ? 1 : 0;
        }
      return sum;
    };
    return count(a16, m) + count(b16, n);
  }

  void expect_right(bool accumulate) const {
    // Values below 1/2: k products of at most 1/4, each sum rounded: k * k/4 * 2^-24.
    const double tolerance = 0.25 * k * k * 0x1p-24 + 1e-7;
    for (int r = 0; r < m; ++r) {
      for (int j = 0; j < n; ++j) ASSERT_NEAR(c[at(r, n, j)], exact(r, j, accumulate), tolerance) << r << ", " << j;
      for (int j = n; j < n + kPad && r + 1 < m; ++j) ASSERT_EQ(c[at(r, n, j)], 0.25f) << "wrote beside the tile";
    }
  }
};

struct Shape {
  int k, m, n;
};
constexpr Shape kShapes[] = {{128, 128, 512}, {64, 128, 64}, {127, 65, 100}, {1, 1, 1}, {3, 5, 513}, {33, 31, 32}};

class MatMulHost : public testing::TestWithParam<Level> {
 protected:
  void SetUp() override {
    if (!host_supports(GetParam())) GTEST_SKIP() << "this host has no " << name_of(GetParam());
  }
};

TEST_P(MatMulHost, MultipliesBf16AndFp32OfAnyShape) {
  for (const Shape& shape : kShapes)
    for (const bool bf16 : {false, true})
      for (const bool accumulate : {false, true}) {
        Problem problem{shape.k, shape.m, shape.n, bf16, 5};
        const Kernels& k = kernels(GetParam());
        (bf16 ? k.matmul_bf16 : k.matmul_fp32)(problem.args(accumulate));
        problem.expect_right(accumulate);
      }
}

/// Shapes that are drawn, tame and wild numbers, some with groups of zeros, both formats, with and without something to
/// add to.
void expect_defined_bits(bool only_bf16, const std::function<void(const MatMul&, bool bf16)>& multiply) {
  base::PhiloxStream random{17};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto up_to = [&](int most) { return 1 + static_cast<int>(random.uniform() * static_cast<float>(most)); };
    const bool bf16 = only_bf16 || seed % 3 != 0, accumulate = seed % 2 == 1;
    Problem problem{up_to(128), up_to(40), up_to(seed % 7 == 0 ? 200 : 70), bf16, seed};
    if (seed >= 10) problem.make_wild(seed);
    if (seed >= 60) problem.make_groups_zero(seed);
    const std::vector<std::uint32_t> wanted = problem.defined(accumulate);
    const std::vector<float> before = problem.c;
    const auto expect = [&](std::size_t flushed) {
      ASSERT_EQ(problem.bits(), wanted) << "seed " << seed << ", " << problem.k << " x " << problem.m << " x "
                                        << problem.n;
      EXPECT_EQ(flushed, bf16 ? problem.subnormal() : 0) << "seed " << seed;
    };
    std::size_t flushed = 0;
    MatMul args = problem.args(accumulate);
    args.flushed = bf16 ? &flushed : nullptr;
    multiply(args, bf16);
    expect(flushed);
    flushed = 0, args.turns = 3;  // as two that divide the panels of b
    for (const bool first : {true, false}) {
      problem.c = before;
      args.counts_a = first, args.turn = first ? 0 : 1, args.turns_end = first ? 1 : 3;
      multiply(args, bf16);
    }
    expect(flushed);
  }
}

TEST_P(MatMulHost, HasTheBitsOfTheDefinition) {
  const Kernels& k = kernels(GetParam());
  expect_defined_bits(false, [&](const MatMul& args, bool bf16) { (bf16 ? k.matmul_bf16 : k.matmul_fp32)(args); });
}

/// 1.25 * 2^-126 and -1.5 * 2^-126, whose sum is flushed to -0; then a group of zeros makes it +0.
TEST_P(MatMulHost, AddsGroupsOfZerosToo) {
  Problem problem{96, 1, 1, true, 1};
  for (auto* list : {&problem.a, &problem.b}) std::fill(list->begin(), list->end(), 0.0F);
  for (auto* list : {&problem.a16, &problem.b16}) std::fill(list->begin(), list->end(), std::uint16_t{0});
  const auto put = [&](int row, float left) {
    const auto half = [](float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); };
    const std::size_t at = Problem::at(row, 1, 0);
    problem.a[at] = left, problem.a16[at] = half(left);
    problem.b[at] = 0x1p-63F, problem.b16[at] = half(0x1p-63F);
  };
  put(0, 1.25F * 0x1p-63F), put(32, -1.5F * 0x1p-63F);
  const std::vector<std::uint32_t> wanted = problem.defined(false);
  kernels(GetParam()).matmul_bf16(problem.args(false));
  EXPECT_EQ(problem.bits(), wanted);
  EXPECT_EQ(wanted, std::vector<std::uint32_t>{0});
}

INSTANTIATE_TEST_SUITE_P(All, MatMulHost,
                         testing::Values(Level::kGeneric, Level::kAvx2, Level::kAvx512, Level::kAvx512Bf16,
                                         Level::kAmx),
                         [](const auto& info) { return std::string{name_of(info.param)}; });

/// AMX's tile registers, as Intel's manual describes TILEZERO, TILELOADD, TILESTORED and TDPBF16PS.
class EmulatedTiles {
 public:
  template <int kTile>
  void zero() {
    tiles_[kTile] = {};
  }
  template <int kTile>
  void load(const void* from, std::int64_t stride) {
    for (int r = 0; r < 16; ++r)
      std::memcpy(tiles_[kTile][static_cast<std::size_t>(r)].data(), static_cast<const char*>(from) + r * stride, 64);
  }
  template <int kTile>
  void store(void* to, std::int64_t stride) {
    for (int r = 0; r < 16; ++r)
      std::memcpy(static_cast<char*>(to) + r * stride, tiles_[kTile][static_cast<std::size_t>(r)].data(), 64);
  }
  template <int kSum, int kA, int kB>
  void multiply_add() {
    for (std::size_t m = 0; m < 16; ++m)
      for (std::size_t n = 0; n < 16; ++n) {
        float even = 0, odd = 0;
        for (std::size_t k = 0; k < 16; ++k) {
          even = isa_test::fused(low(tiles_[kA][m][k]), low(tiles_[kB][k][n]), even);
          odd = isa_test::fused(high(tiles_[kA][m][k]), high(tiles_[kB][k][n]), odd);
        }
        const float before = std::bit_cast<float>(tiles_[kSum][m][n]);
        tiles_[kSum][m][n] = std::bit_cast<std::uint32_t>(isa_test::sum(before, isa_test::sum(even, odd)));
      }
  }

 private:
  static float low(std::uint32_t pair) { return std::bit_cast<float>(pair << 16); }
  static float high(std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }
  std::array<std::array<std::array<std::uint32_t, 16>, 16>, 8> tiles_{};
};

TEST(AmxCode, HasTheBitsOfTheDefinitionOnEmulatedTiles) {
  static AmxPacked packed;
  EmulatedTiles tiles;
  expect_defined_bits(true, [&](const MatMul& args, bool) { amx_matmul(args, tiles, packed); });
}

TEST(MatMulDefinition, FlushesSubnormalsAfterRoundingToAnyExponent) {
  using isa_test::fused;
  const float least = std::numeric_limits<float>::min();
  EXPECT_EQ(fused(0x1p-63F, 0x1p-63F, 0), least);
  EXPECT_EQ(fused(-0x1p-63F, 0x1p-64F, 0), 0);
  EXPECT_TRUE(std::signbit(fused(-0x1p-63F, 0x1p-64F, 0)));
  // 2^-126 - 2^-150 has 24 bits: subnormal. Rounded as a subnormal number it would be 2^-126.
  EXPECT_EQ(fused(-0x1p-75F, 0x1p-75F, least), 0);
  EXPECT_EQ(fused(-0x1p-75F, 0x1p-76F, least), least);  // a tie to the even 2^-126
  EXPECT_EQ(fused(std::numeric_limits<float>::denorm_min(), 0x1p100F, 1), 1);
}

}  // namespace
}  // namespace isa::kernels
