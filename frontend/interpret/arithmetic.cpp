// Arithmetic, comparisons and bits. Integers wrap; divisions by zero and overflows are as XLA has them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "frontend/interpret/elementwise.h"

namespace trnsim::frontend::evaluate {
namespace {

using I = std::int64_t;
using U = std::uint64_t;

I wrapped_add(I a, I b) { return static_cast<I>(static_cast<U>(a) + static_cast<U>(b)); }
I wrapped_multiply(I a, I b) { return static_cast<I>(static_cast<U>(a) * static_cast<U>(b)); }
I wrapped_negate(I a) { return static_cast<I>(U{0} - static_cast<U>(a)); }
U unsigned_of(Element element, I value) {
  const int bits = info(element).bits;
  return bits == 64 ? static_cast<U>(value) : static_cast<U>(value) & ((U{1} << bits) - 1);
}

bool less(Complex a, Complex b) { return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag(); }
bool is_nan(Complex a) { return std::isnan(a.real()) || std::isnan(a.imag()); }

/// By IEEE 754-2019's maximum and minimum: NaN stays, and -0 is below +0.
double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

template <class T>
T integer_power(T base, T exponent) {
  if (exponent < T{0}) {
    if (base == T{1}) return 1;
    if constexpr (std::is_signed_v<T>)
      if (base == T{-1}) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  U result = 1;
  auto factor = static_cast<U>(base);
  for (auto n = static_cast<U>(exponent); n > 0; n >>= 1, factor *= factor)
    if ((n & 1) != 0) result *= factor;
  return static_cast<T>(result);
}

I sign_of(I x) { return x == 0 ? 0 : x < 0 ? -1 : 1; }
Complex sign_of(Complex x) {
  if (is_nan(x)) return {NAN, NAN};
  return x == Complex{} ? x : x / std::hypot(x.real(), x.imag());
}
I quotient(I a, I b) { return b == 0 ? -1 : b == -1 ? wrapped_negate(a) : a / b; }
I rest(I a, I b) { return b == 0 ? a : b == -1 ? 0 : a % b; }

/// f of two integers as bits of the operands' width; `amount` too large gives `beyond`.
template <class F>
void shift(Evaluation& e, F f, bool sign_beyond = false) {
  const Element element = e.operand(0).type.element;
  const int bits = info(element).bits;
  Integers numbers = e.operand(0).integers();
  const Integers& amounts = e.operand(1).integers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const U amount = unsigned_of(element, amounts[i]);
    const I beyond = sign_beyond && wrap_to(element, numbers[i]) < 0 && !is_unsigned_integer(element) ? -1 : 0;
    numbers[i] = amount >= static_cast<U>(bits) ? beyond : f(numbers[i], static_cast<int>(amount));
  }
  e.put(value_of(e.result_type(), std::move(numbers)));
}

/// All bits of a signed number as the type's unsigned ones, where the sign is the highest.
template <class F>
void on_bits(Evaluation& e, F f) {
  const Element element = e.operand(0).type.element;
  Integers numbers = e.operand(0).integers();
  for (I& x : numbers) x = f(unsigned_of(element, x), info(element).bits);
  e.put(value_of(e.result_type(), std::move(numbers)));
}

I total_order(Element element, double value) {
  const auto bits = static_cast<I>(encode_float(element, value));
  const I sign = I{1} << (info(element).bits - 1);
  return (bits & sign) != 0 ? (info(element).bits == 64 ? ~(bits & ~sign) : -(bits & ~sign) - 1) : bits;
}

template <class T>
bool satisfies(const std::string& direction, const T& a, const T& b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return !(a == b);
  if constexpr (!std::is_same_v<T, Complex>) {
    if (direction == "LT") return a < b;
    if (direction == "LE") return a <= b;
    if (direction == "GT") return a > b;
    if (direction == "GE") return a >= b;
  }
  return false;
}

template <class T, class Numbers, class F>
Integers compared(const std::string& direction, const Numbers& a, const Numbers& b, F as) {
  Integers out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = satisfies<T>(direction, as(a[i]), as(b[i]));
  return out;
}

}  // namespace

void abs(Evaluation& e) {
  if (is_complex(e.operand(0).type.element)) {
    Reals out;
    for (const Complex& x : e.operand(0).complexes()) out.push_back(std::hypot(x.real(), x.imag()));
    return e.put(value_of(e.result_type(), std::move(out)));
  }
  unary<[](double x) { return std::fabs(x); }, [](I x) { return x < 0 ? wrapped_negate(x) : x; }>(e);
}

void sign(Evaluation& e) {
  unary<[](double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }, [](I x) { return sign_of(x); },
        [](Complex x) { return sign_of(x); }>(e);
}

void negate(Evaluation& e) {
  unary<[](double x) { return -x; }, [](I x) { return wrapped_negate(x); }, [](Complex x) { return -x; }>(e);
}

void add(Evaluation& e) {
  binary<[](double a, double b) { return a + b; }, [](I a, I b) { return wrapped_add(a, b); },
         [](Complex a, Complex b) { return a + b; }, [](U a, U b) { return a + b; }>(e);
}
void subtract(Evaluation& e) {
  binary<[](double a, double b) { return a - b; }, [](I a, I b) { return wrapped_add(a, wrapped_negate(b)); },
         [](Complex a, Complex b) { return a - b; }, [](U a, U b) { return a - b; }>(e);
}
void multiply(Evaluation& e) {
  binary<[](double a, double b) { return a * b; }, [](I a, I b) { return wrapped_multiply(a, b); },
         [](Complex a, Complex b) { return a * b; }, [](U a, U b) { return a * b; }>(e);
}
void divide(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  if (is_unsigned_integer(element) && element != Element::kU64)
    return binary_of<Integers>(e, [](I a, I b) { return b == 0 ? I{-1} : a / b; });
  binary<[](double a, double b) { return a / b; }, [](I a, I b) { return quotient(a, b); },
         [](Complex a, Complex b) { return a / b; }, [](U a, U b) { return b == 0 ? ~U{0} : a / b; }>(e);
}
void remainder(Evaluation& e) {
  binary<[](double a, double b) { return std::fmod(a, b); }, [](I a, I b) { return rest(a, b); }, Never{},
         [](U a, U b) { return b == 0 ? a : a % b; }>(e);
}
void power(Evaluation& e) {
  binary<[](double a, double b) { return std::pow(a, b); }, [](I a, I b) { return integer_power<I>(a, b); },
         [](Complex a, Complex b) {
           return a == Complex{} ? (b == Complex{} ? Complex{1} : Complex{}) : std::pow(a, b);
         },
         [](U a, U b) { return integer_power<U>(a, b); }>(e);
}
void maximum(Evaluation& e) {
  binary<[](double a, double b) { return larger(a, b); }, [](I a, I b) { return std::max(a, b); },
         [](Complex a, Complex b) { return is_nan(a) || (!is_nan(b) && less(b, a)) ? a : b; },
         [](U a, U b) { return std::max(a, b); }>(e);
}
void minimum(Evaluation& e) {
  binary<[](double a, double b) { return smaller(a, b); }, [](I a, I b) { return std::min(a, b); },
         [](Complex a, Complex b) { return is_nan(a) || (!is_nan(b) && less(a, b)) ? a : b; },
         [](U a, U b) { return std::min(a, b); }>(e);
}

void bitwise_and(Evaluation& e) {
  binary<Never{}, [](auto a, auto b) { return a & b; }>(e);
}
void bitwise_or(Evaluation& e) {
  binary<Never{}, [](auto a, auto b) { return a | b; }>(e);
}
void bitwise_xor(Evaluation& e) {
  binary<Never{}, [](auto a, auto b) { return a ^ b; }>(e);
}
void bitwise_not(Evaluation& e) {
  const bool boolean = is_bool(e.operand(0).type.element);
  unary_of<Integers>(e, [boolean](I x) { return boolean ? I{x == 0} : ~x; });
}

void shift_left(Evaluation& e) {
  shift(e, [](I x, int by) { return static_cast<I>(static_cast<U>(x) << by); });
}
void shift_right_arithmetic(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  const int spare = 64 - info(element).bits;
  // Unsigned numbers too are shifted as if their highest bit were a sign.
  Integers numbers = e.operand(0).integers();
  const Integers& amounts = e.operand(1).integers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const I extended = static_cast<I>(static_cast<U>(numbers[i]) << spare) >> spare;
    numbers[i] = extended >> std::min<U>(unsigned_of(element, amounts[i]), 63);
  }
  e.put(value_of(e.result_type(), std::move(numbers)));
}
void shift_right_logical(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  shift(e, [element](I x, int by) { return static_cast<I>(unsigned_of(element, x) >> by); });
}
void popcnt(Evaluation& e) {
  on_bits(e, [](U x, int) { return std::popcount(x); });
}
void count_leading_zeros(Evaluation& e) {
  on_bits(e, [](U x, int bits) { return std::countl_zero(x) - (64 - bits); });
}
void multiply_high(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  const int bits = info(element).bits;
  Integers numbers = e.operand(0).integers();
  const Integers& other = e.operand(1).integers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (is_unsigned_integer(element))
      numbers[i] = static_cast<I>(
          static_cast<unsigned __int128>(unsigned_of(element, numbers[i])) * unsigned_of(element, other[i]) >> bits);
    else
      numbers[i] = static_cast<I>(static_cast<__int128>(numbers[i]) * other[i] >> bits);
  }
  e.put(value_of(e.result_type(), std::move(numbers)));
}

void compare(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  const std::string direction = e.attributes().text("comparison_direction");
  const auto same = [](const auto& x) { return x; };
  Integers out;
  if (is_complex(element))
    out = compared<Complex>(direction, e.operand(0).complexes(), e.operand(1).complexes(), same);
  else if (is_float(element) && e.attributes().text("compare_type") == "TOTALORDER")
    out = compared<I>(direction, e.operand(0).reals(), e.operand(1).reals(),
                      [element](double x) { return total_order(element, x); });
  else if (is_float(element))
    out = compared<double>(direction, e.operand(0).reals(), e.operand(1).reals(), same);
  else if (element == Element::kU64)
    out =
        compared<U>(direction, e.operand(0).integers(), e.operand(1).integers(), [](I x) { return static_cast<U>(x); });
  else
    out = compared<I>(direction, e.operand(0).integers(), e.operand(1).integers(), same);
  e.put(exact_value(e.result_type(), std::move(out)));
}

void select(Evaluation& e) {
  const Integers& choice = e.operand(0).integers();
  const auto pick = [&](const auto& yes) -> Data {
    using Numbers = std::decay_t<decltype(yes)>;
    Numbers out = std::get<Numbers>(*e.operand(2).data);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (choice[choice.size() == 1 ? 0 : i] != 0) out[i] = yes[i];
    return out;
  };
  e.put(exact_value(e.result_type(), std::visit(pick, *e.operand(1).data)));
}

void clamp(Evaluation& e) {
  const Dims dims = e.operand(1).type.dims;
  const auto full = [&](const Value& bound) { return bound.count() == 1 ? repeated(bound, dims) : bound; };
  const Value low = full(e.operand(0)), value = e.operand(1), high = full(e.operand(2));
  e.replace_operands({value, low});
  maximum(e);
  e.replace_operands({e.take().front(), high});
  minimum(e);
}

void next_after(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  binary_of<Reals>(e, [element](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return b;
    const std::uint64_t sign = std::uint64_t{1} << (info(element).bits - 1);
    const std::uint64_t bits = encode_float(element, a);
    if (a == 0) return decode_float(element, 1 | (b < 0 ? sign : 0));
    return decode_float(element, (a < b) == (a > 0) ? bits + 1 : bits - 1);
  });
}

void is_finite(Evaluation& e) {
  Integers out;
  for (const double x : e.operand(0).reals()) out.push_back(std::isfinite(x));
  e.put(exact_value(e.result_type(), std::move(out)));
}
void is_inf(Evaluation& e) {
  Integers out;
  for (const double x : e.operand(0).reals()) out.push_back(std::isinf(x));
  e.put(exact_value(e.result_type(), std::move(out)));
}
void is_pos_inf(Evaluation& e) {
  Integers out;
  for (const double x : e.operand(0).reals()) out.push_back(std::isinf(x) && x > 0);
  e.put(exact_value(e.result_type(), std::move(out)));
}
void is_neg_inf(Evaluation& e) {
  Integers out;
  for (const double x : e.operand(0).reals()) out.push_back(std::isinf(x) && x < 0);
  e.put(exact_value(e.result_type(), std::move(out)));
}

}  // namespace trnsim::frontend::evaluate
