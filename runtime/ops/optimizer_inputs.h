// The optimizer's factors, which change from step to step and are therefore data, not program.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/tile.h"
#include "runtime/graph/graph.h"

namespace runtime {

/// Columns of the input "hyper" [1, kOptimizerInputs], fp32.
enum OptimizerInput : std::int64_t {
  kRate = 0,          // lr / (1 - b1^t)
  kRootScale = 1,     // 1 / sqrt(1 - b2^t)
  kDecay = 2,         // 1 - lr * weight_decay
  kLearningRate = 3,  // lr
  kDecayedShare = 4,  // lr * weight_decay
  kWeightDecay = 5,
  kOptimizerInputs = 8,
};

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + isa::kHbmAlign - 1) / isa::kHbmAlign * isa::kHbmAlign;
}
/// Elements that a tensor takes in a bucket: equal for its gradient, its moments and itself, of any type,
/// so that a rank's part of a bucket is the same elements of all of them.
inline std::int64_t bucket_elements(const Value& value) {
  return static_cast<std::int64_t>(aligned(static_cast<std::uint64_t>(value.elements())));
}
/// Elements of a bucket that `ranks` divide.
std::int64_t bucket_elements(const Graph& graph, const std::vector<ValueId>& values, std::int64_t ranks);

/// Collective queues: gradients and parameters, which run alongside the compute, and activations, which it waits for.
inline constexpr std::uint8_t kGradientQueue = 0, kActivationQueue = 1;

}  // namespace runtime
