// Which samples the micro-batches of a step have, and how much each of their labels counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/step/step.h"
#include "workloads/tasks/samples.h"
#include "workloads/training/batches.h"

namespace workloads {

enum class Dealing : std::uint8_t {
  /// As Hugging Face's Trainer: torch's DistributedSampler deals the samples, and the means over the labels of each
  /// rank's micro-batch count alike.
  kByRank,
  /// All samples of a step come one after the other in the epoch's order, and each of its labels counts alike: ranks
  /// that share them otherwise compute the same.
  kByStep,
};

struct DealerOptions {
  Dealing dealing = Dealing::kByRank;
  std::vector<std::int64_t> lengths{};  // that samples are padded to, rising; empty: to that of the step
  bool shuffle = true;                  // otherwise every sample comes once, in its order
  std::uint64_t seed = 42;
};

class Dealer {
 public:
  Dealer(const Samples& data, const Step& step, DealerOptions options);

  struct Parts {
    std::int64_t epoch = 0;
    std::size_t length = 0;                             // which of the lengths
    std::vector<std::vector<std::uint32_t>> samples{};  // micro-batch by micro-batch, of one rank after the other
  };
  Parts step(std::int64_t epoch, std::int64_t in_epoch);
  std::int64_t steps_per_epoch() const;
  /// Steps of an epoch, by length; empty for a single length.
  std::vector<double> steps_of_lengths() const;

  /// Sets the weights of the labels of a step's batches in its loss. Ignored labels count nothing.
  void weigh(std::span<Batch> batches) const;
  /// Each label counts `weight`.
  static void weigh(Batch& batch, double weight);

 private:
  std::size_t parts() const;

  const Plan plan_;
  const DealerOptions options_;
  std::int64_t epoch_ = 0;  // whose order the samples have
  std::optional<Sampler> sampler_;
  std::optional<LengthSampler> lengths_;  // instead, when samples are padded to several
};

}  // namespace workloads
