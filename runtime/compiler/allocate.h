// From virtual buffers to addresses in SBUF and PSUM, with spills to HBM when SBUF does not suffice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/compiler/emitter.h"

namespace runtime {

/// The register that stands for the block's spill area in VirtualBlock::registers.
inline constexpr ValueId kSpillArea = kNoValue - 1;

/// Bytes: buffers in SBUF and slots of the spill area begin at multiples of it.
inline constexpr std::int64_t kGrain = 64;

struct Allocation {
  std::int64_t sbuf_bytes = 0;  // peak per partition
  std::int64_t psum_bytes = 0;
  std::int64_t spill_bytes = 0;  // of HBM
  std::int64_t spills = 0;       // stores; each is loaded again
  std::size_t moved = 0;         // instructions that are no longer in their original place
};

/// Lists of different lengths, one after the other.
struct Lists {
  std::vector<std::uint32_t> begin{0}, items;
  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t i) const {
    return {items.data() + begin[i], items.data() + begin[i + 1]};
  }
  void end_list() { begin.push_back(static_cast<std::uint32_t>(items.size())); }
};

/// Numbers of instructions, each once, one per call: a caller that rejects an order early need not wait for its
/// end.
using NextInstr = std::function<std::uint32_t()>;
/// All of them, as they were written.
NextInstr in_turn();

/// Gives every buffer an address, in program order. With `rotate`, freed space is used again as late as possible, so
/// that the next tile's load need not wait for this tile's last reader: double buffering falls out of it. Without, as
/// early as possible. Errors: Fault::kCapacity when one instruction needs more than there is, or PSUM is exhausted.
Allocation allocate(VirtualBlock& block, const isa::Geometry& geometry, bool rotate);
/// The same with the instructions in another order. Nothing, and the block unchanged, when it does not fit.
/// `named`: named_buffers() of the block.
std::optional<Allocation> allocate_without_spills(VirtualBlock& block, const Lists& named,
                                                  const isa::Geometry& geometry, bool rotate, const NextInstr& next);
/// The buffers that each instruction names, each once.
Lists named_buffers(const VirtualBlock& block);

}  // namespace runtime
