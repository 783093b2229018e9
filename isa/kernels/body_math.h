// ScalarE's functions in fp32: branch-free, so that loops over them become vector code. For isa/kernels/target_*.cpp
// only: each compiles its own copy for its instruction set, hence the unnamed namespace. Fused multiply-adds are
// written out, so that every target gives the same bits. Errors: isa/kernels/accuracy.h.
#pragma once

#include <cstdint>

namespace isa::kernels {
namespace {

using Half [[gnu::may_alias]] = std::uint16_t;  // device memory holds any type

inline float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline float with_sign_of(float magnitude, float sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}
inline float absolute(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

constexpr float kInf = __builtin_inff();
constexpr float kRoundMagic = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits

/// 2^n for n in [-126, 127], from n + kRoundMagic.
inline float power_of_two(std::int32_t n) { return float_of(static_cast<std::uint32_t>(n + 127) << 23); }

/// exp by 2^n * exp(r), |r| <= ln(2)/2, a polynomial of degree 7 (Taylor; remainder below 2^-27).
inline float f_exp(float x) {
  const float below = x > 89.0f ? 89.0f : x;  // comparisons so that NaN passes
  const float t = below < -104.0f ? -104.0f : below;
  const float shifted = fma1(t, 0x1.715476p0f, kRoundMagic);
  const float n = shifted - kRoundMagic;
  const std::int32_t e = static_cast<std::int32_t>(bits_of(shifted)) - static_cast<std::int32_t>(0x4b400000);
  float r = fma1(n, -0x1.62e4p-1f, t);  // ln(2) in two parts
  r = fma1(n, -0x1.7f7d1cp-20f, r);
  float p = 0x1.a01a02p-13f;
  p = fma1(p, r, 0x1.6c16c2p-10f);
  p = fma1(p, r, 0x1.111112p-7f);
  p = fma1(p, r, 0x1.555556p-5f);
  p = fma1(p, r, 0x1.555556p-3f);
  p = fma1(p, r, 0.5f);
  p = fma1(p, r, 1.0f);
  p = fma1(p, r, 1.0f);
  const std::int32_t half = e >> 1;  // two steps reach subnormal results and infinity
  return p * power_of_two(half) * power_of_two(e - half);
}

/// exp(-x^2), with the rounding error of x^2 put back.
inline float exp_minus_square(float x) {
  const float t = absolute(x) > 11.0f ? with_sign_of(11.0f, x) : x;
  const float square = t * t;
  const float rest = fma1(t, t, -square);
  const float e = f_exp(-square);
  return fma1(-rest, e, e);
}

/// log by log(m) + e*ln(2), m in [sqrt(1/2), sqrt(2)). Polynomial: Cephes logf (S. Moshier).
inline float f_log(float x) {
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const std::uint32_t offset = bits_of(scaled) - 0x3f3504f3u;  // bits of sqrt(1/2)
  const std::int32_t exponent = static_cast<std::int32_t>(offset) >> 23;
  const float m = float_of((offset & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float e = static_cast<float>(exponent) - (tiny ? 23.0f : 0.0f);
  float p = 7.0376836292e-2f;
  p = fma1(p, m, -1.1514610310e-1f);
  p = fma1(p, m, 1.1676998740e-1f);
  p = fma1(p, m, -1.2420140846e-1f);
  p = fma1(p, m, 1.4249322787e-1f);
  p = fma1(p, m, -1.6668057665e-1f);
  p = fma1(p, m, 2.0000714765e-1f);
  p = fma1(p, m, -2.4999993993e-1f);
  p = fma1(p, m, 3.3333331174e-1f);
  const float square = m * m;
  float y = p * m * square;
  y = fma1(e, -2.12194440e-4f, y);
  y = fma1(square, -0.5f, y);
  const float value = fma1(e, 0.693359375f, m + y);
  const float finite = x < kInf ? value : x + x;  // infinity and NaN stay
  const float positive = x > 0.0f ? finite : (x == 0.0f ? -kInf : __builtin_nanf(""));
  return x != x ? x : positive;
}

/// log(1 + x) for x in [0, 1].
inline float log_one_plus(float x) {
  const float u = 1.0f + x;
  return f_log(u) - ((u - 1.0f) - x) / u;
}

inline float f_sigmoid(float x) {
  const float e = f_exp(-absolute(x));  // in (0, 1]: nothing overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

struct Sigmoid {
  float value, slope;  // slope = value * (1 - value), without its cancellation
};
inline Sigmoid sigmoid_and_slope(float x) {
  const float e = f_exp(-absolute(x));
  const float d = 1.0f + e;
  return {(x >= 0.0f ? 1.0f : e) / d, e / (d * d)};
}

/// tanh: an odd polynomial near 0 (Cephes tanhf), else 1 - 2 / (exp(2|x|) + 1).
inline float f_tanh(float x) {
  const float t = absolute(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = fma1(p, z, 2.06390887954e-2f);
  p = fma1(p, z, -5.37397155531e-2f);
  p = fma1(p, z, 1.33314422036e-1f);
  p = fma1(p, z, -3.33332819422e-1f);
  const float near = fma1(p * z, x, x);
  const float far = 1.0f - 2.0f / (f_exp(t + t) + 1.0f);
  return with_sign_of(t < 0.625f ? near : far, x);  // -0 of -0, too
}

/// 1 - erf(t) for t > 0.92 by exp of a polynomial; coefficients: N. Juffa's erff.
inline float log_erfc(float t) {
  const float s = t * t;
  float r = fma1(-1.72853470e-5f, t, 3.83197126e-4f);
  const float u = fma1(-3.88396438e-3f, t, 2.42546219e-2f);
  r = fma1(r, s, u);
  r = fma1(r, t, -1.06777877e-1f);
  r = fma1(r, t, -6.34846687e-1f);
  r = fma1(r, t, -1.28717512e-1f);
  return fma1(r, t, -t);
}
/// erf for |x| <= 0.92; the same source.
inline float erf_near(float x) {
  const float s = x * x;
  float r = -5.96761703e-4f;
  r = fma1(r, s, 4.99119423e-3f);
  r = fma1(r, s, -2.67681349e-2f);
  r = fma1(r, s, 1.12819925e-1f);
  r = fma1(r, s, -3.76125336e-1f);
  r = fma1(r, s, 1.28379166e-1f);
  return fma1(r, x, x);
}

inline float f_erf(float x) {
  const float t = absolute(x);
  const float capped = t > 4.0f ? 4.0f : t;  // erf is 1 from there on
  const float far = 1.0f - f_exp(log_erfc(capped));
  return t > 0.921875f ? with_sign_of(far, x) : erf_near(x);
}
inline float f_erf_grad(float x) { return 1.12837916709551257f * exp_minus_square(x); }

/// The normal distribution function, without the cancellation of 1 + erf on the negative side.
inline float normal_cdf(float x) {
  const float y = x * 0.70710678118654752f;
  const float t = absolute(y);
  const float capped = t > 10.0f ? 10.0f : t;
  const float half_erfc = 0.5f * f_exp(log_erfc(capped));
  const float far = x > 0.0f ? 1.0f - half_erfc : half_erfc;
  return t > 0.921875f ? far : fma1(0.5f, erf_near(y), 0.5f);
}
inline float f_gelu(float x) {
  const float cdf = normal_cdf(x);
  return x < -14.0f ? 0.0f * cdf : x * cdf;  // there cdf is below the smallest number
}
inline float f_gelu_grad(float x) {
  const float density = 0.39894228040143268f * exp_minus_square(x * 0.70710678118654752f);
  const float slope = absolute(x) > 15.0f ? 0.0f : x * density;
  return normal_cdf(x) + slope;
}

constexpr float kTwoGeluTanh = 1.5957691216057308f;  // 2 * sqrt(2 / pi)
/// 2u of x * sigmoid(2u) = 0.5 * x * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3); |x| is cut where sigmoid is 0
/// or 1.
inline float gelu_tanh_argument(float x) { return kTwoGeluTanh * fma1(0.044715f * x * x, x, x); }
inline float cut(float x, float limit) { return absolute(x) > limit ? with_sign_of(limit, x) : x; }
inline float f_gelu_tanh(float x) { return x < -12.0f ? -0.0f : x * f_sigmoid(gelu_tanh_argument(cut(x, 12.0f))); }
inline float f_gelu_tanh_grad(float x) {
  const float t = cut(x, 12.0f);
  const Sigmoid s = sigmoid_and_slope(gelu_tanh_argument(t));
  const float slope = kTwoGeluTanh * fma1(3 * 0.044715f * t, t, 1.0f);
  return fma1(t * slope, s.slope, s.value);
}

/// x * sigmoid(1.702 x). Source: Hendrycks and Gimpel, arXiv:1606.08415.
inline float f_gelu_sigmoid(float x) { return x < -61.0f ? -0.0f : x * f_sigmoid(1.702f * x); }
inline float f_gelu_sigmoid_grad(float x) {
  const float t = 1.702f * cut(x, 61.0f);
  const Sigmoid s = sigmoid_and_slope(t);
  return fma1(t, s.slope, s.value);
}
inline float f_silu(float x) { return x < -104.0f ? -0.0f : x * f_sigmoid(x); }
inline float f_silu_grad(float x) {
  const Sigmoid s = sigmoid_and_slope(x);
  return fma1(cut(x, 104.0f), s.slope, s.value);
}
inline float f_tanh_grad(float x) {
  const float e = f_exp(-2.0f * absolute(x));  // 4e / (1 + e)^2: no cancellation for large |x|
  const float d = 1.0f + e;
  return 4.0f * e / (d * d);
}
inline float f_softplus(float x) { return (x > 0.0f ? x : 0.0f * x) + log_one_plus(f_exp(-absolute(x))); }
/// x * tanh(softplus(x)) = x * n / (n + 2), n = e^x (e^x + 2).
inline float f_mish(float x) {
  const float e = f_exp(x > 20.0f ? 20.0f : x);
  const float n = e * (e + 2.0f);
  return x > 20.0f ? x : (x < -104.0f ? -0.0f : x * (n / (n + 2.0f)));
}

/// sin of r in [-pi/2, pi/2], with the sign of (-1)^n.
inline float sin_of_rest(float r, std::uint32_t n) {
  const float z = r * r;
  float p = 2.6083159809786593e-6f;
  p = fma1(p, z, -1.9810690719168633e-4f);
  p = fma1(p, z, 8.3330785855650902e-3f);
  p = fma1(p, z, -1.6666659712791443e-1f);
  const float y = fma1(p * z, r, r);
  return float_of(bits_of(y) ^ (n << 31));
}

constexpr float kNearSin = 8192.0f;  // the most half turns that three parts of pi take off

/// sin by reduction to [-pi/2, pi/2] in three parts of pi; |x| <= kNearSin.
inline float f_sin(float x) {
  const float shifted = fma1(x, 0.31830988618379067f, kRoundMagic);
  const float n = shifted - kRoundMagic;
  float r = fma1(n, -0x1.921fb6p1f, x);
  r = fma1(n, 0x1.777a5cp-24f, r);
  r = fma1(n, 0x1.ee59dap-49f, r);
  return x == 0.0f ? x : sin_of_rest(r, bits_of(shifted));
}

/// sin of a larger angle: 96 bits of 1/pi, from those on that make odd half turns, times the 24 bits of x (Payne and
/// Hanek, "Radian Reduction for Trigonometric Functions").
inline float far_sin(float x) {
  constexpr std::uint32_t kInversePi[] = {0,          0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0,
                                          0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0};
  const std::uint32_t bits = bits_of(x), power = (bits >> 23) & 255u;
  if (power == 255) return x - x;
  const std::uint64_t whole = (bits & 0x7fffffu) | 0x800000u;
  const std::uint32_t first = power - 150u + 31u;  // the bit of the table whose product has the weight of one half turn
  const auto word = [&](std::uint32_t i) {
    const std::uint32_t at = first / 32 + i;
    const std::uint64_t both = (std::uint64_t{kInversePi[at]} << 32) | kInversePi[at + 1];
    return static_cast<std::uint32_t>(both >> (32 - first % 32));
  };
  const std::uint64_t low = whole * word(2), middle = whole * word(1) + (low >> 32);
  const std::uint64_t turns = ((whole * word(0) + (middle >> 32)) << 32) | (middle & 0xffffffffu);
  const std::uint64_t half_turns = (turns + (std::uint64_t{1} << 62)) >> 63;
  const auto rest = static_cast<std::int64_t>(turns - (half_turns << 63));
  const auto r = static_cast<float>(static_cast<double>(rest) * 0x1.921fb54442d18p-62);
  return sin_of_rest(r, static_cast<std::uint32_t>(half_turns) ^ (bits >> 31));
}

/// arctan by reduction to |t| <= tan(pi/8) (Cephes atanf).
inline float f_arctan(float x) {
  const float t = absolute(x);
  const bool large = t > 2.414213562373095f, middle = t > 0.4142135623730950f;
  const float above = large ? -1.0f : (middle ? t - 1.0f : t);
  const float below = large ? t : (middle ? t + 1.0f : 1.0f);
  const float base = large ? 1.57079632679489662f : (middle ? 0.78539816339744831f : 0.0f);
  const float r = t < kInf ? above / below : -0.0f;
  const float z = r * r;
  float p = 8.05374449538e-2f;
  p = fma1(p, z, -1.38776856032e-1f);
  p = fma1(p, z, 1.99777106478e-1f);
  p = fma1(p, z, -3.33329491539e-1f);
  const float y = base + fma1(p * z, r, r);
  return x != x ? x : with_sign_of(y, x);
}

inline float f_sqrt(float x) { return __builtin_sqrtf(x); }
inline float f_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline float f_reciprocal(float x) { return 1.0f / x; }
inline float f_sign(float x) { return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x); }
inline float f_relu(float x) { return x > 0.0f ? x : (x != x ? x : 0.0f); }
inline float f_copy(float x) { return x; }
inline float f_square(float x) { return x * x; }

}  // namespace
}  // namespace isa::kernels
