// Values of any rank on their way to matrices: a view says where its elements are in a matrix's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/graph/type.h"
#include "runtime/graph/graph.h"

namespace trnsim::frontend {

using runtime::Dtype;

/// Elements of `base` at `first` + the sum of index * stride. Without a base all elements are `number`.
struct View {
  runtime::ValueId base = runtime::kNoValue;
  double number = 0;
  Dims dims{}, strides{};
  std::int64_t first = 0;
  Dtype dtype = Dtype::kFp32;

  bool is_number() const { return base == runtime::kNoValue; }
  std::int64_t count() const { return element_count(dims); }
};

Dims dense_strides(const Dims& dims);
View dense_view(runtime::ValueId base, Dims dims, Dtype dtype);
View number_view(double number, Dims dims, Dtype dtype);
/// Whether elements follow each other in their order.
bool is_dense(const View& view);

View transposed(const View& view, const Dims& permutation);
/// Elements start, start + step, ... of each dimension; `sizes` of them.
View sliced(const View& view, const Dims& start, const Dims& sizes, const Dims& step);
/// Negative padding cuts elements off: the view without them, and what remains to be padded, with `apart` - 1 elements
/// between two.
View cut_to(const View& view, Dims& low, Dims& high, const Dims& apart);
View broadcast(const View& view, const Dims& dims, const Dims& places);
/// The view in other dimensions, if its strides allow that.
std::optional<View> reshaped(const View& view, const Dims& dims);

/// Some dimensions, in their order, as one: its size and stride, if they have one.
struct Axis {
  std::int64_t size = 1, stride = 1;
};
std::optional<Axis> joined_axis(const View& view, const Dims& places);

/// Elements of each row of a matrix: at `first` + the sum of index * stride.
struct InRows {
  std::int64_t first = 0;
  Dims sizes{}, strides{};
};
/// A view of `rows` rows as elements of the rows of its memory, `row` elements each, if each has its own there; as few
/// axes as there are.
std::optional<InRows> in_rows(const View& view, std::int64_t rows, std::int64_t row);

/// Dimensions [first, last) of a view alone.
View part_of(const View& view, std::size_t first, std::size_t last);
/// How a view is read as a matrix whose rows are the first `split` dimensions: each row the same, each column the same,
/// one number everywhere, or element by element.
enum class Spread : std::uint8_t { kWhole, kRow, kColumn, kOne };
Spread spread_at(const View& view, std::size_t split);

}  // namespace trnsim::frontend
