// Reductions by any function, sorting, normalization over a batch.
#pragma once

#include "frontend/interpret/evaluation.h"

namespace trnsim::frontend::evaluate {

void reduce(Evaluation& e);
void reduce_window(Evaluation& e);
void select_and_scatter(Evaluation& e);
void sort(Evaluation& e);
void map(Evaluation& e);
void scan(Evaluation& e);
void top_k(Evaluation& e);
void batch_norm_training(Evaluation& e);
void batch_norm_inference(Evaluation& e);
void batch_norm_grad(Evaluation& e);

/// Parts of values of one shape summed up by a region, element by element, in their order: collectives' sums.
Value reduced_by(const Evaluation& e, std::size_t region, const std::vector<Value>& parts, const Type& result);

}  // namespace trnsim::frontend::evaluate
