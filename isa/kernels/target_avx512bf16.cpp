// AVX-512 BF16: products of bf16 pairs summed in fp32; Intel from Cooper Lake, AMD from Zen 4.
#include <immintrin.h>

#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

struct Pairs {
  using Vector = __m512;
  using Operand = __m512bh;
  static constexpr int kWidth = 16, kRows = 4, kVectors = 4;
  static __m512 zero() { return _mm512_setzero_ps(); }
  static __m512bh load_operand(const std::uint32_t* p) { return (__m512bh)_mm512_load_si512(p); }
  static __m512bh broadcast(std::uint32_t a) { return (__m512bh)_mm512_set1_epi32(static_cast<int>(a)); }
  static __m512 multiply_add(__m512bh a, __m512bh b, __m512 sum) { return _mm512_dpbf16_ps(sum, a, b); }
  static __m512 load(const float* p) { return _mm512_loadu_ps(p); }
  static __m512 add(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }
  static void store(float* p, __m512 v) { _mm512_storeu_ps(p, v); }
};

}  // namespace

void add_avx512bf16(Kernels& table) {
  table.level = Level::kAvx512Bf16;
  table.matmul_bf16 = matmul_tile<Pairs, PackBf16Pairs>;
}

}  // namespace isa::kernels
