// Element-wise operations on numbers that are known when a program is lowered.
#pragma once

#include "runtime/graph/attributes.h"

namespace trnsim::frontend {

double computed(isa::Alu alu, double a, double b);
double computed(const runtime::ElementAttrs& attrs, double p, double q, double r);

}  // namespace trnsim::frontend
