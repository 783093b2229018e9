#include "trnsim/graphs/graph_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "isa/device.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"

namespace trnsim {
namespace {

using frontend::Element;
using frontend::Type;
using frontend::Value;

double number(const Value& value, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return is_float(value.type.element) ? value.reals()[at] : static_cast<double>(value.integers()[at]);
}

Value value_from(const Type& type, const std::vector<float>& numbers) {
  if (is_float(type.element)) return frontend::value_of(type, frontend::Reals{numbers.begin(), numbers.end()});
  return frontend::value_of(type, frontend::Integers{numbers.begin(), numbers.end()});
}

void write(runtime::Session& session, const std::string& name, const Value& value) {
  const std::int64_t count = value.count();
  const isa::Dtype dtype = session.region(name).dtype;
  if (dtype == isa::Dtype::kInt32) {
    std::vector<std::int32_t> numbers;
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<std::int32_t>(value.integers()[static_cast<std::size_t>(i)]));
    return session.write(0, name, numbers);
  }
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(number(value, i)));
  session.write(0, name, numbers);
}

double largest_difference(const Value& got, const Value& want) {
  double difference = 0, scale = 0;
  for (std::int64_t i = 0; i < want.count(); ++i) {
    const double a = number(got, i), b = number(want, i);
    if (std::isfinite(b)) scale = std::max(scale, std::abs(b));
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    difference = std::isfinite(a) && std::isfinite(b) ? std::max(difference, std::abs(a - b))
                                                      : std::numeric_limits<double>::infinity();
  }
  return difference == 0 ? 0 : difference / std::max(scale, 1e-30);
}

}  // namespace

std::vector<Value> drawn_inputs(const frontend::Module& module, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::normal_distribution<double> normal{0, 1};
  std::vector<Value> out;
  for (const Type& type : module.entry_function().parameter_types()) {
    const auto count = static_cast<std::size_t>(frontend::element_count(type.dims));
    if (is_float(type.element)) {
      frontend::Reals numbers(count);
      for (double& x : numbers) x = normal(random);
      out.push_back(frontend::value_of(type, std::move(numbers)));
    } else {
      frontend::Integers numbers(count);
      for (std::int64_t& x : numbers) x = static_cast<std::int64_t>(random() % 2);
      out.push_back(frontend::value_of(type, std::move(numbers)));
    }
  }
  return out;
}

std::vector<Value> run_on_core(const frontend::LoweredGraph& lowered, const isa::Target& target,
                               const std::vector<Value>& inputs) {
  if (!lowered.timed_only.empty())
    throw base::Error{base::Fault::kProgram, lowered.timed_only.front(), "is timed, and not computed",
                      "use mode timed"};
  if (lowered.ranks != 1)
    throw base::Error{base::Fault::kProgram, "graph", "needs several cores", "compute it with one, or use mode timed"};
  const runtime::Compiled compiled = runtime::compile(lowered.graph, target, {.name = "graph"});
  const auto device = isa::make_numeric_device();
  device->load(compiled.program);
  runtime::Session session{*device, compiled.program};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!lowered.inputs[i].name.empty() && session.has(lowered.inputs[i].name))
      write(session, lowered.inputs[i].name, inputs[i]);
  for (const frontend::ConstantPort& constant : lowered.constants)
    if (session.has(constant.name)) write(session, constant.name, frontend::value_of(*constant.literal));
  device->run({});
  std::vector<Value> out;
  for (const frontend::Port& port : lowered.outputs)
    out.push_back(port.name.empty() ? frontend::zeros(port.type) : value_from(port.type, session.read(0, port.name)));
  return out;
}

double tolerance_of(Element element) {
  if (!is_float(element)) return 0;
  return element == Element::kF32 || element == Element::kF64 ? 1e-5 : 2e-2;
}

std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const isa::Target& target, const std::vector<Value>& inputs) {
  const std::vector<Value> got = run_on_core(lowered, target, inputs);
  frontend::Interpreter reference{module};
  const std::vector<Value> want = reference.run(module.entry, inputs);
  std::vector<OutputError> out;
  for (std::size_t i = 0; i < want.size(); ++i) {
    OutputError one{.name = lowered.outputs[i].name, .type = hlo_text(want[i].type)};
    one.error = largest_difference(got[i], want[i]);
    one.within = one.error <= tolerance_of(want[i].type.element);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace trnsim
