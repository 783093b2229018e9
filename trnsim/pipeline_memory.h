// What a pipeline's stage keeps for the others.
#pragma once

#include "trnsim/decoder_job.h"

namespace trnsim {

/// Bytes of the messages that can lie in a stage's inbox at once: who sends does not wait for who receives, so the
/// turns of both decide how far ahead it can get. 0 without stages. Source: workloads/pipeline.h, the turns.
std::uint64_t inbox_bytes(const DecoderJob& job, std::int64_t stage);

}  // namespace trnsim
