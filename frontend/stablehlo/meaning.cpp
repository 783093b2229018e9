// From attributes as they are written to those that an operator's row names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "frontend/stablehlo/attributes.h"

namespace trnsim::frontend::stablehlo {
namespace {

using Kind = Written::Kind;

std::int64_t integer_of(const Written& value, const std::string& name, const Cursor& in) {
  if (value.kind == Kind::kInteger) return value.integer;
  if (value.kind == Kind::kFlag) return value.flag ? 1 : 0;
  if (value.kind == Kind::kLiteral && (value.literal->splat || value.literal->count() == 1))
    return wrap_to(value.literal->type.element, static_cast<std::int64_t>(value.literal->bits(0)));
  in.fail(fmt::format("attribute {} must be an integer", name));
}

void flatten(const Written& value, Ints& out, const std::string& name, const Cursor& in) {
  if (value.kind == Kind::kList) {
    for (const Written& entry : value.list) flatten(entry, out, name, in);
  } else if (value.kind == Kind::kLiteral) {
    const Literal& literal = *value.literal;
    if (literal.count() > 1'000'000) in.fail(fmt::format("attribute {} is too long", name));
    for (std::int64_t i = 0; i < literal.count(); ++i)
      out.push_back(wrap_to(literal.type.element, static_cast<std::int64_t>(literal.bits(i))));
  } else {
    out.push_back(integer_of(value, name, in));
  }
}

Ints ints_of(const Written& value, const std::string& name, const Cursor& in) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  Ints out;
  flatten(value, out, name, in);
  for (const std::int64_t x : out)
    if (x > kFar || x < -kFar) in.fail(fmt::format("attribute {} has {}, which is out of range", name, x));
  return out;
}

/// Rows of a constant of two dimensions, or of a list of lists; shorter rows are filled with -1.
IntTable table_of(const Written& value, const std::string& name, const Cursor& in) {
  IntTable out;
  if (value.kind == Kind::kLiteral) {
    const Dims& dims = value.literal->type.dims;
    if (dims.size() != 2 && value.literal->count() != 0) in.fail(fmt::format("attribute {} must be a table", name));
    out.columns = dims.size() == 2 ? dims[1] : 0;
    out.values = ints_of(value, name, in);
    return out;
  }
  if (value.kind != Kind::kList) in.fail(fmt::format("attribute {} must be a table", name));
  for (const Written& row : value.list) out.columns = std::max(out.columns, static_cast<std::int64_t>(row.list.size()));
  for (const Written& row : value.list) {
    Ints entries = ints_of(row, name, in);
    entries.resize(static_cast<std::size_t>(out.columns), -1);
    out.values.insert(out.values.end(), entries.begin(), entries.end());
  }
  return out;
}

/// A name in older programs, or in the pretty form, and the row's.
struct Renamed {
  std::string_view op, from, to;
};
constexpr std::array kRenamed = {
    Renamed{"broadcast_in_dim", "dims", "broadcast_dimensions"},
    Renamed{"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    Renamed{"broadcast", "sizes", "broadcast_sizes"},
    Renamed{"transpose", "dims", "permutation"},
    Renamed{"reverse", "dims", "dimensions"},
    Renamed{"concatenate", "dim", "dimension"},
    Renamed{"iota", "dim", "iota_dimension"},
    Renamed{"dynamic_iota", "dim", "iota_dimension"},
    Renamed{"pad", "low", "edge_padding_low"},
    Renamed{"pad", "high", "edge_padding_high"},
    Renamed{"pad", "interior", "interior_padding"},
    Renamed{"dynamic_slice", "sizes", "slice_sizes"},
    Renamed{"fft", "type", "fft_type"},
    Renamed{"fft", "length", "fft_length"},
    Renamed{"get_dimension_size", "dim", "dimension"},
    Renamed{"rng", "distribution", "rng_distribution"},
    Renamed{"rng_bit_generator", "algorithm", "rng_algorithm"},
    Renamed{"dot_general", "batching_dims", "lhs_batching_dimensions"},
    Renamed{"einsum", "config", "einsum_config"},
    Renamed{"unary_einsum", "config", "einsum_config"},
    Renamed{"all_gather", "all_gather_dimension", "all_gather_dim"},
    Renamed{"all_to_all", "split_dim", "split_dimension"},
    Renamed{"all_to_all", "concat_dim", "concat_dimension"},
};

std::string renamed(const Operator& op, const std::string& name) {
  for (const Renamed& row : kRenamed)
    if (row.op == op.name && row.from == name) return std::string{row.to};
  return name;
}

AttributeValue typed(AttributeKind kind, const std::string& name, const Written& value, const Cursor& in) {
  switch (kind) {
    case AttributeKind::kFlag:
      if (value.kind == Kind::kUnit) return true;
      return integer_of(value, name, in) != 0;
    case AttributeKind::kInteger: return integer_of(value, name, in);
    case AttributeKind::kReal:
      if (value.kind != Kind::kReal && value.kind != Kind::kInteger) in.fail("attribute " + name + " must be a number");
      return value.real;
    case AttributeKind::kText:
      if (value.kind == Kind::kDictionary) return std::string{"{...}"};
      if (value.kind == Kind::kText || value.kind == Kind::kRaw) return value.text;
      in.fail("attribute " + name + " must be a word");
    case AttributeKind::kInts: return ints_of(value, name, in);
    case AttributeKind::kTable: return table_of(value, name, in);
    case AttributeKind::kLiteral:
      if (value.kind == Kind::kLiteral) return value.literal;
      in.fail("attribute " + name + " must be a constant");
    default: return value.text;
  }
}

/// The most fitting type of an attribute that no operator reads.
AttributeValue untyped(const Written& value) {
  if (value.kind == Kind::kUnit) return true;
  if (value.kind == Kind::kFlag) return value.flag;
  if (value.kind == Kind::kInteger) return value.integer;
  if (value.kind == Kind::kReal) return value.real;
  if (value.kind == Kind::kType) return value.type;
  if (value.kind == Kind::kLiteral) return value.literal;
  if (value.kind == Kind::kList && !value.list.empty() &&
      std::ranges::all_of(value.list, [](const Written& w) { return w.kind == Kind::kText; })) {
    Texts words;
    for (const Written& word : value.list) words.push_back(word.text);
    return words;
  }
  return value.text;
}

const AttributeRule* rule_of(const Operator& op, const std::string& name) {
  const auto found = std::ranges::find(op.attributes, name, &AttributeRule::name);
  return found == op.attributes.end() ? nullptr : &*found;
}

/// MLIR keeps attributes that an operator does not have. One that is almost a name of the operator's would leave that
/// at its default, without a word.
void refuse_misspelled(const Operator& op, const std::string& name, const Cursor& in) {
  if (name.find('.') != std::string::npos) return;  // another dialect's
  std::vector<std::string> names;
  for (const AttributeRule& rule : op.attributes) names.emplace_back(rule.name);
  if (const std::optional<std::string> meant = base::closest(name, names))
    in.fail(fmt::format("{} has no attribute {}: write {}", op.name, name, *meant));
}

}  // namespace

void set_convolution_dimensions(Attributes& attributes, std::string_view text, const Cursor& in) {
  constexpr std::array<std::string_view, 3> kParts = {"input", "kernel", "output"};
  Cursor list{text, in.file(), in.line()};
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    if (part == 1) list.expect("x");
    if (part == 2) list.expect("->");
    const std::string prefix{kParts.at(part)};
    Ints spatial;
    list.expect("[");
    for (std::int64_t d = 0; !list.accept("]"); ++d) {
      if (d > 0) list.expect(",");
      const char c = list.peek();
      if (c >= '0' && c <= '9') {
        const auto place = static_cast<std::size_t>(list.integer());
        if (place > 64) list.fail("a spatial dimension is above 64");
        if (spatial.size() <= place) spatial.resize(place + 1, -1);
        spatial[place] = d;
        continue;
      }
      const std::string letter{list.word()};
      const bool kernel = part == 1;
      if (letter == "b") attributes.set(prefix + "_batch_dimension", d);
      if (letter == "f") attributes.set(prefix + "_feature_dimension", d);
      if (kernel && letter == "i") attributes.set("kernel_input_feature_dimension", d);
      if (kernel && letter == "o") attributes.set("kernel_output_feature_dimension", d);
      if (letter.size() != 1) list.fail("expected b, f, i, o or a number in dim_numbers");
    }
    attributes.set(prefix + "_spatial_dimensions", spatial);
  }
}

void set_attribute(Attributes& attributes, const Operator& op, const std::string& written, const Written& value,
                   const Cursor& in) {
  const std::string name = renamed(op, written);
  if (value.kind == Kind::kDictionary && name == "channel_handle") {
    for (const auto& [field, entry] : value.entries)
      attributes.set(field == "handle" ? "channel_id" : "channel_type", integer_of(entry, field, in));
    return;
  }
  const bool structure = name == "dot_dimension_numbers" || name == "dimension_numbers" ||
                         name == "scatter_dimension_numbers" || name == "dim_numbers" ||
                         name == "mhlo.attributes";  // of the operator that a custom call stands for
  if (structure && value.kind == Kind::kDictionary) {
    for (const auto& [field, entry] : value.entries) set_attribute(attributes, op, field, entry, in);
    return;
  }
  if (structure) return set_convolution_dimensions(attributes, value.text, in);
  const AttributeRule* rule = rule_of(op, name);
  if (rule == nullptr) refuse_misspelled(op, name, in);
  attributes.set(name, rule == nullptr ? untyped(value) : typed(rule->kind, name, value, in));
}

}  // namespace trnsim::frontend::stablehlo
