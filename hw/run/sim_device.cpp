#include "hw/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "hw/run/full_mode.h"
#include "hw/run/machine.h"

namespace hw {
namespace {

using base::Error;
using base::Fault;

void check_ranks(const isa::Program& program, const MachineParams& machine) {
  if (program.ranks >= 1 && program.ranks <= static_cast<std::uint32_t>(machine.core_count())) return;
  throw Error{
      Fault::kUsage, program.name,
      fmt::format("is for {}, but {} has {}", base::counted(program.ranks, "core"), machine.name, machine.core_count()),
      "choose a larger instance, more of them (cluster.instances) or fewer cores"};
}

Ranks all_ranks(const isa::Program& program) {
  Ranks ranks(program.ranks);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

/// The full mode: the memories of all ranks, and the machine that works on them.
class FullDevice final : public SimDevice {
 public:
  FullDevice(const MachineParams& machine, const SimOptions& options) : machine_{machine}, options_{options} {
    options_.execute = true;
  }

  void load_all(const isa::Programs& programs) override {
    isa::require_together(programs);
    const isa::Program& first = *programs.front();
    check_ranks(first, machine_);
    base::ensure(memories_.empty() || memories_.size() == first.ranks, "load", "the number of ranks has changed");
    timed_.clear();
    BlockTimes times;
    for (const isa::Program* program : programs) {
      require_memory(*program, machine_);
      timed_.push_back(time_program(*program, machine_, times));
    }
    programs_ = programs;
    // All of a core's HBM, once: the host allocates only touched pages, and later programs find the data of earlier
    // ones.
    while (memories_.size() < first.ranks)
      memories_.push_back(std::make_unique<isa::Memory>(machine_.hbm_bytes_per_core()));
  }

  void run(const isa::RunOptions& run) override {
    base::ensure(!timed_.empty(), "run", "no program is loaded");
    options_.run = run;
    std::vector<isa::Memory*> memories;
    for (auto& memory : memories_) memories.push_back(memory.get());
    const auto kernel = hold_kernel();
    const Ranks ranks = all_ranks(*programs_.front());
    Machine& machine = Machine::instance(machine_.used_by(programs_.front()->ranks), ranks);
    FullMode full{programs_, memories, run, options_.check_races, machine.executor()};
    result_ = slowest(machine.run(timed_, options_, &full));
  }

  isa::Memory& memory(std::uint32_t rank) override { return *memories_.at(rank); }
  const SimResult& result() const override { return result_; }

 private:
  const MachineParams machine_;
  SimOptions options_;
  isa::Programs programs_;
  std::vector<TimedProgram> timed_;  // of programs_
  std::vector<std::unique_ptr<isa::Memory>> memories_;
  SimResult result_;
};

}  // namespace

SimResult simulate(const isa::Program& program, const MachineParams& machine, const SimOptions& options) {
  return simulate(isa::Programs{&program}, machine, options);
}

SimResult simulate(const isa::Programs& programs, const MachineParams& machine, const SimOptions& options) {
  if (!options.execute) return slowest(simulate_each(programs, machine, options));
  const auto device = make_sim_device(machine, options);
  device->load_all(programs);
  device->run(options.run);
  return device->result();
}

SimResult slowest(std::vector<SimResult> results) {
  const auto longer = [](const SimResult& a, const SimResult& b) {
    return a.total != b.total ? a.total < b.total : a.rank > b.rank;
  };
  return std::move(*std::ranges::max_element(results, longer));
}

std::vector<SimResult> simulate_each(const isa::Programs& programs, const MachineParams& machine,
                                     const SimOptions& options) {
  const auto kernel = hold_kernel();
  return simulate_held(programs, machine, options);
}

std::vector<SimResult> simulate_held(const isa::Programs& programs, const MachineParams& machine,
                                     const SimOptions& options) {
  base::ensure(!options.execute, "simulate_each", "only make_sim_device() computes");
  isa::require_together(programs);
  check_ranks(*programs.front(), machine);
  const MachineParams used = machine.used_by(programs.front()->ranks);
  BlockTimes own;  // stages have blocks in common
  std::vector<TimedProgram> timed;
  Ranks representatives;
  for (const isa::Program* program : programs) {
    if (!options.any_memory) require_memory(*program, machine);
    timed.push_back(time_program(*program, used, options.times ? *options.times : own));
    representatives.push_back(program->first_rank);
  }
  std::ranges::sort(representatives);
  return Machine::instance(used, options.exact ? all_ranks(*programs.front()) : representatives)
      .run(timed, options, nullptr);
}

std::unique_ptr<SimDevice> make_sim_device(const MachineParams& machine, const SimOptions& options) {
  isa::require_host();
  return std::make_unique<FullDevice>(machine, options);
}

}  // namespace hw
