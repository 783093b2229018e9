// The content of a report, in any form.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/figures/figure_table.h"
#include "analysis/profile/memory_use.h"
#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "analysis/report/report_parts.h"
#include "base/error.h"
#include "isa/names.h"

namespace analysis {

double hbm_needed(const ReportRun& run, double otherwise) { return run.figures.memory.hbm_bytes.value_or(otherwise); }

namespace {

std::vector<std::string> warnings_of(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  std::vector<std::string> list;
  if (!run.simulated()) return list;
  if (!r.exact && r.replayed_calls > 0)
    list.push_back(
        fmt::format("{} of {} calls reuse the time of an earlier call of their block (the setting exact simulates all)",
                    r.replayed_calls, r.calls.size()));
  const RecordInfo& info = run.record.info;
  if (info.stages > 1)
    list.push_back(fmt::format("a pipeline of {} stages: stage {} is shown (the setting stage chooses another)",
                               info.stages, info.stage));
  if (info.recorded_micro_batches < info.micro_batches)
    list.push_back(fmt::format("{} of {} micro-batches of the step were simulated; the others take as long as the last",
                               info.recorded_micro_batches, info.micro_batches));
  if (r.dropped_events > 0)
    list.push_back(fmt::format("{} events did not fit in the record: traces of this run have a gap", r.dropped_events));
  const double needed = hbm_needed(run, memory_use(run.record).peak);
  const auto capacity = static_cast<double>(run.record.info.hbm_bytes_per_core);
  if (capacity > 0 && needed > 0.95 * capacity)
    list.push_back(fmt::format("HBM is {:.1f} % full at its peak", needed / capacity * 100));
  if (r.matmul_flops > 0 && run.record.program.model_flops > r.matmul_flops * 1.0001)
    list.push_back("the program executes fewer matmul FLOPs than its model has: the figures of this run are wrong");
  if (run.costs.empty()) list.push_back("no cost: the job has no time, or its instance type has no price");
  return list;
}

/// Without the instances whose cores the job would not all use: as many cores as here say nothing about a larger
/// instance, where `trnsim cost` places the job on all of them.
JobToPrice on_whole_instances(JobToPrice job, const Record& record, const std::vector<PricedInstance>& prices) {
  std::erase_if(job.placements, [&](const Placement& there) {
    return find_instance(prices, there.instance_type).accelerators * record.info.cores_per_chip != job.cores;
  });
  return job;
}

void add_share(BusyMap& map, std::size_t row, hw::Fs begin, hw::Fs end, double share, double column) {
  auto& values = map.values[row];
  const double from = static_cast<double>(begin) / column, to = static_cast<double>(end) / column;
  for (auto c = static_cast<std::size_t>(from); c < values.size() && static_cast<double>(c) < to; ++c) {
    const double at = static_cast<double>(c);
    values[c] += share * std::max(0.0, std::min(to, at + 1) - std::max(from, at));
  }
}

}  // namespace

ReportRun report_run(const std::filesystem::path& folder, RunParts parts, const std::vector<PricedInstance>& prices,
                     double efficiency) {
  ReportRun run{std::move(parts), {}, {}, efficiency, {}};
  Figures& f = run.figures;
  const std::filesystem::path plain = folder.filename().empty() ? folder.parent_path() : folder;
  run.name = plain.filename().string();
  if (!run.simulated()) return run;
  f.core = core_figures(run.record.utilisation);  // a pipeline's record may be of another stage
  if (!f.time.device_step_seconds) f.time.device_step_seconds = hw::seconds(run.record.result.total);
  if (f.projected() && (f.generates() || f.work.train_steps_per_second)) {
    const JobToPrice job = job_to_price(f, run.record, (folder / "result.json").string());
    const std::vector<PricedInstance> own = with_prices(prices, job.instance_type, job.set);
    const auto known = [](const auto& price) { return price.has_value(); };
    if (std::ranges::any_of(find_instance(own, job.instance_type).per_hour, known))
      run.costs = price_job(on_whole_instances(job, run.record, prices), prices, {1}, efficiency);
  }
  run.warnings = warnings_of(run);
  return run;
}

namespace {

/// Whether a run trained, and simulated no step of a job.
bool trained_alone(const std::filesystem::path& folder, const Figures& figures) {
  return figures.training && !figures.projected() && !std::filesystem::exists(folder / "run.sqlite");
}

}  // namespace

ReportRun load_report_run(const std::filesystem::path& folder, const std::vector<PricedInstance>& prices,
                          double efficiency, std::int64_t stage) {
  RunParts parts{.record = {}, .figures = read_result(folder), .steps = {}};
  if (!trained_alone(folder, parts.figures)) parts.record = read_record(folder, stage);
  if (std::filesystem::exists(folder / "steps.jsonl")) parts.steps = read_steps(folder);
  return report_run(folder, std::move(parts), prices, efficiency);
}

namespace {

/// Losses at the steps that both have logged, a few of them evenly.
std::vector<Difference> compare_losses(const ReportRun& first, const ReportRun& other) {
  constexpr std::size_t kMost = 12;
  std::vector<Difference> all, out;
  for (const StepFigures& a : first.steps)
    for (const StepFigures& b : other.steps)
      if (a.step == b.step && a.loss && b.loss)
        all.push_back({"training", fmt::format("loss of step {}", a.step), *a.loss, *b.loss, ""});
  const std::size_t every = std::max<std::size_t>(1, (all.size() + kMost - 1) / kMost);
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((all.size() - 1 - i) % every == 0) out.push_back(std::move(all[i]));
  return out;
}

}  // namespace

std::vector<Difference> compare_runs(const ReportRun& first, const ReportRun& other) {
  std::vector<Difference> out = compare_jobs(first.figures, other.figures);
  if (first.figures.training && other.figures.training)
    std::ranges::move(compare_losses(first, other), std::back_inserter(out));
  if (first.simulated() && other.simulated())
    std::ranges::move(compare(first.record, other.record), std::back_inserter(out));
  if (out.empty())
    throw base::Error{base::Fault::kUsage, fmt::format("{} and {}", first.name, other.name),
                      "cannot be compared: one was only trained, the other only projected",
                      "run one of them again without `mode`"};
  return out;
}

namespace {

/// The part that would shorten a step most.
void add_binding(const ReportRun& run, std::vector<Headline>& list) {
  const auto binding = binding_of(run.figures);
  if (!binding) return;
  const double share = 100 * binding->share;
  list.push_back({"binds", share, fmt::format("{}, {} of a step", binding->name, readable(share, "%"))});
}

}  // namespace

std::vector<Headline> headlines(const ReportRun& run) {
  std::vector<Headline> list;
  for (const char* section : {"job", "cost", "utilisation", "metrics"}) {
    if (section == std::string_view{"metrics"}) add_binding(run, list);
    for (const auto& [figure, value] : figures_of_section(run.figures, section))
      if (!figure->title.empty()) list.push_back({std::string{figure->title}, value, figure_text(figure->unit, value)});
  }
  return list;
}

BusyMap busy_map(const hw::SimResult& result, std::size_t columns) {
  BusyMap map;
  for (int e = 0; e < isa::kEngineCount; ++e) map.rows.emplace_back(isa::name_of(static_cast<isa::Engine>(e)));
  map.rows.insert(map.rows.end(), {"dma", "collectives"});
  map.values.assign(map.rows.size(), std::vector<double>(columns, 0));
  const double column = static_cast<double>(result.total) / static_cast<double>(columns);
  if (!(column > 0)) return map;
  for (const hw::CallTime& call : result.calls) {
    const auto length = static_cast<double>(call.end - call.begin);
    if (!(length > 0)) continue;
    for (std::size_t e = 0; e < isa::kEngineCount; ++e)
      add_share(map, e, call.begin, call.end, static_cast<double>(call.engines[e].busy) / length, column);
    add_share(map, isa::kEngineCount, call.begin, call.end,
              call.dma.engine_busy / std::max(result.peaks.dma_engines, 1.0) / length, column);
  }
  for (const hw::CollectiveTime& c : result.collectives)
    add_share(map, isa::kEngineCount + 1, c.begin, c.end, 1, column);
  return map;
}

}  // namespace analysis
