// The arithmetic of element-wise operations on single numbers: for their references, and for numbers that are known
// when a program is lowered.
#pragma once

#include "runtime/graph/attributes.h"

namespace runtime {

double computed(isa::Alu alu, double a, double b);

/// `p`, `q` and `r`: the operands' numbers; those beyond the form's operands are not read.
double computed(const ElementAttrs& attrs, double p, double q, double r);

}  // namespace runtime
