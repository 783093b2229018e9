#include "frontend/graph/graph.h"

#include <fmt/format.h>

#include "base/error.h"
#include "frontend/ops/contract.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {

std::vector<Type> Function::result_types() const {
  std::vector<Type> out;
  for (const ValueId value : results) out.push_back(type(value));
  return out;
}

std::vector<Type> Function::parameter_types() const { return {values.begin(), values.begin() + parameters}; }

FunctionId Module::find(std::string_view function) const {
  for (FunctionId id = 0; id < functions.size(); ++id)
    if (!functions[id].is_region && functions[id].name == function) return id;
  return kNoFunction;
}

std::string Module::where(const Node& node) const {
  if (node.line > 0) return fmt::format("{}:{}", file, node.line);
  return fmt::format("{}, node {}", file, node.name.empty() ? "without a name" : node.name);
}

std::string Module::where(const Function& function) const {
  if (function.line > 0) return fmt::format("{}:{}", file, function.line);
  return fmt::format("{}, function {}", file, function.name);
}

std::size_t Module::node_count() const {
  std::size_t count = 0;
  for (const Function& function : functions) count += function.nodes.size();
  return count;
}

ValueId Builder::parameter(Type type) {
  Function& f = function();
  base::ensure(f.nodes.empty(), f.name, "gets a parameter after a node");
  f.values.push_back(std::move(type));
  return f.parameters++;
}

const Node& Builder::add(Node node) { return add(std::move(node), {}); }

const Node& Builder::add(Node node, const std::vector<Type>& results) {
  Function& f = function();
  const Contract contract{module_, f, node, results};
  for (const ValueId operand : node.operands)
    contract.need(operand < f.values.size(), "reads a value that does not exist");
  std::vector<Type> types = node.op->infer == nullptr ? results : node.op->infer(contract);
  contract.match_stated(types);
  node.first_result = static_cast<ValueId>(f.values.size());
  node.results = static_cast<std::uint32_t>(types.size());
  for (Type& type : types) f.values.push_back(std::move(type));
  f.nodes.push_back(std::move(node));
  return f.nodes.back();
}

ValueId Builder::op(std::string_view op, std::vector<ValueId> operands, Attributes attributes,
                    std::vector<Type> results) {
  Node node;
  node.op = &operator_named(op);
  node.operands = std::move(operands);
  node.attributes = std::move(attributes);
  const Node& made = add(std::move(node), results);
  return made.first_result;
}

ValueId Builder::constant(LiteralPtr literal) {
  Attributes attributes;
  const Type type = literal->type;
  attributes.set("value", std::move(literal));
  return op("constant", {}, std::move(attributes), {type});
}

void Builder::returns(std::vector<ValueId> results) { function().results = std::move(results); }

FunctionId add_function(Module& module, std::string name, bool is_region) {
  Function& made = module.functions.emplace_back();
  made.name = std::move(name);
  made.is_region = is_region;
  const auto id = static_cast<FunctionId>(module.functions.size() - 1);
  if (module.entry == kNoFunction && !is_region) module.entry = id;
  return id;
}

}  // namespace trnsim::frontend
