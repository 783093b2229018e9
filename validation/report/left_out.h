// Errors of rows whose publisher had no part in the fit: every fitted constant is fitted again without it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/report/influence.h"

namespace validation {

/// The fits without each publisher in turn.
struct LeftOut {
  /// Signed, in per cent, of each row of the report: of constants fitted without the row's publisher. Nothing for a row
  /// without prediction.
  std::vector<std::optional<double>> error_percent;
  /// Constants that no row of another publisher tells: "AWS: collective.floor, collective.bandwidth". They keep their
  /// value in the fit without it, so that the errors left out are no larger than this makes them.
  std::vector<std::string> untold;
};

/// Constants change the logarithm of a prediction in proportion to their own, as far as the study of 10 % has shown; a
/// constant answers to the rows that it names, by least squares of their errors' logarithms. A row's error changes by
/// the difference between the fit without its publisher and the fit with all.
LeftOut leave_out(const ValidationReport& report, const Influence& influence);

/// Mean errors of one regime: as fitted, and with each row's publisher left out.
struct RegimeErrors {
  std::string regime;
  int rows = 0, publishers = 0;
  double in_sample = 0, left_out = 0;  // per cent
  int inside = 0;                      // rows that are no further off than the mean error left out
  std::string why;  // when the second is more than 1.5 times the first, or there is one publisher alone
};
std::vector<RegimeErrors> regime_errors(const ValidationReport& report, const LeftOut& left_out);

}  // namespace validation
