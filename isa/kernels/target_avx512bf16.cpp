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

constexpr int kHalves = 32;  // of a vector

/// Places in the lower row and, from kHalves on, in the upper one: one of each in turn.
struct Interleaved {
  alignas(64) std::uint16_t places[2][kHalves];
  constexpr Interleaved() : places{} {
    for (int i = 0; i < 2 * kHalves; ++i)
      places[i / kHalves][i % kHalves] = static_cast<std::uint16_t>(i / 2 + i % 2 * kHalves);
  }
};
constexpr Interleaved kInterleaved;

/// Pairs of bf16 numbers that follow each other in a chain, the first in the upper half, which VDPBF16PS adds first;
/// otherwise as PackGroups. An odd last step is paired with zeros.
struct PackGroupPairs {
  static constexpr int kBytes = 2;
  /// Steps of the chain of even k; that of odd k has as many, filled up with zeros.
  static int steps(int left) { return (chain_steps(left, 0) + 1) / 2; }
  static int rows(int k) { return k / kGroup * kGroup / 2 + (k % kGroup > 0 ? 2 * steps(k % kGroup) : 0); }
  static Seen pack(const PackRows& from, const PackTo& to) {
    const auto [in, in_stride, k, used] = from;
    auto [out, stride, width] = to;
    Magnitudes met;
    Seen seen;
    for (int first = 0; first < k; first += kGroup) {
      met.most = _mm512_setzero_si512();
      for (int parity = 0; parity < 2; ++parity)
        for (int i = 0, count = steps(k - first); i < count; ++i, out += stride) {
          const int row = first + 4 * i + parity;
          const std::byte* upper = row < k ? in + row * in_stride : nullptr;
          const std::byte* lower = row + 2 < k ? in + (row + 2) * in_stride : nullptr;
          pack_rows(upper, lower, used, out, met);
          for (int j = used; j < width; ++j) out[j] = 0;
        }
      seen.add_group(first / kGroup, largest(met.most));
    }
    seen.subnormal = _mm512_cmplt_epu16_mask(met.least, _mm512_set1_epi16(kLargestSubnormal)) != 0;
    return seen;
  }

 private:
  static constexpr short kLargestSubnormal = 0x7f;

  struct Magnitudes {
    __m512i least = _mm512_set1_epi16(-1);  // of the numbers' magnitudes less one, which makes a zero the largest
    __m512i most = _mm512_setzero_si512();  // of a group's magnitudes
  };

  static std::uint32_t largest(__m512i halves) {
    const __m512i lower = _mm512_and_si512(halves, _mm512_set1_epi32(0xffff));
    return _mm512_reduce_max_epu32(_mm512_max_epu32(lower, _mm512_srli_epi32(halves, 16)));
  }
  /// Null: zeros.
  static __m512i load(const std::byte* row, int first, int n) {
    if (!row) return _mm512_setzero_si512();
    const __mmask32 some = n < kHalves ? (1u << n) - 1 : ~0u;
    return _mm512_maskz_loadu_epi16(some, row + first * kBytes);
  }
  static void pack_rows(const std::byte* upper, const std::byte* lower, int used, std::uint32_t* out, Magnitudes& met) {
    const __m512i sign = _mm512_set1_epi16(static_cast<short>(0x8000)), one = _mm512_set1_epi16(1);
    const __m512i low = _mm512_load_si512(kInterleaved.places[0]), high = _mm512_load_si512(kInterleaved.places[1]);
    for (int j = 0; j < used; j += kHalves) {
      const __m512i u = load(upper, j, used - j), l = load(lower, j, used - j);
      for (const __m512i numbers : {u, l}) {
        const __m512i magnitudes = _mm512_andnot_si512(sign, numbers);
        met.least = _mm512_min_epu16(met.least, _mm512_sub_epi16(magnitudes, one));
        met.most = _mm512_max_epu16(met.most, magnitudes);
      }
      _mm512_storeu_si512(out + j, _mm512_permutex2var_epi16(l, low, u));
      _mm512_storeu_si512(out + j + kHalves / 2, _mm512_permutex2var_epi16(l, high, u));
    }
  }
};

void matmul_bf16(const MatMul& args) {
  const FlushSubnormals flush;  // of the sums of chains and groups: VDPBF16PS does so by itself
  matmul_tile<Avx512Bf16, EvenBesideOdd<PackGroupPairs>, PackGroupPairs>(args);
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
