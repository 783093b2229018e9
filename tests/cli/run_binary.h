// Runs the built trnsim and checks what a shell would see.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
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

/// `arguments` as a shell reads them; `before` precedes the command ("SM_MODEL_DIR=/x", "echo a |").
inline Ran run(const std::string& arguments, const std::string& before = "") {
  std::string pattern = (std::filesystem::temp_directory_path() / "trnsim_cli_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  // Searching for advice takes as long as a few jobs: tests that want it enable it.
  setenv("TRNSIM_SUGGESTIONS", "0", 0);
  const std::string command = before + " " TRNSIM_BINARY " " + arguments + " >" + (folder / "out").string() + " 2>" +
                              (folder / "err").string() + (before.ends_with('|') ? "" : " </dev/null");
  const int status = std::system(command.c_str());
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(folder / "out"), slurp(folder / "err")};
  std::filesystem::remove_all(folder);
  return ran;
}

/// A scratch folder that runs leave theirs in.
class Runs : public testing::Test {
 protected:
  Runs() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trnsim_runs_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Runs() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  nlohmann::json result(const std::string& name) const {
    return nlohmann::json::parse(slurp(folder_ / name / "result.json"));
  }

  std::filesystem::path folder_;
};

}  // namespace cli_test
