#include "hw/machine_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "isa/table.h"
#include "isa/target.h"

namespace hw {
namespace {

void require(bool good, std::string_view machine, std::string_view what, std::string_view fix) {
  if (!good) throw base::Error{base::Fault::kUsage, machine, what, fix};
}

/// Keys whose value may be zero: parts that a machine can lack or do in no time.
constexpr auto kMayBeZero = std::to_array<std::string_view>({"efa.bandwidth",
                                                             "link.bandwidth",
                                                             "link.hop",
                                                             "efa.latency",
                                                             "program.lead_in",
                                                             "program.benchmark",
                                                             "dma.descriptor_overhead",
                                                             "dma.start",
                                                             "dma.wake",
                                                             "dma.setup",
                                                             "dma.indexed_setup",
                                                             "dma.generators",
                                                             "hbm.turnaround",
                                                             "dma.generation",
                                                             "power.ramp",
                                                             "vector.start",
                                                             "vector.operand_read",
                                                             "scalar.function",
                                                             "dma.overlap",
                                                             "dma.completion",
                                                             "engine.semaphore",
                                                             "engine.semaphore_clear",
                                                             "engine.iteration",
                                                             "tensor.swap",
                                                             "scalar.start",
                                                             "scalar.table_load",
                                                             "collective.floor",
                                                             "collective.launch",
                                                             "collective.barrier",
                                                             "gpsimd.start",
                                                             "collective.step",
                                                             "collective.network_sync",
                                                             "collective.mesh_below",
                                                             "collective.halving_below",
                                                             "collective.peer",
                                                             "collective.loop",
                                                             "chip.exchange",
                                                             "sbuf.shared_port",
                                                             "psum.shared_port",
                                                             "dma.transpose",
                                                             "chip.training"});

bool may_be_zero(std::string_view key) {
  return key.ends_with("latency") || std::ranges::find(kMayBeZero, key) != kMayBeZero.end();
}

/// Checks the parameters that say whether the machine has something.
void check_switches(const MachineParams& p) {
  for (const auto& [key, value] :
       {std::pair{"chip.training", p.training.value}, std::pair{"sbuf.shared_port", p.sbuf_shared_port.value},
        std::pair{"psum.shared_port", p.psum_shared_port.value}})
    require(value == 0 || value == 1, p.name, fmt::format("{} is {}, but it is a switch", key, value),
            fmt::format("set {} to 0 or 1", key));
}

/// Checks the network between chips and instances.
void check_fabric(const MachineParams& p) {
  require(p.torus_rows.value * p.torus_columns.value == p.chips.value, p.name,
          "link.rows times link.columns is not chip.count", "choose rows and columns whose product is chip.count");
  const bool line = p.torus_rows.value == 1;
  require(p.link_ports.value == 4 || (line && p.link_ports.value == 2), p.name,
          "link.ports is neither 4, the neighbours of a chip in a torus, nor 2 in a ring of one row",
          "set link.ports to 4, or link.rows to 1");
  require(p.chips.value == 1 || p.link_bandwidth.value > 0, p.name, "has several chips, but link.bandwidth is 0",
          "give link.bandwidth a positive value");
  constexpr int kMostInstances = 128;
  require(p.instances.value <= kMostInstances, p.name,
          fmt::format("cluster.instances is {}, but only clusters of 1 to {} are modelled", p.instances.value,
                      kMostInstances),
          "set cluster.instances to a value in that range");
  require(p.instances.value == 1 || p.efa_bandwidth.value > 0, p.name,
          "this instance has no EFA, so it cannot be joined to others", "use trn1.32xlarge or trn1n.32xlarge");
}

/// Checks the properties that programs need of any core.
void check_target(const MachineParams& p) {
  require(isa::instructions(static_cast<int>(p.generation.value)) != nullptr, p.name,
          fmt::format("core.generation is {}, whose instructions are not documented", p.generation.value),
          "add them to isa/table.h");
  if (const auto problem = isa::problem_of(p.target())) require(false, p.name, problem->what, problem->fix);
}

/// Times are counted in picoseconds in 63 bits: slower than this an instruction takes years, faster it takes no time.
void check_rate(const MachineParams& p, const MachineParams::Field& field, double value) {
  constexpr double kSlowest = 1e3, kFastest = 1e18;
  const bool is_rate = field.dimension == base::Dimension::kFrequency || field.dimension == base::Dimension::kBandwidth;
  if (!is_rate || value == 0 || (value >= kSlowest && value <= kFastest)) return;
  require(false, p.name, fmt::format("{} is {:g} per second", field.key, value),
          fmt::format("give {} a value between {:g} and {:g} per second", field.key, kSlowest, kFastest));
}

}  // namespace

void check_machine(const MachineParams& p) {
  for (const MachineParams::Field& field : MachineParams::fields()) {
    const double value = (p.*field.member).value;
    check_rate(p, field, value);
    if (value > 0 || (value == 0 && may_be_zero(field.key))) continue;
    require(false, p.name, fmt::format("{} is {}", field.key, value),
            fmt::format("give {} a positive value", field.key));
  }
  require(p.power_utilisation.value <= 1, p.name, "power.utilisation is above 1", "set power.utilisation to 1 or less");
  require(p.power_cold.value <= 1, p.name, "power.cold is above 1", "set power.cold to 1 or less");
  require(std::fmod(p.cores.value, p.logical.value * p.hbm_stacks.value) == 0 || p.logical.value == 1, p.name,
          fmt::format("the {:g} physical cores of a logical core do not share one stack of HBM", p.logical.value),
          "set chip.logical to 1 or 2");
  require(std::fmod(p.cores.value, p.hbm_stacks.value) == 0, p.name,
          fmt::format("{} stacks of HBM cannot be shared evenly by {} cores", p.hbm_stacks.value, p.cores.value),
          "make chip.cores a multiple of hbm.stacks");
  check_switches(p);
  check_fabric(p);
  check_target(p);
}

}  // namespace hw
