// Operators that no instruction computes, as functions of others that the lowering has.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Batch normalisations and moves between ranks become calls of functions; with `rank_numbers` also the rank's own
/// number, which costs a collective: a program that is only timed does without.
void compose(Module& module, bool rank_numbers);
/// Custom calls of the vendor's compiler that have a formula (norms, softmax, places of the largest) become calls of
/// functions, as readers do at their end. Others stay. Errors: Fault::kProgram for operands that it does not have.
void compose_targets(Module& module);

}  // namespace trnsim::frontend
