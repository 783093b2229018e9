// Long operations as loops: equal parts of their work are calls of one block, which is built, checked and timed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/target.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/calls.h"
#include "runtime/compiler/loop_part.h"
#include "runtime/graph/graph.h"

namespace runtime {

/// Calls of one part of a loop.
struct Pieces {
  LoopPart part{};                                     // that the block has
  std::int64_t outer = 1, inner = 1;                   // calls, the inner ones next to each other
  std::vector<std::int64_t> outer_step, inner_step{};  // bytes from call to call, by value of the call's signature
};

/// A call, or a part of one that is too long: a call's parts follow each other.
struct LongCall {
  std::vector<NodeId> nodes;
  std::vector<Pieces> pieces{};  // empty: one call of all
  std::size_t of = 0;            // the call that it is a part of
};

/// Calls with each group of nodes alone that would have more than a number of instructions and whose parts differ in
/// nothing but the places of their tensors: that is seen in the instructions, which are written for several parts.
class LongCalls {
 public:
  /// `longest`: instructions of a group from which on it is cut, into parts of at least a quarter of that. Where calls
  /// meet, engines wait some microseconds for the last one, of some milliseconds that a part of 25,000 takes.
  LongCalls(const Graph& graph, const isa::Target& target, const BlockPasses& passes, double longest)
      : graph_{graph}, target_{target}, passes_{passes}, longest_{longest}, part_{longest / 4} {}
  std::vector<LongCall> split(const Calls& calls);

 private:
  struct Group {
    std::vector<std::size_t> places;  // of its nodes in the call
    std::vector<Pieces> pieces;
  };
  std::vector<Group> groups_of(const std::vector<NodeId>& nodes) const;
  std::vector<Pieces> pieces_of(const std::vector<NodeId>& nodes) const;

  const Graph& graph_;
  const isa::Target& target_;
  const BlockPasses passes_;
  double longest_, part_;
};

}  // namespace runtime
