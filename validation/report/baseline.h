// Simple baselines: a published figure predicted from the work of the program alone, without a simulation.
#pragma once

#include <optional>
#include <span>

#include "validation/report/report.h"

namespace validation {

/// The row's metric if a repetition took `seconds`. Errors: Fault::kInternal for a row without prediction or work.
double value_if(const Comparison& row, double seconds);

/// The one utilisation (1: as the peaks allow) with the least sum of squared logarithms of errors over the rows, hence
/// the geometric mean of each row's own. Nothing for fewer than two rows with device work: one row fits itself.
std::optional<double> fitted_utilisation(std::span<Comparison* const> rows);

/// Fills baseline_error_percent of the rows of one kind.
void fit_baselines(std::span<Comparison* const> rows);

/// Means of the absolute errors that fit_baselines() left, over the rows that have device work.
void add_baselines(KindSummary& summary, std::span<Comparison* const> rows);

}  // namespace validation
