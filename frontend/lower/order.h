// The order of a function's nodes. A framework writes them as it has met them: weight gradients, say, behind all
// layers' backward passes, whose operands all wait for them. neuronx-cc orders them for memory.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Moves nodes up that read a value last, with all that they need, where that frees more bytes than it takes. The
/// others keep their order.
void order_for_memory(Module& module);

}  // namespace trnsim::frontend
