// Shared by the tests of this folder: a scratch folder, fixtures, and tests/fails.h.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fails.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace workloads_test {

/// A folder of its own that is gone when the test ends.
class Scratch {
 public:
  Scratch() : path_{std::filesystem::temp_directory_path() / ("trnsim-workloads-" + std::to_string(::getpid()))} {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(std::string_view name, std::string_view content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream{path_ / name, std::ios::binary} << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path golden(std::string_view name) {
  return std::filesystem::path{TRNSIM_TEST_DIR} / "golden" / name;
}
inline std::filesystem::path fixture(std::string_view name) {
  return std::filesystem::path{TRNSIM_TEST_DIR} / "workloads/data" / name;
}

/// Millions of parameters of a preset.
inline double millions(std::string_view name) {
  return static_cast<double>(parameter_count(workloads::model_preset(name)->weights())) * 1e-6;
}

using tests::fails;

}  // namespace workloads_test
