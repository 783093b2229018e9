// The passes of runtime/nki/arrange.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/compiler/emitter.h"

namespace runtime::nki {

/// Removes instructions whose result a tile in SBUF already holds, and redirects their readers to it: repeated loads
/// and transposes of loops, as far as no more than `sbuf_bytes` of a partition are needed for it. Returns how many.
std::size_t reuse(VirtualBlock& block, std::int64_t sbuf_bytes);

/// Tiles that only a load writes are loaded again at later uses, so that no more than `sbuf_bytes` of a partition are
/// needed: all tiles of a line of the kernel or none, as a compiler that sees loops decides. Returns how many loads.
std::size_t reload(VirtualBlock& block, std::int64_t sbuf_bytes);

}  // namespace runtime::nki
