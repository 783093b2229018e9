// AVX-512 F, BW, DQ, VL: Intel from Skylake-SP, AMD from Zen 4.
#include <immintrin.h>

#include "isa/kernels/body_convert.h"
#include "isa/kernels/body_elementwise.h"
#include "isa/kernels/simd_avx512.h"

namespace isa::kernels {
namespace {

struct Avx512Chains : Avx512 {
  static constexpr int kRows = 2;  // 8 sums each of the even, the odd and all, 4 columns, 1 scalar of 32 registers
  static __m512 multiply_add(__m512 a, __m512 b, __m512 sum) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));  // of the intrinsic GCC keeps operands in memory
    return sum;
  }
};

/// Products of the lower halves of 64-bit lanes, and numbers of 16 bits as of 32. All lanes are selected by a mask,
/// because GCC 12 warns of the plain intrinsics.
struct Wide {
  using Vector [[gnu::vector_size(64)]] = std::uint64_t;
  static Vector multiply(Vector a, Vector b) { return (Vector)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b); }
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Halves [[gnu::vector_size(64)]] = Half;
  static Words widen(const Half* p) {
    return (Words)_mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
};

void matmul_bf16(const MatMul& args) {
  const FlushSubnormals flush;
  matmul_tile<Avx512Chains, EvenBesideOdd<PackGroups<Wide>>, PackGroups<Wide>>(args);
}

}  // namespace

Kernels avx512_table() {
  Kernels table;
  table.level = Level::kAvx512;
  fill_elementwise(table);
  fill_convert<Wide>(table);
  table.matmul_bf16 = matmul_bf16;
  table.matmul_fp32 = matmul_tile<Avx512, InOrder, PackFp32>;
  return table;
}

}  // namespace isa::kernels
