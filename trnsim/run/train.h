// Training for real: a workload's small model, or the user's, on simulated cores, reported through an
// observer.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "trnsim/job.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/weights.h"
#include "workloads/tasks/training_data.h"
#include "workloads/training/trainer.h"

namespace trnsim {

/// Reads the data and model of the settings, or makes up the workload's own data. Errors: as
/// workloads::load_classification() and load_language_modelling(); Fault::kCapacity when this host cannot hold the
/// model.
workloads::TrainingDataPtr load_training(const workloads::Workload& workload, const Settings& settings);

/// The job that is trained: the settings' plan on the loaded model.
Job training_job(const workloads::TrainingData& data, const Settings& settings);

/// A trainer of training_job(); `checkpoint`: folder that checkpoints go to. Errors: as the trainers.
std::unique_ptr<workloads::Trainer> make_trainer(const workloads::TrainingData& data, const Job& job,
                                                 const Settings& settings, const std::filesystem::path& checkpoint);

/// The numeric part of a run.
struct Training {
  workloads::TrainOutcome outcome{};
  double simulated_step_seconds = 0;  // of the program that was trained with
  std::string dataset;
  bool synthetic = false;
  std::int64_t train_samples = 0, eval_samples = 0, parameters = 0, samples_per_step = 0;
  std::string model;  // "bert-small, from scratch"
  std::string numerics;
};

/// The observers of a training; each may be empty.
struct TrainObserver {
  std::function<void(const Training&, const workloads::Trainer&)> begin;  // called before the first step
  std::function<void(const workloads::StepRecord&)> step;
  std::function<void(std::int64_t done, std::int64_t all)> evaluating;  // batches of an evaluation under way
  std::function<void(const workloads::EvalRecord&)> evaluated;
};

/// Trains to the end, then evaluates the test data. Errors: as Trainer::run().
Training train(workloads::Trainer& trainer, const workloads::TrainingData& data, std::string model_name,
               double simulated_step_seconds, const TrainObserver& observer);

/// The blocks that Hugging Face's Trainer prints after an evaluation and at the end of a training, with simulated
/// times (workloads::metrics_block()).
std::string metrics_block(const workloads::EvalRecord& evaluation);
std::string metrics_block(const Training& training);

/// Device time of a step of the trainer's programs, on average over the lengths. Errors: as hw::simulate(), among them
/// groups of cores that the machine cannot form.
double simulated_step_seconds(const workloads::Trainer& trainer, const hw::MachineParams& machine, bool exact);

/// Writes the folder "model" in the layout of Hugging Face's Trainer: configuration, weights, tokenizer,
/// trainer_state.json; for a model with adapters PEFT's files, and the base in "base".
void save_model(const std::filesystem::path& folder, const workloads::TrainingData& data, const Job& job,
                workloads::Trainer& trainer, const Training& training);

}  // namespace trnsim
