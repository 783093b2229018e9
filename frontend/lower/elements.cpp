// The lowering of element-wise operators.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

#include "frontend/lower/orders.h"
#include "frontend/lower/reading.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/element_numbers.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

using isa::Alu;
using isa::Fn;
using runtime::ElementAttrs;
using runtime::ElementForm;

/// A number as its type holds it.
double held(double number, Element element) {
  if (is_bool(element)) return number != 0;
  if (is_float(element)) return round_to(element, number);
  if (!std::isfinite(number)) return 0;
  return static_cast<double>(wrap_to(element, static_cast<std::int64_t>(number)));
}

// ---- operators of one and two operands

struct OneRow {
  std::string_view op;
  ElementAttrs attrs;
};
ElementAttrs function(Fn fn, double x = 1, double y = 0) {
  return {.form = ElementForm::kFunction, .fn = fn, .x = x, .y = y};
}
ElementAttrs numbers(Alu alu, double x, Alu then = Alu::kNone, double y = 0) {
  return {.form = ElementForm::kNumbers, .alu = alu, .then = then, .x = x, .y = y};
}

const std::vector<OneRow>& one_rows() {
  static const std::vector<OneRow> kRows = {
      {"negate", numbers(Alu::kMul, -1)},
      {"abs", numbers(Alu::kAbs, 0)},
      {"exponential", function(Fn::kExp)},
      {"log", function(Fn::kLog)},
      {"sqrt", function(Fn::kSqrt)},
      {"rsqrt", function(Fn::kRsqrt)},
      {"tanh", function(Fn::kTanh)},
      {"logistic", function(Fn::kSigmoid)},
      {"sine", function(Fn::kSin)},
      {"sign", function(Fn::kSign)},
      {"floor", {.form = ElementForm::kFloor}},
      {"chlo.erf", function(Fn::kErf)},
      {"erf", function(Fn::kErf)},
      {"is_finite", numbers(Alu::kAbs, 0, Alu::kLe, std::numeric_limits<float>::max())},
  };
  return kRows;
}

struct PairRow {
  std::string_view op;
  Alu alu;
};
constexpr std::array kPairRows = {PairRow{"add", Alu::kAdd},      PairRow{"subtract", Alu::kSub},
                                  PairRow{"multiply", Alu::kMul}, PairRow{"divide", Alu::kDiv},
                                  PairRow{"maximum", Alu::kMax},  PairRow{"minimum", Alu::kMin},
                                  PairRow{"power", Alu::kPow},    PairRow{"and", Alu::kAnd},
                                  PairRow{"or", Alu::kOr},        PairRow{"xor", Alu::kXor}};

Alu compare_alu(Lowerer& l) {
  constexpr std::array<std::string_view, 6> kNames{"EQ", "NE", "GT", "GE", "LT", "LE"};
  constexpr std::array<Alu, 6> kAlus{Alu::kEq, Alu::kNe, Alu::kGt, Alu::kGe, Alu::kLt, Alu::kLe};
  const std::string name = l.node().attributes.text("comparison_direction");
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) l.refuse("has no direction " + name, "use EQ, NE, GT, GE, LT or LE");
  return kAlus[static_cast<std::size_t>(found - kNames.begin())];
}

/// x alu a as a alu' x, for comparisons.
Alu mirrored(Alu alu) {
  switch (alu) {
    case Alu::kGt: return Alu::kLt;
    case Alu::kGe: return Alu::kLe;
    case Alu::kLt: return Alu::kGt;
    case Alu::kLe: return Alu::kGe;
    default: return alu;
  }
}

/// Truth values are 0 and 1: their bits are combined as truths.
Alu for_type(Alu alu, Element element) {
  if (!is_bool(element)) return alu;
  switch (alu) {
    case Alu::kAnd:
    case Alu::kMul:
    case Alu::kMin: return Alu::kLogicalAnd;
    case Alu::kOr:
    case Alu::kAdd:
    case Alu::kMax: return Alu::kLogicalOr;
    case Alu::kXor: return Alu::kLogicalXor;
    default: return alu;
  }
}

void pair(Lowerer& l, Alu alu) {
  const View &a = l.in(0), &b = l.in(1);
  const Dims& dims = l.type_out().dims;
  const Dtype dtype = l.dtype_out();
  const Element element = l.type_out().element;
  const bool commutes =
      alu != Alu::kSub && alu != Alu::kDiv && alu != Alu::kPow && alu != Alu::kShl && alu != Alu::kShr;
  if (a.is_number() && b.is_number())
    return l.set(number_view(held(runtime::computed(alu, a.number, b.number), element), dims, dtype));
  const bool wraps = is_integer(element) && (alu == Alu::kAdd || alu == Alu::kSub || alu == Alu::kMul);
  if (wraps) return l.set(integer_pair(l, alu, a, b));
  const double none = alu == Alu::kMul || alu == Alu::kDiv ? 1 : 0;  // the number that changes nothing
  const bool takes_none = none == 1 || alu == Alu::kAdd || alu == Alu::kSub;
  if (takes_none && b.is_number() && b.number == none && a.dtype == dtype) return l.set(a);
  if (takes_none && commutes && a.is_number() && a.number == none && b.dtype == dtype) return l.set(b);
  if (b.is_number()) {
    const bool halves =
        alu == Alu::kDiv && is_float(element);  // a product with the reciprocal is exact for powers of 2
    if (halves && std::exp2(std::round(std::log2(std::abs(b.number)))) == std::abs(b.number))
      return l.set(l.element(numbers(Alu::kMul, 1 / b.number), {a}, dims, dtype));
    return l.set(l.element(numbers(alu, b.number), {a}, dims, dtype));
  }
  if (!a.is_number()) return l.set(l.element({.form = ElementForm::kPair, .alu = alu}, {a, b}, dims, dtype));
  if (commutes) return l.set(l.element(numbers(mirrored(alu), a.number), {b}, dims, dtype));
  if (alu == Alu::kSub) return l.set(l.element(numbers(Alu::kMul, -1, Alu::kAdd, a.number), {b}, dims, dtype));
  if (alu == Alu::kDiv) {
    const View inverse = l.element(function(Fn::kReciprocal), {b}, dims, dtype);
    return l.set(a.number == 1 ? inverse : l.element(numbers(Alu::kMul, a.number), {inverse}, dims, dtype));
  }
  if (alu == Alu::kPow && a.number > 0)
    return l.set(l.element(function(Fn::kExp, std::log(a.number)), {b}, dims, dtype));
  l.set(l.element({.form = ElementForm::kPair, .alu = alu}, {a, b}, dims, dtype));
}

bool of_integers(Lowerer& l) { return is_integer(l.type_out().element); }

void binary(Lowerer& l) {
  const auto row = std::ranges::find(kPairRows, l.node().op->name, &PairRow::op);
  const Alu alu = for_type(row->alu, l.type_out().element);
  const bool known = l.in(0).is_number() && l.in(1).is_number();
  if (of_integers(l) && (alu == Alu::kDiv || (alu == Alu::kPow && !known))) return integer_rule(row->op)(l);
  const bool picks = alu == Alu::kMax || alu == Alu::kMin;
  if (picks && !known && !(fp32_holds(l, l.in(0)) && fp32_holds(l, l.in(1))))
    return l.set(extreme_integer(l, alu, l.in(0), l.in(1)));
  pair(l, alu);
}

void compare(Lowerer& l) {
  const View &a = l.in(0), &b = l.in(1);
  const Alu alu = compare_alu(l);
  const bool known = a.is_number() && b.is_number();
  const bool totally = is_float(l.type_in(0).element) && l.node().attributes.text("compare_type") == "TOTALORDER";
  if (totally) return l.set(compared_totally(l, alu, a, b));
  if (!known && !compares_in_fp32(l, a, b)) return l.set(compared_integers(l, alu, a, b));
  pair(l, alu);
}

/// The size of integers that fp32 does not hold.
void size_of_integers(Lowerer& l) {
  const View& x = l.in(0);
  const View less = integer_pair(l, Alu::kSub, number_view(0, x.dims, x.dtype), x);
  const View negative = l.element(numbers(Alu::kLt, 0), {x}, x.dims, Dtype::kUint8);
  l.set(l.element({.form = ElementForm::kSelect}, {negative, less, x}, x.dims, x.dtype));
}

void unary(Lowerer& l) {
  if (l.node().op->name == "negate" && of_integers(l) && !l.in(0).is_number())
    return l.set(integer_pair(l, Alu::kSub, number_view(0, l.type_out().dims, l.dtype_out()), l.in(0)));
  const auto row = std::ranges::find(one_rows(), l.node().op->name, &OneRow::op);
  if (row->op == "abs" && !fp32_holds(l, l.in(0))) return size_of_integers(l);
  l.set(l.element(row->attrs, {l.in(0)}, l.type_out().dims, l.dtype_out()));
}

void negated(Lowerer& l) {  // not
  const bool truth = is_bool(l.type_out().element);
  l.set(l.element(numbers(truth ? Alu::kLogicalNot : Alu::kNot, 0), {l.in(0)}, l.type_out().dims, l.dtype_out()));
}

View stepped_to(Lowerer& l, const ElementAttrs& attrs, const View& in, Dtype dtype) {
  return l.element(attrs, {in}, l.type_out().dims, dtype);
}
View stepped(Lowerer& l, const ElementAttrs& attrs, const View& in) { return stepped_to(l, attrs, in, l.dtype_out()); }

void ceil(Lowerer& l) {
  const View below = stepped(l, {.form = ElementForm::kFloor}, stepped(l, numbers(Alu::kMul, -1), l.in(0)));
  l.set(stepped(l, numbers(Alu::kMul, -1), below));
}

/// Engines round what they write as an integer, which holds neither large numbers nor Inf and NaN: those have no
/// fraction to round. The sign stays, also that of zero, which integers do not have.
void round(Lowerer& l) {
  constexpr double kNoFraction = 1 << 23;
  const Formula x{l, l.in(0)}, size = x.abs(), whole = size.as(Dtype::kInt32).as(x.dtype());
  l.set((size < kNoFraction).choose(whole * x.fn(Fn::kSign), x).view());
}

void remainder(Lowerer& l) {
  if (of_integers(l)) return integer_rule("remainder")(l);
  l.set(l.element({.form = ElementForm::kRest}, {l.in(0), l.in(1)}, l.type_out().dims, l.dtype_out()));
}

void select(Lowerer& l) {
  const View& p = l.in(0);
  if (p.is_number()) return l.set(p.number != 0 ? l.in(1) : l.in(2));
  l.set(l.element({.form = ElementForm::kSelect}, {p, l.in(1), l.in(2)}, l.type_out().dims, l.dtype_out()));
}

void clamp(Lowerer& l) {
  const Dims& dims = l.type_out().dims;
  const Dtype dtype = l.dtype_out();
  const auto whole = [&](const View& v) { return v.dims == dims ? v : broadcast(v, dims, {}); };
  const View low = whole(l.in(0)), high = whole(l.in(2));
  if (low.is_number() && high.is_number() && fp32_holds(l, low) && fp32_holds(l, high))
    return l.set(l.element(numbers(Alu::kMax, low.number, Alu::kMin, high.number), {l.in(1)}, dims, dtype));
  if (!fp32_holds(l, l.in(1)))
    return l.set(extreme_integer(l, Alu::kMin, extreme_integer(l, Alu::kMax, l.in(1), low), high));
  const View above = l.element({.form = ElementForm::kPair, .alu = Alu::kMax}, {l.in(1), low}, dims, dtype);
  l.set(l.element({.form = ElementForm::kPair, .alu = Alu::kMin}, {above, high}, dims, dtype));
}

/// The whole part of real numbers, which engines round to the nearest when they write integers.
View towards_zero(Lowerer& l, const View& view) {
  const Dims& dims = l.type_out().dims;
  const View size = l.element(numbers(Alu::kAbs, 0), {view}, dims, Dtype::kFp32);
  const View whole = l.element({.form = ElementForm::kFloor}, {size}, dims, Dtype::kFp32);
  const View sign = l.element(function(Fn::kSign), {view}, dims, Dtype::kFp32);
  return l.element({.form = ElementForm::kPair, .alu = Alu::kMul}, {whole, sign}, dims, Dtype::kFp32);
}

/// A whole number for a type that may not hold it: its lowest bits, as many as that has. Engines would write the
/// nearest number.
View lowest_bits(Lowerer& l, const View& view, Element from, Element to) {
  const auto bits = [](Element e) { return std::min(info(e).bits, 32); };  // as the device has them
  const Dtype dtype = l.dtype_out();
  const int have = bits(from), want = bits(to);
  const bool from_sign = is_signed_integer(from), to_sign = is_signed_integer(to);
  if (from_sign == to_sign ? want >= have : !from_sign && want > have) return view;
  if (want >= have && want >= 8) {
    const Dtype wide = want == 8 ? Dtype::kInt8 : want == 16 ? Dtype::kInt16 : Dtype::kInt32;
    const bool grows = isa::size_of(wide) > isa::size_of(view.dtype);
    return Formula{l, grows ? stepped_to(l, function(Fn::kCopy), view, wide) : view}.bits_as(dtype).view();
  }
  const View low = stepped_to(l, numbers(Alu::kAnd, std::exp2(want) - 1), view, view.dtype);
  if (!to_sign) return low;
  const double half = std::exp2(want - 1);
  return stepped_to(l, numbers(Alu::kAdd, -half), stepped_to(l, numbers(Alu::kXor, half), low, view.dtype), dtype);
}

void convert(Lowerer& l) {
  View view = l.in(0);
  const Dtype dtype = l.dtype_out();
  if (view.is_number()) {
    view.number = held(view.number, l.type_out().element);
    view.dtype = dtype;
    return l.set(view);
  }
  if (view.dtype == dtype && !is_bool(l.type_out().element)) return l.set(view);
  if (is_bool(l.type_out().element)) return l.set(l.element(numbers(Alu::kNe, 0), {view}, l.type_out().dims, dtype));
  if (is_float(l.type_in(0).element) && isa::is_integer(dtype))
    view = towards_zero(l, view);
  else if (isa::is_integer(dtype) && !is_bool(l.type_in(0).element))
    view = lowest_bits(l, view, l.type_in(0).element, l.type_out().element);
  if (view.dtype == dtype) return l.set(view);
  l.set(l.element(function(Fn::kCopy), {view}, l.type_out().dims, dtype));
}

struct RuleRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kElementRules = {RuleRow{"compare", compare},     RuleRow{"not", negated},
                                      RuleRow{"ceil", ceil},           RuleRow{"round_nearest_even", round},
                                      RuleRow{"remainder", remainder}, RuleRow{"select", select},
                                      RuleRow{"clamp", clamp},         RuleRow{"convert", convert}};

}  // namespace

Rule element_rule(std::string_view op) {
  if (const auto row = std::ranges::find(kElementRules, op, &RuleRow::op); row != kElementRules.end()) return row->rule;
  if (std::ranges::find(one_rows(), op, &OneRow::op) != one_rows().end()) return unary;
  if (std::ranges::find(kPairRows, op, &PairRow::op) != kPairRows.end()) return binary;
  return nullptr;
}

namespace {

/// A whole number as its type holds it.
double wrapped(double number, Dtype dtype) {
  if (!std::isfinite(number)) return 0;
  const int bits = 8 * isa::size_of(dtype);
  const bool has_sign = dtype == Dtype::kInt32 || dtype == Dtype::kInt16 || dtype == Dtype::kInt8;
  const double span = std::exp2(bits), low = has_sign ? -span / 2 : 0;
  const double whole = std::trunc(number);
  return whole - span * std::floor((whole - low) / span);
}

/// Immediates of instructions are in fp32.
bool fp32_has(double number) { return static_cast<double>(static_cast<float>(number)) == number; }

/// One of two integers of 32 bits by their bits: the engines' select is in fp32.
View chosen_bits(Lowerer& l, const std::vector<View>& in, const Dims& dims, Dtype dtype) {
  const auto pair = [&](Alu alu, const View& a, const View& b) {
    return l.element({.form = ElementForm::kPair, .alu = alu}, {a, b}, dims, dtype);
  };
  const View truth = l.element(numbers(Alu::kNe, 0, Alu::kMul, -1), {in[0]}, dims, Dtype::kInt32);
  const View mask = Formula{l, truth}.bits_as(dtype).view();
  const View rest = l.element(numbers(Alu::kNot, 0), {mask}, dims, dtype);
  return pair(Alu::kOr, pair(Alu::kAnd, in[1], mask), pair(Alu::kAnd, in[2], rest));
}

}  // namespace

View Lowerer::element(const ElementAttrs& given, const std::vector<View>& in, const Dims& dims, Dtype dtype) {
  if (const auto order = order_of_memory(*this, in)) {  // dimensions change places, elements do not
    std::vector<View> turned;
    for (const View& view : in) turned.push_back(transposed(view, *order));
    Dims sizes;
    for (const std::int64_t d : *order) sizes.push_back(dims[static_cast<std::size_t>(d)]);
    return turned_back(element(given, turned, sizes, dtype), *order);
  }
  if (std::ranges::all_of(in, &View::is_number)) {
    const auto at = [&](std::size_t i) { return i < in.size() ? in[i].number : 0.0; };
    const double number = runtime::computed(given, at(0), at(1), at(2));
    return number_view(isa::is_integer(dtype) ? wrapped(number, dtype) : static_cast<float>(number), dims, dtype);
  }
  if (given.form == ElementForm::kNumbers && isa::is_integer(dtype) && !(fp32_has(given.x) && fp32_has(given.y))) {
    const View first = element({.form = ElementForm::kPair, .alu = given.alu},
                               {in[0], number_view(given.x, dims, in[0].dtype)}, dims, dtype);
    if (given.then == Alu::kNone) return first;
    return element({.form = ElementForm::kPair, .alu = given.then}, {first, number_view(given.y, dims, dtype)}, dims,
                   dtype);
  }
  const bool wide = dtype == Dtype::kInt32 || dtype == Dtype::kUint32;
  if (given.form == ElementForm::kSelect && wide) return chosen_bits(*this, in, dims, dtype);
  ElementAttrs attrs = given;
  attrs.dtype = dtype;
  const Reading reading = reading_of(*this, in, dims);
  if (reading.still && element_count(dims) > 1) {  // once, for all
    std::vector<View> ones = in;
    for (View& view : ones) view.dims = view.strides = {};
    return broadcast(element(given, ones, {}, dtype), dims, {});
  }
  std::vector<runtime::ValueId> values;
  for (std::size_t i = 0; i < in.size(); ++i) values.push_back(operand_of(*this, in[i], reading.spreads[i], reading));
  return spread_out(dense_view(add(runtime::kElement, values, attrs), dims, dtype), reading);
}

}  // namespace trnsim::frontend
