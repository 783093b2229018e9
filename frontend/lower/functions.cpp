// The lowering of functions that the engines do not have: composed of those that they have, in fp32.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/lower/formula.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace functions {
namespace {

using isa::Alu;
using isa::Fn;

constexpr double kPi = std::numbers::pi, kInfinity = std::numeric_limits<double>::infinity();

Formula exp(const Formula& x) { return x.fn(Fn::kExp); }
Formula log(const Formula& x) { return x.fn(Fn::kLog); }
Formula sqrt(const Formula& x) { return x.fn(Fn::kSqrt); }
Formula sign(const Formula& x) { return x.fn(Fn::kSign); }

/// 1 where a number has the sign of those below zero, as -0 has it, whose reciprocal is -inf.
Formula has_sign(const Formula& x) { return x + x.reciprocal() < 0.0; }

/// The angle of a point above the axis, or on it, from 0 to half a turn: equal sizes are an eighth of a turn also where
/// both are infinite, and none where both are zero.
Formula angle_above(const Formula& y, const Formula& x) {
  const Formula size = x.abs(), slope = y.with(Alu::kEq, size).choose(y > 0.0, y / size);
  const Formula angle = slope.fn(Fn::kArctan);
  return has_sign(x).choose(-angle + kPi, angle);
}
Formula atan2(const Formula& y, const Formula& x) {
  const Formula above = angle_above(y.abs(), x);
  return has_sign(y).choose(-above, above);
}

// Abramowitz and Stegun, 4.4 to 4.6; signs apart, so that nothing is lost where the result is small.
Formula asin(const Formula& x) { return (x * (-(x * x) + 1.0).fn(Fn::kRsqrt)).fn(Fn::kArctan); }
Formula acos(const Formula& x) { return angle_above(sqrt((-x + 1.0) * (x + 1.0)), x); }
Formula acosh(const Formula& x) {
  // Beyond 1e9 x squared would be infinite too early: log 2x.
  return (x > 1e9).choose(log(x) + std::numbers::ln2, log(x + sqrt((x - 1.0) * (x + 1.0))));
}
Formula log_plus_one(const Formula& x) {
  const Formula small = x * x.polynomial({1, -0.5, 1.0 / 3, -0.25});
  return x.abs().with(Alu::kLt, 0.01).choose(small, x.fn(Fn::kLog, 1, 1));
}
Formula exponential_minus_one(const Formula& x) {
  const Formula small = x * x.polynomial({1, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120});
  return x.abs().with(Alu::kLt, 0.05).choose(small, exp(x) - 1.0);
}
Formula asinh(const Formula& x) {
  const Formula a = x.abs();
  const Formula square = a * a, part = a + square / (sqrt(square + 1.0) + 1.0);
  return (a > 1e9).choose(log(a) + std::numbers::ln2, log_plus_one(part)) * sign(x);
}
Formula atanh(const Formula& x) {
  const Formula a = x.abs();
  return log_plus_one((a + a) / (-a + 1.0)) * 0.5 * sign(x);
}
/// By the sine of the half: x + pi / 2 would lose digits of an angle of many turns, such as a place in a long text.
Formula cosine(const Formula& x) {
  const Formula half = x.fn(Fn::kSin, 0.5);
  return half * half * -2.0 + 1.0;
}
/// Half of exp(scale * x), which overflows where the half does, by the square of the root.
Formula half_exp(const Formula& x, double scale) {
  const Formula root = x.fn(Fn::kExp, scale / 2);
  return root * 0.5 * root;
}
Formula sinh(const Formula& x) {
  const Formula size = x.abs(), a = exponential_minus_one(size);
  return (size > 20.0).choose(half_exp(size, 1), (a + a / (a + 1.0)) * 0.5) * sign(x);
}
Formula cosh(const Formula& x) { return half_exp(x, 1) + half_exp(x, -1); }
/// Near its poles only what is left of whole quarters of a turn has digits: they are taken off in three parts of pi / 2
/// (Cody and Waite), whose products with small whole numbers are exact.
Formula tan(const Formula& x) {
  const Formula quarters = (x * (2 / kPi)).as(Dtype::kInt32).as(Dtype::kFp32);
  Formula rest = x;
  for (const double part : {1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8}) rest = rest - quarters * part;
  const Formula sine = rest.fn(Fn::kSin), cosine = rest.fn(Fn::kSin, 1, kPi / 2);
  const Formula odd = quarters - (quarters * 0.5).floor() * 2.0;
  const Formula full = x.fn(Fn::kSin), far = full * full * 2.0 / x.fn(Fn::kSin, 2);  // by the double angle's sine
  return (x.abs() > 8192.0).choose(far, odd.choose(-(cosine / sine), sine / cosine));
}

/// log of the gamma function by Lanczos' sum of g = 7 with 9 terms; below 1/2 by reflection.
constexpr std::array kLanczos{
    0.99999999999980993227684700473478, 676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,    12.507343278686904814458936853,
    -0.13857109526572011689554707,      9.984369578019570859563e-6,         1.50563273514931155834e-7};
constexpr double kLanczosG = 7;

/// Lanczos' sum and its derivative at z - 1.
struct LanczosSum {
  Formula sum, derivative;
};
LanczosSum lanczos(const Formula& z) {
  Formula sum = z.number(kLanczos[0]), derivative = z.number(0);
  for (std::size_t i = 1; i < kLanczos.size(); ++i) {
    const Formula inverse = (z + static_cast<double>(i)).reciprocal();
    sum = sum + inverse * kLanczos[i];
    derivative = derivative - inverse * inverse * kLanczos[i];
  }
  return {sum, derivative};
}

Formula lgamma(const Formula& x) {
  const Formula reflects = x < 0.5;
  const Formula z = reflects.choose(-x, x - 1.0), t = z + (kLanczosG + 0.5);
  const Formula above = (z + 0.5) * log(t) - t + log(lanczos(z).sum) + 0.5 * std::log(2 * kPi);
  const Formula a = x.abs(), rest = a - a.floor();
  const Formula sine = (rest * kPi).fn(Fn::kSin).abs();
  const Formula below = -(log(sine)) + std::log(kPi) - above;
  const Formula out = reflects.choose(below, above);
  return (a == kInfinity).choose(x.number(kInfinity), out);
}

Formula digamma(const Formula& x) {
  const Formula reflects = x < 0.5;
  const Formula z = reflects.choose(-x, x - 1.0), t = z + (kLanczosG + 0.5);
  const auto [sum, derivative] = lanczos(z);
  const Formula above = log(t) + derivative / sum - t.reciprocal() * kLanczosG;
  const Formula angle = (x - (x + 0.5).floor()) * kPi;
  const Formula out = reflects.choose(above - angle.fn(Fn::kSin, 1, kPi / 2) / angle.fn(Fn::kSin) * kPi, above);
  const Formula none = (x < 0.0).with(Alu::kLogicalAnd, angle == 0.0);  // poles, beside which it has both signs
  return none.choose(angle / angle, out);
}

/// M. Giles, "Approximating the erfinv function": w = -log(1 - x^2), two polynomials.
Formula erf_inv(const Formula& x) {
  const Formula w = -log((x + 1.0) * (-x + 1.0));
  const Formula near = (w - 2.5).polynomial({1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087,
                                             -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const Formula far = (sqrt(w) - 3.0)
                          .polynomial({2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
                                       -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
  const Formula out = (w < 5.0).choose(near, far) * x;
  return (x.abs() == 1.0).choose(x * kInfinity, out);
}

/// The next number of fp32 in the direction of another: its bits count upwards from zero.
Formula next_after(const Formula& x, const Formula& y) {
  const Formula bits = x.bits_as(Dtype::kInt32), up = x.with(Alu::kLt, y).as(Dtype::kInt32);
  const Formula outward = (x > 0.0).as(Dtype::kInt32), one = bits.number(1);
  // One more where both signs agree, one less where they do not.
  const Formula step = (up - outward == 0.0).as(Dtype::kInt32);
  const Formula moved = (bits + step + step - one).bits_as(Dtype::kFp32);
  const Formula least = up.as(Dtype::kFp32).choose(x.number(1.401298464324817e-45), x.number(-1.401298464324817e-45));
  const Formula apart = (x == 0.0).choose(least, moved);
  const Formula same = x.with(Alu::kEq, y);
  return same.choose(y, apart);
}

Formula away_from_zero(const Formula& x) { return (x.abs() + 0.5).floor() * sign(x); }
Formula cube_root(const Formula& x) { return x.abs().with(Alu::kPow, 1.0 / 3) * sign(x); }
Formula erfc(const Formula& x) { return -(x.fn(Fn::kErf)) + 1.0; }
Formula is_infinite(const Formula& x) { return x.abs() == kInfinity; }
Formula is_most(const Formula& x) { return x == kInfinity; }
Formula is_least(const Formula& x) { return x == -kInfinity; }

struct OneRow {
  std::string_view op;
  Formula (*formula)(const Formula&);
};
constexpr std::array kOne = {OneRow{"chlo.asin", asin},
                             OneRow{"chlo.acos", acos},
                             OneRow{"chlo.atan", [](const Formula& x) { return x.fn(Fn::kArctan); }},
                             OneRow{"chlo.asinh", asinh},
                             OneRow{"chlo.acosh", acosh},
                             OneRow{"chlo.atanh", atanh},
                             OneRow{"chlo.sinh", sinh},
                             OneRow{"chlo.cosh", cosh},
                             OneRow{"cosine", cosine},
                             OneRow{"chlo.tan", tan},
                             OneRow{"tan", tan},
                             OneRow{"chlo.square", [](const Formula& x) { return x * x; }},
                             OneRow{"chlo.erfc", erfc},
                             OneRow{"chlo.erf_inv", erf_inv},
                             OneRow{"chlo.lgamma", lgamma},
                             OneRow{"chlo.digamma", digamma},
                             OneRow{"chlo.is_inf", is_infinite},
                             OneRow{"chlo.is_pos_inf", is_most},
                             OneRow{"chlo.is_neg_inf", is_least},
                             OneRow{"log_plus_one", log_plus_one},
                             OneRow{"exponential_minus_one", exponential_minus_one},
                             OneRow{"cbrt", cube_root},
                             OneRow{"round_nearest_afz", away_from_zero}};

struct TwoRow {
  std::string_view op;
  Formula (*formula)(const Formula&, const Formula&);
};
constexpr std::array kTwo = {TwoRow{"atan2", atan2}, TwoRow{"chlo.next_after", next_after}};

Formula real(Lowerer& l, std::size_t i) { return Formula{l, l.in(i)}.as(Dtype::kFp32); }

void apply(Lowerer& l, std::string_view op) {
  const auto row = std::ranges::find(kOne, op, &OneRow::op);
  l.set(row->formula(real(l, 0)).as(l.dtype_out()).view());
}

void one(Lowerer& l) { apply(l, l.node().op->name); }

void two(Lowerer& l) {
  const auto row = std::ranges::find(kTwo, l.node().op->name, &TwoRow::op);
  l.set(row->formula(real(l, 0), real(l, 1)).as(l.dtype_out()).view());
}

/// The nearest number with `mantissa` bits behind the point, even ones where two are as near, by its bits.
Formula with_mantissa(const Formula& x, std::int64_t mantissa) {
  const auto cut = static_cast<int>(23 - mantissa);
  if (cut <= 0) return x;
  const Formula bits = x.bits_as(Dtype::kUint32), last = bits.with(Alu::kShr, cut, Alu::kAnd, 1);
  const Formula above = bits + last + bits.number(static_cast<double>((1 << (cut - 1)) - 1));
  return above.with(Alu::kShr, cut).with(Alu::kShl, cut).bits_as(Dtype::kFp32);
}

/// Numbers beyond the exponents are infinite, those below are zero of their sign.
Formula with_exponent(const Formula& x, std::int64_t exponent) {
  if (exponent >= 8) return x;
  const int bias = (1 << (exponent - 1)) - 1;
  const Formula size = x.abs();
  const Formula low = (size < std::exp2(1 - bias)).choose(x * 0.0, x);
  return size.with(Alu::kGe, std::exp2(bias + 1)).choose(x * kInfinity, low);
}

void reduce_precision(Lowerer& l) {
  const std::int64_t exponent = l.node().attributes.integer("exponent_bits");
  const std::int64_t mantissa = l.node().attributes.integer("mantissa_bits");
  const View& view = l.in(0);
  if (exponent >= 8 && (mantissa >= 23 || (view.dtype == Dtype::kBf16 && mantissa >= 7))) return l.set(view);
  if (exponent == 8 && mantissa == 7)  // the device's own
    return l.set(real(l, 0).as(Dtype::kBf16).as(l.dtype_out()).view());
  View one = view;
  if (view.is_number()) one = dense_view(l.matrix(number_view(view.number, {}, view.dtype)), {}, view.dtype);
  const Formula x = Formula{l, one}.as(Dtype::kFp32);
  const Formula none = mantissa == 0 ? x.number(kInfinity) : x;
  const Formula out = x.with(Alu::kEq, x).choose(with_exponent(with_mantissa(x, mantissa), exponent), none);
  const View result = out.as(l.dtype_out()).view();
  l.set(view.is_number() ? broadcast(result, view.dims, {}) : result);
}

}  // namespace

Rule rule_of(std::string_view op) {
  if (std::ranges::find(kOne, op, &OneRow::op) != kOne.end()) return one;
  if (op == "reduce_precision") return reduce_precision;
  return std::ranges::find(kTwo, op, &TwoRow::op) == kTwo.end() ? nullptr : Rule{two};
}

}  // namespace functions

Rule function_rule(std::string_view op) { return functions::rule_of(op); }

void apply_function(Lowerer& l, std::string_view op) { functions::apply(l, op); }

}  // namespace trnsim::frontend
