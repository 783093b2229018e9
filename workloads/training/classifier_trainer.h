// Trains a classifier on simulated cores: data parallel, every replica with all of the model.
#pragma once

#include <optional>

#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/tasks/task.h"
#include "workloads/training/batches.h"
#include "workloads/training/trainer.h"

namespace workloads {

class ClassifierTrainer final : public Trainer {
 public:
  /// Compiles both programs and loads the weights. Errors: Fault::kCapacity; Fault::kData when `options.resume` is no
  /// checkpoint of this run.
  ClassifierTrainer(const ModelPtr& model, const Weights& weights, const ClassifierData& data, TrainerOptions options);

  std::int64_t samples(Split split) const override;
  Weights read_weights() override;

 private:
  StepResult train_step(const Place& place) override;
  void score(Split split, EvalRecord& record) override;
  void save(const TrainProgress& progress) override;
  std::vector<double> steps_of_lengths() const override;
  double flops_per_step() const override;
  std::string fingerprint() const override;
  const ClassifierTask* data_of(Split split) const;
  void write_samples(const Place& place);
  void write_length(const Place& place);

  const ModelPtr model_;
  const ClassifierData data_;
  const std::vector<WeightSpec> specs_;
  Sampler sampler_;
  std::optional<LengthSampler> lengths_;  // instead, when samples are padded to several
};

}  // namespace workloads
