#include "workloads/checkpoints/number_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace workloads {
namespace {

struct FormatRow {
  ElementType type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array kTypes = {
    FormatRow{ElementType::kF64, "F64", 8},        FormatRow{ElementType::kF32, "F32", 4},
    FormatRow{ElementType::kF16, "F16", 2},        FormatRow{ElementType::kBf16, "BF16", 2},
    FormatRow{ElementType::kF8E4m3, "F8_E4M3", 1}, FormatRow{ElementType::kF8E5m2, "F8_E5M2", 1},
    FormatRow{ElementType::kI64, "I64", 8},        FormatRow{ElementType::kI32, "I32", 4},
    FormatRow{ElementType::kI16, "I16", 2},        FormatRow{ElementType::kI8, "I8", 1},
    FormatRow{ElementType::kU64, "U64", 8},        FormatRow{ElementType::kU32, "U32", 4},
    FormatRow{ElementType::kU16, "U16", 2},        FormatRow{ElementType::kU8, "U8", 1},
    FormatRow{ElementType::kBool, "BOOL", 1},
};
static_assert(std::ranges::is_sorted(kTypes, {}, &FormatRow::type) && kTypes.size() == 15);

/// A binary format of at most 16 bits: sign, exponent, mantissa.
struct Small {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // E4M3 has none: its largest exponent holds numbers, all ones is NaN
  bool saturates;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint32_t mantissa_mask() const { return (1u << mantissa_bits) - 1; }
  std::uint32_t magnitude_mask() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  std::uint32_t largest() const { return has_infinity ? infinity() - 1 : magnitude_mask() - 1; }
  std::uint32_t nan() const { return has_infinity ? infinity() | (1u << (mantissa_bits - 1)) : magnitude_mask(); }
};

Small small_format(ElementType type) {
  switch (type) {
    case ElementType::kF16: return {5, 10, true, false};
    case ElementType::kBf16: return {8, 7, true, false};
    case ElementType::kF8E4m3: return {4, 3, false, true};
    default: return {5, 2, true, true};
  }
}

float decode(const Small& f, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & f.magnitude_mask();
  const float sign = bits > f.magnitude_mask() ? -1.0f : 1.0f;
  if (magnitude > f.largest()) {
    const bool infinite = f.has_infinity && magnitude == f.infinity();
    return infinite ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const auto fraction = static_cast<float>(magnitude & f.mantissa_mask());
  const float hidden = exponent > 0 ? static_cast<float>(1u << f.mantissa_bits) : 0.0f;
  return sign * std::ldexp(hidden + fraction, std::max(exponent, 1) - f.bias() - f.mantissa_bits);
}

std::uint32_t encode(const Small& f, float value) {
  const std::uint32_t sign = std::signbit(value) ? f.magnitude_mask() + 1 : 0;
  if (std::isnan(value)) return sign | f.nan();
  const std::uint32_t overflow = f.saturates ? f.largest() : f.infinity();
  const double magnitude = std::abs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | (f.has_infinity ? f.infinity() : f.largest());
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias());
  // In units of the last place; nearbyint rounds half to even. A carry moves into the exponent by itself.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent)));
  if (exponent > (1 << f.exponent_bits)) return sign | overflow;
  const std::uint32_t base = static_cast<std::uint32_t>(exponent + f.bias() - 1) << f.mantissa_bits;
  const std::uint32_t bits = base + units;
  return sign | (bits > f.largest() ? overflow : bits);
}

template <typename Stored, typename Out>
std::vector<Out> widen(std::span<const std::byte> bytes) {
  std::vector<Out> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));  // files give no alignment
    values[i] = static_cast<Out>(+stored);                                    // a small integer as int first
  }
  return values;
}

template <typename Stored>
std::vector<float> widen_small(const Small& format, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(Stored));
  std::vector<float> table;  // of every bit pattern, when that is less work
  if (constexpr std::size_t kPatterns = std::size_t{1} << (8 * sizeof(Stored)); values.size() > kPatterns)
    for (std::uint32_t i = 0; i < kPatterns; ++i) table.push_back(decode(format, i));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = table.empty() ? decode(format, stored) : table[stored];
  }
  return values;
}

template <typename Out>
std::vector<Out> widen_integer(ElementType type, std::span<const std::byte> bytes) {
  switch (type) {
    case ElementType::kI64: return widen<std::int64_t, Out>(bytes);
    case ElementType::kI32: return widen<std::int32_t, Out>(bytes);
    case ElementType::kI16: return widen<std::int16_t, Out>(bytes);
    case ElementType::kI8: return widen<std::int8_t, Out>(bytes);
    case ElementType::kU64: return widen<std::uint64_t, Out>(bytes);
    case ElementType::kU32: return widen<std::uint32_t, Out>(bytes);
    case ElementType::kU16: return widen<std::uint16_t, Out>(bytes);
    case ElementType::kU8:
    case ElementType::kBool: return widen<std::uint8_t, Out>(bytes);
    default: break;
  }
  base::ensure(false, name_of(type), "is not an integer type");
  return {};
}

}  // namespace

std::size_t size_of(ElementType type) { return kTypes.at(static_cast<std::size_t>(type)).size; }
std::string_view name_of(ElementType type) { return kTypes.at(static_cast<std::size_t>(type)).name; }
bool is_floating(ElementType type) { return type < ElementType::kI64; }

std::optional<ElementType> element_type_from(std::string_view name) {
  const auto row = std::ranges::find(kTypes, name, &FormatRow::name);
  return row == kTypes.end() ? std::nullopt : std::optional{row->type};
}

std::string element_type_names() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : kTypes) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<float> to_floats(ElementType type, std::span<const std::byte> bytes) {
  switch (type) {
    case ElementType::kF64: return widen<double, float>(bytes);
    case ElementType::kF32: return widen<float, float>(bytes);
    case ElementType::kF16:
    case ElementType::kBf16: return widen_small<std::uint16_t>(small_format(type), bytes);
    case ElementType::kF8E4m3:
    case ElementType::kF8E5m2: return widen_small<std::uint8_t>(small_format(type), bytes);
    default: return widen_integer<float>(type, bytes);
  }
}

std::vector<std::int64_t> to_integers(ElementType type, std::span<const std::byte> bytes) {
  return widen_integer<std::int64_t>(type, bytes);
}

std::vector<std::byte> from_floats(ElementType type, std::span<const float> values) {
  base::ensure(is_floating(type), name_of(type), "is not a floating type");
  const std::size_t size = size_of(type);
  std::vector<std::byte> bytes(values.size() * size);
  if (type == ElementType::kF32) {
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  const Small format = small_format(type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = type == ElementType::kF64 ? std::bit_cast<std::uint64_t>(static_cast<double>(values[i]))
                                                         : encode(format, values[i]);
    std::memcpy(bytes.data() + i * size, &bits, size);  // little-endian hosts only, checked in safetensors.cpp
  }
  return bytes;
}

std::vector<std::byte> from_integers(std::span<const std::int64_t> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace workloads
