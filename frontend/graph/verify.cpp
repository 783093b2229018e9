// Checks of a whole module.
#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "frontend/graph/graph.h"
#include "frontend/ops/contract.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw base::Error{base::Fault::kProgram, where, what, "correct the program"};
}

/// Walks calls from each function; one that comes back to itself is a circle.
class CallWalk {
 public:
  explicit CallWalk(const Module& module) : module_{module}, state_(module.functions.size()) {}

  void walk(FunctionId first) {
    if (state_[first] != State::kNew) return;
    open(first);
    while (!stack_.empty()) step();
  }

 private:
  enum class State : char { kNew, kOpen, kDone };
  struct Place {
    FunctionId function;
    std::size_t node = 0, region = 0;
  };

  void open(FunctionId function) {
    state_[function] = State::kOpen;
    stack_.push_back({function});
  }

  void step() {
    Place& place = stack_.back();
    const Function& f = module_.functions[place.function];
    if (place.node == f.nodes.size()) {
      state_[place.function] = State::kDone;
      stack_.pop_back();
      return;
    }
    const Node& node = f.nodes[place.node];
    if (place.region == node.regions.size()) {
      ++place.node, place.region = 0;
      return;
    }
    const FunctionId called = node.regions[place.region++].function;
    if (called >= module_.functions.size()) fail(module_.where(node), "calls a function that does not exist");
    if (state_[called] == State::kOpen)
      fail(module_.where(node),
           fmt::format("@{} calls itself, directly or through others", module_.functions[called].name));
    if (state_[called] == State::kNew) open(called);
  }

  const Module& module_;
  std::vector<State> state_;
  std::vector<Place> stack_;
};

void verify_attributes(const Module& module, const Node& node) {
  for (const AttributeRule& rule : node.op->attributes)
    if (rule.required && !node.attributes.has(rule.name))
      fail(module.where(node), fmt::format("{}: has no attribute {}", node.op->name, rule.name));
}

void verify_node(const Module& module, const Function& f, const Node& node) {
  const Contract contract{
      module, f, node,
      std::vector<Type>(f.values.begin() + node.first_result, f.values.begin() + node.first_result + node.results)};
  contract.need(node.op->operands < 0 || static_cast<int>(node.operands.size()) == node.op->operands,
                fmt::format("has {} operands, but needs {}", node.operands.size(), node.op->operands));
  contract.need(node.op->regions < 0 || static_cast<int>(node.regions.size()) == node.op->regions,
                fmt::format("has {} regions, but needs {}", node.regions.size(), node.op->regions));
  for (const ValueId operand : node.operands)
    contract.need(operand < node.first_result, "reads a value before it is computed");
  for (const Region& region : node.regions)
    for (const ValueId value : region.captures)
      contract.need(value < node.first_result, "captures a value before it is computed");
  verify_attributes(module, node);
  if (node.op->infer == nullptr) return;
  const std::vector<Type> types = node.op->infer(contract);
  contract.need(types.size() == node.results,
                fmt::format("has {} results, but must have {}", node.results, types.size()));
  contract.match_stated(types);
}

}  // namespace

void verify(const Module& module) {
  if (module.entry == kNoFunction) fail(module.file, "has no function");
  CallWalk calls{module};
  for (FunctionId id = 0; id < module.functions.size(); ++id) calls.walk(id);
  for (const Function& f : module.functions) {
    for (const Node& node : f.nodes) verify_node(module, f, node);
    for (const ValueId result : f.results)
      if (result >= f.values.size()) fail(module.where(f), "returns a value that does not exist");
  }
}

}  // namespace trnsim::frontend
