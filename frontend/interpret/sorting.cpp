// Sorting by any comparator: merges of all rows run beside each other, so that a comparison is made for many pairs at
// once. Also top_k and normalization over a batch.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontend/graph/indices.h"
#include "frontend/interpret/elementwise.h"
#include "frontend/interpret/reduction.h"

namespace trnsim::frontend::evaluate {
namespace {

using Index = std::vector<std::int64_t>;

/// Two sorted runs of `order` that become one.
struct Merge {
  std::size_t left, left_end, right, right_end, out;
};

/// The elements' places, row by row, in the order of sorting so far.
class Sorter {
 public:
  Sorter(const Evaluation& e, Index places, std::size_t row) : e_{e}, order_{std::move(places)}, row_{row} {}

  Index sorted() {
    for (std::size_t width = 1; width < row_; width *= 2) level(width);
    return std::move(order_);
  }

 private:
  void level(std::size_t width) {
    std::vector<Merge> merges;
    for (std::size_t row = 0; row < order_.size(); row += row_)
      for (std::size_t begin = 0; begin + width < row_; begin += 2 * width)
        merges.push_back({row + begin, row + begin + width, row + begin + width,
                          row + std::min(begin + 2 * width, row_), row + begin});
    Index next = order_;
    while (!merges.empty()) {
      const std::vector<bool> take_right = compared(merges);
      std::vector<Merge> open;
      for (std::size_t i = 0; i < merges.size(); ++i) {
        Merge m = merges[i];
        next[m.out++] = take_right[i] ? order_[m.right++] : order_[m.left++];
        if (m.left < m.left_end && m.right < m.right_end) {
          open.push_back(m);
          continue;
        }
        while (m.left < m.left_end) next[m.out++] = order_[m.left++];
        while (m.right < m.right_end) next[m.out++] = order_[m.right++];
      }
      merges = std::move(open);
    }
    order_ = std::move(next);
  }

  /// The right one goes first only when it is really before the left one: stable.
  std::vector<bool> compared(const std::vector<Merge>& merges) const {
    Index left, right;
    for (const Merge& m : merges) left.push_back(order_[m.left]), right.push_back(order_[m.right]);
    std::vector<Value> arguments;
    const Dims lanes = {static_cast<std::int64_t>(merges.size())};
    for (const Value& value : e_.all_operands())
      arguments.push_back(picked(value, lanes, right)), arguments.push_back(picked(value, lanes, left));
    const Value before = e_.call_lanes(0, std::move(arguments)).front();
    std::vector<bool> out;
    for (const std::int64_t yes : before.integers()) out.push_back(yes != 0);
    return out;
  }

  const Evaluation& e_;
  Index order_;
  std::size_t row_;
};

/// The places of the elements of each row along a dimension, and where in the row each place is written.
Index rows_along(const Dims& dims, std::int64_t along) {
  const Ints strides = strides_of(dims);
  Index out;
  Dims outer = dims;
  outer[at(along)] = 1;
  Ints position(dims.size());
  if (element_count(dims) > 0) do {
      std::int64_t base = 0;
      for (std::size_t d = 0; d < dims.size(); ++d) base += position[d] * strides[d];
      for (std::int64_t i = 0; i < dims[at(along)]; ++i) out.push_back(base + i * strides[at(along)]);
    } while (next_position(position, outer));
  return out;
}

/// The sums of f over all but the feature dimension.
template <class F>
Reals feature_sums(const Value& from, std::int64_t along, F f) {
  const std::int64_t stride = strides_of(from.type.dims)[at(along)], size = from.type.dims[at(along)];
  Reals out(at(size));
  for (std::int64_t i = 0; i < from.count(); ++i) out[at(i / stride % size)] += f(at(i), at(i / stride % size));
  return out;
}

/// Numbers in their total order: NaN is above all others, and minus NaN below them.
bool is_above(double x, double y) {
  const auto side = [](double v) { return std::isnan(v) ? (std::signbit(v) ? -1 : 1) : 0; };
  return side(x) != side(y) ? side(x) > side(y) : x > y;
}

}  // namespace

void sort(Evaluation& e) {
  const Dims dims = e.operand(0).type.dims;
  std::int64_t along = e.attributes().integer("dimension", -1);
  if (along < 0) along += static_cast<std::int64_t>(dims.size());
  if (dims.empty() || element_count(dims) == 0) {
    for (const Value& value : e.all_operands()) e.put(value);
    return;
  }
  const Index places = rows_along(dims, along);
  const Index sorted = Sorter{e, places, at(dims[at(along)])}.sorted();
  Index from(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) from[at(places[i])] = sorted[i];
  for (const Value& value : e.all_operands()) e.put(picked(value, dims, from));
}

/// The largest, in descending order; of equal ones the first.
void top_k(Evaluation& e) {
  const Dims dims = e.operand(0).type.dims;
  const std::int64_t k = e.attributes().integer("k"), row = dims.back();
  Index places;
  Integers indices;
  const auto pick = [&](const auto& numbers) {
    const auto before = [&](std::int64_t a, std::int64_t b) {
      if constexpr (std::is_same_v<std::decay_t<decltype(numbers)>, Reals>) {
        return is_above(numbers[at(a)], numbers[at(b)]);
      } else if constexpr (std::is_same_v<std::decay_t<decltype(numbers)>, Integers>) {
        if (e.operand(0).type.element == Element::kU64)
          return static_cast<std::uint64_t>(numbers[at(a)]) > static_cast<std::uint64_t>(numbers[at(b)]);
        return numbers[at(a)] > numbers[at(b)];
      } else {
        return false;
      }
    };
    for (std::int64_t base = 0; base < e.operand(0).count(); base += row) {
      Index order(at(row));
      std::iota(order.begin(), order.end(), base);
      std::ranges::stable_sort(order, before);
      for (std::int64_t i = 0; i < k; ++i) places.push_back(order[at(i)]), indices.push_back(order[at(i)] - base);
    }
  };
  std::visit(pick, *e.operand(0).data);
  e.put(picked(e.operand(0), e.result_type(0).dims, places));
  e.put(value_of(e.result_type(1), std::move(indices)));
}

void batch_norm_inference(Evaluation& e) {
  const std::int64_t along = e.attributes().integer("feature_index");
  const Value& from = e.operand(0);
  const std::int64_t stride = strides_of(from.type.dims)[at(along)], size = from.type.dims[at(along)];
  const double epsilon = e.attributes().real("epsilon");
  Reals out = from.reals();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t f = at(static_cast<std::int64_t>(i) / stride % size);
    out[i] =
        (out[i] - e.operand(3).reals()[f]) / std::sqrt(e.operand(4).reals()[f] + epsilon) * e.operand(1).reals()[f] +
        e.operand(2).reals()[f];
  }
  e.put(value_of(e.result_type(), std::move(out)));
}

void batch_norm_training(Evaluation& e) {
  const std::int64_t along = e.attributes().integer("feature_index");
  const Value& from = e.operand(0);
  const double count = static_cast<double>(from.count()) / static_cast<double>(from.type.dims[at(along)]);
  const Reals& x = from.reals();
  Reals mean = feature_sums(from, along, [&](std::size_t i, std::size_t) { return x[i] / count; });
  Reals variance = feature_sums(
      from, along, [&](std::size_t i, std::size_t f) { return (x[i] - mean[f]) * (x[i] - mean[f]) / count; });
  const Type vector = e.result_type(1);
  const Value means = value_of(vector, std::move(mean)), variances = value_of(vector, std::move(variance));
  e.replace_operands({from, e.operand(1), e.operand(2), means, variances});
  batch_norm_inference(e);
  e.put(means), e.put(variances);
}

void batch_norm_grad(Evaluation& e) {
  const std::int64_t along = e.attributes().integer("feature_index");
  const Value& from = e.operand(0);
  const double count = static_cast<double>(from.count()) / static_cast<double>(from.type.dims[at(along)]);
  const double epsilon = e.attributes().real("epsilon");
  const Reals &x = from.reals(), &scale = e.operand(1).reals(), &mean = e.operand(2).reals(),
              &variance = e.operand(3).reals(), &grad = e.operand(4).reals();
  Reals offset = feature_sums(from, along, [&](std::size_t i, std::size_t) { return grad[i]; });
  Reals centred = feature_sums(from, along, [&](std::size_t i, std::size_t f) { return grad[i] * (x[i] - mean[f]); });
  const std::int64_t stride = strides_of(from.type.dims)[at(along)], size = from.type.dims[at(along)];
  Reals out(x.size()), scales(centred.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = at(static_cast<std::int64_t>(i) / stride % size);
    const double inverse = 1 / std::sqrt(variance[f] + epsilon);
    out[i] = scale[f] * inverse / count *
             (count * grad[i] - offset[f] - (x[i] - mean[f]) * centred[f] / (variance[f] + epsilon));
  }
  for (std::size_t f = 0; f < scales.size(); ++f) scales[f] = centred[f] / std::sqrt(variance[f] + epsilon);
  e.put(value_of(e.result_type(0), std::move(out)));
  e.put(value_of(e.result_type(1), std::move(scales)));
  e.put(value_of(e.result_type(2), std::move(offset)));
}

}  // namespace trnsim::frontend::evaluate
