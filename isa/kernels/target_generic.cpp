// Any x86-64 (or other) host: no vector code beyond the compiler's, fused multiply-adds of matmuls in double.
#include "isa/kernels/body_convert.h"
#include "isa/kernels/body_elementwise.h"
#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

/// a * b + c, rounded to odd, so that one more rounding to fp32 is the only one: the product of two fp32 numbers is
/// exact in double, and the error of the sum (Knuth's TwoSum) decides its last bit.
inline double fused_to_odd(float a, float b, float c) {
  const double product = double{a} * double{b}, term = double{c};
  const double sum = product + term, back = sum - product;
  const double lost = (product - (sum - back)) + (term - back);
  std::uint64_t bits = __builtin_bit_cast(std::uint64_t, sum);
  const bool inexact = lost > 0 || lost < 0;  // not of infinity and NaN
  if (inexact && (bits & 1) == 0) bits += (lost > 0) == (sum > 0) ? 1 : ~std::uint64_t{0};
  return __builtin_bit_cast(double, bits);
}

inline float flushed(float x) { return absolute(x) < 0x1p-126f ? with_sign_of(0.0f, x) : x; }

struct Scalar {
  using Vector = float;
  static constexpr int kWidth = 1, kRows = 4, kVectors = 4;
  static float zero() { return 0; }
  static float load_operand(const std::uint32_t* p) { return float_of(*p); }
  static float broadcast(std::uint32_t a) { return float_of(a); }
  static float multiply_add(float a, float b, float sum) { return static_cast<float>(fused_to_odd(a, b, sum)); }
  static float load(const float* p) { return *p; }
  static float add(float a, float b) { return a + b; }
  static float canonical_nan(float v) { return kernels::canonical_nan(v); }
  static void store(float* p, float v) { *p = v; }
};

/// Flushes subnormal results as FlushSubnormals does. A result is subnormal if, rounded to 24 bits of any exponent, it
/// is below 2^-126: the exact one below 2^-126 * (1 - 2^-25).
struct ScalarWithoutSubnormals : Scalar {
  static float load_operand(const std::uint32_t* p) { return flushed(float_of(*p)); }
  static float broadcast(std::uint32_t a) { return flushed(float_of(a)); }
  static float multiply_add(float a, float b, float sum) {
    const double exact = fused_to_odd(a, b, sum);
    const float rounded = static_cast<float>(exact);
    return __builtin_fabs(exact) < 0x1.ffffffp-127 ? with_sign_of(0.0f, rounded) : rounded;
  }
  static float add(float a, float b) { return flushed(flushed(a) + flushed(b)); }  // sums of fp32 this small are exact
};

/// Products of the lower halves of 64-bit lanes, and numbers of 16 bits as of 32.
struct Wide {
  using Vector [[gnu::vector_size(16)]] = std::uint64_t;
  static Vector multiply(Vector a, Vector b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  using Halves [[gnu::vector_size(16)]] = Half;
  static Words widen(const Half* p) {
    Words words;
    for (int i = 0; i < 4; ++i) words[i] = p[i];
    return words;
  }
};

}  // namespace

Kernels generic_table() {
  Kernels table;
  table.level = Level::kGeneric;
  fill_elementwise(table);
  fill_convert<Wide>(table);
  table.matmul_bf16 = matmul_tile<ScalarWithoutSubnormals, EvenBesideOdd<PackGroups<Wide>>, PackGroups<Wide>>;
  table.matmul_fp32 = matmul_tile<Scalar, InOrder, PackFp32>;
  return table;
}

}  // namespace isa::kernels
