// Who is told what happens when: the full mode executes instructions here. Timed mode has none.
#pragma once

#include <cstdint>
#include <span>

#include "hw/trace.h"

namespace hw {

/// `rank`: the core; `call` and `index`: which instruction. Times may lie ahead of the simulation's clock.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The instruction starts to read its operands at `when`.
  virtual void begins(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) = 0;
  /// Its result is visible from `when` on.
  virtual void retires(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) = 0;
  /// A collective of `ranks`, in the order of the group; rank i issued it in `calls[i]`.
  virtual void collective(std::span<const std::uint32_t> ranks, std::span<const std::uint32_t> calls,
                          std::uint32_t index, Fs begin, Fs end) = 0;
};

}  // namespace hw
