// The checkpoint of a training: shards of every tensor-parallel rank and pipeline stage
// (workloads/checkpoints/shards.h), from which a run goes on, to the same bits under the same plan, and from the same
// state under another one.
#pragma once

#include <filesystem>
#include <string>

#include "workloads/text/tokenizer.h"
#include "workloads/training/progress.h"
#include "workloads/training/sharded_state.h"

namespace workloads {

/// A run's model on the cores.
struct TrainedModel {
  const ModelPtr& model;
  const ShardedState& state;
  runtime::Session& session;
};

/// Writes the shards of all states, the tokenizer, if there is one, and the progress into `folder`. A folder that is
/// there already is replaced when the new one is complete. Errors: Fault::kEnvironment.
void save_checkpoint(const std::filesystem::path& folder, const TrainedModel& trained, const Tokenizer* tokenizer,
                     const TrainProgress& progress);

/// Puts weights and moments back on every rank, however the plan shares them. Also reads the one file
/// state.safetensors of classifiers that trnsim wrote until 0.2.0. Errors: Fault::kData when the checkpoint is missing,
/// or one of another model or run (both settings are printed); as read_shards().
TrainProgress load_checkpoint(const std::filesystem::path& folder, const TrainedModel& trained,
                              const std::string& fingerprint);

}  // namespace workloads
