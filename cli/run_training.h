// The numeric half of `trnsim run`, the same for every model: a trainer at work, and what people see of it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "base/table.h"
#include "hw/params.h"
#include "trnsim/run_report.h"
#include "workloads/tokenizer.h"
#include "workloads/trainer.h"

namespace cli {

using trnsim::RunReport;
using trnsim::TraceWindow;
using trnsim::Training;
using trnsim::TrainOptions;

/// Whether stdout is for people, not for programs.
bool for_people(base::Format form);

/// What the user's options say of a trainer, whatever it trains. `checkpoint`: folder that checkpoints go to.
workloads::TrainerOptions trainer_options(const TrainOptions& options, const workloads::Step& step,
                                          const runtime::Passes& passes, const hw::MachineParams& machine,
                                          const std::filesystem::path& checkpoint);

/// Null when there is none.
template <class T>
const T* if_any(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

/// What was trained, beside its weights.
struct TrainedModel {
  workloads::ModelConfig config;
  const workloads::Tokenizer& tokenizer;
  workloads::ElementType weights = workloads::ElementType::kF32;  // in the file
};

struct TrainingView {
  std::filesystem::path folder;
  base::Format form{};
};

/// Of one training step on the machine. Errors: as hw::simulate(), among them groups of cores that it cannot form.
double simulated_step_seconds(const workloads::Trainer& trainer, const hw::MachineParams& machine, bool exact);

/// Trains, with a progress line, steps.jsonl in the folder and a block after each evaluation; the test data is
/// evaluated at the end. `facts`: what is known before (model, data, numerics,
/// time of a step). Errors: as Trainer::run().
Training run_training(workloads::Trainer& trainer, Training facts, const TrainingView& view);

/// The folder "model" as Hugging Face's Trainer leaves it, and the block with which it ends.
void close_training(const Training& training, const TrainingView& view, workloads::Trainer& trainer,
                    const TrainedModel& model);

/// The end of every run, from the moment on when there are results to save: makes the folder, shows the projection to
/// people, trains, writes the files, says where they are. `begin`: wall_clock() when the run began.
void finish_run(RunReport& report, const TrainingView& view, double begin, const std::function<void()>& show,
                const std::function<void()>& train);

/// Before anything is computed: an hour of work must not end at a folder that is in use. Errors: Fault::kUsage.
void require_free(const TrainOptions& options);

}  // namespace cli
