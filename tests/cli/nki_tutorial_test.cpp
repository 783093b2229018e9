// docs/nki_tutorial.md: its commands run, and its numbers are in their output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_binary.h"

namespace cli_test {
namespace {

using testing::HasSubstr;

/// The page's lines, and the output of its commands.
struct FollowedPage {
  std::vector<std::string> shown;  // lines of output, without the seconds that this host took and cells that are cut
  std::string sentences, output;
  int commands = 0;
};

FollowedPage followed(const std::string& page) {
  FollowedPage out;
  std::istringstream lines{page};
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
    } else if (!fenced) {
      out.sentences += line + " ";
    } else if (line.starts_with("$ trnsim ")) {
      ++out.commands;
      const Ran ran = run(line.substr(9), "cd " TRNSIM_SOURCE_DIR " &&");
      EXPECT_EQ(ran.code, 0) << line << '\n' << ran.err;
      out.output += ran.out;
    } else if (line != "  ...") {
      line = line.substr(0, line.find(", traced and compiled in"));
      out.shown.push_back(line.ends_with("...") ? line.substr(0, line.size() - 3) : line);
    }
  }
  return out;
}

class NkiTutorial : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path{TRNSIM_BINARY}.parent_path() / "python/trnsim/nki/__main__.py"))
      GTEST_SKIP() << "built without the Python module";
  }
};

TEST_F(NkiTutorial, ItsNumbersAreThoseOfItsCommands) {
  const FollowedPage page = followed(slurp(TRNSIM_SOURCE_DIR "/docs/nki_tutorial.md"));
  EXPECT_GE(page.commands, 8);
  EXPECT_GE(page.shown.size(), 10u);
  for (const std::string& line : page.shown) EXPECT_THAT(page.output, HasSubstr(line));
  // Measured figures; "6.3 MB" is the operands' size.
  static const std::regex kFigure{R"(\d+\.\d\d (?:us|MB)|\d+\.\d %)"};
  int figures = 0;
  for (std::sregex_iterator at{page.sentences.begin(), page.sentences.end(), kFigure}, end; at != end; ++at, ++figures)
    EXPECT_THAT(page.output, HasSubstr(at->str())) << "docs/nki_tutorial.md";
  EXPECT_GE(figures, 8);
}

TEST_F(NkiTutorial, WithoutTheWrittenOrderAllAreWithinItsBounds) {
  const std::string page = slurp(TRNSIM_SOURCE_DIR "/docs/nki_tutorial.md");
  std::smatch bounds;
  ASSERT_TRUE(std::regex_search(page, bounds, std::regex{R"(between (\d+) and\s+(\d+) us)"}));
  std::string kernels;
  for (const char* step : {"1_tiles", "2_rows", "3_blocks", "4_psum"})
    kernels += std::string{" " TRNSIM_SOURCE_DIR "/examples/nki/matmul_"} + step + ".py";
  const Ran ran = run("nki --compare" + kernels + " --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::vector<double> us;
  for (const auto& row : nlohmann::json::parse(ran.out)) us.push_back(1e6 * row["seconds"].get<double>());
  EXPECT_NEAR(std::ranges::min(us), std::stod(bounds[1]), 1);
  EXPECT_NEAR(std::ranges::max(us), std::stod(bounds[2]), 1);
}

}  // namespace
}  // namespace cli_test
