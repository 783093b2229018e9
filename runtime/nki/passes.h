// The passes of runtime/nki/arrange.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/compiler/emitter.h"

namespace runtime::nki {

/// Instructions that compute what a tile in SBUF holds already are left out, their readers read that tile: what loops
/// load or transpose again, as far as no more than `sbuf_bytes` of a partition are needed for it. Returns how many.
std::size_t reuse(VirtualBlock& block, std::int64_t sbuf_bytes);

/// Tiles that only a load writes are loaded again at later uses, so that no more than `sbuf_bytes` of a partition are
/// needed: all tiles of a line of the kernel or none, as a compiler that sees loops decides. Returns how many loads.
std::size_t reload(VirtualBlock& block, std::int64_t sbuf_bytes);

}  // namespace runtime::nki
