#include "frontend/interpret/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/interpret/elementwise.h"
#include "frontend/interpret/movement.h"

namespace trnsim::frontend::evaluate {
namespace {

struct CustomCall {
  std::string_view target;
  void (*evaluate)(Evaluation&);
};

/// Targets that have a meaning here: checks, marks that leave their operands as they are, and functions.
constexpr std::array kCustomCalls = {
    CustomCall{"check.eq", expect_equal},
    CustomCall{"check.expect_eq", expect_equal},
    CustomCall{"check.expect_almost_eq", expect_almost_equal},
    CustomCall{"check.expect_close", expect_close},
    CustomCall{"Sharding", pass},
    CustomCall{"SPMDFullToShardShape", pass},
    CustomCall{"SPMDShardToFullShape", pass},
    CustomCall{"annotate_device_placement", pass},
    CustomCall{"LayoutConstraint", pass},
    CustomCall{"AwsNeuronTransferWithStaticRing", pass},
    CustomCall{"AwsNeuronLNCShardingConstraint", pass},
    CustomCall{"AwsNeuronModuleMarkerStart-Forward", pass},
    CustomCall{"AwsNeuronModuleMarkerStart-Backward", pass},
    CustomCall{"AwsNeuronModuleMarkerEnd-Forward", pass},
    CustomCall{"AwsNeuronModuleMarkerEnd-Backward", pass},
    CustomCall{"NeuronBoundaryMarker-Start", pass},
    CustomCall{"NeuronBoundaryMarker-End", pass},
    CustomCall{"AwsNeuronErf", erf},
    CustomCall{"AwsNeuronGelu", gelu},
    CustomCall{"AwsNeuronGeluApprxTanh", gelu_tanh},
    CustomCall{"AwsNeuronSilu", silu},
    CustomCall{"mhlo.erf", erf},
    CustomCall{"mhlo.erf_inv", erf_inv},
    CustomCall{"mhlo.tan", tan},
    CustomCall{"mhlo.cosh", cosh},
    CustomCall{"mhlo.sinh", sinh},
    CustomCall{"mhlo.acosh", acosh},
    CustomCall{"mhlo.asinh", asinh},
    CustomCall{"mhlo.atanh", atanh},
};

}  // namespace

void loop(Evaluation& e) {
  std::vector<Value> state = e.all_operands();
  while (e.call(0, state).front().integers().front() != 0) state = e.call(1, std::move(state));
  for (Value& value : state) e.put(std::move(value));
}

/// An index outside of the branches takes the last one. HLO's form gives each branch an operand of its own.
void branch(Evaluation& e) {
  const auto count = static_cast<std::int64_t>(e.node().regions.size());
  std::int64_t index = e.operand(0).integers().front();
  if (is_bool(e.operand(0).type.element)) index = index != 0 ? 0 : 1;
  if (index < 0 || index >= count) index = count - 1;
  const auto chosen = static_cast<std::size_t>(index);
  std::vector<Value> arguments;
  if (e.operands() > 1) arguments.push_back(e.operand(chosen + 1));
  for (Value& value : e.call(chosen, std::move(arguments))) e.put(std::move(value));
}

void call(Evaluation& e) {
  for (Value& value : e.call(0, e.all_operands())) e.put(std::move(value));
}

/// The body is computed at once: no figure of the reference depends on when.
void async_start(Evaluation& e) {
  std::vector<Value> results = e.call(0, e.all_operands());
  if (e.result_type().is_tuple())
    e.put(tuple_value(std::move(results)));
  else
    for (Value& value : results) e.put(std::move(value));
}

void custom_call(Evaluation& e) {
  const std::string target = e.attributes().text("call_target_name");
  const auto found = std::ranges::find(kCustomCalls, target, &CustomCall::target);
  if (found == kCustomCalls.end()) e.fail(fmt::format("EVRF015: the target @{} of a custom call is not known", target));
  found->evaluate(e);
}

}  // namespace trnsim::frontend::evaluate
