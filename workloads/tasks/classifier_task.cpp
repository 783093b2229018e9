#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "workloads/tasks/task.h"

namespace workloads {
namespace {

std::vector<std::int32_t> sample_labels(std::span<const std::int32_t> labels, const RankBatch& b) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(b.rows), Batch::kIgnoredLabel);
  for (std::size_t row = 0; row < b.samples.size(); ++row) out[row] = labels[b.samples[row]];
  return out;
}

class TextTask final : public ClassifierTask {
 public:
  explicit TextTask(const TokenizedDataset& data) : data_{data} {}

  std::size_t size() const override { return data_.size(); }
  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < data_.size(); ++i) out.push_back(static_cast<std::int64_t>(data_.length(i)));
    return out;
  }
  std::vector<std::int32_t> labels(const RankBatch& b) const override {
    if (data_.token_labels.empty()) return sample_labels(data_.labels, b);
    std::vector<std::int32_t> out(static_cast<std::size_t>(b.rows * b.length), Batch::kIgnoredLabel);
    for (std::size_t row = 0; row < b.samples.size(); ++row) {
      const std::size_t sample = b.samples[row];
      std::copy_n(data_.token_labels.begin() + static_cast<std::ptrdiff_t>(data_.starts[sample]), data_.length(sample),
                  out.begin() + static_cast<std::ptrdiff_t>(row) * b.length);
    }
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

  void write_inputs(runtime::Session& session, const RankBatch& b) const override {
    const Batch batch =
        make_batch(data_, b.samples, static_cast<std::size_t>(b.rows), static_cast<std::size_t>(b.length));
    const std::vector<float> mask(batch.attention_mask.begin(), batch.attention_mask.end());
    session.write(b.rank, micro_name("input_ids", b.micro_batch), batch.input_ids);
    const std::string types = micro_name("token_type_ids", b.micro_batch);
    if (session.has(b.rank, types)) session.write(b.rank, types, batch.token_type_ids);
    session.write(b.rank, micro_name("attention_mask", b.micro_batch), mask);
  }

 private:
  const TokenizedDataset& data_;
};

class ImageTask final : public ClassifierTask {
 public:
  ImageTask(const ImageDataset& data, const ImageShape& shape) : data_{data}, shape_{shape} {
    if (data.size != shape.size || data.channels != shape.channels)
      throw base::Error{base::Fault::kData, data.source,
                        fmt::format("has pictures of {} x {} x {}, the model looks at {} x {} x {}", data.channels,
                                    data.size, data.size, shape.channels, shape.size, shape.size),
                        "use a model of that image_size and num_channels"};
  }

  std::size_t size() const override { return data_.labels.size(); }
  std::vector<std::int32_t> labels(const RankBatch& b) const override { return sample_labels(data_.labels, b); }
  std::string fingerprint() const override {
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.pixels}));
    hasher.add(std::as_bytes(std::span{data_.labels}));
    return fmt::format("{} pictures of {} {}", size(), data_.size, base::hash_text(hasher.digest()));
  }

  void write_inputs(runtime::Session& session, const RankBatch& b) const override {
    std::vector<float> rows;
    for (const std::uint32_t sample : b.samples) append_patches(data_.picture(sample), shape_, rows);
    rows.resize(static_cast<std::size_t>(b.rows * b.length * shape_.patch_elements()));  // filler is black
    const PatchPlaces places = patch_places(b.length);
    session.write(b.rank, micro_name("patches", b.micro_batch), rows);
    session.write(b.rank, "is_class", places.is_class);
    session.write(b.rank, "is_patch", places.is_patch);
  }

 private:
  const ImageDataset& data_;
  const ImageShape shape_;
};

}  // namespace

ClassifierTaskPtr text_task(const TokenizedDataset* data) { return data ? std::make_shared<TextTask>(*data) : nullptr; }

ClassifierTaskPtr image_task(const ImageDataset* data, const ImageShape& shape) {
  return data ? std::make_shared<ImageTask>(*data, shape) : nullptr;
}

std::int64_t counted(std::span<const std::int32_t> labels) {
  return std::ssize(labels) - std::ranges::count(labels, Batch::kIgnoredLabel);
}

std::vector<std::int32_t> write_batch(runtime::Session& session, const ClassifierTask& task, const RankBatch& b,
                                      double weight, bool mean) {
  task.write_inputs(session, b);
  std::vector<std::int32_t> labels = task.labels(b), written = labels;
  const auto share = static_cast<double>(mean ? std::max<std::int64_t>(1, counted(labels)) : 1);
  std::vector<float> weights(labels.size(), static_cast<float>(weight / share));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == Batch::kIgnoredLabel) written[i] = 0, weights[i] = 0;
  session.write(b.rank, micro_name("labels", b.micro_batch), written);
  session.write(b.rank, micro_name("weights", b.micro_batch), weights);
  return labels;
}

}  // namespace workloads
