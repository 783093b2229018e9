// The machine's number formats: names, sizes, exact conversion. Source: AWS Neuron docs, "Neuron data types".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace isa {

enum class Dtype : std::uint8_t {
  kFp32,
  kTf32,
  kBf16,
  kFp16,
  kFp8E4m3,
  kFp8E5m2,
  kFp8E3m4,
  kInt32,
  kUint32,
  kInt16,
  kUint16,
  kInt8,
  kUint8,
};
inline constexpr std::size_t kDtypeCount = 13;

enum class Rounding : std::uint8_t { kNearestEven, kStochastic };

/// Bytes of one element in memory (tf32 is held in 4 bytes).
constexpr int size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
    case Dtype::kTf32:
    case Dtype::kInt32:
    case Dtype::kUint32: return 4;
    case Dtype::kBf16:
    case Dtype::kFp16:
    case Dtype::kInt16:
    case Dtype::kUint16: return 2;
    default: return 1;
  }
}
constexpr bool is_integer(Dtype dtype) { return dtype >= Dtype::kInt32; }

std::string_view name_of(Dtype dtype);                   // "fp32", "bf16", "fp8_e4m3", "int32", ...
std::optional<Dtype> dtype_from(std::string_view name);  // the same names

/// Exact value of the stored bits (integers: as far as a float holds them).
float decode(Dtype dtype, std::uint32_t bits);
/// decode() of all bytes, for the types of one byte. Errors: base::Fault::kInternal for another type.
std::span<const float, 256> values_of(Dtype dtype);
/// The bits of `value` in `dtype`; `random` (uniform 32 bits) is used by stochastic rounding only. Out of range: floats
/// become infinite, integers saturate. NaN stays NaN (integers: 0). Source: NKI arch guide v2, nki.isa.range_select.
std::uint32_t encode(Dtype dtype, float value, Rounding rounding = Rounding::kNearestEven, std::uint32_t random = 0);

}  // namespace isa
