// Which node makes each value of a function.
#pragma once

#include <vector>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// Holds until the function's nodes change. Their order does not tell: rewrites put new values in front of old ones.
class Producers {
 public:
  explicit Producers(const Function& function) : made_(function.values.size()) {
    for (const Node& node : function.nodes)
      for (std::uint32_t i = 0; i < node.results; ++i) made_[node.result(i)] = &node;
  }
  /// nullptr: a parameter.
  const Node* of(ValueId value) const { return value < made_.size() ? made_[value] : nullptr; }

 private:
  std::vector<const Node*> made_;
};

}  // namespace trnsim::frontend
