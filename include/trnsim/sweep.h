// The computation of a sweep for a point: a program on another machine, or a job with other options on another machine.
#pragma once

#include <string>

#include "analysis/sweep/sweep.h"

namespace trnsim {

/// One run of a program from assembler text; the keys of a point are machine parameters.
/// Metrics: seconds, dollars, mfu, hfu, mbu (per cent), collectives_exposed_seconds, busy.* (per cent).
/// Errors: what the parser and the checker of programs refuse.
analysis::SweepModel program_model(const std::string& path, const std::string& machine);

/// The projection of a workload, compiled for each point. Keys of a point are machine parameters, options of `trnsim
/// run` that change the projection (per_device_train_batch_size, tensor_parallel_size, passes, instance_type, ...), or
/// "model", a preset of the workload's kind. Metrics: those above, with seconds and dollars of the whole job, and
/// step_seconds, device_step_seconds, host_step_seconds, samples_per_second, hbm_bytes (of a core), busy.host; of a
/// generation also time_to_first_token_seconds, time_per_output_token_p50_seconds and tokens_per_second, and a step is
/// a token. `machine`: empty, the workload's. Errors: Fault::kUsage for an unknown workload.
analysis::SweepModel job_model(const std::string& workload, const std::string& machine);

}  // namespace trnsim
