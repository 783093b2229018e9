#include "frontend/lower/one_hot.h"

#include <algorithm>
#include <optional>

#include "frontend/lower/formula.h"
#include "frontend/lower/windows.h"
#include "frontend/ops/counted_places.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace one_hot {
namespace {

using isa::Alu;

constexpr std::int64_t kFewRows = 128;  // a table of so few rows is one pass of TensorE

/// A tensor that is 1 where the index is the place along dimension `along`, else 0.
struct OneHot {
  View index;  // has the tensor's dimensions, and one element for all places along `along`
  std::int64_t along = 0, size = 0;
};

std::optional<OneHot> compared(Lowerer& l, const Node& node) {
  if (node.attributes.text("comparison_direction") != "EQ") return std::nullopt;
  const auto maker = [&](ValueId v) { return l.producer(v); };
  for (const std::size_t i : {0U, 1U}) {
    const std::int64_t along = counts_along(maker, node.operands[i]);
    const View& index = l.frame().values[node.operands[1 - i]];
    if (along < 0 || index.is_number() || !isa::is_integer(index.dtype)) continue;
    const auto d = static_cast<std::size_t>(along);
    if (index.strides[d] == 0 && index.dims[d] > 1) return OneHot{index, along, index.dims[d]};
  }
  return std::nullopt;
}

bool is_number(Lowerer& l, ValueId value, double number) {
  const View& view = l.frame().values[value];
  return view.is_number() && view.number == number;
}

std::optional<OneHot> one_hot_of(Lowerer& l, ValueId value) {
  const Node* node = l.producer(value);
  if (!node) return std::nullopt;
  const std::string_view op = node->op->name;
  if (op == "convert" || op == "copy" || op == "optimization_barrier")
    return node->operands.size() == 1 ? one_hot_of(l, node->operands[0]) : std::nullopt;
  if (op == "select" && is_number(l, node->operands[1], 1) && is_number(l, node->operands[2], 0))
    return one_hot_of(l, node->operands[0]);
  return op == "compare" ? compared(l, *node) : std::nullopt;
}

/// The indices as a column, none of them outside, and 1 where one is its own.
struct Indices {
  View ids, inside;
};
Indices indices(Lowerer& l, const OneHot& hot, const Dims& order) {
  View index = hot.index;  // without the counted dimension
  index.dims.clear(), index.strides.clear();
  for (const std::int64_t d : order) {
    index.dims.push_back(hot.index.dims[static_cast<std::size_t>(d)]);
    index.strides.push_back(hot.index.strides[static_cast<std::size_t>(d)]);
  }
  const std::int64_t count = index.count();
  const Formula given = Formula{l, dense_view(l.matrix(index, count, 1), {count, 1}, index.dtype)}.as(Dtype::kInt32);
  const Formula ids = given.with(Alu::kMax, 0, Alu::kMin, static_cast<double>(hot.size - 1));
  return {ids.view(), given.with(Alu::kEq, ids).as(Dtype::kUint8).view()};
}

/// Rows of [count, columns] whose index names none are zero.
View only_inside(Lowerer& l, const View& rows, const View& inside) {
  return l.element({.form = runtime::ElementForm::kSelect},
                   {broadcast(inside, rows.dims, {0, 1}), rows, number_view(0, rows.dims, rows.dtype)}, rows.dims,
                   rows.dtype);
}

Dims all_but(std::size_t rank, const Dims& some) {
  Dims out;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (std::ranges::find(some, d) == some.end()) out.push_back(d);
  return out;
}

Dims sizes_of(const View& view, const Dims& dims) {
  Dims out;
  for (const std::int64_t d : dims) out.push_back(view.dims[static_cast<std::size_t>(d)]);
  return out;
}

Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Rows that were computed as [first..., second...], in the order of the product's result.
void set_in_order(Lowerer& l, const View& rows, const Dims& first, const Dims& second, bool turned) {
  const View form = dense_view(l.matrix(rows), joined(first, second), rows.dtype);
  if (!turned) return l.set(form);
  Dims order;
  for (std::size_t d = 0; d < second.size(); ++d) order.push_back(static_cast<std::int64_t>(first.size() + d));
  for (std::size_t d = 0; d < first.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
  l.set(transposed(form, order));
}

/// One operand of the product, and the dimensions that are summed.
struct Side {
  View view;
  Dims summed;
};

/// The summed dimension is the counted one: each index takes a row of the table.
bool taken(Lowerer& l, const OneHot& hot, const Side& table, bool turned) {
  const Dims others = all_but(table.view.dims.size(), table.summed), kept = all_but(hot.index.dims.size(), {hot.along});
  const View rows = transposed(table.view, joined(table.summed, others));
  const Dims row = sizes_of(table.view, others);
  if (rows.is_number() || !is_dense(rows)) return false;
  const Indices at = indices(l, hot, kept);
  const std::int64_t count = at.ids.count(), run = element_count(row);
  const View out = dense_view(l.add(runtime::kEmbedding, {l.matrix(rows, hot.size, run), l.matrix(at.ids, count, 1)},
                                    runtime::ResultAttrs{.dtype = l.dtype_out()}),
                              {count, run}, l.dtype_out());
  set_in_order(l, only_inside(l, out, at.inside), sizes_of(hot.index, kept), row, turned);
  return true;
}

/// All but the counted dimension are summed: each row is added where its index says, in fp32 as TensorE does.
bool added(Lowerer& l, const OneHot& hot, const Dims& summed, const Side& rows, bool turned) {
  const Dims others = all_but(rows.view.dims.size(), rows.summed);
  const Dims row = sizes_of(rows.view, others);
  const std::int64_t count = element_count(sizes_of(rows.view, rows.summed)), run = element_count(row);
  if (rows.view.is_number()) return false;
  const Indices at = indices(l, hot, summed);
  const View moved = transposed(rows.view, joined(rows.summed, others));
  const View all = only_inside(l, dense_view(l.matrix(moved, count, run), {count, run}, moved.dtype), at.inside);
  const View wide = Formula{l, all}.as(Dtype::kFp32).view();
  const runtime::ValueId sums =
      l.add(runtime::kEmbeddingGrad, {l.matrix(at.ids, count, 1), l.matrix(wide, count, run)},
            runtime::EmbeddingGradAttrs{.rows = hot.size, .dtype = Dtype::kFp32, .operand = l.options().operand});
  const View table = Formula{l, dense_view(sums, {hot.size, run}, Dtype::kFp32)}.as(l.dtype_out()).view();
  set_in_order(l, table, {hot.size}, row, turned);
  return true;
}

}  // namespace
}  // namespace one_hot

bool one_hot_product(Lowerer& l, const DotDims& dims) {
  using namespace one_hot;
  if (!dims.lhs_batch.empty()) return false;
  for (const bool turned : {false, true}) {
    const auto hot = one_hot_of(l, l.node().operands[turned ? 1 : 0]);
    if (!hot || hot->size <= kFewRows) continue;
    const Dims& summed = turned ? dims.rhs_contracting : dims.lhs_contracting;
    const Side other{l.in(turned ? 0 : 1), turned ? dims.lhs_contracting : dims.rhs_contracting};
    if (summed == Dims{hot->along}) {
      if (taken(l, *hot, other, turned)) return true;
    } else if (std::ranges::find(summed, hot->along) == summed.end() && summed.size() + 1 == hot->index.dims.size()) {
      if (added(l, *hot, summed, other, turned)) return true;
    }
  }
  return false;
}

}  // namespace trnsim::frontend
