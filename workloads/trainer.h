// Trains a classifier on simulated cores: real data, real numbers, checkpoints that resume to the same bits.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isa/device.h"
#include "runtime/compile.h"
#include "workloads/batches.h"
#include "workloads/bert_graph.h"
#include "workloads/metrics.h"
#include "workloads/trainer_state.h"
#include "workloads/weights.h"

namespace workloads {

struct TrainerOptions {
  StepSpec step;                // of training; evaluation uses the same length, ranks and numerics
  std::int64_t eval_batch = 8;  // samples of an evaluation batch on one core
  double epochs = 3;
  std::int64_t max_steps = -1;  // instead of epochs when not negative
  double learning_rate = 5e-5;
  std::string schedule = "linear";
  double warmup_ratio = 0;
  std::int64_t warmup_steps = 0;  // more than 0 replaces the ratio
  bool eval_each_epoch = true;
  std::int64_t logging_steps = 10, save_steps = 0;
  std::uint64_t seed = 42;
  int host_threads = 0;
  runtime::Passes passes;
  std::filesystem::path checkpoint;  // folder that checkpoints are written to; empty: none
  std::filesystem::path resume;      // folder of a checkpoint to go on from; empty: begin
  std::function<std::unique_ptr<isa::Device>()> make_device = isa::make_numeric_device;
};

struct StepRecord {
  std::int64_t step = 0;  // from 1
  double epoch = 0, loss = 0, learning_rate = 0, grad_norm = 0;
};

struct EvalRecord {
  std::string split;  // "eval", "test"
  std::int64_t step = 0;
  double epoch = 0, loss = 0, accuracy = 0, f1_macro = 0, f1_weighted = 0, host_seconds = 0;
  std::int64_t samples = 0;
};

struct TrainOutcome {
  std::int64_t steps = 0, max_steps = 0;
  double epoch = 0, train_loss = 0, host_seconds = 0, total_flos = 0;
  bool interrupted = false;
  std::vector<EvalRecord> evaluations;
  TrainerState state;
};

class Trainer {
 public:
  /// Compiles both programs and loads the weights. Errors: Fault::kCapacity; Fault::kData when `options.resume` is no
  /// checkpoint of this run.
  Trainer(const BertConfig& config, Weights& weights, const TokenizedDataset& train, TrainerOptions options);
  ~Trainer();

  std::function<void(const StepRecord&)> on_step;
  std::function<void(const EvalRecord&)> on_eval;

  std::int64_t max_steps() const;
  std::int64_t first_step() const;  // done before, by the run that is resumed
  const isa::Program& program() const;

  /// Trains until the end, Ctrl-C, or an error; `validation` may be null. Writes a checkpoint at the end, every
  /// save_steps, and on Ctrl-C. Errors: Fault::kNumerics when the loss is not finite.
  TrainOutcome run(const TokenizedDataset* validation);
  EvalRecord evaluate(const TokenizedDataset& data, std::string split);
  /// Brings the weights back from the cores.
  void read_weights(Weights& weights);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workloads
