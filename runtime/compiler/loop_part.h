// The outermost loops of one operation, or of a fused group, and a part of their iterations.
#pragma once

#include <cstdint>

namespace runtime {

/// Two loops around all instructions; no iteration needs another one's.
struct LoopShape {
  std::int64_t outer = 1, inner = 1;
};

/// Iterations [outer, outer + outer_count) of the one, [inner, inner + inner_count) of the other loop; a count of 0:
/// all from there on.
struct LoopPart {
  std::int64_t outer = 0, outer_count = 0, inner = 0, inner_count = 0;

  std::int64_t outer_end(const LoopShape& all) const { return outer_count == 0 ? all.outer : outer + outer_count; }
  std::int64_t inner_end(const LoopShape& all) const { return inner_count == 0 ? all.inner : inner + inner_count; }
};

}  // namespace runtime
