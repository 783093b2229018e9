#include "trnsim/run/verify_programs.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/process_pool.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/ops/refusals.h"
#include "frontend/stablehlo/reader.h"
#include "hw/params.h"
#include "trnsim/check/codes.h"
#include "trnsim/graphs/checked_graph.h"

namespace trnsim {
namespace {

std::int64_t run(const frontend::Module& module) {
  const frontend::Function& entry = module.entry_function();
  if (entry.parameters > 0)
    throw base::Error{base::Fault::kProgram, module.where(entry),
                      fmt::format("@{} has {} parameters, but no values for them", entry.name, entry.parameters),
                      "make them constants of the program"};
  if (module.replicas * module.partitions > 1) {
    frontend::run_on_processes(module, {{}});
    return 0;
  }
  frontend::Interpreter interpreter{module};
  interpreter.run(module.entry, {});
  return interpreter.checks();
}

void judge(ProgramOutcome& outcome, std::string_view text, const VerifyProgramsOptions& options) {
  const frontend::Module module = frontend::read_stablehlo(text, outcome.file, outcome.line);
  if (!options.reference) {
    for (const frontend::Refusal& refusal : frontend::refusals(module)) {
      outcome.verdict = Verdict::kRefused;
      outcome.code = refusal.rule->code;
      outcome.reason = fmt::format("{}: {}: {}: {}", refusal.where, refusal.op, outcome.code, refusal.rule->what);
      outcome.fix = refusal.rule->fix;
      return;
    }
  }
  static const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  outcome.checks = options.cores ? checks_on_core(module, machine) : run(module);
}

ProgramOutcome outcome_of(const std::string& file, const frontend::ProgramText& program,
                          const VerifyProgramsOptions& options) {
  ProgramOutcome outcome{.file = file, .line = program.line};
  const auto begin = std::chrono::steady_clock::now();
  try {
    judge(outcome, program.text, options);
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::kInternal) throw;
    outcome.verdict = error.fault() == base::Fault::kCheck ? Verdict::kWrong : Verdict::kRefused;
    outcome.code = code_in(error.problem());
    outcome.reason = error.reason();
    outcome.fix = error.fix();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

std::string packed(const ProgramOutcome& o) {
  return nlohmann::json{static_cast<int>(o.verdict), o.checks, o.code, o.reason, o.fix, o.seconds}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void unpack(const std::string& bytes, ProgramOutcome& out) {
  const auto all = nlohmann::json::parse(bytes);
  out.verdict = static_cast<Verdict>(all[0].get<int>());
  out.checks = all[1], out.code = all[2], out.reason = all[3], out.fix = all[4], out.seconds = all[5];
}

/// In a child process, so that a program which ends it ends no other.
std::vector<ProgramOutcome> outcomes_apart(const std::string& file, std::span<const frontend::ProgramText> programs,
                                           const VerifyProgramsOptions& options) {
  std::vector<ProgramOutcome> out;
  base::ProcessPool pool{1, "verify", [&](std::size_t i) { return packed(outcome_of(file, programs[i], options)); }};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    ProgramOutcome& outcome = out.emplace_back(ProgramOutcome{.file = file, .line = programs[i].line});
    pool.order(i);
    std::vector<base::ProcessPool::Answer> answers;
    while (answers.empty()) answers = pool.wait();
    const base::ProcessPool::Answer& answer = answers.front();
    if (!answer.error && answer.death.empty()) {
      unpack(answer.bytes, outcome);
      continue;
    }
    outcome.verdict = Verdict::kRefused;
    outcome.reason = fmt::format(
        "{}:{}: {}", file, outcome.line,
        answer.error ? std::string{answer.error->reason()} : "the process that computed it " + answer.death);
    outcome.fix = "please report this with the program; to go on, compute it without cores";
  }
  return out;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kNames = {"right", "wrong", "refused"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::vector<ProgramOutcome> verify_programs(const std::filesystem::path& file, const VerifyProgramsOptions& options) {
  const std::string content = base::read_file(file);
  std::vector<frontend::ProgramText> programs;
  for (const frontend::ProgramText& program : frontend::split_programs(content))
    if (programs.empty() || program.text.find('@') != std::string_view::npos)  // else comments alone
      programs.push_back(program);
  if (options.cores) return outcomes_apart(file.string(), programs, options);
  std::vector<ProgramOutcome> out;
  for (const frontend::ProgramText& program : programs) out.push_back(outcome_of(file.string(), program, options));
  return out;
}

base::Table table_of(std::span<const ProgramOutcome> outcomes) {
  base::Table table{{{"file", ""},
                     {"line", ""},
                     {"verdict", ""},
                     {"checks", "checks met"},
                     {"code", ""},
                     {"reason", ""},
                     {"fix", ""},
                     {"seconds", ""}}};
  for (const ProgramOutcome& o : outcomes)
    table.add_row(
        {o.file, static_cast<std::int64_t>(o.line), name_of(o.verdict), o.checks, o.code, o.reason, o.fix, o.seconds});
  return table;
}

}  // namespace trnsim
