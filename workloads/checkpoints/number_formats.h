// The element types of checkpoint files and their exact conversion from and to float.
// Source: the safetensors format; IEEE 754 binary16; bfloat16; Micikevicius et al., "FP8 formats", arXiv:2209.05433.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

enum class ElementType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBf16,
  kF8E4m3,
  kF8E5m2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
};

std::size_t size_of(ElementType type);
/// The name in a safetensors header: "F32", "BF16", "F8_E4M3", ...
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_from(std::string_view name);
/// All names, for error messages: "F64, F32, ...".
std::string element_type_names();
bool is_floating(ElementType type);

/// Every element as a float; 64-bit integers and doubles are rounded to nearest.
std::vector<float> to_floats(ElementType type, std::span<const std::byte> bytes);
/// Every element as an integer. Errors: Fault::kInternal for floating types.
std::vector<std::int64_t> to_integers(ElementType type, std::span<const std::byte> bytes);
/// Rounds to nearest even. Too large: f16 and bf16 become infinite, f8 saturates as on the machine. NaN stays NaN.
/// Errors: Fault::kInternal for integer types.
std::vector<std::byte> from_floats(ElementType type, std::span<const float> values);
std::vector<std::byte> from_integers(std::span<const std::int64_t> values);

}  // namespace workloads
