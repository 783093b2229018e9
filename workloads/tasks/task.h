// What a classifier learns from: samples with labels, and how the host writes them for a step. Texts and images differ
// in nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/models/model.h"
#include "workloads/training/batches.h"
#include "workloads/training/images.h"

namespace workloads {

/// One rank's part of a micro-batch.
struct RankBatch {
  std::uint32_t rank = 0;
  std::int64_t micro_batch = 0;
  std::span<const std::uint32_t> samples{};  // `rows` at the most; the other rows are filler, which count nothing
  std::int64_t rows = 0, length = 0;
};

class ClassifierTask {
 public:
  virtual ~ClassifierTask() = default;
  virtual std::size_t size() const = 0;
  /// Tokens of each sample without padding; of pictures nothing.
  virtual std::vector<std::int64_t> lengths() const { return {}; }
  /// Of each row of the model's logits: of a sample, or of a token. kIgnoredLabel where there is none to learn.
  virtual std::vector<std::int32_t> labels(const RankBatch& batch) const = 0;
  /// What distinguishes the data from other data of as many samples, for checkpoints.
  virtual std::string fingerprint() const = 0;
  /// Writes what the model reads of the samples, without labels. Errors: Fault::kUsage when a sample is longer than
  /// `length`.
  virtual void write_inputs(runtime::Session& session, const RankBatch& batch) const = 0;
};
using ClassifierTaskPtr = std::shared_ptr<const ClassifierTask>;

/// The data must outlive the task; without data there is no task, but null.
ClassifierTaskPtr text_task(const TokenizedDataset* data);
/// `shape`: of the model that looks at the pictures.
ClassifierTaskPtr image_task(const ImageDataset* data, const ImageShape& shape);

/// Those that are not there are null.
struct ClassifierData {
  ClassifierTaskPtr train{};
  ClassifierTaskPtr validation{};
  ClassifierTaskPtr test{};
};

/// Writes inputs, labels and weights. Each label that is not ignored counts `weight` in the loss, or with `mean` its
/// share of a mean over them that counts `weight`. Returns the labels.
std::vector<std::int32_t> write_batch(runtime::Session& session, const ClassifierTask& task, const RankBatch& batch,
                                      double weight, bool mean);
std::int64_t counted(std::span<const std::int32_t> labels);

}  // namespace workloads
