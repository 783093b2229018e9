// Programs that others wrote, with known answers: they are read from where they are, and are no part of this
// repository. From their outcomes docs/frontend.md is written: rates by operator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/ops/operator.h"
#include "frontend/ops/refusals.h"
#include "frontend/stablehlo/reader.h"

namespace trnsim::frontend {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int right = 0, wrong = 0, refused = 0;
};

/// Outcomes of all programs, in total and by the operators that a program has.
struct Outcomes {
  Counts all;
  std::map<std::string, Counts> by_operator = {};
  std::vector<std::string> wrong = {};
  std::map<std::string, std::string> refused = {};  // program: "FILE:LINE of its beginning", and the reason

  void add(int Counts::*outcome, const Module& module) {
    ++(all.*outcome);
    std::set<std::string_view> names;
    for (const Function& f : module.functions)
      for (const Node& node : f.nodes) names.insert(node.op->name);
    for (const std::string_view name : names) ++(by_operator[std::string{name}].*outcome);
  }
};

fs::path programs() {
  const char* named = std::getenv("TRNSIM_FRONTEND");
  return (named != nullptr ? fs::path{named} : fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend") / "stablehlo";
}

void run(const ProgramText& program, const std::string& file, Outcomes& outcomes) {
  Module module;
  const std::string name = fmt::format("{}:{}", file, program.line);
  try {
    module = read_stablehlo(program.text, file, program.line);
    if (const std::vector<Refusal> found = refusals(module); !found.empty()) {
      outcomes.refused.emplace(name, fmt::format("{} | {}", found[0].rule->code, found[0].rule->what));
      return outcomes.add(&Counts::refused, module);
    }
    Interpreter{module}.run(module.entry, {});
    outcomes.add(&Counts::right, module);
  } catch (const base::Error& error) {
    const bool refused = error.problem().find("not taken by the compiler") != std::string_view::npos;
    if (refused)
      outcomes.refused.emplace(name, fmt::format("unread | {}", error.problem()));
    else
      outcomes.wrong.emplace_back(error.reason());
    outcomes.add(refused ? &Counts::refused : &Counts::wrong, module);
  }
}

/// Nothing when the programs are not there.
Outcomes run_all() {
  Outcomes outcomes;
  for (const char* folder : {"testdata", "interpret"}) {
    if (!fs::is_directory(programs() / folder)) return {};
    for (const auto& entry : fs::directory_iterator{programs() / folder}) {
      const std::string content = base::read_file(entry.path());
      for (const ProgramText& program : split_programs(content))
        run(program, entry.path().filename().string(), outcomes);
    }
  }
  return outcomes;
}

std::string attributes_of(const Operator& op) {
  std::string text;
  for (const AttributeRule& rule : op.attributes)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", rule.name, rule.required ? "" : "?");
  return text;
}

/// The table of operators with the outcomes of their programs.
std::string page(const Outcomes& outcomes) {
  base::Table table{{{"operator", ""},
                     {"HLO", ""},
                     {"group", ""},
                     {"attributes", "attributes (? may be left out)"},
                     {"code", "refused by"},
                     {"right", ""},
                     {"wrong", ""},
                     {"refused", ""}}};
  for (const Operator& op : operators()) {
    const auto found = outcomes.by_operator.find(std::string{op.name});
    const Counts counts = found == outcomes.by_operator.end() ? Counts{} : found->second;
    table.add_row(
        {op.name, op.hlo, name_of(op.group), attributes_of(op), op.code, counts.right, counts.wrong, counts.refused});
  }
  base::Table codes{{{"code", ""}, {"refuses", ""}, {"fix", "instead"}}};
  for (const RefusalRule& rule : refusal_rules()) codes.add_row({rule.code, rule.what, rule.fix});
  const Counts& all = outcomes.all;
  return fmt::format(
      "{} programs of the published tests of StableHLO that are given: {} right, {} wrong, {} refused by a code of the "
      "vendor's compiler or as quantized. `trnsim verify FILE.mlir...` runs such programs; with `--reference` it "
      "computes those that the compiler refuses, too.\n\n## Codes\n\n{}\n## Operators\n\nHow many of the programs that "
      "have the operator are right, wrong and refused.\n\n{}",
      all.right + all.wrong + all.refused, all.right, all.wrong, all.refused, codes.render(base::Format::kMarkdown),
      table.render(base::Format::kMarkdown));
}

constexpr const char* kRates = "<!-- below: written by ./dev docs -->\n\n";

/// Every program whose types and operators the compiler takes computes what it expects.
TEST(Corpus, ProgramsThatCheckThemselves) {
  const Outcomes outcomes = run_all();
  if (outcomes.all.right == 0) GTEST_SKIP() << "no programs in " << programs();
  for (const std::string& wrong : outcomes.wrong) fmt::print("  {}\n", wrong);
  EXPECT_GE(outcomes.all.right, 0.99 * (outcomes.all.right + outcomes.all.wrong));
  EXPECT_GE(outcomes.all.right, 900);
}

/// tests/frontend/acceptance.txt: the programs that are refused, and why. All others are right.
std::string list_of(const Outcomes& outcomes) {
  std::string text = fmt::format(
      "# suite | program | expected end | code | why: of {} programs of others {} are right; these are refused\n",
      outcomes.all.right + outcomes.all.wrong + outcomes.all.refused, outcomes.all.right);
  for (const auto& [name, why] : outcomes.refused) text += fmt::format("stablehlo | {} | refused | {}\n", name, why);
  return text;
}

TEST(Corpus, EndsAreThoseOfTheList) {
  if (std::getenv("TRNSIM_FRONTEND") != nullptr) GTEST_SKIP() << "the list is of other programs";
  const Outcomes outcomes = run_all();
  if (outcomes.all.right == 0) GTEST_SKIP() << "no programs in " << programs();
  EXPECT_EQ(outcomes.wrong.size(), 0U);
  const fs::path path = fs::path{TRNSIM_TEST_DIR} / "frontend/acceptance.txt";
  if (std::getenv("TRNSIM_UPDATE_DOCS") != nullptr) std::ofstream{path} << list_of(outcomes);
  EXPECT_EQ(base::read_file(path), list_of(outcomes)) << "an end changed: ./dev docs writes the list anew";
}

TEST(Corpus, GeneratedDocumentIsCurrent) {
  const Outcomes outcomes = run_all();
  if (outcomes.all.right == 0) GTEST_SKIP() << "no programs in " << programs();
  const fs::path path = fs::path{TRNSIM_SOURCE_DIR} / "docs/frontend.md";
  const std::string before = base::read_file(path);
  const std::string text = before.substr(0, before.find(kRates)) + kRates + page(outcomes);
  if (std::getenv("TRNSIM_UPDATE_DOCS") != nullptr) std::ofstream{path} << text;
  EXPECT_EQ(base::read_file(path), text) << "./dev docs writes it anew";
}

}  // namespace
}  // namespace trnsim::frontend
