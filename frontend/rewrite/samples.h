// A value as a function of another one, computed at samples: a rewrite so knows an expression
// however it is spelled.
//
// Sums, products and functions of reals are analytic: two of them with a handful of constants that agree at dozens of
// samples within the rounding of the constants are the same function. Operators that are not (maximum, select, compare,
// clamp) are not followed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/rewrite/patterns.h"

namespace trnsim::frontend::rewrite {

class Samples {
 public:
  using Numbers = std::vector<double>;

  /// `at` are the variable's numbers, with `by_rows` whole rows of it. Else only functions of each element are
  /// followed.
  Samples(const Module& module, const Function& function, const Producers& producers, ValueId variable, Numbers at,
          bool by_rows);

  /// The numbers of a value at the samples; nullptr: it is no function of the variable and of the values below.
  const Numbers* of(ValueId value);
  bool is_whole(ValueId value) const { return function_.type(value).dims == dims_; }
  /// One number for each row.
  bool is_column(ValueId value) const;
  /// Other values of the variable's dimensions that were read, and rows that all rows share, which were given numbers
  /// of their own.
  const std::vector<ValueId>& others() const { return others_; }
  const std::vector<ValueId>& rows() const { return rows_; }
  const Numbers& row(std::size_t i) const { return row_numbers_[i]; }
  /// The error that rounded constants may make: conversions between types of reals are followed.
  double tolerance() const;

 private:
  static constexpr std::size_t kMostValues = 64;

  std::optional<Numbers> computed(ValueId value);
  std::optional<Numbers> function_of(const Node& node);
  std::optional<Numbers> spread(ValueId value, const Node& node);
  std::optional<Numbers> row_sums(const Node& node);
  std::optional<Numbers> leaf(ValueId value);
  std::optional<Numbers> held(ValueId value);
  Numbers drawn(bool same_rows) const;

  const Module& module_;
  const Function& function_;
  const Producers& producers_;
  const Dims dims_;
  std::int64_t cols_;
  int bits_;  // of the narrowest type that was read
  std::size_t count_;
  bool by_rows_;
  std::map<ValueId, std::optional<Numbers>> known_;
  std::vector<ValueId> others_, rows_;
  std::vector<Numbers> row_numbers_;
};

/// Whether an operator computes an analytic function of each element.
bool is_analytic(std::string_view op);
/// The one number of a constant, or of its broadcast.
std::optional<double> number_of(const Function& function, const Producers& producers, ValueId value);
/// The largest difference, in units of the larger of |expected| and `least`.
double difference(const Samples::Numbers& found, const Samples::Numbers& expected, double least);

}  // namespace trnsim::frontend::rewrite
