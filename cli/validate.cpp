// `trnsim validate FILE.csv`: published measurements beside the model's.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "analysis/influence.h"
#include "analysis/validation_report.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "hw/params.h"
#include "trnsim/predict.h"
#include "trnsim/settings.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

struct ValidateOptions {
  Settings common;
  std::vector<std::string> files;
  std::string only, fail_above;
  bool sensitivity = false;
};

/// Rows named in --only, in the order of the file; all when it is empty.
std::vector<analysis::Row> choose(std::vector<analysis::Row> rows, const std::string& only) {
  if (only.empty()) return rows;
  std::vector<std::string> ids;
  for (const analysis::Row& row : rows) ids.push_back(row.id);
  std::vector<analysis::Row> chosen;
  for (const std::string& id : base::split(only, ',')) {
    const auto found = std::ranges::find(ids, id);
    if (found == ids.end()) {
      throw Error{Fault::kUsage, "--only", fmt::format("no row has the id '{}'", id), base::suggest_fix(id, ids)};
    }
    chosen.push_back(rows[static_cast<std::size_t>(found - ids.begin())]);
  }
  return chosen;
}

void fail_above(const analysis::ValidationReport& report, const std::string& limit) {
  if (limit.empty()) return;
  const double most = base::parse_real("--fail_above", limit);
  const analysis::KindSummary& all = report.summaries.back();
  if (all.predicted > 0 && all.mean <= most) return;
  throw Error{
      Fault::kCheck, "trnsim validate",
      fmt::format("mean absolute error {:.3g} % of {} predicted rows, allowed {:g} %", all.mean, all.predicted, most),
      "see which rows are off in the table above"};
}

std::vector<analysis::Row> load_rows(const ValidateOptions& options) {
  std::vector<analysis::Row> rows;
  for (const std::string& file : options.files) {
    for (analysis::Row& row : analysis::load_validation(file)) rows.push_back(std::move(row));
  }
  return choose(std::move(rows), options.only);
}

PredictContext context_of(const Settings& common, const std::vector<std::string>& set) {
  return {.machine = hw::machine_file(common.instance_type, set),
          .set = set,
          .exact = common.exact,
          .host_threads = static_cast<int>(common.host_threads)};
}

/// Each row again under each variation, in processes of their own.
analysis::Influence influence_of(const analysis::ValidationReport& report, const std::vector<analysis::Row>& rows,
                                 const Settings& common) {
  std::vector<base::ParamFile> machines;
  for (const std::string& name : hw::machine_names()) machines.push_back(hw::machine_file(name));
  const auto evaluate = [&](std::size_t index, const analysis::Variation& variation) {
    std::vector<std::string> set = common.set;
    set.insert(set.end(), variation.machine.begin(), variation.machine.end());
    analysis::change_stacks(variation.stacks);
    const analysis::Prediction prediction = predict(rows[index], context_of(common, set));
    base::ensure(prediction.value.has_value(), rows[index].id, prediction.skip_reason);
    return *prediction.value;
  };
  const auto processes = common.host_threads > 0 ? static_cast<int>(common.host_threads)
                                                 : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return analysis::study(report, analysis::influential_parameters(machines), evaluate, processes);
}

void validate(const ValidateOptions& options) {
  const Settings& common = options.common;
  const base::Format form = base::parse_format(common.format);
  if (options.sensitivity && form == base::Format::kCsv)
    throw Error{Fault::kUsage, "--sensitivity", "is several tables, and CSV one", "use --format table, md or json"};
  const std::vector<analysis::Row> rows = load_rows(options);
  const PredictContext context = context_of(common, common.set);
  base::Progress progress{"validate", "row", rows.size()};
  std::uint64_t done = 0;
  std::optional<Error> broken;  // a fault of ours must not cost the other rows
  auto report = analysis::validate(rows, [&](const analysis::Row& row) {
    progress.update(done++, row.id);
    try {
      return predict(row, context);
    } catch (const Error& e) {
      if (e.fault() != Fault::kInternal) throw;
      broken = e;
      return analysis::Prediction::skip(fmt::format("ended with an internal error: {}", e.what()));
    }
  });
  progress.finish();
  for (analysis::Comparison& row : report.rows) row.skip_reason = flags_in(row.skip_reason);
  if (options.sensitivity) {
    const analysis::Influence influence = influence_of(report, rows, common);
    if (form != base::Format::kJson) print(to_text(report, common.format) + "\n");
    print(to_text(report, influence, common.format));
  } else {
    print(analysis::to_text(report, common.format));
  }
  if (broken) throw *broken;
  fail_above(report, options.fail_above);
}

}  // namespace

void add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option("FILE", options->files, "tables of the training or the micro schema")->required();
  app.add_option("--only", options->only, "ids of the rows to predict, with commas");
  app.add_option("--fail_above,--fail-above", options->fail_above,
                 "exit 1 when the mean absolute error is above this many per cent");
  app.add_flag("--sensitivity", options->sensitivity,
               "what decides each row: +10 % of each fitted constant, and the share of each mechanism");
  add_settings(app, "validate", options->common);
  app.final_callback([options, &app] {
    settle(app, "validate", options->common);
    validate(*options);
  });
}

}  // namespace cli
