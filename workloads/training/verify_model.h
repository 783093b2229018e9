// What verify() asks of a model family: its step, its batches, its tensors as PyTorch has them.
#pragma once

#include <memory>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/model.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/training/recipe.h"
#include "workloads/training/verify.h"

namespace workloads {

class VerifyModel {
 public:
  explicit VerifyModel(Step spec, std::int64_t samples) : spec_{std::move(spec)}, samples_{samples} {}
  virtual ~VerifyModel() = default;

  const Step& spec() const { return spec_; }
  /// Of each stage of the pipeline; the model has no further use for it.
  virtual std::vector<runtime::Graph> graphs() = 0;
  /// All tensors of the whole model, in its order.
  virtual const std::vector<WeightSpec>& tensors() const = 0;
  virtual void write_weights(runtime::Session& session) = 0;
  virtual void write_batch(runtime::Session& session, std::int64_t step) = 0;
  /// Of all samples, in their order.
  std::vector<float> logits(runtime::Session& session) const;
  /// A weight or its gradient, put together from all ranks, in the shape of the file.
  virtual std::vector<float> whole(runtime::Session& session, const WeightSpec& tensor, bool gradient) = 0;
  /// The sum of all tokens' or samples' shares.
  double loss(runtime::Session& session) const;

 protected:
  /// What micro-batch m of data-parallel rank d left, rows that only fill the batch included.
  virtual std::vector<float> logits_of(runtime::Session& session, std::uint32_t d, std::int64_t m) const = 0;
  /// Errors: Fault::kData when a step's tensor has not as many elements of each sample as that of step 0.
  void require_batch(const std::string& name, std::size_t elements, std::int64_t of_sample = 1) const;
  /// Sample `row` of micro-batch m of data-parallel rank d, or -1 for a row that only fills the batch.
  std::int64_t sample(std::uint32_t d, std::int64_t m, std::int64_t row) const {
    const std::int64_t s = (static_cast<std::int64_t>(d) * spec_.plan.micro_batches + m) * spec_.plan.micro_batch + row;
    return s < samples_ ? s : -1;
  }

  const Step spec_;
  const std::int64_t samples_;
};

/// The spec of a step that goes through `samples` sequences of `length`, as the options split them.
Step verify_spec(const VerifyOptions& options, std::int64_t samples, std::int64_t length, const Recipe& recipe);

/// The batches of a trajectory: samples of `length` tokens in each step; of `image`, those of a picture. Errors:
/// Fault::kData when step 0 has another form.
struct VerifyBatches {
  Checkpoint tensors;
  std::int64_t samples = 0, length = 0;
};
VerifyBatches open_batches(const std::filesystem::path& folder, const ImageShape* image = nullptr);

/// Errors: as verify().
std::unique_ptr<VerifyModel> verify_classifier(const std::filesystem::path& folder, const VerifyOptions& options,
                                               const Recipe& recipe);
std::unique_ptr<VerifyModel> verify_decoder(const std::filesystem::path& folder, const VerifyOptions& options,
                                            const Recipe& recipe);

}  // namespace workloads
