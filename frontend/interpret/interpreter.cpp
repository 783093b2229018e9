#include "frontend/interpret/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "frontend/interpret/evaluation.h"
#include "frontend/ops/contract.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {

/// The facts of a function, found before it is walked many times.
struct Interpreter::Plan {
  std::vector<std::vector<ValueId>> last_used;  // by node: values that no later node reads
  bool laneable = true;
};

namespace {

bool is_scalar(const Type& type) { return type.is_tensor() && type.rank() == 0; }

/// Moves of a scalar leave it as it is.
bool moves_scalar(const Node& node) {
  static constexpr std::array kMoves = {"reshape", "broadcast_in_dim", "transpose", "broadcast", "copy"};
  return std::ranges::find(kMoves, node.op->name) != kMoves.end();
}

bool works_in_lanes(const Node& node) {
  if (!node.regions.empty()) return false;
  const bool by_element = node.op->group == Group::kElementwise || node.op->group == Group::kConversion;
  return by_element || moves_scalar(node) || node.op->name == "constant";
}

}  // namespace

Interpreter::Interpreter(const Module& module, Process process, InterpreterLimits limits)
    : module_{module}, process_{process}, limits_{limits}, plans_(module.functions.size()) {}
Interpreter::~Interpreter() = default;

const Interpreter::Plan& Interpreter::plan(FunctionId id) {
  std::unique_ptr<Plan>& plan = plans_[id];
  if (plan) return *plan;
  plan = std::make_unique<Plan>();
  const Function& f = module_.functions[id];
  std::vector<bool> kept(f.values.size());
  for (const ValueId result : f.results) kept[result] = true;
  plan->last_used.resize(f.nodes.size());
  const auto note = [&](std::size_t node, ValueId value) {
    if (!kept[value]) plan->last_used[node].push_back(value);
    kept[value] = true;
  };
  for (std::size_t i = f.nodes.size(); i-- > 0;) {
    const Node& node = f.nodes[i];
    for (const ValueId operand : node.operands) note(i, operand);
    for (const Region& region : node.regions)
      for (const ValueId value : region.captures) note(i, value);
    for (std::uint32_t r = 0; r < node.results; ++r) note(i, node.result(r));
    plan->laneable = plan->laneable && works_in_lanes(node);
  }
  plan->laneable = plan->laneable && std::ranges::all_of(f.values, is_scalar);
  return *plan;
}

std::vector<Value> Interpreter::evaluate(const Function& function, const Node& node, const std::vector<Value>& values,
                                         std::int64_t lanes) {
  if (++nodes_ > limits_.nodes)
    throw base::Error{base::Fault::kCapacity, module_.where(node),
                      fmt::format("more than {} nodes were computed: a loop may never end", limits_.nodes),
                      "make its condition false at some point, or interpret a smaller program"};
  std::vector<Value> operands;
  for (const ValueId operand : node.operands) operands.push_back(values[operand]);
  if (lanes >= 0 && moves_scalar(node)) return {operands.front()};
  Evaluation evaluation{*this, function, node, std::move(operands), lanes};
  if (node.op->evaluate == nullptr) evaluation.fail(std::string{node.op->refusal});
  for (const Region& region : node.regions) {
    std::vector<Value>& captured = evaluation.captured.emplace_back();
    for (const ValueId value : region.captures) captured.push_back(values[value]);
  }
  node.op->evaluate(evaluation);
  std::vector<Value> results = evaluation.take();
  evaluation.require_stated(results);
  return results;
}

std::vector<Value> Interpreter::walk(FunctionId id, std::vector<Value> arguments, std::int64_t lanes) {
  const Function& f = module_.functions[id];
  if (depth_ >= limits_.depth)
    throw base::Error{base::Fault::kCapacity, module_.where(f), fmt::format("{} calls within calls", depth_),
                      "nest fewer functions"};
  base::ensure(arguments.size() == f.parameters, f.name, "is called with another number of arguments");
  ++depth_, ++nodes_;
  const Plan& plan = this->plan(id);
  std::vector<Value> values = std::move(arguments);
  values.resize(f.values.size());
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    std::vector<Value> results = evaluate(f, f.nodes[i], values, lanes);
    for (std::uint32_t r = 0; r < f.nodes[i].results; ++r) values[f.nodes[i].result(r)] = std::move(results[r]);
    for (const ValueId gone : plan.last_used[i]) values[gone] = {};
  }
  std::vector<Value> out;
  for (const ValueId result : f.results) out.push_back(values[result]);
  --depth_;
  return out;
}

std::vector<Value> Interpreter::run(FunctionId function, std::vector<Value> arguments) {
  const Function& f = module_.functions[function];
  bool fits = arguments.size() == f.parameters;
  for (std::size_t i = 0; fits && i < arguments.size(); ++i) fits = arguments[i].type == f.values[i];
  if (!fits)
    throw base::Error{base::Fault::kProgram, module_.where(f),
                      fmt::format("@{} is called with arguments whose types are not those of its parameters", f.name),
                      "give it the values that it states"};
  return walk(function, std::move(arguments), -1);
}

std::vector<Value> Interpreter::run_lanes(FunctionId id, std::vector<Value> arguments, std::int64_t lanes) {
  if (plan(id).laneable) return walk(id, std::move(arguments), lanes);
  const Function& f = module_.functions[id];
  std::vector<std::vector<Value>> columns(f.results.size());
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::vector<Value> scalars;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      scalars.push_back(is_scalar(f.values[i]) ? element_at(arguments[i], lane) : arguments[i]);
    const std::vector<Value> results = walk(id, std::move(scalars), -1);
    for (std::size_t i = 0; i < results.size(); ++i) columns[i].push_back(results[i]);
  }
  std::vector<Value> out;
  for (std::size_t i = 0; i < columns.size(); ++i) out.push_back(stacked(columns[i], f.type(f.results[i])));
  return out;
}

/// The results are those that the program states: types that are stated and not inferred are held against the values.
void Evaluation::require_stated(const std::vector<Value>& results) const {
  bool same = results.size() == node_.results;
  for (std::size_t i = 0; same && i < results.size(); ++i) same = results[i].type == result_type(i);
  if (!same) fail("computes results of other types than the program states");
}

void Evaluation::as_static(std::string_view op, Attributes attributes, std::size_t operands) {
  Node node = node_;
  node.op = &operator_named(op);
  node.operands.resize(std::min(operands, node.operands.size()));
  node.attributes = std::move(attributes);
  const std::vector<Type> types = node.op->infer(Contract{module(), function_, node, {result_type()}});
  if (types.size() != 1 || !(types.front() == result_type())) fail("gives another shape than its result has");
  Evaluation inner{interpreter_, function_, node, {operands_.begin(), operands_.begin() + std::ssize(node.operands)}};
  node.op->evaluate(inner);
  for (Value& value : inner.take()) put(std::move(value));
}

Ints Evaluation::ints(std::size_t i) const {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  const auto* numbers =
      i < operands_.size() && operands_[i].data ? std::get_if<Integers>(operands_[i].data.get()) : nullptr;
  if (numbers == nullptr) fail(fmt::format("operand {} must be of integers", i));
  for (const std::int64_t x : *numbers)
    if (x > kFar || x < -kFar) fail(fmt::format("operand {} is out of range: {}", i, x));
  return *numbers;
}

void Evaluation::require_work(double multiplications) const {
  constexpr double kMost = 1e12;
  if (multiplications <= kMost) return;
  throw base::Error{
      base::Fault::kCapacity, module().where(node_),
      fmt::format("{}: {:.3g} multiplications are more than the reference computes", node_.op->name, multiplications),
      "interpret a smaller shape of the program"};
}

const Module& Evaluation::module() const { return interpreter_.module(); }
Process& Evaluation::process() const { return interpreter_.process(); }

Type Evaluation::result_type(std::size_t i) const {
  const Type& type = function_.type(node_.result(static_cast<std::uint32_t>(i)));
  if (lanes_ >= 0) return tensor_type(type.element, {lanes_});
  return type.is_tensor() ? tensor_type(type.element, type.dims) : type;
}

std::vector<Value> Evaluation::call(std::size_t region, std::vector<Value> arguments) const {
  if (region < captured.size()) arguments.insert(arguments.end(), captured[region].begin(), captured[region].end());
  return interpreter_.run(node_.regions[region].function, std::move(arguments));
}

std::vector<Value> Evaluation::call_lanes(std::size_t region, std::vector<Value> arguments) const {
  const std::int64_t lanes = arguments.front().count();
  for (const Value& value : captured[region])
    arguments.push_back(is_scalar(value.type) ? repeated(value, {lanes}) : value);
  return interpreter_.run_lanes(node_.regions[region].function, std::move(arguments), lanes);
}

std::vector<Value> Evaluation::call_named(const std::string& name, std::vector<Value> arguments) const {
  const FunctionId id = module().find(name);
  if (id == kNoFunction) fail("names a function that does not exist: @" + name);
  return interpreter_.run(id, std::move(arguments));
}

void Evaluation::fail(const std::string& what) const {
  throw base::Error{base::Fault::kProgram, module().where(node_), fmt::format("{}: {}", node_.op->name, what),
                    "change the program; docs/frontend.md lists what the reference computes"};
}

void Evaluation::wrong(const std::string& what) const {
  throw base::Error{base::Fault::kCheck, module().where(node_), fmt::format("{}: {}", node_.op->name, what),
                    "compare the program with what it expects"};
}

void Evaluation::count_check() const { interpreter_.count_check(); }

}  // namespace trnsim::frontend
