// A module of HLO as its text and its proto have it, without a meaning: both readers make it, both writers take it.
//
// An attribute at its default is left out, as the proto does, so that the same module read from text and from proto is
// equal member by member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/graph/element.h"

namespace trnsim::frontend::hlo {

using Ints = std::vector<std::int64_t>;

/// The order of dimensions in memory. Source: xla_data.proto, LayoutProto.
struct Layout {
  Ints minor_to_major;
  std::vector<Ints> tiles;
  std::int64_t element_bits = 0, memory_space = 0;
  bool operator==(const Layout&) const = default;
};

struct Shape {
  Element element = Element::kF32;
  Ints dims{};
  std::vector<bool> dynamic{};  // empty: no dimension is
  std::optional<Layout> layout{};
  std::vector<Shape> elements{};  // of a tuple
  bool operator==(const Shape&) const = default;
};

/// Numbers of a constant, each in the bytes of its type (half a byte: one byte), row by row.
struct Literal {
  bool elided = false;  // the text had {...}
  std::string bytes{};
  std::vector<Literal> elements{};  // of a tuple
  bool operator==(const Literal&) const = default;
};

/// Rows of numbers: the limits of a slice, the dimensions of a window, the ranks of groups.
using Rows = std::vector<Ints>;
using TextMap = std::vector<std::pair<std::string, std::string>>;

/// Replica groups as an array of rank numbers, reshaped and transposed: [2,128]<=[256], [128,2]<=[2,128]T(1,0).
struct IotaGroups {
  std::int64_t groups = 0, ranks = 0;
  Ints reshape, transpose;
  bool operator==(const IotaGroups&) const = default;
};

/// How a tensor is split among devices. Source: xla_data.proto, OpSharding.
struct Sharding {
  std::int64_t type = 0;  // of OpSharding::Type
  Ints tile_dims, devices;
  bool replicate_last = false;
  Ints last_tile_dims;
  Ints reshape, transpose;
  std::vector<Sharding> elements;  // of a tuple
  bool operator==(const Sharding&) const = default;
};

/// An output that lives in an operand's memory.
struct Aliasing {
  Ints output;
  std::int64_t operand = 0;
  Ints operand_index;
  std::int64_t kind = 0;  // of a module's: 1 may, 2 must
  bool operator==(const Aliasing&) const = default;
};

/// Where an instruction comes from.
struct Metadata {
  std::string op_type, op_name, file, deduplicated, scheduling;
  std::int64_t line = 0, frame = 0;
  bool operator==(const Metadata&) const = default;
};

/// A row of the attribute table (attributes.h).
struct Form;

using Held = std::variant<std::int64_t, double, std::string, Ints, Rows, TextMap, IotaGroups, Sharding,
                          std::vector<Aliasing>, std::vector<Shape>>;

struct Attribute {
  const Form* form = nullptr;
  Held value;
  bool operator==(const Attribute&) const = default;
};

struct Instruction {
  std::string name, opcode;
  Shape shape;
  std::vector<std::uint32_t> operands, control;  // instructions of the same computation, all before this one
  std::vector<std::uint32_t> called;             // computations of the module, all before this one's
  std::vector<Attribute> attributes;             // by the order of the attribute table
  std::optional<Literal> literal;
  Metadata metadata;
  std::uint32_t line = 0;  // of the text; 0: it was no text

  bool operator==(const Instruction& other) const {
    return name == other.name && opcode == other.opcode && shape == other.shape && operands == other.operands &&
           control == other.control && called == other.called && attributes == other.attributes &&
           literal == other.literal && metadata == other.metadata;
  }
};

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  std::uint32_t root = 0;
  bool operator==(const Computation&) const = default;
};

/// Source lines that instructions name by number. Source: hlo.proto, StackFrameIndexProto.
struct StackFrames {
  std::vector<std::string> files, functions;
  Rows locations;  // file, function, line, column: the first two count from 1
  Rows frames;     // location, parent: both count from 1
  bool operator==(const StackFrames&) const = default;
};

struct Module {
  std::string name;
  std::vector<Computation> computations;
  std::uint32_t entry = 0;
  std::vector<Aliasing> aliases;
  std::vector<Aliasing> donors;  // parameters whose memory outputs may take: operand and operand_index alone
  std::vector<Shape> parameter_layouts;
  std::optional<Shape> result_layout;
  std::int64_t replicas = 0, partitions = 0;  // 0: not said
  TextMap frontend;
  StackFrames frames;
  bool operator==(const Module&) const = default;
};

/// The proto's number of an element type, and back. Errors: base::Fault::kProgram for a number without a type here.
std::int64_t number_of(Element element);
Element element_numbered(std::int64_t number, std::string_view where);
/// The product of the dimensions. Errors: base::Fault::kProgram at `where` beyond 2^62.
std::int64_t elements_of(const Shape& shape, std::string_view where);

}  // namespace trnsim::frontend::hlo
