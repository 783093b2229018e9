// What a sweep answers: tables, the best point, what moves what, a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/chart.h"
#include "analysis/report_style.h"
#include "analysis/sweep.h"
#include "analysis/views.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using base::Error;
using base::Fault;

constexpr std::string_view kBusy = "busy.";  // metrics of what may bind, per cent

std::vector<std::string> metric_names(const SweepRun& run) {
  std::set<std::string> names;
  for (const SweepResult& result : run.results) {
    for (const auto& [name, value] : result.metrics) names.insert(name);
  }
  return {names.begin(), names.end()};
}

void require_metric(const SweepRun& run, const std::string& metric) {
  const auto names = metric_names(run);
  if (std::ranges::find(names, metric) != names.end()) return;
  throw Error{Fault::kUsage, "sweep", fmt::format("no point has the metric '{}'", metric),
              names.empty() ? "see the errors of the points in results.csv" : base::suggest_fix(metric, names)};
}

std::string value_of(const SweepPoint& point, const std::string& key) {
  for (const auto& [name, value] : point) {
    if (name == key) return value;
  }
  return "";
}

std::vector<std::string> keys_of(const SweepRun& run) {
  std::vector<std::string> keys;
  for (const SweepResult& result : run.results) {
    for (const auto& [key, value] : result.point) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

std::string name_of(const SweepPoint& point) {
  std::string name;
  for (const auto& [key, value] : point) name += fmt::format("{}{}={}", name.empty() ? "" : ", ", key, value);
  return name.empty() ? "as it is" : name;
}

/// The resource that is busiest, of the metrics "busy.*"; empty when there is none.
std::string binding(const SweepResult& result) {
  std::string name;
  double most = -1;
  for (const auto& [metric, value] : result.metrics) {
    if (!metric.starts_with(kBusy) || value <= most) continue;
    most = value;
    name = metric.substr(kBusy.size());
  }
  return name;
}

std::string plain_table(std::string_view caption, const base::Table& table) {
  std::string out = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>"
      "{0}</caption><thead><tr>",
      escape(caption));
  for (const auto& column : table.columns())
    out += fmt::format("<th scope=\"col\"><button type=\"button\">{}</button></th>",
                       escape(column.title.empty() ? column.key : column.title));
  out += "</tr></thead><tbody>\n";
  for (const auto& row : table.cells()) {
    out += "<tr>";
    for (const Cell& cell : row) {
      if (const auto* real = std::get_if<double>(&cell.value)) {
        out += fmt::format("<td class=\"r\" data-v=\"{}\">{}</td>", *real,
                           escape(cell.text.empty() ? fmt::format("{:.6g}", *real) : cell.text));
      } else if (const auto* text = std::get_if<std::string>(&cell.value)) {
        out += fmt::format("<td>{}</td>", escape(*text));
      } else {
        out += "<td data-v=\"\"></td>";
      }
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string pareto_html(const SweepRun& run) {
  std::vector<Mark> marks;
  for (const SweepResult& result : run.results) {
    const auto x = result.metrics.find("seconds"), y = result.metrics.find("dollars");
    if (x != result.metrics.end() && y != result.metrics.end())
      marks.push_back({name_of(result.point), x->second, y->second});
  }
  if (marks.empty()) return "<p class=\"none\">No point has a time and a price.</p>\n";
  base::Table table{{{"point", ""}, {"seconds", ""}, {"dollars", ""}}};
  std::vector<std::pair<double, double>> line;
  for (const std::size_t i : pareto_front(run, "seconds", "dollars")) {
    const Metrics& m = run.results[i].metrics;
    const double seconds = m.at("seconds"), dollars = m.at("dollars");
    table.add_row({name_of(run.results[i].point), Cell{seconds, readable(seconds, "s")},
                   Cell{dollars, fmt::format("${:.3g}", dollars)}});
    if (seconds > 0 && dollars > 0) line.emplace_back(seconds, dollars);
  }
  return scatter_chart("time against dollars of each point, with the Pareto front", marks, line,
                       {"time of the program", "s", true}, {"dollars", "", true}) +
         plain_table("points that no other beats in time and dollars", table);
}

std::string sensitivity_html(const SweepRun& run) {
  const auto list = sensitivities(run, "seconds");
  if (list.empty()) return "<p class=\"none\">No point leaves everything as it is: use the design one_at_a_time.</p>\n";
  base::Table table{{{"parameter", ""},
                     {"least", "shortest"},
                     {"at_least", "at"},
                     {"most", "longest"},
                     {"at_most", "at"},
                     {"span", "span of the base"}}};
  for (const Sensitivity& s : list) {
    const double span = s.base > 0 ? (s.most - s.least) / s.base * 100 : 0;
    table.add_row({s.key, Cell{s.least, readable(s.least, "s")}, s.at_least, Cell{s.most, readable(s.most, "s")},
                   s.at_most, Cell{span, readable(span, "%")}});
  }
  std::vector<Reach> bars;
  for (const Sensitivity& s : list) bars.push_back({s.key, s.least, s.most});
  return tornado_chart("time when one parameter alone is changed; the line is the machine as it is", bars,
                       list.front().base, {"time of the program", "s"}) +
         plain_table("how far each parameter alone moves the time", table);
}

std::string binding_html(const SweepRun& run) {
  std::map<std::string, double> count;
  for (const SweepResult& result : run.results) {
    if (const std::string name = binding(result); !name.empty()) ++count[name];
  }
  std::vector<std::pair<std::string, double>> parts{count.begin(), count.end()};
  return share_bar("points by the resource that binds them", parts, "1");
}

}  // namespace

base::Table sweep_table(const SweepRun& run) {
  const auto keys = keys_of(run), metrics = metric_names(run);
  std::vector<base::Column> columns;
  for (const std::string& key : keys) columns.push_back({key, ""});
  for (const std::string& metric : metrics) columns.push_back({metric, "", Align::kRight});
  columns.push_back({"binds", ""});
  columns.push_back({"error", ""});
  base::Table table{std::move(columns)};
  for (const SweepResult& result : run.results) {
    std::vector<Cell> cells;
    for (const std::string& key : keys) cells.emplace_back(value_of(result.point, key));
    for (const std::string& metric : metrics) {
      const auto found = result.metrics.find(metric);
      cells.push_back(found == result.metrics.end() ? Cell{}
                                                    : Cell{found->second, fmt::format("{:.6g}", found->second)});
    }
    cells.emplace_back(binding(result));
    cells.emplace_back(result.done ? result.error : "not computed");
    table.add_row(std::move(cells));
  }
  return table;
}

Condition parse_condition(std::string_view text) {
  const std::size_t at = std::min(text.find("<="), text.find(">="));
  if (at == std::string_view::npos || at == 0)
    throw Error{Fault::kUsage, "--subject_to", fmt::format("'{}' is no condition", text), "write \"seconds<=2 ms\""};
  Condition condition{.metric = std::string{text.substr(0, at)}, .at_most = text[at] == '<', .limit = 0};
  while (condition.metric.ends_with(' ')) condition.metric.pop_back();
  condition.limit = base::parse_quantity(text.substr(at + 2), "--subject_to").value;
  return condition;
}

const SweepResult& best_result(const SweepRun& run, const std::string& metric,
                               const std::vector<Condition>& conditions) {
  require_metric(run, metric);
  for (const Condition& condition : conditions) require_metric(run, condition.metric);
  const auto keeps = [](const SweepResult& result, const Condition& condition) {
    const auto found = result.metrics.find(condition.metric);
    if (found == result.metrics.end()) return false;
    return condition.at_most ? found->second <= condition.limit : found->second >= condition.limit;
  };
  const SweepResult* best = nullptr;
  for (const SweepResult& result : run.results) {
    if (!result.metrics.contains(metric)) continue;
    const bool good = std::ranges::all_of(conditions, [&](const Condition& c) { return keeps(result, c); });
    if (good && (best == nullptr || result.metrics.at(metric) < best->metrics.at(metric))) best = &result;
  }
  if (best != nullptr) return *best;
  throw Error{Fault::kCheck, "trnsim sweep", "no point keeps the conditions", "relax --subject_to, or widen the sweep"};
}

std::vector<Sensitivity> sensitivities(const SweepRun& run, const std::string& metric) {
  std::optional<double> base;
  for (const SweepResult& result : run.results) {
    if (result.point.empty() && result.metrics.contains(metric)) base = result.metrics.at(metric);
  }
  if (!base) return {};
  std::map<std::string, Sensitivity> by_key;
  for (const SweepResult& result : run.results) {
    if (result.point.size() != 1 || !result.metrics.contains(metric)) continue;
    const auto& [key, value] = result.point.front();
    Sensitivity& s =
        by_key.try_emplace(key, Sensitivity{key, *base, *base, *base, "as it is", "as it is"}).first->second;
    const double at = result.metrics.at(metric);
    if (at < s.least) std::tie(s.least, s.at_least) = std::tuple{at, value};
    if (at > s.most) std::tie(s.most, s.at_most) = std::tuple{at, value};
  }
  std::vector<Sensitivity> list;
  for (auto& [key, s] : by_key) list.push_back(std::move(s));
  std::ranges::stable_sort(list, std::greater{}, [](const Sensitivity& s) { return s.most - s.least; });
  return list;
}

std::vector<std::size_t> pareto_front(const SweepRun& run, const std::string& first, const std::string& second) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    const Metrics& m = run.results[i].metrics;
    if (m.contains(first) && m.contains(second)) order.push_back(i);
  }
  const auto at = [&](std::size_t i, const std::string& metric) { return run.results[i].metrics.at(metric); };
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair{at(i, first), at(i, second)}; });
  std::vector<std::size_t> front;
  double best = INFINITY;
  for (const std::size_t i : order) {
    if (at(i, second) >= best) continue;
    best = at(i, second);
    front.push_back(i);
  }
  return front;
}

std::string sweep_html(const SweepRun& run, std::string_view title) {
  const auto section = [](std::string_view name, const std::string& body) {
    return fmt::format("<section><h2>{}</h2>\n{}</section>\n", name, body);
  };
  const std::string body = section("Time against dollars", pareto_html(run)) +
                           section("Sensitivity", sensitivity_html(run)) + section("What binds", binding_html(run)) +
                           section("All points", plain_table("every point", sweep_table(run)));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>trnsim sweep: {0}</title>\n<style>{1}</style>"
      "</head>\n<body><main>\n<h1>{0}</h1>\n{2}</main>\n<script>{3}</script></body></html>\n",
      escape(title), kReportStyle, body, kReportScript);
}

}  // namespace analysis
