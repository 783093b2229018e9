// How the host feeds a decoder's step and reads it: which rank holds what.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/session.h"
#include "workloads/decoder_graph.h"
#include "workloads/shards.h"

namespace workloads {

/// Sequences of one micro-batch of one data-parallel rank, row by row: token t predicts target t (-100: nothing), which
/// counts weights[t] in the loss.
struct DecoderBatch {
  std::vector<std::int32_t> ids, targets;
  std::vector<float> weights;
};

/// Writes and reads the tensors of all ranks of a compiled decoder_step().
class DecoderIo {
 public:
  /// Errors: Fault::kUsage when ranks would share a vocabulary or a key-value head that their number does not divide:
  /// such plans can be timed, not computed.
  DecoderIo(const ModelConfig& config, const StepSpec& spec, std::vector<ZeroBucket> zero);

  const std::vector<WeightSpec>& tensors() const { return whole_; }
  /// Weights in the shapes of the file, and the copies of them that the optimizer keeps.
  void write_weights(runtime::Session& session, const Weights& weights) const;
  /// Positions, which stay the same from step to step.
  void write_tables(runtime::Session& session) const;
  void write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                   const DecoderBatch& batch) const;
  void write_hyper(runtime::Session& session, std::span<const float> values) const;
  /// [rows, vocabulary] of a micro-batch, if spec.keep_logits.
  std::vector<float> logits(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch) const;
  /// A weight, or its gradient summed over the data-parallel ranks, in the shape of the file.
  std::vector<float> read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const;

 private:
  std::uint32_t rank_of(std::uint32_t data, std::int64_t tensor) const {
    return data * static_cast<std::uint32_t>(spec_.tensor_parallel) + static_cast<std::uint32_t>(tensor);
  }
  const WeightSpec& part_of(const WeightSpec& whole) const;
  std::int64_t vocabulary_part() const;
  std::vector<float> device_part(const WeightSpec& whole, std::span<const float> values, std::int64_t tensor) const;
  void write_shards(runtime::Session& session, const Weights& weights) const;

  const ModelConfig config_;
  const StepSpec spec_;
  const std::vector<ZeroBucket> zero_;
  const ShardPlan plan_;
  const std::vector<WeightSpec> whole_, parts_;
};

}  // namespace workloads
