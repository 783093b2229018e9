// Conversions between types, of numbers and of bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/interpret/elementwise.h"
#include "frontend/ops/dimensions.h"

namespace trnsim::frontend::evaluate {
namespace {

using I = std::int64_t;
using U = std::uint64_t;

/// A number that rounds to a format of fewer than 53 bits as the integer itself does: bits that a double cannot hold
/// are joined into the lowest one that it can.
double rounds_like(I value, bool is_unsigned) {
  const bool negative = !is_unsigned && value < 0;
  U magnitude = negative ? U{0} - static_cast<U>(value) : static_cast<U>(value);
  if (magnitude >= U{1} << 53) magnitude = (magnitude & ~U{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

double real_of(I value, Element from, Element to) {
  if (to == Element::kF64) return from == Element::kU64 ? static_cast<double>(static_cast<U>(value)) : double(value);
  return rounds_like(value, from == Element::kU64);
}

/// The fraction is cut off; beyond the type its largest or smallest number; NaN gives 0.
I integer_of(double value, Element to) {
  if (is_bool(to)) return value != 0;
  if (std::isnan(value)) return 0;
  const int bits = info(to).bits;
  const bool is_unsigned = is_unsigned_integer(to);
  const double least = is_unsigned ? 0 : -std::ldexp(1.0, bits - 1);
  const double beyond = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  const double whole = std::trunc(value);
  if (whole <= least) return is_unsigned ? 0 : bits == 64 ? std::numeric_limits<I>::min() : static_cast<I>(least);
  if (whole >= beyond) {
    if (bits == 64) return is_unsigned ? static_cast<I>(~U{0}) : std::numeric_limits<I>::max();
    return static_cast<I>(beyond) - 1;
  }
  return to == Element::kU64 ? static_cast<I>(static_cast<U>(whole)) : static_cast<I>(whole);
}

Reals reals_of(const Value& from, Element to) {
  Reals out;
  out.reserve(static_cast<std::size_t>(from.count()));
  if (is_complex(from.type.element))
    for (const Complex& x : from.complexes()) out.push_back(x.real());
  else if (is_float(from.type.element))
    out = from.reals();
  else
    for (const I x : from.integers()) out.push_back(real_of(x, from.type.element, to));
  return out;
}

/// The bits of each number, low part first when there are several.
std::vector<U> bits_of(const Value& value) {
  const Element part = real_part(value.type.element);
  std::vector<U> out;
  if (const auto* reals = std::get_if<Reals>(value.data.get()))
    for (const double x : *reals) out.push_back(encode_float(part, x));
  else if (const auto* integers = std::get_if<Integers>(value.data.get()))
    for (const I x : *integers) out.push_back(static_cast<U>(x));
  else
    for (const Complex& x : value.complexes())
      out.push_back(encode_float(part, x.real())), out.push_back(encode_float(part, x.imag()));
  return out;
}

Value value_of_bits(const Type& type, const std::vector<U>& bits) {
  const Element part = real_part(type.element);
  if (is_complex(type.element)) {
    Complexes out;
    for (std::size_t i = 0; i + 1 < bits.size(); i += 2)
      out.emplace_back(decode_float(part, bits[i]), decode_float(part, bits[i + 1]));
    return exact_value(type, std::move(out));
  }
  if (is_float(type.element)) {
    Reals out;
    for (const U x : bits) out.push_back(decode_float(part, x));
    return exact_value(type, std::move(out));
  }
  Integers out;
  for (const U x : bits) out.push_back(static_cast<I>(x));
  return value_of(type, std::move(out));
}

U low_bits(U value, int bits) { return bits == 64 ? value : value & ((U{1} << bits) - 1); }

/// Wide numbers cut into narrow ones, the lowest first, or the reverse.
std::vector<U> recut(const std::vector<U>& from, int from_bits, int to_bits) {
  std::vector<U> out;
  if (from_bits >= to_bits) {
    for (const U x : from)
      for (int at = 0; at < from_bits; at += to_bits) out.push_back(low_bits(x >> at, to_bits));
    return out;
  }
  const auto together = static_cast<std::size_t>(to_bits / from_bits);
  for (std::size_t i = 0; i + together <= from.size(); i += together) {
    U whole = 0;
    for (std::size_t k = 0; k < together; ++k)
      whole |= low_bits(from[i + k], from_bits) << (static_cast<int>(k) * from_bits);
    out.push_back(whole);
  }
  return out;
}

}  // namespace

void convert(Evaluation& e) {
  const Value& from = e.operand(0);
  const Type to = e.result_type();
  const bool from_integer = std::holds_alternative<Integers>(*from.data);
  if (is_complex(to.element)) {
    Complexes out;
    if (is_complex(from.type.element))
      out = from.complexes();
    else
      for (const double x : reals_of(from, real_part(to.element))) out.emplace_back(x, 0);
    e.put(value_of(to, std::move(out)));
  } else if (is_float(to.element)) {
    e.put(value_of(to, reals_of(from, to.element)));
  } else if (from_integer) {
    e.put(value_of(to, from.integers()));
  } else {
    Integers out;
    for (const double x : reals_of(from, Element::kF64)) out.push_back(integer_of(x, to.element));
    e.put(exact_value(to, std::move(out)));
  }
}

void bitcast_convert(Evaluation& e) {
  const Type to = e.result_type();
  const Element from = e.operand(0).type.element;
  e.put(value_of_bits(to, recut(bits_of(e.operand(0)), info(real_part(from)).bits, info(real_part(to.element)).bits)));
}

void complex(Evaluation& e) {
  Complexes out;
  const Reals &real = e.operand(0).reals(), &imaginary = e.operand(1).reals();
  for (std::size_t i = 0; i < real.size(); ++i) out.emplace_back(real[i], imaginary[i]);
  e.put(exact_value(e.result_type(), std::move(out)));
}

void real(Evaluation& e) {
  if (!is_complex(e.operand(0).type.element)) return e.put(e.operand(0));
  Reals out;
  for (const Complex& x : e.operand(0).complexes()) out.push_back(x.real());
  e.put(exact_value(e.result_type(), std::move(out)));
}

void imag(Evaluation& e) {
  if (!is_complex(e.operand(0).type.element)) return e.put(zeros(e.operand(0).type));
  Reals out;
  for (const Complex& x : e.operand(0).complexes()) out.push_back(x.imag());
  e.put(exact_value(e.result_type(), std::move(out)));
}

/// The mantissa is rounded to even; then what is beyond the exponents becomes infinite, or zero.
void reduce_precision(Evaluation& e) {
  const auto exponent_bits = static_cast<int>(std::min<I>(e.attributes().integer("exponent_bits"), 11));
  const auto mantissa_bits = static_cast<int>(std::min<I>(e.attributes().integer("mantissa_bits"), 52));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  unary_of<Reals>(e, [=](double x) {
    if (std::isnan(x) && mantissa_bits == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);
    if (!std::isfinite(x) || x == 0) return x;
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);  // in [0.5, 1)
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(fraction, mantissa_bits + 1)), -mantissa_bits - 1);
    const double value = std::ldexp(rounded, exponent);
    const int reached = std::ilogb(value);
    if (reached > bias) return std::copysign(std::numeric_limits<double>::infinity(), x);
    return reached < 1 - bias ? std::copysign(0.0, x) : value;
  });
}

/// Sizes of 1, and dimensions that an operand does not have, are repeated.
void repeat_operands(Evaluation& e) {
  const Dims to = e.result_type().dims;
  std::vector<Value> out;
  for (const Value& from : e.all_operands()) {
    const Ints strides = strides_of(from.type.dims);
    const Ints places = broadcast_places(e.attributes(), from.type.rank(), static_cast<std::int64_t>(to.size()));
    std::vector<I> index;
    Ints position(to.size());
    if (element_count(to) > 0) do {
        I at = 0;
        for (std::size_t d = 0; d < places.size(); ++d)
          if (from.type.dims[d] != 1) at += position[static_cast<std::size_t>(places[d])] * strides[d];
        index.push_back(at);
      } while (next_position(position, to));
    out.push_back(picked(from, to, index));
  }
  e.replace_operands(std::move(out));
}

}  // namespace trnsim::frontend::evaluate
