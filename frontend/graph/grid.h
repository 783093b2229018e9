// The processes that a program is for.
#pragma once

#include <cstdint>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Replicas and partitions of a module that does not say how many it is for, as its collectives show: replicas up to
/// the largest number in their groups and pairs, or as many parts as a gather without groups puts together; partitions
/// where a channel makes the numbers those of partitions (specification of StableHLO: collective_permute,
/// collective_broadcast, all_to_all). Errors: Fault::kProgram for more than a million processes.
void settle_grid(Module& module);

}  // namespace trnsim::frontend
