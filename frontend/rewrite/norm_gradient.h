// The gradient of a norm in a graph, and the norm that it is of.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/rewrite/norm_numbers.h"

namespace trnsim::frontend::rewrite {

/// A number times powers of numbers that data says. Frameworks pass exponents of 2 and counts of columns as data.
struct DataFactor {
  double number = 1;
  std::vector<std::pair<ValueId, int>> powers{};  // of values without dimensions

  bool operator==(const DataFactor&) const = default;
};

/// The gradient of a norm for x, of another gradient.
struct NormGradient {
  ValueId dx = 0, dy = 0;
  std::optional<ValueId> gain{};
  std::optional<ValueId> rest{};  // that the value adds to it: a residual's gradient
  /// By which the means of the gradient and of it times the normal values are multiplied.
  std::array<DataFactor, 2> factors{};
};

/// Where the graph has it.
struct NormUse {
  ValueId x = 0;
  Norm norm{};
  std::optional<ValueId> eps{};  // that data says, for all elements
  ValueId y = 0;
  std::optional<ValueId> gain{}, shift{};
  std::vector<ValueId> normal{}, deviation{};  // kept for a gradient
  std::optional<NormGradient> gradient{};
};

/// Finds gradients of norms for the values that they normalise.
class NormGradients {
 public:
  NormGradients(const Module& module, const Function& function, const Producers& producers)
      : module_{module}, function_{function}, producers_{producers} {}

  /// Whether a value is a number of data for all elements.
  bool is_data(ValueId value) const;
  /// Samples of x at these numbers, where eps is data with a number for it.
  Samples samples_of(ValueId x, const Samples::Numbers& at, const std::optional<ValueId>& eps) const;
  /// The last value of these that is the gradient for x, of a value that x does not make.
  std::optional<NormGradient> of(const NormUse& found, const std::vector<ValueId>& all,
                                 const Samples::Numbers& at) const;

  static constexpr double kEpsAtSamples = 3e-6;  // in the place of one that data says
  static constexpr double kSmall = 1e-2;         // of normal numbers: below it differences count as they are

 private:
  /// A number of data, and the values that have it for all elements.
  struct Datum {
    ValueId scalar = 0;
    std::vector<ValueId> spread{};
  };
  using Data = std::vector<Datum>;
  using Means = std::array<double, 2>;
  using Behind = std::unordered_map<ValueId, std::vector<ValueId>>;  // of each value its origins

  Samples samples_with(const NormUse& found, const Samples::Numbers& at, const Data& data,
                       const std::vector<double>& numbers) const;
  bool has_rows_of(ValueId value, ValueId x) const;
  const std::vector<ValueId>& origins_of(ValueId value, ValueId x, Behind& behind) const;
  std::optional<ValueId> rest_of(const NormGradient& gradient, ValueId x, Behind& behind) const;
  std::optional<Data> data_of(const NormGradient& gradient, const NormUse& found) const;
  bool gradient_by(const NormUse& found, NormGradient& out, const Samples::Numbers& at, const Data& data) const;
  std::optional<Means> mean_factors(const NormUse& found, NormGradient& out, const Samples::Numbers& at,
                                    const Data& data, const std::vector<double>& numbers) const;

  const Module& module_;
  const Function& function_;
  const Producers& producers_;
};

}  // namespace trnsim::frontend::rewrite
