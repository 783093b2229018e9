// `trnsim numerics RUN...`, or `trnsim numerics WORKLOAD --seeds N`: the same training in several number formats: does
// a format cost accuracy?
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analysis/numerics/numerics_study.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/settings.h"
#include "trnsim/run/run.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct NumericsOptions {
  trnsim::Settings settings;
  std::vector<std::string> runs;
  std::string formats = "fp32,bf16,bf16+sr";
  std::int64_t seeds = 0;
};

/// One training of the workload. fp32 is the baseline, so the compiler casts nothing in it.
trnsim::Settings settings_of(const NumericsOptions& options, const std::string& format, std::int64_t seed) {
  trnsim::Settings s = options.settings;
  s.numerics.name = format, s.training.seed = seed, s.machine.mode = "numeric";
  s.given.insert({"numerics", "seed", "mode"});
  if (format == "fp32") s.numerics.auto_cast = "none", s.given.insert("auto_cast");
  s.output.overwrite_output_dir = true;
  return s;
}

std::filesystem::path folder_of(const NumericsOptions& options) {
  const std::string& given = options.settings.output.output_dir;
  if (!given.empty()) return given;
  return std::filesystem::path{"runs"} / ("numerics-" + std::filesystem::path{options.runs.front()}.stem().string());
}

/// Trains every format with every seed, each in a folder of its own. Errors: Fault::kUsage for a folder in use.
std::vector<std::string> train_all(const NumericsOptions& options) {
  const std::filesystem::path folder = folder_of(options);
  if (std::filesystem::exists(folder) && !options.settings.output.overwrite_output_dir)
    throw Error{Fault::kUsage, "--output_dir " + folder.string(), "exists",
                "choose another one, or add --overwrite_output_dir"};
  for (const char* name : {"numerics", "mode"})
    if (options.settings.given.contains(name))
      throw Error{Fault::kUsage, fmt::format("--{}", name), "every format is trained here, in mode numeric",
                  "leave it out; --formats names the formats"};
  if (trnsim::is_graph_file(options.runs.front()))
    throw Error{Fault::kUsage, options.runs.front(), "is a program, which is not trained",
                "use trnsim run --mode numeric: it compares the numbers of one run with a reference's"};
  const workloads::Workload workload = workloads::load_workload(options.runs.front());
  trnsim::Settings settings = options.settings;
  apply_workload(settings, workload, trnsim::WorkloadPart::kTrained);
  if (is_requests(settings))
    throw Error{Fault::kUsage, options.runs.front(), "is made of requests to a model, which are not trained",
                "name a workload that trains"};
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < options.seeds; ++i)
    for (const std::string& format : base::split(options.formats, ',')) {
      const std::int64_t seed = options.settings.training.seed + i;
      const std::filesystem::path one = folder / fmt::format("{}-{}", format, seed);
      const trnsim::RunResult run =
          trnsim::run({.workload = workload,
                       .given = settings_of(options, format, seed),
                       .command = fmt::format("trnsim run {} --mode numeric --numerics {} --seed {}",
                                              options.runs.front(), format, seed),
                       .folder = one});
      if (run.training && run.training->outcome.interrupted)
        throw Error{Fault::kUsage, "trnsim numerics", fmt::format("was interrupted in {}", one.string()),
                    "run it again, with fewer --seeds if it takes too long"};
      base::log_info("{} with seed {}: {}", format, seed, one.string());
      out.push_back(one.string());
    }
  return out;
}

/// Whether a workload is named, and not folders of runs.
bool names_workload(const NumericsOptions& options) {
  return options.runs.size() == 1 &&
         (workloads::names_workload(options.runs.front()) || !std::filesystem::is_directory(options.runs.front()));
}

/// Runs that were trained take no settings; variables of the environment are for those that will be. Errors:
/// Fault::kUsage.
void require_no_settings(const CLI::App& app, const NumericsOptions& options) {
  std::string name = options.seeds > 0 ? "seeds" : "";
  for (const std::string& given : options.settings.given)
    if (given != "format" && app.get_option("--" + given)->count() > 0) name = given;
  if (!name.empty())
    throw Error{Fault::kUsage, "--" + name,
                "applies to a workload, which is still to be trained; these are finished runs",
                "leave it out, or give the name of a workload"};
}

void print_numerics(const CLI::App& app, const NumericsOptions& options) {
  const std::string& format = options.settings.output.format;
  base::parse_format(format);
  std::vector<std::string> folders = options.runs;
  if (names_workload(options)) {
    if (options.seeds < 1)
      throw Error{Fault::kUsage, "--seeds",
                  fmt::format("is missing: it says how often to train {} in each format", options.runs.front()),
                  "add --seeds 6; at least two are needed to tell formats apart"};
    folders = train_all(options);
  } else {
    require_no_settings(app, options);
  }
  std::vector<analysis::TrainedRun> runs;
  for (const std::string& folder : folders) runs.push_back(analysis::read_trained_run(folder));
  print(analysis::numerics_text(runs, format));
}

}  // namespace

void add_numerics(CLI::App& app) {
  auto options = std::make_shared<NumericsOptions>();
  app.add_option("RUN", options->runs,
                 "folders of runs that differ only in --numerics and --seed; or a workload, which is trained --seeds "
                 "times in each of --formats")
      ->required();
  app.add_option("--seeds", options->seeds, "trainings of the workload in each format, from --seed on")
      ->check(CLI::Range(1, 1000));
  app.add_option("--formats", options->formats, "number formats to train in, with commas")->capture_default_str();
  // The training is a run.
  act_with_settings(app, "run", options, [&app](const auto& given) { print_numerics(app, given); });
}

}  // namespace cli
