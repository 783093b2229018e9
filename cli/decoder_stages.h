// All stages of a pipeline on the clock, a core of each.
#pragma once

#include "cli/decoder_job.h"

namespace cli {

struct StagesTime {
  double step_seconds = 0;
  double micro_seconds = 0;   // from micro-batch to micro-batch when all stages are at work
  double bubble_seconds = 0;  // what the slowest stage waits for others in a step
};

/// A step with every stage compiled and simulated (project() has one, and computes the bubble). `whole`: the machine of
/// all stages. At the most twice as many micro-batches as stages run; each further one takes micro_seconds.
/// `projection`: of the same job. Errors: as project(); Fault::kProgram when the machine cannot form the groups.
StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const DecoderProjection& projection);

/// Gives the projection the time of all stages. `stage`: as for project().
void use_stages(const StagesTime& stages, const DecoderJob& job, const hw::MachineParams& stage,
                DecoderProjection& projection);

}  // namespace cli
