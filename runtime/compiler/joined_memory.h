// Memory that tensors of joined calls take in turns.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/graph/graph.h"

namespace runtime {

/// In a block of several calls (merge_calls()) a tensor takes the memory of one of its size that was read for the last
/// time in an earlier call: then the block needs about the memory that its calls need on their own. It costs no time,
/// since what a call computes depends on the one before. A tensor that no instruction names takes none. `block` is as
/// it was written, in order. Returns how many tensors do.
std::size_t share_memory(const Graph& graph, const std::vector<NodeId>& nodes, VirtualBlock& block);

}  // namespace runtime
