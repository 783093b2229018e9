#include "workloads/tasks/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"

namespace workloads {
namespace {

/// One label of each sample.
std::vector<std::int32_t> sample_labels(std::span<const std::int32_t> labels, const BatchRows& b) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(b.rows), Batch::kIgnoredLabel);
  for (std::size_t row = 0; row < b.samples.size(); ++row) out[row] = labels[b.samples[row]];
  return out;
}

class LabelledTexts final : public Samples {
 public:
  explicit LabelledTexts(const TokenizedDataset& data) : data_{data} {}

  std::size_t size() const override { return data_.size(); }
  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < data_.size(); ++i) out.push_back(static_cast<std::int64_t>(data_.length(i)));
    return out;
  }
  std::string fingerprint() const override {
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.ids}));
    if (!data_.token_labels.empty()) hasher.add(std::as_bytes(std::span{data_.token_labels}));
    hasher.add(std::as_bytes(std::span{data_.token_types}));
    hasher.add(std::as_bytes(std::span{data_.starts}));
    hasher.add(std::as_bytes(std::span{data_.labels}));
    return fmt::format("{} texts {}", data_.size(), base::hash_text(hasher.digest()));
  }
  Batch batch(const BatchRows& b) const override {
    Batch out = make_batch(data_, b.samples, static_cast<std::size_t>(b.rows), static_cast<std::size_t>(b.length));
    if (data_.token_labels.empty()) return out;
    out.labels.assign(static_cast<std::size_t>(b.rows * b.length), Batch::kIgnoredLabel);
    for (std::size_t row = 0; row < b.samples.size(); ++row) {
      const std::size_t sample = b.samples[row];
      std::copy_n(data_.token_labels.begin() + static_cast<std::ptrdiff_t>(data_.starts[sample]), data_.length(sample),
                  out.labels.begin() + static_cast<std::ptrdiff_t>(row) * b.length);
    }
    return out;
  }

 private:
  const TokenizedDataset& data_;
};

class LabelledPictures final : public Samples {
 public:
  LabelledPictures(const ImageDataset& data, const ImageShape& shape) : data_{data}, shape_{shape} {
    if (data.size != shape.size || data.channels != shape.channels)
      throw base::Error{base::Fault::kData, data.source,
                        fmt::format("has images of {} x {} x {}, but the model expects {} x {} x {}", data.channels,
                                    data.size, data.size, shape.channels, shape.size, shape.size),
                        "use a model of that image_size and num_channels"};
  }

  std::size_t size() const override { return data_.labels.size(); }
  std::string fingerprint() const override {
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.pixels}));
    hasher.add(std::as_bytes(std::span{data_.labels}));
    return fmt::format("{} images of {} {}", size(), data_.size, base::hash_text(hasher.digest()));
  }
  Batch batch(const BatchRows& b) const override {
    Batch out{.rows = static_cast<std::size_t>(b.rows),
              .length = static_cast<std::size_t>(b.length),
              .samples = b.samples.size(),
              .labels = sample_labels(data_.labels, b)};
    for (const std::uint32_t sample : b.samples) append_patches(data_.picture(sample), shape_, out.patches);
    out.patches.resize(static_cast<std::size_t>(b.rows * b.length * shape_.patch_elements()));  // filler is black
    return out;
  }

 private:
  const ImageDataset& data_;
  const ImageShape shape_;
};

class TokenSequences final : public Samples {
 public:
  TokenSequences(const PackedDataset& data, std::int32_t pad_id) : data_{data}, pad_id_{pad_id} {}

  std::size_t size() const override { return data_.size(); }
  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < data_.size(); ++i) out.push_back(static_cast<std::int64_t>(data_.used_of(i)));
    return out;
  }
  std::string fingerprint() const override {
    return fmt::format("{} sequences {}", data_.size(), base::hash_text(hash()));
  }
  Batch batch(const BatchRows& b) const override {
    Batch out = make_batch(data_, b.samples, static_cast<std::size_t>(b.rows), pad_id_);
    data_.answer_length > 0 ? answer(b, out) : shift(out);
    return out;
  }

 private:
  std::uint64_t hash() const {
    if (data_.answer_length == 0 && data_.used.empty()) return base::hash64(std::as_bytes(std::span{data_.ids}));
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.ids}));
    hasher.add(std::as_bytes(std::span{data_.used}));
    hasher.add(std::as_bytes(std::span{data_.answers}));
    return hasher.digest();
  }
  /// A token predicts the one behind it; the last of a sequence predicts nothing.
  static void shift(Batch& batch) {
    for (std::size_t i = 0; i < batch.labels.size(); ++i)
      batch.labels[i] = (i + 1) % batch.length == 0 ? Batch::kIgnoredLabel : batch.labels[i + 1];
  }
  void answer(const BatchRows& b, Batch& batch) const {
    batch.labels.clear();
    for (const std::uint32_t s : b.samples)
      batch.labels.insert(batch.labels.end(), data_.answer(s).begin(), data_.answer(s).end());
    batch.labels.resize(batch.rows * data_.answer_length, Batch::kIgnoredLabel);
    for (std::size_t row = 0; row < batch.rows; ++row)
      for (std::size_t c = 0; c < data_.length; ++c)
        batch.attention_mask.push_back(row >= b.samples.size() || c < data_.used_of(b.samples[row]));
  }

  const PackedDataset& data_;
  const std::int32_t pad_id_;
};

}  // namespace

SamplesPtr labelled_texts(const TokenizedDataset* data) {
  return data ? std::make_shared<LabelledTexts>(*data) : nullptr;
}

SamplesPtr labelled_pictures(const ImageDataset* data, const ImageShape& shape) {
  return data ? std::make_shared<LabelledPictures>(*data, shape) : nullptr;
}

SamplesPtr token_sequences(const PackedDataset* data, std::int32_t pad_id) {
  return data ? std::make_shared<TokenSequences>(*data, pad_id) : nullptr;
}

std::int64_t counted(std::span<const std::int32_t> labels) {
  return std::ssize(labels) - std::ranges::count(labels, Batch::kIgnoredLabel);
}

}  // namespace workloads
