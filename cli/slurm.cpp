#include "cli/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace cli {
namespace {

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

std::string slurm_script(const std::vector<std::string>& arguments, std::size_t shards, int processes) {
  std::string command = shell_word(std::filesystem::read_symlink("/proc/self/exe").string());
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
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
      shards - 1, processes, shell_word(std::filesystem::current_path().string()), shell_word(command),
      shell_word(std::filesystem::current_path().string()), command, processes);
}

}  // namespace cli
