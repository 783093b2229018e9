#include "isa/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace isa {
namespace {

/// Layout of a floating-point format: IEEE-like, an exponent of all ones is infinite or NaN.
/// Source: AWS Neuron docs, "Neuron data types" (s/e/m of each); fp8 as in ml_dtypes float8_e4m3, _e5m2, _e3m4.
struct Layout {
  int exponent_bits, mantissa_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
};

constexpr Layout layout_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kTf32: return {8, 10};
    case Dtype::kBf16: return {8, 7};
    case Dtype::kFp16: return {5, 10};
    case Dtype::kFp8E4m3: return {4, 3};
    case Dtype::kFp8E5m2: return {5, 2};
    case Dtype::kFp8E3m4: return {3, 4};
    default: return {8, 23};
  }
}

struct Name {
  Dtype dtype;
  std::string_view name;
};
constexpr std::array<Name, kDtypeCount> kNames{{
    {Dtype::kFp32, "fp32"},
    {Dtype::kTf32, "tf32"},
    {Dtype::kBf16, "bf16"},
    {Dtype::kFp16, "fp16"},
    {Dtype::kFp8E4m3, "fp8_e4m3"},
    {Dtype::kFp8E5m2, "fp8_e5m2"},
    {Dtype::kFp8E3m4, "fp8_e3m4"},
    {Dtype::kInt32, "int32"},
    {Dtype::kUint32, "uint32"},
    {Dtype::kInt16, "int16"},
    {Dtype::kUint16, "uint16"},
    {Dtype::kInt8, "int8"},
    {Dtype::kUint8, "uint8"},
}};

float decode_narrow(Layout layout, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & ((1u << (layout.exponent_bits + layout.mantissa_bits)) - 1);
  const float sign = bits > magnitude ? -1.0f : 1.0f;
  const std::uint32_t mantissa = magnitude & ((1u << layout.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
  if (magnitude > layout.infinity()) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == layout.infinity()) return sign * std::numeric_limits<float>::infinity();
  const int implicit = exponent > 0 ? 1 << layout.mantissa_bits : 0;
  const int scale = std::max(exponent, 1) - layout.bias() - layout.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(static_cast<int>(mantissa) + implicit), scale);
}

/// The term to add before the lowest `drop` bits of a significand are cut off.
std::uint64_t rounding_term(std::uint64_t significand, int drop, Rounding rounding, std::uint32_t random) {
  if (drop == 0) return 0;
  if (rounding == Rounding::kStochastic)
    return drop <= 32 ? static_cast<std::uint64_t>(random) >> (32 - drop)
                      : static_cast<std::uint64_t>(random) << (drop - 32);
  return (std::uint64_t{1} << (drop - 1)) - 1 + ((significand >> drop) & 1);
}

std::uint32_t encode_float(Layout layout, float value, Rounding rounding, std::uint32_t random) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> 31) << (layout.exponent_bits + layout.mantissa_bits);
  if (magnitude > 0x7f800000u) return sign | layout.infinity() | (1u << (layout.mantissa_bits - 1));
  if (magnitude == 0x7f800000u) return sign | layout.infinity();
  const bool subnormal = magnitude < 0x00800000u;
  const std::uint64_t significand = (magnitude & 0x7fffffu) | (subnormal ? 0u : 0x800000u);
  const int exponent = subnormal ? -126 : static_cast<int>(magnitude >> 23) - 127;
  const int lowest = 1 - layout.bias();  // exponent of the smallest normal value
  // Below the smallest normal value one bit more goes per power of two; 60 bits are all of any float.
  const int drop = std::min(23 - layout.mantissa_bits + std::max(0, lowest - exponent), 60);
  const std::uint64_t kept = (significand + rounding_term(significand, drop, rounding, random)) >> drop;
  // The implicit bit of `kept` adds one to the exponent field, as does a carry out of the mantissa.
  const std::uint64_t code =
      (static_cast<std::uint64_t>(std::max(exponent, lowest) - lowest) << layout.mantissa_bits) + kept;
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, layout.infinity()));
}

template <class Int>
std::uint32_t encode_int(float value, Rounding rounding, std::uint32_t random) {
  if (std::isnan(value)) return 0;
  const double exact = value;
  const double rounded =
      rounding == Rounding::kStochastic ? std::floor(exact + random * 0x1p-32) : std::nearbyint(exact);
  const double low = std::numeric_limits<Int>::min(), high = std::numeric_limits<Int>::max();
  const auto clamped = static_cast<std::int64_t>(std::clamp(rounded, low, high));
  return static_cast<std::uint32_t>(clamped) & (sizeof(Int) == 4 ? ~0u : (1u << (8 * (sizeof(Int) % 4))) - 1);
}

}  // namespace

std::string_view name_of(Dtype dtype) { return kNames.at(static_cast<std::size_t>(dtype)).name; }

std::optional<Dtype> dtype_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Name::name);
  if (found == kNames.end()) return std::nullopt;
  return found->dtype;
}

float decode(Dtype dtype, std::uint32_t bits) {
  switch (dtype) {
    case Dtype::kFp32:
    case Dtype::kTf32: return std::bit_cast<float>(bits);
    case Dtype::kBf16: return std::bit_cast<float>(bits << 16);
    case Dtype::kInt32: return static_cast<float>(static_cast<std::int32_t>(bits));
    case Dtype::kUint32: return static_cast<float>(bits);
    case Dtype::kInt16: return static_cast<std::int16_t>(bits);
    case Dtype::kUint16: return static_cast<std::uint16_t>(bits);
    case Dtype::kInt8: return static_cast<std::int8_t>(bits);
    case Dtype::kUint8: return static_cast<std::uint8_t>(bits);
    default: return decode_narrow(layout_of(dtype), bits);
  }
}

std::span<const float, 256> values_of(Dtype dtype) {
  base::ensure(size_of(dtype) == 1, "isa::values_of", "the type has more than 256 values");
  using Values = std::array<float, 256>;
  static const auto kAll = [] {
    std::array<Values, kDtypeCount> all{};
    for (std::size_t type = 0; type < kDtypeCount; ++type)
      for (std::uint32_t bits = 0; bits < 256; ++bits) all[type][bits] = decode(static_cast<Dtype>(type), bits);
    return all;
  }();
  return kAll[static_cast<std::size_t>(dtype)];
}

std::uint32_t encode(Dtype dtype, float value, Rounding rounding, std::uint32_t random) {
  switch (dtype) {
    case Dtype::kFp32: return std::bit_cast<std::uint32_t>(value);
    // Held in the upper 19 of 32 bits.
    case Dtype::kTf32: return encode_float(layout_of(dtype), value, rounding, random) << 13;
    case Dtype::kInt32: return encode_int<std::int32_t>(value, rounding, random);
    case Dtype::kUint32: return encode_int<std::uint32_t>(value, rounding, random);
    case Dtype::kInt16: return encode_int<std::int16_t>(value, rounding, random);
    case Dtype::kUint16: return encode_int<std::uint16_t>(value, rounding, random);
    case Dtype::kInt8: return encode_int<std::int8_t>(value, rounding, random);
    case Dtype::kUint8: return encode_int<std::uint8_t>(value, rounding, random);
    default: return encode_float(layout_of(dtype), value, rounding, random);
  }
}

}  // namespace isa
