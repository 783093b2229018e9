#include "workloads/checkpoints/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace workloads {
namespace {

std::uint32_t bits_of(ElementType type, float value) {
  const auto bytes = from_floats(type, std::array{value});
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

float value_of(ElementType type, std::uint32_t bits) {
  std::vector<std::byte> bytes(size_of(type));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return to_floats(type, bytes)[0];
}

TEST(NumberFormats, KnownBits) {
  EXPECT_EQ(bits_of(ElementType::kF16, 1.0f), 0x3C00u);
  EXPECT_EQ(bits_of(ElementType::kF16, -65504.0f), 0xFBFFu);
  EXPECT_EQ(bits_of(ElementType::kF16, 65520.0f), 0x7C00u);  // half way to 65536: becomes infinite
  EXPECT_EQ(bits_of(ElementType::kF16, 0x1p-24f), 0x0001u);  // the smallest subnormal
  EXPECT_EQ(bits_of(ElementType::kF16, 0x1p-25f), 0x0000u);  // a tie, to even
  EXPECT_EQ(bits_of(ElementType::kBf16, 1.0f), 0x3F80u);
  EXPECT_EQ(bits_of(ElementType::kBf16, 1.0f + 0x1p-8f), 0x3F80u);  // a tie, to even
  EXPECT_EQ(bits_of(ElementType::kBf16, 1.0f + 0x3p-8f), 0x3F82u);  // a tie, to even
  EXPECT_EQ(bits_of(ElementType::kBf16, std::numeric_limits<float>::max()), 0x7F80u);
  EXPECT_EQ(bits_of(ElementType::kF8E4m3, 448.0f), 0x7Eu);
  EXPECT_EQ(bits_of(ElementType::kF8E4m3, 1e9f), 0x7Eu);  // saturates
  EXPECT_EQ(bits_of(ElementType::kF8E4m3, 0x1p-9f), 0x01u);
  EXPECT_EQ(bits_of(ElementType::kF8E5m2, 57344.0f), 0x7Bu);
  EXPECT_EQ(bits_of(ElementType::kF8E5m2, -1e9f), 0xFBu);
  EXPECT_EQ(bits_of(ElementType::kF32, -0.0f), 0x80000000u);
  EXPECT_EQ(bits_of(ElementType::kBf16, -0.0f), 0x8000u);
}

TEST(NumberFormats, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBf16, ElementType::kF8E4m3, ElementType::kF8E5m2}) {
    const bool infinity_saturates = type == ElementType::kF8E4m3;
    for (std::uint32_t bits = 0; bits < 1u << (8 * size_of(type)); ++bits) {
      const float value = value_of(type, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(value_of(type, bits_of(type, value))));
      } else if (!(infinity_saturates && std::isinf(value))) {
        ASSERT_EQ(bits_of(type, value), bits) << name_of(type) << " of " << value;
      }
    }
  }
}

TEST(NumberFormats, NearestIsNearest) {
  for (const ElementType type : {ElementType::kF16, ElementType::kF8E4m3, ElementType::kF8E5m2}) {
    for (std::uint32_t bits = 0; bits < 0x70; ++bits) {
      const float low = value_of(type, bits), high = value_of(type, bits + 1);
      EXPECT_EQ(bits_of(type, low + (high - low) * 0.49f), bits);
      EXPECT_EQ(bits_of(type, low + (high - low) * 0.51f), bits + 1);
      EXPECT_EQ(bits_of(type, low + (high - low) * 0.5f), bits + bits % 2);
    }
  }
}

TEST(NumberFormats, BfloatIsTheUpperHalfOfAFloat) {
  for (const float value : {3.14159274f, -1e-30f, 1e38f, 0x1p-130f})
    EXPECT_EQ(value_of(ElementType::kBf16, std::bit_cast<std::uint32_t>(value) >> 16),
              std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000u));
}

TEST(NumberFormats, Integers) {
  const std::vector<std::int64_t> values{-1, 0, 1LL << 40, std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(to_integers(ElementType::kI64, from_integers(values)), values);
  const std::array bytes{std::byte{0xFF}, std::byte{0x7F}};
  EXPECT_EQ(to_integers(ElementType::kI8, bytes), (std::vector<std::int64_t>{-1, 127}));
  EXPECT_EQ(to_integers(ElementType::kU8, bytes), (std::vector<std::int64_t>{255, 127}));
  EXPECT_EQ(to_floats(ElementType::kI16, bytes), (std::vector<float>{32767}));
}

TEST(NumberFormats, NamesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(ElementType::kBool); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_from(name_of(type)), type);
  }
  EXPECT_FALSE(element_type_from("F4"));
}

}  // namespace
}  // namespace workloads
