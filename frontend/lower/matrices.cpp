// Views as matrices: in place where their elements follow each other, picked from rows, or copied.
#include <algorithm>
#include <bit>

#include "frontend/lower/lowerer.h"
#include "frontend/lower/reading.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

// Shorter descriptors take a DMA ring as long as this. Source: NKI performance guide, "DMA transfers of 512 bytes and
// more".
constexpr std::int64_t kShortestRun = 512;
constexpr std::int64_t kMostRowBytes = 32 * 1024;  // of a row that stays in SBUF with its results
constexpr std::size_t kMostAxes = 4;               // of an instruction's operand

/// Bytes that DMA moves at the price of one run of a row: at least the shortest descriptor.
std::int64_t bytes_by_dma(const InRows& columns, std::int64_t size) {
  const bool runs = columns.strides.back() == 1;
  std::int64_t count = 1;
  for (const std::int64_t one : columns.sizes) count *= one;
  const std::int64_t run = runs ? columns.sizes.back() : 1;
  return count / run * std::max(run * size, kShortestRun);
}

}  // namespace

View without_repeats(const View& view, std::int64_t rows) {
  View out = view;
  std::int64_t count = 1;
  bool within = false;  // a row, where rows begin with a dimension: those of a folded matrix do not
  for (std::size_t d = 0; d < view.dims.size(); ++d) {
    within = within || count == rows;
    if (within && view.strides[d] == 0) out.dims[d] = 1;
    count *= view.dims[d];
  }
  return out;
}

bool Lowerer::is_made_here(runtime::ValueId value) const {
  const runtime::NodeId by = out_.graph.value(value).producer;
  return by != runtime::kNoNode && out_.graph.node(by).scope == out_.graph.current_scope() &&
         !out_.graph.node(by).op->lower_whole;
}

std::optional<InRows> Lowerer::taken_columns(const View& view, std::int64_t rows) const {
  if (view.is_number() || is_dense(view) || rows < 2) return std::nullopt;
  const std::int64_t size = isa::size_of(view.dtype);
  if (isa::is_integer(view.dtype) && size == 4) return std::nullopt;  // copies between tiles are in fp32
  const runtime::Value& base = out_.graph.value(view.base);
  if (base.elements() % rows != 0) return std::nullopt;
  const std::int64_t row = base.elements() / rows;
  auto columns = in_rows(view, rows, row);
  const std::int64_t longest = std::max(row, view.count() / rows);
  if (!columns || columns->sizes.size() > kMostAxes || longest * size > kMostRowBytes) return std::nullopt;
  const bool here = base.rows == rows && is_made_here(view.base);
  return here || bytes_by_dma(*columns, size) > row * size ? columns : std::nullopt;
}

runtime::ValueId Lowerer::taken(const View& view, const InRows& columns, std::int64_t rows) {
  const std::int64_t row = graph().value(view.base).elements() / rows;
  const runtime::ValueId whole = matrix(dense_view(view.base, {rows, row}, view.dtype), rows, row);
  auto [place, is_new] =
      taken_.try_emplace({whole, columns.first, columns.sizes, columns.strides, graph().current_scope()});
  if (is_new)
    place->second =
        add(runtime::kTakeColumns, {whole},
            runtime::ColumnsAttrs{.sizes = columns.sizes, .strides = columns.strides, .first = columns.first});
  return place->second;
}

namespace {

/// Whether rows that `split` dimensions count are there, or the pieces of them that a join writes are short.
bool are_joined(Lowerer& l, const std::vector<View>& parts, std::size_t split, std::int64_t piece) {
  const std::int64_t rows = element_count({parts[0].dims.begin(), parts[0].dims.begin() + static_cast<long>(split)});
  if (rows < 2) return false;
  std::int64_t row = 0;
  bool here = false;
  for (const View& view : parts) {
    row += view.count() / rows * isa::size_of(view.dtype);
    if (view.is_number()) continue;
    const runtime::Value& base = l.graph().value(view.base);
    const bool whole = is_dense(view) && view.first == 0 && base.elements() == view.count();
    here = here || (base.rows == rows && l.is_made_here(view.base) && (whole || l.taken_columns(view, rows)));
  }
  return row <= kMostRowBytes && (here || piece < kShortestRun);
}

}  // namespace

std::optional<View> joined_in_rows(Lowerer& l, const std::vector<View>& parts, std::size_t d) {
  if (std::ranges::all_of(parts, &View::is_number)) return std::nullopt;  // none says how many rows there are
  if (const auto order = order_of_memory(l, parts)) {
    std::vector<View> turned;
    for (const View& view : parts) turned.push_back(transposed(view, *order));
    const auto place = std::ranges::find(*order, static_cast<std::int64_t>(d)) - order->begin();
    const auto joined = joined_in_rows(l, turned, static_cast<std::size_t>(place));
    if (joined) return turned_back(*joined, *order);
  }
  Dims dims = parts[0].dims;
  dims[d] = 0;
  std::int64_t piece = isa::size_of(parts[0].dtype) * part_of(parts[0], d + 1, dims.size()).count();
  std::int64_t shortest = parts[0].dims[d];
  for (const View& view : parts) dims[d] += view.dims[d], shortest = std::min(shortest, view.dims[d]);
  if (shortest == 0 || (isa::is_integer(parts[0].dtype) && isa::size_of(parts[0].dtype) == 4)) return std::nullopt;
  piece *= shortest;
  std::optional<std::size_t> best;
  for (std::size_t split = d; split > 0; --split)
    if (are_joined(l, parts, split, kShortestRun)) best = best ? best : split;
  if (!best && d > 0 && are_joined(l, parts, d, piece)) best = d;
  if (!best) return std::nullopt;
  const std::int64_t rows = element_count({dims.begin(), dims.begin() + static_cast<long>(*best)});
  std::vector<runtime::ValueId> in;
  for (const View& view : parts) {
    const std::int64_t cols = view.count() / rows;
    in.push_back(view.is_number() ? l.matrix(number_view(view.number, {cols}, view.dtype), 1, cols)
                                  : l.matrix(view, rows, cols));
  }
  std::int64_t blocks = 1;
  for (std::size_t i = *best; i < d; ++i) blocks *= dims[i];
  return dense_view(l.add(runtime::kJoinColumns, in, runtime::JoinAttrs{.blocks = blocks}), dims, parts[0].dtype);
}

/// A view that repeats elements within its rows: they are spread in SBUF.
std::optional<runtime::ValueId> Lowerer::spread_in_rows(const View& view, std::int64_t rows) {
  const View once = without_repeats(view, rows);
  if (rows < 2 || once.count() == view.count() || once.count() % rows != 0) return std::nullopt;
  const std::int64_t row = once.count() / rows;
  View spread = dense_view(matrix(once, rows, row), once.dims, view.dtype);
  for (std::size_t d = 0; d < view.dims.size(); ++d)
    if (view.dims[d] != once.dims[d]) spread.dims[d] = view.dims[d], spread.strides[d] = 0;
  const auto columns = taken_columns(spread, rows);
  return columns ? std::optional{taken(spread, *columns, rows)} : std::nullopt;
}

runtime::ValueId Lowerer::matrix(const View& view) {
  const auto [rows, cols] = matrix_form(view.dims);
  return matrix(view, rows, cols);
}

runtime::ValueId Lowerer::matrix(const View& view, std::int64_t rows, std::int64_t cols) {
  if (view.is_number()) {
    auto [place, is_new] = numbers_.try_emplace({std::bit_cast<std::uint64_t>(view.number), rows, cols, view.dtype});
    if (is_new)
      place->second = add(runtime::kRamp, {},
                          runtime::RampAttrs{.rows = rows, .cols = cols, .start = view.number, .dtype = view.dtype});
    return place->second;
  }
  if (const auto columns = taken_columns(view, rows)) return taken(view, *columns, rows);
  if (!is_dense(view)) {
    if (const auto spread = spread_in_rows(view, rows)) return *spread;
    const auto key = std::tuple{view.base, view.first, view.dims, view.strides};
    auto found = copies_.find(key);
    if (found == copies_.end()) {
      const auto [r, c] = matrix_form(view.dims);
      const runtime::ValueId copy = add(
          runtime::kMove, {view.base},
          runtime::MoveAttrs{.sizes = view.dims, .strides = view.strides, .first = view.first, .rows = r, .cols = c});
      found = copies_.emplace(key, copy).first;
    }
    return matrix(dense_view(found->second, view.dims, view.dtype), rows, cols);
  }
  const runtime::Value& base = graph().value(view.base);
  if (view.first == 0 && base.rows == rows && base.cols == cols) return view.base;
  auto [place, is_new] = views_.try_emplace({view.base, rows, cols, view.first});
  if (!is_new) return place->second;
  // A part of a tensor is seen in place where no node of this call writes it.
  const runtime::Value& root = graph().value(graph().root(view.base));
  const bool elsewhere =
      root.producer == runtime::kNoNode || graph().node(root.producer).scope != graph().current_scope();
  if (view.first == 0 || (elsewhere && !owned_.contains(view.base)))
    place->second =
        add(runtime::kView, {view.base}, runtime::ViewAttrs{.rows = rows, .cols = cols, .first = view.first});
  else
    place->second = add(
        runtime::kMove, {view.base},
        runtime::MoveAttrs{.sizes = {rows * cols}, .strides = {1}, .first = view.first, .rows = rows, .cols = cols});
  return place->second;
}

View Lowerer::owned_copy(const View& view) {
  const auto [rows, cols] = matrix_form(view.dims);
  runtime::ValueId copy = 0;
  if (view.is_number())
    copy = add(runtime::kRamp, {},
               runtime::RampAttrs{.rows = rows, .cols = cols, .start = view.number, .dtype = view.dtype});
  else
    copy = add(runtime::kMove, {view.base},
               runtime::MoveAttrs{.sizes = view.dims.empty() ? Dims{1} : view.dims,
                                  .strides = view.dims.empty() ? Dims{1} : view.strides,
                                  .first = view.first,
                                  .rows = rows,
                                  .cols = cols});
  owned_.insert(copy);
  return dense_view(copy, view.dims, view.dtype);
}

View Lowerer::written(View whole, const View& place, const View& part) {
  const runtime::Value memory = graph().value(whole.base);
  const bool one = place.dims.empty();
  whole.base = add(runtime::kPlace, {whole.base, matrix(part)},
                   runtime::MoveAttrs{.sizes = one ? Dims{1} : place.dims,
                                      .strides = one ? Dims{1} : place.strides,
                                      .first = place.first,
                                      .rows = memory.rows,
                                      .cols = memory.cols});
  owned_.insert(whole.base);
  return whole;
}

}  // namespace trnsim::frontend
