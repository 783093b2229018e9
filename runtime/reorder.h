// Latency hiding: instructions move up in program order so that engines wait less for each other.
#pragma once

#include "runtime/emitter.h"

namespace runtime {

/// List scheduling on virtual buffers: of the instructions near the front whose operands are there, the one that can
/// start first. Dependences and the engines' documented costs decide. Who runs ahead leaves the others what they
/// need of `sbuf_limit` bytes per partition and of the PSUM banks. Returns how many instructions changed their place.
std::size_t reorder(VirtualBlock& block, std::int64_t sbuf_limit);

}  // namespace runtime
