// Whether a projection may be held against what somebody measured.
#pragma once

#include <string>

#include "trnsim/settings.h"
#include "workloads/job.h"

namespace trnsim {

/// True when everything that decides the time of the projected job is as the workload file has it: another model, other
/// data, fewer steps, another machine make another job, whose figures nobody published.
bool is_published_job(const TrainOptions& projected, const workloads::Job& job);

/// What is projected, in a line: the workload's own text, or the user's model and data.
std::string text_of(const workloads::Job& job, const TrainOptions& options);

}  // namespace trnsim
