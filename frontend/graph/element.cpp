#include "frontend/graph/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace trnsim::frontend {
namespace {

constexpr FloatFormat kNoFormat{};

// clang-format off
constexpr std::array<ElementInfo, kElementCount> kElements = {{
    {Element::kI1, "i1", "pred", ElementClass::kBool, 1, kNoFormat},
    {Element::kI2, "i2", "s2", ElementClass::kSigned, 2, kNoFormat},
    {Element::kI4, "i4", "s4", ElementClass::kSigned, 4, kNoFormat},
    {Element::kI8, "i8", "s8", ElementClass::kSigned, 8, kNoFormat},
    {Element::kI16, "i16", "s16", ElementClass::kSigned, 16, kNoFormat},
    {Element::kI32, "i32", "s32", ElementClass::kSigned, 32, kNoFormat},
    {Element::kI64, "i64", "s64", ElementClass::kSigned, 64, kNoFormat},
    {Element::kU2, "ui2", "u2", ElementClass::kUnsigned, 2, kNoFormat},
    {Element::kU4, "ui4", "u4", ElementClass::kUnsigned, 4, kNoFormat},
    {Element::kU8, "ui8", "u8", ElementClass::kUnsigned, 8, kNoFormat},
    {Element::kU16, "ui16", "u16", ElementClass::kUnsigned, 16, kNoFormat},
    {Element::kU32, "ui32", "u32", ElementClass::kUnsigned, 32, kNoFormat},
    {Element::kU64, "ui64", "u64", ElementClass::kUnsigned, 64, kNoFormat},
    {Element::kF4E2M1FN, "f4E2M1FN", "f4e2m1fn", ElementClass::kFloat, 4, {2, 1, 1, Specials::kNone}},
    {Element::kF6E2M3FN, "f6E2M3FN", "f6e2m3fn", ElementClass::kFloat, 6, {2, 3, 1, Specials::kNone}},
    {Element::kF6E3M2FN, "f6E3M2FN", "f6e3m2fn", ElementClass::kFloat, 6, {3, 2, 3, Specials::kNone}},
    {Element::kF8E3M4, "f8E3M4", "f8e3m4", ElementClass::kFloat, 8, {3, 4, 3, Specials::kIeee}},
    {Element::kF8E4M3, "f8E4M3", "f8e4m3", ElementClass::kFloat, 8, {4, 3, 7, Specials::kIeee}},
    {Element::kF8E4M3FN, "f8E4M3FN", "f8e4m3fn", ElementClass::kFloat, 8, {4, 3, 7, Specials::kOneNan}},
    {Element::kF8E4M3FNUZ, "f8E4M3FNUZ", "f8e4m3fnuz", ElementClass::kFloat, 8, {4, 3, 8, Specials::kNegative}},
    {Element::kF8E4M3B11FNUZ, "f8E4M3B11FNUZ", "f8e4m3b11fnuz", ElementClass::kFloat, 8,
     {4, 3, 11, Specials::kNegative}},
    {Element::kF8E5M2, "f8E5M2", "f8e5m2", ElementClass::kFloat, 8, {5, 2, 15, Specials::kIeee}},
    {Element::kF8E5M2FNUZ, "f8E5M2FNUZ", "f8e5m2fnuz", ElementClass::kFloat, 8, {5, 2, 16, Specials::kNegative}},
    {Element::kF8E8M0FNU, "f8E8M0FNU", "f8e8m0fnu", ElementClass::kFloat, 8, {8, 0, 127, Specials::kOneNan, false}},
    {Element::kBf16, "bf16", "bf16", ElementClass::kFloat, 16, {8, 7, 127, Specials::kIeee}},
    {Element::kF16, "f16", "f16", ElementClass::kFloat, 16, {5, 10, 15, Specials::kIeee}},
    {Element::kF32, "f32", "f32", ElementClass::kFloat, 32, {8, 23, 127, Specials::kIeee}},
    {Element::kF64, "f64", "f64", ElementClass::kFloat, 64, {11, 52, 1023, Specials::kIeee}},
    {Element::kC64, "complex<f32>", "c64", ElementClass::kComplex, 64, {8, 23, 127, Specials::kIeee}},
    {Element::kC128, "complex<f64>", "c128", ElementClass::kComplex, 128, {11, 52, 1023, Specials::kIeee}},
    {Element::kToken, "!stablehlo.token", "token", ElementClass::kToken, 0, kNoFormat},
    {Element::kTuple, "tuple", "tuple", ElementClass::kTuple, 0, kNoFormat},
}};
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kElementCount; ++i)
    if (static_cast<std::size_t>(kElements[i].element) != i) return false;
  return true;
}
static_assert(in_order());

std::optional<Element> named(std::string_view name, std::string_view ElementInfo::*column) {
  const auto found = std::ranges::find(kElements, name, column);
  if (found == kElements.end()) return std::nullopt;
  return found->element;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The bits of a format without their sign: exponent and mantissa all ones.
std::uint64_t magnitude_mask(const FloatFormat& f) {
  return (std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
}

/// The largest code, without its sign, that is a finite number.
std::uint64_t largest_code(const FloatFormat& f) {
  if (f.specials == Specials::kIeee) return (((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
  return magnitude_mask(f) - (f.specials == Specials::kOneNan ? 1 : 0);
}

double decode_powers(std::uint64_t bits) { return bits == 255 ? kNan : std::ldexp(1.0, static_cast<int>(bits) - 127); }

/// E8M0: powers of two, the nearest; ties go up, as the one bit of the significand is odd. No zero, no sign.
std::uint64_t encode_powers(double value) {
  if (!(value >= 0) || std::isinf(value)) return 255;
  if (value < std::ldexp(1.0, -127)) return 0;
  int exponent = 0;
  const double half = std::frexp(value, &exponent);  // in [0.5, 1)
  int code = exponent - 1 + 127;
  if (half >= 0.75) ++code;
  return static_cast<std::uint64_t>(std::min(code, 255));
}

double decode_small(const FloatFormat& f, std::uint64_t bits) {
  const std::uint64_t sign_bit = magnitude_mask(f) + 1;
  const bool negative = (bits & sign_bit) != 0;
  const std::uint64_t magnitude = bits & magnitude_mask(f);
  if (f.specials == Specials::kNegative && negative && magnitude == 0) return kNan;
  if (f.specials == Specials::kOneNan && magnitude == magnitude_mask(f)) return kNan;
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  double value = 0;
  if (f.specials == Specials::kIeee && exponent == (1 << f.exponent_bits) - 1)
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : kNan;
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(mantissa), 1 - f.bias - f.mantissa_bits);
  else
    value = std::ldexp(static_cast<double>(mantissa | (std::uint64_t{1} << f.mantissa_bits)),
                       exponent - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

/// The code of NaN or of a magnitude beyond the largest number.
std::uint64_t encode_special(const FloatFormat& f, double value) {
  const std::uint64_t sign_bit = magnitude_mask(f) + 1;
  const std::uint64_t sign = std::signbit(value) ? sign_bit : 0;
  const std::uint64_t infinity = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  switch (f.specials) {
    case Specials::kIeee: return sign | infinity | (std::isnan(value) ? std::uint64_t{1} << (f.mantissa_bits - 1) : 0);
    case Specials::kOneNan: return sign | magnitude_mask(f);
    case Specials::kNegative: return sign_bit;
    case Specials::kNone: return std::isnan(value) ? sign_bit : sign | largest_code(f);
  }
  return 0;
}

std::uint64_t encode_small(const FloatFormat& f, double value) {
  if (std::isnan(value) || std::isinf(value)) return encode_special(f, value);
  if (value == 0) return std::signbit(value) && f.specials != Specials::kNegative ? magnitude_mask(f) + 1 : 0;
  const double magnitude = std::abs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int scale = std::max(exponent - 1, 1 - f.bias) - f.mantissa_bits;  // of the last bit of the result
  const double steps = std::nearbyint(std::ldexp(magnitude, -scale));      // ties to even
  // Codes of consecutive numbers are consecutive, so that a carry into the exponent needs no case of its own.
  const auto code = static_cast<std::uint64_t>(steps) +
                    (static_cast<std::uint64_t>(scale + f.mantissa_bits + f.bias - 1) << f.mantissa_bits);
  if (code > largest_code(f)) return encode_special(f, value);
  const bool negative = std::signbit(value) && !(f.specials == Specials::kNegative && code == 0);
  return code | (negative ? magnitude_mask(f) + 1 : 0);
}

}  // namespace

std::span<const ElementInfo, kElementCount> elements() { return kElements; }
const ElementInfo& info(Element element) { return kElements[static_cast<std::size_t>(element)]; }
std::optional<Element> element_from_mlir(std::string_view name) {
  if (name.starts_with("si")) name.remove_prefix(1);
  return named(name, &ElementInfo::mlir);
}
std::optional<Element> element_from_hlo(std::string_view name) { return named(name, &ElementInfo::hlo); }

Element real_part(Element element) {
  if (element == Element::kC64) return Element::kF32;
  return element == Element::kC128 ? Element::kF64 : element;
}
Element complex_of(Element part) {
  base::ensure(part == Element::kF32 || part == Element::kF64, "complex_of", "is for f32 and f64");
  return part == Element::kF32 ? Element::kC64 : Element::kC128;
}

double decode_float(Element element, std::uint64_t bits) {
  switch (element) {
    case Element::kF64: return std::bit_cast<double>(bits);
    case Element::kF32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Element::kBf16: return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    case Element::kF8E8M0FNU: return decode_powers(bits);
    default: return decode_small(info(element).format, bits);
  }
}

std::uint64_t encode_float(Element element, double value) {
  switch (element) {
    case Element::kF64: return std::bit_cast<std::uint64_t>(value);
    case Element::kF32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Element::kF8E8M0FNU: return encode_powers(value);
    default: return encode_small(info(element).format, value);
  }
}

double round_to(Element element, double value) {
  if (element == Element::kF64) return value;
  if (element == Element::kF32) return static_cast<float>(value);
  // Normal numbers below the largest binade: the mantissa's lower bits are rounded away in place.
  const FloatFormat& f = info(element).format;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (f.is_signed && exponent >= 1 - f.bias && exponent < f.bias - 1) {
    const int gone = 52 - f.mantissa_bits;
    const std::uint64_t half = (std::uint64_t{1} << (gone - 1)) - 1 + (bits >> gone & 1);
    return std::bit_cast<double>((bits + half) >> gone << gone);
  }
  return decode_float(element, encode_float(element, value));
}

std::int64_t wrap_to(Element element, std::int64_t value) {
  const ElementInfo& of = info(element);
  if (of.kind == ElementClass::kBool) return value != 0;
  if (of.bits >= 64) return value;
  const int shift = 64 - of.bits;
  const std::uint64_t up = static_cast<std::uint64_t>(value) << shift;
  if (of.kind == ElementClass::kSigned) return static_cast<std::int64_t>(up) >> shift;
  return static_cast<std::int64_t>(up >> shift);
}

}  // namespace trnsim::frontend
