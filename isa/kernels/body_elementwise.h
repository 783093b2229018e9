// Loops over fp32 arrays, one per operation; for isa/kernels/target_*.cpp only (see body_math.h).
#pragma once

#include "isa/kernels/accesses.h"
#include "isa/kernels/body_math.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

inline float maximum(float a, float b) { return a > b || a != a ? a : b; }  // NaN of a wins, and of b too
inline float minimum(float a, float b) { return a < b || a != a ? a : b; }
inline float truth(bool condition) { return condition ? 1.0f : 0.0f; }

template <Alu kOp>
inline float apply(float a, float b) {
  if constexpr (kOp == Alu::kAdd) return a + b;
  if constexpr (kOp == Alu::kSub) return a - b;
  if constexpr (kOp == Alu::kMul) return a * b;
  if constexpr (kOp == Alu::kDiv) return a / b;
  if constexpr (kOp == Alu::kMax) return maximum(a, b);
  if constexpr (kOp == Alu::kMin) return minimum(a, b);
  if constexpr (kOp == Alu::kPow)
    return static_cast<float>(__builtin_pow(a, b));  // in fp64: correctly rounded but for ties
  if constexpr (kOp == Alu::kEq) return truth(a == b);
  if constexpr (kOp == Alu::kNe) return truth(a != b);
  if constexpr (kOp == Alu::kGt) return truth(a > b);
  if constexpr (kOp == Alu::kGe) return truth(a >= b);
  if constexpr (kOp == Alu::kLt) return truth(a < b);
  if constexpr (kOp == Alu::kLe) return truth(a <= b);
  if constexpr (kOp == Alu::kLogicalAnd) return truth((a != 0) & (b != 0));
  if constexpr (kOp == Alu::kLogicalOr) return truth((a != 0) | (b != 0));
  if constexpr (kOp == Alu::kLogicalXor) return truth((a != 0) != (b != 0));
  if constexpr (kOp == Alu::kLogicalNot) return truth(a == 0);
  if constexpr (kOp == Alu::kAbs) return absolute(a);
  if constexpr (kOp == Alu::kRsqrt) return static_cast<float>(1 / __builtin_sqrt(a));  // in fp64, as kPow
}

template <Alu kOp>
void binary_loop(const float* a, const float* b, float* out, std::size_t n) {
  reads(a, n), reads(b, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = apply<kOp>(a[i], b[i]);
}
template <Alu kOp>
void with_scalar_loop(const float* a, float s, float* out, std::size_t n) {
  reads(a, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = apply<kOp>(a[i], s);
}
template <Alu kOp>
void scalar_first_loop(const float* a, float s, float* out, std::size_t n) {
  reads(a, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = apply<kOp>(s, a[i]);
}
template <Alu kOp>
void fold_loop(const float* x, std::size_t n, float* lanes) {
  reads(x, n), writes(lanes, 64);
  std::size_t i = 0;
  float local[64];
  for (int l = 0; l < 64; ++l) local[l] = lanes[l];
  for (; i + 64 <= n; i += 64)
    for (int l = 0; l < 64; ++l) local[l] = apply<kOp>(local[l], x[i + l]);
  for (int l = 0; l < 64; ++l) lanes[l] = local[l];
  for (std::size_t l = 0; i + l < n; ++l) lanes[l] = apply<kOp>(lanes[l], x[i + l]);
}

template <Alu kOp>
constexpr float kIdentity = kOp == Alu::kMul   ? 1.0f
                            : kOp == Alu::kMax ? -kInf
                            : kOp == Alu::kMin ? kInf
                                               : 0.0f;

/// The result of fold_loop from the identity, then a tree over the 64 lanes.
template <Alu kOp>
[[gnu::always_inline]] inline float reduced(const float* x, std::size_t n) {
  float lanes[64];
  for (int l = 0; l < 64; ++l) lanes[l] = kIdentity<kOp>;
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64)
    for (int l = 0; l < 64; ++l) lanes[l] = apply<kOp>(lanes[l], x[i + l]);
  for (std::size_t l = 0; i + l < n; ++l) lanes[l] = apply<kOp>(lanes[l], x[i + l]);
#pragma GCC unroll 6
  for (int half = 32; half > 0; half /= 2)
#pragma GCC ivdep
    for (int l = 0; l < half; ++l) lanes[l] = apply<kOp>(lanes[l], lanes[l + half]);
  return lanes[0];
}
template <Alu kOp>
float reduce_loop(const float* x, std::size_t n) {
  reads(x, n);
  return reduced<kOp>(x, n);
}

void statistics_loop(const float* x, std::size_t n, float* out) {
  reads(x, n), writes(out, 6);
  for (std::size_t odd = 0; odd < 2; ++odd, out += 3) {
    alignas(64) float half[kMostStatistics / 2];
    const std::size_t count = (n + 1 - odd) / 2;
    for (std::size_t i = 0; i < count; ++i) half[i] = x[2 * i + odd];
    const float mean = count > 0 ? reduced<Alu::kAdd>(half, count) / static_cast<float>(count) : 0.0f;
    for (std::size_t i = 0; i < count; ++i) half[i] = (half[i] - mean) * (half[i] - mean);
    out[0] = static_cast<float>(count), out[1] = mean, out[2] = reduced<Alu::kAdd>(half, count);
  }
}

template <float (*kFunction)(float)>
void unary_loop(const float* a, float scale, float bias, float* out, std::size_t n) {
  reads(a, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = kFunction(fma1(a[i], scale, bias));
}

/// Angles of many turns, which are few, one at a time.
void sin_loop(const float* a, float scale, float bias, float* out, std::size_t n) {
  reads(a, n), writes(out, n);
  std::uint32_t far = 0;
  for (std::size_t i = 0; i < n; ++i) far |= static_cast<std::uint32_t>(absolute(fma1(a[i], scale, bias)) > kNearSin);
  if (far == 0) return unary_loop<f_sin>(a, scale, bias, out, n);
  for (std::size_t i = 0; i < n; ++i) {
    const float x = fma1(a[i], scale, bias);
    out[i] = absolute(x) > kNearSin ? far_sin(x) : f_sin(x);
  }
}

inline std::size_t outside_loop(const float* a, float scale, float bias, const Range& range, std::size_t n) {
  reads(a, n);
  const float least = range.least, most = range.most;
  const std::uint32_t sign = range.of_magnitude ? 0x80000000u : 0u, zero = range.zero_too ? 1 : 0;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float x = fma1(a[i], scale, bias), size = float_of(bits_of(x) & ~sign);
    const std::uint32_t inside = static_cast<std::uint32_t>(size >= least) & static_cast<std::uint32_t>(size <= most);
    count += 1u - (inside | (zero & static_cast<std::uint32_t>(x == 0.0f)));
  }
  return count;
}

void choose_loop(const float* where, const float* a, const float* b, float* out, std::size_t n) {
  reads(where, n), reads(a, n), reads(b, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const float x = a[i], y = b[i];
    out[i] = where[i] != 0.0f ? x : y;
  }
}

constexpr std::size_t at(Alu op) { return static_cast<std::size_t>(op); }
constexpr std::size_t at(Fn fn) { return static_cast<std::size_t>(fn); }

template <Alu... kOps>
void fill_binary(Kernels& table) {
  ((table.binary[at(kOps)] = binary_loop<kOps>, table.with_scalar[at(kOps)] = with_scalar_loop<kOps>,
    table.scalar_first[at(kOps)] = scalar_first_loop<kOps>),
   ...);
}

template <Alu... kOps>
void fill_reductions(Kernels& table) {
  ((table.fold[at(kOps)] = fold_loop<kOps>, table.reduce[at(kOps)] = reduce_loop<kOps>), ...);
}

[[maybe_unused]] void fill_elementwise(Kernels& table) {
  fill_binary<Alu::kAdd, Alu::kSub, Alu::kMul, Alu::kDiv, Alu::kMax, Alu::kMin, Alu::kPow, Alu::kEq, Alu::kNe, Alu::kGt,
              Alu::kGe, Alu::kLt, Alu::kLe, Alu::kLogicalAnd, Alu::kLogicalOr, Alu::kLogicalXor, Alu::kLogicalNot,
              Alu::kAbs, Alu::kRsqrt>(table);
  fill_reductions<Alu::kAdd, Alu::kMul, Alu::kMax, Alu::kMin>(table);
  table.statistics = statistics_loop;
  auto& fn = table.unary;
  fn[at(Fn::kCopy)] = unary_loop<f_copy>;
  fn[at(Fn::kSquare)] = unary_loop<f_square>;
  fn[at(Fn::kSigmoid)] = unary_loop<f_sigmoid>;
  fn[at(Fn::kRelu)] = unary_loop<f_relu>;
  fn[at(Fn::kGelu)] = unary_loop<f_gelu>;
  fn[at(Fn::kGeluTanh)] = unary_loop<f_gelu_tanh>;
  fn[at(Fn::kGeluSigmoid)] = unary_loop<f_gelu_sigmoid>;
  fn[at(Fn::kGeluSigmoidGrad)] = unary_loop<f_gelu_sigmoid_grad>;
  fn[at(Fn::kGeluGrad)] = unary_loop<f_gelu_grad>;
  fn[at(Fn::kGeluTanhGrad)] = unary_loop<f_gelu_tanh_grad>;
  fn[at(Fn::kSilu)] = unary_loop<f_silu>;
  fn[at(Fn::kSiluGrad)] = unary_loop<f_silu_grad>;
  fn[at(Fn::kTanh)] = unary_loop<f_tanh>;
  fn[at(Fn::kTanhGrad)] = unary_loop<f_tanh_grad>;
  fn[at(Fn::kSoftplus)] = unary_loop<f_softplus>;
  fn[at(Fn::kMish)] = unary_loop<f_mish>;
  fn[at(Fn::kErf)] = unary_loop<f_erf>;
  fn[at(Fn::kErfGrad)] = unary_loop<f_erf_grad>;
  fn[at(Fn::kExp)] = unary_loop<f_exp>;
  fn[at(Fn::kLog)] = unary_loop<f_log>;
  fn[at(Fn::kSin)] = sin_loop;
  fn[at(Fn::kArctan)] = unary_loop<f_arctan>;
  fn[at(Fn::kSqrt)] = unary_loop<f_sqrt>;
  fn[at(Fn::kRsqrt)] = unary_loop<f_rsqrt>;
  fn[at(Fn::kReciprocal)] = unary_loop<f_reciprocal>;
  fn[at(Fn::kSign)] = unary_loop<f_sign>;
  fn[at(Fn::kAbs)] = unary_loop<absolute>;
  table.outside = outside_loop;
  table.choose = choose_loop;
}

}  // namespace
}  // namespace isa::kernels
