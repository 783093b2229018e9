#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "workloads/task.h"

namespace workloads {
namespace {

class TextTask final : public ClassifierTask {
 public:
  explicit TextTask(const TokenizedDataset& data) : data_{data} {}

  std::size_t size() const override { return data_.size(); }
  std::int32_t label(std::size_t sample) const override { return data_.labels[sample]; }
  std::string fingerprint() const override {
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{data_.ids}));
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
  std::int32_t label(std::size_t sample) const override { return data_.labels[sample]; }
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

std::vector<std::int32_t> write_batch(runtime::Session& session, const ClassifierTask& task, const RankBatch& b,
                                      float weight) {
  task.write_inputs(session, b);
  std::vector<std::int32_t> labels, written;
  for (const std::uint32_t sample : b.samples) labels.push_back(task.label(sample));
  std::vector<float> weights(labels.size(), weight);
  written = labels;
  labels.resize(static_cast<std::size_t>(b.rows), Batch::kIgnoredLabel);
  written.resize(labels.size()), weights.resize(labels.size());
  session.write(b.rank, micro_name("labels", b.micro_batch), written);
  session.write(b.rank, micro_name("weights", b.micro_batch), weights);
  return labels;
}

}  // namespace workloads
