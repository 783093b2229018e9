// How well the published rows tell the fitted constants, and how large the error of each mechanism is.
#include <algorithm>
#include <cmath>

#include "validation/report/influence.h"

namespace validation {
namespace {

constexpr double kMoves = 1;        // per cent of a prediction, for 10 % of a constant
constexpr double kSame = 0.98;      // cosine of two constants' changes that are indistinguishable
constexpr double kLeastRows = 0.5;  // of a mechanism's shares in the micro rows, summed

/// Changes by one constant over all predicted rows.
std::vector<double> column(const Influence& influence, std::size_t constant) {
  std::vector<double> out;
  for (const auto& row : influence.change_percent)
    if (!row.empty()) out.push_back(row[constant]);
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double likeness(const std::vector<double>& a, const std::vector<double>& b) {
  const double lengths = std::sqrt(product(a, a) * product(b, b));
  return lengths > 0 ? std::abs(product(a, b)) / lengths : 0;
}

}  // namespace

std::vector<Identification> identify(const ValidationReport& report, const Influence& influence) {
  const auto& constants = influence.parameters.constants;
  std::vector<Identification> out;
  for (std::size_t c = 0; c < constants.size(); ++c) {
    Identification id{.rows = static_cast<int>(constants[c].rows.size()), .strongest = "", .as = {}};
    double most = 0;
    for (std::size_t r = 0; r < report.rows.size(); ++r) {
      if (influence.change_percent[r].empty()) continue;
      const double change = std::abs(influence.change_percent[r][c]);
      id.moved += change >= kMoves;
      if (change > most) most = change, id.strongest = report.rows[r].id;
    }
    double nearest = kSame;
    for (std::size_t other = 0; other < constants.size(); ++other) {
      if (other == c) continue;
      const double like = likeness(column(influence, c), column(influence, other));
      if (like > nearest) nearest = like, id.as = constants[other].name;
    }
    out.push_back(std::move(id));
  }
  return out;
}

std::set<std::string> rows_read_off(const ValidationReport& report, const Influence& influence) {
  std::set<std::string> out;
  for (const Constant& constant : influence.parameters.constants)
    for (const Comparison& row : report.rows)
      if (!constant.fitted && row.predicted && std::ranges::find(constant.rows, row.id) != constant.rows.end())
        out.insert(row.id);
  return out;
}

std::vector<std::optional<double>> mechanism_errors(const ValidationReport& report, const Influence& influence) {
  std::vector<std::optional<double>> out;
  for (std::size_t m = 0; m < influence.parameters.mechanisms.size(); ++m) {
    double weights = 0, errors = 0;
    for (std::size_t r = 0; r < report.rows.size(); ++r) {
      if (!report.rows[r].micro || influence.share[r].empty()) continue;
      const double share = std::clamp(influence.share[r][m], 0.0, 1.0);
      weights += share;
      errors += share * std::abs(*report.rows[r].error_percent);
    }
    out.push_back(weights >= kLeastRows ? std::optional{errors / weights} : std::nullopt);
  }
  return out;
}

}  // namespace validation
