// The training of every model for every task on simulated cores, on any plan that the model takes: epochs, learning
// rate, logging, evaluation, checkpoints, Ctrl-C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isa/device.h"
#include "isa/target.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"
#include "workloads/models/model.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/tasks/metrics.h"
#include "workloads/tasks/task.h"
#include "workloads/training/dealer.h"
#include "workloads/training/programs.h"
#include "workloads/training/sharded_state.h"
#include "workloads/training/trainer_state.h"

namespace workloads {

/// Steps in which the learning rate rises.
struct Warmup {
  double ratio = 0;        // of all steps
  std::int64_t steps = 0;  // more than 0 replaces the ratio
};

struct TrainerOptions {
  isa::Target target;  // the core that is trained on
  Step step;           // of training; evaluation uses the same length, ranks and numerics
  /// Lengths that samples are padded to, each to the least that holds it, rising up to that of the step; empty: only
  /// that one. Evaluation has one length.
  std::vector<std::int64_t> lengths{};
  std::int64_t eval_batch = 8;  // samples of an evaluation batch on one data-parallel rank
  double epochs = 3;
  std::int64_t max_steps = -1;  // instead of epochs when not negative
  double learning_rate = 5e-5;
  std::string schedule = "linear";
  Warmup warmup{};
  bool eval_each_epoch = true;
  bool eval_on_start = false;  // also before the first step
  std::int64_t logging_steps = 10, save_steps = 0;
  std::uint64_t seed = 42;
  int host_threads = 0;
  runtime::Passes passes;
  runtime::ProgramCache* cache = nullptr;  // of compiled programs
  std::filesystem::path checkpoint;        // folder that checkpoints are written to; empty: none
  std::filesystem::path resume;            // folder of a checkpoint to resume from; empty: start
  std::function<std::unique_ptr<isa::Device>()> make_device = isa::make_numeric_device;
};

struct StepRecord {
  std::int64_t step = 0;  // from 1
  double epoch = 0, loss = 0, learning_rate = 0, grad_norm = 0;
};

/// Held-out data: evaluated during training, and at its end.
enum class Split : std::uint8_t { kValidation, kTest };

struct EvalRecord {
  std::string split;  // "eval", "test"
  std::int64_t step = 0;
  double epoch = 0, loss = 0, host_seconds = 0;
  std::int64_t samples = 0;
  bool interrupted = false;  // a signal came: the figures are of nothing
  Metrics scores;            // a classifier's: accuracy, f1_macro, f1_weighted; a language model's: perplexity
};

struct TrainOutcome {
  std::int64_t steps = 0, max_steps = 0;
  double epoch = 0, train_loss = 0, host_seconds = 0, total_flos = 0;
  bool interrupted = false;
  std::vector<EvalRecord> evaluations;
  TrainerState state;
  isa::NumericEvents events;  // of all ranks, training and evaluation, in this process
};

class Trainer {
 public:
  /// Compiles the programs and loads the weights; `data` must outlive the trainer. Errors: as compile_training();
  /// Fault::kCapacity; Fault::kData when `options.resume` is not a checkpoint of this run.
  Trainer(ModelPtr model, const Weights& weights, TrainerData data, TrainerOptions options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  std::function<void(const StepRecord&)> on_step;
  std::function<void(const EvalRecord&)> on_eval;
  std::function<void(std::int64_t done, std::int64_t all)> on_eval_batch;  // batches of an evaluation under way

  std::int64_t max_steps() const { return max_steps_; }
  std::int64_t first_step() const { return done_; }  // done before, by the run that is resumed
  /// The programs of a step, one for each stage of a pipeline.
  isa::Programs programs() const { return programs_.train.programs(); }
  /// As above for one length, and the number of steps of an epoch that run it.
  struct LengthPrograms {
    isa::Programs programs;
    double steps = 0;
  };
  std::vector<LengthPrograms> programs_of_lengths() const;
  const TrainerOptions& options() const { return options_; }

  /// Trains until the end, Ctrl-C, or an error. Writes a checkpoint at the end, every save_steps, and on Ctrl-C, which
  /// also ends an evaluation; the resumed run makes up for it.
  /// Errors: Fault::kNumerics when the loss is not finite.
  TrainOutcome run();
  EvalRecord evaluate(Split split);
  std::int64_t samples(Split split) const;  // 0: there is no such data
  /// Brings the weights back from the cores.
  Weights read_weights();

 private:
  runtime::Session session() { return {*device_, loaded_}; }
  /// Loads the programs, whose tables may have been another's memory.
  void use(const StepPrograms& programs);
  const StepPrograms& of_length(std::size_t i) const;
  void resume();
  const Samples* data_of(Split split) const;
  std::vector<Batch> batches_of(const Samples& data, const Dealer::Parts& parts, const Step& step,
                                std::int64_t length) const;
  void write(const StepPrograms& programs, const Step& step, const std::vector<Batch>& batches);
  /// The loss of step `done_`.
  double train_step(double rate);
  /// Fills loss, samples and scores; begins no batch once a signal came.
  void score(Split split, EvalRecord& record);
  StepRecord next_step();
  void log(const StepRecord& record);
  bool evaluates_at(std::int64_t step) const;
  bool has_evaluated(std::int64_t step) const;
  void evaluate_into(TrainOutcome& out);
  void save_now();
  double flops_per_step() const;
  /// Everything that a checkpoint of this run must agree in: batches, data, and every setting that decides the bits of
  /// a step.
  std::string fingerprint() const;
  std::string settings_text() const;

  const TrainerOptions options_;
  const ModelPtr model_;
  const TrainerData data_;
  const TaskRow& task_;
  TrainingPrograms programs_;
  const ShardedState state_;
  Dealer dealer_;
  std::unique_ptr<isa::Device> device_;
  isa::Programs loaded_;
  const std::int64_t steps_per_epoch_;
  std::int64_t max_steps_ = 0, warmup_ = 0, done_ = 0;
  double loss_sum_ = 0;       // of the steps done
  double unlogged_loss_ = 0;  // of the steps since the last entry of the history
  std::int64_t unlogged_steps_ = 0;
  TrainerState history_;
};

}  // namespace workloads
