#include "validation/report/baseline.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "validation/rows/metric.h"

namespace validation {
namespace {

constexpr std::size_t kFewestRows = 2;  // that a utilisation is fitted to

bool has_work(const Comparison& row) { return row.predicted && row.work.seconds > 0 && row.work.ideal > 0; }

/// Seconds of a repetition that the published figure stands for.
double published_seconds(const Comparison& row) {
  const double ratio = row.published / *row.predicted;
  return is_time(row.metric) ? row.work.seconds * ratio : row.work.seconds / ratio;
}

}  // namespace

double value_if(const Comparison& row, double seconds) {
  base::ensure(has_work(row) && seconds > 0, row.id, "a baseline needs a predicted row with device work");
  const double ratio = seconds / row.work.seconds;
  return is_time(row.metric) ? *row.predicted * ratio : *row.predicted / ratio;
}

std::optional<double> fitted_utilisation(std::span<Comparison* const> rows) {
  double sum = 0;
  std::size_t count = 0;
  for (const Comparison* row : rows) {
    if (!has_work(*row)) continue;
    sum += std::log(row->work.ideal / published_seconds(*row));
    ++count;
  }
  if (count < kFewestRows) return std::nullopt;
  return std::exp(sum / static_cast<double>(count));
}

void fit_baselines(std::span<Comparison* const> rows) {
  const std::optional<double> utilisation = fitted_utilisation(rows);
  for (Comparison* row : rows) {
    if (!has_work(*row)) continue;
    double sum = 0, most = 0;
    for (const auto& [engine, seconds] : row->work.busy) sum += seconds, most = std::max(most, seconds);
    const auto error = [&](double seconds) {
      return (value_if(*row, seconds) - row->published) / row->published * 100;
    };
    auto& errors = row->baseline_error_percent;
    if (utilisation) errors[static_cast<std::size_t>(Baseline::kUtilisation)] = error(row->work.ideal / *utilisation);
    if (most <= 0) continue;
    errors[static_cast<std::size_t>(Baseline::kSum)] = error(sum);
    errors[static_cast<std::size_t>(Baseline::kBusiest)] = error(most);
  }
}

void add_baselines(KindSummary& summary, std::span<Comparison* const> rows) {
  for (const Comparison* row : rows) {
    if (!has_work(*row)) continue;
    ++summary.with_work;
    summary.mean_with_work += std::abs(*row->error_percent);
  }
  if (summary.with_work > 0) summary.mean_with_work /= summary.with_work;
  for (std::size_t b = 0; b < kBaselineCount; ++b) {
    double total = 0;
    int count = 0;
    for (const Comparison* row : rows) {
      if (!row->baseline_error_percent[b]) continue;
      total += std::abs(*row->baseline_error_percent[b]);
      ++count;
    }
    if (count > 0) summary.baseline_mean[b] = total / count;
  }
}

}  // namespace validation
