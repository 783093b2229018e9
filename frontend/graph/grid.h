// The processes that a program is for.
#pragma once

#include <cstdint>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Replicas and partitions of a module that does not say how many it is for, as its collectives show: replicas up to
/// the largest number in their groups and pairs, or as many parts as a gather without groups puts together; partitions
/// where a channel makes the numbers those of partitions (specification of StableHLO: collective_permute,
/// collective_broadcast, all_to_all), and flat numbers are theirs where the program asks for its partition alone.
/// Errors: Fault::kProgram for more than a million processes.
void settle_grid(Module& module);

/// The groups of a collective by its processes' flat numbers, replica * partitions + partition. Without a channel the
/// program's numbers are those of replicas, for each partition; with one those of partitions, or of replicas with all
/// their partitions, or flat ones. Numbers that no such process has are taken as flat ones. Source: the specification
/// of StableHLO, "process groups".
IntTable process_groups(const Module& module, const Node& node);

}  // namespace trnsim::frontend
