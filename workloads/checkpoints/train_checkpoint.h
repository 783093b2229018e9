// The state of a training run in one file, so that a run that is stopped at any moment leaves a whole one.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/step/session.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {

struct TrainProgress {
  std::string fingerprint;   // settings that decide the bits
  std::int64_t step = 0;     // steps done
  double loss_sum = 0;       // of them
  double unlogged_loss = 0;  // of the last of them, since the history's last entry
  std::int64_t unlogged_steps = 0;
  std::string history;  // trainer_state.json

  /// As the metadata of a checkpoint, and back. Errors: Fault::kData naming `where` when something is missing or no
  /// number.
  std::map<std::string, std::string> to_text() const;
  static TrainProgress from_text(const std::map<std::string, std::string>& text, const std::string& where);
};

/// How a file names what is on the device: weights and moments are fp32, bf16 or fp16. Errors: Fault::kInternal.
ElementType element_type(isa::Dtype type);

/// Errors: Fault::kData, with both, when the checkpoint in `where` is of another run than this one.
void require_same_settings(const TrainProgress& then, const std::string& now, const std::string& where);

/// Writes `folder`/state.safetensors: weights and moments of rank 0 as they lie on the core (data-parallel replicas are
/// equal), and the progress. Errors: Fault::kEnvironment.
void save_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session, const isa::Program& program,
                           const TrainProgress& progress);

/// Puts them back on every rank. Errors: Fault::kData when there is no checkpoint, or one of another run: with other
/// settings (both are printed) or tensors.
TrainProgress load_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session,
                                    const isa::Program& program, const std::string& fingerprint);

}  // namespace workloads
