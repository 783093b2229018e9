// Operators that no instruction computes, as functions of others that the lowering has.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Batch normalisations, moves between ranks and shorthands (shorthands.h) become calls of functions; with
/// `numbers` also the rank's own number, which costs a collective, and products of integers that are too deep for
/// TensorE's sums: a program that is only timed does without.
void compose(Module& module, bool numbers);
/// A program whose cores say themselves what each does (shard_map): where all parameters that are divided are divided
/// at once, and all results are put together at the end, parameters and results are a core's parts.
void localize(Module& module);
/// Custom calls of neuronx-cc that have a formula (norms, softmax, places of the largest) become calls of
/// functions, as readers do at their end. Others stay. Errors: Fault::kProgram for operands that it does not have.
void compose_targets(Module& module);

}  // namespace trnsim::frontend
