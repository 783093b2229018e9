// Results of a sweep: tables, the best point, sensitivities, a page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/figures/figure_table.h"
#include "analysis/profile/views.h"
#include "analysis/report/chart.h"
#include "analysis/report/page.h"
#include "analysis/report/report_parts.h"
#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using base::Error;
using base::Fault;

/// The metrics of a table that fits a terminal.
constexpr std::array<std::string_view, 10> kBrief = {"dollars",
                                                     "device_mfu_percent",
                                                     "train_samples_per_second",
                                                     "train_runtime",
                                                     "generate_runtime",
                                                     "time_to_first_token_seconds",
                                                     "time_per_output_token_p50_seconds",
                                                     "tokens_per_second",
                                                     "step_seconds",
                                                     "total_time"};
/// The figure of a program, or of a generation, where a training has another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOthers = {
    {{"train_runtime", "total_time"},
     {"train_runtime", "generate_runtime"},
     {"device_mfu_percent", "mfu_estimated_percent"},
     {"collectives_exposed_seconds", "cc_op_exposed_time"}}};
constexpr std::size_t kMapValues = 40;       // of a key, at most, on the map of binding resources
constexpr std::size_t kNamedPoints = 9;      // of the front, on the picture
constexpr std::string_view kBusy = "busy.";  // metrics of resources that may bind, per cent

std::vector<std::string> metric_names(const SweepRun& run) {
  std::set<std::string> names;
  for (const SweepResult& result : run.results) {
    for (const auto& [name, value] : result.metrics) names.insert(name);
  }
  return {names.begin(), names.end()};
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

/// The name of the part that binds a point: as binding_of() for a job's step; of a program the busiest resource; empty
/// without metrics.
std::string binding(const SweepResult& result) {
  std::vector<Resource> resources;
  for (const auto& [metric, value] : result.metrics) {
    if (!metric.starts_with(kBusy)) continue;
    std::string name = metric.substr(kBusy.size());
    std::ranges::replace(name, '_', ' ');  // "dma engines", as in a run
    resources.push_back({.name = std::move(name), .busy = value});
  }
  if (resources.empty()) return "";
  const auto seconds = [&](const char* name) {
    const auto found = result.metrics.find(name);
    return found == result.metrics.end() ? 0.0 : found->second;
  };
  if (const double step = seconds("step_seconds"); step > 0)
    return binding_of(step, seconds("host_step_seconds"), seconds("device_step_seconds"), resources).name;
  return std::ranges::max_element(resources, {}, &Resource::busy)->name;
}

std::string pareto_html(const SweepRun& run) {
  const std::string time = metric_of(run, "time");
  const std::vector<std::size_t> front = pareto_front(run, time, "dollars");
  std::vector<Mark> marks, others;  // the front's first: they have numbers and names
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    const SweepResult& result = run.results[i];
    const auto x = result.metrics.find(time), y = result.metrics.find("dollars");
    if (x == result.metrics.end() || y == result.metrics.end()) continue;
    const bool best = std::ranges::find(front, i) != front.end();
    (best ? marks : others).push_back({name_of(result.point), x->second, y->second});
  }
  const std::size_t named = std::min(marks.size(), kNamedPoints);
  marks.insert(marks.end(), others.begin(), others.end());
  if (marks.empty()) return "<p class=\"none\">No point has a time and a price.</p>\n";
  base::Table table{{{"time", "", Align::kRight}, {"dollars", "", Align::kRight}, {"point", ""}}};
  std::vector<std::pair<double, double>> line;
  for (const std::size_t i : front) {
    const Metrics& m = run.results[i].metrics;
    const double seconds = m.at(time), dollars = m.at("dollars");
    table.add_row({Cell{seconds, base::duration_text(seconds)}, Cell{dollars, base::money_text(dollars)},
                   name_of(run.results[i].point)});
    if (seconds > 0 && dollars > 0) line.emplace_back(seconds, dollars);
  }
  return scatter_chart("time against dollars of each point, with the Pareto front", marks, line, {"time", "s", true},
                       {"dollars", "$", true}, named) +
         table_html("points that no other point beats in both time and dollars", table);
}

std::string sensitivity_html(const SweepRun& run) {
  const auto list = sensitivities(run, metric_of(run, "time"));
  if (list.empty()) return "";  // of designs that change several at a time
  base::Table table{{{"parameter", ""},
                     {"least", "shortest", Align::kRight},
                     {"at_least", "at", Align::kRight},
                     {"most", "longest", Align::kRight},
                     {"at_most", "at", Align::kRight},
                     {"span", "span of the base", Align::kRight}}};
  for (const Sensitivity& s : list) {
    const double span = s.base > 0 ? (s.most - s.least) / s.base * 100 : 0;
    table.add_row({s.key, Cell{s.least, readable(s.least, "s")}, s.at_least, Cell{s.most, readable(s.most, "s")},
                   s.at_most, Cell{span, readable(span, "%")}});
  }
  std::vector<Reach> bars;
  for (const Sensitivity& s : list) bars.push_back({s.key, s.least, s.most});
  return tornado_chart("time when only one parameter changes; the line is the machine as it is", bars,
                       list.front().base, {"time of the program", "s"}) +
         table_html("how much each parameter alone changes the time", table);
}

/// Values of a key in the order of the points.
std::vector<std::string> axis_values(const SweepRun& run, const std::string& key) {
  std::vector<std::string> list;
  for (const SweepResult& result : run.results) {
    std::string value = value_of(result.point, key);
    if (!value.empty() && std::ranges::find(list, value) == list.end()) list.push_back(std::move(value));
  }
  return list;
}

/// One map of binding resources: rows and columns are values of two keys, `which` the results whose other keys are
/// equal.
struct BindingMap {
  std::pair<std::string, std::vector<std::string>> x, y;  // a key and its values

  std::string html(const std::vector<const SweepResult*>& which, const std::vector<std::string>& resources,
                   const std::string& others) const {
    std::vector<std::vector<int>> cells(y.second.size(), std::vector<int>(x.second.size(), -1));
    std::size_t filled = 0;
    for (const SweepResult* result : which) {
      const auto row = std::ranges::find(y.second, value_of(result->point, y.first));
      const auto column = std::ranges::find(x.second, value_of(result->point, x.first));
      const std::string name = binding(*result);
      if (name.empty() || row == y.second.end() || column == x.second.end()) continue;
      cells[static_cast<std::size_t>(row - y.second.begin())][static_cast<std::size_t>(column - x.second.begin())] =
          static_cast<int>(std::ranges::find(resources, name) - resources.begin());
      ++filled;
    }
    if (filled < x.second.size() * y.second.size() / 2) return "";  // no grid: designs that change one key at a time
    return category_map(
        fmt::format("what binds, by {} and {}{}{}", x.first, y.first, others.empty() ? "" : ", with ", others),
        {y.second, x.second, std::move(cells), resources}, {x.first, ""}, {y.first, ""});
  }
};

/// Maps of binding resources over the two keys with the most values, one for each choice of the other keys' values.
/// Empty when fewer than two keys are varied together, or a list of that length says nothing.
std::string binding_map_html(const SweepRun& run, const std::vector<std::string>& resources) {
  std::vector<std::pair<std::string, std::vector<std::string>>> keys;
  for (const std::string& key : keys_of(run)) keys.emplace_back(key, axis_values(run, key));
  std::erase_if(keys, [](const auto& key) { return key.second.size() < 2 || key.second.size() > kMapValues; });
  std::ranges::stable_sort(keys, std::greater{}, [](const auto& key) { return key.second.size(); });
  if (keys.size() < 2) return "";
  const auto longest = [](const auto& key) { return std::ranges::max(key.second, {}, &std::string::size).size(); };
  constexpr std::size_t kRowName = 11;  // letters beside the map; more have room below it
  if (longest(keys[1]) > kRowName && longest(keys[0]) <= kRowName) std::swap(keys[0], keys[1]);
  const BindingMap map{keys[0], keys[1]};
  std::map<std::string, std::vector<const SweepResult*>> groups;
  for (const SweepResult& result : run.results) {
    SweepPoint others = result.point;
    std::erase_if(others, [&](const auto& one) { return one.first == map.x.first || one.first == map.y.first; });
    groups[others.empty() ? "" : name_of(others)].push_back(&result);
  }
  constexpr std::size_t kMaps = 12;  // more are no picture: the table has all
  if (groups.size() > kMaps) return "";
  std::string out;
  for (const auto& [others, which] : groups) out += map.html(which, resources, others);
  return out;
}

std::string binding_html(const SweepRun& run) {
  std::map<std::string, double> count;
  for (const SweepResult& result : run.results) {
    if (const std::string name = binding(result); !name.empty()) ++count[name];
  }
  const std::vector<std::pair<std::string, double>> parts{count.begin(), count.end()};
  std::vector<std::string> resources;
  for (const auto& [name, points] : parts) resources.push_back(name);
  return share_bar("points by the resource that limits them", parts, "1") + binding_map_html(run, resources);
}

std::string digits(const std::string&, double value) { return fmt::format("{:.6g}", value); }
/// For people: with its unit, where it is a figure of a run.
std::string for_people(const std::string& metric, double value) {
  const Figure* known = find_figure(metric);
  return known ? figure_text(known->unit, value) : digits(metric, value);
}

/// The first `leading` metrics in front of the keys.
base::Table table_of(const SweepRun& run, const std::vector<std::string>& metrics, std::size_t leading = 0,
                     std::string (*text)(const std::string&, double) = digits) {
  const auto keys = keys_of(run);
  std::vector<base::Column> columns;
  for (const std::string& metric : metrics) columns.push_back({metric, "", Align::kRight});
  const auto behind = static_cast<std::ptrdiff_t>(leading);
  std::vector<base::Column> named;
  for (const std::string& key : keys) named.push_back({key, ""});
  columns.insert(columns.begin() + behind, named.begin(), named.end());
  columns.push_back({"binds", ""});
  const bool errors = text == digits || std::ranges::any_of(run.results, [](const SweepResult& r) {
                        return !r.done || !r.error.empty();
                      });
  if (errors) columns.push_back({"error", ""});
  base::Table table{std::move(columns)};
  for (const SweepResult& result : run.results) {
    std::vector<Cell> cells, point;
    for (const std::string& metric : metrics) {
      const auto found = result.metrics.find(metric);
      cells.push_back(found == result.metrics.end() ? Cell{} : Cell{found->second, text(metric, found->second)});
    }
    for (const std::string& key : keys) point.emplace_back(value_of(result.point, key));
    cells.insert(cells.begin() + behind, point.begin(), point.end());
    cells.emplace_back(binding(result));
    if (errors) cells.emplace_back(result.done ? result.error : "not computed");
    table.add_row(std::move(cells));
  }
  return table;
}

/// The metrics of the page, which a reader looks for first; a hundred columns are no page.
constexpr std::array<std::string_view, 11> kFirst = {"train_runtime", "generate_runtime",         "total_time",
                                                     "dollars",       "train_samples_per_second", "tokens_per_second",
                                                     "step_seconds",  "device_step_seconds",      "host_step_seconds",
                                                     "hbm_bytes",     "device_mfu_percent"};

/// Every point with time and dollars in front: on a narrow screen a reader sees them before the rest.
base::Table page_table(const SweepRun& run) {
  std::vector<std::string> metrics = metric_names(run);
  const auto place = [](const std::string& name) { return std::ranges::find(kFirst, name); };
  if (std::ranges::any_of(metrics, [&](const std::string& name) { return place(name) != kFirst.end(); }))
    std::erase_if(metrics, [&](const std::string& name) { return place(name) == kFirst.end(); });
  std::ranges::stable_sort(metrics, {}, place);
  const auto* const dollars = std::ranges::find(kFirst, "dollars");
  const auto leading = std::ranges::count_if(metrics, [&](const std::string& m) { return place(m) <= dollars; });
  return table_of(run, metrics, static_cast<std::size_t>(leading), for_people);
}

}  // namespace

base::Table sweep_table(const SweepRun& run, bool brief) {
  auto metrics = metric_names(run);
  if (brief)
    std::erase_if(metrics, [](const std::string& name) { return std::ranges::find(kBrief, name) == kBrief.end(); });
  return table_of(run, metrics);
}

std::string metric_of(const SweepRun& run, std::string_view name) {
  const auto names = metric_names(run);
  const auto known = [&](std::string_view one) { return std::ranges::find(names, one) != names.end(); };
  const Figure* figure = find_figure(name);
  if (known(name) || !figure) return std::string{name};
  for (const auto& [job, other] : kOthers)
    if (figure->name == job && !known(job) && known(other)) return std::string{other};
  return std::string{figure->name};
}

void require_metric(const SweepRun& run, const std::string& name) {
  const std::string metric = metric_of(run, name);
  const auto names = metric_names(run);
  if (std::ranges::find(names, metric) != names.end()) return;
  throw Error{Fault::kUsage, "sweep", fmt::format("no point has the metric '{}'", metric),
              names.empty() ? "see the errors of the points in results.csv" : base::suggest_fix(metric, names)};
}

Condition parse_condition(std::string_view text) {
  const std::size_t at = std::min(text.find("<="), text.find(">="));
  if (at == std::string_view::npos || at == 0)
    throw Error{Fault::kUsage, "`subject_to`", fmt::format("'{}' is not a condition", text), "write \"time<=2 ms\""};
  Condition condition{.metric = std::string{text.substr(0, at)}, .at_most = text[at] == '<', .limit = 0};
  while (condition.metric.ends_with(' ')) condition.metric.pop_back();
  condition.limit = base::parse_quantity(text.substr(at + 2), "`subject_to`").value;
  return condition;
}

const SweepResult& best_result(const SweepRun& run, const std::string& name, const std::vector<Condition>& conditions) {
  require_metric(run, name);
  for (const Condition& condition : conditions) require_metric(run, condition.metric);
  const std::string metric = metric_of(run, name);
  const auto keeps = [&](const SweepResult& result, const Condition& condition) {
    const auto found = result.metrics.find(metric_of(run, condition.metric));
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
  throw Error{Fault::kCheck, "trnsim sweep", "no point meets the conditions", "relax `subject_to`, or widen the sweep"};
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

std::string sweep_html(const SweepRun& run, const SweepTitle& title) {
  const auto section = [](std::string_view name, const std::string& body) {
    return body.empty() ? "" : fmt::format("<section><h2>{}</h2>\n{}</section>\n", name, body);
  };
  const std::string body =
      section("Time against dollars", pareto_html(run)) + section("Sensitivity", sensitivity_html(run)) +
      section("What binds", binding_html(run)) +
      section("All points", table_html("every point; results.csv has all of its figures", page_table(run)));
  const std::string origin = title.command.empty()
                                 ? ""
                                 : fmt::format("<p class=\"setting\"><code>{}</code> with trnsim {}, {}</p>\n",
                                               command_html(title.command), escape(title.version), escape(title.date));
  return page_html(fmt::format("trnsim sweep: {}", title.name),
                   fmt::format("<h1>{}</h1>\n{}{}", escape(title.name), origin, body));
}

}  // namespace analysis
