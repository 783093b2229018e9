// The state of a training run in one file, so that a run that is stopped at any moment leaves a whole one.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/session.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {

struct TrainProgress {
  std::string fingerprint;  // settings that decide the bits
  std::int64_t step = 0;    // steps done
  double loss_sum = 0;      // of them
};

/// How a file names what is on the device: weights and moments are fp32, bf16 or fp16. Errors: Fault::kInternal.
ElementType element_type(isa::Dtype type);

/// Writes `folder`/state.safetensors: weights and moments of rank 0 as they lie on the core (data-parallel replicas are
/// equal), and the progress. Errors: Fault::kEnvironment.
void save_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session, const isa::Program& program,
                           const TrainProgress& progress);

/// Puts them back on every rank. Errors: Fault::kData when there is no checkpoint, or one of another run: with other
/// settings (both are printed) or tensors.
TrainProgress load_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session,
                                    const isa::Program& program, const std::string& fingerprint);

}  // namespace workloads
