// A sweep on more than one process of the user: under mpirun or srun, and as the array of a batch system.
#pragma once

#include <string>
#include <string_view>

#include "analysis/sweep/sweep.h"

namespace trnsim {

/// The team of this process as mpirun (Open MPI, MPICH) or srun state it in the environment: rank, size and a name of
/// the job. Rank 0 waits for all points. Alone without a launcher. Errors: Fault::kUsage for an invalid rank.
analysis::SweepTeam team_of_environment();

/// "3/16": the fourth of 16 processes that a batch system starts when it likes, so that none waits for another.
/// Errors: Fault::kUsage.
analysis::SweepTeam team_of_shard(std::string_view text);

}  // namespace trnsim
