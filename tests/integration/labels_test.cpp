// The basis of ./dev test --changed: labels of tests, and the tests that a folder touches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/integration/shell.h"

namespace integration {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::string list_of_tests(const std::string& labels) {
  const Ran ran = shell(TRNSIM_BUILD_DIR, "ctest -N " + labels);
  EXPECT_EQ(ran.code, 0) << ran.output;
  return ran.output;
}

int count(const std::string& labels) {
  const std::string output = list_of_tests(labels);
  return std::stoi(output.substr(output.rfind(':') + 1));  // "Total Tests: 9"
}

TEST(Labels, EachTestIsQuickSlowOrForTheNight) {
  if (list_of_tests("").find("NOT_BUILT") != std::string::npos) GTEST_SKIP() << "some tests are not built";
  EXPECT_EQ(count("-L '^quick$'") + count("-L '^slow$'") + count("-L '^night$'"), count(""));
  EXPECT_GT(count("-L '^quick$' -L '^trnsim$'"), 100);
}

/// A test of the list that was renamed would run among the quick ones.
TEST(Labels, EverySlowTestExists) {
  if (list_of_tests("").find("NOT_BUILT") != std::string::npos) GTEST_SKIP() << "some tests are not built";
  std::istringstream lines{base::read_file(kSource / "tests/slow_tests.txt")};
  const std::string slow = list_of_tests("-L '^slow$'");
  for (std::string name; std::getline(lines, name);)
    if (!name.starts_with('#')) {
      EXPECT_THAT(slow, HasSubstr(": " + name + "\n")) << "./dev labels writes tests/slow_tests.txt anew";
    }
}

/// A test that runs by night alone is a longer form of one by day, which the list names.
TEST(Labels, EveryTestOfTheNightHasOneByDay) {
  if (list_of_tests("").find("NOT_BUILT") != std::string::npos) GTEST_SKIP() << "some tests are not built";
  std::istringstream lines{base::read_file(kSource / "tests/night_tests.txt")};
  const std::string night = list_of_tests("-L '^night$'");
  const std::string day = list_of_tests("-LE '^night$'");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::string by_night, by_day;
    std::istringstream{line} >> by_night >> by_day;
    EXPECT_THAT(night, HasSubstr(": " + by_night + "\n")) << line;
    EXPECT_THAT(day, HasSubstr(": " + by_day + "\n")) << line;
  }
}

/// The folders that touch each target of tests.
std::map<std::string, std::set<std::string>> touched_tests() {
  std::map<std::string, std::set<std::string>> all;
  std::istringstream lines{base::read_file(TRNSIM_BUILD_DIR "/generated/touched_tests.txt")};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string target, label, folder;
    words >> target >> label;
    while (words >> folder) all[target].insert(folder);
  }
  return all;
}

TEST(TouchedTests, AreThoseThatAreLinkedWithTheFolder) {
  const auto touched = touched_tests();
  EXPECT_THAT(touched.at("test_cli"), IsSupersetOf({"tests/cli", "cli", "trnsim", "workloads", "hw", "isa", "base"}));
  EXPECT_THAT(touched.at("test_trnsim"), IsSupersetOf({"tests/trnsim", "trnsim", "analysis", "runtime"}));
  EXPECT_THAT(touched.at("test_trnsim"), Not(Contains("cli")));
  EXPECT_THAT(touched.at("test_isa"), Not(Contains("runtime")));
  EXPECT_THAT(touched.at("test_integration"), IsSupersetOf({"cli", "trnsim"}));  // it runs the binary
  EXPECT_THAT(touched.at("test_base"), IsSupersetOf({"cli", "trnsim", "isa"}));  // it reads all sources
}

}  // namespace
}  // namespace integration
