// `trnsim ablate WORKLOAD`: each pass of the compiler off and on: time, memory, the largest batch, the numbers.
#include "trnsim/plans/ablate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/progress.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/option_table.h"
#include "trnsim/run/run.h"

namespace cli {
namespace {

struct AblateOptions {
  trnsim::Settings settings;
  std::string workload, only;
};

/// The small model's numbers with these passes against those with the passes as given.
class NumbersCheck {
 public:
  NumbersCheck(trnsim::SmallTraining training, const runtime::Passes& given)
      : training_{std::move(training)}, expected_{training_(given)} {}

  base::Cell operator()(const trnsim::Job& job) const {
    const std::vector<double> got = training_(job.passes);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - expected_[i]) / std::abs(expected_[i]));
    return {worst, worst == 0 ? "same bits" : fmt::format("{:.1e} off", worst)};
  }

 private:
  const trnsim::SmallTraining training_;
  const std::vector<double> expected_;
};

void ablate(const AblateOptions& options) {
  const base::Format form = base::parse_format(options.settings.output.format);
  if (!options.only.empty()) trnsim::require_choice("--only", options.only, "time|batch|numbers");
  const bool is_graph = trnsim::is_graph_file(options.workload);
  const workloads::Workload workload = trnsim::workload_of(options.workload);
  const trnsim::Job job = projected_job(workload, options.settings);
  const bool trains = !is_graph && !job.generation;
  if (!trains && !options.only.empty() && options.only != "time")
    throw base::Error{base::Fault::kUsage, "--only",
                      is_graph ? "a program has no batch and is not trained" : "requests to a model are not trained",
                      is_graph ? "leave it out, or choose time"
                               : "leave it out, or choose time; estimate compares batches with --batch_size 1..64"};
  std::vector<PassColumn> more;
  const bool all = options.only.empty() && trains;
  if (all || options.only == "batch")
    more.push_back({{"largest_batch", "largest batch"},
                    [](const trnsim::Job& other) { return base::Cell{largest_batch(other)}; }});
  if (all || options.only == "numbers") {
    const auto check = std::make_shared<const NumbersCheck>(small_training(workload, options.settings), job.passes);
    more.push_back({{"numbers", "numbers of the small model, rounded to nearest"},
                    [check](const trnsim::Job& other) { return (*check)(other); }});
  }
  print(pass_table(job, options.settings.machine.exact, more).render(form, columns()));
}

}  // namespace

base::Table pass_table(const trnsim::Job& job, bool exact, const std::vector<PassColumn>& more) {
  std::vector<base::Column> columns{
      {"pass", "pass switched"},     {"device_step_seconds", "step ms"},   {"change_percent", "change %"},
      {"hbm_bytes", "HBM per core"}, {"hbm_traffic_bytes", "HBM traffic"}, {"instructions", ""}};
  for (const PassColumn& column : more) columns.push_back(column.column);
  columns.push_back({"text", "what the pass does"});
  base::Table table{columns};
  const auto bytes = [](double n) { return base::Cell{n, base::readable(n, base::Dimension::kBytes)}; };
  const std::vector<trnsim::PassVariant> all = pass_variants(job);
  base::Progress progress{"passes", "program", all.size()};
  double as_given = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    progress.update(i, all[i].name);
    const trnsim::PassFigures f = pass_figures(all[i].job, exact);
    if (i == 0) as_given = f.seconds;
    const double change = 100 * (f.seconds / as_given - 1);
    std::vector<base::Cell> cells{all[i].name,
                                  base::Cell{f.seconds, fmt::format("{:.2f}", f.seconds * 1e3)},
                                  base::Cell{change, fmt::format("{:+.1f}", change)},
                                  bytes(f.hbm_bytes),
                                  bytes(f.traffic),
                                  f.instructions};
    for (const PassColumn& column : more) cells.push_back(column.cell(all[i].job));
    cells.push_back(all[i].text);
    table.add_row(std::move(cells));
  }
  return table;
}

void add_ablate(CLI::App& app) {
  auto options = std::make_shared<AblateOptions>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, a workload file, or a program (.hlo, .mlir, .pb)")
      ->required();
  app.add_option("--only", options->only, "figures to compute beside time and memory; default: all")
      ->type_name("time|batch|numbers");
  act_with_settings(app, "ablate", options, ablate);
}

}  // namespace cli
