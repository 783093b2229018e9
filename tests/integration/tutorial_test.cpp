// docs/tutorial.md: its numbers come from the runs that it shows, and its conclusions hold for them. README's table of
// passes is that of its command.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/shell.h"

namespace integration {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The page without code, links' addresses and the reading times of its headings.
std::string prose_of(const std::string& page) {
  std::string out;
  std::istringstream lines{page};
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced && !line.starts_with("```") && !line.starts_with("    ") && !line.starts_with('#')) out += line + "\n";
  }
  return std::regex_replace(out, std::regex{R"(\]\([^)]*\)|`[^`]*`)"}, " ");
}

/// True when `text` has the number as a whole one.
bool has_number(const std::string& text, const std::string& number) {
  const auto part = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  for (std::size_t at = text.find(number); at != std::string::npos; at = text.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

/// The projections of the page: their output, and their figures by the name of their folder.
struct Runs {
  std::string output;
  std::map<std::string, json> results;

  /// Samples per second of a run over those of the page's first one.
  double gain(const std::string& name) const {
    const auto rate = [](const json& result) { return result["job"]["train_samples_per_second"].get<double>(); };
    return rate(results.at(name)) / rate(results.at("first"));
  }
};

Runs runs_of(const std::string& page) {
  const TemporaryFolder folder{"trnsim_tutorial"};
  static const std::regex kCommand{R"(\n    trnsim (run [^\n]*--output_dir (\w+)))"};
  Runs runs;
  for (std::sregex_iterator at{page.begin(), page.end(), kCommand}, end; at != end; ++at) {
    const Ran ran = shell(folder.path(), "TRNSIM_SUGGESTIONS=0 " TRNSIM_BINARY " " + (*at)[1].str());
    EXPECT_EQ(ran.code, 0) << ran.output;
    runs.output += ran.output;
    runs.results[(*at)[2]] = json::parse(base::read_file(folder.path() / (*at)[2].str() / "result.json"));
  }
  return runs;
}

TEST(TutorialPage, ItsNumbersAndConclusionsAreThoseOfItsRuns) {
  const std::string page = base::read_file(kSource / "docs/tutorial.md"), prose = prose_of(page);
  const Runs runs = runs_of(page);
  const std::string gain = fmt::format("{:+.0f} % samples/s", 100 * (runs.gain("second") - 1));
  const std::string known = runs.output + gain + base::read_file(kSource / "workloads/jobs/bert_emotion.toml") +
                            runs.results.at("second")["workload"]["options"].dump();
  static const std::regex kNumber{R"((?:^|[\s(])(\+?\$?\d[\d,]*(?:\.\d+)?))"};
  int numbers = 0;
  for (std::sregex_iterator at{prose.begin(), prose.end(), kNumber}, end; at != end; ++at, ++numbers) {
    const std::string number = std::regex_replace((*at)[1].str(), std::regex{","}, "");
    EXPECT_TRUE(has_number(known, number)) << "docs/tutorial.md: " << number;
  }
  EXPECT_GE(numbers, 4);

  // A batch of 32 on each core: so much faster at the same price an hour, and it fits.
  EXPECT_THAT(page.substr(page.find("## The decision")), HasSubstr(gain));
  const json &first = runs.results.at("first"), &second = runs.results.at("second");
  EXPECT_EQ(second["memory"]["verdict"], "fits");
  EXPECT_EQ(second["cost"]["price_per_hour"], first["cost"]["price_per_hour"]);
  // Host and device take turns, the host works longer, and the bandwidth of HBM hardly matters.
  const auto seconds = [&](const char* figure) { return first["job"][figure].get<double>(); };
  EXPECT_NEAR(seconds("step_seconds"), seconds("host_step_seconds") + seconds("device_step_seconds"), 1e-4);
  EXPECT_GT(seconds("host_step_seconds"), seconds("device_step_seconds"));
  EXPECT_LT(runs.gain("fourth"), 1.02);
}

/// The cells of a line of a table; two blanks are between them.
std::vector<std::string> cells_of(const std::string& line) {
  static const std::regex kGap{"  +"};
  return {std::sregex_token_iterator{line.begin(), line.end(), kGap, -1}, {}};
}

/// The table below `title` in `text`: each row by its first cell, as cells by their column.
std::map<std::string, std::map<std::string, std::string>> table_of(const std::string& text, const std::string& title) {
  std::istringstream lines{text.substr(text.find(title))};
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> columns = cells_of(line);
  std::map<std::string, std::map<std::string, std::string>> rows;
  while (std::getline(lines, line) && !line.empty() && line != "```") {
    const std::vector<std::string> cells = cells_of(line);
    for (std::size_t i = 0; i < cells.size(); ++i) rows[cells.front()][columns.at(i)] = cells[i];
  }
  return rows;
}

TEST(ReadmePage, ItsTableOfPassesIsThatOfItsCommand) {
  const TemporaryFolder folder{"trnsim_passes"};
  const Ran ran = shell(folder.path(), TRNSIM_BINARY " ablate bert_emotion 2>/dev/null");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const auto shown = table_of(base::read_file(kSource / "README.md"), "pass switched"),
             printed = table_of(ran.output, "pass switched");
  EXPECT_GE(shown.size(), 7u);
  for (const auto& [pass, cells] : shown)
    for (const auto& [column, cell] : cells) EXPECT_EQ(printed.at(pass).at(column), cell) << pass << ": " << column;
}

}  // namespace
}  // namespace integration
