#include "trnsim/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/text.h"
#include "frontend/lower/lower.h"
#include "runtime/compiler/compile.h"
#include "trnsim/check/codes.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/projection.h"
#include "trnsim/run/run.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Fault;

constexpr double kGigabyte = 1e9;

/// A finding from an error: a program that does not fit or breaks a rule fails; a limit of trnsim's own is a note.
Finding finding_of(const Error& error, std::string topic) {
  if (error.fault() == Fault::kInternal || error.fault() == Fault::kEnvironment) throw error;
  std::string code = code_in(error.problem());
  const bool capacity = error.fault() == Fault::kCapacity;
  if (capacity && code.empty()) code = "EOOM001";
  if (capacity) topic = "device memory";
  return {std::move(topic), Concern::kFails, code, std::string{error.reason()}, std::string{error.fix()}};
}

void check_memory(const frontend::LoweredGraph& lowered, const hw::MachineParams& machine, std::vector<Finding>& out) {
  const runtime::Compiled least = runtime::compile(lowered.graph, machine.target(),
                                                   {.name = "check",
                                                    .ranks = static_cast<std::uint32_t>(lowered.ranks),
                                                    .give_up = [](const auto&) { return true; }});
  const auto have = static_cast<double>(machine.hbm_bytes_per_core()), need = static_cast<double>(least.memory.total);
  std::string kinds;
  for (const auto& [kind, bytes] : least.memory.bytes_by_kind)
    kinds += fmt::format("{}{} {:.2f}", kinds.empty() ? "" : ", ", kind, static_cast<double>(bytes) / kGigabyte);
  const bool fits = need <= have;
  out.push_back(
      {"device memory", fits ? Concern::kFine : Concern::kFails, fits ? "" : "EOOM001",
       fmt::format("needs at least {:.2f} of the {:.2f} GB of a core ({})", need / kGigabyte, have / kGigabyte, kinds),
       fits ? "" : std::string{compiler_code("EOOM001").fix}});
}

/// The compiler's work, as of a first graph of the default stack.
void check_compile(const frontend::LoweredGraph& lowered, std::vector<Finding>& out) {
  constexpr double kTileFlops = 2.0 * 128 * 128 * 512;
  const analysis::Stack stack = analysis::load_stack("torch-xla");
  const CompilerWork work{.operations = static_cast<double>(lowered.operations), .tiles = lowered.flops / kTileFlops};
  const double limit = stack.compile_instructions.value;
  if (work.tiles > limit)
    out.push_back({"compiler", Concern::kFails, "EBVF030",
                   fmt::format("{:.3g} matmuls of 128 x 128 x 512 alone; a module may have {:.3g} instructions",
                               work.tiles, limit),
                   std::string{compiler_code("EBVF030").fix}});
  out.push_back({"graphs", Concern::kNote, "",
                 fmt::format("one graph of {}, compiled in about {:.0f} s",
                             base::counted(static_cast<std::int64_t>(lowered.operations), "operation"),
                             compile_seconds(stack, work)),
                 ""});
}

void check_host(const frontend::Module& module, const frontend::LoweredGraph& lowered, const hw::MachineParams& machine,
                std::vector<Finding>& out) {
  double bytes = 0;
  for (const frontend::Type& type : module.entry_function().parameter_types())
    if (type.is_tensor())
      bytes += static_cast<double>(frontend::element_count(type.dims)) *
               static_cast<double>(frontend::stored_bytes(type.element));
  const auto processes = static_cast<double>(std::min<std::int64_t>(lowered.ranks, machine.instance_cores()));
  const double need = bytes * processes, have = machine.host_memory.value;
  const bool fits = have <= 0 || need <= have;
  out.push_back({"host memory", fits ? Concern::kFine : Concern::kFails, fits ? "" : "F137",
                 fmt::format("{:.2f} GB of inputs of {:.0f} processes; the host has {:.0f} GB", need / kGigabyte,
                             processes, have / kGigabyte),
                 fits ? "" : std::string{compiler_code("F137").fix}});
}

void check_lowered(const frontend::Module& module, const hw::MachineParams& machine, std::vector<Finding>& out) {
  std::optional<frontend::LoweredGraph> lowered;
  try {
    lowered.emplace(frontend::lower(module, as_compiled()));
  } catch (const frontend::RefusedLoop& error) {
    out.push_back({"compiler", Concern::kFails, "", std::string{error.reason()}, std::string{error.fix()}});
    return;
  } catch (const Error& error) {
    if (error.fault() != Fault::kProgram) throw;
    const std::string code = code_in(error.problem());
    const bool known = std::ranges::any_of(out, [&](const Finding& f) { return !code.empty() && f.code == code; });
    if (!known)
      out.push_back({"compiler", code.empty() ? Concern::kNote : Concern::kFails, code,
                     fmt::format("{}{}", code.empty() ? "trnsim cannot time it: " : "", error.reason()),
                     std::string{error.fix()}});
    return;
  }
  check_memory(*lowered, machine, out);
  check_host(module, *lowered, machine, out);
  check_compile(*lowered, out);
}

hw::MachineParams checked_machine(const Settings& settings) {
  return hw::load_machine(settings.machine.instance_type.empty() ? "trn1.32xlarge" : settings.machine.instance_type,
                          settings.machine.set);
}

// ---- a job

void check_figures(const RunResult& run, std::vector<Finding>& out) {
  const Projection& p = *run.projection;
  const CompileCost compile = compile_cost(*run.job, p);
  const bool many = compile.instructions > compile.limit, full = compile.host_bytes > compile.host_capacity;
  out.push_back(
      {"compiler", many ? Concern::kFails : Concern::kFine, many ? "EBVF030" : "",
       fmt::format("{:.0f} instructions in the largest module, of {:.0f} allowed", compile.instructions, compile.limit),
       many ? std::string{compiler_code("EBVF030").fix} : ""});
  const double free = 1 - static_cast<double>(p.memory.total) / static_cast<double>(p.memory.capacity);
  out.push_back(
      {"device memory",
       free < 0      ? Concern::kFails
       : free < 0.05 ? Concern::kRisk
                     : Concern::kFine,
       free < 0 ? "EOOM001" : "",
       fmt::format("{:.2f} of {:.2f} GB used on the fullest core", static_cast<double>(p.memory.total) / kGigabyte,
                   static_cast<double>(p.memory.capacity) / kGigabyte),
       free < 0.05 ? std::string{compiler_code("EOOM001").fix} : ""});
  out.push_back({"host memory", full ? Concern::kFails : Concern::kFine, full ? "F137" : "",
                 fmt::format("{:.1f} GB of weights in all processes of an instance, which has {:.0f} GB",
                             compile.host_bytes / kGigabyte, compile.host_capacity / kGigabyte),
                 full ? std::string{compiler_code("F137").fix} : ""});
  const std::size_t lengths = std::max<std::size_t>(p.lengths.size(), 1);
  out.push_back({"graphs", Concern::kNote, "",
                 fmt::format("{}, compiled in {:.0f} s once, {:.0f} s of it until the first step",
                             base::counted(static_cast<std::int64_t>(lengths * p.stages.size()), "graph"),
                             compile.cold_seconds, compile.first_seconds),
                 ""});
  out.push_back(
      {"start", Concern::kNote, "",
       fmt::format("{:.1f} s until cached graphs are loaded; a checkpoint takes {:.1f} s, reading one {:.1f} s",
                   compile.warm_seconds, p.time.checkpoint, p.time.restore),
       ""});
  out.push_back(
      {"collectives", Concern::kFine, "",
       fmt::format("one program for all {} of each stage: one order", base::counted(run.job->cores(), "core")), ""});
}

void check_formats(const RunResult& run, std::vector<Finding>& out) {
  const runtime::Numerics& n = run.job->step.plan.numerics;
  const bool rounds = n.rounding == isa::Rounding::kStochastic;
  if (n.weight == isa::Dtype::kBf16 && !rounds && !run.job->step.plan.master_weights && !run.job->generation)
    out.push_back({"numbers", Concern::kRisk, "",
                   "weights in bf16 without stochastic rounding or master weights: updates below 1/256 of a weight are "
                   "lost",
                   "add +sr to `numerics`, or use `optimizer_use_master_weights`"});
  else
    out.push_back({"numbers", Concern::kFine, "", fmt::format("{}: nothing known against it", n.name), ""});
}

}  // namespace

std::string_view name_of(Concern concern) {
  static constexpr std::array<std::string_view, 4> kNames{"fine", "note", "risk", "fails"};
  return kNames.at(static_cast<std::size_t>(concern));
}

Concern CheckResult::worst() const {
  Concern out = Concern::kFine;
  for (const Finding& one : findings) out = std::max(out, one.concern);
  return out;
}

CheckResult check_file(const fs::path& file, const Settings& settings) {
  CheckResult out{.target = file.string(), .findings = {}};
  try {
    const frontend::Module module = load_graph(file);
    const hw::MachineParams machine = checked_machine(settings);
    check_operations(module, static_cast<std::int64_t>(machine.generation.value), out.findings);
    check_collectives(module, out.findings);
    check_numbers(module, out.findings);
    check_lowered(module, machine, out.findings);
  } catch (const Error& error) {
    if (error.fault() == Fault::kData && !fs::exists(file)) throw;
    out.findings.push_back(finding_of(error, "compiler"));
  }
  return out;
}

std::vector<CheckResult> check_folder(const fs::path& folder, const Settings& settings) {
  std::vector<CheckResult> out;
  std::set<std::string> names;
  double seconds = 0;
  for (const CachedProgram& program : cached_programs(folder)) {
    out.push_back(check_file(program.file, settings));
    names.insert(program.name.substr(0, program.name.find('+')));
    ++seconds;
  }
  const auto graphs = static_cast<std::int64_t>(out.size());
  constexpr std::int64_t kMany = 50;
  out.push_back({.target = folder.string(),
                 .findings = {{"graphs", graphs > kMany ? Concern::kRisk : Concern::kNote, "",
                               fmt::format("{}, {} without their flags", base::counted(graphs, "graph"), names.size()),
                               graphs > kMany ? "pad inputs to a few shapes: each new one is compiled again" : ""}}});
  return out;
}

CheckResult check_workload(const workloads::Workload& workload, const Settings& settings) {
  CheckResult out{.target = workload.name, .findings = {}};
  try {
    Settings given = settings;
    RunRequest request{.workload = workload, .given = std::move(given), .command = "", .folder = {}};
    request.workload.options["suggestions"] = "0";
    const RunResult run = projected_run(request);
    check_figures(run, out.findings);
    check_formats(run, out.findings);
  } catch (const Error& error) {
    if (error.fault() == Fault::kUsage || error.fault() == Fault::kData) throw;
    out.findings.push_back(finding_of(error, "compiler"));
  }
  return out;
}

base::Table table_of(const std::vector<CheckResult>& results) {
  base::Table table{{{"target", ""}, {"topic", ""}, {"verdict", ""}, {"code", ""}, {"evidence", ""}, {"fix", ""}}};
  for (const CheckResult& result : results)
    for (const Finding& one : result.findings)
      table.add_row({result.target, one.topic, name_of(one.concern), one.code, one.text, one.fix});
  return table;
}

}  // namespace trnsim
