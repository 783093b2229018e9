// AVX2 with FMA: Intel from Haswell, AMD from Zen.
#include <immintrin.h>

#include "isa/kernels/body_convert.h"
#include "isa/kernels/body_elementwise.h"
#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

struct Avx2 {
  using Vector = __m256;
  static constexpr int kWidth = 8, kRows = 4, kVectors = 2;  // 8 sums, 2 columns, 1 scalar of 16 registers
  static __m256 zero() { return _mm256_setzero_ps(); }
  static __m256 load_operand(const std::uint32_t* p) { return _mm256_load_ps(reinterpret_cast<const float*>(p)); }
  static __m256 broadcast(std::uint32_t a) { return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(a))); }
  static __m256 multiply_add(__m256 a, __m256 b, __m256 sum) { return _mm256_fmadd_ps(a, b, sum); }
  static __m256 load(const float* p) { return _mm256_loadu_ps(p); }
  static __m256 add(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
  static __m256 canonical_nan(__m256 v) {
    return _mm256_blendv_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  }
  static void store(float* p, __m256 v) { _mm256_storeu_ps(p, v); }
};

struct Avx2Bf16 : Avx2 {
  static constexpr int kRows = 3;  // 6 sums each of the even and the odd, 2 columns, 1 scalar
};

/// Products of the lower halves of 64-bit lanes, and numbers of 16 bits as of 32.
struct Wide {
  using Vector [[gnu::vector_size(32)]] = std::uint64_t;
  static Vector multiply(Vector a, Vector b) { return (Vector)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  using Halves [[gnu::vector_size(32)]] = Half;
  static Words widen(const Half* p) {
    return (Words)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
};

void matmul_bf16(const MatMul& args) {
  const FlushSubnormals flush;
  matmul_tile<Avx2Bf16, EvenBesideOdd<PackGroups<Wide>>, PackGroups<Wide>>(args);
}

}  // namespace

Kernels avx2_table() {
  Kernels table;
  table.level = Level::kAvx2;
  fill_elementwise(table);
  fill_convert<Wide>(table);
  table.matmul_bf16 = matmul_bf16;
  table.matmul_fp32 = matmul_tile<Avx2, InOrder, PackFp32>;
  return table;
}

}  // namespace isa::kernels
