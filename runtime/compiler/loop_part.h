// The outermost loops of one operation, or of a fused group, parts of their iterations, and calls of such parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runtime {

/// Two loops around all instructions; no iteration needs another one's.
struct LoopShape {
  std::int64_t outer = 1, inner = 1;
};

/// Such loops one after the other: an iteration may need those of the stages before its own.
using LoopStages = std::vector<LoopShape>;

/// Iterations [outer, outer + outer_count) of the one, [inner, inner + inner_count) of the other loop of a stage; a
/// count of 0: all from there on.
struct LoopPart {
  static constexpr std::int64_t kAllStages = -1;

  std::int64_t outer = 0, outer_count = 0, inner = 0, inner_count = 0;
  std::int64_t stage = kAllStages;

  bool operator==(const LoopPart&) const = default;
  std::int64_t outer_end(const LoopShape& all) const { return outer_count == 0 ? all.outer : outer + outer_count; }
  std::int64_t inner_end(const LoopShape& all) const { return inner_count == 0 ? all.inner : inner + inner_count; }
};

/// Calls of one part of a loop.
struct Pieces {
  LoopPart part{};                    // that the block has
  std::int64_t outer = 1, inner = 1;  // calls, the inner ones next to each other
  // Bytes by value of the call's signature: from the block's part to the first call, and from call to call.
  std::vector<std::int64_t> begin{}, outer_step{}, inner_step{};
};

/// Nodes of a call that run by themselves because they are long, or that are left between such.
struct CallPart {
  std::vector<std::size_t> places;  // of its nodes in the call
  std::vector<Pieces> pieces;       // empty: one call of all
};

}  // namespace runtime
