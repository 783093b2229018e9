// Products of tensors, and linear algebra. Sums of products are added up one after the other: of types up to 32 bits in
// fp32, as the chip and XLA do it, of f64 in fp64, of integers modulo their range.
#pragma once

#include "frontend/interpret/evaluation.h"

namespace trnsim::frontend::evaluate {

void dot(Evaluation& e);
void dot_general(Evaluation& e);
void einsum(Evaluation& e);
void convolution(Evaluation& e);
void dynamic_convolution(Evaluation& e);
void fft(Evaluation& e);
void cholesky(Evaluation& e);
void triangular_solve(Evaluation& e);

/// The numbers of a value as those of another kind: integers as real ones, real ones as complex.
template <class Numbers>
Numbers numbers_as(const Value& value);
extern template Reals numbers_as<Reals>(const Value&);
extern template Integers numbers_as<Integers>(const Value&);
extern template Complexes numbers_as<Complexes>(const Value&);

}  // namespace trnsim::frontend::evaluate
