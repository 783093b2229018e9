// Collectives that run alongside the calls behind them: which calls have to wait for which.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "runtime/graph/graph.h"

namespace runtime {

/// The queue between tensor-parallel ranks, and of all collectives of graphs. It is in order: a wait for one
/// collective is a wait for all before it.
class Flights {
 public:
  explicit Flights(const Graph& graph) : graph_{graph} {}

  /// How many collectives have to be complete before a call: all up to the last whose result it names, whose operand it
  /// writes, or that an earlier call had to wait for. Calls come in their order.
  std::uint32_t awaited_by(const std::vector<NodeId>& call);

  /// Tensors that collectives no longer use since the last awaited_by() or, with `all`, any more.
  std::vector<ValueId> landed(bool all = false);

  /// Behind a call: its collectives are under way.
  void begin(const std::vector<NodeId>& call);

 private:
  struct Flight {
    std::uint32_t count;
    ValueId source, result;
  };

  void wait_for(const std::unordered_map<ValueId, std::uint32_t>& last, ValueId v);

  const Graph& graph_;
  std::uint32_t issued_ = 0, awaited_ = 0;
  std::deque<Flight> flights_;
  std::unordered_map<ValueId, std::uint32_t> reads_, writes_;  // of a tensor's memory, the last collective that does
};

}  // namespace runtime
