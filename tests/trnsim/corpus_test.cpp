// Programs that others wrote, with known answers: they are read from where they are, and are no part of this
// repository. The reference computes them, and a simulated core by the instructions that are timed. From their outcomes
// docs/frontend.md is written: rates by operator, and why a core refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
#include "trnsim/run/verify_programs.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;
using frontend::Function;
using frontend::Interpreter;
using frontend::Module;
using frontend::Node;
using frontend::Operator;
using frontend::ProgramText;
using frontend::Refusal;

struct Counts {
  int right = 0, wrong = 0, refused = 0;
};

/// Types, numbers and loops that neuronx-cc or the chip lacks though no code says so, as a core's refusal
/// names them. One of another wording is a gap of the lowering.
struct Lacking {
  std::string_view words, what;
};
constexpr std::array kLacking = {
    Lacking{"!quant.uniform", "quantized types"},
    Lacking{"its number of iterations depends on data",
            "loops whose number of iterations depends on data (JAX NeuronX, known issues)"},
    Lacking{"64-bit integers", "integers beyond 32 bits: the device holds 64-bit integers in 32 bits"},
    Lacking{"limits of 64 bits", "integers beyond 32 bits: the device holds 64-bit integers in 32 bits"},
    Lacking{"whose bits the device stores differently",
            "integers beyond 32 bits: the device holds 64-bit integers in 32 bits"},
    Lacking{"needs f64", "numbers that f64 can represent and fp32, in which the device computes f64, cannot"},
    Lacking{"beyond fp32", "numbers that f64 can represent and fp32, in which the device computes f64, cannot"},
    Lacking{"TensorE multiplies integers in fp32", "products of integers beyond 2^24"}};
constexpr const char* kGap = "gaps of the lowering";

std::string class_of(const ProgramOutcome& outcome) {
  if (!outcome.code.empty()) return "documented codes of the compiler";
  const auto found = std::ranges::find_if(
      kLacking, [&](const Lacking& one) { return outcome.reason.find(one.words) != std::string::npos; });
  return std::string{found == kLacking.end() ? kGap : found->what};
}

/// Outcomes of all programs, in total and by the operators that a program has.
struct Outcomes {
  Counts all, cores;
  std::map<std::string, Counts> by_operator = {}, by_operator_on_cores = {};
  std::map<std::string, int> classes = {};  // of the cores' refusals
  std::vector<std::string> wrong = {};
  std::map<std::string, std::string> refused = {};  // program: "FILE:LINE of its beginning", and the core's reason

  static void add(int Counts::*outcome, const Module& module, Counts& all, std::map<std::string, Counts>& by_operator) {
    ++(all.*outcome);
    std::set<std::string_view> names;
    for (const Function& f : module.functions)
      for (const Node& node : f.nodes) names.insert(node.op->name);
    for (const std::string_view name : names) ++(by_operator[std::string{name}].*outcome);
  }
  void add(int Counts::*outcome, const Module& module) { add(outcome, module, all, by_operator); }

  void add(const ProgramOutcome& outcome, const Module& module) {
    const std::string name = fmt::format("{}:{}", fs::path{outcome.file}.filename().string(), outcome.line);
    if (outcome.verdict == Verdict::kWrong) wrong.push_back(outcome.reason);
    if (outcome.verdict == Verdict::kRefused) {
      ++classes[class_of(outcome)];
      const std::size_t place = outcome.reason.find(": ");  // behind "FILE:LINE"
      refused.emplace(name,
                      fmt::format("{} | {}", outcome.code.empty() ? "none" : outcome.code,
                                  place == std::string::npos ? outcome.reason : outcome.reason.substr(place + 2)));
    }
    constexpr std::array kCounts = {&Counts::right, &Counts::wrong, &Counts::refused};
    add(kCounts.at(static_cast<std::size_t>(outcome.verdict)), module, cores, by_operator_on_cores);
  }
  int gaps() const { return classes.contains(kGap) ? classes.at(kGap) : 0; }
};

fs::path programs() {
  const char* named = std::getenv("TRNSIM_FRONTEND");
  return (named != nullptr ? fs::path{named} : fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend") / "stablehlo";
}

/// The program's graph, as far as it can be read.
Module run(const ProgramText& program, const std::string& file, Outcomes& outcomes) {
  Module module;
  try {
    module = frontend::read_stablehlo(program.text, file, program.line);
    if (!frontend::refusals(module).empty()) {
      outcomes.add(&Counts::refused, module);
      return module;
    }
    Interpreter{module}.run(module.entry, {});
    outcomes.add(&Counts::right, module);
  } catch (const base::Error& error) {
    const bool refused = error.problem().find("the compiler does not accept") != std::string_view::npos;
    if (!refused) outcomes.wrong.emplace_back(error.reason());
    outcomes.add(refused ? &Counts::refused : &Counts::wrong, module);
  }
  return module;
}

/// Nothing when the programs are not there.
Outcomes run_all() {
  Outcomes outcomes;
  for (const char* folder : {"testdata", "interpret"}) {
    if (!fs::is_directory(programs() / folder)) return {};
    for (const auto& entry : fs::directory_iterator{programs() / folder}) {
      const std::string content = base::read_file(entry.path());
      const std::vector<ProgramOutcome> on_cores = verify_programs(entry.path(), {.cores = true});
      std::size_t at = 0;
      for (const ProgramText& program : frontend::split_programs(content)) {
        const Module module = run(program, entry.path().filename().string(), outcomes);
        if (at < on_cores.size() && on_cores[at].line == program.line) outcomes.add(on_cores[at++], module);
      }
    }
  }
  return outcomes;
}

std::string attributes_of(const Operator& op) {
  std::string text;
  for (const frontend::AttributeRule& rule : op.attributes)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", rule.name, rule.required ? "" : "?");
  return text;
}

/// The ends of the programs on a simulated core, and why it refuses some.
std::string on_cores(const Outcomes& outcomes) {
  base::Table table{{{"count", "programs"}, {"what", "refused for"}}};
  for (const auto& [what, count] : outcomes.classes) table.add_row({count, what});
  const Counts& c = outcomes.cores;
  const int taken = c.right + c.wrong + outcomes.gaps();
  return fmt::format(
      "On a simulated core (`--cores`), {} of them are right, {} are wrong, and {} are refused. Of the {} programs "
      "whose "
      "types and operators the chip's compiler accepts, {:.1f} % are right.\n\n{}",
      c.right, c.wrong, c.refused, taken, 100.0 * c.right / std::max(taken, 1), table.render(base::Format::kMarkdown));
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
                     {"refused", ""},
                     {"core_right", "on a core right"},
                     {"core_wrong", "wrong"},
                     {"core_refused", "refused"}}};
  const auto counts_of = [](const std::map<std::string, Counts>& all, std::string_view name) {
    const auto found = all.find(std::string{name});
    return found == all.end() ? Counts{} : found->second;
  };
  for (const Operator& op : frontend::operators()) {
    const Counts counts = counts_of(outcomes.by_operator, op.name),
                 cores = counts_of(outcomes.by_operator_on_cores, op.name);
    table.add_row({op.name, op.hlo, name_of(op.group), attributes_of(op), op.code, counts.right, counts.wrong,
                   counts.refused, cores.right, cores.wrong, cores.refused});
  }
  base::Table codes{{{"code", ""}, {"refuses", ""}, {"fix", "instead"}}};
  for (const frontend::RefusalRule& rule : frontend::refusal_rules()) codes.add_row({rule.code, rule.what, rule.fix});
  const Counts& all = outcomes.all;
  return fmt::format(
      "Of {} published test programs of StableHLO, the reference computes {} right and {} wrong, and refuses {}: with "
      "a code of neuronx-cc, or because of quantized types. `trnsim verify FILE.mlir...` runs such programs; "
      "with `--reference` it also computes those that the compiler refuses.\n\n{}\n## Codes\n\n{}\n## Operators\n\nThe "
      "number of programs with each operator that are right, wrong and refused: with the reference, and with the "
      "instructions of a simulated core.\n\n{}",
      all.right + all.wrong + all.refused, all.right, all.wrong, all.refused, on_cores(outcomes),
      codes.render(base::Format::kMarkdown), table.render(base::Format::kMarkdown));
}

constexpr const char* kRates = "<!-- below: written by ./dev docs -->\n\n";

/// tests/trnsim/acceptance.txt: the programs that a core refuses, and why. All others are right.
std::string list_of(const Outcomes& outcomes) {
  std::string text = fmt::format(
      "# suite | program | expected end | code | why: of {} programs of others {} are right on a core; these are "
      "refused\n",
      outcomes.cores.right + outcomes.cores.wrong + outcomes.cores.refused, outcomes.cores.right);
  for (const auto& [name, why] : outcomes.refused) text += fmt::format("stablehlo | {} | refused | {}\n", name, why);
  return text;
}

void expect_current(const fs::path& path, const std::string& text) {
  if (std::getenv("TRNSIM_UPDATE_DOCS") != nullptr) std::ofstream{path} << text;
  EXPECT_EQ(base::read_file(path), text) << "./dev docs writes it anew";
}

/// Every program whose types and operators the compiler takes computes what it expects, and the page and the list say
/// so.
TEST(Corpus, ProgramsThatCheckThemselves) {
  const Outcomes outcomes = run_all();
  if (outcomes.all.right == 0) GTEST_SKIP() << "no programs in " << programs();
  for (const std::string& wrong : outcomes.wrong) fmt::print("  {}\n", wrong);
  fmt::print("{}", on_cores(outcomes));
  EXPECT_EQ(outcomes.all.wrong, 0);
  EXPECT_GE(outcomes.all.right, 900);
  EXPECT_EQ(outcomes.cores.wrong, 0);
  EXPECT_GE(outcomes.cores.right, 0.99 * (outcomes.cores.right + outcomes.gaps()));
  if (std::getenv("TRNSIM_FRONTEND") != nullptr) return;  // page and list are of the other programs
  expect_current(fs::path{TRNSIM_TEST_DIR} / "trnsim/acceptance.txt", list_of(outcomes));
  const fs::path path = fs::path{TRNSIM_SOURCE_DIR} / "docs/frontend.md";
  const std::string before = base::read_file(path);
  expect_current(path, before.substr(0, before.find(kRates)) + kRates + page(outcomes));
}

}  // namespace
}  // namespace trnsim
