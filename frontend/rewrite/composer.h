// A node's place taken by a call of a function of other operators.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {

inline Attributes with(std::string_view name, AttributeValue value) {
  Attributes out;
  out.set(name, std::move(value));
  return out;
}

/// The function of a node, which computes in fp32 at least.
class Composer {
 public:
  Composer(Module& module, const Function& around, const Node& node)
      : node_{node}, b_{module, add_function(module, fmt::format("{}.composed", node.op->name))} {
    b_.function().line = node.line;
    for (std::uint32_t i = 0; i < node.results; ++i) stated_.push_back(around.type(node.result(i)));
    for (const ValueId v : node.operands) given_.push_back(b_.parameter(around.type(v)));
  }

  const Node& node() const { return node_; }
  Builder& b() { return b_; }
  ValueId given(std::size_t i) const { return given_[i]; }
  /// The type of a result, as the program states it.
  const Type& result(std::size_t i) const { return stated_[i]; }
  const Type& type(ValueId v) { return b_.function().type(v); }

  ValueId op(std::string_view name, std::vector<ValueId> operands) { return b_.op(name, std::move(operands)); }
  ValueId number(double value, const Type& type) { return b_.constant(literal_of(type, {value})); }
  ValueId in(Element element, ValueId v) {
    return type(v).element == element ? v : b_.op("convert", {v}, {}, {tensor_type(element, type(v).dims)});
  }
  /// Over some axes. `name`: of two numbers; `begin`: the number in front of the first.
  ValueId reduce(std::string_view name, double begin, ValueId v, Ints dims) {
    const Element element = type(v).element;
    Node node;
    node.op = &operator_named("reduce");
    node.operands = {v, number(begin, scalar_type(element))};
    node.regions = {Region{.function = pair(name, element), .captures = {}}};
    node.attributes = with("dimensions", std::move(dims));
    return b_.add(std::move(node)).result();
  }
  /// A region of two scalars.
  FunctionId pair(std::string_view name, Element element) {
    Builder region{b_.module(), add_function(b_.module(), std::string{name}, true)};
    const ValueId x = region.parameter(scalar_type(element)), y = region.parameter(scalar_type(element));
    region.returns({region.op(name, {x, y})});
    return region.id();
  }
  /// The node calls the function from now on.
  void replace(Node& node) {
    node.regions = {Region{.function = b_.id(), .captures = {}}};
    node.attributes = with("callee", b_.function().name);
    node.op = &operator_named("call");
  }

 private:
  const Node& node_;
  Builder b_;
  std::vector<ValueId> given_;
  std::vector<Type> stated_;
};

}  // namespace trnsim::frontend
