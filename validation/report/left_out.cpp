#include "validation/report/left_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace validation {
namespace {

using Vector = std::vector<double>;

/// Least squares of a few unknowns, each held to zero a little so that one that no row tells stays where it is.
class Fit {
 public:
  explicit Fit(std::size_t unknowns) : normal_(unknowns, Vector(unknowns)), right_(unknowns) {
    constexpr double kHold = 1e-4;
    for (std::size_t i = 0; i < unknowns; ++i) normal_[i][i] = kHold;
  }
  void add(const Vector& slopes, double error) {
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      if (slopes[i] == 0) continue;
      right_[i] -= slopes[i] * error;
      for (std::size_t j = 0; j < slopes.size(); ++j) normal_[i][j] += slopes[i] * slopes[j];
    }
  }
  /// Gauss-Jordan; the matrix is positive.
  Vector solve() {
    const std::size_t n = right_.size();
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t i = 0; i < n; ++i) {
        if (i == p || normal_[i][p] == 0) continue;
        const double factor = normal_[i][p] / normal_[p][p];
        for (std::size_t j = p; j < n; ++j) normal_[i][j] -= factor * normal_[p][j];
        right_[i] -= factor * right_[p];
      }
    for (std::size_t p = 0; p < n; ++p) right_[p] /= normal_[p][p];
    return right_;
  }

 private:
  std::vector<Vector> normal_;
  Vector right_;
};

class Study {
 public:
  Study(const ValidationReport& report, const Influence& influence)
      : report_{report}, constants_{influence.parameters.constants}, changes_{influence.change_percent} {}

  LeftOut run() {
    LeftOut out;
    out.error_percent.resize(report_.rows.size());
    std::set<std::string> publishers;
    for (const Comparison& row : report_.rows)
      if (row.predicted) publishers.insert(row.publisher);
    const Vector all = fit(nullptr);
    for (const std::string& publisher : publishers) {
      const Vector without = fit(&publisher);
      for (std::size_t r = 0; r < report_.rows.size(); ++r)
        if (report_.rows[r].predicted && report_.rows[r].publisher == publisher)
          out.error_percent[r] = moved(r, all, without);
      if (const auto untold = told_by_it_alone(publisher); !untold.empty())
        out.untold.push_back(fmt::format("{}: {}", publisher, fmt::join(untold, ", ")));
    }
    return out;
  }

 private:
  bool names(const Constant& constant, std::size_t r) const {
    return constant.fitted && constant.factor > 0 &&
           std::ranges::find(constant.rows, report_.rows[r].id) != constant.rows.end();
  }
  /// d log(prediction) / d log(constant).
  double slope(std::size_t r, std::size_t c) const {
    if (changes_[r].empty() || constants_[c].factor == 0) return 0;
    return std::log(std::max(1e-3, 1 + changes_[r][c] / 100)) / std::log(1.1);
  }
  double error(std::size_t r) const { return std::log(*report_.rows[r].predicted / report_.rows[r].published); }

  /// The constants' logarithms beside their values that rows of all others ask for.
  Vector fit(const std::string* without) const {
    Fit fit{constants_.size()};
    for (std::size_t r = 0; r < report_.rows.size(); ++r) {
      const Comparison& row = report_.rows[r];
      if (!row.predicted || (without && row.publisher == *without)) continue;
      Vector slopes(constants_.size());
      for (std::size_t c = 0; c < constants_.size(); ++c)
        if (names(constants_[c], r)) slopes[c] = slope(r, c);
      fit.add(slopes, error(r));
    }
    Vector out = fit.solve();
    if (!without) return out;
    for (std::size_t c = 0; c < constants_.size(); ++c)
      if (!told_by_another(c, *without)) out[c] = 0;
    return out;
  }

  bool told_by_another(std::size_t c, const std::string& publisher) const {
    for (std::size_t r = 0; r < report_.rows.size(); ++r)
      if (report_.rows[r].predicted && report_.rows[r].publisher != publisher && names(constants_[c], r) &&
          slope(r, c) != 0)
        return true;
    return false;
  }
  std::vector<std::string> told_by_it_alone(const std::string& publisher) const {
    std::vector<std::string> out;
    for (std::size_t c = 0; c < constants_.size(); ++c) {
      bool names_it = false;
      for (std::size_t r = 0; r < report_.rows.size(); ++r)
        names_it |= report_.rows[r].predicted && report_.rows[r].publisher == publisher && names(constants_[c], r);
      if (names_it && !told_by_another(c, publisher)) out.push_back(constants_[c].name);
    }
    return out;
  }

  double moved(std::size_t r, const Vector& all, const Vector& without) const {
    double log = error(r);
    for (std::size_t c = 0; c < constants_.size(); ++c) {
      const bool kept = !told_by_another(c, report_.rows[r].publisher);
      if (!kept) log += slope(r, c) * (without[c] - all[c]);
    }
    return (std::exp(log) - 1) * 100;
  }

  const ValidationReport& report_;
  const std::vector<Constant>& constants_;
  const std::vector<std::vector<double>>& changes_;
};

std::string reason(const RegimeErrors& errors) {
  constexpr double kMuchWorse = 1.5;
  if (errors.publishers < 2) return "one publisher: no other is left to fit on within the regime";
  if (errors.left_out <= kMuchWorse * errors.in_sample) return "";
  return "constants fitted on its other publishers alone do not carry over: see the constants that one publisher "
         "determines";
}

}  // namespace

LeftOut leave_out(const ValidationReport& report, const Influence& influence) { return Study{report, influence}.run(); }

std::vector<RegimeErrors> regime_errors(const ValidationReport& report, const LeftOut& left_out) {
  std::vector<RegimeErrors> out;
  std::vector<std::set<std::string>> publishers;
  const auto place = [&](const std::string& regime) {
    const auto found = std::ranges::find(out, regime, &RegimeErrors::regime);
    if (found != out.end()) return static_cast<std::size_t>(found - out.begin());
    out.push_back({.regime = regime, .why = ""});
    publishers.emplace_back();
    return out.size() - 1;
  };
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    const Comparison& row = report.rows[r];
    if (!row.predicted) continue;
    const std::size_t at = place(row.regime);
    RegimeErrors& errors = out[at];
    ++errors.rows;
    errors.in_sample += std::abs(*row.error_percent);
    errors.left_out += std::abs(*left_out.error_percent[r]);
    publishers[at].insert(row.publisher);
  }
  for (std::size_t at = 0; at < out.size(); ++at) {
    RegimeErrors& errors = out[at];
    errors.in_sample /= errors.rows, errors.left_out /= errors.rows;
    errors.publishers = static_cast<int>(publishers[at].size());
    errors.why = reason(errors);
    for (std::size_t r = 0; r < report.rows.size(); ++r)
      errors.inside += report.rows[r].predicted && report.rows[r].regime == errors.regime &&
                       std::abs(*left_out.error_percent[r]) <= errors.left_out;
  }
  return out;
}

}  // namespace validation
