// Calls that were simulated without traffic beside them: equal blocks with equal starts end alike.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hw/core/power.h"
#include "hw/run/replay.h"

namespace hw {

/// A block's clock depends on its instructions and on the remaining power budget, never on data. So one simulation
/// of it represents all that begin with the same tokens and warmth while no collective moves data: calls of a core,
/// cores of a pipeline's stages, and other programs with the block.
struct KnownCall {
  Replay::Record record;            // its times count from its start
  double tokens = 0;                // of the power limit, at its start
  ColdStart::State warmth{};        // of the PE array, at its start: its time does not count
  bool matmuls = false;             // it has taken some
  PowerLimit::State power_after{};  // the states after it, by the same clock
  ColdStart::State cold_after{};
};

/// The known calls of one block on one machine.
class KnownCalls {
 public:
  /// Nothing when no call began with this number of tokens and this warmth.
  const KnownCall* find(double tokens, const ColdStart::State& warmth) const;
  void add(KnownCall call);

  /// The calls added since mark().
  void mark() { marked_ = calls_.size(); }
  std::vector<KnownCall> news() const { return {calls_.begin() + static_cast<std::ptrdiff_t>(marked_), calls_.end()}; }

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<KnownCall> calls_;
  std::size_t marked_ = 0;
};

/// The results that another process has learned about the block whose instructions are at `instrs` in both.
struct BlockNews {
  const void* instrs = nullptr;
  KnownCall call;
};

}  // namespace hw
