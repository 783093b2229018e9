// How a job saves its state, from its settings.
#pragma once

#include "trnsim/job.h"

namespace trnsim {

/// Errors: Fault::kUsage for a rate or a time that is none, or not above 0.
SavePlan save_plan(const OutputSettings& settings);

}  // namespace trnsim
