// Operator fusion: nodes of a block that run together without a detour through HBM.
#pragma once

#include <set>
#include <vector>

#include "isa/target.h"
#include "runtime/graph/graph.h"

namespace runtime {

struct FusedGroup {
  std::vector<NodeId> nodes;
  bool by_rows = false;  // row-local nodes; otherwise one node with loops of its own
};

/// Groups of a block's nodes, in an order in which they can run. With `fuse` off, each node is its own group.
std::vector<FusedGroup> fuse_nodes(const Graph& graph, const std::vector<NodeId>& nodes, const isa::Geometry& geometry,
                                   bool fuse);

/// Values of `group` that must be in HBM: nodes outside of the group read them, or the host does.
std::set<ValueId> escapes(const Graph& graph, const FusedGroup& group);

}  // namespace runtime
