// Observers of simulated events: the full mode executes instructions in one. Timed mode has none.
#pragma once

#include <cstdint>
#include <span>

#include "hw/trace.h"

namespace hw {

/// A rank of a collective, and the instruction that it issued: of which call, and its place in the block.
struct Member {
  std::uint32_t rank, call, index;
};

/// `rank`: the core; `call` and `index`: which instruction. Times may be ahead of the simulation's clock.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The instruction starts to read its operands at `when`.
  virtual void begins(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) = 0;
  /// Its result is visible from `when` on.
  virtual void retires(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) = 0;
  /// A collective of `members`, in the order of the group; one side of a pair whose other side runs another program is
  /// alone.
  virtual void collective(std::span<const Member> members, Fs begin, Fs end) = 0;
};

}  // namespace hw
