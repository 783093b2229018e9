// Commands of a shell in a folder of their own, for tests that do what a page tells its reader to do.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/files.h"

namespace integration {

inline const std::filesystem::path kSource = TRNSIM_SOURCE_DIR;

struct Ran {
  int code = 0;
  std::string output;  // stdout and stderr as they come
};

/// A folder below the system's temporary one that goes with this object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / (name + "_XXXXXX")).string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `commands` by bash in `folder`; the first that fails ends them.
inline Ran shell(const std::filesystem::path& folder, const std::string& commands) {
  const TemporaryFolder own{"trnsim_shell"};
  base::write_file(own.path() / "commands", "set -euo pipefail\ncd '" + folder.string() + "'\n" + commands + "\n");
  const std::string log = (own.path() / "log").string();
  const int status =
      std::system(("bash '" + (own.path() / "commands").string() + "' >'" + log + "' 2>&1 </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, base::read_file(log)};
}

}  // namespace integration
