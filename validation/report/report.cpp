#include "validation/report/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "validation/report/baseline.h"

namespace validation {
namespace {

using base::Error;
using base::Fault;

/// Whether the error concerns the row alone, so that the others can still be predicted.
bool concerns_row(Fault fault) {
  return fault == Fault::kCapacity || fault == Fault::kProgram || fault == Fault::kData || fault == Fault::kUsage;
}

Prediction ask(const Row& row, const Predictor& predict) {
  if (!row.defect.empty()) return Prediction::skip(row.defect);
  try {
    return predict(row);
  } catch (const Error& error) {
    if (!concerns_row(error.fault())) throw;
    return Prediction::skip(error.what());
  }
}

const std::string& instance_of(const Row& row) {
  const auto* micro = std::get_if<MicroRow>(&row.job);
  return micro ? micro->instance : std::get<TrainingRow>(row.job).instance;
}

/// Rows of different chips are told apart: a mean of both would say nothing of either.
std::string kind_of(const Row& row) {
  return row.kind + std::string{instance_of(row).starts_with("trn2") ? kOnTrn2 : std::string_view{}};
}

bool is_traced(const Row& row) {
  const auto* micro = std::get_if<MicroRow>(&row.job);
  return row.kind == "nki" || (micro && !micro->kernel.text("script").empty());
}

/// Jobs by their size, which decides how much links and networks count; a prompt and further tokens apart.
std::string regime_of(const Row& row) {
  const auto* job = std::get_if<TrainingRow>(&row.job);
  std::string out = regime_name(row.kind);
  if (job && row.kind == "train")
    out += job->nodes.value_or(1) > 1 ? ", several nodes" : job->cores.value_or(1) > 2 ? ", one node" : ", one chip";
  if (job && row.kind == "generate")
    out += base::lower(row.metric).find("ttft") == std::string::npos ? ", each token" : ", first token";
  return out + std::string{instance_of(row).starts_with("trn2") ? kOnTrn2 : std::string_view{}};
}

Comparison compare(const Row& row, Prediction prediction) {
  base::ensure(prediction.value.has_value() == prediction.skip_reason.empty(), row.id,
               "a prediction needs either a value or a reason for its absence");
  Comparison out{.id = row.id,
                 .kind = kind_of(row),
                 .metric = row.metric,
                 .publisher = row.publisher,
                 .regime = regime_of(row),
                 .published = row.published,
                 .low = row.low,
                 .high = row.high,
                 .micro = std::holds_alternative<MicroRow>(row.job) && row.kind != "compile",
                 .untold = row.untold,
                 .traced = is_traced(row),
                 .predicted = prediction.value,
                 .error_percent = {},
                 .in_range = false,
                 .assumptions = std::move(prediction.assumptions),
                 .skip_reason = std::move(prediction.skip_reason),
                 .time = std::move(prediction.time),
                 .work = std::move(prediction.work)};
  if (const auto* job = std::get_if<TrainingRow>(&row.job)) out.releases = job->releases.value_or(1);
  if (!out.predicted) return out;
  base::ensure(*out.predicted > 0 && std::isfinite(*out.predicted), row.id, "predicted value is not positive");
  out.error_percent = (*out.predicted - row.published) / row.published * 100;
  out.in_range = row.low <= *out.predicted && *out.predicted <= row.high;
  return out;
}

KindSummary summarise(std::string kind, const std::vector<Comparison*>& rows) {
  KindSummary summary{.kind = std::move(kind), .rows = static_cast<int>(rows.size()), .worst_id = ""};
  std::vector<double> errors;
  for (const Comparison* row : rows) {
    if (!row->error_percent) continue;
    errors.push_back(std::abs(*row->error_percent));
    summary.mean += errors.back();
    if (row->low < row->high) {
      ++summary.ranged;
      summary.in_range += row->in_range;
    }
    if (summary.worst_id.empty() || errors.back() > summary.worst) {
      summary.worst = errors.back();
      summary.worst_id = row->id;
    }
  }
  add_baselines(summary, rows);
  summary.predicted = static_cast<int>(errors.size());
  if (errors.empty()) return summary;
  summary.mean /= summary.predicted;
  std::ranges::sort(errors);
  const std::size_t half = errors.size() / 2;
  summary.median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  return summary;
}

}  // namespace

ValidationReport validate(std::span<const Row> rows, const Predictor& predict) {
  ValidationReport report;
  for (const Row& row : rows) report.rows.push_back(compare(row, ask(row, predict)));
  std::vector<std::string> kinds;
  std::set<std::string> micro_kinds;
  std::vector<Comparison*> all, micro;
  for (Comparison& row : report.rows) {
    if (std::ranges::find(kinds, row.kind) == kinds.end()) kinds.push_back(row.kind);
    if (row.micro) micro_kinds.insert(row.kind), micro.push_back(&row);
    all.push_back(&row);
  }
  for (const std::string& kind : kinds) {
    std::vector<Comparison*> same;
    std::ranges::copy_if(all, std::back_inserter(same), [&](const Comparison* row) { return row->kind == kind; });
    fit_baselines(same);
    report.summaries.push_back(summarise(kind, same));
    report.summaries.back().utilisation = fitted_utilisation(same);
  }
  if (micro_kinds.size() > 1) report.summaries.push_back(summarise("micro", micro));
  report.summaries.push_back(summarise("all", all));
  return report;
}

}  // namespace validation
