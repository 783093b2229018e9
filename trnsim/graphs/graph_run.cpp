#include "trnsim/graphs/graph_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/interpret/npz.h"
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

std::vector<Value> given_inputs(const std::filesystem::path& npz, const frontend::Module& module) {
  return frontend::inputs_from(npz, module);
}

double tolerance_of(Element element) {
  if (!is_float(element)) return 0;
  return element == Element::kF32 || element == Element::kF64 ? 1e-5 : 2e-2;
}

std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const hw::MachineParams& machine,
                                                const std::vector<std::vector<Value>>& inputs) {
  GraphProgram program{lowered, machine};
  std::vector<std::vector<Value>> of_cores;
  for (std::int64_t r = 0; r < program.ranks(); ++r)
    of_cores.push_back(inputs[static_cast<std::size_t>(r) % inputs.size()]);
  const auto got = program.run_together(of_cores);
  const auto want = program.ranks() > 1
                        ? frontend::run_on_processes(module, of_cores)
                        : std::vector<std::vector<Value>>{frontend::Interpreter{module}.run(module.entry, of_cores[0])};
  if (got.size() != want.size())
    throw base::Error{
        base::Fault::kProgram, module.file,
        fmt::format("its groups name {} cores, and it has {} replicas and partitions", got.size(), want.size()),
        "write mhlo.num_replicas or mhlo.num_partitions (HLO: replica_count) for all of them"};
  std::vector<OutputError> out;
  for (std::size_t i = 0; i < want[0].size(); ++i) {
    OutputError one{.name = lowered.outputs[i].name, .type = hlo_text(want[0][i].type)};
    for (std::size_t r = 0; r < want.size(); ++r)
      one.error = std::max(one.error, largest_difference(got[r][i], want[r][i]));
    one.within = one.error <= tolerance_of(want[0][i].type.element);
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const hw::MachineParams& machine, const std::vector<Value>& inputs) {
  return compare_with_reference(module, lowered, machine, std::vector<std::vector<Value>>{inputs});
}

}  // namespace trnsim
