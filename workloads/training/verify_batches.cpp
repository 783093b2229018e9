#include "workloads/training/verify_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/training/images.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// Rows of `width` of the samples, one after the other; one that fills the batch is like sample 0.
template <class To, class From>
void append_rows(std::vector<To>& to, std::span<const From> from, std::span<const std::int64_t> rows,
                 std::int64_t width) {
  for (const std::int64_t row : rows)
    for (std::int64_t i = 0; i < width; ++i)
      to.push_back(static_cast<To>(from[static_cast<std::size_t>(std::max<std::int64_t>(row, 0) * width + i)]));
}

}  // namespace

VerifyBatches::VerifyBatches(const std::filesystem::path& folder, ModelPtr model)
    : model_{std::move(model)}, tensors_{Checkpoint::open(folder / "batches.safetensors")} {
  const Shape labels = tensors_.info("step0.labels").shape;
  samples_ = labels.at(0), labels_ = labels.size() > 1 ? labels.back() : 1;
  if (length_ = model_->fixed_length(); length_ > 0) return;
  const Shape shape = tensors_.info("step0.input_ids").shape;
  if (shape.size() != 2)
    throw Error{Fault::kData, "step0.input_ids", "must have two axes, but is " + to_string(shape),
                "export [batch, length]"};
  samples_ = shape[0], length_ = shape[1];
}

std::vector<std::int32_t> VerifyBatches::integers(const std::string& name, std::int64_t of_sample) const {
  const auto values = tensors_.integers(name);
  if (values.size() != static_cast<std::size_t>(samples_ * of_sample))
    throw Error{Fault::kData, name, "has a different shape than that of step 0", "export batches of the same shape"};
  return {values.begin(), values.end()};
}

/// The labels of all samples. Token t of a text that the model continues predicts its label t + 1.
std::vector<std::int32_t> VerifyBatches::labels_of(const std::string& prefix) const {
  std::vector<std::int32_t> out = integers(prefix + "labels", labels_);
  if (model_->task() != Task::kNextToken) return out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = (i + 1) % static_cast<std::size_t>(labels_) == 0 ? Batch::kIgnoredLabel : out[i + 1];
  return out;
}

void VerifyBatches::read_texts(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const {
  const auto read = [&](const std::string& name, auto& to) {
    append_rows<typename std::decay_t<decltype(to)>::value_type, std::int32_t>(to, integers(prefix + name, length_),
                                                                               rows, length_);
  };
  read("input_ids", batch.input_ids);
  if (tensors_.contains(prefix + "attention_mask")) read("attention_mask", batch.attention_mask);
  if (tensors_.contains(prefix + "token_type_ids"))
    read("token_type_ids", batch.token_type_ids);
  else
    batch.token_type_ids.resize(batch.input_ids.size());
}

void VerifyBatches::read_pictures(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const {
  const ImageShape& shape = *model_->image();
  const std::vector<float> pixels = tensors_.floats(prefix + "pixel_values");
  const auto elements = static_cast<std::size_t>(shape.elements());
  if (pixels.size() != static_cast<std::size_t>(samples_) * elements)
    throw Error{Fault::kData, prefix + "pixel_values", "has a different shape than the model's images",
                "export [batch, channels, size, size]"};
  for (const std::int64_t row : rows)
    append_patches(
        std::span{pixels}.subspan(static_cast<std::size_t>(std::max<std::int64_t>(row, 0)) * elements, elements), shape,
        batch.patches);
}

/// A file has [batch, bands, frames], as transformers' feature extractors leave it.
void VerifyBatches::read_sounds(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const {
  const SoundShape& shape = *model_->sound();
  const std::vector<float> all = tensors_.floats(prefix + "input_features");
  const auto elements = static_cast<std::size_t>(shape.elements());
  if (all.size() != static_cast<std::size_t>(samples_) * elements)
    throw Error{Fault::kData, prefix + "input_features", "has a different shape than the model's sounds",
                "export [batch, bands, frames]"};
  for (const std::int64_t row : rows) {
    const auto sound =
        std::span{all}.subspan(static_cast<std::size_t>(std::max<std::int64_t>(row, 0)) * elements, elements);
    const std::vector<float> frames =
        transpose(sound, static_cast<std::size_t>(shape.bands), static_cast<std::size_t>(shape.frames()));
    batch.frames.insert(batch.frames.end(), frames.begin(), frames.end());
  }
}

Batch VerifyBatches::batch(std::int64_t step, std::span<const std::int64_t> rows) const {
  const std::string prefix = fmt::format("step{}.", step);
  const std::vector<std::int32_t> labels = labels_of(prefix);
  const auto counted = std::ranges::count_if(labels, [](std::int32_t label) { return label >= 0; });
  Batch out{.rows = rows.size(), .length = static_cast<std::size_t>(length_)};
  for (const std::int64_t row : rows)
    for (std::int64_t i = 0; i < labels_; ++i) {
      const std::int32_t label = row < 0 ? Batch::kIgnoredLabel : labels[static_cast<std::size_t>(row * labels_ + i)];
      out.labels.push_back(label);
      out.weights.push_back(label < 0 ? 0.0F : static_cast<float>(1 / static_cast<double>(counted)));
    }
  if (model_->image())
    read_pictures(prefix, rows, out);
  else if (model_->sound())
    read_sounds(prefix, rows, out);
  else
    read_texts(prefix, rows, out);
  return out;
}

}  // namespace workloads
