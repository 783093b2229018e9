// The values of attributes, shapes and constants in the proto.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "frontend/hlo/attributes.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// A message that is read field by field. Errors: protozero::exception, too for a field of another wire type than is
/// asked for, which the library takes on trust.
class Message : private protozero::pbf_reader {
  using Type = protozero::pbf_wire_type;

 public:
  Message(const char* bytes, std::size_t count) : pbf_reader{bytes, count} {}
  using pbf_reader::next, pbf_reader::tag, pbf_reader::wire_type, pbf_reader::skip;

  Message get_message() { return Message{of(Type::length_delimited).pbf_reader::get_message()}; }
  std::string get_string() { return of(Type::length_delimited).pbf_reader::get_string(); }
  auto get_packed_int64() { return of(Type::length_delimited).pbf_reader::get_packed_int64(); }
  std::int64_t get_int64() { return of(Type::varint).pbf_reader::get_int64(); }
  std::int32_t get_enum() { return of(Type::varint).pbf_reader::get_enum(); }
  bool get_bool() { return of(Type::varint).pbf_reader::get_bool(); }
  std::uint32_t get_fixed32() { return of(Type::fixed32).pbf_reader::get_fixed32(); }
  float get_float() { return of(Type::fixed32).pbf_reader::get_float(); }
  std::uint64_t get_fixed64() { return of(Type::fixed64).pbf_reader::get_fixed64(); }

 private:
  explicit Message(const pbf_reader& part) : pbf_reader{part} {}
  Message& of(Type type) {
    if (wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
    return *this;
  }
};
using MessageWriter = protozero::pbf_writer;

/// All below: `where` is the place of errors, base::Fault::kData.
Shape shape_of(Message message, std::string_view where, int depth = 0);
Literal literal_of(Message message, const Shape& shape, std::string_view where, int depth = 0);
Metadata metadata_of(Message message);
Aliasing alias_of(Message message, std::span<const std::uint32_t, 4> fields);

/// Adds what the current field of `message` says to the instruction's attribute. False: no row has the field.
bool read_attribute(Message& message, Instruction& instruction, std::string_view where);

void write_shape(MessageWriter& message, const Shape& shape);
void write_literal(MessageWriter& message, const Literal& literal, const Shape& shape);
void write_metadata(MessageWriter& message, const Metadata& metadata);
void write_attributes(MessageWriter& message, const Instruction& instruction);
void write_alias(MessageWriter& message, const Aliasing& alias, std::span<const std::uint32_t, 4> fields);
void write_map(MessageWriter& message, const TextMap& map);
TextMap map_of(Message message, TextMap map = {});

/// The numbers of a repeated field, packed or not.
void append_ints(Message& message, Ints& out);

// output index, operand, operand index, kind
inline constexpr std::array<std::uint32_t, 4> kAliasFields{1, 2, 3, 4};
inline constexpr std::array<std::uint32_t, 4> kDonorFields{0, 1, 2, 0};

}  // namespace trnsim::frontend::hlo
