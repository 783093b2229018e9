#include "validation/predict/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/suggest.h"
#include "validation/predict/projections.h"

namespace validation {
namespace {

using base::Error;
using base::Fault;

std::vector<Row> choose(std::vector<Row> rows, std::span<const std::string> only) {
  if (only.empty()) return rows;
  std::vector<std::string> ids;
  for (const Row& row : rows) ids.push_back(row.id);
  std::vector<Row> chosen;
  for (const std::string& id : only) {
    const auto found = std::ranges::find(ids, id);
    if (found == ids.end())
      throw Error{Fault::kUsage, "`only`", fmt::format("no row has the id '{}'", id), base::suggest_fix(id, ids)};
    chosen.push_back(rows[static_cast<std::size_t>(found - ids.begin())]);
  }
  return chosen;
}

/// Compilers run on the host, and a core alone sends nothing.
bool may_read(const Row& row, std::string_view mechanism) {
  if (row.kind == "compile") return mechanism == "host software";
  const auto* job = std::get_if<TrainingRow>(&row.job);
  const auto* micro = std::get_if<MicroRow>(&row.job);
  const std::optional<int> cores = job ? job->cores : micro->cores;
  return mechanism != "collectives" || row.kind == "collective" || cores.value_or(0) != 1;
}

bool on_v3(const Row& row) {
  const auto* micro = std::get_if<MicroRow>(&row.job);
  return (micro ? micro->instance : std::get<TrainingRow>(row.job).instance).starts_with("trn2");
}

bool of_one_job(const Row& a, const Row& b) {
  return a.kind == "generate" && b.kind == "generate" && a.job == b.job && a.defect.empty() && b.defect.empty();
}

}  // namespace

std::vector<Row> load_rows(std::span<const std::filesystem::path> files, std::span<const std::string> only) {
  std::vector<Row> rows;
  for (const std::filesystem::path& file : files)
    for (Row& row : load_validation(file)) rows.push_back(std::move(row));
  return choose(std::move(rows), only);
}

PredictContext predict_context(const trnsim::Settings& settings) {
  return {.machine = hw::machine_file(settings.machine.instance_type, settings.machine.set),
          .set = settings.machine.set,
          .exact = settings.machine.exact,
          .host_threads = static_cast<int>(settings.machine.host_threads),
          .stack_changes = settings.machine.stack_changes,
          .programs = settings.machine.programs,
          .projections = std::make_shared<Projections>()};
}

Validation validate(std::span<const Row> rows, const PredictContext& context,
                    const std::function<void(std::size_t, const std::string&)>& begin) {
  Validation out;
  std::size_t done = 0;
  out.report = validate(rows, [&](const Row& row) {
    if (begin) begin(done++, row.id);
    try {
      return predict(row, context);
    } catch (const Error& e) {
      if (e.fault() != Fault::kInternal) throw;
      out.broken = e;
      return Prediction::skip(fmt::format("ended with an internal error: {}", e.what()));
    }
  });
  return out;
}

Influence influence_of(const ValidationReport& report, std::span<const Row> rows, const trnsim::Settings& settings,
                       const PredictContext& known, const analysis::SweepWatch& watch) {
  std::vector<base::ParamFile> machines;
  for (const std::string& name : hw::machine_names()) machines.push_back(hw::machine_file(name));
  if (known.projections) known.projections->keep_last();
  const auto again = [&](std::size_t index, const Variation& variation) {
    trnsim::Settings changed = settings;
    changed.machine.set.insert(changed.machine.set.end(), variation.machine.begin(), variation.machine.end());
    changed.machine.stack_changes = variation.stacks;
    PredictContext context = predict_context(changed);
    context.projections = known.projections, context.in_child = false;  // this is a process of the study
    const Prediction prediction = predict(rows[index], context);
    base::ensure(prediction.value.has_value(), rows[index].id, prediction.skip_reason);
    return *prediction.value;
  };
  const int processes = settings.machine.host_threads > 0
                            ? static_cast<int>(settings.machine.host_threads)
                            : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const base::ParamFile v3 = hw::machine_file("trn2.3xlarge");
  const auto in_v3 = [&](const Constant& constant) {
    if (constant.variation.machine.empty()) return true;  // of a stack
    const std::vector<std::string> keys = v3.keys();
    if (std::ranges::find(keys, constant.name) == keys.end()) return false;
    const base::Parameter& own = v3.parameter(constant.name);
    return own.fitted_on == constant.rows || own.read_off == constant.rows;
  };
  const Evaluate evaluate{
      .predict = again,
      .reads = [&](std::size_t index, std::string_view mechanism) { return may_read(rows[index], mechanism); },
      .has = [&](std::size_t index, const Constant& constant) { return !on_v3(rows[index]) || in_v3(constant); },
      .same_job = [&](std::size_t index) { return index > 0 && of_one_job(rows[index - 1], rows[index]); }};
  return study(report, influential_parameters(machines), evaluate, processes, watch);
}

}  // namespace validation
