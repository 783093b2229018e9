// `trnsim sweep FILE.toml`: one workload or program, many machines and options.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>

#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/slurm.h"
#include "cli/verbs.h"
#include "trnsim/plans/advice.h"
#include "trnsim/sweep.h"
#include "trnsim/sweep/sweep_team.h"
#include "trnsim/version.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

struct SweepOptions {
  std::string file, workload, program, machine, design, output_dir = "sweep", minimize, format = "table", shard;
  std::vector<std::string> set, subject_to;
  std::size_t samples = 0;
  std::uint64_t seed = 0;
  std::optional<int> processes;
  std::size_t slurm = 0;
};

analysis::SweepSpec spec_of(const SweepOptions& options) {
  analysis::SweepSpec spec;
  if (!options.file.empty()) spec = analysis::load_sweep(options.file);
  if (!options.program.empty()) spec.program = options.program;
  if (!options.workload.empty()) spec.workload = options.workload;
  if (!options.machine.empty()) spec.machine = options.machine;
  if (!options.design.empty()) spec.design = analysis::parse_design(options.design);
  if (options.samples > 0) spec.samples = options.samples;
  if (options.seed > 0) spec.seed = options.seed;
  for (const std::string& text : options.set) {
    analysis::SweepAxis axis = analysis::parse_axis(text);
    const auto same = std::ranges::find(spec.axes, axis.key, &analysis::SweepAxis::key);
    if (same == spec.axes.end()) {
      spec.axes.push_back(std::move(axis));
    } else {
      *same = std::move(axis);
    }
  }
  if (spec.program.empty() == spec.workload.empty()) {
    throw Error{Fault::kUsage, "trnsim sweep",
                spec.program.empty() ? "has nothing to simulate" : "has a program and a workload",
                "give either --workload bert_emotion or --program step.asm, or one of them in the file"};
  }
  return spec;
}

std::vector<analysis::Condition> conditions_of(const SweepOptions& options) {
  std::vector<analysis::Condition> conditions;
  for (const std::string& text : options.subject_to) conditions.push_back(analysis::parse_condition(text));
  return conditions;
}

/// A misspelt metric shows with the first point that has any, not after a night.
void require_goal(const SweepOptions& options, const analysis::SweepRun& first) {
  const auto conditions = conditions_of(options);
  if (options.minimize.empty() || first.results.front().metrics.empty()) return;
  require_metric(first, options.minimize);
  for (const analysis::Condition& condition : conditions) require_metric(first, condition.metric);
}

void report_best(const analysis::SweepRun& run, const SweepOptions& options) {
  if (options.minimize.empty()) return;
  const auto conditions = conditions_of(options);
  const analysis::SweepResult& best = best_result(run, options.minimize, conditions);
  std::string settings;
  for (const auto& [key, value] : best.point) settings += fmt::format(" --set {}={}", key, value);
  base::log_info("smallest {}: {:.6g} with{}", options.minimize, best.metrics.at(metric_of(run, options.minimize)),
                 settings.empty() ? " the machine as it is" : settings);
}

/// The command line that gives the same points again.
std::vector<std::string> arguments_of(const SweepOptions& options) {
  std::vector<std::string> list = {"sweep"};
  if (!options.file.empty()) list.push_back(options.file);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) list.insert(list.end(), {flag, value});
  };
  add("--workload", options.workload);
  add("--program", options.program);
  add("--machine", options.machine);
  add("--design", options.design);
  if (options.samples > 0) add("--samples", fmt::format("{}", options.samples));
  if (options.seed > 0) add("--seed", fmt::format("{}", options.seed));
  for (const std::string& text : options.set) add("--set", text);
  add("--output_dir", options.output_dir);
  add("--minimize", options.minimize);
  for (const std::string& text : options.subject_to) add("--subject_to", text);
  return list;
}

void print_slurm_script(const SweepOptions& options, const std::vector<analysis::SweepPoint>& points,
                        const analysis::SweepModel& model) {
  for (const analysis::SweepPoint& point : points) model.hash(point);  // mistakes show now, not in the queue
  print(slurm_script(arguments_of(options), std::min(options.slurm, points.size()), options.processes.value_or(1)));
}

analysis::SweepTitle title_of(std::string_view name) {
  std::vector<std::string> words = typed_command();
  words.front() = "trnsim";
  return {.name = std::string{name},
          .command = trnsim::command_with(words, {}, trnsim::FolderIs::kTaken),
          .version = trnsim::version(),
          .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))};
}

/// Writes the results, shows them, says which is best. `before`: points that were computed to try the goal.
void finish_sweep(const analysis::SweepRun& run, const SweepOptions& options, std::size_t before,
                  std::string_view name) {
  const base::Format format = base::parse_format(options.format);
  const std::filesystem::path folder{options.output_dir};
  const base::Table table = sweep_table(run);
  base::write_file(folder / "results.csv", table.render(base::Format::kCsv));
  base::write_file(folder / "sweep.html", sweep_html(run, title_of(name)));
  print(format == base::Format::kTable ? sweep_table(run, true).render(format, columns())
                                       : table.render(format, columns()));
  const auto failed = std::ranges::count_if(run.results, [](const auto& r) { return r.done && !r.error.empty(); });
  base::log_info("{}, {} computed now, {} failed; {}", base::counted(run.results.size(), "point"),
                 before + run.computed, failed, (folder / "results.csv").string());
  if (run.interrupted) return;
  if (static_cast<std::size_t>(failed) == run.results.size())
    throw Error{Fault::kCheck, "trnsim sweep",
                fmt::format("no point could be computed; the first: {}", run.results.front().error),
                "see the column error of results.csv"};
  report_best(run, options);
}

void sweep(const SweepOptions& options) {
  base::parse_format(options.format);
  if (!options.subject_to.empty() && options.minimize.empty())
    throw Error{Fault::kUsage, "--subject_to", "is given without --minimize",
                "name the metric that should be smallest"};
  conditions_of(options);  // invalid conditions and formats show before anything is computed
  const analysis::SweepSpec spec = spec_of(options);
  const auto points = analysis::design_points(spec);
  const std::string machine = spec.machine.empty() && spec.workload.empty() ? "trn1.2xlarge" : spec.machine;
  const analysis::SweepModel model =
      spec.workload.empty() ? program_model(spec.program, machine) : job_model(spec.workload, machine);
  if (options.slurm > 0) return print_slurm_script(options, points, model);
  const analysis::SweepTeam team = options.shard.empty() ? team_of_environment() : team_of_shard(options.shard);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int processes = options.processes.value_or(team.size > 1 ? 1 : cores);
  const std::filesystem::path folder{options.output_dir};
  const base::FolderIfUsed tidy{folder};
  base::make_output_folder(folder, true);
  const std::filesystem::path database = folder / "sweep.sqlite";
  std::size_t before = 0;
  if (!options.minimize.empty() && team.size == 1) {
    const analysis::SweepRun first =
        run_sweep({points.front()}, model, database, 1, team, progress_of("sweep", "point"));
    require_goal(options, first);
    before = first.computed;
  }
  analysis::SweepRun run = run_sweep(points, model, database, processes, team,
                                     team.waits ? progress_of("sweep", "point") : analysis::SweepWatch{});
  for (analysis::SweepResult& result : run.results) result.error = flags_in(result.error);
  if (!team.waits) {
    if (!options.shard.empty())
      base::log_info("shard {}: {} of {} known", options.shard, run.known(), base::counted(points.size(), "point"));
    return;
  }
  finish_sweep(run, options, before, spec.workload.empty() ? spec.program : spec.workload);
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto options = std::make_shared<SweepOptions>();
  app.add_option("FILE", options->file, "sweep file: workload or program, machine, design, [set]");
  app.add_option("--workload", options->workload, "job of trnsim run, compiled and projected for each point");
  app.add_option("--program", options->program, "assembler text of the program (docs/asm.md)");
  app.add_option("--machine,--instance_type", options->machine, "machine or file [the workload's, or trn1.2xlarge]");
  app.add_option("--set", options->set,
                 "KEY=VALUE,VALUE or KEY=0.5x..2x:5 of a machine parameter or an option of the job; repeatable")
      ->expected(1)
      ->take_all();
  app.add_option("--design", options->design, "which points [cartesian]")
      ->type_name("cartesian|list|one_at_a_time|random");
  app.add_option("--samples", options->samples, "points of a random design");
  app.add_option("--seed", options->seed, "seed of a random design");
  app.add_option("--processes", options->processes,
                 "points to compute at the same time [as many as cores; 1 under mpirun, srun and --shard]")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--slurm", options->slurm, "print a script for sbatch that computes the points in this many shards")
      ->check(CLI::PositiveNumber);
  app.add_option("--shard", options->shard,
                 "I/N: compute points together with N - 1 other processes, and write no results");
  app.add_option("--output_dir", options->output_dir, "results.csv, sweep.sqlite (known points), sweep.html")
      ->capture_default_str();
  app.add_option("--minimize", options->minimize, "metric to minimize: cost, time, or a column of results.csv");
  app.add_option("--subject_to", options->subject_to, "condition on the points, as in \"time<=2 h\"; repeatable")
      ->expected(1)
      ->take_all();
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { sweep(*options); });
}

}  // namespace cli
