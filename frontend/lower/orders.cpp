#include "frontend/lower/orders.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

using isa::Alu;
using runtime::ElementForm;

constexpr double kFp32Whole = 16777216.0;  // whole numbers up to here are exact in fp32

bool is_comparison(Alu alu) {
  return alu == Alu::kEq || alu == Alu::kNe || alu == Alu::kLt || alu == Alu::kLe || alu == Alu::kGt || alu == Alu::kGe;
}

double bound_of(Lowerer& l, runtime::ValueId value);

double ramp_bound(Lowerer&, const runtime::Node& node) {
  const auto& a = node.attrs.as<runtime::RampAttrs>();
  const double rows = static_cast<double>(a.rows - 1), cols = static_cast<double>(a.cols - 1);
  return std::abs(a.start) + std::abs(a.by_row) * rows + std::abs(a.by_col) * cols;
}

/// Whether a node writes to the value's memory, under any name.
bool is_written(const runtime::Graph& graph, runtime::ValueId value) {
  return std::ranges::any_of(graph.users(value), [&](runtime::NodeId n) {
    return std::ranges::any_of(graph.node(n).out, [&](runtime::ValueId out) {
      return graph.value(out).alias == value && (!graph.node(n).op->looks_on || is_written(graph, out));
    });
  });
}

/// The same integers in another form.
double copy_bound(Lowerer& l, const runtime::Node& node) {
  const runtime::Graph& graph = l.graph();
  if (is_written(graph, graph.root(node.in[0]))) return std::numeric_limits<double>::infinity();
  const Dtype from = graph.value(node.in[0]).dtype, to = graph.value(node.out[0]).dtype;
  return from == to ? bound_of(l, node.in[0]) : std::numeric_limits<double>::infinity();
}

double element_bound(Lowerer& l, const runtime::Node& node) {
  const auto& a = node.attrs.as<runtime::ElementAttrs>();
  const bool copies = a.form == ElementForm::kFunction && a.fn == isa::Fn::kCopy && a.x == 1 && a.y == 0;
  if (copies && isa::is_integer(l.graph().value(node.in[0]).dtype)) return bound_of(l, node.in[0]);
  const bool compares = is_comparison(a.alu) && a.then == Alu::kNone && a.form != ElementForm::kFunction;
  return compares ? 1 : std::numeric_limits<double>::infinity();
}

struct BoundRow {
  const runtime::Op* op;
  double (*bound)(Lowerer&, const runtime::Node&);
};

constexpr bool is_signed(Dtype dtype) {
  return dtype == Dtype::kInt32 || dtype == Dtype::kInt16 || dtype == Dtype::kInt8;
}

double bound_of(Lowerer& l, runtime::ValueId value) {
  const runtime::Graph& graph = l.graph();
  static constexpr std::array kRows = {BoundRow{&runtime::kRamp, ramp_bound}, BoundRow{&runtime::kMove, copy_bound},
                                       BoundRow{&runtime::kView, copy_bound},
                                       BoundRow{&runtime::kElement, element_bound}};
  const Dtype dtype = graph.value(value).dtype;
  const double all = std::exp2(8 * isa::size_of(dtype) - (is_signed(dtype) ? 1 : 0));
  const runtime::NodeId producer = graph.value(value).producer;
  if (!isa::is_integer(dtype) || isa::size_of(dtype) < 4 || producer == runtime::kNoNode)
    return std::min(all, l.constant_bound(value));
  const auto row = std::ranges::find(kRows, graph.node(producer).op, &BoundRow::op);
  return row == kRows.end() ? all : std::min(all, row->bound(l, graph.node(producer)));
}

bool is_wide(Dtype dtype) { return dtype == Dtype::kInt32 || dtype == Dtype::kUint32; }

OrderKey halves(const Formula& bits) {
  return {bits.with(Alu::kShr, 16).as(Dtype::kFp32), bits.with(Alu::kAnd, 65535).as(Dtype::kFp32)};
}

/// One element for all along dimensions that repeat it.
View once(const View& view) {
  View out = view;
  for (std::size_t d = 0; d < out.dims.size(); ++d)
    if (out.strides[d] == 0) out.dims[d] = 1;
  return out;
}

Formula spread(Lowerer& l, const Formula& x, const Dims& dims) {
  Dims places(dims.size());
  std::iota(places.begin(), places.end(), 0);
  return {l, broadcast(x.view(), dims, places)};
}

OrderKey spread(Lowerer& l, const OrderKey& key, const Dims& dims) {
  return {spread(l, key.high, dims), spread(l, key.low, dims)};
}

OrderKey integer_key(Lowerer& l, const View& view) {
  constexpr double kSign = 32768;
  if (view.is_number()) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(view.number));
    const double high = bits >> 16, low = bits & 65535;
    const double above = view.dtype == Dtype::kInt32 ? (high < kSign ? high + kSign : high - kSign) : high;
    return {{l, number_view(above, view.dims, Dtype::kFp32)}, {l, number_view(low, view.dims, Dtype::kFp32)}};
  }
  OrderKey key = halves(Formula{l, once(view)}.bits_as(Dtype::kUint32));
  if (view.dtype == Dtype::kInt32) {  // negative numbers come first
    const Formula negative = key.high.with(Alu::kGe, kSign);
    key.high = negative.choose(key.high - kSign, key.high + kSign);
  }
  return spread(l, key, view.dims);
}

/// `alu` of keys, by their order alone: a <= b where b is not before a.
Formula compared(Alu alu, const OrderKey& a, const OrderKey& b) {
  switch (alu) {
    case Alu::kLt:
    case Alu::kGt: return before(alu, a, b);
    case Alu::kLe: return before(Alu::kGt, a, b) == 0.0;
    case Alu::kGe: return before(Alu::kLt, a, b) == 0.0;
    default: {
      const Formula equal = a.high.with(Alu::kEq, b.high) * a.low.with(Alu::kEq, b.low);
      return alu == Alu::kEq ? equal : equal == 0.0;
    }
  }
}

}  // namespace

double bound_of(Lowerer& l, const View& view) {
  return view.is_number() ? std::abs(view.number) : bound_of(l, view.base);
}

bool fp32_holds(Lowerer& l, const View& view) { return !is_wide(view.dtype) || bound_of(l, view) <= kFp32Whole; }

bool compares_in_fp32(Lowerer& l, const View& a, const View& b) {
  if (!is_wide(a.dtype) && !is_wide(b.dtype)) return true;
  return bound_of(l, a) < kFp32Whole || bound_of(l, b) < kFp32Whole;
}

Formula before(Alu alu, const OrderKey& a, const OrderKey& b) {
  return a.high.with(alu, b.high) + a.high.with(Alu::kEq, b.high) * a.low.with(alu, b.low);
}

View compared_integers(Lowerer& l, Alu alu, const View& a, const View& b) {
  if (alu == Alu::kEq || alu == Alu::kNe)
    return Formula{l, integer_pair(l, Alu::kSub, a, b)}.as(Dtype::kFp32).with(alu, 0).as(Dtype::kUint8).view();
  return compared(alu, integer_key(l, a), integer_key(l, b)).as(Dtype::kUint8).view();
}

View extreme_integer(Lowerer& l, Alu alu, const View& a, const View& b) {
  const View& form = a.is_number() ? b : a;
  const View first = compares_in_fp32(l, a, b)
                         ? l.element({.form = ElementForm::kPair, .alu = alu == Alu::kMax ? Alu::kGt : Alu::kLt},
                                     {a, b}, form.dims, Dtype::kUint8)
                         : compared_integers(l, alu == Alu::kMax ? Alu::kGt : Alu::kLt, a, b);
  return l.element({.form = ElementForm::kSelect}, {first, a, b}, form.dims, form.dtype);
}

OrderKey order_key(Lowerer& l, const View& view) {
  if (isa::is_integer(view.dtype))
    return integer_key(l, Formula{l, view}.as(is_wide(view.dtype) ? view.dtype : Dtype::kInt32).view());
  View compact = once(view);
  if (view.is_number()) compact = dense_view(l.matrix(number_view(view.number, {}, view.dtype)), {}, view.dtype);
  const OrderKey parts = halves(Formula{l, compact}.as(Dtype::kFp32).bits_as(Dtype::kUint32));
  const Formula negative = parts.high.with(Alu::kGe, 32768);
  const OrderKey key{negative.choose(-parts.high + 65535, parts.high + 32768),
                     negative.choose(-parts.low + 65535, parts.low)};
  if (!view.is_number()) return spread(l, key, view.dims);
  return {{l, broadcast(key.high.view(), view.dims, {})}, {l, broadcast(key.low.view(), view.dims, {})}};
}

View compared_totally(Lowerer& l, Alu alu, const View& a, const View& b) {
  return compared(alu, order_key(l, a), order_key(l, b)).as(Dtype::kUint8).view();
}

}  // namespace trnsim::frontend
