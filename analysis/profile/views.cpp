#include "analysis/profile/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/figures/figure_table.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using base::Dimension;

base::Table group_table(By by, std::string_view name, const Record& record, std::size_t limit) {
  const bool calls = by == By::kLayer || by == By::kPhase || by == By::kBlock;
  base::Table table{{{std::string{name}, ""},
                     {calls ? "calls" : "instructions", "", Align::kRight},
                     {calls ? "seconds" : "busy_seconds", calls ? "time" : "busy", Align::kRight},
                     {"waiting_seconds", "engines waited", Align::kRight},
                     {"share_percent", "share", Align::kRight}}};
  const std::vector<Group> groups = time_by(by, record.result, record.program);
  for (const Group& g : groups) {
    if (limit > 0 && table.rows() == limit) break;
    table.add_row({g.key, g.count, Cell{g.busy, readable(g.busy, "s")}, Cell{g.waiting, readable(g.waiting, "s")},
                   Cell{g.share, readable(g.share, "%")}});
  }
  return table;
}

base::Table collective_table(const Record& record, std::size_t limit) {
  base::Table table{{{"collective", ""},
                     {"count", "", Align::kRight},
                     {"bytes", "bytes per rank", Align::kRight},
                     {"active_seconds", "active", Align::kRight},
                     {"queued_seconds", "queued", Align::kRight},
                     {"sent_bytes_per_second", "sent by a rank", Align::kRight}}};
  for (const CollectiveGroup& g : collectives_by_kind(record.result)) {
    if (limit > 0 && table.rows() == limit) break;
    table.add_row({g.key, g.count, Cell{g.bytes, readable(g.bytes, "B")}, Cell{g.active, readable(g.active, "s")},
                   Cell{g.queued, readable(g.queued, "s")}, Cell{g.bandwidth, readable(g.bandwidth, "B/s")}});
  }
  return table;
}

using Seconds = std::map<std::string, double>;

Seconds seconds_by(By by, const Record& record) {
  Seconds figures;
  for (const Group& group : time_by(by, record.result, record.program)) figures[group.key] = group.busy;
  return figures;
}

/// The waits of all engines together.
Seconds waiting_by_cause(const hw::SimResult& result) {
  Seconds figures;
  for (const hw::EngineTime& engine : result.engines)
    for (int h = 0; h < hw::kHoldCount; ++h)
      if (engine.waiting[h] > 0) figures[fmt::format("for {}", hw::kHoldNames[h])] += hw::seconds(engine.waiting[h]);
  return figures;
}

/// Both runs' figures by name; missing ones are 0.
void pair_up(std::string_view part, const Seconds& before, const Seconds& after, std::vector<Difference>& out) {
  std::map<std::string, Difference> pairs;
  for (const auto& [name, value] : before) pairs[name] = {std::string{part}, name, value, 0, "s"};
  for (const auto& [name, value] : after) {
    Difference& pair = pairs[name];
    pair = {std::string{part}, name, pair.before, value, "s"};
  }
  std::vector<Difference> list;
  for (auto& [name, pair] : pairs) list.push_back(std::move(pair));
  std::ranges::stable_sort(list, std::greater{}, [](const Difference& d) { return std::abs(d.change()); });
  std::ranges::move(list, std::back_inserter(out));
}

}  // namespace

std::string readable(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "";
  if (unit == "s") return base::readable(value, Dimension::kTime);
  if (unit == "B") return base::readable(value, Dimension::kBytes);
  if (unit == "B/s") return base::readable(value, Dimension::kBandwidth);
  if (unit == "FLOP") return base::readable(value, Dimension::kFlopCount);
  if (unit == "FLOP/s") return base::readable(value, Dimension::kFlops);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "$") return base::money_text(value);
  if (unit == "1") return fmt::format("{}", value);
  return fmt::format("{:.6g} {}", value, unit);
}

base::Table summary_table(const Record& record) {
  base::Table table{{{"name", ""}, {"value", "", Align::kRight}, {"unit", ""}, {"text", ""}}};
  for (const Stat& stat : record.stats) table.add_row({stat.name, stat.value, stat.unit, stat.text});
  return table;
}

base::Table table_by(std::string_view by, const Record& record, std::size_t limit) {
  if (by == "collective") return collective_table(record, limit);
  return group_table(parse_by(by), by, record, limit);
}

std::vector<CollectiveGroup> collectives_by_kind(const hw::SimResult& result) {
  std::map<std::string, CollectiveGroup> groups;
  std::map<std::string, double> sent;
  for (const hw::CollectiveTime& c : result.collectives) {
    const std::string key = fmt::format("{} x{}", isa::name_of(c.op), c.ranks);
    CollectiveGroup& group = groups[key];
    group.key = key;
    ++group.count;
    group.bytes += static_cast<double>(c.bytes);
    group.active += hw::seconds(c.end - c.begin);
    group.queued += hw::seconds(c.begin - c.issued);
    sent[key] += static_cast<double>(c.link_bytes);
  }
  std::vector<CollectiveGroup> list;
  for (auto& [key, group] : groups) {
    group.bandwidth = group.active > 0 ? sent[key] / group.active : 0;
    list.push_back(group);
  }
  std::ranges::stable_sort(list, std::greater{}, &CollectiveGroup::active);
  return list;
}

double Difference::change() const {
  constexpr double kRounding = 1e-9;  // of sums that were made in another order
  const double change = after - before;
  return std::abs(change) <= kRounding * std::max(std::abs(before), std::abs(after)) ? 0 : change;
}

double Difference::percent() const {
  if (change() == 0) return 0;
  return before == 0 ? std::numeric_limits<double>::quiet_NaN() : (after - before) / std::abs(before) * 100;
}

std::vector<Difference> compare(const Record& before, const Record& after) {
  const hw::SimResult &a = before.result, &b = after.result;
  const auto bytes = [](const hw::SimResult& r) { return static_cast<double>(r.dma.read_bytes + r.dma.written_bytes); };
  std::vector<Difference> list = {
      {"total", "total_time", hw::seconds(a.total), hw::seconds(b.total), "s"},
      {"total", "cc_op_exposed_time", hw::seconds(a.collective_exposed), hw::seconds(b.collective_exposed), "s"},
      {"total", "hbm_traffic_bytes", bytes(a), bytes(b), "B"},
      {"total", "mfu_estimated_percent", before.utilisation.mfu, after.utilisation.mfu, "%"},
      {"total", "hfu_estimated_percent", before.utilisation.hfu, after.utilisation.hfu, "%"}};
  pair_up("phase", seconds_by(By::kPhase, before), seconds_by(By::kPhase, after), list);
  pair_up("engine", seconds_by(By::kEngine, before), seconds_by(By::kEngine, after), list);
  pair_up("waiting", waiting_by_cause(a), waiting_by_cause(b), list);
  pair_up("op", seconds_by(By::kOp, before), seconds_by(By::kOp, after), list);
  return list;
}

std::vector<Difference> compare_jobs(const Figures& before, const Figures& after) {
  std::vector<Difference> list;
  for (const Figure& figure : figure_table()) {
    const bool trained = figure.section == "metrics";
    if (figure.section != "job" && figure.section != "cost" && figure.section != "memory" && !trained) continue;
    const Maybe a = figure.of(before), b = figure.of(after);
    if (!a || !b) continue;
    const Difference one{trained ? "training" : "job", std::string{figure.name}, *a, *b, std::string{figure.unit}};
    if (!figure.title.empty() || one.change() != 0) list.push_back(one);
  }
  return list;
}

namespace {

std::string compared_text(double value, std::string_view unit) {
  if (unit == "share") return fmt::format("{:.1f} %", 100 * value);
  if (unit == "1/s") return std::abs(value) < 1e4 ? fmt::format("{:.4g} /s", value) : fmt::format("{:.0f} /s", value);
  return readable(value, unit);
}

std::string percent_text(double percent) {
  constexpr double kMany = 900;  // from here on a factor is easier to read
  const double times = 1 + percent / 100;
  if (percent < kMany) return fmt::format("{:+.1f} %", percent);
  return times < 1000 ? fmt::format("{:.3g} times", times) : fmt::format("{:.0f} times", times);
}

}  // namespace

base::Table difference_table(const std::vector<Difference>& differences, std::size_t ops) {
  base::Table table{{{"part", ""},
                     {"name", ""},
                     {"before", "", Align::kRight},
                     {"after", "", Align::kRight},
                     {"change", "", Align::kRight},
                     {"change_percent", "relative", Align::kRight}}};
  std::size_t shown = 0;
  for (const Difference& d : differences) {
    if (d.part == "op" && ops > 0 && (d.change() == 0 || ++shown > ops)) continue;
    const double percent = d.percent();
    const auto cell = [&](double value) { return Cell{value, compared_text(value, d.unit)}; };
    table.add_row({d.part, d.name, cell(d.before), cell(d.after), cell(d.change()),
                   std::isfinite(percent) ? Cell{percent, percent_text(percent)} : Cell{}});
  }
  return table;
}

}  // namespace analysis
