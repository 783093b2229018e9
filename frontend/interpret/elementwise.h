// Evaluation element by element: functions of numbers become functions of nodes.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "frontend/interpret/evaluation.h"

namespace trnsim::frontend::evaluate {

/// The place of a function for a kind of number that an operator is not for.
struct Never {
  template <class... T>
  double operator()(T...) const {
    return 0;
  }
};

template <auto kFunction>
inline constexpr bool kIsNever = std::is_same_v<std::remove_cv_t<decltype(kFunction)>, Never>;

/// f of each number of one kind, computed in its widest type and rounded once.
template <class Numbers, class F>
void unary_of(Evaluation& e, F f) {
  Numbers numbers = std::get<Numbers>(*e.operand(0).data);
  for (auto& x : numbers) x = f(x);
  e.put(value_of(e.result_type(), std::move(numbers)));
}

template <auto kReal, auto kInteger = Never{}, auto kComplex = Never{}>
void unary(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  if constexpr (!kIsNever<kReal>)
    if (is_float(element)) return unary_of<Reals>(e, kReal);
  if constexpr (!kIsNever<kComplex>)
    if (is_complex(element)) return unary_of<Complexes>(e, kComplex);
  if constexpr (!kIsNever<kInteger>)
    if (!is_float(element) && !is_complex(element)) return unary_of<Integers>(e, kInteger);
  e.fail("is not defined for " + mlir_text(e.operand(0).type));
}

template <class Numbers, class F>
void binary_of(Evaluation& e, F f) {
  Numbers numbers = std::get<Numbers>(*e.operand(0).data);
  const auto& other = std::get<Numbers>(*e.operand(1).data);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = f(numbers[i], other[i]);
  e.put(value_of(e.result_type(), std::move(numbers)));
}

/// `kUnsigned` is for ui64 alone: smaller unsigned numbers are held as signed ones.
template <auto kReal, auto kInteger = Never{}, auto kComplex = Never{}, auto kUnsigned = kInteger>
void binary(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  if constexpr (!kIsNever<kReal>)
    if (is_float(element)) return binary_of<Reals>(e, kReal);
  if constexpr (!kIsNever<kComplex>)
    if (is_complex(element)) return binary_of<Complexes>(e, kComplex);
  if constexpr (!kIsNever<kInteger>) {
    if (element == Element::kU64)
      return binary_of<Integers>(e, [](std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(kUnsigned(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
      });
    if (!is_float(element) && !is_complex(element)) return binary_of<Integers>(e, kInteger);
  }
  e.fail("is not defined for " + mlir_text(e.operand(0).type));
}

void abs(Evaluation& e);
void sign(Evaluation& e);
void negate(Evaluation& e);
void add(Evaluation& e);
void subtract(Evaluation& e);
void multiply(Evaluation& e);
void divide(Evaluation& e);
void remainder(Evaluation& e);
void power(Evaluation& e);
void maximum(Evaluation& e);
void minimum(Evaluation& e);
void bitwise_and(Evaluation& e);
void bitwise_or(Evaluation& e);
void bitwise_xor(Evaluation& e);
void bitwise_not(Evaluation& e);
void shift_left(Evaluation& e);
void shift_right_arithmetic(Evaluation& e);
void shift_right_logical(Evaluation& e);
void popcnt(Evaluation& e);
void count_leading_zeros(Evaluation& e);
void multiply_high(Evaluation& e);
void compare(Evaluation& e);
void select(Evaluation& e);
void clamp(Evaluation& e);
void complex(Evaluation& e);
void real(Evaluation& e);
void imag(Evaluation& e);
void is_finite(Evaluation& e);
void is_inf(Evaluation& e);
void is_pos_inf(Evaluation& e);
void is_neg_inf(Evaluation& e);
void next_after(Evaluation& e);
void reduce_precision(Evaluation& e);
void convert(Evaluation& e);
void bitcast_convert(Evaluation& e);

void cbrt(Evaluation& e);
void ceil(Evaluation& e);
void cosine(Evaluation& e);
void exponential(Evaluation& e);
void exponential_minus_one(Evaluation& e);
void floor(Evaluation& e);
void log(Evaluation& e);
void log_plus_one(Evaluation& e);
void logistic(Evaluation& e);
void round_afz(Evaluation& e);
void round_even(Evaluation& e);
void rsqrt(Evaluation& e);
void sine(Evaluation& e);
void sqrt(Evaluation& e);
void tan(Evaluation& e);
void tanh(Evaluation& e);
void atan2(Evaluation& e);
void acos(Evaluation& e);
void acosh(Evaluation& e);
void asin(Evaluation& e);
void asinh(Evaluation& e);
void atan(Evaluation& e);
void atanh(Evaluation& e);
void cosh(Evaluation& e);
void sinh(Evaluation& e);
void square(Evaluation& e);
void gelu(Evaluation& e);
void gelu_tanh(Evaluation& e);
void silu(Evaluation& e);
void erf(Evaluation& e);
void erfc(Evaluation& e);
void erf_inv(Evaluation& e);
void lgamma(Evaluation& e);
void digamma(Evaluation& e);
void polygamma(Evaluation& e);
void zeta(Evaluation& e);
void bessel_i1e(Evaluation& e);

/// The same of operands that are repeated to the shape of the result (chlo.broadcast_*).
template <void (*kInner)(Evaluation&)>
void repeated_first(Evaluation& e);
void repeat_operands(Evaluation& e);
template <void (*kInner)(Evaluation&)>
void repeated_first(Evaluation& e) {
  repeat_operands(e);
  kInner(e);
}

}  // namespace trnsim::frontend::evaluate
