// Shared by tests of training a decoder: a small job, its losses under any plan, and a run that is stopped.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/target.h"
#include "workloads/tasks/language_modelling.h"
#include "workloads/training/trainer.h"

namespace workloads_test {

class DecoderTraining : public testing::Test {
 protected:
  /// The embedded instructions, 32 tokens a sequence; weights are the test's.
  explicit DecoderTraining(const char* preset)
      : job_{workloads::load_language_modelling({.preset = preset, .length = 32, .max_train_samples = 60})} {}

  /// Six steps of eight sequences, however the ranks share them.
  static workloads::TrainerOptions options(std::uint32_t data, std::int64_t tensor, std::int64_t micro_batches = 1,
                                           std::int64_t stages = 1) {
    workloads::TrainerOptions o;
    o.target = trn1_target();
    o.step.kind.length = 32;
    o.step.plan.micro_batch = 8 / (data * micro_batches);
    o.step.plan.micro_batches = micro_batches;
    o.step.plan.data = data;
    o.step.plan.tensor = tensor;
    o.step.plan.pipeline = stages;
    o.step.plan.numerics = runtime::numerics("fp32");
    o.step.optimizer.max_grad_norm = 1;
    o.max_steps = 6;
    o.learning_rate = 5e-3;
    o.warmup.steps = 1;
    o.eval_each_epoch = false;
    return o;
  }

  /// The loss of each step; `end`: the weights after the last.
  std::vector<double> losses(const workloads::TrainerOptions& options, workloads::Weights* end = nullptr) const {
    workloads::Trainer trainer = trainer_of(options);
    std::vector<double> out;
    trainer.on_step = [&](const workloads::StepRecord& r) { out.push_back(r.loss); };
    trainer.run();
    if (end) *end = trainer.read_weights();
    return out;
  }

  /// Trains three steps of six and leaves a checkpoint: as a run that is stopped.
  void stop_half_way(workloads::TrainerOptions options, const std::filesystem::path& checkpoint) const {
    options.checkpoint = checkpoint;
    options.save_steps = 3;
    workloads::Trainer trainer = trainer_of(options);
    struct Stop {};
    trainer.on_step = [](const workloads::StepRecord& r) {
      if (r.step == 4) throw Stop{};
    };
    EXPECT_THROW(trainer.run(), Stop);
  }

  workloads::LanguageModelling job_;

 private:
  workloads::Trainer trainer_of(const workloads::TrainerOptions& options) const {
    return {job_.config, job_.weights, {.train = job_.data().train, .tokenizer = job_.tokenizer.get()}, options};
  }
};

}  // namespace workloads_test
