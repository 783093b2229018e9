#include "cli/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/error.h"

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

/// A line break would end the comment or the line that contains the word.
void require_one_line(std::string_view word) {
  if (std::ranges::none_of(word, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) return;
  throw base::Error{base::Fault::kUsage, "slurm",
                    fmt::format("\"{}\" has a control character, which no script can hold", word),
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

}  // namespace cli
