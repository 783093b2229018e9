// AVX-512 BF16: Intel from Cooper Lake, AMD from Zen 4. VDPBF16PS adds two products to a sum, the upper halves' first,
// each with one rounding and without subnormal numbers (Intel SDM): two steps of one chain, if its operands are paired
// so.
#include "isa/kernels/simd_avx512.h"

namespace isa::kernels {
namespace {

struct Avx512Bf16 : Avx512 {
  static constexpr int kRows = 2;  // 8 sums each of the even, the odd and all, 4 columns, 1 scalar of 32 registers
  static __m512 multiply_add(__m512 a, __m512 b, __m512 sum) {
    // Not the intrinsic: GCC 12 sends its operands, vectors of another type, through memory.
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
};

/// Like EvenOdd, the two chains side by side: nothing but the result leaves the registers.
struct EvenBesideOdd {
  template <class Simd>
  static void block(int k, const std::uint32_t* a, const std::uint32_t* b, const Target<Simd>& to) {
    constexpr int kRows = Simd::kRows, kVectors = Simd::kVectors;
    __m512 total[kRows][kVectors];
    for (auto& row : total)
      for (auto& vector : row) vector = Simd::zero();
    for (int first = 0; first < k; first += kGroup) {
      const int steps = PackGroupPairs::steps(k - first);
      __m512 even[kRows][kVectors], odd[kRows][kVectors];
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) even[r][v] = odd[r][v] = Simd::zero();
      for (int i = 0; i < steps; ++i, a += kStationaryStride, b += Packed<Simd>::kColumns) {
        add_products<Simd>(a, b, even);
        add_products<Simd>(a + steps * kStationaryStride, b + steps * Packed<Simd>::kColumns, odd);
      }
      a += steps * kStationaryStride, b += steps * Packed<Simd>::kColumns;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) total[r][v] = Simd::add(total[r][v], Simd::add(even[r][v], odd[r][v]));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) to.put(r, v, total[r][v]);
  }
};

void matmul_bf16(const MatMul& args) {
  const FlushSubnormals flush;  // of the sums of chains and groups: VDPBF16PS does so by itself
  matmul_tile<Avx512Bf16, EvenBesideOdd, PackGroupPairs>(args);
}

/// Whether this host's VDPBF16PS adds as the manual says. Not taken on trust: a host that adds otherwise would silently
/// train to other numbers.
bool adds_as_defined() {
  const FlushSubnormals flush;
  std::uint32_t state = 1;
  const auto draw = [&] {  // pairs of numbers of 2^-7 to 2: near enough to each other for their order to tell
    alignas(64) std::uint32_t lanes[Avx512::kWidth];
    for (std::uint32_t& lane : lanes) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      lane = (state & 0x83ff83ffu) | 0x3c003c00u;
    }
    return Avx512::load_operand(lanes);
  };
  const auto upper = [](__m512 v) { return _mm512_and_ps(v, Avx512::broadcast(0xffff0000u)); };
  const auto lower = [](__m512 v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(v), 16)); };
  for (int i = 0; i < 256; ++i) {
    const __m512 a = draw(), b = draw(), before = draw();
    const __m512 first = Avx512::multiply_add(upper(a), upper(b), before);
    const __m512 wanted = Avx512::multiply_add(lower(a), lower(b), first);
    const __m512 given = Avx512Bf16::multiply_add(a, b, before);
    if (_mm512_cmpneq_epi32_mask(_mm512_castps_si512(wanted), _mm512_castps_si512(given)) != 0) return false;
  }
  return true;
}

}  // namespace

void add_avx512bf16(Kernels& table) {
  if (adds_as_defined()) table.matmul_bf16 = matmul_bf16;
}

}  // namespace isa::kernels
