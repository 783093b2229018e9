#include "cli/verify_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "trnsim/run/verify_programs.h"

namespace cli {
namespace {

using trnsim::ProgramOutcome;
using trnsim::Verdict;

std::int64_t count(const std::vector<ProgramOutcome>& outcomes, Verdict verdict) {
  return std::ranges::count(outcomes, verdict, &ProgramOutcome::verdict);
}

std::string place(const ProgramOutcome& outcome) { return fmt::format("{}:{}", outcome.file, outcome.line); }

std::string json_of(const std::vector<ProgramOutcome>& outcomes) {
  auto out = nlohmann::ordered_json::object();
  for (const Verdict verdict : {Verdict::kRight, Verdict::kWrong, Verdict::kRefused})
    out[std::string{name_of(verdict)}] = count(outcomes, verdict);
  out["programs"] = nlohmann::ordered_json::parse(trnsim::table_of(outcomes).render(base::Format::kJson));
  return out.dump(2) + "\n";
}

/// A few programs are all listed; of many only those that are not right.
base::Table summary_of(const std::vector<ProgramOutcome>& outcomes) {
  constexpr std::size_t kFew = 20;
  base::Table table{{{"program", ""}, {"verdict", ""}, {"checks", "met"}, {"code", "of the compiler"}, {"reason", ""}}};
  for (const ProgramOutcome& o : outcomes)
    if (outcomes.size() <= kFew || o.verdict != Verdict::kRight)
      table.add_row({place(o), std::string{name_of(o.verdict)}, o.checks, o.code, o.reason});
  return table;
}

void throw_unless_right(const std::vector<ProgramOutcome>& outcomes) {
  for (const Verdict verdict : {Verdict::kWrong, Verdict::kRefused}) {
    const auto found = std::ranges::find(outcomes, verdict, &ProgramOutcome::verdict);
    if (found == outcomes.end()) continue;
    const bool wrong = verdict == Verdict::kWrong;
    throw base::Error{wrong ? base::Fault::kCheck : base::Fault::kProgram, "trnsim verify " + place(*found),
                      fmt::format("{} of {} {}; the first: {}", count(outcomes, verdict),
                                  base::counted(static_cast<std::int64_t>(outcomes.size()), "program"),
                                  wrong ? "compute other results than they expect" : "are refused", found->reason),
                      found->fix.empty() ? "see the table above" : found->fix};
  }
}

}  // namespace

bool is_program(const std::string& argument) { return argument.ends_with(".mlir"); }

void verify_programs(const VerifyProgramsRequest& request) {
  const base::Format form = base::parse_format(request.format);
  std::vector<ProgramOutcome> outcomes;
  for (const std::string& file : request.files)
    for (ProgramOutcome& outcome :
         trnsim::verify_programs(file, {.reference = request.reference, .cores = request.cores}))
      outcomes.push_back(std::move(outcome));
  if (form == base::Format::kJson) {
    print(json_of(outcomes));
  } else {
    const base::Table table = summary_of(outcomes);
    if (table.rows() > 0) print(table.render(form, columns()));
    if (form == base::Format::kTable)
      print(fmt::format("{} in {}: {} right, {} wrong, {} refused\n",
                        base::counted(static_cast<std::int64_t>(outcomes.size()), "program"),
                        base::counted(static_cast<std::int64_t>(request.files.size()), "file"),
                        count(outcomes, Verdict::kRight), count(outcomes, Verdict::kWrong),
                        count(outcomes, Verdict::kRefused)));
  }
  throw_unless_right(outcomes);
}

}  // namespace cli
