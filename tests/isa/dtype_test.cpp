// Every value of the 8- and 16-bit formats, both roundings, and the vector conversions of every host.
#include "isa/dtype.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/philox.h"
#include "isa/exec/random.h"
#include "isa/kernels/kernels.h"

namespace isa {
namespace {

constexpr Dtype kFloats[] = {Dtype::kBf16, Dtype::kFp16, Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4};

std::uint32_t count_of(Dtype dtype) { return 1u << (8 * size_of(dtype)); }
bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : std::bit_cast<int>(a) == std::bit_cast<int>(b); }

TEST(Dtype, NamesRoundTrip) {
  for (std::size_t i = 0; i < kDtypeCount; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(dtype_from(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from("fp64"), std::nullopt);
}

TEST(Dtype, KnownValues) {
  EXPECT_EQ(decode(Dtype::kFp8E4m3, 0x77), 240);  // largest
  EXPECT_EQ(decode(Dtype::kFp8E5m2, 0x7b), 57344);
  EXPECT_EQ(decode(Dtype::kFp8E3m4, 0x6f), 15.5f);
  EXPECT_EQ(decode(Dtype::kFp8E4m3, 0x01), 0x1p-9f);  // smallest
  EXPECT_EQ(decode(Dtype::kFp16, 0x7bff), 65504);
  EXPECT_EQ(decode(Dtype::kFp16, 0x8001), -0x1p-24f);
  EXPECT_EQ(decode(Dtype::kBf16, 0xc040), -3);
  EXPECT_EQ(encode(Dtype::kTf32, 1 + 0x1p-11f), std::bit_cast<std::uint32_t>(1.0f));  // tie to even
  EXPECT_EQ(encode(Dtype::kTf32, 1 + 0x1.8p-10f), std::bit_cast<std::uint32_t>(1 + 0x1p-9f));
}

TEST(Dtype, OutOfRangeSaturatesOrBecomesInfinite) {
  for (const Dtype dtype : {Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4}) {
    EXPECT_EQ(decode(dtype, encode(dtype, 1e9f)), INFINITY);
    EXPECT_EQ(decode(dtype, encode(dtype, -1e9f)), -INFINITY);
    EXPECT_EQ(decode(dtype, encode(dtype, -INFINITY)), -INFINITY);
  }
  EXPECT_EQ(decode(Dtype::kFp8E4m3, encode(Dtype::kFp8E4m3, 247)), 240);
  EXPECT_EQ(decode(Dtype::kFp8E4m3, encode(Dtype::kFp8E4m3, 248)), INFINITY);  // a tie: the even one would be 256
  EXPECT_EQ(decode(Dtype::kFp16, encode(Dtype::kFp16, 65520)), INFINITY);
  EXPECT_EQ(decode(Dtype::kFp16, encode(Dtype::kFp16, 65519)), 65504);
  EXPECT_EQ(decode(Dtype::kBf16, encode(Dtype::kBf16, -3.4e38f)), -INFINITY);
  EXPECT_EQ(encode(Dtype::kInt8, 300), 0x7fu);
  EXPECT_EQ(encode(Dtype::kInt8, -300), 0x80u);
  EXPECT_EQ(encode(Dtype::kUint8, -1), 0u);
  EXPECT_EQ(encode(Dtype::kInt32, 3e9f), 0x7fffffffu);
  EXPECT_EQ(encode(Dtype::kUint32, 5e9f), 0xffffffffu);
  EXPECT_EQ(encode(Dtype::kInt16, NAN), 0u);
  EXPECT_EQ(encode(Dtype::kInt16, 2.5f), 2u);  // tie to even
}

TEST(Dtype, EveryValueSurvivesBothRoundings) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16, Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4,
                            Dtype::kInt16, Dtype::kUint16, Dtype::kInt8, Dtype::kUint8})
    for (std::uint32_t bits = 0; bits < count_of(dtype); ++bits) {
      const float value = decode(dtype, bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(dtype, encode(dtype, value))));
        continue;
      }
      ASSERT_EQ(encode(dtype, value), bits) << name_of(dtype);
      ASSERT_EQ(encode(dtype, value, Rounding::kStochastic, 0xffffffffu), bits) << name_of(dtype);
    }
}

/// Between each pair of neighbours: the middle goes to the even one, a bit beside it to the nearer one.
TEST(Dtype, RoundsToNearestEvenBetweenAllNeighbours) {
  for (const Dtype dtype : kFloats) {
    const std::uint32_t half = count_of(dtype) / 2;
    for (std::uint32_t bits = 0; bits + 1 < half; ++bits) {
      const float low = decode(dtype, bits), high = decode(dtype, bits + 1);
      if (!std::isfinite(high)) break;
      const float middle = low / 2 + high / 2;
      if (static_cast<double>(low) + high != 2.0 * middle) continue;  // not a float: bf16's smallest
      ASSERT_EQ(encode(dtype, middle), bits + bits % 2) << name_of(dtype) << " " << middle;
      ASSERT_EQ(encode(dtype, std::nextafter(middle, 0.0f)), bits);
      ASSERT_EQ(encode(dtype, std::nextafter(middle, INFINITY)), bits + 1);
      ASSERT_EQ(encode(dtype, -middle), (bits + bits % 2) | half);
    }
  }
}

/// The expectation over all 2^16 upper random bits is the value itself, to the resolution of those bits.
TEST(Dtype, StochasticRoundingIsUnbiased) {
  for (const Dtype dtype : kFloats)
    for (const float value : {0.7f, -1.3f, 3.14159f, 0.001f, 1.0f + 0x1p-12f}) {
      double sum = 0;
      for (std::uint32_t r = 0; r < 65536; ++r)
        sum += decode(dtype, encode(dtype, value, Rounding::kStochastic, r << 16 | 0x8000));
      const float up = decode(dtype, encode(dtype, value, Rounding::kStochastic, ~0u));
      const float down = decode(dtype, encode(dtype, value, Rounding::kStochastic, 0));
      EXPECT_NEAR(sum / 65536, value, std::abs(up - down) * 0x1p-15) << name_of(dtype) << " " << value;
    }
  double sum = 0;
  for (std::uint32_t r = 0; r < 65536; ++r)
    sum += static_cast<std::int32_t>(encode(Dtype::kInt32, -2.25f, Rounding::kStochastic, r << 16));
  EXPECT_NEAR(sum / 65536, -2.25, 1e-4);
}

TEST(Dtype, StochasticRoundingOverflows) {
  const float above = std::nextafter(3.38953139e38f, INFINITY);  // beyond bf16's largest
  EXPECT_EQ(encode(Dtype::kBf16, above, Rounding::kStochastic, 0), 0x7f7fu);
  EXPECT_EQ(encode(Dtype::kBf16, above, Rounding::kStochastic, ~0u), 0x7f80u);
  EXPECT_EQ(encode(Dtype::kFp8E4m3, 247, Rounding::kStochastic, 0), 0x77u);
  EXPECT_EQ(encode(Dtype::kFp8E4m3, 247, Rounding::kStochastic, ~0u), 0x78u);  // infinite
  EXPECT_EQ(encode(Dtype::kBf16, INFINITY, Rounding::kStochastic, ~0u), 0x7f80u);
  EXPECT_TRUE(std::isnan(decode(Dtype::kBf16, encode(Dtype::kBf16, NAN, Rounding::kStochastic, ~0u))));
}

class Conversion : public testing::TestWithParam<kernels::Level> {
 protected:
  void SetUp() override {
    if (!kernels::host_supports(GetParam())) GTEST_SKIP() << "this host has no " << kernels::name_of(GetParam());
  }
  const kernels::Kernels& host() { return kernels::kernels(GetParam()); }
};

/// Bit patterns over the whole range, with all low halves' edges.
std::vector<float> patterns() {
  std::vector<float> out;
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      out.push_back(std::bit_cast<float>(high << 16 | low));
  return out;
}

constexpr kernels::Stream kStream{{1, 2}, {3, 4}};

/// The random bits of a number of a row, as encode() takes them.
std::uint32_t random_word(const kernels::Draw& draw, std::size_t row, std::size_t i) {
  return static_cast<std::uint32_t>(exec::random16(draw.stream, draw.row + static_cast<std::uint32_t>(row),
                                                   draw.first + static_cast<std::uint32_t>(i)))
         << 16;
}

TEST_P(Conversion, DecodesEvery16BitValue) {
  std::vector<std::uint16_t> bits(65536);
  std::vector<float> bf16(65536), fp16(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) bits[i] = static_cast<std::uint16_t>(i);
  host().from_bf16(bits.data(), bf16.data(), {.n = bits.size()});
  host().from_fp16(bits.data(), fp16.data(), bits.size());
  for (std::uint32_t i = 0; i < 65536; ++i) {
    ASSERT_TRUE(same(bf16[i], decode(Dtype::kBf16, i))) << i;
    ASSERT_TRUE(same(fp16[i], decode(Dtype::kFp16, i))) << i;
  }
}

TEST_P(Conversion, EncodesAsTheScalarCode) {
  const std::vector<float> x = patterns();
  std::vector<std::uint16_t> bf16(x.size()), fp16(x.size()), stochastic(x.size());
  std::vector<float> tf32(x.size());
  const kernels::Draw draw{kStream, 3, 256};
  host().to_bf16(x.data(), bf16.data(), {.n = x.size()});
  host().to_fp16(x.data(), fp16.data(), x.size());
  host().to_tf32(x.data(), tf32.data(), x.size());
  host().to_bf16_stochastic(x.data(), draw, stochastic.data(), {.n = x.size()});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t word = random_word(draw, 0, i);
    ASSERT_EQ(bf16[i], encode(Dtype::kBf16, x[i])) << x[i];
    ASSERT_EQ(fp16[i], encode(Dtype::kFp16, x[i])) << x[i];
    ASSERT_EQ(std::bit_cast<std::uint32_t>(tf32[i]), encode(Dtype::kTf32, x[i])) << x[i];
    ASSERT_EQ(stochastic[i], encode(Dtype::kBf16, x[i], Rounding::kStochastic, word)) << x[i];
  }
}

TEST_P(Conversion, TellsWhetherAResultIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, -inf, std::nanf(""), -std::numeric_limits<float>::max(), 1.0F})
    for (const std::size_t at : {std::size_t{0}, std::size_t{17}, std::size_t{99}}) {
      std::vector<float> x(100, -65504.0F);
      x[at] = bad;
      std::vector<std::uint16_t> out(x.size());
      EXPECT_EQ(host().to_bf16(x.data(), out.data(), {.n = x.size()}), bad != 1) << bad;
      EXPECT_EQ(host().to_fp16(x.data(), out.data(), x.size()), bad != 1) << bad;
      // Not the largest finite number: whether it becomes infinite is left to chance.
      if (std::isfinite(bad) && bad != 1) continue;
      EXPECT_EQ(host().to_bf16_stochastic(x.data(), {kStream}, out.data(), {.n = x.size()}), bad != 1) << bad;
    }
}

TEST_P(Conversion, CastsRowsAsEachByItself) {
  const std::vector<float> all = patterns();
  for (const std::size_t n : {1, 15, 16, 63, 64, 65, 100, 128, 129, 192, 256, 511, 512, 700})
    for (const bool special : {false, true}) {
      constexpr std::size_t kCount = 9;
      const std::size_t in_pitch = n + 5, out_pitch = n + 3;
      std::vector<float> in(kCount * in_pitch, std::nanf(""));
      for (std::size_t r = 0; r < kCount; ++r)
        for (std::size_t i = 0; i < n; ++i) {
          const float x = all[(r * 7919 + i * 613 + n) % all.size()];
          in[r * in_pitch + i] = special || std::fabs(x) < 1e30F ? x : 1.5F;
        }
      const kernels::Rows rows{kCount, n, static_cast<std::int64_t>(in_pitch) * 4,
                               static_cast<std::int64_t>(out_pitch) * 2};
      const kernels::Draw draw{kStream, 11, 128};
      std::vector<std::uint16_t> nearest(kCount * out_pitch, 0xabcd), stochastic = nearest;
      host().to_bf16(in.data(), nearest.data(), rows);
      host().to_bf16_stochastic(in.data(), draw, stochastic.data(), rows);
      std::vector<float> back(kCount * n);
      host().from_bf16(nearest.data(), back.data(), {kCount, n, rows.out_stride, static_cast<std::int64_t>(n) * 4});
      for (std::size_t r = 0; r < kCount; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
          const float x = in[r * in_pitch + i];
          ASSERT_EQ(nearest[r * out_pitch + i], encode(Dtype::kBf16, x)) << n << " " << r << " " << i;
          ASSERT_EQ(stochastic[r * out_pitch + i],
                    encode(Dtype::kBf16, x, Rounding::kStochastic, random_word(draw, r, i)))
              << n << " " << r << " " << i;
          ASSERT_TRUE(same(back[r * n + i], decode(Dtype::kBf16, nearest[r * out_pitch + i])));
        }
        for (std::size_t i = n; i < out_pitch; ++i) {
          ASSERT_EQ(nearest[r * out_pitch + i], 0xabcd) << "written beyond the row";
          ASSERT_EQ(stochastic[r * out_pitch + i], 0xabcd) << "written beyond the row";
        }
      }
    }
}

TEST_P(Conversion, FindsASpecialNumberInAnyRow) {
  constexpr std::size_t kCount = 5, kPitch = 40;
  for (const std::size_t n : {1, 31, 33}) {
    const kernels::Rows rows{kCount, n, kPitch * 2, 0}, words{kCount, n, kPitch * 4, 0};
    for (std::size_t at = 0; at < kCount * kPitch; ++at) {
      std::vector<std::uint16_t> halves(kCount * kPitch, 0x3f80);
      std::vector<std::uint32_t> bits(kCount * kPitch, 0x3f800000);
      halves[at] = 0x7f80, bits[at] = 0xff800000;
      EXPECT_EQ(host().special16(halves.data(), rows, 0x7f80), at % kPitch < n) << n << " " << at;
      EXPECT_EQ(host().special32(bits.data(), words, 0x7f800000), at % kPitch < n) << n << " " << at;
    }
  }
}

TEST_P(Conversion, EncodesBytesAsTheScalarCode) {
  const std::vector<float> x = patterns();
  std::vector<std::uint8_t> bytes(x.size());
  constexpr std::array kTypes{Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4};
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    host().to_fp8[type](x.data(), bytes.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(bytes[i], encode(kTypes[type], x[i])) << name_of(kTypes[type]) << " of " << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conversion,
                         testing::Values(kernels::Level::kGeneric, kernels::Level::kAvx2, kernels::Level::kAvx512),
                         [](const auto& info) { return std::string{kernels::name_of(info.param)}; });

}  // namespace
}  // namespace isa
