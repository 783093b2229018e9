// The lowering of reductions.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/lower/orders.h"
#include "frontend/lower/reading.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

using isa::Alu;

struct Monoid {
  std::string_view op;
  Alu alu, of_truths;
  double identity;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kMonoids = {Monoid{"add", Alu::kAdd, Alu::kLogicalOr, 0},
                                 Monoid{"multiply", Alu::kMul, Alu::kLogicalAnd, 1},
                                 Monoid{"maximum", Alu::kMax, Alu::kLogicalOr, -kInfinity},
                                 Monoid{"minimum", Alu::kMin, Alu::kLogicalAnd, kInfinity},
                                 Monoid{"and", Alu::kAnd, Alu::kLogicalAnd, 1},
                                 Monoid{"or", Alu::kOr, Alu::kLogicalOr, 0},
                                 Monoid{"xor", Alu::kXor, Alu::kLogicalXor, 0}};

/// The operation of a region of two scalars: conversions around it change no more than rounding.
const Monoid* monoid_of(const Module& module, const Region& region) {
  const Function& f = module.functions[region.function];
  std::vector<ValueId> plain(f.values.size());  // each value before it was converted
  std::iota(plain.begin(), plain.end(), 0);
  const Node* only = nullptr;
  for (const Node& node : f.nodes) {
    if (node.op->name == "convert") {
      plain[node.result()] = plain[node.operands[0]];
    } else {
      if (only) return nullptr;
      only = &node;
    }
  }
  if (!only || only->operands.size() != 2 || plain[f.results.at(0)] != only->result()) return nullptr;
  const auto [low, high] = std::minmax(plain[only->operands[0]], plain[only->operands[1]]);
  const auto row = std::ranges::find(kMonoids, only->op->name, &Monoid::op);
  return low == 0 && high == 1 && row != kMonoids.end() ? row : nullptr;
}

/// A row longer than that is reduced in two steps: SBUF has its parts side by side.
constexpr std::int64_t kLongest = 8192, kFewRows = 64;

std::int64_t parts_of(std::int64_t rows, std::int64_t cols) {
  if (cols <= kLongest && (rows >= kFewRows || cols < 1024)) return 1;
  for (std::int64_t parts = std::max<std::int64_t>(cols / kLongest, 2); parts * 16 <= cols; ++parts)
    if (cols % parts == 0 && (rows * parts >= kFewRows || cols / parts <= 512)) return parts;
  return 1;
}

/// Dimensions behind the others reduced: [rows, cols] -> rows.
runtime::ValueId by_rows(Lowerer& l, const View& view, std::int64_t rows, Alu alu, Dtype dtype) {
  std::int64_t cols = view.count() / rows;
  View part = view;
  if (const std::int64_t parts = parts_of(rows, cols); parts > 1) {
    const runtime::ValueId first = l.add(runtime::kRowReduce, {l.matrix(view, rows * parts, cols / parts)},
                                         runtime::ReduceAttrs{.alu = alu, .dtype = Dtype::kFp32});
    part = dense_view(first, {rows, parts}, Dtype::kFp32);
    cols = parts;
  }
  return l.add(runtime::kRowReduce, {l.matrix(part, rows, cols)}, runtime::ReduceAttrs{.alu = alu, .dtype = dtype});
}

runtime::ValueId by_columns(Lowerer& l, const View& view, std::int64_t cols, Dtype dtype) {
  constexpr std::int64_t kWide = 16 * 1024;
  const runtime::Op& op = cols > kWide ? runtime::kWideColSum : runtime::kColSum;
  return l.add(op, {l.matrix(view, view.count() / cols, cols)}, runtime::ResultAttrs{.dtype = dtype});
}

View reduced(Lowerer& l, const View& view, const Dims& dims, const Monoid& monoid, Alu alu, const Dims& result);

/// The same where other dimensions come first in memory: the result has their order.
std::optional<View> reduced_in_memory(Lowerer& l, const View& view, const Dims& dims, const Monoid& monoid, Alu alu) {
  if (view.is_number()) return {};
  const auto turned = order_of_memory(l, {view});
  if (!turned) return {};
  Dims places, kept, sizes;  // of `dims` in that order; of the others
  for (std::size_t d = 0; d < turned->size(); ++d) {
    const std::int64_t dim = (*turned)[d];
    if (std::ranges::find(dims, dim) != dims.end()) {
      places.push_back(static_cast<std::int64_t>(d));
      continue;
    }
    kept.push_back(dim), sizes.push_back(view.dims[static_cast<std::size_t>(dim)]);
  }
  Dims back;  // of the result's dimensions: where they are in the order of memory
  for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(view.dims.size()); ++dim)
    if (const auto found = std::ranges::find(kept, dim); found != kept.end()) back.push_back(found - kept.begin());
  return transposed(reduced(l, transposed(view, *turned), places, monoid, alu, sizes), back);
}

View reduced(Lowerer& l, const View& view, const Dims& dims, const Monoid& monoid, Alu alu, const Dims& result) {
  if (const auto out = reduced_in_memory(l, view, dims, monoid, alu)) return *out;
  const Dtype dtype = l.dtype_out();
  Dims kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(view.dims.size()); ++d)
    if (std::ranges::find(dims, d) == dims.end()) kept.push_back(d);
  const std::int64_t rows = element_count(result);
  if (view.is_number() && (alu == Alu::kMax || alu == Alu::kMin || monoid.alu == Alu::kAnd || monoid.alu == Alu::kOr))
    return number_view(view.number, result, dtype);
  if (view.is_number() && alu == Alu::kAdd)
    return number_view(view.number * static_cast<double>(view.count()) / static_cast<double>(rows), result, dtype);
  Dims order = dims;
  order.insert(order.end(), kept.begin(), kept.end());
  const View leading = transposed(view, order);
  const bool sums = alu == Alu::kAdd && !isa::is_integer(view.dtype);
  if (sums && is_dense(leading) && !kept.empty() && rows > 1)
    return dense_view(by_columns(l, leading, rows, dtype), result, dtype);
  order = kept;
  order.insert(order.end(), dims.begin(), dims.end());
  const View trailing = transposed(view, order);
  const View dense = dense_view(l.matrix(trailing), trailing.dims, trailing.dtype);
  return dense_view(by_rows(l, dense, rows, alu, dtype), result, dtype);
}

/// Whether a reduction that begins with the number is that of its elements alone.
bool is_neutral(Lowerer& l, const View& start, const Monoid& monoid) {
  if (!start.is_number()) return false;
  const bool truth = is_bool(l.type_out().element), whole = isa::is_integer(start.dtype);
  if (truth) return start.number == (monoid.of_truths == Alu::kLogicalAnd ? 1 : 0);
  if (monoid.alu == Alu::kAnd) return false;
  return start.number == monoid.identity || (monoid.alu == Alu::kMax && start.number <= -3e38) ||
         (monoid.alu == Alu::kMin && start.number >= 3e38) ||
         (monoid.alu == Alu::kMax && whole && start.number <= -2147483648.0) ||
         (monoid.alu == Alu::kMin && whole && start.number >= 2147483647.0);
}

/// The reduction with the number that it begins with, where that changes it.
View with_start(Lowerer& l, const View& out, const View& start, const Monoid& monoid, Alu alu) {
  if (is_neutral(l, start, monoid)) return out;
  return l.element({.form = runtime::ElementForm::kPair, .alu = alu}, {out, broadcast(start, out.dims, {})}, out.dims,
                   l.dtype_out());
}

void reduce(Lowerer& l) {
  const std::size_t count = l.node().operands.size() / 2;
  const Monoid* monoid = count == 1 ? monoid_of(l.module(), l.node().regions[0]) : nullptr;
  if (!monoid) return region_rule("reduce")(l);
  const View& start = l.in(1);
  const Dims& result = l.type_out().dims;
  if (l.in(0).count() == 0) return l.set(broadcast(start, result, {}));
  const bool truth = is_bool(l.type_out().element);
  const Alu alu = truth ? monoid->of_truths : monoid->alu;
  // The engines reduce in fp32: integers beyond it one pair after the other.
  const double most = bound_of(l, l.in(0)) * (alu == Alu::kAdd ? static_cast<double>(l.in(0).count()) : 1.0);
  const bool computes = alu == Alu::kAdd || alu == Alu::kMul || alu == Alu::kMax || alu == Alu::kMin;
  if (isa::is_integer(l.in(0).dtype) && computes && !l.in(0).is_number() && (most > 16777216.0 || alu == Alu::kMul))
    return region_rule("reduce")(l);
  View out = reduced(l, l.in(0), l.node().attributes.ints("dimensions"), *monoid, alu, result);
  l.set(with_start(l, out, start, *monoid, alu));
}

// ---- windows

View pair_of(Lowerer& l, Alu alu, const View& a, const View& b) {
  if ((alu == Alu::kMax || alu == Alu::kMin) && !(fp32_holds(l, a) && fp32_holds(l, b)))
    return extreme_integer(l, alu, a, b);
  if (isa::is_integer(a.dtype) && (alu == Alu::kAdd || alu == Alu::kMul)) return integer_pair(l, alu, a, b);
  return l.element({.form = runtime::ElementForm::kPair, .alu = alu}, {a, b}, a.dims, a.dtype);
}

/// Elements [from, from + size) of dimension d.
View run_of(const View& view, std::size_t d, std::int64_t from, std::int64_t size) {
  Dims start(view.dims.size()), sizes = view.dims;
  start[d] = from, sizes[d] = size;
  return sliced(view, start, sizes, Dims(start.size(), 1));
}

using Views = std::vector<View>;
using Combination = std::function<Views(const Views&, const Views&)>;  // of elements and those behind them

/// Windows of `width` elements along dimension d, in as many steps as the width has binary digits: those of 2k elements
/// are two of k.
Views windowed(const Views& all, std::size_t d, std::int64_t width, std::int64_t apart, const Combination& meet) {
  const auto runs = [d](const Views& views, std::int64_t from, std::int64_t size) {
    Views out;
    for (const View& view : views) out.push_back(run_of(view, d, from, size));
    return out;
  };
  const std::int64_t size = all[0].dims[d] - (width - 1) * apart;
  Views power = all, out;
  std::int64_t covered = 0;
  for (std::int64_t k = 1; k <= width; k *= 2) {
    if (width & k) {
      const Views part = runs(power, covered * apart, size);
      out = out.empty() ? part : meet(out, part);
      covered += k;
    }
    if (2 * k > width) break;
    const std::int64_t longer = power[0].dims[d] - k * apart;
    power = meet(runs(power, 0, longer), runs(power, k * apart, longer));
  }
  return out;
}

/// The nearest number of a type: real ones have infinities.
double within(double number, Dtype dtype) {
  if (!isa::is_integer(dtype)) return number;
  const double span = std::exp2(8 * isa::size_of(dtype));
  const bool has_sign = dtype == Dtype::kInt32 || dtype == Dtype::kInt16 || dtype == Dtype::kInt8;
  return std::clamp(number, has_sign ? -span / 2 : 0, (has_sign ? span / 2 : span) - 1);
}

/// The operand with its elements apart and a number around them.
View padded(Lowerer& l, const View& given, const WindowDims& w, const View& number) {
  Dims low = w.low, high = w.high;
  const View view = cut_to(given, low, high, w.base_dilation);
  Dims dims = view.dims;
  bool same = true;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    dims[d] = dilated_size(dims[d], w.base_dilation[d]) + low[d] + high[d];
    same = same && dims[d] == view.dims[d] && low[d] == 0;
  }
  if (same) return view;
  const View out = l.owned_copy(broadcast(number, dims, {}));
  return l.written(out, sliced(out, low, view.dims, w.base_dilation), view);
}

/// The dimensions over which a window moves, two at most, and all others as one axis of rows.
struct Moving {
  Dims spatial, others;  // the others in the order of their memory
  Axis rows;
};

/// None where the others are no axis, or elements of a row do not follow each other.
std::optional<Moving> moving_dims(const View& view, const WindowDims& w) {
  Moving out;
  for (std::size_t d = 0; d < view.dims.size(); ++d) {
    const bool moves = w.size[d] > 1 || w.stride[d] > 1 || w.base_dilation[d] > 1 || w.low[d] != 0 || w.high[d] != 0;
    (moves ? out.spatial : out.others).push_back(static_cast<std::int64_t>(d));
  }
  if (view.is_number() || out.spatial.empty() || out.spatial.size() > 2) return {};
  const auto stride = [&](std::int64_t d) { return view.strides[static_cast<std::size_t>(d)]; };
  if (stride(out.spatial.back()) != 1 || stride(out.spatial.front()) < 1) return {};
  std::ranges::stable_sort(out.others, std::greater{}, stride);
  const auto rows = joined_axis(view, out.others);
  if (!rows || rows->stride < 0) return {};
  out.rows = *rows;
  return out;
}

/// A window of few places: it moves over the tensor in SBUF.
std::optional<View> by_moving_window(Lowerer& l, const View& given, WindowDims w, Alu alu, double identity) {
  constexpr std::int64_t kMostPlaces = 128;  // an instruction each; longer windows are two of half the length
  if (alu != Alu::kAdd && alu != Alu::kMax && alu != Alu::kMin) return {};
  if (isa::is_integer(given.dtype) || element_count(w.size) > kMostPlaces || element_count(l.type_out().dims) == 0)
    return {};
  const View view = cut_to(given, w.low, w.high, w.base_dilation);
  const auto moving = moving_dims(view, w);
  if (!moving) return {};
  const auto axis = [&](std::int64_t dim) {
    const auto d = static_cast<std::size_t>(dim);
    return runtime::WindowAxis{.size = view.dims[d],
                               .places = l.type_out().dims[d],
                               .window = w.size[d],
                               .stride = w.stride[d],
                               .dilation = w.window_dilation[d],
                               .apart = w.base_dilation[d],
                               .low = w.low[d],
                               .x_step = view.strides[d]};
  };
  runtime::Pictures x{.features = moving->rows.size,
                      .cols = axis(moving->spatial.back()),
                      .feature_step = moving->rows.stride,
                      .first = view.first};
  if (moving->spatial.size() == 2) x.rows = axis(moving->spatial.front());
  const runtime::ValueId y =
      l.add(runtime::kWindow, {view.base},
            runtime::WindowAttrs{.x = x, .alu = alu, .border = within(identity, view.dtype), .dtype = l.dtype_out()});
  Dims order = moving->others, dims, back(order.size() + moving->spatial.size());
  order.insert(order.end(), moving->spatial.begin(), moving->spatial.end());
  for (std::size_t d = 0; d < order.size(); ++d) {
    dims.push_back(l.type_out().dims[static_cast<std::size_t>(order[d])]);
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  }
  return transposed(dense_view(y, dims, l.dtype_out()), back);
}

bool has_padding(const WindowDims& w) {
  const auto any = [](const Dims& dims, std::int64_t none) {
    return std::ranges::any_of(dims, [none](std::int64_t n) { return n != none; });
  };
  return any(w.low, 0) || any(w.high, 0) || any(w.base_dilation, 1);
}

/// By any function that is associative: the last dimension first, so that a window's elements keep their order. The
/// tensor is surrounded by the number that each window begins with.
void windows_of_region(Lowerer& l, const WindowDims& w) {
  const std::size_t count = l.node().operands.size() / 2;
  const Region& region = l.node().regions.at(0);
  const Combination meet = [&](const Views& a, const Views& b) {
    Views both = a;
    both.insert(both.end(), b.begin(), b.end());
    return computed_elements(l, region, std::move(both));
  };
  Views all, starts;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(padded(l, l.in(i), w, l.in(count + i)));
    starts.push_back(broadcast(l.in(count + i), l.type_out(i).dims, {}));
  }
  for (std::size_t d = w.size.size(); d-- > 0;)
    if (w.size[d] > 1) all = windowed(all, d, w.size[d], w.window_dilation[d], meet);
  for (std::size_t i = 0; i < count; ++i) all[i] = sliced(all[i], Dims(w.size.size()), l.type_out(i).dims, w.stride);
  all = meet(starts, all);
  for (std::size_t i = 0; i < count; ++i) l.set(all[i], i);
}

void reduce_window(Lowerer& l) {
  const Monoid* monoid = l.node().operands.size() == 2 ? monoid_of(l.module(), l.node().regions[0]) : nullptr;
  const WindowDims w = window_dims(l.node().attributes, l.type_in(0).rank());
  if (!monoid) return windows_of_region(l, w);
  const View& start = l.in(1);
  const bool truth = is_bool(l.type_out().element);
  const Alu alu = truth ? monoid->of_truths : monoid->alu;
  const bool once = alu == Alu::kAdd || alu == Alu::kMul || alu == Alu::kXor || alu == Alu::kLogicalXor;
  if (once && has_padding(w) && !is_neutral(l, start, *monoid)) return windows_of_region(l, w);
  const double identity = truth ? (alu == Alu::kLogicalAnd ? 1 : 0) : monoid->identity;
  if (const auto out = by_moving_window(l, l.in(0), w, alu, identity))
    return l.set(with_start(l, *out, start, *monoid, alu));
  Views view{padded(l, l.in(0), w, number_view(within(identity, l.in(0).dtype), {}, l.in(0).dtype))};
  const Combination meet = [&](const Views& a, const Views& b) { return Views{pair_of(l, alu, a[0], b[0])}; };
  for (std::size_t d = 0; d < w.size.size(); ++d)
    if (w.size[d] > 1) view = windowed(view, d, w.size[d], w.window_dilation[d], meet);
  l.set(with_start(l, sliced(view[0], Dims(w.size.size()), l.type_out().dims, w.stride), start, *monoid, alu));
}

}  // namespace

Rule reduction_rule(std::string_view op) {
  if (op == "reduce_window") return reduce_window;
  return op == "reduce" ? reduce : nullptr;
}

}  // namespace trnsim::frontend
