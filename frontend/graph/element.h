// Types of elements in both dialects of graphs: names, sizes, number formats, exact conversion from and to bits.
// Source: StableHLO specification, "Types"; the formats of 8 bits and fewer: arXiv:2209.05433, arXiv:2206.02915 (FNUZ),
// OCP Microscaling Formats 1.0 (E8M0, 6 and 4 bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace trnsim::frontend {

enum class Element : std::uint8_t {
  kI1,
  kI2,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF4E2M1FN,
  kF6E2M3FN,
  kF6E3M2FN,
  kF8E3M4,
  kF8E4M3,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E4M3B11FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0FNU,
  kBf16,
  kF16,
  kF32,
  kF64,
  kC64,   // complex<f32>
  kC128,  // complex<f64>
  kToken,
  kTuple,
};
inline constexpr std::size_t kElementCount = 32;

enum class ElementClass : std::uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex, kToken, kTuple };

/// The codes of a floating-point format that are no numbers.
enum class Specials : std::uint8_t {
  kIeee,      // infinities, NaNs: the largest exponent
  kOneNan,    // FN: all bits below the sign set are NaN, no infinity
  kNegative,  // FNUZ: the code of minus zero is NaN, no infinity
  kNone,      // every code is a number
};

struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  Specials specials = Specials::kIeee;
  bool is_signed = true;
};

struct ElementInfo {
  Element element;
  std::string_view mlir;  // "i32", "ui8", "complex<f32>"
  std::string_view hlo;   // "s32", "u8", "c64"
  ElementClass kind;
  int bits;            // of a value; a complex number's are both parts'
  FloatFormat format;  // of floating-point types only
};

/// The only list of the types.
std::span<const ElementInfo, kElementCount> elements();
const ElementInfo& info(Element element);

std::optional<Element> element_from_mlir(std::string_view name);
std::optional<Element> element_from_hlo(std::string_view name);

inline bool is_bool(Element e) { return info(e).kind == ElementClass::kBool; }
inline bool is_signed_integer(Element e) { return info(e).kind == ElementClass::kSigned; }
inline bool is_unsigned_integer(Element e) { return info(e).kind == ElementClass::kUnsigned; }
inline bool is_integer(Element e) { return is_signed_integer(e) || is_unsigned_integer(e); }
inline bool is_float(Element e) { return info(e).kind == ElementClass::kFloat; }
inline bool is_complex(Element e) { return info(e).kind == ElementClass::kComplex; }

/// Bytes of one element in a Literal: types of fewer than eight bits take a byte each.
inline std::size_t stored_bytes(Element e) { return static_cast<std::size_t>(info(e).bits + 7) / 8; }

/// The type of the parts of a complex type; others stay.
Element real_part(Element element);
/// The complex type of such parts. Errors: Fault::kInternal unless it is f32 or f64.
Element complex_of(Element part);

/// The value of the stored bits of a floating-point type of at most 64 bits.
double decode_float(Element element, std::uint64_t bits);
/// The bits of `value`, rounded to nearest, ties to even. Beyond the largest number: infinity, where the type has none
/// NaN, where it has neither the largest number. NaN where the type has none: zero with the sign of minus.
std::uint64_t encode_float(Element element, double value);
/// decode_float(encode_float(value)).
double round_to(Element element, double value);
/// The lowest `bits` of an integer as the type reads them: sign extended, zero extended, or whether it is not zero.
std::int64_t wrap_to(Element element, std::int64_t value);

}  // namespace trnsim::frontend
