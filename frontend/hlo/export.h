// The compiler's own graph as a module of HLO.
#pragma once

#include <string>

#include "frontend/hlo/module.h"
#include "runtime/graph/graph.h"

namespace trnsim::frontend::hlo {

/// Sums, products and conversions are HLO's; an operation that the compiler lowers as a whole is a custom call
/// "trnsim.NAME" with its settings. Scopes are in the metadata of instructions, kinds of tensors in the module's
/// frontend attributes, so that reading it again gives the same program.
Module module_of(const runtime::Graph& graph, const std::string& name);

}  // namespace trnsim::frontend::hlo
