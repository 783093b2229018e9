// From instructions on virtual buffers to a block that runs: their order, addresses, semaphores.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/emitter.h"
#include "runtime/compiler/schedule.h"

namespace runtime {

struct LowerOptions {
  bool reorder = true;             // to hide latencies; else the instructions keep the order in which they were written
  bool keep_room = false;          // as schedule(), with spill() and its order where nothing else fits
  bool rotate = true;              // as allocate()
  std::int64_t reserved_sbuf = 0;  // bytes of a partition that the block does not get
  std::uint32_t ahead = kAhead;    // as schedule()
};

struct Lowered {
  isa::Block block;
  std::vector<ValueId> registers;  // which tensor each is for; kSpillArea: the spill area
  Allocation allocation;
  std::size_t waits = 0;
};

/// The one way to a block: for the compiler's instructions, a traced kernel's, and those written by hand. Errors:
/// Fault::kCapacity when one instruction needs more than there is, or PSUM is exhausted.
Lowered lower(VirtualBlock block, const isa::Target& target, const LowerOptions& options);

}  // namespace runtime
