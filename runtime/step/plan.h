// How a step is shared: by tensors, stages, micro-batches and replicas, and in which number formats.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/graph/numerics.h"

namespace runtime {

/// Which results of the forward pass the backward pass computes again instead of finding them in memory.
enum class Recompute : std::uint8_t {
  kNone,
  kSelective,  // attention's probabilities (Korthikanti et al., arXiv:2205.05198, section 5)
  kFull,       // everything inside of a layer
};
/// Errors: Fault::kUsage for another word than none, selective, full.
Recompute recompute_of(std::string_view name);
std::string_view name_of(Recompute recompute);

/// One rank's part of a step, and the number of ranks. Ranks count tensor-parallel ranks first, then
/// data-parallel ones, then stages: see rank_of().
struct Plan {
  std::int64_t tensor = 1;      // ranks that share each layer: heads, columns, the vocabulary
  std::int64_t pipeline = 1;    // stages, each of its own layers and a program of its own
  std::int64_t chunks = 1;      // of layers on each stage: the interleaved schedule
  std::uint32_t data = 1;       // replicas, each with its own samples
  bool sequence = false;        // what is not split by heads or columns is split by tokens
  bool zero1 = false;           // optimizer state is shared by data-parallel ranks
  bool master_weights = false;  // fp32 copies of the weights, which the optimizer updates
  Recompute recompute = Recompute::kNone;
  std::int64_t micro_batch = 1;    // sequences of each
  std::int64_t micro_batches = 1;  // of an optimizer step, whose gradients add up
  Numerics numerics{};
  bool operator==(const Plan&) const = default;

  std::uint32_t world() const { return data * static_cast<std::uint32_t>(tensor * pipeline); }
  std::uint32_t rank_of(std::int64_t data_rank, std::int64_t tensor_rank, std::int64_t stage) const {
    return static_cast<std::uint32_t>((stage * static_cast<std::int64_t>(data) + data_rank) * tensor + tensor_rank);
  }
  std::int64_t last_stage() const { return pipeline - 1; }
  /// Sequences per step over all replicas.
  std::int64_t sequences_per_step() const { return micro_batch * micro_batches * static_cast<std::int64_t>(data); }
};

}  // namespace runtime
