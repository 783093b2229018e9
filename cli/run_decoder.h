// `trnsim run` of a decoder: its job projected on the plan that the options describe.
#pragma once

#include <filesystem>

#include "cli/train_options.h"
#include "workloads/job.h"

namespace cli {

/// Whether the job's model is a Llama or GPT.
bool is_decoder(const workloads::Job& job);

/// Prints the projection and fills `folder`. `options`: as given, with the job's own for the rest.
/// Errors: Fault::kUsage when numbers are asked for; Fault::kCapacity when it does not fit.
void run_decoder(const workloads::Job& job, const TrainOptions& options, const std::string& command,
                 const std::filesystem::path& folder);

}  // namespace cli
