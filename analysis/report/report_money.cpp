// Held against what was published, against what else could be done, and against other instances.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sections.h"
#include "base/progress.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using Json = nlohmann::ordered_json;

/// A figure of a job as people read it.
std::string figure_text(std::string_view name, double value) {
  if (name.starts_with("dollars")) return fmt::format("${:.2f}", value);
  if (name == "train_runtime" || name == "compile" || name == "end_to_end") return base::clock_text(value);
  if (name.ends_with("_runtime")) return base::readable(value, base::Dimension::kTime);
  return fmt::format("{:.4g}", value);
}

std::string compiler_bars(const ReportRun& run) {
  const Json compiler = run.result.value("compiler", Json{});
  if (!compiler.is_object() || !compiler.value("cases", Json{}).is_array()) return "";
  std::vector<Bar> bars;
  for (const Json& one : compiler["cases"]) {
    const double rate = one.value("samples_per_second", 0.0);
    bars.push_back({.name = one.value("name", ""),
                    .value = rate,
                    .text = fmt::format("{:.1f} samples/s ({:+.0f} %)", rate, one.value("speed_up_percent", 0.0))});
  }
  return bars_html("what the compiler's passes are worth", bars);
}

/// Each instance that can hold the job, the cheapest first.
std::vector<const CostRow*> by_price(const ReportRun& run) {
  std::vector<const CostRow*> rows;
  for (const CostRow& row : run.costs)
    if (!row.too_small && row.run[0]) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const CostRow* row) { return *row->run[0]; });
  return rows;
}

}  // namespace

std::string flags_of(const Json& settings) {
  std::string out;
  if (!settings.is_object()) return out;
  for (const auto& [name, value] : settings.items())
    out += fmt::format("{}--{} {}", out.empty() ? "" : " ", name,
                       value.is_string() ? value.get<std::string>() : value.dump());
  return out;
}

std::string published_html(const ReportRun& run) {
  base::Table table{{{"figure", ""},
                     {"published", "", Align::kRight},
                     {"predicted", "", Align::kRight},
                     {"error_percent", "error", Align::kRight},
                     {"source", ""}}};
  std::vector<Bar> bars;
  for (const Json& row : run.result.value("published", Json::array())) {
    if (!row.is_object() || !row.value("published", Json{}).is_number() || !row.value("predicted", Json{}).is_number())
      continue;
    const std::string name = row.value("name", "");
    const double error = row.value("error_percent", 0.0), published = row["published"].get<double>(),
                 predicted = row["predicted"].get<double>(), most = std::max(published, predicted);
    table.add_row({name, Cell{published, figure_text(name, published)}, Cell{predicted, figure_text(name, predicted)},
                   Cell{error, fmt::format("{:+.1f} %", error)}, row.value("source", "")});
    if (!(most > 0)) continue;
    bars.push_back(
        {.name = name + ", published", .value = published / most, .text = figure_text(name, published), .css = "soft"});
    bars.push_back({.name = name + ", predicted",
                    .value = predicted / most,
                    .text = fmt::format("{} ({:+.1f} %)", figure_text(name, predicted), error)});
  }
  if (table.rows() == 0) return "";
  return question("how near was the prediction where somebody measured this very job?") +
         bars_html("published and predicted, each pair on a scale of its own", bars) +
         folded("this very job as it was published", table);
}

std::string what_if_html(const ReportRun& run) {
  const std::string why = question("what would help? Each change was projected like the job itself");
  const Json changes = run.result.contains("answer") ? run.result["answer"].value("changes", Json{}) : Json{};
  std::string out = compiler_bars(run);
  if (!changes.is_array())
    return why + out + "<p class=\"none\">No change was tried: the run had no suggestions.</p>\n";
  std::vector<Bar> bars{{.name = "as it is", .value = 100, .text = "100 %", .css = "soft"}};
  for (const Json& change : changes) {
    const double gain = change.value("speed_up_percent", 0.0);
    const Json dollars = change.value("dollars", Json{});
    bars.push_back({.name = flags_of(change.value("settings", Json{})),
                    .value = 100 + gain,
                    .text = fmt::format("{:+.0f} %: {}{}", gain, base::clock_text(change.value("train_runtime", 0.0)),
                                        dollars.is_number() ? fmt::format(", ${:.3f}", dollars.get<double>()) : ""),
                    .css = "best"});
  }
  if (bars.size() == 1)
    return why + out + "<p>Nothing that was projected makes the job faster for the same dollars, or cheaper.</p>\n";
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
                    .value = *one.run[0],
                    .text = fmt::format("${:.2f}, {}", *one.run[0], base::clock_text(one.seconds)),
                    .css = row == best       ? "best"
                           : simulated(&one) ? ""
                                             : "soft"});
  }
  std::string small;
  for (const CostRow& row : run.costs)
    if (row.too_small) small += fmt::format("{}{} x {}", small.empty() ? "" : ", ", row.instances, row.instance_type);
  return question(
             "what does the job cost elsewhere? On demand, from the first step to the last; estimates are what the "
             "accelerator's peaks allow, and are not held against simulated ones") +
         bars_html("dollars of the job on each instance", bars) +
         (small.empty() ? "" : fmt::format("<p>Too small for it: {}.</p>\n", escape(small))) +
         folded("the job on every instance type", cost_table(run.costs, run.efficiency));
}

}  // namespace analysis
