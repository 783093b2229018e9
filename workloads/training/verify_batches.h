// The batches of a trajectory that PyTorch has gone, as its files have them.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "workloads/checkpoints/safetensors.h"
#include "workloads/data/batch.h"
#include "workloads/models/model.h"

namespace workloads {

/// batches.safetensors: in every step as many samples of as many tokens as in step 0.
class VerifyBatches {
 public:
  /// Errors: Fault::kData when step 0 has another form than the model's inputs.
  VerifyBatches(const std::filesystem::path& folder, ModelPtr model);

  std::int64_t samples() const { return samples_; }
  std::int64_t length() const { return length_; }
  /// Rows of the logits of a sample: its labels.
  std::int64_t labels() const { return labels_; }
  /// Rows of a step: a sample each, or -1 for one that only fills the batch. The labels of all samples together weigh
  /// 1. Errors: Fault::kData when a tensor is not as large as in step 0.
  Batch batch(std::int64_t step, std::span<const std::int64_t> rows) const;

 private:
  std::vector<std::int32_t> integers(const std::string& name, std::int64_t of_sample) const;
  std::vector<std::int32_t> labels_of(const std::string& prefix) const;
  void read_texts(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const;
  void read_pictures(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const;
  void read_sounds(const std::string& prefix, std::span<const std::int64_t> rows, Batch& batch) const;

  const ModelPtr model_;
  const Checkpoint tensors_;
  std::int64_t samples_ = 0, length_ = 0, labels_ = 1;
};

}  // namespace workloads
