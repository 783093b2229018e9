// `trnsim run` of a decoder: its job projected on the plan that the options describe, and a small model, or the user's,
// trained for real.
#pragma once

#include <filesystem>
#include <string>

#include "trnsim/project.h"
#include "trnsim/settings.h"
#include "workloads/job.h"

namespace cli {

using trnsim::TraceWindow;
using trnsim::TrainOptions;

/// How a run was asked for, beside its options.
struct RunPlace {
  std::string command;
  std::filesystem::path folder;
  TraceWindow trace;
};

/// Prints both halves and fills the folder. `options`: as the user gave them. Errors: Fault::kCapacity when the job
/// does not fit the machine, or the training this host; as workloads::load_language_modelling() and CausalTrainer.
void run_decoder(const workloads::Job& job, const TrainOptions& options, const RunPlace& place);

}  // namespace cli
