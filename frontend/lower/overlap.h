// Communication beside computation. A framework writes a collective in front of its reader, which then waits for all of
// it; neuronx-cc has queues of their own for both, and orders each as the data allow.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Moves gathers that need nothing but parameters (weights that ranks share) up, in front of the reader of the gather
/// before them, and the readers of all collectives down, behind a product that does not need them, where one follows
/// soon: one collective is on its way while a product is computed. The others keep their order.
/// Source: AWS Neuron documentation, "Compute-Communication Overlap in Neuron" (separate scheduling queues; gathers of
/// weights at the earliest point, with NEURON_FSDP a layer ahead). All weights at once would not fit where ranks share
/// them for that reason: so one is ahead.
void overlap_collectives(Module& module);

}  // namespace trnsim::frontend
