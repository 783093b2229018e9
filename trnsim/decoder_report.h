// What estimate, plan and run say of a decoder's job.
#pragma once

#include "base/table.h"
#include "trnsim/decoder_projection.h"

namespace trnsim {

/// Step, throughput, utilisation, time and dollars of the job: name, value, unit.
base::Table decoder_table(const DecoderJob& job, const DecoderProjection& p);
base::Table decoder_memory_table(const DecoderMemory& memory);

}  // namespace trnsim
