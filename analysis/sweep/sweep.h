// Many simulations with different parameters: the points, the store of their results, and the team that computes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/param_file.h"
#include "base/table.h"

namespace analysis {

/// A parameter and the values that it takes: "0.5x", "1.6 TB/s", or a range "0.5x..2x" (random designs), "0.5x..2x:5"
/// (that many values, evenly spaced on a logarithmic scale).
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

/// kCartesian: all combinations. kList: the first values of all axes, then the second ones, ... kOneAtATime: the
/// unchanged machine, then each value of each axis alone. kRandom: `samples` draws, from lists evenly, from ranges
/// logarithmically.
enum class Design { kCartesian, kList, kOneAtATime, kRandom };

struct SweepSpec {
  std::string workload;  // name or file of a job, or:
  std::string program;   // assembler text of a program, a path
  std::string machine;   // empty: the workload's
  Design design = Design::kCartesian;
  std::size_t samples = 0;
  std::uint64_t seed = 0;
  std::vector<SweepAxis> axes;
};

/// "cartesian", "list", "one_at_a_time", "random". Errors: Fault::kUsage with a suggestion.
Design parse_design(std::string_view name);

/// A sweep file: texts `workload` or `program`, `machine`, `design`, `samples`, `seed`, and below [set] a list of texts
/// per parameter. Paths are relative to the file. Errors: Fault::kUsage with file:line.
SweepSpec load_sweep(const std::filesystem::path& path);
/// "hbm.bandwidth=0.5x,1x,2x". Errors: Fault::kUsage.
SweepAxis parse_axis(std::string_view text);

/// A point: "key", "value" for each parameter that it changes.
using SweepPoint = std::vector<std::pair<std::string, std::string>>;
/// In the order of the design. Errors: Fault::kUsage for an axis without values or given twice, lists of different
/// lengths, an invalid range, more than a million points.
std::vector<SweepPoint> design_points(const SweepSpec& spec);

using Metrics = std::map<std::string, double>;

struct SweepResult {
  SweepPoint point;
  std::uint64_t hash = 0;
  bool done = false;    // computed, now or earlier
  std::string error{};  // why the point has no metrics: it does not fit, its program cannot run, its process died
  Metrics metrics{};
};

/// The computation that a sweep repeats: `hash` of everything that decides a point's metrics, and the metrics. Errors
/// of `evaluate` (base::Error) become the result of the point; those of `hash` end the sweep before it begins. Points
/// of one `affinity` have work in common: they are computed one after the other, by one process if possible, so that
/// `evaluate` can reuse work. Without it points are independent.
struct SweepModel {
  std::function<std::uint64_t(const SweepPoint&)> hash;
  std::function<Metrics(const SweepPoint&)> evaluate;
  std::function<std::uint64_t(const SweepPoint&)> affinity{};
};

struct SweepRun {
  std::vector<SweepResult> results;  // in the order of the points
  std::size_t computed = 0;          // now, by this process or by its team; the others were known
  bool interrupted = false;          // Ctrl-C: the rest is not done

  std::size_t known() const;  // results that are done
};

/// Processes that share the points of a sweep, on one host or on many, through the database alone.
struct SweepTeam {
  std::string job{};     // equal in all processes of a sweep, unique to the sweep; empty: this process alone
  std::size_t rank = 0;  // it begins at another part of the points than the others
  std::size_t size = 1;
  bool waits = true;       // for points that other processes compute; else these are left to them
  double patience_s = 60;  // after this time without a sign of life a process counts as dead: its point is done again
};

/// Called several times a second with the number of unknown points that are done.
using SweepWatch = std::function<void(std::size_t done, std::size_t all)>;

/// Computes the points that `database` does not know yet, in `processes` child processes, and keeps each result as soon
/// as it is there: a sweep that is killed resumes where it stopped. A child that dies loses only its point. A point is
/// computed by one process at a time, however many processes share the database.
/// Errors: Fault::kUsage without points or processes; Fault::kEnvironment.
SweepRun run_sweep(const std::vector<SweepPoint>& points, const SweepModel& model,
                   const std::filesystem::path& database, int processes, const SweepTeam& team = {},
                   const SweepWatch& watch = {});

/// A row per point: parameters, metrics, binding resource, error. `brief`: the metrics that people look at first.
base::Table sweep_table(const SweepRun& run, bool brief = false);

/// "time<=2 ms": a metric as metric_of() takes it, <= or >=, a quantity.
struct Condition {
  std::string metric;
  bool at_most = true;
  double limit = 0;
};
/// Errors: Fault::kUsage.
Condition parse_condition(std::string_view text);
/// The metric of the run that people may call "cost" or "time", or by a figure's earlier name; any other name
/// unchanged.
std::string metric_of(const SweepRun& run, std::string_view name);
/// Errors: Fault::kUsage with a suggestion when no point has that metric.
void require_metric(const SweepRun& run, const std::string& metric);
/// The result with the smallest `metric` among those that keep the conditions. Errors: Fault::kUsage for a metric that
/// no result has; Fault::kCheck when no result keeps them.
const SweepResult& best_result(const SweepRun& run, const std::string& metric,
                               const std::vector<Condition>& conditions);

/// How far one parameter alone moves a metric: its least and largest value over the points that change nothing else.
struct Sensitivity {
  std::string key;
  double base = 0, least = 0, most = 0;
  std::string at_least, at_most;  // the parameter's values there
};
/// Largest span first; empty when no point changes nothing.
std::vector<Sensitivity> sensitivities(const SweepRun& run, const std::string& metric);

/// Numbers of the results that no other beats in both metrics, by the first one.
std::vector<std::size_t> pareto_front(const SweepRun& run, const std::string& first, const std::string& second);

/// The head of a sweep's page. A page is opened long after: with the command, the version and the date.
struct SweepTitle {
  std::string name, command{}, version{}, date{};
};

/// A page with the Pareto front of seconds and dollars, the sensitivities, the binding resources, and all points.
std::string sweep_html(const SweepRun& run, const SweepTitle& title);

}  // namespace analysis
