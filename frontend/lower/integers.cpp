// The lowering of operators on integers: engines compute in fp32, but for sums and products of 32 bits on GpSimdE,
// which wrap, and for bits.
#include <algorithm>
#include <array>

#include "frontend/lower/formula.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace integers {
namespace {

using isa::Alu;
using isa::Fn;

int width(const Type& type) { return info(type.element).bits; }
bool has_sign(const Type& type) { return is_signed_integer(type.element); }

/// The quotient towards zero, its rest with the sign of the dividend. Both operands as 32 bits.
struct Division {
  Formula quotient, rest;
};

/// By the nearest fp32 number, twice, and one step of correction: the rest says in which direction.
Division divided(const Formula& a, const Formula& b, bool has_sign) {
  const auto nearest = [&](const Formula& x) {
    return (x.as(Dtype::kFp32) / b.as(Dtype::kFp32)).as(Dtype::kInt32).bits_as(b.dtype());
  };
  Formula q = (a.as(Dtype::kFp32) / b.as(Dtype::kFp32)).as(b.dtype());
  Formula rest = (a - q * b).bits_as(Dtype::kInt32);
  q = q + nearest(rest);
  rest = (a - q * b).bits_as(Dtype::kInt32);
  const Formula real = rest.as(Dtype::kFp32), divisor = b.as(Dtype::kFp32);
  const Formula wanted = has_sign ? a.as(Dtype::kFp32).fn(Fn::kSign) : real.number(1);
  const Formula wrong = real.fn(Fn::kSign) * wanted < 0.0;
  // A rest that is too large by fp32's rounding of the quotient.
  const Formula large = real.abs().with(Alu::kGe, divisor.abs());
  const Formula step = (large - wrong) * (wanted * divisor.fn(Fn::kSign));
  const Formula whole = step.as(Dtype::kInt32).bits_as(b.dtype());
  q = q + whole;
  rest = (a - q * b).bits_as(Dtype::kInt32);
  // Division by zero: -1, and the dividend.
  const Formula none = divisor == 0.0;
  const Formula minus_one = rest.number(-1).bits_as(b.dtype());
  return {none.choose(minus_one, q), none.choose(a, rest.bits_as(b.dtype()))};
}

Formula wide(Lowerer& l, std::size_t i) {
  const bool sign = !is_unsigned_integer(l.type_in(i).element);
  return Formula{l, l.in(i)}.as(sign ? Dtype::kInt32 : Dtype::kUint32);
}

void divide(Lowerer& l) {
  l.set(divided(wide(l, 0), wide(l, 1), has_sign(l.type_in(0))).quotient.as(l.dtype_out()).view());
}
void remainder(Lowerer& l) {
  l.set(divided(wide(l, 0), wide(l, 1), has_sign(l.type_in(0))).rest.as(l.dtype_out()).view());
}

/// Bits without those beyond the type's width, as 32 without a sign.
Formula bits_of(Lowerer& l, std::size_t i) {
  const int bits = width(l.type_in(i));
  if (bits > 32) l.refuse("counts the bits of 64-bit integers, but the device has 32", "convert to 32 bits");
  const Formula all = wide(l, i).bits_as(Dtype::kUint32);
  return bits == 32 ? all : all.with(Alu::kAnd, static_cast<double>((std::int64_t{1} << bits) - 1));
}

Formula ones_in(Formula x) {
  Formula sum = x.number(0);
  for (int i = 0; i < 32; ++i) sum = sum + x.with(Alu::kShr, i, Alu::kAnd, 1);
  return sum;
}

void popcnt(Lowerer& l) { l.set(ones_in(bits_of(l, 0)).as(l.dtype_out()).view()); }

void count_leading_zeros(Lowerer& l) {
  Formula x = bits_of(l, 0);
  for (int shift = 1; shift < 32; shift *= 2) x = x.with(Alu::kOr, x.with(Alu::kShr, shift));
  const Formula ones = ones_in(x).as(Dtype::kInt32);
  l.set((-ones + static_cast<double>(width(l.type_in(0)))).as(l.dtype_out()).view());
}

/// The high half of a product: of narrow types by a shift; of 32 bits from products of halves.
void multiply_high(Lowerer& l) {
  const int bits = width(l.type_in(0));
  const bool sign = has_sign(l.type_in(0));
  if (bits > 32) l.refuse("has 64-bit integers, but the device has 32 bits", "convert to 32 bits");
  const Formula a = wide(l, 0).bits_as(Dtype::kUint32), b = wide(l, 1).bits_as(Dtype::kUint32);
  if (bits < 32) {
    const Formula high = (a * b).with(Alu::kShr, bits, Alu::kAnd, static_cast<double>((1 << bits) - 1));
    const double half = static_cast<double>(1 << (bits - 1));
    const Formula whole = high.as(Dtype::kInt32);
    const Formula below = sign ? whole - whole.with(Alu::kGe, half, Alu::kMul, 2 * half) : whole;
    return l.set(below.as(l.dtype_out()).view());
  }
  const auto low_of = [](const Formula& x) { return x.with(Alu::kAnd, 65535); };
  const auto high_of = [](const Formula& x) { return x.with(Alu::kShr, 16); };
  const Formula cross = high_of(a) * low_of(b) + high_of(low_of(a) * low_of(b));
  const Formula other = low_of(a) * high_of(b) + low_of(cross);
  Formula high = high_of(a) * high_of(b) + high_of(cross) + high_of(other);
  if (sign) high = high - high_of(a).with(Alu::kShr, 15) * b - high_of(b).with(Alu::kShr, 15) * a;
  l.set(high.bits_as(l.dtype_out()).view());
}

/// Shifts by the type's width and more give zero, of negative numbers to the right -1.
void shift(Lowerer& l) {
  const std::string_view name = l.node().op->name;
  const int bits = std::min(width(l.type_in(0)), 32);
  const Formula by = wide(l, 1).as(Dtype::kInt32), far = by.with(Alu::kGe, bits).with(Alu::kLogicalOr, by < 0.0);
  const Formula x = wide(l, 0).bits_as(Dtype::kUint32), near = far.choose(by.number(0), by).bits_as(Dtype::kUint32);
  const Formula mask = x.number(bits == 32 ? 4294967295.0 : static_cast<double>((std::int64_t{1} << bits) - 1));
  if (name == "shift_right_arithmetic") {
    const Formula signs = wide(l, 0).bits_as(Dtype::kInt32).with(Alu::kLt, 0, Alu::kMul, -1).bits_as(Dtype::kUint32);
    const Formula moved = x.with(Alu::kXor, signs).with(Alu::kShr, near).with(Alu::kXor, signs);
    const Formula out = far.choose(signs, moved).bits_as(wide(l, 0).dtype());
    return l.set(out.as(l.dtype_out()).view());
  }
  const bool left = name == "shift_left";
  const Formula moved = (bits == 32 ? x : x.with(Alu::kAnd, mask)).with(left ? Alu::kShl : Alu::kShr, near);
  const Formula cut = far.choose(x.number(0), bits == 32 ? moved : moved.with(Alu::kAnd, mask));
  if (bits == 32) return l.set(cut.bits_as(l.dtype_out()).view());
  const double half = static_cast<double>(std::int64_t{1} << (bits - 1));
  const Formula whole = cut.as(Dtype::kInt32);
  const Formula out = has_sign(l.type_in(0)) ? whole - whole.with(Alu::kGe, half, Alu::kMul, 2 * half) : whole;
  l.set(out.as(l.dtype_out()).view());
}

/// The lowest bits of 32, as the type of fewer reads them.
Formula narrowed(const Formula& wide, Dtype dtype) {
  const int bits = 8 * isa::size_of(dtype);
  if (bits == 32) return wide.bits_as(dtype);
  const Formula low =
      wide.bits_as(Dtype::kUint32).with(Alu::kAnd, static_cast<double>((1 << bits) - 1)).as(Dtype::kInt32);
  const bool has_sign = dtype == Dtype::kInt8 || dtype == Dtype::kInt16;
  const double half = static_cast<double>(1 << (bits - 1));
  return (has_sign ? low - low.with(Alu::kGe, half, Alu::kMul, 2 * half) : low).as(dtype);
}

View wrapping_pair(Lowerer& l, Alu alu, const View& a, const View& b) {
  const View& form = a.is_number() ? b : a;
  if (isa::size_of(form.dtype) == 4)
    return l.element({.form = runtime::ElementForm::kPair, .alu = alu}, {a, b}, form.dims, form.dtype);
  const Formula x = Formula{l, a}.as(Dtype::kInt32), y = Formula{l, b}.as(Dtype::kInt32);
  return narrowed(x.with(alu, y), form.dtype).view();
}

/// By squares of the base, one for each bit of the exponent. A negative exponent leaves 1, -1 or nothing.
void power(Lowerer& l) {
  const Formula base = wide(l, 0);
  const View& exponent = l.in(1);
  Formula result = base.number(1), factor = base;
  if (exponent.is_number() && exponent.number >= 0) {
    for (auto n = static_cast<std::uint64_t>(exponent.number); n > 0; n >>= 1) {
      if ((n & 1) != 0) result = result * factor;
      if (n > 1) factor = factor * factor;
    }
    return l.set(narrowed(result, l.dtype_out()).view());
  }
  const Formula by = wide(l, 1), bits = by.bits_as(Dtype::kUint32);
  for (int i = 0; i < std::min(width(l.type_in(1)), 32); ++i) {
    const Formula taken = bits.with(Alu::kShr, i, Alu::kAnd, 1).as(Dtype::kUint8);
    result = taken.choose(result * factor, result);
    factor = factor * factor;
  }
  if (has_sign(l.type_in(1))) {
    const Formula unit = base.with(Alu::kEq, 1.0).with(Alu::kLogicalOr, base.with(Alu::kEq, -1.0));
    const Formula none = (by < 0.0).with(Alu::kGt, unit).as(Dtype::kUint8);
    result = none.choose(result.number(0), result);
  }
  l.set(narrowed(result, l.dtype_out()).view());
}

struct IntegerRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kRules = {IntegerRow{"divide", divide},
                               IntegerRow{"power", power},
                               IntegerRow{"remainder", remainder},
                               IntegerRow{"popcnt", popcnt},
                               IntegerRow{"count_leading_zeros", count_leading_zeros},
                               IntegerRow{"chlo.mulhi", multiply_high},
                               IntegerRow{"shift_left", shift},
                               IntegerRow{"shift_right_logical", shift},
                               IntegerRow{"shift_right_arithmetic", shift}};

}  // namespace

Rule rule_of(std::string_view op) {
  const auto row = std::ranges::find(kRules, op, &IntegerRow::op);
  return row == kRules.end() ? nullptr : row->rule;
}

}  // namespace integers

View integer_pair(Lowerer& l, isa::Alu alu, const View& a, const View& b) {
  return integers::wrapping_pair(l, alu, a, b);
}

View lowest_bits(Lowerer& l, const View& wide, Dtype dtype) { return integers::narrowed({l, wide}, dtype).view(); }

Rule integer_rule(std::string_view op) { return integers::rule_of(op); }

}  // namespace trnsim::frontend
