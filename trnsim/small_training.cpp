#include "trnsim/small_training.h"

#include <memory>

#include "trnsim/decoder_job.h"
#include "trnsim/project.h"
#include "workloads/causal_trainer.h"
#include "workloads/classification.h"
#include "workloads/classifier_trainer.h"
#include "workloads/language_modelling.h"

namespace trnsim {
namespace {

constexpr std::int64_t kFirstSteps = 3;
constexpr std::size_t kFewSamples = 64;

TrainOptions small_model_options(const workloads::Job& job, const TrainOptions& given) {
  TrainOptions train = given;
  train.model_id.clear();
  apply_defaults(train, job.options, job.file);
  apply_defaults(train, job.small_options, job.file);
  if (train.numerics.ends_with("+sr")) train.numerics.resize(train.numerics.size() - 3);
  return train;
}

workloads::TrainerOptions first_steps(const TrainOptions& train, const workloads::Step& step,
                                      const runtime::Passes& passes) {
  return {.target = hw::load_machine(train.instance_type, train.set).target(),
          .step = step,
          .max_steps = kFirstSteps,
          .learning_rate = train.learning_rate,
          .eval_each_epoch = false,
          .seed = static_cast<std::uint64_t>(train.seed),
          .host_threads = static_cast<int>(train.host_threads),
          .passes = passes,
          .checkpoint = {},
          .resume = {}};
}

std::vector<double> numbers_of(workloads::Trainer& trainer) {
  std::vector<double> values;
  trainer.on_step = [&](const workloads::StepRecord& step) {
    values.push_back(step.loss);
    values.push_back(step.grad_norm);
  };
  trainer.run();
  return values;
}

SmallTraining small_classifier(const workloads::Job& job, const TrainOptions& train) {
  workloads::ClassificationOptions wanted;
  wanted.preset = job.small_model;
  wanted.max_length = static_cast<std::size_t>(train.max_length);
  wanted.max_train_samples = kFewSamples;
  wanted.max_eval_samples = 1;
  wanted.seed = static_cast<std::uint64_t>(train.seed);
  const auto data = std::make_shared<const workloads::Classification>(workloads::load_classification(wanted));
  workloads::Step step = projected_job(train, data->config, 0, 0).step;
  step.plan.data = cores_of(train, hw::load_machine(train.instance_type, train.set));
  return [data, step, train](const runtime::Passes& passes) {
    workloads::ClassifierTrainer trainer{
        data->config, data->weights, {.train = &data->train}, first_steps(train, step, passes)};
    return numbers_of(trainer);
  };
}

SmallTraining small_decoder(const workloads::Job& job, const TrainOptions& train) {
  const workloads::Step step = decoder_job(train, decoder_config(job.small_model), 0).step;
  const auto data = std::make_shared<const workloads::LanguageModelling>(
      workloads::load_language_modelling({.preset = job.small_model,
                                          .hold_out = false,
                                          .length = static_cast<std::size_t>(step.kind.length),
                                          .max_train_samples = kFewSamples,
                                          .seed = static_cast<std::uint64_t>(train.seed)}));
  return [data, step, train](const runtime::Passes& passes) {
    workloads::CausalTrainer trainer{
        data->config, data->weights, {data->tokenizer.get(), &data->train}, first_steps(train, step, passes)};
    return numbers_of(trainer);
  };
}

}  // namespace

SmallTraining small_training(const workloads::Job& job, const TrainOptions& given) {
  const TrainOptions train = small_model_options(job, given);
  return is_decoder(job) ? small_decoder(job, train) : small_classifier(job, train);
}

}  // namespace trnsim
