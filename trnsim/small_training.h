// The first steps of a workload's small model: numbers by which two ways to compute can be told apart.
#pragma once

#include <functional>
#include <vector>

#include "runtime/passes.h"
#include "trnsim/settings.h"
#include "workloads/job.h"

namespace trnsim {

/// Loss and gradient norm of each step, trained with these passes.
using SmallTraining = std::function<std::vector<double>(const runtime::Passes&)>;

/// On made-up data, rounded to nearest: stochastic rounding draws its numbers by the place in the program, so that each
/// instruction that moves would show. Errors: as the trainers.
SmallTraining small_training(const workloads::Job& job, const TrainOptions& given);

}  // namespace trnsim
