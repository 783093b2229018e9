#include "trnsim/sweep_team.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// The variables in which a launcher tells a process who it is.
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
    throw Error{Fault::kUsage, where, fmt::format("'{}' is no whole number", text), "give one, as in 3"};
  return value;
}

analysis::SweepTeam member(std::string_view rank, std::string_view size, const std::string& where) {
  analysis::SweepTeam team;
  team.rank = number(rank, where);
  team.size = number(size, where);
  if (team.rank >= team.size)
    throw Error{Fault::kUsage, where, fmt::format("{} of {} is outside of the team", rank, size),
                fmt::format("count from 0 to {}", std::max<std::size_t>(team.size, 1) - 1)};
  return team;
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view{"-_./=,:%+@"}.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
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
    throw Error{Fault::kUsage, "--shard", fmt::format("'{}' is no I/N", text), "write 0/16 to 15/16 for 16 shards"};
  analysis::SweepTeam team = member(text.substr(0, slash), text.substr(slash + 1), "--shard");
  team.waits = false;
  if (const std::string job = variable("SLURM_ARRAY_JOB_ID"); !job.empty()) team.job = "SLURM_ARRAY_JOB_ID " + job;
  return team;
}

namespace {

/// A line break would end the comment or the line that a word stands in.
void require_one_line(std::string_view word) {
  if (std::ranges::none_of(word, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) return;
  throw Error{Fault::kUsage, "slurm", fmt::format("\"{}\" has a control character, which no script can hold", word),
              "choose another name"};
}

}  // namespace

std::string slurm_script(const std::vector<std::string>& arguments, std::size_t shards, int processes) {
  std::string command = shell_word(std::filesystem::read_symlink("/proc/self/exe").string());
  const std::string here = std::filesystem::current_path().string();
  require_one_line(here);
  for (const std::string& argument : arguments) {
    require_one_line(argument);
    command += " " + shell_word(argument);
  }
  return fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name=trnsim-sweep\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "# Computes the points of a sweep, in a folder that all nodes share. A task that dies costs the points it was "
      "at:\n"
      "# whatever is missing is computed by the command that writes the results from what is known:\n"
      "#   id=$(sbatch --parsable THIS_FILE) && sbatch --dependency=afterany:$id --chdir={} --wrap={}\n"
      "set -euo pipefail\n"
      "cd {}\n"
      "exec {} --processes {} --shard \"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT\"\n",
      shards - 1, processes, shell_word(here), shell_word(command), shell_word(here), command, processes);
}

}  // namespace trnsim
