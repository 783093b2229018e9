// `trnsim validate FILE.csv`: published measurements beside the model's.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/validation_report.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "base/table.h"
#include "cli/machine.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/predict.h"
#include "cli/train_options.h"
#include "cli/verbs.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct ValidateOptions {
  TrainOptions common;
  std::vector<std::string> files;
  std::string only, fail_above;
};

/// Rows named in --only, in the order of the file; all when it is empty.
std::vector<analysis::Row> choose(std::vector<analysis::Row> rows, const std::string& only) {
  if (only.empty()) return rows;
  std::vector<std::string> ids;
  for (const analysis::Row& row : rows) ids.push_back(row.id);
  std::vector<analysis::Row> chosen;
  for (std::size_t begin = 0; begin <= only.size();) {
    const std::size_t end = std::min(only.find(',', begin), only.size());
    const std::string id = only.substr(begin, end - begin);
    const auto found = std::ranges::find(ids, id);
    if (found == ids.end()) {
      throw Error{Fault::kUsage, "--only", fmt::format("no row has the id '{}'", id), base::suggest_fix(id, ids)};
    }
    chosen.push_back(rows[static_cast<std::size_t>(found - ids.begin())]);
    begin = end + 1;
  }
  return chosen;
}

void fail_above(const analysis::ValidationReport& report, const std::string& limit) {
  if (limit.empty()) return;
  const double most = parse_real("--fail-above", limit);
  const analysis::KindSummary& all = report.summaries.back();
  if (all.predicted > 0 && all.mean <= most) return;
  throw Error{
      Fault::kCheck, "trnsim validate",
      fmt::format("mean absolute error {:.3g} % of {} predicted rows, allowed {:g} %", all.mean, all.predicted, most),
      "see which rows are off in the table above"};
}

void validate(const ValidateOptions& options) {
  base::parse_format(options.common.format);
  std::vector<analysis::Row> rows;
  for (const std::string& file : options.files) {
    for (analysis::Row& row : analysis::load_validation(file)) rows.push_back(std::move(row));
  }
  rows = choose(std::move(rows), options.only);
  const PredictContext context{.machine = load_machine(options.common.instance_type, options.common.set),
                               .set = options.common.set,
                               .exact = options.common.exact,
                               .host_threads = static_cast<int>(options.common.host_threads)};
  base::Progress progress{"validate", "row", rows.size()};
  std::uint64_t done = 0;
  const auto report = analysis::validate(rows, [&](const analysis::Row& row) {
    progress.update(done++, row.id);
    return base::interrupted() ? analysis::Prediction::skip("interrupted") : predict(row, context);
  });
  progress.finish();
  print(analysis::to_text(report, options.common.format));
  fail_above(report, options.fail_above);
}

}  // namespace

void add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option("FILE", options->files, "tables of the training or the micro schema")->required();
  app.add_option("--only", options->only, "ids of the rows to predict, with commas");
  app.add_option("--fail-above", options->fail_above,
                 "exit 1 when the mean absolute error is above this many per cent");
  add_train_options(app, "validate", options->common);
  app.final_callback([options, &app] {
    settle(app, "validate", options->common);
    validate(*options);
  });
}

}  // namespace cli
