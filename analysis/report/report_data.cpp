// What a report says, whatever its form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/profile/memory_use.h"
#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "analysis/report/report_parts.h"
#include "base/error.h"
#include "base/progress.h"
#include "isa/names.h"

namespace analysis {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> figure_of(const Json& body, const char* section, const char* key) {
  const auto found = body.find(section);
  if (found == body.end() || !found->is_object()) return std::nullopt;
  const auto value = found->find(key);
  if (value == found->end() || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

}  // namespace

double reserved_bytes(const ReportRun& run, const std::string& kind) {
  return figure_of(run.result, "memory", kind.c_str()).value_or(NAN);
}

double hbm_needed(const ReportRun& run, double otherwise) {
  return figure_of(run.result, "memory", "peak").value_or(otherwise);
}

namespace {

std::vector<std::string> warnings_of(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  std::vector<std::string> list;
  if (!r.exact && r.replayed_calls > 0)
    list.push_back(
        fmt::format("{} of {} calls took the time of an earlier call of their block (the setting exact simulates all)",
                    r.replayed_calls, r.calls.size()));
  const RecordInfo& info = run.record.info;
  if (info.stages > 1)
    list.push_back(fmt::format("a pipeline of {} stages: below is stage {} (the setting stage chooses another)",
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
    list.push_back("the program executes fewer matmul FLOPs than its model has: figures of this run are wrong");
  if (run.steps.empty()) list.push_back("no numerics: the run projected time only, or logged no step");
  if (run.costs.empty()) list.push_back("no cost: the job has no time, or its instance type no price");
  return list;
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

ReportRun load_report_run(const std::filesystem::path& folder, const std::vector<PricedInstance>& prices,
                          double efficiency, std::int64_t stage) {
  ReportRun run;
  run.result = read_result(folder).body;
  run.record = read_record(folder, stage);
  const std::filesystem::path plain = folder.filename().empty() ? folder.parent_path() : folder;
  run.name = plain.filename().string();
  run.efficiency = efficiency;
  if (std::filesystem::exists(folder / "steps.jsonl")) run.steps = read_steps(folder);
  const bool priced = std::ranges::find(prices, run.record.info.instance_type, &PricedInstance::name) != prices.end();
  if (priced && figure_of(run.result, "job", "train_runtime") && figure_of(run.result, "job", "train_steps_per_second"))
    run.costs = price_job(job_of_run(folder), prices, {1}, efficiency);
  run.warnings = warnings_of(run);
  return run;
}

std::vector<Difference> compare_runs(const ReportRun& first, const ReportRun& other) {
  std::vector<Difference> out = compare_jobs(first.result, other.result);
  std::ranges::move(compare(first.record, other.record), std::back_inserter(out));
  return out;
}

std::vector<Headline> headlines(const ReportRun& run) {
  const Record& r = run.record;
  const auto from_result = [&](const char* name, const char* section, const char* key, auto text) {
    const auto value = figure_of(run.result, section, key);
    return Headline{name, value, value ? text(*value) : std::string{}};
  };
  const auto seconds = [](double v) { return readable(v, "s"); };
  const auto percent = [](double v) { return readable(v, "%"); };
  const double step = hw::seconds(r.result.total);
  const std::vector<Resource> binding = resources(r.result);
  // Of the job: a pipeline's record is of one stage.
  Headline device_step = from_result("device step", "job", "device_step_seconds", seconds);
  if (!device_step.value) device_step = {"device step", step, seconds(step)};
  std::vector<Headline> list = {
      from_result("training time", "job", "train_runtime", [](double v) { return base::clock_text(v); }),
      from_result("step", "job", "step_seconds", seconds),
      device_step,
      from_result("samples/s", "job", "train_samples_per_second", [](double v) { return fmt::format("{:.4g}", v); }),
      from_result("cost of the run", "cost", "run", [](double v) { return fmt::format("${:.2f}", v); }),
      from_result("MFU of the job", "job", "mfu_percent", percent),
      {"MFU of the device's time", r.utilisation.mfu, percent(r.utilisation.mfu)},
      {"HFU of the device's time", r.utilisation.hfu, percent(r.utilisation.hfu)},
      {"MBU of the device's time", r.utilisation.mbu, percent(r.utilisation.mbu)}};
  if (!binding.empty()) {
    const double host = figure_of(run.result, "job", "host_step_seconds").value_or(0);
    list.push_back({"binds", binding[0].busy,
                    fmt::format("{}{}, {} busy", host > step ? "the host; on the device: " : "", binding[0].name,
                                percent(binding[0].busy))});
  }
  const auto score = [](double v) { return fmt::format("{:.4f}", v); };
  for (const auto& [name, key] : {std::pair{"eval accuracy", "eval_accuracy"},
                                  {"eval F1", "eval_f1_macro"},
                                  {"eval perplexity", "eval_perplexity"},
                                  {"test accuracy", "test_accuracy"},
                                  {"test F1", "test_f1_macro"},
                                  {"test perplexity", "test_perplexity"}})
    list.push_back(from_result(name, "metrics", key, score));
  std::erase_if(list, [](const Headline& h) { return !h.value; });
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
    add_share(map, isa::kEngineCount, call.begin, call.end, static_cast<double>(call.dma.active) / length, column);
  }
  for (const hw::CollectiveTime& c : result.collectives)
    add_share(map, isa::kEngineCount + 1, c.begin, c.end, 1, column);
  return map;
}

}  // namespace analysis
