// A sweep as an array of tasks of a batch system.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

/// A script for sbatch that runs `trnsim ARGUMENTS --shard I/N` as an array of `shards` tasks, in this folder.
std::string slurm_script(const std::vector<std::string>& arguments, std::size_t shards, int processes);

}  // namespace cli
