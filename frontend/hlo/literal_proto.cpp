// Constants in the proto. Source of the field numbers: xla_data.proto, LiteralProto.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "frontend/hlo/values_proto.h"

namespace trnsim::frontend::hlo {
namespace {

/// How the numbers of a type are stored.
enum class Storage : std::uint8_t { kVarints, kFixed32, kFixed64, kBytes, kPacked };

struct LiteralField {
  Element element;
  std::uint32_t field;
  Storage storage;
};

constexpr std::array<LiteralField, 28> kFields{{
    {Element::kI1, 2, Storage::kVarints},
    {Element::kI32, 4, Storage::kVarints},
    {Element::kI64, 5, Storage::kVarints},
    {Element::kU32, 6, Storage::kVarints},
    {Element::kU64, 7, Storage::kVarints},
    {Element::kF32, 8, Storage::kFixed32},
    {Element::kF64, 9, Storage::kFixed64},
    {Element::kC64, 12, Storage::kFixed32},
    {Element::kC128, 18, Storage::kFixed64},
    {Element::kI2, 26, Storage::kPacked},
    {Element::kI4, 21, Storage::kPacked},
    {Element::kU2, 27, Storage::kPacked},
    {Element::kU4, 22, Storage::kPacked},
    {Element::kI8, 15, Storage::kBytes},
    {Element::kU8, 3, Storage::kBytes},
    {Element::kI16, 17, Storage::kBytes},
    {Element::kU16, 16, Storage::kBytes},
    {Element::kF16, 11, Storage::kBytes},
    {Element::kBf16, 13, Storage::kBytes},
    {Element::kF8E5M2, 19, Storage::kBytes},
    {Element::kF8E4M3, 28, Storage::kBytes},
    {Element::kF8E4M3FN, 20, Storage::kBytes},
    {Element::kF8E4M3B11FNUZ, 23, Storage::kBytes},
    {Element::kF8E3M4, 29, Storage::kBytes},
    {Element::kF8E5M2FNUZ, 24, Storage::kBytes},
    {Element::kF8E4M3FNUZ, 25, Storage::kBytes},
    {Element::kF4E2M1FN, 32, Storage::kPacked},
    {Element::kF8E8M0FNU, 33, Storage::kBytes},
}};

const LiteralField& field_of(Element element, std::string_view where) {
  const auto found = std::ranges::find(kFields, element, &LiteralField::element);
  if (found != kFields.end()) return *found;
  throw base::Error{base::Fault::kData, where, fmt::format("a constant of {} is not possible", info(element).hlo),
                    "use one of the types that docs/frontend.md lists"};
}

void append_bits(std::string& bytes, std::uint64_t bits, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
}

/// Types of fewer than 8 bits: the first element in the lowest bits of a byte.
std::string unpacked(std::string_view packed, Element element, std::int64_t count) {
  const int bits = info(element).bits;
  const int each = 8 / bits;
  std::string out;
  for (std::int64_t i = 0; i < count && static_cast<std::size_t>(i / each) < packed.size(); ++i) {
    const auto byte = static_cast<unsigned char>(packed[static_cast<std::size_t>(i / each)]);
    const auto value = byte >> (i % each * bits) & ((1 << bits) - 1);
    const bool negative = is_signed_integer(element) && value >> (bits - 1) & 1;
    out += static_cast<char>(negative ? value - (1 << bits) : value);
  }
  return out;
}

std::string packed(const std::string& bytes, Element element) {
  const int bits = info(element).bits;
  const auto each = static_cast<std::size_t>(8 / bits);
  std::string out((bytes.size() + each - 1) / each, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int value = static_cast<unsigned char>(bytes[i]) & ((1 << bits) - 1);
    out[i / each] =
        static_cast<char>(static_cast<unsigned char>(out[i / each]) | value << (static_cast<int>(i % each) * bits));
  }
  return out;
}

void read_numbers(Message& message, const LiteralField& field, std::int64_t count, std::string& bytes) {
  const std::size_t size = stored_bytes(field.element);
  switch (field.storage) {
    case Storage::kVarints: {
      Ints values;
      append_ints(message, values);
      for (const std::int64_t value : values) append_bits(bytes, static_cast<std::uint64_t>(value), size);
      return;
    }
    case Storage::kPacked: bytes += unpacked(message.get_string(), field.element, count); return;
    case Storage::kBytes: bytes += message.get_string(); return;
    case Storage::kFixed32:
      if (message.wire_type() == protozero::pbf_wire_type::fixed32)
        append_bits(bytes, message.get_fixed32(), 4);
      else
        bytes += message.get_string();  // packed little-endian numbers
      return;
    case Storage::kFixed64:
      if (message.wire_type() == protozero::pbf_wire_type::fixed64)
        append_bits(bytes, message.get_fixed64(), 8);
      else
        bytes += message.get_string();
  }
}

std::uint64_t bits_from(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i) bits |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return bits;
}

void write_numbers(MessageWriter& message, const Literal& literal, const LiteralField& field) {
  if (field.storage == Storage::kPacked) return message.add_bytes(field.field, packed(literal.bytes, field.element));
  if (field.storage != Storage::kVarints) return message.add_bytes(field.field, literal.bytes);
  const std::size_t size = stored_bytes(field.element);
  std::vector<std::uint64_t> values;
  for (std::size_t at = 0; at + size <= literal.bytes.size(); at += size) {
    const std::uint64_t bits = bits_from(literal.bytes, at, size);
    values.push_back(is_signed_integer(field.element)
                         ? static_cast<std::uint64_t>(wrap_to(field.element, static_cast<std::int64_t>(bits)))
                         : bits);
  }
  message.add_packed_uint64(field.field, values.begin(), values.end());
}

}  // namespace

Literal literal_of(Message message, const Shape& shape, std::string_view where, int depth) {
  Literal out;
  if (shape.element == Element::kTuple) {
    if (depth > 100) throw base::Error{base::Fault::kData, where, "has more than 100 nested tuples", "flatten them"};
    while (message.next()) {
      const std::size_t i = out.elements.size();
      if (message.tag() == 10 && i < shape.elements.size())
        out.elements.push_back(literal_of(message.get_message(), shape.elements[i], where, depth + 1));
      else
        message.skip();
    }
    out.elements.resize(shape.elements.size());
    return out;
  }
  const LiteralField& field = field_of(shape.element, where);
  const std::int64_t count = elements_of(shape, where);
  while (message.next()) message.tag() == field.field ? read_numbers(message, field, count, out.bytes) : message.skip();
  const auto need = static_cast<std::uint64_t>(count) * stored_bytes(shape.element);
  if (out.bytes.empty() && count > 0) return {.elided = true};
  if (out.bytes.size() != need)
    throw base::Error{
        base::Fault::kData, where,
        fmt::format("its constant has {} bytes of numbers, but its shape needs {}", out.bytes.size(), need),
        "write the file again with the framework that made it"};
  return out;
}

void write_literal(MessageWriter& message, const Literal& literal, const Shape& shape) {
  {
    MessageWriter type{message, 1};
    write_shape(type, shape);
  }
  if (shape.element == Element::kTuple) {
    for (std::size_t i = 0; i < literal.elements.size(); ++i) {
      MessageWriter part{message, 10};
      write_literal(part, literal.elements[i], shape.elements[i]);
    }
  } else if (!literal.elided) {
    write_numbers(message, literal, field_of(shape.element, "constant"));
  }
}

}  // namespace trnsim::frontend::hlo
