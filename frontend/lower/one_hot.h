// Products with one-hot rows, which frameworks write for embeddings: a matmul with nearly nothing but zeros.
#pragma once

#include "frontend/lower/lowerer.h"
#include "frontend/ops/dimensions.h"

namespace trnsim::frontend {

/// Lowers a product of which one operand is one-hot (index == iota, as numbers) to rows of the other one: each index
/// takes the row that it names, and the transposed product adds each row to the one that its index names. Returns
/// whether it is such a product.
bool one_hot_product(Lowerer& l, const DotDims& dims);

}  // namespace trnsim::frontend
