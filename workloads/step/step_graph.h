// A step as compiled.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/step/plan.h"

namespace workloads {

/// Parameters that ZeRO updates together: every data-parallel rank has its part of "shard.N" (runtime::bucket_elements
/// of each tensor, one after the other, cut in equal parts).
struct ZeroBucket {
  std::string name;                  // "shard.0"
  std::vector<std::string> weights;  // in their order
};

/// One rank's step as a graph, and the buckets of ZeRO-1, whose shards the host fills before the first step.
struct StepGraph {
  runtime::Graph graph;
  std::vector<ZeroBucket> zero;
};

/// Whether the backward pass recomputes the results of a node of a layer instead of reading them.
bool is_recomputed(const runtime::Node& node, runtime::Recompute recompute);

}  // namespace workloads
