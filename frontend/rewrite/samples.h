// A value as a function of another one, computed at samples: a rewrite so knows an expression
// however it is spelled.
//
// Sums, products and functions of reals are analytic: two of them with a handful of constants that agree at dozens of
// samples within the rounding of the constants are the same function. Operators that are not (maximum, select, compare,
// clamp) are not followed, but where a loss is looked for the largest number of each row is: it is at other places in
// other samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/rewrite/patterns.h"

namespace trnsim::frontend::rewrite {

inline constexpr std::int64_t kSampleWidth = 24;  // of a row in the samples

/// The expressions that are followed.
struct SampleForm {
  bool by_rows = false;    // the variable's numbers are whole rows of it; else functions of each element alone
  std::int64_t width = 0;  // of a row in the samples, where no number says its length; 0: the variable's own
  bool losses = false;     // the largest of a row, its element at a label, and numbers of rows that are given
  int draw = 0;            // other draws give values that are not looked behind other numbers
};

class Samples {
 public:
  using Numbers = std::vector<double>;

  Samples(const Module& module, const Function& function, const Producers& producers, ValueId variable, Numbers at,
          const SampleForm& form);

  /// A value that is not looked behind has these numbers.
  void know(ValueId value, Numbers numbers) { known_.insert_or_assign(value, std::move(numbers)); }
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
  /// With `losses`: numbers of rows, or of all of them, that are given, truths of rows whose labels count, and the
  /// labels of rows, [..., 1] left out.
  const std::vector<ValueId>& columns() const { return columns_; }
  const Numbers& column(std::size_t i) const { return column_numbers_[i]; }
  const std::vector<ValueId>& labels() const { return labels_; }
  /// The place of the label in a row of the samples.
  std::int64_t label_of(std::size_t row) const { return static_cast<std::int64_t>(3 + 5 * row) % cols_; }
  /// The error that rounded constants may make: conversions between types of reals are followed.
  double tolerance() const;

 private:
  static constexpr std::size_t kMostValues = 64;

  std::optional<Numbers> computed(ValueId value);
  std::optional<Numbers> function_of(const Node& node);
  std::optional<Numbers> spread(ValueId value, const Node& node);
  std::optional<Numbers> folded_rows(const Node& node);
  std::optional<Numbers> at_label(ValueId value);
  std::optional<Numbers> counted_rows(ValueId truth);
  std::optional<Numbers> chosen(const Node& node);
  std::optional<Numbers> leaf(ValueId value);
  bool depends(ValueId value) const;
  std::optional<Numbers> held(ValueId value);
  Numbers drawn(bool same_rows) const;

  const Module& module_;
  const Function& function_;
  const Producers& producers_;
  const ValueId variable_;
  const Dims dims_;
  std::int64_t cols_;
  int bits_;  // of the narrowest type that was read
  std::size_t count_;
  SampleForm form_;
  std::map<ValueId, std::optional<Numbers>> known_;
  std::vector<ValueId> others_, rows_, columns_, labels_;
  std::vector<Numbers> row_numbers_, column_numbers_;
};

/// The labels of a comparison that is true at each row's label alone: [...], against the columns' numbers.
std::optional<ValueId> labels_of(const Function& function, const Producers& producers, ValueId truth);
/// Whether a node computes an analytic function of each element.
bool is_analytic(const Node& node);
/// The one number of a constant, or of its broadcast.
std::optional<double> number_of(const Function& function, const Producers& producers, ValueId value);
/// Numbers of `rows` rows in [least, least + span), no two rows alike; another seed gives others.
Samples::Numbers row_samples(double seed, double span, double least, std::size_t rows = 4);
/// The largest difference, in units of the larger of |expected| and `least`.
double difference(const Samples::Numbers& found, const Samples::Numbers& expected, double least);

}  // namespace trnsim::frontend::rewrite
