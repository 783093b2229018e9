// `trnsim compare A B`: the changes from one run to another, or to a profile of the device.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analysis/neuron_tools/neuron_profile.h"
#include "analysis/profile/views.h"
#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct CompareOptions {
  std::string before, after, fail_above, format = "table";
  std::size_t ops = 20;
};

/// Two runs of other machines or workloads may be compared, but not without notice.
void log_differences(const analysis::Record& before, const analysis::Record& after) {
  const auto differs = [](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b) base::log_info("the runs differ in {}: {} and {}", what, a, b);
  };
  differs("workload", before.info.workload, after.info.workload);
  differs("instance type", before.info.instance_type, after.info.instance_type);
  if (before.info.machine_hash != after.info.machine_hash)
    base::log_info("the runs are of machines with different parameters");
}

void fail_above(const analysis::Difference& total, std::optional<double> most) {
  if (!most || total.percent() <= *most) return;
  throw Error{Fault::kCheck, "trnsim compare",
              fmt::format("the step takes {:.1f} % longer than before, allowed {:g} %", total.percent(), *most),
              "see which phases, engines and ops grew in the table above"};
}

/// Nothing where there are records alone.
std::vector<analysis::Difference> jobs(const std::filesystem::path& before, const std::filesystem::path& after) {
  for (const auto& folder : {before, after})
    if (!std::filesystem::exists(folder / "result.json")) return {};
  return analysis::compare_jobs(analysis::read_result(before), analysis::read_result(after));
}

bool is_profile(const std::filesystem::path& path) { return path.extension() == ".json"; }

void compare_profile(const CompareOptions& options, base::Format format, std::optional<double> most) {
  const analysis::Record run = analysis::read_record(options.before);
  const auto differences = analysis::compare(run, analysis::read_neuron_profile(options.after), options.after);
  print(difference_table(differences, options.ops).render(format));
  if (!differences.empty()) fail_above(differences.front(), most);
}

/// Whether the run trained and simulated no step of a job.
bool trained_alone(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "result.json") && !std::filesystem::exists(folder / "run.sqlite") &&
         analysis::read_result(folder).training.has_value();
}

/// Scores and losses; of runs of which one has no simulated step.
void compare_trainings(const CompareOptions& options, base::Format format, std::optional<double> most) {
  if (most)
    throw Error{Fault::kUsage, "--fail_above", "compares a device step of each run, and one run simulated none",
                "leave it out, or run both without --mode numeric"};
  const analysis::ReportRun before = analysis::load_report_run(options.before, {}, 0),
                            after = analysis::load_report_run(options.after, {}, 0);
  print(difference_table(compare_runs(before, after), options.ops).render(format, columns()));
}

void compare(const CompareOptions& options) {
  const base::Format format = base::parse_format(options.format);
  const std::optional<double> most = percent_allowed(options.fail_above);
  if (is_profile(options.after)) return compare_profile(options, format, most);
  if (trained_alone(options.before) || trained_alone(options.after)) return compare_trainings(options, format, most);
  const analysis::Record before = analysis::read_record(options.before);
  const analysis::Record after = analysis::read_record(options.after);
  log_differences(before, after);
  const std::vector<analysis::Difference> steps = analysis::compare(before, after);
  std::vector<analysis::Difference> differences = jobs(options.before, options.after);
  differences.insert(differences.end(), steps.begin(), steps.end());
  print(difference_table(differences, options.ops).render(format, columns()));
  fail_above(steps.front(), most);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("A", options->before, "folder of the run before")->required();
  app.add_option("B", options->after, "folder of the run after, or output of neuron-profile view --output-format json")
      ->required();
  app.add_option("--fail_above,--fail-above", options->fail_above,
                 "exit 1 when the device's step got slower by more, as in 5%");
  app.add_option("--ops", options->ops, "number of ops to show, the largest changes first; 0: all")
      ->capture_default_str();
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { compare(*options); });
}

}  // namespace cli
