// What changes from step to step and is therefore data, not program: the optimizer's factors.
#pragma once

#include <cstdint>

#include "runtime/graph.h"

namespace runtime {

/// Columns of the input "hyper" [1, kHyperSize], fp32.
enum Hyper : std::int64_t {
  kRate = 0,       // lr / (1 - b1^t)
  kRootScale = 1,  // 1 / sqrt(1 - b2^t)
  kDecay = 2,      // 1 - lr * weight_decay
  kHyperSize = 8,
};

/// Where tensors begin in HBM: a multiple of this, bytes.
inline constexpr std::uint64_t kAlign = 512;
constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
/// What a tensor takes in a bucket of gradients.
inline std::int64_t bucket_bytes(const Value& value) { return static_cast<std::int64_t>(aligned(value.bytes())); }

}  // namespace runtime
