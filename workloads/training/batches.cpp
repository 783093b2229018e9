#include "workloads/training/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "workloads/data/random.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Words with a label each, cut to `max_length` minus the special tokens.
Encoding encode_words(const Sample& sample, const Tokenizer& tokenizer, std::size_t max_length,
                      const std::string& where, std::vector<std::int32_t>& labels) {
  const std::size_t most =
      max_length == 0 ? SIZE_MAX : max_length - std::min(max_length, tokenizer.added_tokens(false));
  std::vector<std::int32_t> ids, of_pieces;
  for (std::size_t i = 0; i < sample.words.size() && ids.size() < most; ++i) {
    const std::vector<std::int32_t> pieces = tokenizer.tokenize(sample.words[i], where);
    for (std::size_t p = 0; p < pieces.size() && ids.size() < most; ++p) {
      ids.push_back(pieces[p]);
      of_pieces.push_back(p == 0 ? sample.word_labels[i] : Batch::kIgnoredLabel);
    }
  }
  Encoding out = tokenizer.with_special_tokens(ids, std::nullopt);
  const auto first = std::search(out.ids.begin(), out.ids.end(), ids.begin(), ids.end()) - out.ids.begin();
  const std::size_t begin = labels.size();
  labels.resize(begin + out.ids.size(), Batch::kIgnoredLabel);
  std::ranges::copy(of_pieces, labels.begin() + static_cast<std::ptrdiff_t>(begin) + first);
  return out;
}

}  // namespace

std::size_t TokenizedDataset::longest() const {
  std::size_t most = 0;
  for (std::size_t i = 0; i < size(); ++i) most = std::max(most, length(i));
  return most;
}

TokenizedDataset tokenize(const Dataset& dataset, const Tokenizer& tokenizer, std::size_t max_length) {
  TokenizedDataset out{.starts = {0}, .pad_id = tokenizer.pad_id()};
  out.labels.reserve(dataset.samples.size());
  for (const Sample& sample : dataset.samples) {
    const Encoding encoding = sample.words.empty()
                                  ? tokenizer.encode(sample.text, max_length, dataset.source)
                                  : encode_words(sample, tokenizer, max_length, dataset.source, out.token_labels);
    out.ids.insert(out.ids.end(), encoding.ids.begin(), encoding.ids.end());
    out.token_types.insert(out.token_types.end(), encoding.token_types.begin(), encoding.token_types.end());
    out.starts.push_back(out.ids.size());
    out.labels.push_back(sample.label);
  }
  return out;
}

Batch make_batch(const TokenizedDataset& dataset, std::span<const std::uint32_t> samples, std::size_t rows,
                 std::size_t length) {
  base::ensure(samples.size() <= rows && length > 0, "make_batch", "more samples than rows, or rows without tokens");
  Batch batch{.rows = rows, .length = length, .samples = samples.size()};
  batch.input_ids.assign(rows * length, dataset.pad_id);
  batch.attention_mask.assign(rows * length, 0);
  batch.token_type_ids.assign(rows * length, 0);
  batch.labels.assign(rows, Batch::kIgnoredLabel);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::size_t sample = samples[row];
    const std::size_t tokens = dataset.length(sample);
    if (tokens > length) {
      throw Error{Fault::kUsage, "`max_length`",
                  fmt::format("sample {} has {}, more than {}", sample, base::counted(tokens, "token"), length),
                  "tokenise with that max_length, so that longer texts are cut"};
    }
    const auto start = static_cast<std::ptrdiff_t>(dataset.starts[sample]);
    const auto count = static_cast<std::ptrdiff_t>(tokens);
    const auto to = static_cast<std::ptrdiff_t>(row * length);
    std::copy_n(dataset.ids.begin() + start, count, batch.input_ids.begin() + to);
    std::copy_n(dataset.token_types.begin() + start, count, batch.token_type_ids.begin() + to);
    std::fill_n(batch.attention_mask.begin() + to, count, 1);
    batch.labels[row] = dataset.labels[sample];
  }
  for (std::size_t row = samples.size(); row < rows; ++row) batch.attention_mask[row * length] = 1;
  return batch;
}

Sampler::Sampler(std::size_t samples, SamplerOptions options) : samples_{samples}, options_{options} {
  if (options_.batch_size == 0)
    throw Error{Fault::kUsage, "`per_device_train_batch_size`", "is 0", "set it to 1 or more"};
  if (options_.ranks == 0) throw Error{Fault::kUsage, "`nproc_per_node`", "is 0", "set it to 1 or more"};
  if (samples_ == 0) throw Error{Fault::kData, "data set", "is empty", "give at least one sample"};
  per_rank_ = options_.drop_last ? samples_ / options_.ranks : ceil_div(samples_, options_.ranks);
  steps_ = options_.drop_last ? per_rank_ / options_.batch_size : ceil_div(per_rank_, options_.batch_size);
  if (steps_ == 0) {
    throw Error{Fault::kData, "data set",
                fmt::format("{} are too few for one step of {} x {}", base::counted(samples_, "sample"), options_.ranks,
                            options_.batch_size),
                "lower per_device_train_batch_size or leave out dataloader_drop_last"};
  }
  set_epoch(0);
}

void Sampler::set_epoch(std::uint64_t epoch) {
  if (options_.shuffle) {
    order_ = shuffled(samples_, options_.seed, stream_of("sampler") + epoch);
  } else {
    order_.resize(samples_);
    std::iota(order_.begin(), order_.end(), 0u);
  }
}

std::vector<std::uint32_t> Sampler::batch(std::size_t step, std::size_t rank) const {
  base::ensure(step < steps_ && rank < options_.ranks, "sampler", "no such step or rank");
  std::vector<std::uint32_t> indices;
  for (std::size_t i = step * options_.batch_size; i < std::min((step + 1) * options_.batch_size, per_rank_); ++i) {
    const std::size_t place = i * options_.ranks + rank;
    if (place < samples_)
      indices.push_back(order_[place]);
    else if (options_.repeat_to_fill && !options_.drop_last)
      indices.push_back(order_[place % samples_]);
  }
  return indices;
}

LengthSampler::LengthSampler(const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& lengths,
                             std::size_t batch, std::uint64_t seed)
    : samples_(lengths.size()), batch_{batch}, seed_{seed} {
  if (tokens.empty()) throw Error{Fault::kData, "data set", "is empty", "give at least one sample"};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto holds = std::ranges::lower_bound(lengths, tokens[i]);
    base::ensure(holds != lengths.end(), "sampler", "a sample is longer than all lengths");
    samples_[static_cast<std::size_t>(holds - lengths.begin())].push_back(static_cast<std::uint32_t>(i));
  }
  set_epoch(0);
}

std::size_t LengthSampler::steps_per_epoch() const {
  std::size_t steps = 0;
  for (const auto& of : samples_) steps += ceil_div(of.size(), batch_);
  return steps;
}

std::vector<double> LengthSampler::steps_of_lengths() const {
  std::vector<double> out;
  for (const auto& of : samples_) out.push_back(static_cast<double>(ceil_div(of.size(), batch_)));
  return out;
}

void LengthSampler::set_epoch(std::uint64_t epoch) {
  std::vector<Step> steps;
  for (std::size_t length = 0; length < samples_.size(); ++length) {
    const std::vector<std::uint32_t>& all = samples_[length];
    const auto order = shuffled(all.size(), seed_, stream_of(fmt::format("sampler.{}", length)) + epoch);
    for (std::size_t first = 0; first < order.size(); first += batch_) {
      Step step{.length = length};
      for (std::size_t i = first; i < std::min(order.size(), first + batch_); ++i)
        step.samples.push_back(all[order[i]]);
      steps.push_back(std::move(step));
    }
  }
  steps_.clear();
  for (const std::uint32_t i : shuffled(steps.size(), seed_, stream_of("sampler.steps") + epoch))
    steps_.push_back(std::move(steps[i]));
}

}  // namespace workloads
