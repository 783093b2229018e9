// Operators that the specification defines by others, as functions of these.
#pragma once

#include "frontend/graph/graph.h"
#include "frontend/rewrite/composer.h"

namespace trnsim::frontend {

/// An einsum whose operands have no letter twice, torch_index_select, a chlo.broadcast_*, or an operator with
/// sizes or places as operands, if constants of the function have them: its other form has them as attributes.
bool is_shorthand(const Function& around, const Node& node);
void compute_shorthand(const Function& around, Composer& c);

}  // namespace trnsim::frontend
