// Conversions between number formats, transpositions; for isa/kernels/target_*.cpp only (see body_math.h).
#pragma once

#include <type_traits>

#include "isa/kernels/accesses.h"
#include "isa/kernels/body_math.h"
#include "isa/kernels/body_random.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

/// Numbers that a vector of the target holds, and as many halves.
template <class Wide>
struct Lanes {
  static constexpr std::size_t kCount = sizeof(typename Wide::Vector) / 4;
  using Words [[gnu::vector_size(kCount * 4)]] = std::uint32_t;
  using Halves [[gnu::vector_size(kCount * 2)]] = std::uint16_t;
};

/// Row `row` of an array whose rows are `stride` bytes apart.
template <class T>
inline T* row_of(T* first, std::int64_t stride, std::size_t row) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + static_cast<std::int64_t>(row) * stride);
}
template <class T>
inline void reads_rows_of(const T* first, std::int64_t stride, const Rows& rows) {
  reads_rows(reinterpret_cast<const std::byte*>(first), stride, static_cast<int>(rows.count),
             static_cast<int>(rows.n * sizeof(T)));
}

template <class T>
inline void writes_rows_of(T* first, std::int64_t stride, const Rows& rows) {
  writes_rows(reinterpret_cast<std::byte*>(first), stride, static_cast<int>(rows.count),
              static_cast<int>(rows.n * sizeof(T)));
}

template <class Wide>
void from_bf16_loop(const std::uint16_t* in, float* out, const Rows& rows) {
  using Of = Lanes<Wide>;
  reads_rows_of(in, rows.in_stride, rows);
  writes_rows_of(out, rows.out_stride, rows);
  const auto [count, n, in_stride, out_stride] = rows;  // what `out` does not change
  for (std::size_t r = 0; r < count; ++r) {
    const Half* from = row_of(in, in_stride, r);
    float* to = row_of(out, out_stride, r);
    std::size_t i = 0;
    for (; i + Of::kCount <= n; i += Of::kCount) {
      const typename Of::Words words = Wide::widen(from + i) << 16;
      __builtin_memcpy(to + i, &words, sizeof(words));
    }
    for (; i < n; ++i) to[i] = float_of(static_cast<std::uint32_t>(from[i]) << 16);
  }
}

/// The exponent is moved by a multiplication, which makes subnormals normal and keeps every value exact.
void from_fp16_loop(const std::uint16_t* in, float* out, std::size_t n) {
  reads(in, n), writes(out, n);
  const Half* source = in;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t h = source[i];
    const std::uint32_t magnitude = (h & 0x7fffu) << 13;
    const float scaled = float_of(magnitude) * 0x1p112f;
    const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // infinite or NaN
    out[i] = float_of(bits_of(scaled) | special | (h & 0x8000u) << 16);
  }
}

inline std::uint32_t bf16_nearest(std::uint32_t bits) {
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (bits & 0x7fffffffu) > 0x7f800000u ? ((bits >> 16) & 0x8000u) | 0x7fc0u : rounded;
}
inline std::uint32_t bf16_stochastic(std::uint32_t bits, std::uint32_t random) {
  return (bits & 0x7f800000u) == 0x7f800000u ? bf16_nearest(bits) : (bits + random) >> 16;
}

/// The largest magnitude that cannot round to an infinity.
constexpr std::uint32_t kSafe = 0x7f800000u - 0x10000u;

/// out[i] = the upper half of in[i] + rounding, where rounding is below(bits, i, rounding): correct for numbers up to
/// kSafe. Raises `most` to the magnitudes met.
template <class Wide, class Below>
[[gnu::always_inline]] inline void to_bf16_row(const float* in, std::uint16_t* out, std::size_t n, const Below& below,
                                               typename Lanes<Wide>::Words& most) {
  using Of = Lanes<Wide>;
  using Words = typename Of::Words;
  Half* target = out;
  std::size_t i = 0;
  for (; i + Of::kCount <= n; i += Of::kCount) {
    Words bits;
    __builtin_memcpy(&bits, in + i, sizeof(bits));
    const Words magnitude = bits & 0x7fffffffu;
    most = magnitude > most ? magnitude : most;
    Words rounding;
    below(bits, i, rounding);
    const auto halves = __builtin_convertvector((bits + rounding) >> 16, typename Of::Halves);
    __builtin_memcpy(target + i, &halves, sizeof(halves));
  }
  for (; i < n; ++i) {
    const std::uint32_t bits = bits_of(in[i]);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    most[0] = magnitude > most[0] ? magnitude : most[0];
    std::uint32_t rounding;
    below(bits, i, rounding);
    target[i] = static_cast<std::uint16_t>((bits + rounding) >> 16);
  }
}
template <class Wide>
[[gnu::always_inline]] inline bool all_safe(const typename Lanes<Wide>::Words& most) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < Lanes<Wide>::kCount; ++i) largest = most[i] > largest ? most[i] : largest;
  return largest <= kSafe;
}

/// out[i] = safe(bits of in[i], i), which rounds any number: most arrays need it not, and the look at each number would
/// cost as much as its rounding. Returns whether a result is infinite or NaN.
template <class Safe>
bool to_bf16_safely(const float* in, std::uint16_t* out, std::size_t n, const Safe& safe) {
  Half* target = out;
  bool special = false;
  for (std::size_t i = 0; i < n; ++i) {
    target[i] = static_cast<std::uint16_t>(safe(bits_of(in[i]), i));
    special |= (target[i] & 0x7f80u) == 0x7f80u;
  }
  return special;
}

template <class Wide>
bool to_bf16_loop(const float* in, std::uint16_t* out, const Rows& rows) {
  reads_rows_of(in, rows.in_stride, rows);
  writes_rows_of(out, rows.out_stride, rows);
  const auto nearest = [](const auto& bits, std::size_t, auto& rounding) { rounding = 0x7fffu + ((bits >> 16) & 1u); };
  typename Lanes<Wide>::Words most{};
  for (std::size_t r = 0; r < rows.count; ++r)
    to_bf16_row<Wide>(row_of(in, rows.in_stride, r), row_of(out, rows.out_stride, r), rows.n, nearest, most);
  if (all_safe<Wide>(most)) return false;
  bool special = false;
  for (std::size_t r = 0; r < rows.count; ++r)
    special |= to_bf16_safely(row_of(in, rows.in_stride, r), row_of(out, rows.out_stride, r), rows.n,
                              [](std::uint32_t bits, std::size_t) { return bf16_nearest(bits); });
  return special;
}

/// Whether one of n numbers is not representable in bf16: its lower half is not zero.
template <class Wide>
[[gnu::always_inline]] inline bool inexact(const float* in, std::size_t n) {
  using Words = typename Lanes<Wide>::Words;
  constexpr std::size_t kAtOnce = 64;  // most rows that have one have it early
  std::size_t i = 0;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    Words all{};
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kAtOnce; j += Lanes<Wide>::kCount) {
      Words bits;
      __builtin_memcpy(&bits, in + i + j, sizeof(bits));
      all |= bits;
    }
    std::uint32_t any = 0;
    for (std::size_t l = 0; l < Lanes<Wide>::kCount; ++l) any |= all[l];
    if ((any & 0xffffu) != 0) return true;
  }
  std::uint32_t any = 0;
  for (; i < n; ++i) any |= bits_of(in[i]);
  return (any & 0xffffu) != 0;
}

/// Many numbers that training rounds are zero or already rounded: the gradients of padding, transposed tiles.
template <class Wide>
bool to_bf16_stochastic_loop(const float* in, const Draw& draw, std::uint16_t* out, const Rows& rows) {
  reads_rows_of(in, rows.in_stride, rows);
  writes_rows_of(out, rows.out_stride, rows);
  const auto needs = [&](std::size_t row, std::size_t count, std::size_t first, std::size_t n) {
    for (std::size_t r = row; r < row + count; ++r)
      if (inexact<Wide>(row_of(in, rows.in_stride, r) + first, n)) return true;
    return false;
  };
  typename Lanes<Wide>::Words most{};
  const auto round = [&](std::size_t row, std::size_t first, std::size_t n, const auto* random) {
    const auto drawn = [random](const auto& bits, std::size_t i, auto& rounding) __attribute__((always_inline)) {
      if constexpr (sizeof(bits) > 4)
        rounding = Wide::widen(random + i);
      else
        rounding = random[i];
    };
    to_bf16_row<Wide>(row_of(in, rows.in_stride, row) + first, row_of(out, rows.out_stride, row) + first, n, drawn,
                      most);
  };
  for_drawn<Wide>(draw, rows.count, rows.n, needs, round);
  if (all_safe<Wide>(most)) return false;
  bool special = false;
  for_drawn<Wide>(
      draw, rows.count, rows.n, needs, [&](std::size_t row, std::size_t first, std::size_t n, const auto* random) {
        special |=
            to_bf16_safely(row_of(in, rows.in_stride, row) + first, row_of(out, rows.out_stride, row) + first, n,
                           [random](std::uint32_t bits, std::size_t i) { return bf16_stochastic(bits, random[i]); });
      });
  return special;
}

/// Normal results by integer rounding; subnormal ones by adding 0.5, whose unit in the last place is theirs.
bool to_fp16_loop(const float* in, std::uint16_t* out, std::size_t n) {
  reads(in, n), writes(out, n);
  Half* target = out;
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = bits_of(in[i]);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t is_subnormal = 0u - static_cast<std::uint32_t>(magnitude < 0x38800000u);  // all ones or none
    std::uint32_t value = (subnormal & is_subnormal) | (normal & ~is_subnormal);
    value = magnitude >= 0x477ff000u ? 0x7c00u : value;  // rounds to 65536 or more
    value = magnitude > 0x7f800000u ? 0x7e00u : value;
    largest = value > largest ? value : largest;
    target[i] = static_cast<std::uint16_t>(sign | value);
  }
  return largest >= 0x7c00u;
}
/// IEEE-like bytes (isa/dtype.cpp), with to_fp16_loop's two paths.
template <int kExponent, int kMantissa>
void to_fp8_loop(const float* in, std::uint8_t* out, std::size_t n) {
  reads(in, n), writes(out, n);
  constexpr std::uint32_t kBias = (1u << (kExponent - 1)) - 1, kDrop = 23 - kMantissa;
  constexpr std::uint32_t kInfinity = ((1u << kExponent) - 1) << kMantissa;
  constexpr std::uint32_t kSmallest = (128 - kBias) << 23;       // bits of the smallest normal value
  constexpr std::uint32_t kMagic = (128 - kBias + kDrop) << 23;  // one ulp is the smallest subnormal value
  constexpr std::uint32_t kRound = (1u << (kDrop - 1)) - 1, kOffset = (127 - kBias) << 23;
  using Byte [[gnu::may_alias]] = std::uint8_t;
  Byte* target = out;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = bits_of(in[i]);
    const std::uint32_t sign = (bits >> 24) & 0x80u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t normal = (magnitude - kOffset + kRound + ((magnitude >> kDrop) & 1u)) >> kDrop;
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + float_of(kMagic)) - kMagic;
    std::uint32_t value = magnitude < kSmallest ? subnormal : normal;
    value = value >= kInfinity || magnitude >= 0x7f800000u ? kInfinity : value;
    value = magnitude > 0x7f800000u ? kInfinity | 1u << (kMantissa - 1) : value;
    target[i] = static_cast<std::uint8_t>(sign | value);
  }
}
void to_tf32_loop(const float* in, float* out, std::size_t n) {
  reads(in, n), writes(out, n);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = bits_of(in[i]);
    const std::uint32_t rounded = (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    out[i] = float_of(nan ? (bits & 0x80000000u) | 0x7fc00000u : rounded);
  }
}

/// Rows of kCount vectors: all of one are read before it is written.
template <class Vector, int kCount>
void copy_vectors(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                  std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r, in += in_stride, out += out_stride) {
    Vector row[kCount];
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) __builtin_memcpy(&row[v], in + v * sizeof(Vector), sizeof(Vector));
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) __builtin_memcpy(out + v * sizeof(Vector), &row[v], sizeof(Vector));
  }
}

template <class Wide>
void copy_rows_loop(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                    std::size_t rows, std::size_t bytes) {
  reads_rows(in, in_stride, static_cast<int>(rows), static_cast<int>(bytes));
  writes_rows(out, out_stride, static_cast<int>(rows), static_cast<int>(bytes));
  using Vector = typename Wide::Vector;
  switch (bytes) {  // of 64 and 128 numbers, which short rows have
    case 128: return copy_vectors<Vector, 128 / sizeof(Vector)>(in, in_stride, out, out_stride, rows);
    case 256: return copy_vectors<Vector, 256 / sizeof(Vector)>(in, in_stride, out, out_stride, rows);
    case 512: return copy_vectors<Vector, 512 / sizeof(Vector)>(in, in_stride, out, out_stride, rows);
    default: break;
  }
  for (std::size_t r = 0; r < rows; ++r, in += in_stride, out += out_stride) __builtin_memmove(out, in, bytes);
}

/// out[i] = of a and b, one after the other, element mask[i].
template <class Vector>
inline void shuffle(const Vector& a, const Vector& b, const Vector& mask, Vector& out) {
#ifdef __clang__  // which has no shuffle by a mask
  constexpr int kN = sizeof(Vector) / sizeof(a[0]);
  for (int i = 0; i < kN; ++i) out[i] = mask[i] < kN ? a[mask[i]] : b[mask[i] - kN];
#else
  out = __builtin_shuffle(a, b, mask);
#endif
}

/// Transposes an n x n square held in n vectors: log2(n) perfect shuffles of the rows i and i + n/2.
template <class Element, int kN>
void transpose_square(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride) {
  using Vector [[gnu::vector_size(sizeof(Element) * kN)]] = Element;
  Vector low, high;
  for (int i = 0; i < kN / 2; ++i) {
    low[2 * i] = static_cast<Element>(i), low[2 * i + 1] = static_cast<Element>(kN + i);
    high[2 * i] = static_cast<Element>(kN / 2 + i), high[2 * i + 1] = static_cast<Element>(kN + kN / 2 + i);
  }
  Vector rows[kN], mixed[kN];
  for (int i = 0; i < kN; ++i) __builtin_memcpy(&rows[i], in + i * in_stride, sizeof(Vector));
#pragma GCC unroll 4
  for (int stage = 1; stage < kN; stage *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < kN / 2; ++i) {
      shuffle(rows[i], rows[i + kN / 2], low, mixed[2 * i]);
      shuffle(rows[i], rows[i + kN / 2], high, mixed[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) rows[i] = mixed[i];
  }
  for (int i = 0; i < kN; ++i) __builtin_memcpy(out + i * out_stride, &rows[i], sizeof(Vector));
}

template <class Element, int kN>
void transpose_loop(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride, int rows,
                    int cols) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Element));
  reads_rows(in, in_stride, rows, cols * static_cast<int>(kSize));
  writes_rows(out, out_stride, cols, rows * static_cast<int>(kSize));
  const auto one = [&](int r, int c) {
    __builtin_memcpy(out + c * out_stride + r * kSize, in + r * in_stride + c * kSize, sizeof(Element));
  };
  const int full_rows = rows / kN * kN, full_cols = cols / kN * kN;
  for (int r = 0; r < full_rows; r += kN)
    for (int c = 0; c < full_cols; c += kN)
      transpose_square<Element, kN>(in + r * in_stride + c * kSize, in_stride, out + c * out_stride + r * kSize,
                                    out_stride);
  for (int r = 0; r < full_rows; ++r)
    for (int c = full_cols; c < cols; ++c) one(r, c);
  for (int r = full_rows; r < rows; ++r)
    for (int c = 0; c < cols; ++c) one(r, c);
}

template <class Bits>
bool special_loop(const Bits* in, const Rows& rows, Bits exponent) {
  reads_rows_of(in, rows.in_stride, rows);
  using Any [[gnu::may_alias]] = Bits;
  Bits most = 0;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const Any* bits = row_of(in, rows.in_stride, r);
    for (std::size_t i = 0; i < rows.n; ++i) {
      const Bits one = bits[i] & exponent;
      most = one > most ? one : most;
    }
  }
  return most == exponent;
}

template <class Wide>
void fill_convert(Kernels& table) {
  fill_random<Wide>(table);
  table.from_bf16 = from_bf16_loop<Wide>;
  table.from_fp16 = from_fp16_loop;
  table.to_bf16 = to_bf16_loop<Wide>;
  table.to_fp16 = to_fp16_loop;
  table.to_fp8 = {to_fp8_loop<4, 3>, to_fp8_loop<5, 2>, to_fp8_loop<3, 4>};
  table.to_tf32 = to_tf32_loop;
  table.to_bf16_stochastic = to_bf16_stochastic_loop<Wide>;
  table.copy_rows = copy_rows_loop<Wide>;
  table.special16 = special_loop<std::uint16_t>;
  table.special32 = special_loop<std::uint32_t>;
  table.transpose16 = transpose_loop<std::uint16_t, 16>;
  table.transpose32 = transpose_loop<std::uint32_t, 8>;
}

}  // namespace
}  // namespace isa::kernels
