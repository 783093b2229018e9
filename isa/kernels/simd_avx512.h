// Vectors of AVX-512 for the matmul tile. For isa/kernels/target_avx512*.cpp only.
#pragma once

#include <immintrin.h>

#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

struct Avx512 {
  using Vector = __m512;
  static constexpr int kWidth = 16, kRows = 4, kVectors = 4;  // 16 sums, 4 columns, 1 scalar of 32 registers
  static __m512 zero() { return _mm512_setzero_ps(); }
  static __m512 load_operand(const std::uint32_t* p) {
    __m512 v = _mm512_castsi512_ps(_mm512_load_si512(p));
    __asm__("" : "+v"(v));  // once: Zen 4 loads one vector a cycle, and GCC would load it again for each row
    return v;
  }
  static __m512 broadcast(std::uint32_t a) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(a))); }
  static __m512 multiply_add(__m512 a, __m512 b, __m512 sum) { return _mm512_fmadd_ps(a, b, sum); }
  static __m512 load(const float* p) { return _mm512_loadu_ps(p); }
  static __m512 add(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }
  static __m512 canonical_nan(__m512 v) {
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                              _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
  }
  static void store(float* p, __m512 v) { _mm512_storeu_ps(p, v); }
};

}  // namespace
}  // namespace isa::kernels
