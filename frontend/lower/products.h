// Operands as matrices, for dot products and convolutions.
#pragma once

#include <vector>

#include "frontend/lower/lowerer.h"

namespace trnsim::frontend {

/// An operand as batch, kept and summed axes.
struct Operand {
  View view;
  Dims batch, kept, summed;  // dimensions of the view
  Axis rows, depth;
};

/// Kept and summed dimensions become one axis each: a copy where strides do not allow that, in whose rows the operand's
/// runs are as long as they can be.
void settle(Lowerer& l, Operand& o);
/// Whether the operands are matrices that the products of matrices take as they are.
bool are_plain(const Operand& x, const Operand& w);
/// [rows of x, rows of w] of operands that are_plain().
runtime::ValueId plain_product(Lowerer& l, const Operand& x, const Operand& w, Dtype dtype);
/// The same for each of a batch, of operands at any strides.
runtime::ValueId batch_product(Lowerer& l, const Operand& x, const Operand& w, Dtype dtype);

/// The operands of a product of `depth` terms as TensorE takes them: integers of up to 32 bits in fp32, as neuronx-cc
/// has them on NeuronCore-v2 ("EVRF035": supported, with a warning). Where fp32 may round the sum, the numbers are not
/// computed. Errors: base::Fault::kProgram, neuronx-cc's code, for integers of 64 bits.
std::vector<View> factors(Lowerer& l, std::int64_t depth);
/// The type in which TensorE leaves the present node's product, and the product in the node's own type.
Dtype product_type(Lowerer& l);
View in_own_type(Lowerer& l, const View& product);

void convolution(Lowerer& l);

}  // namespace trnsim::frontend
