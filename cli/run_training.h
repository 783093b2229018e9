// The numeric half of `trnsim run`, the same for every model: a trainer at work, and what people see of it.
#pragma once

#include <filesystem>

#include "base/table.h"
#include "cli/run_report.h"
#include "hw/params.h"
#include "workloads/trainer.h"

namespace cli {

/// Whether stdout is for people, not for programs.
bool for_people(base::Format form);

struct TrainingView {
  std::filesystem::path folder;
  base::Format form{};
  const hw::MachineParams* machine = nullptr;
  bool exact = false;
};

/// Trains, with a progress line, steps.jsonl in the folder and a block after each evaluation; the test data is
/// evaluated at the end. `facts`: what is known before (model, data, numerics). Errors: as Trainer::run().
Training run_training(workloads::Trainer& trainer, Training facts, const TrainingView& view);

/// trainer_state.json in the folder of the model, and the block with which Hugging Face's Trainer ends.
void close_training(const Training& training, const TrainingView& view, const std::filesystem::path& model);

/// The last words of a run.
void print_end(const RunReport& report, const std::filesystem::path& folder, base::Format form);

/// Before anything is computed: an hour of work must not end at a folder that is in use. Errors: Fault::kUsage.
void require_free(const TrainOptions& options);

}  // namespace cli
