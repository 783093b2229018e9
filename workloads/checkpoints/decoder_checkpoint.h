// The checkpoint of a decoder's training: shards of every tensor-parallel rank and pipeline stage
// (workloads/checkpoints/shards.h), from which a run resumes, to the same bits under the same plan, and from the same
// state under another one.
#pragma once

#include <filesystem>
#include <string>

#include "workloads/checkpoints/train_checkpoint.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/decoder_state.h"
#include "workloads/training/host_io.h"

namespace workloads {

/// Writes the shards of all states, the tokenizer, and the progress into `folder`. A folder that is there already is
/// replaced when the new one is complete. Errors: Fault::kEnvironment.
void save_decoder_checkpoint(const std::filesystem::path& folder, const ModelPtr& config, const DecoderState& state,
                             runtime::Session& session, const Tokenizer& tokenizer, const TrainProgress& progress);

/// Puts weights and moments back on every rank, however the plan of `state` shares them. Errors: Fault::kData when
/// there is no checkpoint, or one of another model or run (both settings are printed); as read_shards().
TrainProgress load_decoder_checkpoint(const std::filesystem::path& folder, const ModelPtr& config, const DecoderIo& io,
                                      const DecoderState& state, runtime::Session& session,
                                      const std::string& fingerprint);

}  // namespace workloads
