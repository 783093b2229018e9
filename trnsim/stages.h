// All stages of a pipeline on the clock, a core of each.
#pragma once

#include "hw/sim_device.h"
#include "trnsim/decoder_job.h"

namespace trnsim {

/// Every stage compiled, for micro_batches_to_run().
struct Stages {
  std::vector<runtime::Compiled> compiled;
  DecoderMemory memory;  // of the stage that needs most, with its inbox
};

struct StagesTime {
  hw::SimResult device;  // of the core that took longest, for the micro-batches that ran
  double step_seconds = 0;
  double micro_seconds = 0;   // from micro-batch to micro-batch when all stages are at work
  double bubble_seconds = 0;  // what the slowest stage waits for others in a step
};

/// `blocks`, `give_up_at`: as in runtime::CompileOptions; who gives up has no stages behind the one that needs more.
/// Errors: as project_if_it_fits().
Stages compile_stages(const DecoderJob& job, const hw::MachineParams& whole, runtime::BlockCache* blocks,
                      std::uint64_t give_up_at);

/// A step with every stage simulated. `whole`: the machine of all stages. Further micro-batches take micro_seconds
/// each; `micro_seconds` is that of one stage, for fewer micro-batches than show it. Errors: Fault::kProgram when the
/// machine cannot form the groups.
StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const Stages& stages,
                           double micro_seconds, hw::BlockTimes* times);

}  // namespace trnsim
