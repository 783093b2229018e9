// Values that are other values' elements in another order: reshapes, transposes and broadcasts, looked through.
#pragma once

#include <optional>
#include <vector>

#include "frontend/lower/view.h"
#include "frontend/rewrite/patterns.h"

namespace trnsim::frontend::rewrite {

/// A dimension of a value as axes of the memory of another one, the outermost first. A stride of 0 repeats.
using DimAxes = std::vector<Axis>;

/// A number, or a value without dimensions.
struct Factor {
  double number = 1;
  std::optional<ValueId> value{};
};
/// The number that a value has for all elements: a constant, or a value without dimensions.
std::optional<Factor> factor_of(const Function& function, const Producers& producers, ValueId value);

/// Numbers that all elements of a value are multiplied by.
struct Scaling {
  double number = 1;
  std::optional<ValueId> value{};  // and by this one of data,
  bool divides = false;            // or through it

  bool operator==(const Scaling&) const = default;
  /// Whether it has room for another factor.
  bool take(const Factor& factor, bool through);
};

/// A value's elements in `root`, which is no change of form of yet another value.
struct Placed {
  ValueId root = 0;
  std::vector<DimAxes> dims{};
  Scaling scaling{};

  DimAxes joined(const Ints& which) const;  // these dimensions' axes, one behind the other
};

/// `scaled`: products with numbers are looked through, too.
Placed placed(const Function& function, const Producers& producers, ValueId value, bool scaled = false);
/// The same of the result of a node that changes the form of `of`; none: it does something else.
std::optional<Placed> placed_by(const Function& function, const Node& node, const Placed& of);

/// Axes in dimensions of these sizes; none: a dimension would end within what does not divide.
std::optional<std::vector<DimAxes>> regrouped(const std::vector<DimAxes>& from, const Dims& to);
/// Axes cut so that the products of the first ones are `cuts`, too; none: a cut is within what does not divide.
std::optional<DimAxes> cut_axes(const DimAxes& axes, const Ints& cuts);
/// The products of the first axes, of all of them.
Ints cuts_of(const DimAxes& axes);
std::int64_t size_of_axes(const DimAxes& axes);

/// `root` in other dimensions, each of axes of its memory that together are all of it, by nodes that are added to
/// `made`; none: they are not all of it.
std::optional<ValueId> arranged(Function& function, ValueId root, const std::vector<DimAxes>& dims,
                                std::vector<Node>& made);

}  // namespace trnsim::frontend::rewrite
