#include "analysis/cost/job_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/cost/cost.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/progress.h"  // clock_text
#include "base/units.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using base::Error;
using base::Fault;

double needed(const std::string& where, const Maybe& value, std::string_view name) {
  if (value && *value > 0) return *value;
  throw Error{Fault::kData, where, fmt::format("has no job.{}", name),
              "run the job again with this trnsim, or give `runtime` and `instance_type`"};
}

/// Seconds on `count` instances of `one`; nothing when the job does not tell enough.
std::optional<double> seconds_on(const JobToPrice& job, const PricedInstance& own, const PricedInstance& one, int count,
                                 double efficiency, Basis& basis) {
  basis = Basis::kGiven;
  if (one.name == own.name && count == job.instances) return job.seconds;
  const double chips = one.accelerators * count;
  if (one.simulated && own.simulated) {
    const double device = job.seconds - job.fixed_seconds, all = own.accelerators * job.instances;
    // A job on some of its instance's cores gains nothing from the further cores of another instance.
    const double used = job.cores > 0 ? std::min(all, job.cores / job.cores_per_chip) : all;
    const double there = used < all ? std::min(used, chips) : chips;
    basis = Basis::kOwnCores;
    if (one.name == own.name && there == used) return job.seconds;
    if (const auto found = job.other_instances.find(one.name); found != job.other_instances.end() && there == used)
      return found->second;
    basis = Basis::kScaled;
    return job.fixed_seconds + device * used / there;
  }
  basis = Basis::kRoofline;
  if (one.peak <= 0 || job.flops <= 0) return std::nullopt;
  return job.fixed_seconds + std::max(job.flops / one.peak, job.hbm_bytes / one.bandwidth) / (chips * efficiency);
}

std::optional<TooSmall> too_small(const JobToPrice& job, const PricedInstance& one, int count) {
  const double chips = one.accelerators * count, cores = chips * job.cores_per_chip;
  const bool simulated = one.simulated && cores > 0;
  const double has = simulated ? job.chip_bytes / job.cores_per_chip : one.memory * chips;
  const double needed = simulated ? job.core_bytes(cores) : job.state_bytes();
  if (has <= 0 || needed <= has) return {};
  return TooSmall{needed, has, simulated};
}

CostRow price(const JobToPrice& job, const PricedInstance& one, int count, double seconds, Basis basis) {
  CostRow row{.instance_type = one.name, .instances = count, .basis = basis, .seconds = seconds};
  for (int p = 0; p < kPurchaseCount; ++p) {
    if (one.per_hour[p]) row.run[p] = cost_of(seconds, one.per_hour[p]->value, count, 0, 0).run;
  }
  if (basis != Basis::kGiven) row.too_small = too_small(job, one, count);
  if (!row.run[0]) return row;
  const double run = *row.run[0];
  if (job.epochs > 0) row.per_epoch = run / job.epochs;
  if (job.tokens > 0) row.per_million_tokens = run / job.tokens * 1e6;
  if (job.samples > 0) row.per_1k_samples = run / job.samples * 1e3;
  return row;
}

void mark_pareto(std::vector<CostRow>& rows) {
  const auto competes = [](const CostRow& row) {
    return row.basis != Basis::kRoofline && !row.too_small && row.run[0];
  };
  for (CostRow& row : rows) {
    if (!competes(row)) continue;
    row.pareto = std::ranges::none_of(rows, [&](const CostRow& other) {
      if (!competes(other)) return false;
      const bool no_worse = other.seconds <= row.seconds && *other.run[0] <= *row.run[0];
      return no_worse && (other.seconds < row.seconds || *other.run[0] < *row.run[0]);
    });
  }
}

std::string basis_text(const CostRow& row, double efficiency) {
  if (row.too_small)
    return fmt::format("does not fit: {} {}, it has {}",
                       row.too_small->of_a_core ? "a core needs" : "weights, gradients and optimizer need",
                       base::readable(row.too_small->needed, base::Dimension::kBytes),
                       base::readable(row.too_small->has, base::Dimension::kBytes));
  if (row.basis == Basis::kGiven) return "the job's own time";
  if (row.basis == Basis::kOwnCores) return "as many cores as the job's own, the others idle";
  if (row.basis == Basis::kScaled) return "scaled by chips, no communication added";
  return fmt::format("roofline estimate at {:g} % of the peaks, with this job's host", efficiency * 100);
}

Cell dollars(const std::optional<double>& value) {
  return value ? Cell{*value, *value >= 0.1 ? fmt::format("${:.2f}", *value) : fmt::format("${:.3g}", *value)} : Cell{};
}

/// The record is of one core, of a pipeline of one stage, and of some of its micro-batches: the job has the totals.
void add_job_work(JobToPrice& job, const Maybe& flops, const Record& record, double steps) {
  const double recorded = record.utilisation.model_flops;
  job.flops = flops && *flops > 0 ? *flops : recorded * steps * record.program.ranks;
  const auto bytes = static_cast<double>(record.result.dma.read_bytes + record.result.dma.written_bytes);
  job.hbm_bytes = recorded > 0 ? bytes * (job.flops / recorded) : bytes * steps * record.program.ranks;
}

/// The job's seconds on other instances that have its cores; empty when it does not say.
std::map<std::string, double> times_on_others(const std::string& where, const Named<double>& other_instances) {
  for (const auto& [name, seconds] : other_instances)
    if (!(seconds > 0))
      throw Error{Fault::kData, where, fmt::format("the job's time elsewhere has no seconds for '{}'", name),
                  "run the job again with this trnsim"};
  return {other_instances.begin(), other_instances.end()};
}

/// Adds the memory of a core, and how the plan shares it.
void add_memory(JobToPrice& job, const Figures& f) {
  const auto option = [&]<class Value>(std::string_view name, Value otherwise) {
    const auto found = std::ranges::find(f.workload.options, name, &std::pair<std::string, SettingValue>::first);
    const auto* value = found == f.workload.options.end() ? nullptr : std::get_if<Value>(&found->second);
    return value ? *value : otherwise;
  };
  const auto size = [&](std::string_view name) { return static_cast<double>(option(name, std::int64_t{1})); };
  const auto held = [&](const char* kind) { return f.memory.kind(kind).value_or(0); };
  job.split = size("tensor_parallel_size") * size("pipeline_parallel_size");
  job.sharded = option("zero_1", false);
  job.weight_bytes = job.split * (held("weights") + held("gradients"));
  job.optimizer_bytes = (job.sharded ? f.machine.cores.value_or(0) : job.split) * held("optimizer");
  job.other_bytes =
      std::max(0.0, f.memory.hbm_bytes.value_or(0) - held("weights") - held("gradients") - held("optimizer"));
}

}  // namespace

double JobToPrice::core_bytes(double cores) const {
  const double shares = std::min(split, cores);
  return weight_bytes / shares + optimizer_bytes / (sharded ? cores : shares) + other_bytes;
}

JobToPrice job_of_run(const std::filesystem::path& folder) {
  return job_to_price(read_result(folder), read_record(folder), (folder / "result.json").string());
}

JobToPrice job_to_price(const Figures& f, const Record& record, const std::string& where) {
  JobToPrice job;
  job.instance_type = record.info.instance_type;
  job.instances = static_cast<int>(record.info.instances);
  job.seconds = needed(where, f.runtime(), "train_runtime");
  job.other_instances = times_on_others(where, f.time.other_instances);
  const double steps = f.generates()
                           ? needed(where, f.work.steps, "steps")
                           : needed(where, f.work.train_steps_per_second, "train_steps_per_second") * job.seconds;
  const double device = f.time.device_step_seconds.value_or(0) * steps;
  job.fixed_seconds = std::max(0.0, job.seconds - device);
  job.samples = f.generates() ? f.work.samples.value_or(0) : f.work.train_samples_per_second.value_or(0) * job.seconds;
  const double per_epoch = f.cost.dollars_per_epoch.value_or(0);
  job.epochs = per_epoch > 0 ? f.cost.dollars.value_or(0) / per_epoch : 0;
  job.tokens = f.work.tokens.value_or(0);
  add_job_work(job, f.work.job_model_flops, record, steps);
  add_memory(job, f);
  job.cores = f.machine.cores.value_or(0);
  job.cores_per_chip = std::max(1.0, static_cast<double>(record.info.cores_per_chip));
  job.chip_bytes = static_cast<double>(record.info.hbm_bytes_per_core * record.info.cores_per_chip);
  return job;
}

std::vector<CostRow> price_job(const JobToPrice& job, const std::vector<PricedInstance>& prices,
                               const std::vector<int>& counts, double efficiency) {
  if (!(job.seconds > 0)) throw Error{Fault::kUsage, "cost", "the job has no time", "give `runtime`, as in 8:30"};
  if (!(efficiency > 0 && efficiency <= 1))
    throw Error{Fault::kUsage, "`efficiency`", "is not above 0 and at most 1", "give a share of the peak, as in 40%"};
  const PricedInstance& own = find_instance(prices, job.instance_type);
  std::set<int> numbers{counts.begin(), counts.end()};
  if (numbers.empty()) numbers.insert(1);
  if (*numbers.begin() < 1) throw Error{Fault::kUsage, "`instances`", "is below 1", "give whole numbers from 1"};
  std::vector<CostRow> rows{price(job, own, job.instances, job.seconds, Basis::kGiven)};
  for (const PricedInstance& one : prices) {
    for (const int count : numbers) {
      if (one.name == own.name && count == job.instances) continue;
      Basis basis{};
      const auto seconds = seconds_on(job, own, one, count, efficiency, basis);
      if (seconds) rows.push_back(price(job, one, count, *seconds, basis));
    }
  }
  mark_pareto(rows);
  return rows;
}

base::Table cost_table(const std::vector<CostRow>& rows, double efficiency) {
  std::vector<base::Column> columns = {
      {"instance_type", "instance"}, {"instances", "n", Align::kRight}, {"seconds", "time", Align::kRight}};
  for (const std::string_view name : kPurchaseNames) columns.push_back({std::string{name}, "", Align::kRight});
  columns.insert(columns.end(), {{"per_epoch", "", Align::kRight},
                                 {"per_million_tokens", "per Mtoken", Align::kRight},
                                 {"per_1k_samples", "per 1k samples", Align::kRight},
                                 {"pareto", ""},
                                 {"basis", ""}});
  const bool batches = std::ranges::any_of(rows, [](const CostRow& row) { return row.largest_batch.has_value(); });
  if (batches) columns.push_back({"largest_batch", "largest batch", Align::kRight});
  base::Table table{std::move(columns)};
  for (const CostRow& row : rows) {
    const auto price = [&](const std::optional<double>& value) { return row.too_small ? Cell{} : dollars(value); };
    std::vector<Cell> cells = {row.instance_type, row.instances,
                               row.too_small ? Cell{} : Cell{row.seconds, base::clock_text(row.seconds)}};
    for (const auto& run : row.run) cells.push_back(price(run));
    cells.push_back(price(row.per_epoch));
    cells.push_back(price(row.per_million_tokens));
    cells.push_back(price(row.per_1k_samples));
    cells.push_back(row.pareto ? Cell{*row.pareto} : Cell{});
    cells.emplace_back(basis_text(row, efficiency));
    if (batches) cells.push_back(row.largest_batch ? Cell{*row.largest_batch} : Cell{});
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace analysis
