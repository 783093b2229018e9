// How the host feeds a decoder's step and reads it: which rank holds what.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/decoder/decoder_graph.h"

namespace workloads {

/// Sequences of one micro-batch of one data-parallel rank, row by row: token t predicts target t (-100: nothing), which
/// counts weights[t] in the loss. Of a model that reads one text and writes another these are of what is written, and
/// `source` is what is read, where `source_mask` is 1.
struct DecoderBatch {
  std::vector<std::int32_t> ids, targets;
  std::vector<float> weights;
  std::vector<std::int32_t> source{};
  std::vector<float> source_mask{};
};

/// What a model reads of rows of `length` tokens while it writes them: each token's predecessor.
std::vector<std::int32_t> predecessors(std::span<const std::int32_t> targets, std::int64_t length,
                                       const TextPairs& pairs);

/// Writes and reads the tensors of all ranks of a compiled decoder_step(), or of those of all stages.
class DecoderIo {
 public:
  /// Errors: Fault::kUsage for plans that can be timed, not computed: ranks would share a vocabulary that their number
  /// does not divide, or each would drop other elements of what all of them have.
  DecoderIo(const ModelPtr& config, const Step& spec, std::vector<ZeroBucket> zero);
  /// With the buckets of each stage.
  DecoderIo(const ModelPtr& config, const Step& spec, std::vector<std::vector<ZeroBucket>> zero_of_stage);

  const std::vector<WeightSpec>& tensors() const { return whole_; }
  /// Weights in the shapes of the file, and the copies of them that the optimizer keeps.
  void write_weights(runtime::Session& session, const Weights& weights) const;
  /// Angles or places of tokens, which stay the same from step to step.
  void write_tables(runtime::Session& session) const;
  void write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                   const DecoderBatch& batch) const;
  void write_hyper(runtime::Session& session, std::span<const float> values) const;
  /// [rows, vocabulary] of a micro-batch, if spec.keep_logits.
  std::vector<float> logits(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch) const;
  /// A weight, or its gradient summed over the data-parallel ranks, in the shape of the file.
  std::vector<float> read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const;

 private:
  /// Calls body(stage, tensor-parallel rank) for all that have the tensor.
  template <class Body>
  void for_holders(const WeightSpec& whole, const Body& body) const;
  const std::vector<WeightSpec>& parts_of(std::int64_t stage) const { return parts_[static_cast<std::size_t>(stage)]; }
  /// Token ids of a rank, and which of them are in its part of the vocabulary, as inputs `ids` and `mine`.
  void write_ids(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const char* ids,
                 const char* mine, std::span<const std::int32_t> all, std::int64_t tensor) const;
  /// What one place in the plan holds of the model, given to its data-parallel ranks.
  void write_place(runtime::Session& session, const Weights& shard, std::int64_t tensor, std::int64_t stage) const;
  std::vector<float> read_part(runtime::Session& session, const WeightSpec& part, std::int64_t tensor,
                               std::int64_t stage, bool gradient) const;
  std::int64_t vocabulary_part() const;
  /// Tokens of a sequence whose next ones are predicted.
  std::int64_t predicted() const;

  const ModelPtr config_;
  const Step spec_;
  const std::vector<std::vector<ZeroBucket>> zero_;  // by stage
  const ShardPlan plan_;
  const std::vector<WeightSpec> whole_;
  std::vector<std::vector<WeightSpec>> parts_;  // by stage
};

}  // namespace workloads
