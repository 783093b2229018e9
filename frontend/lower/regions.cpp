// The lowering of operators whose region is any function of scalars: the region is computed on whole tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "frontend/lower/orders.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace regions {
namespace {

using isa::Alu;

/// Appends the nodes of `from` to `out`, with those of the functions that it calls. Returns its results there.
std::vector<ValueId> append(Lowerer& l, Function& out, const Function& from, std::vector<ValueId> values, int depth) {
  constexpr int kDeepest = 50;
  if (depth > kDeepest) l.refuse("more than 50 functions call each other in its region", "flatten them");
  values.resize(from.values.size());
  const auto here = [&](const std::vector<ValueId>& ids) {
    std::vector<ValueId> moved;
    for (const ValueId v : ids) moved.push_back(values[v]);
    return moved;
  };
  for (Node node : from.nodes) {
    const ValueId first = node.first_result;
    std::vector<ValueId> made;
    node.operands = here(node.operands);
    if (node.op->name == "call" && node.regions.size() == 1) {
      made = append(l, out, l.module().functions[node.regions[0].function], node.operands, depth + 1);
    } else {
      node.first_result = static_cast<ValueId>(out.values.size());
      for (std::uint32_t i = 0; i < node.results; ++i) {
        made.push_back(static_cast<ValueId>(out.values.size()));
        out.values.push_back(from.type(first + i));
      }
      out.nodes.push_back(std::move(node));
    }
    for (std::size_t i = 0; i < made.size(); ++i) values[first + i] = made[i];
  }
  return here(from.results);
}

/// The function of a region with tensors of `dims` in place of scalars.
Function lifted(Lowerer& l, const Function& region, const Dims& dims) {
  Function out{.name = region.name,
               .values = region.parameter_types(),
               .parameters = region.parameters,
               .nodes = {},
               .results = {},
               .line = region.line,
               .is_region = true};
  std::vector<ValueId> parameters(region.parameters);
  std::iota(parameters.begin(), parameters.end(), 0);
  out.results = append(l, out, region, std::move(parameters), 0);
  for (const Node& node : out.nodes) {
    const bool each = node.op->group == Group::kElementwise || node.op->group == Group::kConversion ||
                      node.op->name == "constant" || node.op->name == "optimization_barrier";
    if (!each || !node.regions.empty())
      l.refuse(fmt::format("its region has {}, which is not element-wise", node.op->name),
               "build the region from element-wise operators");
  }
  for (Type& type : out.values) type.dims = dims;
  return out;
}

}  // namespace
}  // namespace regions

std::vector<View> computed_elements(Lowerer& l, const Region& region, std::vector<View> arguments) {
  const Dims dims = arguments.front().dims;
  for (const ValueId v : region.captures) arguments.push_back(broadcast(l.frame().values[v], dims, {}));
  return l.called(regions::lifted(l, l.module().functions[region.function], dims), std::move(arguments));
}

namespace regions {
namespace {

void map(Lowerer& l) {
  std::vector<View> in;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) in.push_back(l.in(i));
  const std::vector<View> out = computed_elements(l, l.node().regions.at(0), std::move(in));
  for (std::size_t i = 0; i < out.size(); ++i) l.set(out[i], i);
}

// ---- reductions by any function that is associative

View part_of_row(const View& view, std::int64_t first, std::int64_t count, std::int64_t step) {
  return sliced(view, {0, first}, {view.dims[0], count}, {1, step});
}

/// Rows of `size` elements become one each: neighbours first, so that the function need not commute.
std::vector<View> rows_reduced(Lowerer& l, const Region& region, std::vector<View> rows, std::int64_t size) {
  std::optional<std::vector<View>> behind;  // elements that had no neighbour
  const auto meet = [&](const std::vector<View>& a, const std::vector<View>& b) {
    std::vector<View> both = a;
    both.insert(both.end(), b.begin(), b.end());
    return computed_elements(l, region, std::move(both));
  };
  while (size > 1) {
    std::vector<View> even, odd, last;
    for (const View& row : rows) {
      even.push_back(part_of_row(row, 0, size / 2, 2));
      odd.push_back(part_of_row(row, 1, size / 2, 2));
      if (size % 2 != 0) last.push_back(part_of_row(row, size - 1, 1, 1));
    }
    if (!last.empty()) behind = behind ? meet(last, *behind) : last;
    rows = meet(even, odd);
    size /= 2;
  }
  return behind ? meet(rows, *behind) : rows;
}

void reduce(Lowerer& l) {
  const std::size_t count = l.node().operands.size() / 2;
  const Dims along = l.node().attributes.ints("dimensions");
  const Dims& result = l.type_out().dims;
  Dims order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(l.in(0).dims.size()); ++d)
    if (std::ranges::find(along, d) == along.end()) order.push_back(d);
  order.insert(order.end(), along.begin(), along.end());
  const std::int64_t rows = element_count(result), size = l.in(0).count() / std::max<std::int64_t>(rows, 1);
  std::vector<View> all, starts;
  for (std::size_t i = 0; i < count; ++i) {
    starts.push_back(broadcast(l.in(count + i), {rows, 1}, {}));
    if (size == 0) continue;
    const View moved = transposed(l.in(i), order);
    all.push_back(moved.is_number() ? number_view(moved.number, {rows, size}, moved.dtype)
                                    : dense_view(l.matrix(moved, rows, size), {rows, size}, moved.dtype));
  }
  std::vector<View> out = starts;
  if (size > 0) {
    const std::vector<View> reduced = rows_reduced(l, l.node().regions.at(0), std::move(all), size);
    out.insert(out.end(), reduced.begin(), reduced.end());
    out = computed_elements(l, l.node().regions.at(0), std::move(out));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto form = reshaped(out[i], result);
    l.set(form ? *form : dense_view(l.matrix(out[i], rows, 1), result, out[i].dtype), i);
  }
}

// ---- sorting by counting: each element's place is how many are before it

/// 1 for pairs [rows, i, j] where j < i.
View earlier(Lowerer& l, const Dims& dims) {
  const auto count = [&](std::size_t d) {
    const runtime::ValueId ramp =
        l.add(runtime::kRamp, {}, runtime::RampAttrs{.rows = 1, .cols = dims[d], .by_col = 1, .dtype = Dtype::kFp32});
    return broadcast(dense_view(ramp, {dims[d]}, Dtype::kFp32), dims, {static_cast<std::int64_t>(d)});
  };
  return l.element({.form = runtime::ElementForm::kPair, .alu = Alu::kLt}, {count(2), count(1)}, dims, Dtype::kFp32);
}

/// The place of each element of rows [rows, size]. `before`: whether element j precedes element i, at [rows, i, j].
View places(Lowerer& l, const View& before, std::int64_t rows, std::int64_t size) {
  const Dims dims{rows, size, size};
  const Formula first = Formula{l, dense_view(l.matrix(before), dims, before.dtype)}.as(Dtype::kFp32);
  const View turned = transposed(first.view(), {0, 2, 1});
  const Formula behind{l, dense_view(l.matrix(turned), dims, Dtype::kFp32)};
  const Formula equal = (first + behind == 0.0) * Formula{l, earlier(l, dims)};
  const runtime::ValueId count = l.add(runtime::kRowReduce, {l.matrix((first + equal).view(), rows * size, size)},
                                       runtime::ReduceAttrs{.dtype = Dtype::kFp32});
  return Formula{l, dense_view(count, {rows, size}, Dtype::kFp32)}.as(Dtype::kInt32).view();
}

/// Rows of `values` in the order of `places`, the first `wanted` of each.
View in_order(Lowerer& l, const View& values, const View& places, std::int64_t wanted) {
  const std::int64_t rows = places.dims[0], size = places.dims[1];
  const runtime::ValueId ramp =
      l.add(runtime::kRamp, {},
            runtime::RampAttrs{.rows = rows, .cols = 1, .by_row = static_cast<double>(wanted), .dtype = Dtype::kInt32});
  const Formula begin{l, broadcast(dense_view(ramp, {rows}, Dtype::kInt32), places.dims, {0})};
  Formula ids = Formula{l, places} + begin;
  if (wanted < size) {  // the others are left out
    const Formula inside = Formula{l, places} < static_cast<double>(wanted);
    ids = ids * inside + (inside - 1.0);
  }
  const runtime::ValueId memory =
      l.add(runtime::kEmpty, {}, runtime::RampAttrs{.rows = rows, .cols = wanted, .dtype = values.dtype});
  const runtime::ValueId out =
      l.add(runtime::kPutRuns, {memory, l.matrix(ids.view(), rows * size, 1), l.matrix(values, rows * size, 1)},
            runtime::RunsAttrs{.unique = true});
  return dense_view(out, {rows, wanted}, values.dtype);
}

/// An operand with the sorted dimension last, as rows.
View rows_along(Lowerer& l, const View& view, const Dims& order, std::int64_t rows, std::int64_t size) {
  const View moved = transposed(view, order);
  return dense_view(l.matrix(moved, rows, size), {rows, size}, view.dtype);
}

View back_in_form(const View& rows, const Dims& dims, const Dims& order) {
  Dims moved, back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved.push_back(dims[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return transposed(dense_view(rows.base, moved, rows.dtype), back);
}

void sort(Lowerer& l) {
  const Dims dims = l.in(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t given = l.node().attributes.integer("dimension", -1), along = given < 0 ? given + rank : given;
  Dims order;
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != along) order.push_back(d);
  order.push_back(along);
  const std::int64_t size = dims[static_cast<std::size_t>(along)],
                     rows = l.in(0).count() / std::max<std::int64_t>(size, 1);
  std::vector<View> all, pairs;
  const Dims square{rows, size, size};
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    all.push_back(rows_along(l, l.in(i), order, rows, size));
    pairs.push_back(broadcast(all.back(), square, {0, 2}));
    pairs.push_back(broadcast(all.back(), square, {0, 1}));
  }
  const View before = computed_elements(l, l.node().regions.at(0), std::move(pairs)).front();
  const View where = places(l, before, rows, size);
  for (std::size_t i = 0; i < all.size(); ++i) l.set(back_in_form(in_order(l, all[i], where, size), dims, order), i);
}

void top_k(Lowerer& l) {
  const Dims &dims = l.in(0).dims, &result = l.type_out(0).dims;
  const std::int64_t size = dims.back(), rows = l.in(0).count() / size, wanted = result.back();
  const View values = dense_view(l.matrix(l.in(0), rows, size), {rows, size}, l.in(0).dtype);
  const Dims square{rows, size, size};
  const OrderKey key = order_key(l, values);
  const auto pairs = [&](const Dims& dims) {
    return OrderKey{{l, broadcast(key.high.view(), square, dims)}, {l, broadcast(key.low.view(), square, dims)}};
  };
  const View where = places(l, before(Alu::kGt, pairs({0, 2}), pairs({0, 1})).view(), rows, size);
  l.set(dense_view(in_order(l, values, where, wanted).base, result, values.dtype), 0);
  const runtime::ValueId ramp =
      l.add(runtime::kRamp, {}, runtime::RampAttrs{.rows = 1, .cols = size, .by_col = 1, .dtype = l.dtype_out(1)});
  const View numbers = broadcast(dense_view(ramp, {size}, l.dtype_out(1)), {rows, size}, {1});
  l.set(dense_view(in_order(l, numbers, where, wanted).base, result, l.dtype_out(1)), 1);
}

// ---- windows: the elements at one place of all windows at once

/// Calls f(number, offsets) for each place in a window.
template <class F>
void for_places(const Dims& sizes, const F& f) {
  Dims offset(sizes.size());
  const std::int64_t count = element_count(sizes);
  for (std::int64_t k = 0; k < count; ++k) {
    f(k, offset);
    for (std::size_t d = offset.size(); d-- > 0;) {
      if (++offset[d] < sizes[d]) break;
      offset[d] = 0;
    }
  }
}

/// A tensor with `number` around `view`.
View surrounded(Lowerer& l, const View& view, const WindowDims& w, double number, Dtype dtype) {
  Dims dims = view.dims;
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] += w.low[d] + w.high[d];
  const View out = l.owned_copy(number_view(number, dims, dtype));
  return l.written(out, sliced(out, w.low, view.dims, Dims(dims.size(), 1)), view);
}

/// The place in its window of the element that each window selects.
Formula selected(Lowerer& l, const View& operand, const WindowDims& w, const Dims& result) {
  const View one = surrounded(l, number_view(1, operand.dims, Dtype::kFp32), w, 0, Dtype::kFp32);
  const View all = surrounded(l, operand, w, 0, operand.dtype);
  std::optional<Formula> best, which, has;
  for_places(w.size, [&](std::int64_t k, const Dims& offset) {
    const Formula here{l, sliced(all, offset, result, w.stride)}, valid{l, sliced(one, offset, result, w.stride)};
    const Formula number{l, number_view(static_cast<double>(k), result, Dtype::kFp32)};
    if (!best) {
      best.emplace(here), which.emplace(number), has.emplace(valid);
      return;
    }
    const Formula wins{l, computed_elements(l, l.node().regions.at(0), {best->view(), here.view()}).front()};
    const Formula outside = valid == 0.0;
    const Formula keeps = (wins.as(Dtype::kFp32) + outside > 0.0) * *has;
    which.emplace(keeps.choose(*which, number));
    best.emplace(keeps.choose(*best, here));
    has.emplace(has->with(Alu::kMax, valid));
  });
  return *which;
}

void select_and_scatter(Lowerer& l) {
  const View &operand = l.in(0), &source = l.in(1), &start = l.in(2);
  WindowDims w = window_dims(l.node().attributes, l.type_in(0).rank());
  if (!start.is_number()) l.refuse("starts with a number that is known only at run time", "start with a constant");
  const Formula which = selected(l, operand, w, source.dims);
  View whole = surrounded(l, number_view(start.number, operand.dims, operand.dtype), w, start.number, operand.dtype);
  for_places(w.size, [&](std::int64_t k, const Dims& offset) {
    const View place = sliced(whole, offset, source.dims, w.stride);
    const View there = dense_view(l.matrix(place), source.dims, operand.dtype);
    const Formula met{l, computed_elements(l, l.node().regions.at(1), {there, source}).front()};
    const View now = (which == static_cast<double>(k)).choose(met, {l, there}).view();
    whole = l.written(whole, place, now);
  });
  l.set(sliced(whole, w.low, operand.dims, Dims(operand.dims.size(), 1)));
}

struct RegionRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kRegionRules = {RegionRow{"map", map}, RegionRow{"reduce", reduce}, RegionRow{"sort", sort},
                                     RegionRow{"chlo.top_k", top_k},
                                     RegionRow{"select_and_scatter", select_and_scatter}};

}  // namespace
}  // namespace regions

Rule region_rule(std::string_view op) {
  const auto row = std::ranges::find(regions::kRegionRules, op, &regions::RegionRow::op);
  return row == regions::kRegionRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
