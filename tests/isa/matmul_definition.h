// How TensorE adds, as defined by isa/kernels/kernels.h, in plain C++ and without regard to speed: every kernel must
// match it to the bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace isa_test {

inline float zero_like(float x) { return std::copysign(0.0F, x); }
inline float flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? zero_like(x) : x; }

/// a * b + c with one rounding, subnormal operands and results zeros. Whether a result is subnormal is decided after
/// rounding to 24 bits as if exponents had no end; fma() at 2^64 times the size has that many.
inline float fused(float a, float b, float c) {
  a = flushed(a), b = flushed(b), c = flushed(c);
  const float result = std::fma(a, b, c);
  if (!(std::fabs(result) <= std::numeric_limits<float>::min())) return result;
  float& smaller = std::fabs(a) < std::fabs(b) ? a : b;
  smaller *= 0x1p64F;
  return std::fabs(std::fma(a, b, c * 0x1p64F)) < 0x1p-62F ? zero_like(result) : result;
}

inline float sum(float a, float b) { return flushed(flushed(a) + flushed(b)); }

inline std::uint32_t settled(float x) { return std::isnan(x) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(x); }

/// The bits of c = a . b, added to `before` when `accumulate`.
inline std::uint32_t bf16_dot(std::vector<float> a, std::vector<float> b, bool accumulate, float before) {
  const std::size_t padded = (a.size() + 31) / 32 * 32;
  a.resize(padded), b.resize(padded);
  float total = 0;
  for (std::size_t group = 0; group < padded; group += 32) {
    float even = 0, odd = 0;
    for (std::size_t k = group; k < group + 32; k += 2) {
      even = fused(a[k], b[k], even);
      odd = fused(a[k + 1], b[k + 1], odd);
    }
    total = sum(total, sum(even, odd));
  }
  return settled(accumulate ? sum(before, total) : total);
}

inline std::uint32_t fp32_dot(const std::vector<float>& a, const std::vector<float>& b, bool accumulate, float before) {
  float total = 0;
  for (std::size_t k = 0; k < a.size(); ++k) total = std::fma(a[k], b[k], total);
  return settled(accumulate ? before + total : total);
}

}  // namespace isa_test
