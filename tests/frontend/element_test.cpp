#include "frontend/graph/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace trnsim::frontend {
namespace {

/// Every code of a format of at most 16 bits comes back from its value; NaN only as NaN.
TEST(Element, CodesOfSmallFormatsComeBack) {
  for (const ElementInfo& e : elements()) {
    if (e.kind != ElementClass::kFloat || e.bits > 16) continue;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << e.bits; ++code) {
      const double value = decode_float(e.element, code);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode_float(e.element, encode_float(e.element, value)))) << e.mlir << " " << code;
      else
        EXPECT_EQ(encode_float(e.element, value), code) << e.mlir;
    }
  }
}

/// Rounding by bits of fp64 and by codes are the same, also next to halves and to the smallest numbers.
TEST(Element, RoundsToNearestEven) {
  for (const ElementInfo& e : elements()) {
    if (e.kind != ElementClass::kFloat || e.bits > 16 || e.element == Element::kF8E8M0FNU) continue;
    const std::uint64_t most = std::uint64_t{1} << (e.bits - 1);
    for (std::uint64_t code = 0; code + 1 < most; ++code) {
      const double low = decode_float(e.element, code), high = decode_float(e.element, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;  // exact: a bit more than the format has
      EXPECT_EQ(round_to(e.element, middle), code % 2 == 0 ? low : high) << e.mlir << " " << middle;
      EXPECT_EQ(round_to(e.element, std::nextafter(middle, low)), low) << e.mlir;
      EXPECT_EQ(round_to(e.element, std::nextafter(middle, high)), high) << e.mlir;
    }
  }
}

TEST(Element, KnownValues) {
  EXPECT_EQ(round_to(Element::kF8E4M3FN, 448), 448);
  EXPECT_TRUE(std::isnan(round_to(Element::kF8E4M3FN, 480)));  // no infinity
  EXPECT_EQ(round_to(Element::kF8E4M3, 240), 240);
  EXPECT_TRUE(std::isinf(round_to(Element::kF8E4M3, 256)));
  EXPECT_EQ(round_to(Element::kF4E2M1FN, 100), 6);  // the largest
  EXPECT_EQ(round_to(Element::kF8E8M0FNU, 3), 4);   // powers of two alone, ties go up
  EXPECT_EQ(round_to(Element::kF16, 65520), INFINITY);
  EXPECT_EQ(encode_float(Element::kBf16, 0.0), 0U);
  EXPECT_EQ(encode_float(Element::kBf16, -0.0), 0x8000U);
}

TEST(Element, IntegersWrap) {
  EXPECT_EQ(wrap_to(Element::kI4, 8), -8);
  EXPECT_EQ(wrap_to(Element::kU4, 17), 1);
  EXPECT_EQ(wrap_to(Element::kI8, 200), -56);
  EXPECT_EQ(wrap_to(Element::kU64, -1), -1);
  EXPECT_EQ(wrap_to(Element::kI1, 2), 1);
}

}  // namespace
}  // namespace trnsim::frontend
