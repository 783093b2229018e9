// Semaphores: every instruction waits for those whose data it needs or overwrites, and for no others.
#pragma once

#include "runtime/compiler/emitter.h"

namespace runtime {

/// Adds waits and signals to placed instructions, in program order. A wait that follows from earlier ones is left out
/// (vector clocks, as Mattern, "Virtual Time and Global States of Distributed Systems", 1989). Written waits, one for
/// each engine in a row, are a barrier: everything after them follows everything before. Returns how many waits there
/// are.
std::size_t synchronize(std::vector<Instr>& instrs, const isa::Geometry& geometry);

}  // namespace runtime
