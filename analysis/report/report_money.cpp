// Comparisons with published figures, with other settings, and with other instances.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/figures/figure_table.h"
#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sections.h"
#include "base/progress.h"
#include "base/text.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;

std::string compiler_bars(const ReportRun& run) {
  if (!run.figures.gain) return "";
  std::vector<Bar> bars;
  for (const CaseFigures& one : run.figures.gain->cases)
    bars.push_back({.name = one.name,
                    .value = one.samples_per_second,
                    .text = fmt::format("{:.1f} samples/s ({:+.0f} %)", one.samples_per_second, one.speed_up_percent)});
  return bars_html("what the compiler's passes are worth", bars);
}

/// Each instance that can hold the job, the cheapest first.
std::vector<const CostRow*> by_price(const ReportRun& run) {
  std::vector<const CostRow*> rows;
  for (const CostRow& row : run.costs)
    if (!row.too_small && row.paid()) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const CostRow* row) { return *row->paid(); });
  return rows;
}

}  // namespace

std::string flags_of(const Named<std::string>& settings) {
  std::string out;
  for (const auto& [name, value] : settings) out += fmt::format("{}--{} {}", out.empty() ? "" : " ", name, value);
  return out;
}

std::string published_html(const ReportRun& run) {
  base::Table table{{{"figure", ""},
                     {"published", "", Align::kRight},
                     {"predicted", "", Align::kRight},
                     {"error_percent", "error", Align::kRight},
                     {"source", ""}}};
  std::vector<Bar> bars;
  for (const PublishedFigure& row : run.figures.published) {
    const Figure* figure = find_figure(row.name);
    const auto text = [&](double value) { return figure_text(figure ? figure->unit : "1", value); };
    const double most = std::max(row.published, row.predicted);
    const std::string error = fmt::format("{:+.1f} %", row.error_percent);
    table.add_row({row.name, Cell{row.published, text(row.published)}, Cell{row.predicted, text(row.predicted)},
                   Cell{row.error_percent, error}, row.source});
    if (!(most > 0)) continue;
    bars.push_back(
        {.name = row.name + ", published", .value = row.published / most, .text = text(row.published), .css = "soft"});
    bars.push_back({.name = row.name + ", predicted",
                    .value = row.predicted / most,
                    .text = fmt::format("{} ({})", text(row.predicted), error)});
  }
  if (table.rows() == 0) return "";
  return question("how near was the prediction to the published measurement of this job?") +
         bars_html("published and predicted, each pair on a scale of its own", bars) +
         folded("this job as it was published", table);
}

std::string what_if_html(const ReportRun& run) {
  const std::string why = question("what would help? Each change was projected like the job itself");
  std::string out = compiler_bars(run);
  if (!run.figures.answer || !run.figures.answer->changes) return out.empty() ? out : why + out;
  std::vector<Bar> bars{{.name = "as it is", .value = 100, .text = "100 %", .css = "soft"}};
  for (const ChangeFigures& change : *run.figures.answer->changes)
    bars.push_back({.name = flags_of(change.settings),
                    .value = 100 + change.speed_up_percent,
                    .text = fmt::format("{:+.0f} %: {}{}", change.speed_up_percent, base::duration_text(change.runtime),
                                        change.dollars ? ", " + base::money_text(*change.dollars) : ""),
                    .css = "best"});
  if (bars.size() == 1)
    return why + out + "<p>No change that was projected makes the job faster for the same dollars, or cheaper.</p>\n";
  return why + bars_html("samples per second with each change alone", bars) + out;
}

std::string cost_html(const ReportRun& run) {
  std::vector<Bar> bars;
  const std::vector<const CostRow*> rows = by_price(run);
  const auto simulated = [](const CostRow* row) { return row->basis != Basis::kRoofline; };
  const auto best = std::ranges::find_if(rows, simulated);
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const CostRow& one = **row;
    const bool given = one.basis == Basis::kGiven;
    std::string name = fmt::format("{} x {}", one.instances, one.instance_type);
    if (row == best) name += ", the cheapest that was simulated";
    if (given) name += ", this job";
    if (one.basis == Basis::kRoofline) name += ", a rough estimate";
    bars.push_back({.name = name,
                    .value = *one.paid(),
                    .text = fmt::format("{}, {}", base::money_text(*one.paid()), base::duration_text(one.seconds)),
                    .css = row == best       ? "best"
                           : simulated(&one) ? ""
                                             : "soft"});
  }
  std::string small;
  for (const CostRow& row : run.costs)
    if (row.too_small) small += fmt::format("{}{} x {}", small.empty() ? "" : ", ", row.instances, row.instance_type);
  return question(
             "what does the job cost on other instances? With this way of buying, from the first step to the last; "
             "estimates are what the accelerator's peaks allow, and cannot be compared with simulated ones") +
         bars_html("dollars of the job on each instance", bars) +
         (small.empty() ? "" : fmt::format("<p>Too small for the job: {}.</p>\n", escape(small))) +
         "<p>For instances with more or other cores, <code>trnsim cost</code> of this folder simulates the job on all "
         "of their cores.</p>\n" +
         folded("the job on every instance type", cost_table(run.costs, run.efficiency));
}

}  // namespace analysis
