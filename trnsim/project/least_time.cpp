#include "trnsim/project/least_time.h"

#include <algorithm>
#include <map>

#include "hw/params.h"
#include "hw/trace.h"
#include "runtime/compiler/compile.h"

namespace trnsim {
namespace {

/// The seconds that a call is sooner at the most when its matmuls begin with a full power budget and a warm PE array.
double most_gained(const hw::MachineParams& machine) {
  const double limit = machine.power_utilisation.value, rate = machine.power_cold.value;
  return machine.power_window.value * (1 - limit) / limit + machine.power_ramp.value * (1 - rate) / rate;
}

bool is_of_pass(const hw::CallTime& call) {
  return call.phase == isa::Phase::kForward || call.phase == isa::Phase::kBackward;
}

/// Those of the calls of one stage.
double pass_seconds(const Stage& stage, const hw::MachineParams& machine, hw::BlockTimes& times) {
  struct Calls {
    double count = 0;
    hw::Fs least = 0;
  };
  std::map<std::uint32_t, Calls> by_block;
  for (const hw::CallTime& call : stage.device().calls) {
    if (!is_of_pass(call)) continue;
    Calls& calls = by_block[call.block];
    const hw::Fs took = call.end - call.begin;
    calls.least = calls.count == 0 ? took : std::min(calls.least, took);
    ++calls.count;
  }
  double sum = 0;
  for (const auto& [block, calls] : by_block)
    if (!times.get(stage.compiled().program.blocks[block], machine)->collectives)  // those wait for other cores
      sum += calls.count * std::max(0.0, hw::seconds(calls.least) - most_gained(machine));
  return sum;
}

}  // namespace

double pass_seconds(const Projection& projection, const hw::MachineParams& machine, hw::BlockTimes& times) {
  double sum = 0;
  for (const Stage& stage : projection.stages) sum += pass_seconds(stage, machine, times);
  return sum / static_cast<double>(projection.micro_batches);
}

}  // namespace trnsim
