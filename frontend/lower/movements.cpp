// The lowering of operators that put elements in other places: mostly views, which cost nothing by themselves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "frontend/lower/lowerer.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

const Attributes& attributes(Lowerer& l) { return l.node().attributes; }

/// A view with the elements one behind the other, of at least the view's memory.
View gathered(Lowerer& l, const View& view) { return dense_view(l.matrix(view), view.dims, view.dtype); }

View in_form(Lowerer& l, const View& view, const Dims& dims) {
  if (auto same = reshaped(view, dims)) return *same;
  return *reshaped(gathered(l, view), dims);
}

void broadcast_in_dim(Lowerer& l) {
  const Dims& dims = l.type_out().dims;
  const View& view = l.in(0);
  if (view.is_number()) return l.set(number_view(view.number, dims, view.dtype));
  l.set(broadcast(view, dims, attributes(l).ints("broadcast_dimensions")));
}

void reshape(Lowerer& l) { l.set(in_form(l, l.in(0), l.type_out().dims)); }

void transpose(Lowerer& l) { l.set(transposed(l.in(0), attributes(l).ints("permutation"))); }

void slice(Lowerer& l) {
  const Attributes& a = attributes(l);
  const Dims start = a.ints("start_indices");
  l.set(sliced(l.in(0), start, l.type_out().dims, a.ints("strides", Ints(start.size(), 1))));
}

void reverse(Lowerer& l) {
  const View& view = l.in(0);
  Dims start(view.dims.size()), step(view.dims.size(), 1);
  for (const std::int64_t d : attributes(l).ints("dimensions")) {
    const auto at = static_cast<std::size_t>(d);
    start[at] = view.dims[at] - 1, step[at] = -1;
  }
  l.set(sliced(view, start, view.dims, step));
}

/// Writes `part` into `whole`, whose memory this node made, at `first` of it with `strides`.
void put(Lowerer& l, View& whole, const View& part, const Dims& start, const Dims& step) {
  if (part.count() > 0) whole = l.written(whole, sliced(whole, start, part.dims, step), part);
}

View empty(Lowerer& l) {
  View out = dense_view(0, l.type_out().dims, l.dtype_out());
  const std::int64_t last = out.dims.empty() ? 1 : out.dims.back();
  const runtime::RampAttrs form{.rows = out.count() / last, .cols = last, .dtype = out.dtype};
  out.base = l.add(runtime::kEmpty, {}, form);
  l.own(out.base);
  return out;
}

void concatenate(Lowerer& l) {
  const auto d = static_cast<std::size_t>(attributes(l).integer("dimension"));
  bool same = true;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i)
    same = same && l.in(i).is_number() && l.in(i).number == l.in(0).number;
  if (same) return l.set(number_view(l.in(0).number, l.type_out().dims, l.dtype_out()));
  std::vector<View> parts;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) parts.push_back(l.in(i));
  if (auto joined = joined_in_rows(l, parts, d)) return l.set(*joined);
  View whole = empty(l);
  Dims start(whole.dims.size());
  const Dims step(whole.dims.size(), 1);
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    put(l, whole, l.in(i), start, step);
    start[d] += l.in(i).dims[d];
  }
  l.set(whole);
}

/// Rows with a number at their ends are joined in SBUF, where one dimension alone is padded.
std::optional<View> padded_in_rows(Lowerer& l, const View& view, const Dims& low, const Dims& high, const Dims& step) {
  if (!l.in(1).is_number()) return std::nullopt;
  std::optional<std::size_t> padded;
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (step[d] != 1 && view.dims[d] > 1) return std::nullopt;
    if (low[d] == 0 && high[d] == 0) continue;
    if (padded) return std::nullopt;
    padded = d;
  }
  if (!padded) return std::nullopt;
  std::vector<View> parts;
  const auto add = [&](std::int64_t size) {
    Dims dims = view.dims;
    dims[*padded] = size;
    if (size > 0) parts.push_back(number_view(l.in(1).number, dims, l.dtype_out()));
  };
  add(low[*padded]);
  parts.push_back(view);
  add(high[*padded]);
  return joined_in_rows(l, parts, *padded);
}

void pad(Lowerer& l) {
  const Attributes& a = attributes(l);
  View view = l.in(0);
  const View& value = l.in(1);
  if (view.is_number() && value.is_number() && view.number == value.number)
    return l.set(number_view(view.number, l.type_out().dims, view.dtype));
  Dims low = a.ints("edge_padding_low"), high = a.ints("edge_padding_high");
  Dims step = a.ints("interior_padding", Ints(low.size(), 0));
  for (std::int64_t& one : step) ++one;
  view = cut_to(view, low, high, step);
  if (view.dims == l.type_out().dims) return l.set(view);  // nothing is padded
  if (auto joined = padded_in_rows(l, view, low, high, step)) return l.set(*joined);
  View whole = value.is_number() ? l.owned_copy(number_view(value.number, l.type_out().dims, l.dtype_out()))
                                 : l.owned_copy(broadcast(value, l.type_out().dims, {}));
  put(l, whole, view, low, step);
  l.set(whole);
}

void iota(Lowerer& l) {
  const Dims& dims = l.type_out().dims;
  const auto d = static_cast<std::size_t>(attributes(l).integer("iota_dimension"));
  if (dims[d] <= 1) return l.set(number_view(0, dims, l.dtype_out()));
  const runtime::ValueId ramp =
      l.add(runtime::kRamp, {}, runtime::RampAttrs{.rows = 1, .cols = dims[d], .by_col = 1, .dtype = l.dtype_out()});
  l.set(broadcast(dense_view(ramp, {dims[d]}, l.dtype_out()), dims, {static_cast<std::int64_t>(d)}));
}

double number_of(const Literal& literal, std::int64_t i) {
  const std::uint64_t bits = literal.bits(i);
  const Element element = literal.type.element;
  if (is_float(element)) return decode_float(element, bits);
  if (is_unsigned_integer(element)) return static_cast<double>(bits);
  return static_cast<double>(wrap_to(element, static_cast<std::int64_t>(bits)));
}

/// A number of 64 bits as the 32 that the device computes with: the limits of a type become those of the other.
double as_32_bits(Lowerer& l, Element element, double number) {
  if (info(element).bits < 64 || is_float(element)) return number;
  const bool has_sign = is_signed_integer(element);
  const double low = has_sign ? -2147483648.0 : 0, high = has_sign ? 2147483647.0 : 4294967295.0;
  if (number >= low && number <= high) return number;
  if (std::abs(number) < 9.2e18)
    l.refuse(fmt::format("{:.0f} does not fit into 32 bits, and 64-bit integers are computed in 32 bits", number),
             "use smaller numbers");
  return number < 0 ? low : high;
}

void constant(Lowerer& l) {
  const LiteralPtr literal = attributes(l).literal("value");
  if (!literal) l.refuse("has no value", "give it one");
  const Dims& dims = l.type_out().dims;
  const std::int64_t count = element_count(dims);
  if (count == 0) return l.set(number_view(0, dims, l.dtype_out()));
  const Element element = l.type_out().element;
  if (literal->splat || count == 1)
    return l.set(number_view(as_32_bits(l, element, number_of(*literal, 0)), dims, l.dtype_out()));
  if (is_integer(element) && info(element).bits == 64)
    for (std::int64_t i = 0; i < count; ++i)
      if (const double number = number_of(*literal, i); as_32_bits(l, element, number) != number)
        l.refuse("has limits of 64 bits, but the device has 32", "use 32 bits");
  const std::string name = fmt::format("constant.{}", l.out().constants.size());
  const std::int64_t last = dims.back();
  const auto v = l.graph().tensor(name, count / last, last, l.dtype_out(), runtime::Kind::kInput);
  l.out().constants.push_back({.name = name, .literal = literal});
  if (is_integer(element)) {
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(number_of(*literal, i)));
    l.note_constant(v, largest);
  }
  l.set(dense_view(v, dims, l.dtype_out()));
}

/// The same memory under another name: a program that computes something again, to keep less, does so behind it.
void barrier(Lowerer& l) {
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    View view = l.in(i);
    if (!view.is_number()) {
      const runtime::Value& base = l.graph().value(view.base);
      view.base = l.add(runtime::kView, {view.base}, runtime::ViewAttrs{.rows = base.rows, .cols = base.cols});
    }
    l.set(std::move(view), i);
  }
}

/// The same memory as another type: elements of more bytes are the last dimension of those of fewer.
void bitcast_convert(Lowerer& l) {
  if (l.type_in(0).element == l.type_out().element) return l.set(l.in(0));
  for (const Type& type : {l.type_in(0), l.type_out()})
    if (info(type.element).bits % 8 != 0 || info(type.element).bits > 32)
      l.refuse("has a type whose bits the device stores differently", "use types of 8, 16 or 32 bits");
  if (l.in(0).dtype == l.dtype_out()) return l.set(l.in(0));
  const auto [rows, cols] = matrix_form(l.type_out().dims);
  l.set_result(l.add(runtime::kView, {l.matrix(l.in(0))},
                     runtime::ViewAttrs{.rows = rows, .cols = cols, .dtype = l.dtype_out()}));
}

void dimension_size(Lowerer& l) {
  const auto along = static_cast<std::size_t>(attributes(l).integer("dimension"));
  l.set(number_view(static_cast<double>(l.type_in(0).dims[along]), {}, l.dtype_out()));
}

struct MovementRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kMovementRules = {MovementRow{"broadcast_in_dim", broadcast_in_dim},
                                       MovementRow{"reshape", reshape},
                                       MovementRow{"transpose", transpose},
                                       MovementRow{"slice", slice},
                                       MovementRow{"reverse", reverse},
                                       MovementRow{"concatenate", concatenate},
                                       MovementRow{"pad", pad},
                                       MovementRow{"iota", iota},
                                       MovementRow{"constant", constant},
                                       MovementRow{"get_dimension_size", dimension_size},
                                       MovementRow{"optimization_barrier", barrier},
                                       MovementRow{"bitcast_convert", bitcast_convert}};

}  // namespace

Rule movement_rule(std::string_view op) {
  const auto row = std::ranges::find(kMovementRules, op, &MovementRow::op);
  return row == kMovementRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
