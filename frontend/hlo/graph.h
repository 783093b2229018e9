// The graph (frontend/graph) of a module of HLO: the same for text and proto.
//
// Tuples, calls, fusions and copies are gone: a tuple is the list of its parts, a called computation is repeated
// where it is called, and an operation that only orders or lays out is its operand. Bodies of loops, branches and
// reducers are regions.
#pragma once

#include <string>

#include "frontend/graph/graph.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// `file` begins errors. Errors: base::Fault::kProgram with the line or the instruction, for opcodes and forms that no
/// operator has, and for shapes that contradict each other.
frontend::Module graph_of(const Module& module, const std::string& file);

}  // namespace trnsim::frontend::hlo
