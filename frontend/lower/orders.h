// Comparisons beyond fp32, in which the engines compare: of 32-bit integers, and in the total order of real numbers.
#pragma once

#include "frontend/lower/formula.h"

namespace trnsim::frontend {

/// The largest size of a number that a view may have, as far as the nodes that made it say.
double bound_of(Lowerer& l, const View& view);

/// Whether fp32 has all numbers that a view may have: integers of 32 bits are others.
bool fp32_holds(Lowerer& l, const View& view);

/// Whether comparing a with b in fp32 tells what comparing the numbers does: rounding keeps their order, and a number
/// of less than 24 bits is none that another one rounds to.
bool compares_in_fp32(Lowerer& l, const View& a, const View& b);

/// Comparisons of 32-bit integers, exactly.
View compared_integers(Lowerer& l, isa::Alu alu, const View& a, const View& b);
/// The larger (kMax) or the smaller (kMin) of 32-bit integers.
View extreme_integer(Lowerer& l, isa::Alu alu, const View& a, const View& b);
/// Comparisons of real numbers by IEEE 754's totalOrder: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN.
View compared_totally(Lowerer& l, isa::Alu alu, const View& a, const View& b);

/// The place of numbers in their order as two parts of 16 bits, which fp32 holds: the first one decides.
struct OrderKey {
  Formula high, low;
};
/// Real numbers in their total order.
OrderKey order_key(Lowerer& l, const View& view);
/// 1 where key a comes before (kLt) or behind (kGt) key b, both of the same dimensions, else 0.
Formula before(isa::Alu alu, const OrderKey& a, const OrderKey& b);

}  // namespace trnsim::frontend
