// All stages of a pipeline on the clock, a core of each.
#pragma once

#include "cli/decoder_job.h"

namespace cli {

/// Every stage compiled. At the most twice as many micro-batches as stages run.
struct Stages {
  std::vector<runtime::Compiled> compiled;
  std::int64_t micro_batches = 0;  // that run
  DecoderMemory memory;            // of the stage that needs most, with its inbox
};

struct StagesTime {
  hw::SimResult device;  // of the core that took longest, for the micro-batches that ran
  double step_seconds = 0;
  double micro_seconds = 0;   // from micro-batch to micro-batch when all stages are at work
  double bubble_seconds = 0;  // what the slowest stage waits for others in a step
};

/// `blocks`: as for project(). Errors: as project().
Stages compile_stages(const DecoderJob& job, const hw::MachineParams& whole, runtime::BlockCache* blocks = nullptr);

/// A step with every stage simulated (project() has one, and computes the bubble). `whole`: the machine of all stages.
/// Further micro-batches take micro_seconds each; `micro_seconds` is that of one stage, for fewer micro-batches than
/// show it. Errors: as project(); Fault::kProgram when the machine cannot form the groups.
StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const Stages& stages,
                           double micro_seconds);

/// Gives the projection the time and the memory of all stages. `stage`: as for project().
void use_stages(const Stages& stages, const StagesTime& time, const DecoderJob& job, const hw::MachineParams& stage,
                DecoderProjection& projection);

}  // namespace cli
