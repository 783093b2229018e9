// Latency hiding: instructions move up in program order so that engines wait less for each other.
#pragma once

#include "runtime/emitter.h"

namespace runtime {

/// List scheduling on virtual buffers: of the instructions near the front whose operands are there, the one that can
/// start first. Dependences and the engines' documented costs decide; PSUM banks in use stay below what there are.
/// Returns how many instructions changed their place.
std::size_t reorder(VirtualBlock& block);

}  // namespace runtime
