// Pre-training of BERT, predicted.
#pragma once

#include "runtime/graph/numerics.h"
#include "validation/predict/predict.h"
#include "workloads/models/config.h"

namespace validation {

/// A row that pre-trains `config`: masked-LM and next-sentence heads, gradients summed over micro-steps that are graphs
/// of their own, reduced once in the update's graph.
Prediction predict_pretraining(const Row& row, const runtime::Numerics& numerics, workloads::ModelPtr model,
                               std::vector<std::string> assumed, const PredictContext& context);

}  // namespace validation
