// The lowering of operators whose places are data: slices at an index, gather, scatter.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "frontend/lower/lowerer.h"
#include "frontend/lower/windows.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

/// Dimensions 0, 1, ... of a table's rows.
Dims rows_named(const Dims& sizes) {
  Dims out;
  for (std::size_t d = 0; d < sizes.size(); ++d) out.push_back(static_cast<std::int64_t>(d));
  return out;
}

/// The place of a slice of `sizes` along each dimension, clamped to the tensor, where all of them are known.
std::optional<Dims> known_start(Lowerer& l, std::size_t first, const Dims& whole, const Dims& sizes) {
  Dims out(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const View& index = l.in(first + d);
    if (index.is_number())
      out[d] = std::clamp<std::int64_t>(static_cast<std::int64_t>(index.number), 0, whole[d] - sizes[d]);
    else if (whole[d] != sizes[d])
      return std::nullopt;
  }
  return out;
}

/// Slices of `sizes` along dimension d that operand 'first + d' places.
Windows slice_at(Lowerer& l, std::size_t first, const Dims& whole, const Dims& sizes) {
  std::vector<Start> starts;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    starts.push_back({.index = l.in(first + d), .dim = static_cast<std::int64_t>(d)});
  return Windows{whole, sizes, {}, std::move(starts)};
}

void dynamic_slice(Lowerer& l) {
  const View& view = l.in(0);
  const Dims& sizes = l.type_out().dims;
  if (view.is_number() || element_count(sizes) == 0) return l.set(number_view(view.number, sizes, view.dtype));
  const auto start = known_start(l, 1, view.dims, sizes);
  if (!start) return l.set(dense_view(slice_at(l, 1, view.dims, sizes).taken(l, view), sizes, view.dtype));
  const View part = sliced(view, *start, sizes, Dims(sizes.size(), 1));
  if (!is_dense(part)) return l.set(part);
  // A matrix of its own, so that blocks of a loop do not differ by the place.
  l.set(dense_view(l.matrix(part), sizes, part.dtype));
}

void update_at(Lowerer& l, View whole, const View& update, const Dims& start) {
  const View place = sliced(whole, start, update.dims, Dims(start.size(), 1));
  const runtime::Value memory = l.graph().value(whole.base);
  // A run of elements: through a view, so that blocks of a loop do not differ by the place.
  if (is_dense(place) && place.first > 0) {
    const runtime::ValueId part = l.add(runtime::kView, {whole.base},
                                        runtime::ViewAttrs{.rows = 1, .cols = update.count(), .first = place.first});
    l.add(runtime::kPlace, {part, l.matrix(update)},
          runtime::MoveAttrs{.sizes = {update.count()}, .strides = {1}, .rows = 1, .cols = update.count()});
    // Under a new name: copies of parts that were made before have the old one.
    whole.base = l.add(runtime::kView, {whole.base}, runtime::ViewAttrs{.rows = memory.rows, .cols = memory.cols});
    l.own(whole.base);
    return l.set(whole);
  }
  l.set(l.written(std::move(whole), place, update));
}

void dynamic_update_slice(Lowerer& l) {
  const View &view = l.in(0), &update = l.in(1);
  if (view.is_number() && update.is_number() && view.number == update.number) return l.set(view);
  const auto start = known_start(l, 2, view.dims, update.dims);
  const Windows windows = start ? Windows{} : slice_at(l, 2, view.dims, update.dims);
  View whole = l.to_write(0);
  if (update.count() == 0) return l.set(whole);
  if (start) return update_at(l, std::move(whole), update, *start);
  whole.base = windows.put(l, whole, update, {.run = 1, .unique = true});
  l.set(whole);
}

/// Indexed dimensions in front: rows of the rest, which an index names by one number.
struct Rows {
  View table;            // indexed dimensions, then the others
  Dims indexed, others;  // places in the operand
  std::int64_t rows = 1, run = 1;
};

/// Nothing when an index moves less than all of the other dimensions, or its dimensions are those of a batch.
std::optional<Rows> rows_of(const View& table, const Dims& indexed, const Dims& dropped, const Dims& batching,
                            const Dims& sizes) {
  Rows out{.table = table, .indexed = indexed, .others = {}};
  Dims sorted = indexed;
  std::ranges::sort(sorted);
  if (sorted != dropped || !batching.empty()) return std::nullopt;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(table.dims.size()); ++d)
    if (!std::ranges::binary_search(sorted, d)) out.others.push_back(d);
  for (const std::int64_t d : out.others)
    if (sizes[static_cast<std::size_t>(d)] != table.dims[static_cast<std::size_t>(d)]) return std::nullopt;
  Dims order = indexed;
  order.insert(order.end(), out.others.begin(), out.others.end());
  out.table = transposed(table, order);
  for (const std::int64_t d : indexed) out.rows *= table.dims[static_cast<std::size_t>(d)];
  out.run = table.count() / std::max<std::int64_t>(out.rows, 1);
  return out;
}

View inverse(const View& view, const Dims& order) {
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return transposed(view, back);
}

/// Dimensions 0 to rank - 1 that are not among `some`, then `some`.
Dims others_first(std::size_t rank, const Dims& some) {
  Dims out;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (std::ranges::find(some, d) == some.end()) out.push_back(d);
  out.insert(out.end(), some.begin(), some.end());
  return out;
}

/// How gather's and scatter's indices name the begins of windows in one form.
struct Indexing {
  Dims named, batching, ids_batching;
  std::int64_t vector_dim = 0;
};

/// Component c of all index vectors.
View component(const View& ids, std::int64_t vector_dim, std::int64_t c) {
  if (vector_dim >= static_cast<std::int64_t>(ids.dims.size())) return ids;
  const auto d = static_cast<std::size_t>(vector_dim);
  View out = ids;
  if (!out.is_number()) out.first += c * out.strides[d];
  out.dims.erase(out.dims.begin() + vector_dim);
  out.strides.erase(out.strides.begin() + vector_dim);
  return out;
}

std::vector<Start> starts_of(Lowerer& l, const View& ids, const Indexing& how) {
  std::vector<Start> out;
  for (std::size_t c = 0; c < how.named.size(); ++c)
    out.push_back({.index = component(ids, how.vector_dim, static_cast<std::int64_t>(c)), .dim = how.named[c]});
  const Dims dims = component(ids, how.vector_dim, 0).dims;
  for (std::size_t b = 0; b < how.batching.size(); ++b) {
    const std::int64_t in_ids = how.ids_batching[b], d = in_ids - (in_ids > how.vector_dim ? 1 : 0);
    out.push_back({.index = counted(l, dims, static_cast<std::size_t>(d), 1), .dim = how.batching[b]});
  }
  return out;
}

void gather(Lowerer& l) {
  const GatherDims g = gather_dims(l.node().attributes);
  const View &table = l.in(0), &ids = l.in(1);
  const Dims& result = l.type_out().dims;
  const std::int64_t count = element_count(result);
  if (count == 0 || table.is_number()) return l.set(number_view(table.number, result, l.dtype_out()));
  const Indexing how{g.start_index_map, g.operand_batching_dims, g.start_indices_batching_dims, g.index_vector_dim};
  const Dims order = others_first(result.size(), g.offset_dims);
  Dims dims;
  for (const std::int64_t d : order) dims.push_back(result[static_cast<std::size_t>(d)]);
  const Dims batch = component(ids, g.index_vector_dim, 0).dims;
  const auto rows = rows_of(table, g.start_index_map, g.collapsed_slice_dims, g.operand_batching_dims, g.slice_sizes);
  if (!rows) {
    const Windows windows{table.dims, g.slice_sizes, batch, starts_of(l, ids, how)};
    return l.set(inverse(dense_view(windows.taken(l, table), dims, l.dtype_out()), order));
  }
  Dims sizes;
  for (const std::int64_t d : rows->indexed) sizes.push_back(table.dims[static_cast<std::size_t>(d)]);
  const Windows windows{sizes, Dims(sizes.size(), 1), batch,
                        starts_of(l, ids, {rows_named(sizes), {}, {}, how.vector_dim})};
  const std::int64_t places = count / rows->run;
  const runtime::ValueId taken =
      l.add(runtime::kEmbedding, {l.matrix(rows->table, rows->rows, rows->run), l.matrix(windows.ids(l, 1), places, 1)},
            runtime::ResultAttrs{.dtype = l.dtype_out()});
  l.set(inverse(dense_view(taken, dims, l.dtype_out()), order));
}

// ---- scatter

/// How a scatter's region combines what is there with an update: the function of the two, or none: the update takes its
/// place.
struct Meeting {
  isa::Alu alu = isa::Alu::kNone;
  bool keeps = false;  // the table's elements stay
};

std::optional<Meeting> meeting_of(const Function& region, std::size_t i, std::size_t count) {
  struct Row {
    std::string_view op;
    isa::Alu alu, of_truths;
  };
  using isa::Alu;
  constexpr std::array kRows = {
      Row{"add", Alu::kAdd, Alu::kLogicalOr},       Row{"multiply", Alu::kMul, Alu::kLogicalAnd},
      Row{"maximum", Alu::kMax, Alu::kLogicalOr},   Row{"minimum", Alu::kMin, Alu::kLogicalAnd},
      Row{"subtract", Alu::kSub, Alu::kLogicalXor}, Row{"and", Alu::kAnd, Alu::kLogicalAnd},
      Row{"or", Alu::kOr, Alu::kLogicalOr},         Row{"xor", Alu::kXor, Alu::kLogicalXor}};
  std::map<ValueId, ValueId> same;  // converted there and back
  const auto origin = [&](ValueId v) {
    const auto found = same.find(v);
    return found == same.end() ? v : found->second;
  };
  std::map<ValueId, const Node*> made;
  for (const Node& node : region.nodes) {
    if (node.op->name == "convert" || node.op->name == "optimization_barrier")
      same[node.result()] = origin(node.operands[0]);
    else
      made[node.result()] = &node;
  }
  const auto there = static_cast<ValueId>(i), update = static_cast<ValueId>(count + i);
  const ValueId result = origin(region.results[i]);
  if (result == update) return Meeting{};
  if (result == there) return Meeting{.keeps = true};
  const auto node = made.find(result);
  if (node == made.end() || node->second->operands.size() != 2) return std::nullopt;
  const auto row = std::ranges::find(kRows, node->second->op->name, &Row::op);
  const ValueId a = origin(node->second->operands[0]), b = origin(node->second->operands[1]);
  const bool turned = a == update && b == there;
  if (row == kRows.end() || (!turned && (a != there || b != update)) || (turned && row->alu == Alu::kSub))
    return std::nullopt;
  return Meeting{.alu = is_bool(region.type(there).element) ? row->of_truths : row->alu};
}

/// The rows that indices name, each the sum of its updates: TensorE adds up those of a small table.
View summed_rows(Lowerer& l, const Rows& rows, const View& updates, const View& index) {
  const std::int64_t places = updates.count() / rows.run;
  const runtime::ValueId sum =
      l.add(runtime::kEmbeddingGrad, {l.matrix(index, places, 1), l.matrix(updates, places, rows.run)},
            runtime::EmbeddingGradAttrs{.rows = rows.table.count() / rows.run, .dtype = updates.dtype});
  Dims order = rows.indexed;
  order.insert(order.end(), rows.others.begin(), rows.others.end());
  return inverse(dense_view(sum, rows.table.dims, updates.dtype), order);
}

Dims window_sizes(const ScatterDims& s, const Dims& table, const Dims& updates) {
  Dims out(table.size(), 1);
  std::size_t k = 0;
  for (std::size_t d = 0; d < table.size(); ++d) {
    const auto at = static_cast<std::int64_t>(d);
    const bool dropped = std::ranges::find(s.inserted_window_dims, at) != s.inserted_window_dims.end() ||
                         std::ranges::find(s.input_batching_dims, at) != s.input_batching_dims.end();
    if (!dropped) out[d] = updates[static_cast<std::size_t>(s.update_window_dims[k++])];
  }
  return out;
}

void scatter_one(Lowerer& l, std::size_t i, const ScatterDims& s, const Meeting& meeting) {
  const std::size_t count = l.node().results;
  const View &table = l.in(i), &ids = l.in(count), &updates = l.in(count + 1 + i);
  if (updates.count() == 0 || table.count() == 0 || meeting.keeps) return l.set(table, i);
  const Dims sizes = window_sizes(s, table.dims, updates.dims);
  const View moved = transposed(updates, others_first(updates.dims.size(), s.update_window_dims));
  const Indexing how{s.scatter_dims_to_operand_dims, s.input_batching_dims, s.scatter_indices_batching_dims,
                     s.index_vector_dim};
  const Dims batch = component(ids, s.index_vector_dim, 0).dims;
  const auto rows =
      rows_of(table, s.scatter_dims_to_operand_dims, s.inserted_window_dims, s.input_batching_dims, sizes);
  const bool summed =
      rows && meeting.alu == isa::Alu::kAdd && !isa::is_integer(table.dtype) && rows->rows <= 128 && rows->run <= 2048;
  if (summed) {
    Dims named;
    for (const std::int64_t d : rows->indexed) named.push_back(table.dims[static_cast<std::size_t>(d)]);
    const Windows windows{named, Dims(named.size(), 1), batch,
                          starts_of(l, ids, {rows_named(named), {}, {}, how.vector_dim}), Outside::kSkipped};
    const View sum = summed_rows(l, *rows, moved, windows.ids(l, 1));
    if (table.is_number() && table.number == 0) return l.set(sum, i);
    return l.set(l.element({.form = runtime::ElementForm::kPair, .alu = isa::Alu::kAdd}, {table, sum}, table.dims,
                           l.dtype_out(i)),
                 i);
  }
  const Windows windows{table.dims, sizes, batch, starts_of(l, ids, how), Outside::kSkipped};
  View whole = l.to_write(i);
  const bool unique = l.node().attributes.flag("unique_indices");
  whole.base = windows.put(l, whole, moved, {.run = 1, .alu = meeting.alu, .unique = unique});
  l.set(whole, i);
}

void scatter(Lowerer& l) {
  const ScatterDims s = scatter_dims(l.node().attributes);
  const Function& region = l.module().functions[l.node().regions[0].function];
  const std::size_t count = l.node().results;
  for (std::size_t i = 0; i < count; ++i) {
    const auto meeting = meeting_of(region, i, count);
    if (!meeting)
      l.refuse("EVRF016: its region is not a sum, product, largest, smallest or replacement",
               "scatter with one of these");
    const bool computes = meeting->alu != isa::Alu::kNone;
    if (computes && is_signed_integer(l.type_in(i).element) && meeting->alu != isa::Alu::kAdd)
      l.refuse("EVRF016: integers are combined by another operation than a sum", "scatter floating-point numbers");
    scatter_one(l, i, s, *meeting);
  }
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
