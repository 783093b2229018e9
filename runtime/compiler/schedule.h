// Latency hiding: instructions move up in program order so that engines wait less for each other.
#pragma once

#include <functional>
#include <span>

#include "runtime/emitter.h"

namespace runtime {

/// List scheduling on virtual buffers: of the instructions near the front whose operands are there, the one that can
/// start first. Dependences and the target's documented costs decide. Who runs ahead leaves the others what they need
/// of the first of `sbuf_limits`, bytes per partition, and of the PSUM banks. `take` gets the numbers of the
/// instructions in their new order; while it returns false, the next limit is tried. Returns whether one was taken.
/// With `keep_room` nobody who runs ahead takes the space that an instruction in front of it has still to open: loads
/// and whatever else needs no other engine cannot fill SBUF before the chains of instructions that use them.
bool schedule(const VirtualBlock& block, const isa::Target& target, std::span<const std::int64_t> sbuf_limits,
              const std::function<bool(const std::vector<std::uint32_t>&)>& take, bool keep_room = false);

}  // namespace runtime
