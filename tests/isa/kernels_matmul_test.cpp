// The matmul tile of every host instruction set against double precision, and AMX's code on emulated tile registers.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/philox.h"
#include "isa/kernels/body_amx.h"
#include "isa/kernels/kernels.h"

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

TEST_P(MatMulHost, Fp32HasTheBitsOfFusedProductsInOrderOfK) {
  Problem problem{100, 37, 70, false, 6};
  kernels(GetParam()).matmul_fp32(problem.args(false));
  for (int r = 0; r < problem.m; ++r)
    for (int j = 0; j < problem.n; ++j) {
      float sum = 0;
      for (int i = 0; i < problem.k; ++i)
        sum = std::fma(problem.a[Problem::at(i, problem.m, r)], problem.b[Problem::at(i, problem.n, j)], sum);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(problem.c[Problem::at(r, problem.n, j)]),
                std::bit_cast<std::uint32_t>(sum));
    }
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
      for (std::size_t k = 0; k < 16; ++k)
        for (std::size_t n = 0; n < 16; ++n) {
          float sum = std::bit_cast<float>(tiles_[kSum][m][n]);
          sum += low(tiles_[kA][m][k]) * low(tiles_[kB][k][n]);
          sum += high(tiles_[kA][m][k]) * high(tiles_[kB][k][n]);
          tiles_[kSum][m][n] = std::bit_cast<std::uint32_t>(sum);
        }
  }

 private:
  static float low(std::uint32_t pair) { return std::bit_cast<float>(pair << 16); }
  static float high(std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }
  std::array<std::array<std::array<std::uint32_t, 16>, 16>, 8> tiles_{};
};

TEST(AmxCode, MultipliesOnEmulatedTiles) {
  static AmxPacked packed;
  EmulatedTiles tiles;
  for (const Shape& shape : kShapes)
    for (const bool accumulate : {false, true}) {
      Problem problem{shape.k, shape.m, shape.n, true, 7};
      amx_matmul(problem.args(accumulate), tiles, packed);
      problem.expect_right(accumulate);
    }
}

}  // namespace
}  // namespace isa::kernels
