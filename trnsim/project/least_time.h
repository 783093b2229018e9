// The least time of a job, known without a simulation.
#pragma once

#include "trnsim/projection.h"

namespace trnsim {

/// Seconds that a job takes at least: its host's work as projected, and its arithmetic, recomputation included, at the
/// peak of its cores, which wait while a pipeline fills and drains.
double least_seconds(const Job& job);

}  // namespace trnsim
