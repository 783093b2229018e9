// Masked language modelling: sequences of which some tokens are hidden.
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "workloads/data/random.h"
#include "workloads/tasks/samples.h"

namespace workloads {
namespace {

class MaskedSequences final : public Samples {
 public:
  MaskedSequences(const PackedDataset& data, std::int32_t pad_id, TokenMask mask)
      : data_{data}, pad_id_{pad_id}, mask_{std::move(mask)} {}

  std::size_t size() const override { return data_.size(); }
  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < data_.size(); ++i) out.push_back(static_cast<std::int64_t>(data_.used_of(i)));
    return out;
  }
  std::string fingerprint() const override {
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.ids}));
    hasher.add(std::as_bytes(std::span{data_.used}));
    return fmt::format("{} masked sequences {}", data_.size(), base::hash_text(hasher.digest()));
  }
  Batch batch(const BatchRows& b) const override {
    Batch out = make_batch(data_, b.samples, static_cast<std::size_t>(b.rows), pad_id_);
    out.token_type_ids.resize(out.input_ids.size());
    for (std::size_t row = 0; row < out.rows; ++row) {
      const bool filler = row >= b.samples.size();
      const std::size_t used = filler ? out.length : data_.used_of(b.samples[row]);
      for (std::size_t c = 0; c < out.length; ++c) out.attention_mask.push_back(c < used ? 1.0F : 0.0F);
      if (!filler) hide(b.samples[row], b.epoch, row * out.length, used, out);
    }
    return out;
  }

 private:
  void hide(std::uint32_t sample, std::int64_t epoch, std::size_t begin, std::size_t used, Batch& batch) const {
    Random random{mask_.seed, stream_of("masked_tokens") + static_cast<std::uint64_t>(epoch) * data_.size() + sample};
    for (std::size_t i = begin; i < begin + used; ++i) {
      std::int32_t& id = batch.input_ids[i];
      if (std::ranges::find(mask_.kept, id) != mask_.kept.end() || !random.chance(TokenMask::kChosen)) {
        batch.labels[i] = Batch::kIgnoredLabel;
        continue;
      }
      const double draw = random.uniform();
      if (draw < TokenMask::kHidden)
        id = mask_.id;
      else if (draw < TokenMask::kHidden + TokenMask::kReplaced)
        id = static_cast<std::int32_t>(random.below(mask_.vocabulary));
    }
  }

  const PackedDataset& data_;
  const std::int32_t pad_id_;
  const TokenMask mask_;
};

}  // namespace

SamplesPtr masked_sequences(const PackedDataset* data, std::int32_t pad_id, TokenMask mask) {
  return data ? std::make_shared<MaskedSequences>(*data, pad_id, std::move(mask)) : nullptr;
}

}  // namespace workloads
