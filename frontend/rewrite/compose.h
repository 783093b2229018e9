// Operators that no instruction computes, as functions of others that the lowering has.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Batch normalisations and moves between ranks become calls of functions; with `rank_numbers` also the rank's own
/// number, which costs a collective: a program that is only timed does without.
void compose(Module& module, bool rank_numbers);

}  // namespace trnsim::frontend
