// From samples to batches: tokenised once, shuffled the same way on every host, dealt to data-parallel ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/data/batch.h"
#include "workloads/data/dataset.h"
#include "workloads/text/tokenizer.h"

namespace workloads {

/// A data set as ids, one after the other.
struct TokenizedDataset {
  std::vector<std::int32_t> ids{};
  std::vector<std::int32_t> token_types{};
  std::vector<std::size_t> starts{};  // size() + 1 offsets into ids
  std::vector<std::int32_t> labels{};
  std::vector<std::int32_t> token_labels{};  // of each of the ids, where words have labels: kIgnoredLabel for special
                                             // tokens and for the pieces of a word behind its first, as run_ner.py
  std::int32_t pad_id = 0;

  std::size_t size() const { return labels.size(); }
  std::size_t length(std::size_t sample) const { return starts[sample + 1] - starts[sample]; }
  std::size_t longest() const;
};

/// Special tokens added, cut to `max_length` (0: never). Errors: as Tokenizer::encode.
TokenizedDataset tokenize(const Dataset& dataset, const Tokenizer& tokenizer, std::size_t max_length);

/// Pads every sample to `length` and adds filler rows up to `rows`. A filler row is one padding token that is attended
/// to, so that its softmax is defined. Errors: Fault::kUsage when a sample is longer than `length`.
Batch make_batch(const TokenizedDataset& dataset, std::span<const std::uint32_t> samples, std::size_t rows,
                 std::size_t length);

struct SamplerOptions {
  std::size_t batch_size = 8;  // per rank
  std::size_t ranks = 1;
  bool shuffle = true;
  bool drop_last = false;      // leave out what does not fill a batch on every rank
  bool repeat_to_fill = true;  // as torch's DistributedSampler: ranks get equally many, some samples twice
  std::uint64_t seed = 42;
};

/// Which samples a rank gets in a step: sample i of the (shuffled) order goes to rank i mod ranks, as torch's
/// DistributedSampler deals them. The order of an epoch depends on seed and epoch alone.
class Sampler {
 public:
  /// Errors: Fault::kUsage when batch_size or ranks is 0; Fault::kData without samples, or with too few for one
  /// step with drop_last.
  Sampler(std::size_t samples, SamplerOptions options);

  std::size_t steps_per_epoch() const { return steps_; }
  /// Starts an epoch; epoch 0 is current after construction.
  void set_epoch(std::uint64_t epoch);
  /// At most batch_size indices, fewer or none in the last step of an epoch.
  std::vector<std::uint32_t> batch(std::size_t step, std::size_t rank) const;

 private:
  std::size_t samples_;
  SamplerOptions options_;
  std::size_t per_rank_ = 0;  // of the rank with most
  std::size_t steps_ = 0;
  std::vector<std::uint32_t> order_;
};

/// Which samples a step has when they are padded to several lengths: all of one length, those of a length in a random
/// order, the steps of an epoch too. The last step of a length has fewer samples. The order depends on seed and epoch
/// alone.
class LengthSampler {
 public:
  struct Step {
    std::size_t length = 0;  // which of the lengths
    std::vector<std::uint32_t> samples{};
  };

  /// `tokens` of each sample, `lengths` rising, the last of which holds all; `batch` samples of a step on all ranks.
  /// Errors: Fault::kData without samples.
  LengthSampler(const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& lengths, std::size_t batch,
                std::uint64_t seed);

  std::size_t steps_per_epoch() const;
  /// Steps of an epoch, by length.
  std::vector<double> steps_of_lengths() const;
  void set_epoch(std::uint64_t epoch);
  const Step& step(std::size_t in_epoch) const { return steps_.at(in_epoch); }

 private:
  std::vector<std::vector<std::uint32_t>> samples_;  // by length
  std::size_t batch_;
  std::uint64_t seed_;
  std::vector<Step> steps_;
};

}  // namespace workloads
