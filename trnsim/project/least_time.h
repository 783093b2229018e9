// The least time of a job, known without a simulation of it.
#pragma once

#include "hw/timed_block.h"
#include "trnsim/projection.h"

namespace trnsim {

/// Seconds that a job takes at least: its host's work as projected, and its arithmetic, recomputation included, at the
/// peak of its cores, which wait while a pipeline fills and drains. `pass`: pass_seconds() of a job with the same
/// passes, if one was projected.
double least_seconds(const Job& job, double pass = 0);

/// Seconds that cores take at least, all stages together, for the forward and the backward pass of one micro-batch:
/// calls of a core follow each other, and one with all power and no traffic beside it is the shortest. Jobs with equal
/// blocks have the same, whatever other cores do. `times` are of the machine's blocks.
double pass_seconds(const Projection& projection, const hw::MachineParams& machine, hw::BlockTimes& times);

}  // namespace trnsim
