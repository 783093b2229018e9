// What the tests of this folder share: a scratch folder, and a check of an error's kind and words.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

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

/// `run` throws a base::Error of this fault whose text holds every one of `words` and a fix.
inline testing::AssertionResult fails(base::Fault fault, const std::function<void()>& run,
                                      std::initializer_list<std::string_view> words) {
  try {
    run();
  } catch (const base::Error& error) {
    const std::string text = error.what();
    if (error.fault() != fault) return testing::AssertionFailure() << "another fault: " << text;
    if (text.find("\n  fix: ") == std::string::npos) return testing::AssertionFailure() << "no fix: " << text;
    for (const std::string_view word : words)
      if (text.find(word) == std::string::npos)
        return testing::AssertionFailure() << "no \"" << word << "\" in: " << text;
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "no error was thrown";
}

}  // namespace workloads_test
