// Functions of real and complex numbers, computed in fp64 and rounded once.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/interpret/elementwise.h"

namespace trnsim::frontend::evaluate {
namespace {

using C = Complex;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

C expm1_of(C z) {
  const double half = std::sin(z.imag() / 2);
  const double real = std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half;
  return {real, z.imag() == 0 ? z.imag() : std::exp(z.real()) * std::sin(z.imag())};
}

C log1p_of(C z) {
  const double x = z.real(), y = z.imag();
  const double real =
      std::abs(x) < 0.5 && std::abs(y) < 0.5 ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y));
  return {real, std::atan2(y, 1 + x)};
}

C cbrt_of(C z) { return z == C{} ? z : std::pow(z, C{1.0 / 3}); }

/// -i log((x + i y) / sqrt(x^2 + y^2)).
C atan2_of(C y, C x) { return C{0, -1} * std::log((x + C{0, 1} * y) / std::sqrt(x * x + y * y)); }

double digamma_of(double x) {
  if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0) return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
  double sum = 0;
  while (x < 12) sum -= 1 / x++;
  const double r = 1 / (x * x);
  // Stirling's series: Bernoulli numbers over 2k.
  constexpr std::array kTerms = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double tail = 0;
  for (std::size_t k = kTerms.size(); k-- > 0;) tail = (tail + kTerms[k]) * r;
  return sum + std::log(x) - 0.5 / x - tail;
}

/// The sum of (q + k)^-s by Euler and Maclaurin.
double zeta_of(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1) return std::numeric_limits<double>::quiet_NaN();
  if (q <= 0 && q == std::floor(q)) return kInfinity;
  if (q <= 0 && s != std::floor(s)) return std::numeric_limits<double>::quiet_NaN();
  constexpr int kFirst = 12;
  double sum = 0;
  for (int k = 0; k < kFirst; ++k) sum += std::pow(q + k, -s);
  const double a = q + kFirst;
  sum += std::pow(a, 1 - s) / (s - 1) + std::pow(a, -s) / 2;
  constexpr std::array kBernoulli = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                     -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};
  double factor = s * std::pow(a, -s - 1) / 2;  // s (s + 1) ... / (2k)! a^(-s - 2k + 1)
  for (std::size_t k = 0; k < kBernoulli.size(); ++k) {
    sum += kBernoulli[k] * factor;
    const double n = 2.0 * static_cast<double>(k) + 1;
    factor *= (s + n) * (s + n + 1) / ((n + 2) * (n + 3) * a * a);
  }
  return sum;
}

double polygamma_of(double n, double x) {
  if (n == 0) return digamma_of(x);
  if (n < 0 || n != std::floor(n)) return std::numeric_limits<double>::quiet_NaN();
  return (std::fmod(n, 2) == 0 ? -1 : 1) * std::tgamma(n + 1) * zeta_of(n + 1, x);
}

/// A first guess (Giles, "Approximating the erfinv function"), then Newton's steps.
double erf_inv_of(double y) {
  if (std::abs(y) >= 1)
    return std::abs(y) == 1 ? std::copysign(kInfinity, y) : std::numeric_limits<double>::quiet_NaN();
  const double w = std::log((1 - y) * (1 + y));
  const double a = 2 / (std::numbers::pi * 0.147) + w / 2;
  double x = std::copysign(std::sqrt(std::sqrt(a * a - w / 0.147) - a), y);
  for (int step = 0; step < 4; ++step) {
    // Near 1 the complement keeps the digits.
    const double error = y > 0.5 ? (1 - y) - std::erfc(x) : y < -0.5 ? std::erfc(-x) - (1 + y) : std::erf(x) - y;
    x -= error / (std::numbers::inv_sqrtpi * 2 * std::exp(-x * x));
  }
  return y == 0 ? y : x;
}

/// exp(-|x|) I1(x) by its integral: (1/pi) int cos(t) exp(|x| (cos t - 1)) dt, trapezoids converge geometrically.
double bessel_i1e_of(double x) {
  const double a = std::abs(x);
  if (std::isinf(a)) return std::copysign(0.0, x);
  const int steps = 64 + static_cast<int>(std::min(8 * std::sqrt(a), 1e6));
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double t = std::numbers::pi * k / steps;
    sum += (k == 0 || k == steps ? 0.5 : 1) * std::cos(t) * std::exp(a * (std::cos(t) - 1));
  }
  return std::copysign(sum / steps, x);
}

}  // namespace

void cbrt(Evaluation& e) {
  unary<[](double x) { return std::cbrt(x); }, Never{}, [](C z) { return cbrt_of(z); }>(e);
}
void ceil(Evaluation& e) {
  unary<[](double x) { return std::ceil(x); }>(e);
}
void floor(Evaluation& e) {
  unary<[](double x) { return std::floor(x); }>(e);
}
void round_afz(Evaluation& e) {
  unary<[](double x) { return std::round(x); }>(e);
}
void round_even(Evaluation& e) {
  unary<[](double x) { return std::nearbyint(x); }>(e);
}
void cosine(Evaluation& e) {
  unary<[](double x) { return std::cos(x); }, Never{}, [](C z) { return std::cos(z); }>(e);
}
void sine(Evaluation& e) {
  unary<[](double x) { return std::sin(x); }, Never{}, [](C z) { return std::sin(z); }>(e);
}
void tan(Evaluation& e) {
  unary<[](double x) { return std::tan(x); }, Never{}, [](C z) { return std::tan(z); }>(e);
}
void tanh(Evaluation& e) {
  unary<[](double x) { return std::tanh(x); }, Never{}, [](C z) { return std::tanh(z); }>(e);
}
void exponential(Evaluation& e) {
  unary<[](double x) { return std::exp(x); }, Never{}, [](C z) { return std::exp(z); }>(e);
}
void exponential_minus_one(Evaluation& e) {
  unary<[](double x) { return std::expm1(x); }, Never{}, [](C z) { return expm1_of(z); }>(e);
}
void log(Evaluation& e) {
  unary<[](double x) { return std::log(x); }, Never{}, [](C z) { return std::log(z); }>(e);
}
void log_plus_one(Evaluation& e) {
  unary<[](double x) { return std::log1p(x); }, Never{}, [](C z) { return log1p_of(z); }>(e);
}
void logistic(Evaluation& e) {
  unary<[](double x) { return sigmoid(x); }, Never{}, [](C z) { return 1.0 / (1.0 + std::exp(-z)); }>(e);
}
void rsqrt(Evaluation& e) {
  unary<[](double x) { return 1 / std::sqrt(x); }, Never{}, [](C z) { return 1.0 / std::sqrt(z); }>(e);
}
void sqrt(Evaluation& e) {
  unary<[](double x) { return std::sqrt(x); }, Never{}, [](C z) { return std::sqrt(z); }>(e);
}
void atan2(Evaluation& e) {
  binary<[](double y, double x) { return std::atan2(y, x); }, Never{}, [](C y, C x) { return atan2_of(y, x); }>(e);
}
void acos(Evaluation& e) {
  unary<[](double x) { return std::acos(x); }, Never{}, [](C z) { return std::acos(z); }>(e);
}
void acosh(Evaluation& e) {
  unary<[](double x) { return std::acosh(x); }, Never{}, [](C z) { return std::acosh(z); }>(e);
}
void asin(Evaluation& e) {
  unary<[](double x) { return std::asin(x); }, Never{}, [](C z) { return std::asin(z); }>(e);
}
void asinh(Evaluation& e) {
  unary<[](double x) { return std::asinh(x); }, Never{}, [](C z) { return std::asinh(z); }>(e);
}
void atan(Evaluation& e) {
  unary<[](double x) { return std::atan(x); }, Never{}, [](C z) { return std::atan(z); }>(e);
}
void atanh(Evaluation& e) {
  unary<[](double x) { return std::atanh(x); }, Never{}, [](C z) { return std::atanh(z); }>(e);
}
/// CHLO defines it as exp(x + log(1/2)) + exp(log(1/2) - x), each step in fp32, of f64 in fp64.
void cosh(Evaluation& e) {
  const Element element = e.operand(0).type.element;
  if (!is_float(element)) return unary<Never{}, Never{}, [](C z) { return std::cosh(z); }>(e);
  const Element step = element == Element::kF64 ? element : Element::kF32;
  const double half = round_to(step, std::log(0.5));
  unary_of<Reals>(e, [=](double x) {
    const double up = round_to(step, std::exp(round_to(step, x + half)));
    return up + round_to(step, std::exp(round_to(step, half - x)));
  });
}
void sinh(Evaluation& e) {
  unary<[](double x) { return std::sinh(x); }, Never{}, [](C z) { return std::sinh(z); }>(e);
}
void square(Evaluation& e) {
  unary<[](double x) { return x * x; }, [](std::int64_t x) { return static_cast<std::int64_t>(std::uint64_t(x) * x); },
        [](C z) { return z * z; }>(e);
}
void gelu(Evaluation& e) {
  unary<[](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }>(e);
}
/// Hendrycks and Gimpel, arXiv:1606.08415: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
void gelu_tanh(Evaluation& e) {
  unary<[](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }>(
      e);
}
void silu(Evaluation& e) {
  unary<[](double x) { return x * sigmoid(x); }>(e);
}
void erf(Evaluation& e) {
  unary<[](double x) { return std::erf(x); }>(e);
}
void erfc(Evaluation& e) {
  unary<[](double x) { return std::erfc(x); }>(e);
}
void erf_inv(Evaluation& e) {
  unary<[](double x) { return erf_inv_of(x); }>(e);
}
void lgamma(Evaluation& e) {
  // lgamma_r: std::lgamma writes the sign to a variable of the process.
  unary<[](double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
  }>(e);
}
void digamma(Evaluation& e) {
  unary<[](double x) { return digamma_of(x); }>(e);
}
void polygamma(Evaluation& e) {
  binary<[](double n, double x) { return polygamma_of(n, x); }>(e);
}
void zeta(Evaluation& e) {
  binary<[](double s, double q) { return zeta_of(s, q); }>(e);
}
void bessel_i1e(Evaluation& e) {
  unary<[](double x) { return bessel_i1e_of(x); }>(e);
}

}  // namespace trnsim::frontend::evaluate
