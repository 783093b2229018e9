// Buffers that SBUF does not hold together, saved to HBM and restored.
#pragma once

#include <cstdint>

#include "isa/target.h"
#include "runtime/compiler/emitter.h"

namespace runtime {

struct Spills {
  std::int64_t bytes = 0;  // of HBM
  std::int64_t saves = 0;
};

/// Where the block's buffers in SBUF need more than `sbuf_bytes` of a partition, the one that is needed last is saved
/// to the spill area and restored before its next use, in the order as written. A buffer that was restored and not
/// written since is not saved again. A restored buffer is one of its own, so that a schedule may bring it early.
/// allocate() decides the same, but gives addresses at once: nothing it restores can come before its use.
Spills spill(VirtualBlock& block, const isa::Target& target, std::int64_t sbuf_bytes);

}  // namespace runtime
