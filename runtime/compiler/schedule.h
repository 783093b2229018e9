// Latency hiding: instructions move up in program order so that engines wait less for each other.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/compiler/allocate.h"
#include "runtime/compiler/emitter.h"

namespace runtime {

/// How far ahead of the oldest instruction that still waits one may run, in instructions.
inline constexpr std::uint32_t kAhead = 600;

struct ScheduleOptions {
  bool rotate = true;            // as allocate()
  bool keep_room = false;        // an instruction that runs ahead leaves the older ones their space
  std::uint32_t ahead = kAhead;  // loads run further, and the issue of a store as far as kAhead
};

/// List scheduling on virtual buffers: of the instructions near the front whose operands are there, the one that can
/// start first. Dependences and the target's documented costs decide. An instruction that runs ahead leaves the others
/// the space they need in a part of SBUF, and of the PSUM banks. Running ahead costs memory: of four parts the first
/// with which nothing spills is taken, and its order and addresses are the block's. Nothing, and the block unchanged,
/// when no order works. With `keep_room` no instruction that runs ahead takes the space that an instruction in front of
/// it has still to open: loads and other work of a single engine cannot fill SBUF before the chains of instructions
/// that use them.
std::optional<Allocation> schedule(VirtualBlock& block, const isa::Target& target, const ScheduleOptions& options);

}  // namespace runtime
