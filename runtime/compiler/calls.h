// The calls of a program: which nodes are in each, and in which order they run.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/graph/graph.h"

namespace runtime {

/// Nodes in an order in which they can run: the content of one call.
using Calls = std::vector<std::vector<NodeId>>;

/// Whether it is a collective that runs alongside the compute.
bool runs_beside(const Node& node);

/// The nodes of each scope that has some. `as_it_is`: scopes keep the graph's order; otherwise backward runs as early
/// as it can. Errors: Fault::kInternal where a scope reads what a later one computes.
Calls calls_of(const Graph& graph, bool as_it_is);

/// Joins neighbouring calls while they are small and indistinguishable: loads of the next layer's weights then
/// run alongside this layer. Only without random streams, which differ by call. Returns how many joined.
std::size_t merge_calls(const Graph& graph, Calls& calls);

}  // namespace runtime
