// `trnsim sweep FILE.toml`: one program on many machines.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "analysis/stats.h"
#include "analysis/sweep.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "hw/sim_device.h"
#include "isa/asm.h"
#include "isa/check.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct Options {
  std::string file, program, machine, design, output_dir = "sweep", minimize, format = "table";
  std::vector<std::string> set, subject_to;
  std::size_t samples = 0;
  std::uint64_t seed = 0;
  int processes = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
};

analysis::SweepSpec spec_of(const Options& options) {
  analysis::SweepSpec spec;
  if (!options.file.empty()) spec = analysis::load_sweep(options.file);
  if (!options.program.empty()) spec.program = options.program;
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
  if (spec.program.empty()) {
    throw Error{Fault::kUsage, "trnsim sweep", "has no program to simulate",
                "write program = \"step.asm\" into the file, or give --program"};
  }
  return spec;
}

std::vector<std::string> overrides(const analysis::SweepPoint& point) {
  std::vector<std::string> list;
  for (const auto& [key, value] : point) list.push_back(key + "=" + value);
  return list;
}

analysis::Metrics metrics_of(const hw::SimResult& result, const isa::Program& program,
                             const hw::MachineParams& machine) {
  const analysis::Utilisation u = analysis::utilisation(result, program);
  analysis::Metrics metrics = {
      {"seconds", u.seconds}, {"dollars", u.seconds / 3600 * machine.price_on_demand.value},
      {"mfu", u.mfu},         {"hfu", u.hfu},
      {"mbu", u.mbu},         {"collectives_exposed_seconds", hw::seconds(result.collective_exposed)}};
  for (const analysis::Resource& resource : analysis::resources(result)) {
    std::string name = "busy." + resource.name;
    std::ranges::replace(name, ' ', '_');
    metrics[name] = resource.busy;
  }
  return metrics;
}

/// The program on a machine with the point's changes.
analysis::SweepModel model_of(const isa::Program& program, const std::string& text, const std::string& machine) {
  const std::uint64_t base = base::hash64(text, base::hash64(version_line()));
  return {.hash =
              [base, machine](const analysis::SweepPoint& point) {
                const std::uint64_t hash = hw::load_machine(machine, overrides(point)).hash;
                return base::hash64(base::hash_text(hash), base);
              },
          .evaluate =
              [&program, machine](const analysis::SweepPoint& point) {
                const hw::MachineParams params = hw::load_machine(machine, overrides(point));
                return metrics_of(hw::simulate(program, params), program, params);
              }};
}

void report_best(const analysis::SweepRun& run, const Options& options) {
  if (options.minimize.empty()) return;
  std::vector<analysis::Condition> conditions;
  for (const std::string& text : options.subject_to) conditions.push_back(analysis::parse_condition(text));
  const analysis::SweepResult& best = best_result(run, options.minimize, conditions);
  std::string settings;
  for (const auto& [key, value] : best.point) settings += fmt::format(" --set {}={}", key, value);
  base::log_info("smallest {}: {:.6g} with{}", options.minimize, best.metrics.at(options.minimize),
                 settings.empty() ? " the machine as it is" : settings);
}

void sweep(const Options& options) {
  const base::Format format = base::parse_format(options.format);
  if (!options.subject_to.empty() && options.minimize.empty())
    throw Error{Fault::kUsage, "--subject_to", "is given without --minimize", "say what should be smallest"};
  const analysis::SweepSpec spec = spec_of(options);
  const auto points = analysis::design_points(spec);
  const std::string text = base::read_file(spec.program);
  const isa::Program program = isa::parse_program(text, spec.program);
  isa::check(program);
  const std::filesystem::path folder{options.output_dir};
  base::make_output_folder(folder, true);
  const analysis::SweepRun run =
      run_sweep(points, model_of(program, text, spec.machine), folder / "sweep.sqlite", options.processes);
  const base::Table table = sweep_table(run);
  base::write_file(folder / "results.csv", table.render(base::Format::kCsv));
  base::write_file(folder / "sweep.html", sweep_html(run, spec.program));
  print(table.render(format));
  const auto failed = std::ranges::count_if(run.results, [](const auto& r) { return r.done && !r.error.empty(); });
  base::log_info("{} points, {} computed now, {} failed; {}", points.size(), run.computed, failed,
                 (folder / "results.csv").string());
  if (!run.interrupted) report_best(run, options);
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "sweep file: program, machine, design, [set]");
  app.add_option("--program", options->program, "assembler text of the program (docs/asm.md)");
  app.add_option("--machine,--instance_type", options->machine, "machine or file [trn1.2xlarge]");
  app.add_option("--set", options->set, "KEY=VALUE,VALUE of a machine parameter, or KEY=0.5x..2x:5; repeatable")
      ->expected(1)
      ->take_all();
  app.add_option("--design", options->design, "which points [cartesian]")
      ->type_name("cartesian|list|one_at_a_time|random");
  app.add_option("--samples", options->samples, "points of a random design");
  app.add_option("--seed", options->seed, "of a random design");
  app.add_option("--processes", options->processes, "points at the same time")->capture_default_str();
  app.add_option("--output_dir", options->output_dir, "results.csv, sweep.sqlite (known points), sweep.html")
      ->capture_default_str();
  app.add_option("--minimize", options->minimize, "metric whose smallest value is sought, as in dollars");
  app.add_option("--subject_to", options->subject_to, "condition on it, as in \"seconds<=2 ms\"; repeatable")
      ->expected(1)
      ->take_all();
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { sweep(*options); });
}

}  // namespace cli
