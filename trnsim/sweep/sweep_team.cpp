#include "trnsim/sweep/sweep_team.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// The variables in which a launcher tells a process its rank.
struct Launcher {
  const char *rank, *size, *job;
};
constexpr std::array kLaunchers = {
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},  // Open MPI: man mpirun, ENVIRONMENT
    Launcher{"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},                               // MPICH's hydra
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"},            // man srun; sbatch sets no step
};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string{} : std::string{text};
}

std::size_t number(std::string_view text, std::string_view where) {
  std::size_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size())
    throw Error{Fault::kUsage, where, fmt::format("'{}' is not an integer", text), "give a whole number, such as 3"};
  return value;
}

analysis::SweepTeam member(std::string_view rank, std::string_view size, const std::string& where) {
  analysis::SweepTeam team;
  team.rank = number(rank, where);
  team.size = number(size, where);
  if (team.rank >= team.size)
    throw Error{Fault::kUsage, where, fmt::format("rank {} of {} does not exist", rank, size),
                fmt::format("count from 0 to {}", std::max<std::size_t>(team.size, 1) - 1)};
  return team;
}

}  // namespace

analysis::SweepTeam team_of_environment() {
  for (const Launcher& launcher : kLaunchers) {
    const std::string rank = variable(launcher.rank), size = variable(launcher.size);
    if (rank.empty() || size.empty()) continue;
    analysis::SweepTeam team = member(rank, size, launcher.rank);
    team.waits = team.rank == 0;
    // A launcher that names no job is at least the parent of all its processes on a host.
    const std::string job = variable(launcher.job);
    team.job = fmt::format("{} {} {}", launcher.job, job.empty() ? fmt::format("{}", ::getppid()) : job,
                           variable("SLURM_STEP_ID"));
    return team;
  }
  return {};
}

analysis::SweepTeam team_of_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    throw Error{Fault::kUsage, "`shard`", fmt::format("'{}' is not I/N", text), "write 0/16 to 15/16 for 16 shards"};
  analysis::SweepTeam team = member(text.substr(0, slash), text.substr(slash + 1), "`shard`");
  team.waits = false;
  if (const std::string job = variable("SLURM_ARRAY_JOB_ID"); !job.empty()) team.job = "SLURM_ARRAY_JOB_ID " + job;
  return team;
}

}  // namespace trnsim
