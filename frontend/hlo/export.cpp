#include "frontend/hlo/export.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>

#include "base/error.h"
#include "frontend/hlo/attributes.h"
#include "frontend/hlo/attrs_text.h"
#include "isa/names.h"
#include "runtime/graph/op.h"

namespace trnsim::frontend::hlo {
namespace {

using isa::Dtype;
using runtime::ValueId;

Element element_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
    case Dtype::kTf32: return Element::kF32;
    case Dtype::kBf16: return Element::kBf16;
    case Dtype::kFp16: return Element::kF16;
    case Dtype::kFp8E4m3: return Element::kF8E4M3;
    case Dtype::kFp8E5m2: return Element::kF8E5M2;
    case Dtype::kFp8E3m4: return Element::kF8E3M4;
    case Dtype::kInt32: return Element::kI32;
    case Dtype::kUint32: return Element::kU32;
    case Dtype::kInt16: return Element::kI16;
    case Dtype::kUint16: return Element::kU16;
    case Dtype::kInt8: return Element::kI8;
    case Dtype::kUint8: return Element::kU8;
  }
  return Element::kF32;
}

Shape matrix_shape(std::int64_t rows, std::int64_t cols, Dtype dtype) {
  return {.element = element_of(dtype), .dims = {rows, cols}, .layout = Layout{.minor_to_major = {1, 0}, .tiles = {}}};
}

/// A name that HLO takes.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) out += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  return out;
}

class Exporter {
 public:
  Exporter(const runtime::Graph& graph, const std::string& name) : graph_{graph} {
    out_.name = plain_name(name);
    entry_.name = "main";
  }

  Module run() {
    parameters();
    for (runtime::NodeId n = 0; n < graph_.node_count(); ++n)
      if (graph_.node(n).op) node(graph_.node(n));
    results();
    out_.computations.push_back(std::move(entry_));
    out_.entry = static_cast<std::uint32_t>(out_.computations.size() - 1);
    out_.frontend = {{std::string{kGroupsKey}, words_of(graph_.replica_groups())},
                     {std::string{kKindsKey}, kinds_},
                     {std::string{kNumericsKey}, graph_.numerics().name}};
    return std::move(out_);
  }

 private:
  std::uint32_t add(Instruction one) {
    one.name = fmt::format("{}.{}", one.name.empty() ? plain_name(one.opcode) : one.name, entry_.instructions.size());
    one.metadata = metadata_;
    entry_.instructions.push_back(std::move(one));
    return static_cast<std::uint32_t>(entry_.instructions.size() - 1);
  }

  Shape shape_of_value(ValueId v) const {
    const runtime::Value& value = graph_.value(v);
    return matrix_shape(value.rows, value.cols, value.dtype);
  }

  /// Those that no node computes, in their order, with their kinds.
  void parameters() {
    std::int64_t count = 0;
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      const runtime::Value& value = graph_.value(v);
      if (value.producer != runtime::kNoNode) continue;
      Instruction one = begun("parameter", shape_of_value(v), {});
      one.name = plain_name(value.name);
      hlo::add(one, *form_named("parameter_number", one.opcode), count);
      parameter_[v] = count++;
      values_[v] = add(std::move(one));
      if (!kinds_.empty()) kinds_ += ';';
      kinds_ += fmt::format("{}|{}|{}", value.name, static_cast<int>(value.kind), value.frozen ? 1 : 0);
    }
  }

  Instruction begun(std::string opcode, Shape shape, const std::vector<ValueId>& operands) const {
    Instruction one;
    one.opcode = std::move(opcode), one.shape = std::move(shape);
    for (const ValueId v : operands) one.operands.push_back(values_.at(v));
    return one;
  }

  void node(const runtime::Node& node) {
    metadata_ = {};
    metadata_.op_type = node.label, metadata_.op_name = words_of(graph_.scope_of(node));
    if (!plainly(node)) custom(node);
  }

  void custom(const runtime::Node& node) {
    Shape shape{.element = Element::kTuple};
    for (const ValueId v : node.out) shape.elements.push_back(shape_of_value(v));
    const bool single = node.out.size() == 1;
    const Shape only = single ? shape.elements[0] : shape;
    Instruction one = begun("custom-call", only, node.in);
    hlo::add(one, *form_named("custom_call_target", one.opcode), fmt::format("{}{}", kTargetPrefix, node.op->name));
    hlo::add(one, *form_named("backend_config", one.opcode), words_of(node.attrs));
    one.name = plain_name(node.op->name);
    const std::uint32_t made = add(std::move(one));
    for (std::size_t o = 0; o < node.out.size(); ++o) {
      if (single) {
        values_[node.out[o]] = made;
        continue;
      }
      Instruction part = begun("get-tuple-element", shape.elements[o], {});
      part.operands = {made};
      hlo::add(part, *form_named("index", part.opcode), static_cast<std::int64_t>(o));
      values_[node.out[o]] = add(std::move(part));
    }
  }

  // ---- operations that HLO has

  bool plainly(const runtime::Node& node) {
    if (node.attrs.same_type(runtime::MatmulAttrs{})) return product(node);
    return node.attrs.same_type(runtime::MatmulTnAttrs{}) && transposed_product(node);
  }

  bool typed(const runtime::Node& node) const {
    const Dtype type = graph_.value(node.in[0]).dtype;
    return graph_.value(node.in[1]).dtype == type && node.attrs.operand().value_or(type) == type;
  }

  bool product(const runtime::Node& node) {
    const auto& a = node.attrs.as<runtime::MatmulAttrs>();
    if (a.alpha != 1 || a.blocked || !typed(node)) return false;
    dot(node, 1, a.trans_b ? 1 : 0);
    return true;
  }

  bool transposed_product(const runtime::Node& node) {
    const auto& a = node.attrs.as<runtime::MatmulTnAttrs>();
    if (a.alpha != 1 || a.row_sums || !typed(node)) return false;
    dot(node, 0, 0);
    return true;
  }

  void dot(const runtime::Node& node, std::int64_t lhs, std::int64_t rhs) {
    Instruction one = begun("dot", shape_of_value(node.out[0]), node.in);
    hlo::add(one, *form_named("lhs_contracting_dims", one.opcode), Ints{lhs});
    hlo::add(one, *form_named("rhs_contracting_dims", one.opcode), Ints{rhs});
    values_[node.out[0]] = add(std::move(one));
  }

  /// Values that the host reads, and parameters as they are at the end.
  void results() {
    metadata_ = {};
    std::map<ValueId, ValueId> last;  // of each parameter that is updated in place
    for (runtime::NodeId n = 0; n < graph_.node_count(); ++n)
      if (graph_.node(n).op)
        for (const ValueId v : graph_.node(n).out)
          if (graph_.root(v) != v && parameter_.contains(graph_.root(v))) last[graph_.root(v)] = v;
    Instruction tuple = begun("tuple", {.element = Element::kTuple}, {});
    tuple.name = "results";
    const auto result = [&](ValueId v) {
      tuple.operands.push_back(values_.at(v));
      tuple.shape.elements.push_back(shape_of_value(v));
      return static_cast<std::int64_t>(tuple.operands.size() - 1);
    };
    for (const auto& [parameter, v] : last)
      out_.aliases.push_back(
          {.output = {result(v)}, .operand = parameter_.at(parameter), .operand_index = {}, .kind = 1});
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      const runtime::Value& value = graph_.value(v);
      const bool made = value.producer != runtime::kNoNode && graph_.node(value.producer).op && graph_.root(v) == v;
      if (made && value.kind != runtime::Kind::kActivation) result(v);
    }
    entry_.root = add(std::move(tuple));
  }

  const runtime::Graph& graph_;
  Module out_;
  Computation entry_;
  Metadata metadata_;
  std::string kinds_;
  std::map<ValueId, std::uint32_t> values_;
  std::map<ValueId, std::int64_t> parameter_;
};

}  // namespace

Module module_of(const runtime::Graph& graph, const std::string& name) { return Exporter{graph, name}.run(); }

}  // namespace trnsim::frontend::hlo
