// Runs the built trnsim and looks at what a shell would see.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cli_test {

struct Ran {
  int code = 0;
  std::string out, err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// `arguments` as a shell reads them; `before` stands in front of the command ("SM_MODEL_DIR=/x", "echo a |").
inline Ran run(const std::string& arguments, const std::string& before = "") {
  std::string pattern = (std::filesystem::temp_directory_path() / "trnsim_cli_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const std::string command = before + " " TRNSIM_BINARY " " + arguments + " >" + (folder / "out").string() + " 2>" +
                              (folder / "err").string() + (before.ends_with('|') ? "" : " </dev/null");
  const int status = std::system(command.c_str());
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(folder / "out"), slurp(folder / "err")};
  std::filesystem::remove_all(folder);
  return ran;
}

}  // namespace cli_test
