// The matmul tile: operands packed into panels of fp32 elements, then register blocks of kRows x kVectors vectors.
// For isa/kernels/target_*.cpp only (see body_math.h). A Simd policy says with which vectors; a Sum policy in which
// order products are added, which kernels.h defines.
#pragma once

#include "isa/kernels/accesses.h"
#include "isa/kernels/body_math.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

/// Packed stationary: element (k, m) at [k * kStationaryStride + m]; the padding keeps the rows of a register block out
/// of one set of the host's cache.
constexpr int kStationaryStride = kMaxM + 16;
constexpr int kGroup = 32;  // rows of k that are added up by themselves; their zeros fill the last group

template <class Simd>
struct Packed {
  static constexpr int kColumns = Simd::kVectors * Simd::kWidth;  // of one panel
  alignas(64) std::uint32_t stationary[kMaxK * kStationaryStride];
  alignas(64) std::uint32_t moving[kMaxK * kColumns];
};

/// Prefetches `bytes` of each of `rows` rows, which are too far apart for the host's prefetcher.
inline void prefetch_rows(const void* first, std::int64_t stride, int rows, int bytes) {
  const std::byte* row = static_cast<const std::byte*>(first);
  for (int r = 0; r < rows; ++r, row += stride)
    for (int line = 0; line < bytes; line += 64) __builtin_prefetch(row + line);
}

#ifdef __SSE__
/// x86 without subnormal numbers, in operands (DAZ) and results (FTZ), as long as it lives.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_{__builtin_ia32_stmxcsr()} { __builtin_ia32_ldmxcsr(before_ | 0x8040u); }
  ~FlushSubnormals() { __builtin_ia32_ldmxcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned before_;
};
#endif

/// A NaN as TensorE gives it: hosts differ in sign and payload.
inline float canonical_nan(float x) { return x != x ? float_of(0x7fc00000u) : x; }

/// Steps of the chain of even (0) or odd (1) k in a group that begins `left` before the end. One that is not full has a
/// product of zeros at its end, as if it were filled with them: what adds up to -0 becomes +0.
inline int chain_steps(int left, int parity) {
  const int mine = (left + 1 - parity) / 2;
  return mine < kGroup / 2 ? mine + 1 : kGroup / 2;
}

/// The sums of one register block.
template <class Simd>
using Sums = typename Simd::Vector[Simd::kRows][Simd::kVectors];

/// sum[r][v] += a[r] * b[v], as Simd multiplies.
template <class Simd>
[[gnu::always_inline]] inline void add_products(const std::uint32_t* a, const std::uint32_t* b, Sums<Simd>& sum) {
  typename Simd::Vector column[Simd::kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < Simd::kVectors; ++v) column[v] = Simd::load_operand(b + v * Simd::kWidth);
#pragma GCC unroll 8
  for (int r = 0; r < Simd::kRows; ++r) {
    const auto scalar = Simd::broadcast(a[r]);
#pragma GCC unroll 8
    for (int v = 0; v < Simd::kVectors; ++v) sum[r][v] = Simd::multiply_add(scalar, column[v], sum[r][v]);
  }
}

/// The destination of one register block: accumulated or overwritten.
template <class Simd>
struct Target {
  float* c;
  std::int64_t stride;
  bool accumulate;
  int rows;  // of the block that there are

  void put(const Sums<Simd>& sums) const {
#pragma GCC unroll 8
    for (int r = 0; r < Simd::kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < Simd::kVectors; ++v) put(r, v, sums[r][v]);
  }

 private:
  void put(int r, int v, typename Simd::Vector sum) const {
    if (r >= rows) return;
    float* to = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(c) + r * stride) + v * Simd::kWidth;
    Simd::store(to, Simd::canonical_nan(accumulate ? Simd::add(Simd::load(to), sum) : sum));
  }
};

/// Zeros that a packer found. A packer that does not look reports none. Groups of kGroup rows by bit.
struct Seen {
  bool subnormal = true;      // one may be
  std::uint32_t zero = 0;     // groups that hold zeros alone
  std::uint32_t special = 0;  // groups with a number that is infinite or NaN

  /// The largest magnitude of group `index`.
  void add_group(int index, std::uint32_t most) {
    zero |= static_cast<std::uint32_t>(most == 0) << index;
    special |= static_cast<std::uint32_t>(most >= 0x7f80u) << index;
  }
  /// Groups whose products with those of `other` are all zero.
  std::uint32_t empty(const Seen& other) const { return (zero & ~other.special) | (other.zero & ~special); }
};

template <class Simd>
[[gnu::always_inline]] inline void clear(Sums<Simd>& sums) {
  for (auto& row : sums)
    for (auto& sum : row) sum = Simd::zero();
}

/// fp32: one chain in order of k.
struct InOrder {
  template <class Simd>
  static void block(int k, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t, const Target<Simd>& to) {
    Sums<Simd> sums;
    clear<Simd>(sums);
    for (int i = 0; i < k; ++i, a += kStationaryStride, b += Packed<Simd>::kColumns) add_products<Simd>(a, b, sums);
    to.put(sums);
  }
};

/// bf16: see kernels.h. Operands as Packer leaves them: PackGroups, or PackGroupPairs of target_avx512bf16.cpp. The two
/// chains of a group run side by side: little but the result leaves the registers, and a host waits for stores. Chains
/// of zeros, which the gradients of padding are full of, are not computed: +0 is added.
template <class Packer>
struct EvenBesideOdd {
  template <class Simd>
  static void block(int k, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t empty,
                    const Target<Simd>& to) {
    constexpr int kColumns = Packed<Simd>::kColumns;
    Sums<Simd> total;
    clear<Simd>(total);
    for (int first = 0; first < k; first += kGroup, empty >>= 1) {
      const int steps = Packer::steps(k - first);
      Sums<Simd> even, odd;
      clear<Simd>(even), clear<Simd>(odd);
      const int computed = (empty & 1u) != 0 ? 0 : steps;
#pragma GCC unroll 1  // unrolled, the sums do not stay in registers
      for (int i = 0; i < computed; ++i, a += kStationaryStride, b += kColumns) {
        add_products<Simd>(a, b, even);
        add_products<Simd>(a + steps * kStationaryStride, b + steps * kColumns, odd);
      }
      a += (2 * steps - computed) * kStationaryStride, b += (2 * steps - computed) * kColumns;
#pragma GCC unroll 8
      for (int r = 0; r < Simd::kRows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < Simd::kVectors; ++v) total[r][v] = Simd::add(total[r][v], Simd::add(even[r][v], odd[r][v]));
    }
    to.put(total);
  }
};

/// One register block: c[kRows][kColumns] = sum over k of a[k][row] * b[k][column], then added or stored. `empty`: the
/// groups whose products are all zero.
template <class Simd, class Sum>
void register_block(int k, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t empty,
                    const Target<Simd>& to) {
  prefetch_rows(to.c, to.stride, to.rows, Packed<Simd>::kColumns * 4);
  Sum::template block<Simd>(k, a, b, empty, to);
}

/// A panel that is not full goes through a buffer.
template <class Simd, class Sum>
void edge_block(int k, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t empty, const Target<Simd>& to,
                int columns) {
  alignas(64) float block[Simd::kRows][Packed<Simd>::kColumns] = {};
  const auto row = [&](int r) { return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(to.c) + r * to.stride); };
  for (int r = 0; r < to.rows && to.accumulate; ++r)
    for (int i = 0; i < columns; ++i) block[r][i] = row(r)[i];
  register_block<Simd, Sum>(k, a, b, empty, {block[0], sizeof(block[0]), to.accumulate, to.rows});
  for (int r = 0; r < to.rows; ++r)
    for (int i = 0; i < columns; ++i) row(r)[i] = block[r][i];
}

/// The memory of a call, operands of `bytes` an element.
inline void accesses(const MatMul& args, int bytes) {
  reads_rows(args.a, args.a_stride, args.k, args.m * bytes);
  reads_rows(args.b, args.b_stride, args.k, args.n * bytes);
  writes_rows(reinterpret_cast<std::byte*>(args.c), args.c_stride, args.m, args.n * 4);
}

/// How many of `rows` rows of packed bf16 numbers are subnormal, at most 2^15 numbers.
inline std::size_t subnormal(const std::uint32_t* packed, int rows, int width, int stride) {
  std::uint16_t count = 0;  // of the numbers' own size, so that vectors are full
  for (int i = 0; i < rows; ++i) {
    const Half* row = reinterpret_cast<const Half*>(packed + i * stride);
    for (int j = 0; j < 2 * width; ++j)
      count = static_cast<std::uint16_t>(count + (static_cast<std::uint16_t>((row[j] & 0x7fff) - 1) < 0x7f));
  }
  return count;
}

/// `k` rows, `stride` bytes apart, of which the first `used` elements are packed.
struct PackRows {
  const std::byte* in;
  std::int64_t stride;
  int k, used;
};
/// Where to: rows `stride` elements apart, with zeros up to `width`.
struct PackTo {
  std::uint32_t* out;
  int stride, width;
};

/// Adds those of a panel of b, if it is this call's turn.
inline void count_panel(const MatMul& args, int panel, const std::uint32_t* packed, int rows, int width) {
  const int turn = panel % args.turns;
  if (args.flushed && turn >= args.turn && turn < args.turns_end)
    *args.flushed += subnormal(packed, rows, width, width);
}

template <class Simd, class Sum, class Packer>
[[gnu::noinline]] void matmul_tile(const MatMul& args) {
  accesses(args, Packer::kBytes);
  Packed<Simd> packed;
  constexpr int kColumns = Packed<Simd>::kColumns;
  const int blocks = (args.m + Simd::kRows - 1) / Simd::kRows, padded_rows = blocks * Simd::kRows;
  const Seen stationary =
      Packer::pack({args.a, args.a_stride, args.k, args.m}, {packed.stationary, kStationaryStride, padded_rows});
  if (stationary.subnormal && args.flushed && args.counts_a)
    *args.flushed += subnormal(packed.stationary, Packer::rows(args.k), padded_rows, kStationaryStride);
  for (int n = 0; n < args.n; n += kColumns) {
    const int columns = args.n - n < kColumns ? args.n - n : kColumns;
    const std::byte* panel = args.b + n * Packer::kBytes;
    const Seen moving = Packer::pack({panel, args.b_stride, args.k, columns}, {packed.moving, kColumns, kColumns});
    const std::uint32_t empty = moving.empty(stationary);
    if (moving.subnormal) count_panel(args, n / kColumns, packed.moving, Packer::rows(args.k), kColumns);
    const int ahead = n + 2 * kColumns <= args.n ? 2 * Simd::kRows : 0;  // rows of the next panel, block by block
    for (int block = 0; block < blocks; ++block) {
      const int m = (args.falling ? blocks - 1 - block : block) * Simd::kRows;
      const int next = 2 * m, left = args.k - next;
      if (left > 0)
        prefetch_rows(panel + kColumns * Packer::kBytes + next * args.b_stride, args.b_stride,
                      left < ahead ? left : ahead, kColumns * Packer::kBytes);
      const Target<Simd> to{reinterpret_cast<float*>(reinterpret_cast<std::byte*>(args.c) + m * args.c_stride) + n,
                            args.c_stride, args.accumulate, args.m - m < Simd::kRows ? args.m - m : Simd::kRows};
      if (columns == kColumns)
        register_block<Simd, Sum>(args.k, packed.stationary + m, packed.moving, empty, to);
      else
        edge_block<Simd, Sum>(args.k, packed.stationary + m, packed.moving, empty, to, columns);
    }
  }
}

/// Copies numbers as they are.
struct PackFp32 {
  static constexpr int kBytes = 4;
  static int rows(int k) { return k; }
  static Seen pack(const PackRows& from, const PackTo& to) {
    const auto [in, in_stride, k, used] = from;
    auto [out, stride, width] = to;
    for (int i = 0; i < k; ++i, out += stride) {
      __builtin_memcpy(out, in + i * in_stride, static_cast<std::size_t>(used) * 4);
      for (int j = used; j < width; ++j) out[j] = 0;
    }
    return {};
  }
};

/// bf16 numbers as the fp32 numbers they are, each group's rows of even k, then those of odd k: the steps of its
/// chains. Wide: how this host reads numbers of 16 bits as of 32.
template <class Wide>
struct PackGroups {
  static constexpr int kBytes = 2;
  static int steps(int left) { return chain_steps(left, 0); }
  static int rows(int k) { return k / kGroup * kGroup + (k % kGroup > 0 ? 2 * steps(k % kGroup) : 0); }
  static Seen pack(const PackRows& from, const PackTo& to) {
    const auto [in, in_stride, k, used] = from;
    auto [out, stride, width] = to;
    Seen seen;
    Magnitudes met;
    for (int first = 0; first < k; first += kGroup) {
      met.most = Halves{};
      for (int parity = 0; parity < 2; ++parity)
        for (int i = 0, count = steps(k - first); i < count; ++i, out += stride) {
          const int row = first + 2 * i + parity;
          pack_row(reinterpret_cast<const Half*>(in + row * in_stride), row < k ? used : 0, out, met);
          for (int j = row < k ? used : 0; j < width; ++j) out[j] = 0;
        }
      seen.add_group(first / kGroup, met.largest());
    }
    seen.subnormal = met.has_subnormal();
    return seen;
  }

 private:
  using Words = typename Wide::Words;
  using Halves = typename Wide::Halves;
  static constexpr int kWords = sizeof(Words) / 4, kHalves = 2 * kWords;

  struct Magnitudes {
    Halves least = Halves{} - 1;  // of the numbers' magnitudes less one, which makes a zero the largest
    Halves most = {};             // of a group's magnitudes

    [[gnu::always_inline]] void add(const Halves& numbers) {
      const Halves magnitudes = numbers & 0x7fff, less = magnitudes - 1;
      most = magnitudes > most ? magnitudes : most;
      least = less < least ? less : least;
    }
    std::uint32_t largest() const {
      std::uint32_t largest = 0;
      for (int i = 0; i < kHalves; ++i) largest = most[i] > largest ? most[i] : largest;
      return largest;
    }
    bool has_subnormal() const {
      bool some = false;
      for (int i = 0; i < kHalves; ++i) some |= least[i] < 0x7f;
      return some;
    }
  };

  [[gnu::always_inline]] static void pack_row(const Half* in, int used, std::uint32_t* out, Magnitudes& met) {
    int j = 0;
    for (; j + kHalves <= used; j += kHalves) {
      Halves numbers;
      __builtin_memcpy(&numbers, in + j, sizeof numbers);
      met.add(numbers);
      for (int part = j; part < j + kHalves; part += kWords) {
        const Words words = Wide::widen(in + part) << 16;
        __builtin_memcpy(out + part, &words, sizeof words);
      }
    }
    if (j == used) return;
    Halves numbers{};
    __builtin_memcpy(&numbers, in + j, static_cast<std::size_t>(used - j) * kBytes);
    met.add(numbers);
    for (; j < used; ++j) out[j] = static_cast<std::uint32_t>(in[j]) << 16;
  }
};

/// Pairs of bf16 numbers of rows 2i (lower half) and 2i + 1; an odd last row is paired with zeros.
struct PackBf16Pairs {
  static int steps(int k) { return (k + 1) / 2; }
  static void pack(const PackRows& from, const PackTo& to) {
    const auto [in, in_stride, k, used] = from;
    auto [out, stride, width] = to;
    for (int i = 0; i < k; i += 2, out += stride) {
      const Half* even = reinterpret_cast<const Half*>(in + i * in_stride);
      const Half* odd = reinterpret_cast<const Half*>(in + (i + 1) * in_stride);
      if (i + 1 < k)
        for (int j = 0; j < used; ++j) out[j] = even[j] | static_cast<std::uint32_t>(odd[j]) << 16;
      else
        for (int j = 0; j < used; ++j) out[j] = even[j];
      for (int j = used; j < width; ++j) out[j] = 0;
    }
  }
};

}  // namespace
}  // namespace isa::kernels
