// Products of integers whose sums fp32, in which TensorE adds, cannot hold: sums of products that it can.
#pragma once

#include "frontend/graph/graph.h"
#include "frontend/rewrite/composer.h"

namespace trnsim::frontend {

/// A dot_general of integers of at most 16 bits that is too deep to be exact, and is not beyond 256 parts.
bool is_deep_product(const Function& around, const Node& node);
void compute_deep_product(Composer& c);

}  // namespace trnsim::frontend
