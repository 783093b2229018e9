#include "trnsim/graphs/checked_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "trnsim/graphs/graph_program.h"
#include "trnsim/graphs/graph_run.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using frontend::Function;
using frontend::Module;
using frontend::Node;
using frontend::Type;
using frontend::Value;
using frontend::ValueId;

bool is_check(const Node& node) {
  const bool called = node.op->name == "custom_call";
  return (called ? node.attributes.text("call_target_name") : std::string{node.op->name}).starts_with("check.");
}

/// The program without its checks, whose operands are its results.
Module without_checks(const Module& module) {
  Module out = module;
  Function& entry = out.functions[out.entry];
  entry.results.clear();
  for (const Node& node : entry.nodes)
    if (is_check(node)) entry.results.insert(entry.results.end(), node.operands.begin(), node.operands.end());
  std::erase_if(entry.nodes, is_check);
  return out;
}

double largest_of(const frontend::Reals& numbers) {
  double most = 0;
  for (const double x : numbers)
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

/// Numbers that no type of the device has are not held against it.
void require_range(const Module& module, const Node& node, const Value& expected) {
  if (!is_float(expected.type.element)) return;
  for (const double x : expected.reals())
    if (std::isfinite(x) && std::abs(x) > 3.4e38)
      throw Error{Fault::kProgram, module.where(node), fmt::format("expects {:g}, beyond fp32", x),
                  "run it with the reference interpreter"};
}

/// The expected numbers where the device's are as near as its types allow; others are nearer by that much, so that
/// the tolerance of the program comes on top.
Value near_enough(const Value& got, const Value& expected) {
  if (!is_float(got.type.element) || !(got.type == expected.type)) return got;
  const double tolerance = tolerance_of(got.type.element) * largest_of(expected.reals());
  frontend::Reals numbers = got.reals();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double off = expected.reals()[i] - numbers[i];
    if (std::isfinite(off))
      numbers[i] = std::abs(off) <= tolerance ? expected.reals()[i] : numbers[i] + std::copysign(tolerance, off);
  }
  return frontend::exact_value(got.type, std::move(numbers));
}

/// Runs one check on values.
void run_check(const Module& module, const Function& entry, const Node& node, std::vector<Value> values) {
  Module one;
  one.file = module.file, one.name = module.name;
  const frontend::FunctionId id = frontend::add_function(one, "main");
  Function& f = one.functions[id];
  Node copy = node;
  for (std::size_t i = 0; i < values.size(); ++i)
    copy.operands[i] = static_cast<ValueId>(i), f.values.push_back(values[i].type);
  f.parameters = static_cast<std::uint32_t>(values.size());
  copy.first_result = f.parameters;
  for (std::uint32_t i = 0; i < node.results; ++i) f.values.push_back(entry.type(node.result(i)));
  f.nodes = {std::move(copy)};
  if (values.size() == 2) values[0] = near_enough(values[0], values[1]);
  if (values.size() == 1 && node.attributes.literal("value"))
    values[0] = near_enough(values[0], frontend::value_of(*node.attributes.literal("value")));
  if (values.size() == 2) require_range(module, node, values[1]);
  if (values.size() == 1 && node.attributes.literal("value"))
    require_range(module, node, frontend::value_of(*node.attributes.literal("value")));
  frontend::Interpreter{one}.run(id, std::move(values));
}

// ---- programs that need f64, which the device computes in fp32

/// Whether there are numbers of 64 bits that fp32 rounds; they are rounded.
bool rounds_to_fp32(Module& module) {
  bool any = false;
  for (Function& f : module.functions)
    for (Node& node : f.nodes) {
      const frontend::LiteralPtr literal = is_check(node) ? nullptr : node.attributes.literal("value");
      if (!literal || literal->type.element != frontend::Element::kF64) continue;
      Value value = frontend::value_of(*literal);
      std::vector<double> numbers(value.reals().begin(), value.reals().end());
      for (double& x : numbers) {
        const auto rounded = static_cast<double>(static_cast<float>(x));
        const double normal = std::abs(rounded) < std::numeric_limits<float>::min() ? std::copysign(0.0, x) : rounded;
        any = any || (normal != x && !std::isnan(x));
        x = normal;
      }
      node.attributes.set("value", frontend::literal_of(literal->type, numbers));
    }
  return any;
}

/// Whether the program does not meet its own checks any more when its numbers are those of fp32.
bool needs_f64(const Module& module) {
  Module rounded = module;
  if (!rounds_to_fp32(rounded)) return false;
  try {
    frontend::Interpreter{rounded}.run(rounded.entry, {});
  } catch (const Error& error) {
    return error.fault() == Fault::kCheck;
  }
  return false;
}

// ---- programs that run beside each other

/// "[[@a, @a], [@a, @a]]": a function on a grid of processes.
struct Together {
  std::string function;
  std::int64_t replicas = 0, partitions = 0;
};

/// Errors: Fault::kProgram for processes with different programs.
Together together_of(const Module& module, const Node& node) {
  const std::string text = node.attributes.text("programs");
  Together out;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out.replicas += text[i] == '[' && i > 0 ? 1 : 0;
    if (text[i] != '@') continue;
    const std::string name = text.substr(i + 1, text.find_first_of(",] \n\t", i) - i - 1);
    if (!out.function.empty() && out.function != name)
      throw Error{Fault::kProgram, module.where(node), "runs different programs at the same time",
                  "run it with the reference interpreter"};
    out.function = name, ++count;
  }
  out.replicas = std::max<std::int64_t>(out.replicas, 1), out.partitions = count / out.replicas;
  return out;
}

/// Values of the entry's, by the reference interpreter, of nodes that are no check and run nothing beside each other.
std::vector<Value> values_before(const Module& module, const std::vector<ValueId>& wanted) {
  Module before = module;
  Function& entry = before.functions[before.entry];
  std::erase_if(entry.nodes, [](const Node& n) { return is_check(n) || n.op->name == "interpreter.run_parallel"; });
  entry.results = wanted;
  return frontend::Interpreter{before}.run(before.entry, {});
}

std::int64_t checks_of_processes(const Module& module, const Node& node, const hw::MachineParams& machine) {
  const Together together = together_of(module, node);
  Module one = module;
  one.entry = one.find(together.function);
  if (one.entry == frontend::kNoFunction)
    throw Error{Fault::kProgram, module.where(node), "does not name a function of the module", "name one"};
  one.replicas = together.replicas, one.partitions = together.partitions;
  const std::vector<Value> operands = values_before(module, node.operands);
  const std::size_t each = one.entry_function().parameters;
  std::vector<std::vector<Value>> inputs;
  for (std::size_t at = 0; at + each <= operands.size() && inputs.size() < node.results; at += each)
    inputs.emplace_back(operands.begin() + static_cast<std::ptrdiff_t>(at),
                        operands.begin() + static_cast<std::ptrdiff_t>(at + each));
  std::vector<Value> results;
  for (const auto& core : GraphProgram{frontend::lower(one, {.computed = true}), machine}.run_together(inputs))
    results.insert(results.end(), core.begin(), core.end());
  std::int64_t met = 0;
  for (const Node& check : module.entry_function().nodes) {
    if (!is_check(check)) continue;
    std::vector<Value> values;
    for (const ValueId v : check.operands)
      values.push_back(v >= node.first_result && v < node.first_result + node.results
                           ? results.at(v - node.first_result)
                           : values_before(module, {v}).front());
    run_check(module, module.entry_function(), check, std::move(values));
    ++met;
  }
  return met;
}

std::int64_t checks_met(const Module& module, const hw::MachineParams& machine) {
  const Function& entry = module.entry_function();
  for (const Node& node : entry.nodes)
    if (node.op->name == "interpreter.run_parallel") return checks_of_processes(module, node, machine);
  const Module pure = without_checks(module);
  if (pure.entry_function().results.empty() || entry.parameters > 0)
    throw Error{Fault::kProgram, module.where(entry), "has no checks of its own, or parameters without values",
                "run it with the reference interpreter"};
  GraphProgram program{frontend::lower(pure, {.computed = true}), machine};
  const std::vector<Value> values = program.run({});
  std::int64_t met = 0;
  auto next = values.begin();
  for (const Node& node : entry.nodes) {
    if (!is_check(node)) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(node.operands.size());
    run_check(module, entry, node, {next, end});
    next = end, ++met;
  }
  return met;
}

}  // namespace

std::int64_t checks_on_core(const Module& module, const hw::MachineParams& machine) {
  try {
    return checks_met(module, machine);
  } catch (const Error& error) {
    if (error.fault() != Fault::kCheck || !needs_f64(module)) throw;
    throw Error{Fault::kProgram, error.where(),
                "needs f64, which the device computes in fp32: with numbers rounded to fp32 even the reference fails "
                "its checks",
                "give it numbers that fp32 can hold"};
  }
}

}  // namespace trnsim
