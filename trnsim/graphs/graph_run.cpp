#include "trnsim/graphs/graph_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "frontend/interpret/interpreter.h"
#include "trnsim/graphs/graph_program.h"

namespace trnsim {
namespace {

using frontend::Element;
using frontend::Type;
using frontend::Value;

double number(const Value& value, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return is_float(value.type.element) ? value.reals()[at] : static_cast<double>(value.integers()[at]);
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

double tolerance_of(Element element) {
  if (!is_float(element)) return 0;
  return element == Element::kF32 || element == Element::kF64 ? 1e-5 : 2e-2;
}

std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const hw::MachineParams& machine, const std::vector<Value>& inputs) {
  const std::vector<Value> got = GraphProgram{lowered, machine}.run(inputs);
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
