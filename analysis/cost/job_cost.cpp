#include "analysis/cost/job_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "analysis/cost/cost.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/progress.h"  // duration_text
#include "base/text.h"
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

/// Seconds on `count` instances of `one`, whose GPUs run behind a host of their own: it dispatches the passes over the
/// model while they compute.
double roofline_seconds(const JobToPrice& job, const PricedInstance& one, int count, double efficiency) {
  const double gpus = one.accelerators * count;
  const double device = std::max(job.flops / one.peak, job.hbm_bytes / one.bandwidth) / (gpus * efficiency);
  return std::max(device, job.steps * job.framework_ops * one.host_per_op);
}

/// The amount that prices count, and the share of the instances that is paid.
struct Amount {
  double tokens = 0, copies = 1;
};

/// Adds the prices.
CostRow priced(CostRow row, const JobToPrice& job, const PricedInstance& one, const Amount& amount) {
  const double tokens = amount.tokens;
  for (int p = 0; p < kPurchaseCount; ++p)
    if (one.per_hour[p]) row.run[p] = dollars_of(row.seconds, one.per_hour[p]->value, row.instances / amount.copies);
  row.purchase = job.purchase;
  if (!row.paid()) return row;
  const double run = *row.paid();
  if (job.epochs > 0) row.per_epoch = run / job.epochs;
  if (tokens > 0) row.per_million_tokens = run / (tokens * 1e-6);  // as the figure of a run
  if (row.samples > 0) row.per_1k_samples = run / row.samples * 1e3;
  return row;
}

CostRow own_row(const JobToPrice& job, const PricedInstance& own) {
  return priced({.instance_type = own.name,
                 .instances = job.instances,
                 .basis = Basis::kGiven,
                 .cores = job.cores,
                 .sequences_per_step = job.sequences_per_step,
                 .seconds = job.seconds,
                 .samples = job.samples,
                 .interrupted = job.interrupted},
                job, own, {job.tokens, job.copies});
}

CostRow placed_row(const JobToPrice& job, const PricedInstance& one, const Placement& there) {
  return priced({.instance_type = one.name,
                 .instances = there.instances,
                 .basis = Basis::kSimulated,
                 .cores = there.cores,
                 .sequences_per_step = there.sequences_per_step,
                 .seconds = there.seconds,
                 .samples = there.samples,
                 .settings = there.settings,
                 .too_small = there.too_small,
                 .interrupted = there.interrupted},
                job, one, {there.tokens, there.copies});
}

CostRow roofline_row(const JobToPrice& job, const PricedInstance& one, int count, double efficiency) {
  CostRow row{.instance_type = one.name,
              .instances = count,
              .basis = Basis::kRoofline,
              .seconds = roofline_seconds(job, one, count, efficiency),
              .samples = job.samples};
  if (const double has = one.memory * one.accelerators * count; job.state_bytes > has)
    row.too_small = TooSmall{.needed = job.state_bytes, .has = has, .of_a_core = false};
  return priced(std::move(row), job, one, {.tokens = job.tokens});
}

/// Seconds for as many samples as all others: a job of so many steps trains on more where its batch is larger.
double comparable(const CostRow& row, double of_row) { return row.samples > 0 ? of_row / row.samples : of_row; }

bool competes(const CostRow& row) { return row.basis != Basis::kRoofline && !row.too_small && row.paid(); }

template <class Figure>
const CostRow* least(const std::vector<CostRow>& rows, Figure figure) {
  const auto of = [&](const CostRow& row) { return comparable(row, std::invoke(figure, row)); };
  const CostRow* best = nullptr;
  for (const CostRow& row : rows)
    if (competes(row) && (!best || of(row) < of(*best))) best = &row;
  return best;
}

void mark_pareto(std::vector<CostRow>& rows) {
  for (CostRow& row : rows) {
    if (!competes(row)) continue;
    const double seconds = comparable(row, row.seconds), dollars = comparable(row, *row.paid());
    row.pareto = std::ranges::none_of(rows, [&](const CostRow& other) {
      if (!competes(other)) return false;
      const double its_seconds = comparable(other, other.seconds), its_dollars = comparable(other, *other.paid());
      return its_seconds <= seconds && its_dollars <= dollars && (its_seconds < seconds || its_dollars < dollars);
    });
  }
}

std::string basis_text(const CostRow& row, double efficiency) {
  if (row.too_small)
    return fmt::format("does not fit: {} {}, but it has {}",
                       row.too_small->of_a_core ? "a core needs" : "weights, gradients and optimizer need",
                       base::readable(row.too_small->needed, base::Dimension::kBytes),
                       base::readable(row.too_small->has, base::Dimension::kBytes));
  if (row.basis == Basis::kGiven) return "the job's own time";
  if (row.basis == Basis::kSimulated) return "simulated there";
  return fmt::format("roofline estimate at {:g} % of the peaks, with the host of a GPU", efficiency * 100);
}

Cell dollars(const std::optional<double>& value) { return value ? Cell{*value, base::money_text(*value)} : Cell{}; }

/// The record is of one core, of a pipeline of one stage, and of some of its micro-batches: the job has the totals.
void add_job_work(JobToPrice& job, const Maybe& flops, const Record& record, double steps) {
  const double recorded = record.utilisation.model_flops;
  job.flops = flops && *flops > 0 ? *flops : recorded * steps * record.program.ranks;
  const auto bytes = static_cast<double>(record.result.dma.read_bytes + record.result.dma.written_bytes);
  job.hbm_bytes = recorded > 0 ? bytes * (job.flops / recorded) : bytes * steps * record.program.ranks;
}

/// The job with its own cores on other instances whose devices are the same; none when it does not say.
std::vector<Placement> same_cores_elsewhere(const std::string& where, const JobToPrice& job,
                                            const Named<double>& other_instances) {
  std::vector<Placement> out;
  for (const auto& [name, seconds] : other_instances) {
    if (!(seconds > 0))
      throw Error{Fault::kData, where, fmt::format("the job's time elsewhere has no seconds for '{}'", name),
                  "run the job again with this trnsim"};
    out.push_back({.instance_type = name,
                   .cores = job.cores,
                   .sequences_per_step = job.sequences_per_step,
                   .seconds = seconds,
                   .samples = job.samples,
                   .tokens = job.tokens,
                   .settings = {{"instance_type", name}, {"nproc_per_node", fmt::format("{:.0f}", job.cores)}}});
  }
  return out;
}

/// An option of the job, or `otherwise`.
template <class Value>
Value option(const Figures& f, std::string_view name, Value otherwise) {
  const auto found = std::ranges::find(f.workload.options, name, &std::pair<std::string, SettingValue>::first);
  const auto* value = found == f.workload.options.end() ? nullptr : std::get_if<Value>(&found->second);
  return value ? *value : otherwise;
}

/// How the job's instances are bought; a list of another trnsim's may have another name for it.
Purchase purchase_of(const Figures& f) {
  const auto found = std::ranges::find(kPurchaseNames, option(f, "price", std::string{kPurchaseNames.front()}));
  return found == kPurchaseNames.end() ? Purchase::kOnDemand : static_cast<Purchase>(found - kPurchaseNames.begin());
}

/// Weights, gradients and the optimizer's state: one copy of each, however many cores share it.
double state_of(const Figures& f) {
  const auto size = [&](std::string_view name) { return static_cast<double>(option(f, name, std::int64_t{1})); };
  const auto held = [&](const char* kind) { return f.memory.kind(kind).value_or(0); };
  const double split = size("tensor_parallel_size") * size("pipeline_parallel_size");
  const double shares = option(f, "zero_1", false) ? f.machine.cores.value_or(0) : split;
  return split * (held("weights") + held("gradients")) + shares * held("optimizer");
}

void require_efficiency(double efficiency, const std::string& where) {
  if (!(efficiency > 0 && efficiency <= 1))
    throw Error{Fault::kUsage, where, "is not above 0 and at most 1", "give a share of the peak, as in 40%"};
}

}  // namespace

JobToPrice job_of_run(const std::filesystem::path& folder) {
  return job_to_price(read_result(folder), read_record(folder), (folder / "result.json").string());
}

JobToPrice job_to_price(const Figures& f, const Record& record, const std::string& where) {
  JobToPrice job;
  job.instance_type = record.info.instance_type;
  job.instances = static_cast<int>(record.info.instances);
  job.seconds = needed(where, f.runtime(), "train_runtime");
  job.steps = f.generates() ? needed(where, f.work.steps, "steps")
                            : needed(where, f.work.train_steps_per_second, "train_steps_per_second") * job.seconds;
  job.samples = f.generates() ? f.work.samples.value_or(0) : f.work.train_samples_per_second.value_or(0) * job.seconds;
  const double per_epoch = f.generates() ? 0 : f.cost.dollars_per_epoch.value_or(0);
  job.epochs = per_epoch > 0 ? f.cost.dollars.value_or(0) / per_epoch : 0;
  job.tokens = f.work.tokens.value_or(0);
  job.framework_ops = f.work.framework_ops.value_or(0);
  add_job_work(job, f.work.job_model_flops, record, job.steps);
  job.state_bytes = state_of(f);
  job.purchase = purchase_of(f);
  job.set = option(f, "set", std::vector<std::string>{});
  if (f.time.interrupted_runtime)
    job.interrupted = InterruptedTime{.seconds = *f.time.interrupted_runtime,
                                      .save_steps = f.time.interrupted_save_steps.value_or(0),
                                      .dollars = f.cost.interrupted_dollars,
                                      .as_saved = f.time.interrupted_as_saved_runtime};
  job.cores = f.machine.cores.value_or(0);
  job.copies = f.cost.copies_per_instance.value_or(1);
  job.sequences_per_step = f.work.sequences_per_step.value_or(0);
  if (!f.generates()) job.placements = same_cores_elsewhere(where, job, f.time.other_instances);
  return job;
}

std::vector<PricedInstance> prices_of(const JobToPrice& job, const std::vector<PricedInstance>& list) {
  if (job.cores > 0) return with_prices(list, job.instance_type, job.set);
  find_instance(list, job.instance_type);  // a job of a time alone is on an instance of the list
  return list;
}

double parse_efficiency(const std::string& text, const std::string& where) {
  const double efficiency = base::parse_as(text, base::Dimension::kRatio, where);
  require_efficiency(efficiency, where);
  return efficiency;
}

std::vector<CostRow> price_job(const JobToPrice& job, const std::vector<PricedInstance>& list,
                               const std::vector<int>& counts, double efficiency) {
  if (!(job.seconds > 0)) throw Error{Fault::kUsage, "cost", "the job has no time", "give `runtime`, as in 8:30"};
  require_efficiency(efficiency, "`efficiency`");
  const std::vector<PricedInstance> prices = prices_of(job, list);
  const PricedInstance& own = find_instance(prices, job.instance_type);
  std::set<int> numbers{counts.begin(), counts.end()};
  if (numbers.empty()) numbers.insert(1);
  if (*numbers.begin() < 1) throw Error{Fault::kUsage, "`instances`", "is below 1", "give whole numbers from 1"};
  std::vector<CostRow> rows{own_row(job, own)};
  for (const Placement& there : job.placements)
    rows.push_back(placed_row(job, find_instance(prices, there.instance_type), there));
  for (const PricedInstance& one : prices)
    for (const int count : numbers)
      if (!one.simulated && job.flops > 0) rows.push_back(roofline_row(job, one, count, efficiency));
  mark_pareto(rows);
  return rows;
}

const CostRow* cheapest_of(const std::vector<CostRow>& rows) {
  return least(rows, [](const CostRow& row) { return *row.paid(); });
}

const CostRow* fastest_of(const std::vector<CostRow>& rows) { return least(rows, &CostRow::seconds); }

const CostRow* cheapest_interrupted(const std::vector<CostRow>& rows) {
  const CostRow* best = nullptr;
  const auto of = [](const CostRow& row) { return comparable(row, *row.interrupted->dollars); };
  for (const CostRow& row : rows)
    if (row.interrupted && row.interrupted->dollars && !row.too_small && (!best || of(row) < of(*best))) best = &row;
  return best;
}

namespace {

Cell count_cell(double value) { return value > 0 ? Cell{static_cast<std::int64_t>(value)} : Cell{}; }
Cell time_cell(const CostRow& row) {
  return row.too_small ? Cell{} : Cell{row.seconds, base::duration_text(row.seconds)};
}

bool are_interrupted(const std::vector<CostRow>& rows) {
  return std::ranges::any_of(rows, [](const CostRow& row) { return row.interrupted.has_value(); });
}
Cell interrupted_time(const CostRow& row) {
  return row.interrupted ? Cell{row.interrupted->seconds, base::duration_text(row.interrupted->seconds)} : Cell{};
}
Cell interrupted_dollars(const CostRow& row) { return row.interrupted ? dollars(row.interrupted->dollars) : Cell{}; }

std::string text_of(const Named<std::string>& settings) {
  std::string out;
  for (const auto& [name, value] : settings) out += fmt::format("{}--{} {}", out.empty() ? "" : " ", name, value);
  return out;
}

bool have_batches(const std::vector<CostRow>& rows) {
  return std::ranges::any_of(rows, [](const CostRow& row) { return row.largest_batch.has_value(); });
}

std::vector<base::Column> cost_columns(const std::vector<CostRow>& rows) {
  std::vector<base::Column> columns = {{"instance_type", "instance"},
                                       {"instances", "n", Align::kRight},
                                       {"cores", "", Align::kRight},
                                       {"sequences_per_step", "batch", Align::kRight},
                                       {"seconds", "time", Align::kRight}};
  for (const std::string_view name : kPurchaseNames) columns.push_back({std::string{name}, "", Align::kRight});
  columns.insert(columns.end(), {{"per_epoch", "", Align::kRight},
                                 {"per_million_tokens", "per Mtoken", Align::kRight},
                                 {"per_1k_samples", "per 1k samples", Align::kRight},
                                 {"pareto", ""},
                                 {"basis", ""},
                                 {"settings", ""}});
  if (have_batches(rows)) columns.push_back({"largest_batch", "largest batch", Align::kRight});
  if (are_interrupted(rows))
    columns.insert(columns.end(), {{"interrupted_seconds", "interrupted time", Align::kRight},
                                   {"interrupted_dollars", "interrupted dollars", Align::kRight},
                                   {"interrupted_save_steps", "steps between checkpoints", Align::kRight}});
  return columns;
}

}  // namespace

base::Table cost_table(const std::vector<CostRow>& rows, double efficiency) {
  const bool batches = have_batches(rows), cut = are_interrupted(rows);
  base::Table table{cost_columns(rows)};
  for (const CostRow& row : rows) {
    const auto price = [&](const std::optional<double>& value) { return row.too_small ? Cell{} : dollars(value); };
    std::vector<Cell> cells = {row.instance_type, row.instances, count_cell(row.cores),
                               count_cell(row.sequences_per_step), time_cell(row)};
    for (const auto& run : row.run) cells.push_back(price(run));
    cells.push_back(price(row.per_epoch));
    cells.push_back(price(row.per_million_tokens));
    cells.push_back(price(row.per_1k_samples));
    cells.push_back(row.pareto ? Cell{*row.pareto} : Cell{});
    cells.emplace_back(basis_text(row, efficiency));
    cells.push_back(row.settings.empty() ? Cell{} : Cell{text_of(row.settings)});
    if (batches) cells.push_back(row.largest_batch ? Cell{*row.largest_batch} : Cell{});
    if (cut) {
      cells.push_back(interrupted_time(row));
      cells.push_back(interrupted_dollars(row));
      cells.push_back(row.interrupted ? Cell{static_cast<std::int64_t>(row.interrupted->save_steps)} : Cell{});
    }
    table.add_row(std::move(cells));
  }
  return table;
}

namespace {

base::Column price_column(Purchase purchase) {
  const std::string_view name = kPurchaseNames[static_cast<std::size_t>(purchase)];
  std::string title{name};
  std::ranges::replace(title, '_', ' ');
  return {std::string{name}, title, Align::kRight};
}

std::string brief_basis(const CostRow& row) {
  if (row.too_small) return "does not fit";
  if (row.basis == Basis::kRoofline) return "roofline";
  const char* best = row.pareto.value_or(false) ? ", best" : "";
  return fmt::format("{}{}", row.basis == Basis::kGiven ? "this job" : "simulated", best);
}

}  // namespace

base::Table brief_cost_table(const std::vector<CostRow>& rows) {
  const Purchase paid = rows.empty() ? Purchase::kOnDemand : rows.front().purchase;
  const Purchase beside = paid == Purchase::kSpot ? Purchase::kOnDemand : Purchase::kSpot;
  const bool cut = are_interrupted(rows);
  std::vector<base::Column> columns{{"instance_type", "instance"},      {"instances", "n", Align::kRight},
                                    {"cores", "", Align::kRight},       {"sequences_per_step", "batch", Align::kRight},
                                    {"seconds", "time", Align::kRight}, price_column(paid)};
  if (cut)
    columns.insert(columns.end(), {{"interrupted_seconds", "cut off", Align::kRight},
                                   {"interrupted_dollars", "cut off $", Align::kRight}});
  else
    columns.push_back(price_column(beside));
  columns.push_back({"basis", ""});
  base::Table table{std::move(columns)};
  for (const CostRow& row : rows) {
    const auto price = [&](Purchase purchase) {
      return row.too_small ? Cell{} : dollars(row.run[static_cast<std::size_t>(purchase)]);
    };
    std::vector<Cell> cells{row.instance_type, row.instances, count_cell(row.cores), count_cell(row.sequences_per_step),
                            time_cell(row),    price(paid)};
    if (cut)
      cells.insert(cells.end(), {interrupted_time(row), interrupted_dollars(row)});
    else
      cells.push_back(price(beside));
    cells.emplace_back(brief_basis(row));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace analysis
