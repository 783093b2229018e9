// Attributes of a node: a name and a value of one of a few types. docs/frontend.md lists those of every operator, under
// StableHLO's names, which HLO's readers use too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/graph/type.h"

namespace trnsim::frontend {

/// A constant: little-endian elements in row-major order, each in stored_bytes(); of a splat only one element.
struct Literal {
  Type type;
  std::vector<std::byte> bytes;
  bool splat = false;
  std::vector<std::shared_ptr<const Literal>> parts = {};  // of a tuple

  std::int64_t count() const { return element_count(type.dims); }
  /// The bits of element i (of a complex number: its two parts, `part` 0 and 1), extended by zeros.
  std::uint64_t bits(std::int64_t i, int part = 0) const;
};

/// Rows of integers of one length: padding [rank, 2], replica_groups (shorter groups are filled with -1),
/// source_target_pairs [n, 2], output_operand_aliases.
struct IntTable {
  std::int64_t columns = 0;
  std::vector<std::int64_t> values;

  std::int64_t rows() const { return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns; }
  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  bool operator==(const IntTable&) const = default;
};

using Ints = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
using LiteralPtr = std::shared_ptr<const Literal>;

/// Enumerations (comparison_direction "LT", fft_type "RFFT") and symbols (the callee) are text; so is anything that no
/// operator reads, as it was written.
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, Ints, IntTable, Texts, Type, LiteralPtr>;

/// The few attributes of a node, in the order in which they were set.
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  void set(std::string_view name, AttributeValue value);
  const AttributeValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::vector<Entry>& entries() const { return entries_; }

  /// The value, or `otherwise` when there is none. Errors: Fault::kProgram when it has another type (a verified
  /// module's attributes have those that the operator's row names).
  bool flag(std::string_view name, bool otherwise = false) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  double real(std::string_view name, double otherwise = 0) const;
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  Ints ints(std::string_view name, const Ints& otherwise = {}) const;
  IntTable table(std::string_view name) const;
  Texts texts(std::string_view name) const;
  LiteralPtr literal(std::string_view name) const;  // null: none

 private:
  std::vector<Entry> entries_;
};

/// Literals from values, in row-major order; one value is a splat. Rounded to the element.
LiteralPtr literal_of(const Type& type, const std::vector<double>& values);

}  // namespace trnsim::frontend
