// The arrows of a trace, from each signal to its waiter.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/record/record.h"

namespace analysis {

/// From one node to another. Nodes: the events of the result, then its collectives, then its calls, numbered through.
struct Flow {
  std::size_t from = 0, to = 0;
};

/// The number of the first node of each kind.
struct FlowNodes {
  explicit FlowNodes(const hw::SimResult& result)
      : collectives{result.events.size()}, calls{collectives + result.collectives.size()} {}
  std::size_t collectives, calls;
};

/// For each instruction that waited: the arrow from the one of its semaphores' raisers that came last. For each
/// transfer and collective: the arrow from the instruction that issued it. For each call that awaits collectives: the
/// arrow from the last of them. Raisers outside of the recorded window have no arrow.
std::vector<Flow> release_flows(const Record& record);

}  // namespace analysis
