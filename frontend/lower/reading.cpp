#include "frontend/lower/reading.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace trnsim::frontend {
namespace {

constexpr std::int64_t kFew = 64, kMany = 16 * 1024, kFoldedColumns = 1024;

/// Rows and columns that use all partitions, for elements that need no form: their largest divisor up to 1024 columns;
/// of few elements as many rows as have kFew of them.
std::pair<std::int64_t, std::int64_t> folded(std::int64_t count) {
  if (count < kMany) {
    for (std::int64_t cols = kFew; cols < count; ++cols)
      if (count % cols == 0) return {count / cols, cols};
    return {1, count};
  }
  for (std::int64_t cols = kFoldedColumns; cols >= kFew; --cols)
    if (count % cols == 0) return {count / cols, cols};
  return {1, count};
}

std::int64_t rows_above(const Dims& dims, std::size_t split) {
  return element_count(Dims{dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(split)});
}

/// Elements that are copied so that a view can be read so.
std::int64_t moved_for(Lowerer& l, const View& view, Spread spread, std::size_t split) {
  if (spread == Spread::kOne) return 0;
  const std::int64_t rows = rows_above(view.dims, split);
  if (spread == Spread::kWhole && !is_dense(view)) {
    if (l.taken_columns(view, rows)) return 0;
    const View once = without_repeats(view, rows);
    return is_dense(once) || l.taken_columns(once, rows) ? 0 : once.count();
  }
  const View part = spread == Spread::kRow      ? part_of(view, split, view.dims.size())
                    : spread == Spread::kColumn ? part_of(view, 0, split)
                                                : view;
  return is_dense(part) ? 0 : part.count();
}

/// Elements that a row tile of the present call has in another form: they take a way through HBM.
std::int64_t parted_from(Lowerer& l, const View& view, Spread spread, std::int64_t rows) {
  if (view.is_number() || spread != Spread::kWhole || !l.is_made_here(view.base)) return 0;
  return l.graph().value(view.base).rows == rows ? 0 : view.count();
}

Reading reading_at(Lowerer& l, const std::vector<View>& in, const Dims& dims, std::size_t split) {
  Reading out{.spreads = {}, .split = split};
  for (const View& view : in) {
    const Spread spread = spread_at(view, split);
    out.spreads.push_back(spread);
    // A copy is read, written and read again, what is in another form stored and loaded.
    out.passes += 3 * moved_for(l, view, spread, split) + 2 * parted_from(l, view, spread, rows_above(dims, split));
    out.still = out.still && spread == Spread::kOne;
    out.rows_alone = out.rows_alone && (spread == Spread::kOne || spread == Spread::kRow);
    out.columns_alone = out.columns_alone && (spread == Spread::kOne || spread == Spread::kColumn);
  }
  for (std::size_t d = 0; d < dims.size(); ++d) (d < split ? out.rows : out.cols) *= dims[d];
  // Few rows leave partitions idle. A core reads 273 GB/s from HBM (hbm_read_1, docs/accuracy.md), as many bytes as 71
  // partitions of VectorE work on (0.96 GHz, 4 bytes); when it writes as much too, 36. A number between these.
  constexpr std::int64_t kAsFastAsMemory = 48;
  const bool formless =
      std::ranges::none_of(out.spreads, [](Spread s) { return s == Spread::kRow || s == Spread::kColumn; });
  if (!formless && out.rows < kAsFastAsMemory && out.cols >= kMany)
    out.passes += out.rows * out.cols * (kAsFastAsMemory / out.rows - 1);
  return out;
}

/// Whether the memory of an operand is the reading's matrix already, or has its rows.
bool is_there(Lowerer& l, const std::vector<View>& in, const Reading& reading) {
  return std::ranges::any_of(in, [&](const View& view) {
    if (view.is_number()) return false;
    const runtime::Value& base = l.graph().value(view.base);
    if (base.rows == reading.rows && l.taken_columns(view, reading.rows)) return true;
    if (view.first != 0 || !is_dense(view)) return false;
    return base.rows == reading.rows && base.cols == reading.cols;
  });
}

/// The form that the present call has just made of all elements, for operands that need none: row tiles stay.
std::optional<std::pair<std::int64_t, std::int64_t>> made_form(Lowerer& l, const std::vector<View>& in,
                                                               const Reading& reading, std::int64_t count) {
  std::optional<std::pair<std::int64_t, std::int64_t>> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (reading.spreads[i] != Spread::kWhole) continue;
    if (!is_dense(in[i]) || in[i].first != 0) return {};
    const runtime::Value& base = l.graph().value(in[i].base);
    if (!out && l.is_made_here(in[i].base) && base.elements() == count && base.rows >= kFew)
      out = {base.rows, base.cols};
  }
  return out;
}

/// Whether an element is seen in several places.
bool is_spread(const View& view) {
  for (std::size_t d = 0; d < view.dims.size(); ++d)
    if (view.dims[d] > 1 && view.strides[d] == 0) return true;
  return false;
}

/// Whether elements follow each other in these dimensions, or are picked from the rows of their memory.
bool is_read_as(Lowerer& l, const View& view) {
  if (is_dense(view)) return view.first == 0;
  const std::int64_t rows = l.graph().value(view.base).rows;
  std::int64_t above = 1;
  for (const std::int64_t size : view.dims)
    if ((above *= size) >= rows) break;
  return above == rows && l.taken_columns(view, rows);
}

/// Elements that are copied where dimensions are in this order.
std::int64_t moved_in(Lowerer& l, const std::vector<View>& in, const Dims& order) {
  std::int64_t out = 0;
  for (const View& view : in)
    if (!view.is_number() && !is_spread(view)) {
      const View turned = transposed(view, order);
      if (!is_dense(turned) && !is_read_as(l, turned)) out += view.count();
    }
  return out;
}

}  // namespace

std::optional<Dims> order_of_memory(Lowerer& l, const std::vector<View>& in) {
  const auto by_place = [](const View& view) {
    Dims out(view.dims.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  };
  std::optional<Dims> best;
  std::int64_t least = -1;
  for (const View& view : in) {
    if (view.is_number() || view.dims.size() < 2) continue;
    const Dims own = by_place(view);
    Dims order = own;
    std::ranges::stable_sort(order, std::greater{}, [&](auto d) { return view.strides[static_cast<std::size_t>(d)]; });
    if (order == own || order.back() != own.back() || !is_read_as(l, transposed(view, order))) continue;
    if (least < 0) least = moved_in(l, in, own);
    if (const std::int64_t moved = moved_in(l, in, order); moved < least) best = order, least = moved;
  }
  return best;
}

View turned_back(const View& view, const Dims& order) {
  Dims back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  return transposed(view, back);
}

Reading reading_of(Lowerer& l, const std::vector<View>& in, const Dims& dims) {
  const std::size_t last = dims.empty() ? 0 : dims.size() - 1;
  Reading best = reading_at(l, in, dims, last);
  bool there = is_there(l, in, best);
  for (std::size_t split = last; split > 0; --split) {
    Reading other = reading_at(l, in, dims, split);
    if (other.passes > best.passes || (other.passes == best.passes && there)) continue;
    const bool other_there = is_there(l, in, other);
    if (other.passes == best.passes && !other_there) continue;
    best = std::move(other), there = other_there;
  }
  if (best.rows == 1) std::ranges::replace(best.spreads, Spread::kRow, Spread::kWhole);
  const auto has = [&](Spread spread) { return std::ranges::find(best.spreads, spread) != best.spreads.end(); };
  const bool formless = !has(Spread::kRow) && !has(Spread::kColumn);
  const std::int64_t count = element_count(dims);
  const bool is_row = best.rows == 1 && count >= 2 * kFew;
  if (const auto made = formless ? made_form(l, in, best, count) : std::nullopt)
    std::tie(best.rows, best.cols) = *made;
  else if (formless && (is_row || (count >= kMany && (best.rows < kFew || best.cols < kFew))))
    std::tie(best.rows, best.cols) = folded(count);
  return best;
}

runtime::ValueId operand_of(Lowerer& l, const View& view, Spread spread, const Reading& reading) {
  if (spread == Spread::kWhole) return l.matrix(view, reading.rows, reading.cols);
  if (spread == Spread::kOne) return l.matrix(part_of(view, 0, 0), 1, 1);
  return spread == Spread::kRow ? l.matrix(part_of(view, reading.split, view.dims.size()), 1, reading.cols)
                                : l.matrix(part_of(view, 0, reading.split), reading.rows, 1);
}

View spread_out(const View& dense, const Reading& reading) {
  View out = dense;
  const auto split = static_cast<std::ptrdiff_t>(reading.split);
  const Dims above{out.dims.begin(), out.dims.begin() + split}, below{out.dims.begin() + split, out.dims.end()};
  if (reading.rows_alone && reading.rows > 1) {
    out.strides.assign(above.size(), 0);
    std::ranges::copy(dense_strides(below), std::back_inserter(out.strides));
  } else if (reading.columns_alone && reading.cols > 1) {
    out.strides = dense_strides(above);
    out.strides.resize(out.dims.size(), 0);
  }
  return out;
}

}  // namespace trnsim::frontend
