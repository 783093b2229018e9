// The parameters, and the effect of each on the predictions.
#include "validation/report/influence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/host/stack_file.h"
#include "base/error.h"
#include "validation/rows/metric.h"

namespace validation {
namespace {

using base::Dimension;
using base::Error;
using base::Fault;

constexpr double kStep = 1.1;  // by which a variation changes a number

/// Which numbers a mechanism owns: keys or sections of machine files and of stack files, the first that fits.
struct Owner {
  std::string_view mechanism;
  std::array<std::string_view, 4> machine, stack;
};
// The power limit stretches TensorE's work, so that a slower clock stands for both.
constexpr std::array kOwners = {
    Owner{"TensorE", {"tensor", "power.utilisation", "power.cold", "power.ramp"}, {}},
    Owner{"VectorE", {"vector"}, {}},
    Owner{"ScalarE", {"scalar"}, {}},
    Owner{"GpSimdE, SyncE", {"gpsimd", "sync", "engine", "chip.exchange"}, {}},
    Owner{"DMA and HBM", {"dma", "hbm"}, {}},
    Owner{"collectives", {"collective", "link", "efa"}, {}},
    Owner{"launch", {"program"}, {"launch"}},
    Owner{"host software", {}, {"host"}}};  // the last: a stack's keys without another owner
/// Times and rates that no prediction of a row reads.
constexpr std::array<std::string_view, 2> kUnread = {"power.window", "host"};
/// A plain ratio that must not exceed 1.
constexpr std::string_view kShareOfOne = "power.utilisation";

bool belongs(std::string_view key, std::string_view section) {
  return !section.empty() && key.starts_with(section) && (key.size() == section.size() || key[section.size()] == '.');
}

template <typename Sections>
bool belongs(std::string_view key, const Sections& sections) {
  return std::ranges::any_of(sections, [&](std::string_view section) { return belongs(key, section); });
}

/// Whether published rows decided the number.
bool decided(const base::Parameter& p) { return !p.fitted_on.empty() || !p.read_off.empty(); }

/// The owner of a time or rate; nothing for other parameters, or those that decide no row. Other numbers of a stack
/// file belong to the host.
std::optional<std::size_t> owner_of(const base::Parameter& p, bool stack) {
  for (std::size_t i = 0; i < kOwners.size(); ++i)
    if (belongs(p.key, stack ? kOwners[i].stack : kOwners[i].machine)) return i;
  if (belongs(p.key, kUnread)) return std::nullopt;
  if (stack && !p.source.empty()) return kOwners.size() - 1;
  const auto quantity = base::try_quantity(p.values.front());
  const bool counts = !p.source.empty() && quantity &&
                      (quantity->dimension == Dimension::kTime || quantity->dimension == Dimension::kBandwidth ||
                       quantity->dimension == Dimension::kFrequency || decided(p));
  if (counts)
    throw Error{Fault::kInternal, p.where, fmt::format("{} does not belong to a mechanism", p.key),
                "add its section to kOwners in validation/report/influence.cpp"};
  return std::nullopt;
}

/// The factor of the number when its mechanism is slower; 1 when that does not follow from the number alone:
/// cycles follow their clock, counts and sizes stay.
double slower(const base::Parameter& p) {
  if (p.source.empty() || p.list) return 1;
  switch (base::parse_quantity(p.values.front(), p.where).dimension) {
    case Dimension::kTime: return kStep;
    case Dimension::kFrequency:
    case Dimension::kBandwidth: return 1 / kStep;
    default: return 1;
  }
}

/// "0" and "1" are choices: there is nothing between them.
bool is_switch(const base::Parameter& p) { return p.values.front() == "0" || p.values.front() == "1"; }

/// The factor of a fitted constant; 0 for a switch. A share that 10 % more would lift above 1 is made smaller
/// instead: study() turns the change round.
double larger(const base::Parameter& p) {
  if (is_switch(p)) return 0;
  if (p.key != kShareOfOne) return kStep;
  return base::parse_as(p.values.front(), Dimension::kRatio, p.where) * kStep <= 1 ? kStep : 1 / kStep;
}

std::string times(double factor) { return fmt::format("{}x", factor); }

std::string varied(const base::Parameter& p) {
  return is_switch(p) ? (p.values.front() == "0" ? "1" : "0") : times(larger(p));
}

/// A time that a machine has none of: no multiple of it differs.
bool is_nothing(const base::Parameter& p) {
  const auto quantity = p.list ? std::nullopt : base::try_quantity(p.values.front());
  return quantity && quantity->dimension == Dimension::kTime && quantity->value == 0;
}

class Collector {
 public:
  Collector() {
    for (const Owner& owner : kOwners) out_.mechanisms.push_back({std::string{owner.mechanism}, {}});
  }

  void machine(const base::ParamFile& file) {
    for (const std::string& key : file.keys()) {
      const base::Parameter& p = file.parameter(key);
      const auto owner = owner_of(p, false);
      if (!owner || is_nothing(p) || !seen_.insert(key).second) continue;
      if (const double factor = slower(p); factor != 1)
        out_.mechanisms[*owner].slower.machine.push_back(key + "=" + times(factor));
      add(p, key, *owner, {.machine = {key + "=" + varied(p)}, .stacks = {}});
    }
  }

  void stack(const base::ParamFile& file) {
    for (const std::string& key : file.keys()) {
      const base::Parameter& p = file.parameter(key);
      const auto owner = owner_of(p, true);
      const std::string name = fmt::format("{} {}", analysis::file_of(p), key);
      if (!owner || !seen_.insert(name).second) continue;
      if (const double factor = slower(p); factor != 1)
        out_.mechanisms[*owner].slower.stacks.push_back({analysis::file_of(p), key, times(factor)});
      add(p, name, *owner, {.machine = {}, .stacks = {{analysis::file_of(p), key, varied(p)}}});
    }
  }

  Parameters take() { return std::move(out_); }

 private:
  void add(const base::Parameter& p, const std::string& name, std::size_t owner, Variation variation) {
    if (!decided(p)) return;
    const bool fitted = !p.fitted_on.empty();
    out_.constants.push_back(
        {name, p.values.front(), fitted ? p.fitted_on : p.read_off, fitted, owner, larger(p), std::move(variation)});
  }

  Parameters out_;
  std::set<std::string> seen_;
};

// ---- the study: a sweep whose points are rows by number and variations by number

constexpr const char *kRow = "row", *kVariation = "variation";

std::size_t number(const analysis::SweepPoint& point, std::size_t part) { return std::stoull(point.at(part).second); }

analysis::SweepPoint point(std::size_t row, std::size_t variation) {
  return {{kRow, std::to_string(row)}, {kVariation, std::to_string(variation)}};
}

/// Points of rows of one job under one variation, each a range of the points in their order.
using Range = std::pair<std::size_t, std::size_t>;
std::vector<Range> together(std::vector<analysis::SweepPoint>& points, const Evaluate& evaluate) {
  const auto first_row = [&](const analysis::SweepPoint& p) {
    std::size_t row = number(p, 0);
    while (evaluate.same_job && evaluate.same_job(row)) --row;
    return row;
  };
  std::ranges::stable_sort(points, {}, [&](const analysis::SweepPoint& p) {
    return std::pair{first_row(p), number(p, 1)};
  });
  std::vector<Range> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool goes_on =
        i > 0 && number(points[i - 1], 1) == number(points[i], 1) && first_row(points[i - 1]) == first_row(points[i]);
    if (goes_on)
      ++out.back().second;
    else
      out.push_back({i, i + 1});
  }
  return out;
}

/// Predictions of the points, which it orders by jobs.
std::vector<double> predictions(const ValidationReport& report, std::vector<analysis::SweepPoint>& points,
                                const std::vector<const Variation*>& variations, const Evaluate& evaluate,
                                int processes, const analysis::SweepWatch& watch) {
  if (points.empty()) return {};
  const std::vector<Range> ranges = together(points, evaluate);
  std::vector<analysis::SweepPoint> firsts;
  std::map<std::size_t, Range> of;  // by the hash of the first point
  const auto hash = [&](const analysis::SweepPoint& p) { return number(p, 0) * variations.size() + number(p, 1); };
  for (const Range& range : ranges) {
    firsts.push_back(points[range.first]);
    of.emplace(hash(firsts.back()), range);
  }
  const analysis::SweepModel model{.hash = hash, .evaluate = [&](const analysis::SweepPoint& p) {
                                     analysis::Metrics values;
                                     const auto [begin, end] = of.at(hash(p));
                                     for (std::size_t i = begin; i < end; ++i)
                                       values[std::to_string(i)] =
                                           evaluate.predict(number(points[i], 0), *variations[number(points[i], 1)]);
                                     return values;
                                   }};
  const analysis::SweepRun run = run_sweep(firsts, model, ":memory:", processes, {}, watch);
  if (run.interrupted) throw Error{Fault::kUsage, "`sensitivity`", "was interrupted", "let it finish, or use `only`"};
  std::vector<double> out(points.size());
  for (const analysis::SweepResult& result : run.results) {
    base::ensure(result.error.empty(), report.rows[number(result.point, 0)].id, result.error);
    for (const auto& [index, value] : result.metrics) out[std::stoull(index)] = value;
  }
  return out;
}

/// A row of which a mechanism decides less than this is moved by less than 0.1 % when one of its constants changes.
constexpr double kLeastShare = 0.01;

/// A row that a mechanism as a whole hardly moves is not moved by its constants; a switch may move anything. Constants
/// that are read off need no jobs for identification.
bool is_tried(const Comparison& row, const std::vector<double>& share, const Constant& constant) {
  if (!row.predicted || (!constant.fitted && !row.micro)) return false;
  return std::abs(share[constant.mechanism]) >= kLeastShare || constant.factor == 0;
}

/// Change of the time of a repetition, as a logarithm.
double log_time(const Comparison& row, double value) {
  const double change = std::log(value / *row.predicted);
  return is_time(row.metric) ? change : -change;
}

}  // namespace

Parameters influential_parameters(std::span<const base::ParamFile> machines) {
  Collector collector;
  for (const base::ParamFile& file : machines) collector.machine(file);
  for (const std::string& name : analysis::stack_names()) collector.stack(analysis::stack_file(name));
  return collector.take();
}

namespace {

/// Variations of the mechanisms, then of the constants.
std::vector<const Variation*> variations_of(const Parameters& parameters) {
  std::vector<const Variation*> out;
  for (const Mechanism& mechanism : parameters.mechanisms) out.push_back(&mechanism.slower);
  for (const Constant& constant : parameters.constants) out.push_back(&constant.variation);
  return out;
}

}  // namespace

Influence study(const ValidationReport& report, Parameters parameters, const Evaluate& evaluate, int processes,
                const analysis::SweepWatch& watch) {
  Influence out{.parameters = std::move(parameters), .change_percent = {}, .share = {}};
  const auto& mechanisms = out.parameters.mechanisms;
  const auto& constants = out.parameters.constants;
  out.share.resize(report.rows.size());
  out.change_percent.resize(report.rows.size());
  const std::vector<const Variation*> variations = variations_of(out.parameters);
  std::vector<analysis::SweepPoint> points;
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    if (!report.rows[r].predicted) continue;
    out.share[r].resize(mechanisms.size());
    out.change_percent[r].resize(constants.size());
    if (report.rows[r].kind == "device memory") continue;  // bytes, which no time or rate moves
    if (report.rows[r].traced) continue;                   // seconds for each trial, and no constant is fitted on them
    for (std::size_t m = 0; m < mechanisms.size(); ++m)
      if (!evaluate.reads || evaluate.reads(r, mechanisms[m].name)) points.push_back(point(r, m));
  }
  const auto slower_values = predictions(report, points, variations, evaluate, processes, watch);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t r = number(points[i], 0);
    out.share[r][number(points[i], 1)] = log_time(report.rows[r], slower_values[i]) / std::log(kStep);
  }

  points.clear();
  for (std::size_t r = 0; r < report.rows.size(); ++r)
    for (std::size_t c = 0; c < constants.size(); ++c)
      if (is_tried(report.rows[r], out.share[r], constants[c]) && (!evaluate.has || evaluate.has(r, constants[c])))
        points.push_back(point(r, mechanisms.size() + c));
  const auto larger_values = predictions(report, points, variations, evaluate, processes, watch);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t r = number(points[i], 0);
    const std::size_t c = number(points[i], 1) - mechanisms.size();
    const double exponent = constants[c].factor == 0 ? 1 : std::log(kStep) / std::log(constants[c].factor);
    out.change_percent[r][c] = (std::pow(larger_values[i] / *report.rows[r].predicted, exponent) - 1) * 100;
  }
  return out;
}

}  // namespace validation
