// The lowering of operators whose places are data: slices at an index, gather, scatter.
#include <algorithm>
#include <array>
#include <optional>

#include "frontend/lower/lowerer.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

/// The start of a slice of `sizes`, clamped to the tensor. Starts that only a run knows count as 0: the same bytes
/// move, from another place.
Dims start_of(Lowerer& l, std::size_t first, const Dims& whole, const Dims& sizes) {
  Dims out(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const View& index = l.in(first + d);
    if (index.is_number())
      out[d] = std::clamp<std::int64_t>(static_cast<std::int64_t>(index.number), 0, whole[d] - sizes[d]);
    else if (whole[d] != sizes[d])
      l.only_timed("its place depends on data");
  }
  return out;
}

void dynamic_slice(Lowerer& l) {
  const View& view = l.in(0);
  const Dims& sizes = l.type_out().dims;
  const View part = sliced(view, start_of(l, 1, view.dims, sizes), sizes, Dims(sizes.size(), 1));
  if (part.is_number() || !is_dense(part)) return l.set(part);
  // A matrix of its own, so that blocks of a loop do not differ by the place.
  l.set(dense_view(l.matrix(part), sizes, part.dtype));
}

void dynamic_update_slice(Lowerer& l) {
  const View &view = l.in(0), &update = l.in(1);
  const Dims start = start_of(l, 2, view.dims, update.dims);
  if (view.is_number() && update.is_number() && view.number == update.number) return l.set(view);
  const bool in_place = l.is_owned(view) && l.reads_last(0) && is_dense(view) && view.first == 0;
  View whole = in_place ? view : l.owned_copy(view);
  if (update.count() == 0) return l.set(whole);
  const View place = sliced(whole, start, update.dims, Dims(start.size(), 1));
  const runtime::Value memory = l.graph().value(whole.base);
  const Dims sizes = update.dims.empty() ? Dims{1} : update.dims,
             strides = update.dims.empty() ? Dims{1} : place.strides;
  // A run of elements: through a view, so that blocks of a loop do not differ by the place.
  View run = place;
  if (is_dense(run) && run.first > 0) {
    const runtime::ValueId part =
        l.add(runtime::kView, {whole.base}, runtime::ViewAttrs{.rows = 1, .cols = update.count(), .first = run.first});
    l.add(runtime::kPlace, {part, l.matrix(update)},
          runtime::MoveAttrs{.sizes = {update.count()}, .strides = {1}, .rows = 1, .cols = update.count()});
    return l.set(whole);
  }
  whole.base =
      l.add(runtime::kPlace, {whole.base, l.matrix(update)},
            runtime::MoveAttrs{
                .sizes = sizes, .strides = strides, .first = place.first, .rows = memory.rows, .cols = memory.cols});
  l.own(whole.base);
  l.set(whole);
}

/// The size of the run of elements that each index of a gather or a scatter moves, behind which the next one begins.
std::int64_t run_of(const Dims& table, const Dims& slice) {
  std::int64_t run = 1;
  for (std::size_t d = table.size(); d-- > 0;) {
    run *= slice[d];
    if (slice[d] != table[d]) break;
  }
  return run;
}

/// Indexed dimensions in front: rows of the rest, which an index names by one number.
struct Rows {
  View table;            // indexed dimensions, then the others
  Dims indexed, others;  // places in the operand
  std::int64_t rows = 1, run = 1;
};

/// Nothing when an index moves less than all of the other dimensions, or its dimensions are those of a batch.
std::optional<Rows> rows_of(const View& table, const Dims& indexed, const Dims& dropped, const Dims& batching) {
  Rows out{.table = table, .indexed = indexed, .others = {}};
  Dims sorted = indexed;
  std::ranges::sort(sorted);
  if (sorted != dropped || !batching.empty()) return std::nullopt;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(table.dims.size()); ++d)
    if (!std::ranges::binary_search(sorted, d)) out.others.push_back(d);
  Dims order = indexed;
  order.insert(order.end(), out.others.begin(), out.others.end());
  out.table = transposed(table, order);
  for (const std::int64_t d : indexed) out.rows *= table.dims[static_cast<std::size_t>(d)];
  out.run = table.count() / std::max<std::int64_t>(out.rows, 1);
  return out;
}

/// The row that each index names: its components, each within its dimension, as one number. [n, 1] int32.
View row_numbers(Lowerer& l, const View& ids, std::int64_t vector_dim, const Dims& sizes, bool clamped) {
  const auto k = static_cast<std::int64_t>(sizes.size());
  View all = ids;
  if (vector_dim < static_cast<std::int64_t>(ids.dims.size())) {
    Dims order;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(ids.dims.size()); ++d)
      if (d != vector_dim) order.push_back(d);
    order.push_back(vector_dim);
    all = transposed(ids, order);
  }
  const std::int64_t count = ids.count() / k;
  const auto table = reshaped(all, {count, k});
  const View flat = table ? *table : dense_view(l.matrix(all, count, k), {count, k}, ids.dtype);
  View sum;
  for (std::int64_t c = 0; c < k; ++c) {
    const std::int64_t size = sizes[static_cast<std::size_t>(c)];
    View part = sliced(flat, {0, c}, {count, 1}, {1, 1});
    const runtime::ElementAttrs limits{.form = runtime::ElementForm::kNumbers,
                                       .alu = isa::Alu::kMax,
                                       .then = isa::Alu::kMin,
                                       .x = 0,
                                       .y = static_cast<double>(size - 1)};
    if (clamped || part.dtype != Dtype::kInt32)
      part = l.element(clamped ? limits : runtime::ElementAttrs{.form = runtime::ElementForm::kFunction}, {part},
                       part.dims, Dtype::kInt32);
    if (c == 0) {
      sum = part;
      continue;
    }
    const runtime::ElementAttrs times{
        .form = runtime::ElementForm::kNumbers, .alu = isa::Alu::kMul, .x = static_cast<double>(size)};
    sum = l.element(times, {sum}, sum.dims, Dtype::kInt32);
    sum = l.element({.form = runtime::ElementForm::kPair}, {sum, part}, sum.dims, Dtype::kInt32);
  }
  return sum;
}

View inverse(const View& view, const Dims& order) {
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return transposed(view, back);
}

/// Places that are not indices of whole rows: as many elements move, in runs as long, from wherever.
Rows any_rows(Lowerer& l, const View& table, const Dims& slice) {
  l.only_timed("its places are no rows of one table");
  const std::int64_t run = run_of(table.dims, slice);
  return {.table = table, .indexed = {}, .others = {}, .rows = table.count() / run, .run = run};
}

Dims sizes_at(const View& view, const Dims& places) {
  Dims out;
  for (const std::int64_t d : places) out.push_back(view.dims[static_cast<std::size_t>(d)]);
  return out;
}

void gather(Lowerer& l) {
  const GatherDims g = gather_dims(l.node().attributes);
  const View &table = l.in(0), &ids = l.in(1);
  const Dims& result = l.type_out().dims;
  const std::int64_t count = element_count(result);
  if (count == 0 || table.is_number()) return l.set(number_view(table.number, result, l.dtype_out()));
  auto rows = rows_of(table, g.start_index_map, g.collapsed_slice_dims, g.operand_batching_dims);
  for (std::size_t d = 0; rows && d < table.dims.size(); ++d)
    if (std::ranges::find(rows->others, static_cast<std::int64_t>(d)) != rows->others.end() &&
        g.slice_sizes[d] != table.dims[d])
      rows.reset();
  const bool exact = rows.has_value();
  if (!rows) rows = any_rows(l, table, g.slice_sizes);
  const std::int64_t places = count / rows->run;
  const View index = exact ? row_numbers(l, ids, g.index_vector_dim, sizes_at(table, g.start_index_map), true)
                           : number_view(0, {places, 1}, Dtype::kInt32);
  const runtime::ValueId taken =
      l.add(runtime::kEmbedding, {l.matrix(rows->table, rows->rows, rows->run), l.matrix(index, places, 1)},
            runtime::ResultAttrs{.dtype = l.dtype_out()});
  // Rows come in the order of the indices: the others' dimensions last.
  Dims order, dims;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(result.size()); ++d)
    if (std::ranges::find(g.offset_dims, d) == g.offset_dims.end()) order.push_back(d);
  order.insert(order.end(), g.offset_dims.begin(), g.offset_dims.end());
  for (const std::int64_t d : order) dims.push_back(result[static_cast<std::size_t>(d)]);
  l.set(inverse(dense_view(taken, dims, l.dtype_out()), order));
}

/// The rows that indices name, each the sum of its updates. TensorE adds them up, which takes no integers.
View summed_rows(Lowerer& l, const Rows& rows, const View& updates, const View& index) {
  const bool whole = isa::is_integer(l.dtype_out());
  const Dtype dtype = whole ? Dtype::kFp32 : l.dtype_out();
  const runtime::ElementAttrs copy{.form = runtime::ElementForm::kFunction};
  const View real = whole ? l.element(copy, {updates}, updates.dims, dtype) : updates;
  const std::int64_t places = updates.count() / rows.run;
  const runtime::ValueId sum =
      l.add(runtime::kEmbeddingGrad, {l.matrix(index, places, 1), l.matrix(real, places, rows.run)},
            runtime::EmbeddingGradAttrs{.rows = rows.table.count() / rows.run, .dtype = dtype});
  const View scattered = dense_view(sum, rows.table.dims, dtype);
  return whole ? l.element(copy, {scattered}, scattered.dims, l.dtype_out()) : scattered;
}

void scatter(Lowerer& l) {
  if (l.node().operands.size() != 3) l.refuse("has several tensors", "scatter each by itself");
  const ScatterDims s = scatter_dims(l.node().attributes);
  const View &table = l.in(0), &ids = l.in(1), &updates = l.in(2);
  if (updates.count() == 0) return l.set(table);
  const Function& region = l.module().functions[l.node().regions[0].function];
  const bool adds = region.nodes.size() == 1 && region.nodes[0].op->name == "add";
  if (!adds && is_signed_integer(l.type_in(0).element) && !region.nodes.empty())
    l.refuse("EVRF016: integers are combined by more than a sum", "scatter floating-point numbers");
  auto rows = rows_of(table, s.scatter_dims_to_operand_dims, s.inserted_window_dims, s.input_batching_dims);
  Dims slice = table.dims, order, dims;
  for (const std::int64_t d : s.scatter_dims_to_operand_dims) slice[static_cast<std::size_t>(d)] = 1;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(updates.dims.size()); ++d)
    if (std::ranges::find(s.update_window_dims, d) == s.update_window_dims.end()) order.push_back(d);
  order.insert(order.end(), s.update_window_dims.begin(), s.update_window_dims.end());
  const View moved = transposed(updates, order);
  if (rows && rows->run * (updates.count() / std::max<std::int64_t>(rows->run, 1)) != updates.count()) rows.reset();
  if (rows && !adds) l.only_timed("its function is no sum");
  const bool exact = rows.has_value();
  if (!rows) rows = any_rows(l, table, slice);
  rows->run = std::min(rows->run, updates.count());
  const std::int64_t places = updates.count() / rows->run;
  const View index =
      exact ? row_numbers(l, ids, s.index_vector_dim, sizes_at(table, s.scatter_dims_to_operand_dims), false)
            : number_view(0, {places, 1}, Dtype::kInt32);
  View scattered = summed_rows(l, *rows, moved, index);
  if (exact) {
    Dims places_of = rows->indexed;
    places_of.insert(places_of.end(), rows->others.begin(), rows->others.end());
    scattered = inverse(scattered, places_of);
  }
  if (table.is_number() && table.number == 0) return l.set(scattered);
  l.set(l.element({.form = runtime::ElementForm::kPair, .alu = isa::Alu::kAdd}, {table, scattered}, table.dims,
                  l.dtype_out()));
}

struct IndexedRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kIndexedRules = {IndexedRow{"dynamic_slice", dynamic_slice},
                                      IndexedRow{"dynamic_update_slice", dynamic_update_slice},
                                      IndexedRow{"gather", gather}, IndexedRow{"scatter", scatter}};

}  // namespace

Rule indexed_rule(std::string_view op) {
  const auto row = std::ranges::find(kIndexedRules, op, &IndexedRow::op);
  return row == kIndexedRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
