// The passes of runtime/nki/arrange.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/target.h"
#include "runtime/compiler/emitter.h"
#include "runtime/nki/loops.h"

namespace runtime::nki {

/// Removes instructions whose result a tile in SBUF already holds, and redirects their readers to it: repeated loads
/// and transposes of loops, as far as no more than `sbuf_bytes` of a partition are needed for it. Returns how many.
std::size_t reuse(VirtualBlock& block, std::int64_t sbuf_bytes);

/// Gives VectorE some of the copies of `open`, instructions whose engine the kernel leaves open, where ScalarE has more
/// work than any other engine. Returns how many.
std::size_t share(VirtualBlock& block, const std::vector<std::uint32_t>& open, const isa::Target& target);

/// Joins the iterations of affine loops: instructions whose operands move by constants become one with one more axis.
/// `loops`: as the trace recorded them. Returns how many instructions fewer there are. Comes before passes that move
/// instructions.
std::size_t join(VirtualBlock& block, const std::vector<LoopTrace>& loops);

/// A result that is only copied, once, is written to the copy's place at once. Returns how many copies are left out.
std::size_t forward(VirtualBlock& block);

/// Where buffers in PSUM need more than there is, the readers of each follow its writers at once: the loops that fill
/// and read them are fused. Whether it did so.
bool fuse(VirtualBlock& block, const isa::Geometry& geometry);

/// Where tiles in SBUF need more than there is, loads come right before their readers and stores right after their
/// writers: loops that fill tiles and others that empty them are fused. Whether it did so.
bool shorten(VirtualBlock& block, std::int64_t sbuf_bytes);

/// Tiles that only a load writes are loaded again at later uses, so that no more than `sbuf_bytes` of a partition are
/// needed: all tiles of a line of the kernel or none, as a compiler that sees loops decides. Returns how many loads.
std::size_t reload(VirtualBlock& block, std::int64_t sbuf_bytes);

/// That the tiles which loads alone write, each from its load to its last reader, fit in SBUF: the compiler of SDK 2.27
/// and later saves results that do not fit, not what it loaded. It refused all eight settings of blocked matmuls that
/// exceed this and took all 91 that do not (two tables of one author on Trn2). Errors: Fault::kProgram.
void require_loaded(const VirtualBlock& block, std::int64_t sbuf_bytes);

}  // namespace runtime::nki
