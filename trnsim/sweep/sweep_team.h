// A sweep on more than one process of the user: under mpirun or srun, and as the array of a batch system.
#pragma once

#include <string>
#include <string_view>

#include "analysis/sweep/sweep.h"

namespace trnsim {

/// What mpirun (Open MPI, MPICH) or srun say in the environment: rank, size and a name of the job. Rank 0 waits for all
/// points. Alone when no launcher says anything. Errors: Fault::kUsage for a rank that is none.
analysis::SweepTeam team_of_environment();

/// "3/16": the fourth of 16 processes that a batch system starts when it likes, so that none waits for another.
/// Errors: Fault::kUsage.
analysis::SweepTeam team_of_shard(std::string_view text);

}  // namespace trnsim
