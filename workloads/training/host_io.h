// How the host feeds a step and reads it: which rank holds what.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/data/batch.h"
#include "workloads/models/decoder/decoder_graph.h"

namespace workloads {

/// The inputs of a model that writes rows of `length` tokens: each token's predecessor.
std::vector<std::int32_t> predecessors(std::span<const std::int32_t> targets, std::int64_t length,
                                       const TextPairs& pairs);

/// Writes and reads the tensors of all ranks of a step, of all its stages. One rank alone is a case of it.
class HostIo {
 public:
  /// Errors: Fault::kUsage for plans that can be timed, not computed: ranks would share a vocabulary that their number
  /// does not divide, or each would drop other elements of what all of them have.
  /// `zero`: the buckets of each stage.
  HostIo(const ModelPtr& config, const Step& spec, std::vector<std::vector<ZeroBucket>> zero = {{}});

  const std::vector<WeightSpec>& tensors() const { return whole_; }
  /// Weights in the shapes of the file, and the copies of them that the optimizer keeps.
  void write_weights(runtime::Session& session, const Weights& weights) const;
  /// Angles or places of tokens and what else stays the same from step to step, but not when programs take turns.
  void write_tables(runtime::Session& session) const;
  void write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                   const Batch& batch) const;
  void write_hyper(runtime::Session& session, std::span<const float> values) const;
  /// The sum of all labels' shares.
  double loss(runtime::Session& session) const;
  /// [labels, classes or tokens] of a micro-batch, filler rows included, if the step keeps them.
  std::vector<float> logits(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch) const;
  /// A weight, or its gradient summed over the data-parallel ranks, in the shape of the file.
  std::vector<float> read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const;

 private:
  /// Calls body(stage, tensor-parallel rank) for all that have the tensor.
  template <class Body>
  void for_holders(const WeightSpec& whole, const Body& body) const;
  const std::vector<WeightSpec>& parts_of(std::int64_t stage) const { return parts_[static_cast<std::size_t>(stage)]; }
  void write_places(runtime::Session& session) const;
  void write_tokens(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch, const Batch& batch,
                    std::int64_t tensor) const;
  void write_labels(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const Batch& batch,
                    std::int64_t tensor) const;
  /// Token ids of a rank, and which of them are in its part of the vocabulary, as inputs `ids` and `mine`.
  void write_ids(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const char* ids,
                 const char* mine, std::span<const std::int32_t> all, std::int64_t tensor) const;
  /// Gives the data-parallel ranks of one place in the plan its part of the model.
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
