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
  /// `cache`: where the parts of calls of other programs are looked up and kept; null: nowhere.
  std::vector<LongCall> split(const Calls& calls, BlockCache* cache = nullptr);

 private:
  std::vector<CallPart> parts_of(const std::vector<NodeId>& nodes) const;
  std::vector<Pieces> pieces_of(const std::vector<NodeId>& nodes) const;

  const Graph& graph_;
  const isa::Target& target_;
  const BlockPasses passes_;
  double longest_, part_;
};

}  // namespace runtime
