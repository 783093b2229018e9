// The simulated machine: its cores and their network, as one SystemC module.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <systemc>

#include "hw/core/core.h"
#include "hw/network/cc_core.h"
#include "hw/network/fabric.h"
#include "hw/run/executor.h"
#include "hw/sim_device.h"

namespace hw {

/// Some cores of a machine, and the links of their instances; runs any number of programs, one after the other.
class Machine : public sc_core::sc_module {
 public:
  /// `ranks`: the simulated cores, in rising order.
  Machine(sc_core::sc_module_name name, const MachineParams& params, const Ranks& ranks);

  /// Runs programs together from now on until nothing moves. Returns the records of each program, in their order: of
  /// the core that took longest with it. Errors: as simulate().
  std::vector<SimResult> run(const std::vector<TimedProgram>& programs, const SimOptions& options, Observer* observer);

  /// The machine of this process: there is one at a time. A different one, or one after an error, is built
  /// from scratch, and references to the previous one become invalid.
  static Machine& instance(const MachineParams& params, const Ranks& ranks);

  const MachineParams& params() const { return params_; }
  Executor& executor() { return executor_; }

 private:
  [[noreturn]] void report_deadlock(const isa::Program& program) const;
  /// The result of the slowest core that runs `program`, without totals over all cores.
  SimResult slowest_of(const isa::Program& program, Fs origin) const;
  std::vector<SimResult> collect(const isa::Programs& programs, const SimOptions& options, Fs origin) const;

  Core& core(std::uint32_t rank);

  const MachineParams params_;
  const Ranks ranks_;
  Executor executor_{"executor"};
  CollectivePlanner planner_;
  Fabric fabric_;
  CcCores collectives_;
  Meetings meetings_;
  std::vector<std::unique_ptr<Core>> cores_;  // of ranks_
  Observer* observer_ = nullptr;
  bool broken_ = false;  // a run ended in an error: the kernel would not start again
};

/// SystemC's kernel and the machine on it are one for the process: simulations of several threads take turns. Held by
/// the caller of Machine::instance() while it runs the machine.
std::unique_lock<std::mutex> hold_kernel();

/// Errors: Fault::kCapacity when a core's HBM does not hold the program.
void require_memory(const isa::Program& program, const MachineParams& machine);
/// As simulate_each(), for a caller that holds the kernel.
std::vector<SimResult> simulate_held(const isa::Programs& programs, const MachineParams& machine,
                                     const SimOptions& options);
/// Times every block of `program` for `machine` that `times` does not know. Errors: Fault::kProgram.
TimedProgram time_program(const isa::Program& program, const MachineParams& machine, BlockTimes& times);

}  // namespace hw
