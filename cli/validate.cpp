// `trnsim validate FILE.csv`: published measurements beside the model's.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analysis/neuron_tools/neuron_profile.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "validation/predict/validate.h"
#include "validation/rows/profile_rows.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

struct ValidateOptions {
  Settings common;
  std::vector<std::string> files;
  std::string only, fail_above, run;
  bool sensitivity = false;
};

void fail_above(const validation::ValidationReport& report, const std::string& limit) {
  const std::optional<double> most = percent_allowed(limit);
  const validation::KindSummary& all = report.summaries.back();
  if (!most || (all.predicted > 0 && all.mean <= *most)) return;
  throw Error{Fault::kCheck, "trnsim validate",
              fmt::format("mean absolute error {:.3g} % of {}, allowed {:g} %", all.mean,
                          base::counted(all.predicted, "predicted row"), *most),
              "see which rows are off in the table above"};
}

/// A run's figures beside those of profiles of the device.
void validate_profiles(const ValidateOptions& options) {
  if (options.sensitivity || !options.only.empty())
    throw Error{Fault::kUsage, options.sensitivity ? "--sensitivity" : "--only",
                "applies to tables, and these are profiles", "leave it out, or leave out --run"};
  const analysis::Record run = analysis::read_record(options.run);
  validation::ProfileRows all;
  for (const std::string& file : options.files) {
    auto some = validation::profile_rows(analysis::compare(run, analysis::read_neuron_profile(file), file));
    all.rows.insert(all.rows.end(), some.rows.begin(), some.rows.end());
    all.predicted.merge(some.predicted);
  }
  const validation::ValidationReport report = validation::validate(all.rows, [&](const validation::Row& row) {
    return validation::Prediction{.value = all.predicted.at(row.id), .skip_reason = {}, .assumptions = {}, .time = {}};
  });
  print(validation::to_text(report, options.common.output.format));
  fail_above(report, options.fail_above);
}

void validate(const ValidateOptions& options) {
  if (!options.run.empty()) return validate_profiles(options);
  const Settings& common = options.common;
  const base::Format form = base::parse_format(common.output.format);
  if (options.sensitivity && form == base::Format::kCsv)
    throw Error{Fault::kUsage, "--sensitivity", "has several tables, and CSV holds one",
                "use --format table, md or json"};
  const std::vector<std::filesystem::path> files{options.files.begin(), options.files.end()};
  const auto only = options.only.empty() ? std::vector<std::string>{} : base::split(options.only, ',');
  const std::vector<validation::Row> rows = validation::load_rows(files, only);
  base::Progress progress{"validate", "row", rows.size()};
  const validation::PredictContext context = validation::predict_context(common);
  auto [report, broken] =
      validation::validate(rows, context, [&](std::size_t done, const std::string& id) { progress.update(done, id); });
  progress.finish();
  for (validation::Comparison& row : report.rows) row.skip_reason = flags_in(row.skip_reason);
  if (options.sensitivity) {
    const validation::Influence influence =
        influence_of(report, rows, common, context, progress_of("sensitivity", "point"));
    if (form != base::Format::kJson) print(validation::to_text(report, common.output.format) + "\n");
    print(validation::to_text(report, influence, common.output.format));
  } else {
    print(validation::to_text(report, common.output.format));
  }
  if (broken) throw *broken;
  fail_above(report, options.fail_above);
}

}  // namespace

void add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option("FILE", options->files, "tables of the training or the micro schema; with --run profiles")->required();
  app.add_option(
      "--run", options->run,
      "folder of a run, whose figures are compared with those of profiles (neuron-profile view --output-format json)");
  app.add_option("--only", options->only, "ids of the rows to predict, with commas");
  app.add_option("--fail_above,--fail-above", options->fail_above,
                 "exit 1 when the mean absolute error is larger, as in 15%");
  app.add_flag("--sensitivity", options->sensitivity,
               "print what decides each row: +10 % of each fitted constant, and the share of each mechanism");
  add_settings(app, "validate", options->common);
  app.final_callback([options, &app] {
    finish_settings(app, "validate", options->common);
    validate(*options);
  });
}

}  // namespace cli
