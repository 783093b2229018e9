#include "workloads/training/dealer.h"

#include <algorithm>
#include <utility>

namespace workloads {
namespace {

/// Part `index` of a list that is cut into parts of `size` and may end early.
std::vector<std::uint32_t> part_of(std::span<const std::uint32_t> list, std::size_t index, std::size_t size) {
  const auto part = list.subspan(std::min(list.size(), index * size));
  return {part.begin(), part.begin() + static_cast<std::ptrdiff_t>(std::min(size, part.size()))};
}

SamplerOptions sampler_options(const Plan& plan, const DealerOptions& options) {
  const bool by_rank = options.dealing == Dealing::kByRank;
  return {.batch_size = static_cast<std::size_t>(by_rank ? plan.micro_batch : plan.sequences_per_step()),
          .ranks = by_rank ? plan.data : 1,
          .shuffle = options.shuffle,
          .repeat_to_fill = options.shuffle,
          .seed = options.seed};
}

}  // namespace

Dealer::Dealer(const Samples& data, const Step& step, DealerOptions options)
    : plan_{step.plan}, options_{std::move(options)} {
  if (options_.lengths.empty())
    sampler_.emplace(data.size(), sampler_options(plan_, options_));
  else
    lengths_.emplace(data.lengths(), options_.lengths, static_cast<std::size_t>(plan_.sequences_per_step()),
                     options_.seed);
}

std::size_t Dealer::parts() const { return static_cast<std::size_t>(plan_.micro_batches) * plan_.data; }

std::int64_t Dealer::steps_per_epoch() const {
  if (lengths_) return static_cast<std::int64_t>(lengths_->steps_per_epoch());
  const auto steps = static_cast<std::int64_t>(sampler_->steps_per_epoch());
  if (options_.dealing == Dealing::kByStep) return steps;
  const std::int64_t left = options_.shuffle ? 0 : plan_.micro_batches - 1;  // an evaluation leaves no sample out
  return std::max<std::int64_t>(1, (steps + left) / plan_.micro_batches);
}

std::vector<double> Dealer::steps_of_lengths() const {
  return lengths_ ? lengths_->steps_of_lengths() : std::vector<double>{};
}

Dealer::Parts Dealer::step(std::int64_t epoch, std::int64_t in_epoch) {
  Parts out{.epoch = epoch};
  const auto number = static_cast<std::size_t>(in_epoch), size = static_cast<std::size_t>(plan_.micro_batch);
  if (std::exchange(epoch_, epoch) != epoch)
    lengths_ ? lengths_->set_epoch(static_cast<std::uint64_t>(epoch))
             : sampler_->set_epoch(static_cast<std::uint64_t>(epoch));
  if (!lengths_ && options_.dealing == Dealing::kByRank) {
    const auto micro_batches = static_cast<std::size_t>(plan_.micro_batches);
    for (std::size_t m = number * micro_batches; m < (number + 1) * micro_batches; ++m)
      for (std::size_t r = 0; r < plan_.data; ++r)
        out.samples.push_back(m < sampler_->steps_per_epoch() ? sampler_->batch(m, r) : std::vector<std::uint32_t>{});
    return out;
  }
  if (lengths_) out.length = lengths_->step(number).length;
  const auto all = lengths_ ? lengths_->step(number).samples : sampler_->batch(number, 0);
  for (std::size_t i = 0; i < parts(); ++i) out.samples.push_back(part_of(all, i, size));
  return out;
}

void Dealer::weigh(Batch& batch, double weight) {
  batch.weights.assign(batch.labels.size(), static_cast<float>(weight));
  for (std::size_t i = 0; i < batch.labels.size(); ++i)
    if (batch.labels[i] == Batch::kIgnoredLabel) batch.weights[i] = 0;
}

void Dealer::weigh(std::span<Batch> batches) const {
  // A step of one length may have fewer samples than others: its labels count alike, too.
  const bool by_rank = options_.dealing == Dealing::kByRank && !lengths_;
  std::int64_t all = 0;
  for (const Batch& batch : batches) all += counted(batch.labels);
  for (Batch& batch : batches) {
    const std::int64_t labels = by_rank ? counted(batch.labels) : all;
    const double share = by_rank ? 1 / static_cast<double>(parts()) : 1;
    weigh(batch, share / static_cast<double>(std::max<std::int64_t>(1, labels)));
  }
}

}  // namespace workloads
