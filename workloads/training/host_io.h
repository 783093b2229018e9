// How the host feeds a step and reads it: the part of each rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/data/batch.h"
#include "workloads/models/model.h"

namespace workloads {

/// The inputs of a model that writes rows of `length` tokens: each token's predecessor.
std::vector<std::int32_t> predecessors(std::span<const std::int32_t> targets, std::int64_t length,
                                       const TextPairs& pairs);

/// Writes the inputs of a step on all ranks of all its stages and reads its outputs; its weights are ShardedState's.
/// A single rank is a special case.
class HostIo {
 public:
  /// Errors: Fault::kUsage for a plan that can be timed, not computed: ranks would share a vocabulary that their number
  /// does not divide.
  HostIo(const ModelPtr& model, const Step& step);

  /// Rotary angles, positions of tokens and other tables that stay the same from step to step, but not when programs
  /// take turns.
  void write_tables(runtime::Session& session) const;
  void write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                   const Batch& batch) const;
  void write_hyper(runtime::Session& session, std::span<const float> values) const;
  /// The sum of all labels' shares.
  double loss(runtime::Session& session) const;
  /// [labels, classes or tokens] of a micro-batch, filler rows included, if the step keeps them.
  std::vector<float> logits(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch) const;

 private:
  void write_places(runtime::Session& session) const;
  void write_slopes(runtime::Session& session, const AttentionArch& attention) const;
  void write_tokens(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch, const Batch& batch,
                    std::int64_t tensor) const;
  void write_labels(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const Batch& batch,
                    std::int64_t tensor) const;
  /// Inputs: token ids of a rank, and which of them are in its part of the vocabulary.
  struct TokenNames {
    const char *ids, *mine;
  };
  void write_ids(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const TokenNames& names,
                 std::span<const std::int32_t> all, std::int64_t tensor) const;
  /// Whether ranks have parts of the vocabulary; tokens of one, and the first of a rank.
  bool splits_vocabulary() const;
  std::int64_t vocabulary_part() const;
  std::int64_t first_of_vocabulary(std::int64_t tensor) const;
  bool adds_up_classes() const;
  /// Tokens of a sequence whose next ones are predicted.
  std::int64_t predicted() const;

  const ModelPtr model_;
  const Step step_;
};

}  // namespace workloads
