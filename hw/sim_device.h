// Runs programs on the simulated machine: their time, and on request (full mode) what they compute.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/params.h"
#include "hw/trace.h"
#include "isa/device.h"
#include "isa/program.h"

namespace hw {

class BlockTimes;

struct SimOptions {
  /// Every core and every call; otherwise one core per class of ranks that do the same work (the first rank of each
  /// program, whose peers arrive when it does), and calls that would repeat earlier ones are replayed.
  bool exact = false;
  bool execute = false;      // full mode: also compute; implies exact
  bool check_races = false;  // full mode: no byte read before it was written or after it was overwritten
  /// Records every instruction and transfer that touches [trace_from, trace_until), seconds; nothing when they are
  /// equal.
  double trace_from = 0;
  double trace_until = 0;
  std::int32_t trace_layer = -1;        // calls of this layer alone; -1: all
  std::size_t trace_limit = 2'000'000;  // events; more are counted, not kept
  bool any_memory = false;              // time a program that HBM is too small for: its addresses are behind the end
  isa::RunOptions run{};                // full mode
  /// Times from earlier simulations on the machine; blocks in common are reused. The same results in less time.
  BlockTimes* times = nullptr;
};

/// Simulates one run of `program` in this process; one simulation at a time (SystemC's kernel is not for threads). With
/// `execute`, HBM begins as zeros: to give it data use make_sim_device().
/// Errors: Fault::kProgram for a deadlock (it lists the waits), a race, an instruction that cannot run;
/// Fault::kCapacity when the program does not fit; Fault::kInternal when the result breaks a physical bound.
SimResult simulate(const isa::Program& program, const MachineParams& machine, const SimOptions& options = {});
/// Programs that run together. The result has the records of the core that took longest; SimResult::rank says which.
SimResult simulate(const isa::Programs& programs, const MachineParams& machine, const SimOptions& options = {});
/// The same, one result per program, in their order: the records of the core that took longest with it. Without
/// `execute`.
std::vector<SimResult> simulate_each(const isa::Programs& programs, const MachineParams& machine,
                                     const SimOptions& options = {});
/// The one that took longest; of equal ones that of the lowest rank.
SimResult slowest(std::vector<SimResult> results);

/// The same in a forked child: sweeps run several at a time, and a mistake cannot take the caller down. A child that
/// dies is Fault::kInternal; its errors arrive as they were thrown. Options with `execute` are refused: memory would be
/// lost.
SimResult simulate_in_child(const isa::Program& program, const MachineParams& machine, const SimOptions& options = {});
SimResult simulate_in_child(const isa::Programs& programs, const MachineParams& machine,
                            const SimOptions& options = {});
std::vector<SimResult> simulate_each_in_child(const isa::Programs& programs, const MachineParams& machine,
                                              const SimOptions& options = {});

/// The full mode as a device: memory as make_numeric_device() leaves it bit for bit, and the time of each run.
class SimDevice : public isa::Device {
 public:
  /// The result of the last run().
  virtual const SimResult& result() const = 0;
};
/// `options.execute` is implied. HBM stays from run to run, whatever is simulated in between. Errors: as
/// isa::require_host().
std::unique_ptr<SimDevice> make_sim_device(const MachineParams& machine, const SimOptions& options = {});

}  // namespace hw
