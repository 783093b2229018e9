// Conversions between number formats and random bits; for isa/kernels/target_*.cpp only (see body_math.h).
#pragma once

#include "isa/kernels/accesses.h"
#include "isa/kernels/body_math.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

void from_bf16_loop(const std::uint16_t* in, float* out, std::size_t n) {
  reads(in, n), writes(out, n);
  const Half* source = in;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = float_of(static_cast<std::uint32_t>(source[i]) << 16);
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

/// target[i] = fast(i), which is right for numbers that cannot round to an infinity. When there are others, all by
/// `safe`: most blocks have none, and the look at each number would cost as much as its rounding.
template <class Fast, class Safe>
[[gnu::always_inline]] inline bool to_bf16_numbers(const float* in, std::uint16_t* out, std::size_t n, Fast fast,
                                                   Safe safe) {
  constexpr std::uint32_t kLargest = 0x7f800000u - 0x10000u;
  reads(in, n), writes(out, n);
  Half* target = out;
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = bits_of(in[i]), magnitude = bits & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
    target[i] = static_cast<std::uint16_t>(fast(bits, i));
  }
  if (largest <= kLargest) return false;
  bool special = false;
  for (std::size_t i = 0; i < n; ++i) {
    target[i] = static_cast<std::uint16_t>(safe(bits_of(in[i]), i));
    special |= (target[i] & 0x7f80u) == 0x7f80u;
  }
  return special;
}
bool to_bf16_loop(const float* in, std::uint16_t* out, std::size_t n) {
  return to_bf16_numbers(
      in, out, n, [](std::uint32_t bits, std::size_t) { return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16; },
      [](std::uint32_t bits, std::size_t) { return bf16_nearest(bits); });
}
bool to_bf16_stochastic_loop(const float* in, const std::uint16_t* random, std::uint16_t* out, std::size_t n) {
  reads(random, n);
  const Half* bits16 = random;
  return to_bf16_numbers(
      in, out, n, [&](std::uint32_t bits, std::size_t i) { return (bits + bits16[i]) >> 16; },
      [&](std::uint32_t bits, std::size_t i) { return bf16_stochastic(bits, bits16[i]); });
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

/// Philox4x32-7 (base/philox.h) for 16 counters at once: lane l of block b is counter word 16*b + l. Lanes 0-7 yield
/// the first 64 elements: words 0 and 1 of each lane, then words 2 and 3 of each; lanes 8-15 the others. Words lie in
/// 64-bit lanes whose upper halves are arbitrary: Wide::multiply takes the lower halves.
template <class Wide>
void random_block_loop(const Stream& stream, std::uint32_t row, std::uint32_t block, std::uint16_t* out) {
  writes(out, 128);
  using Vector = typename Wide::Vector;
  constexpr int kLanes = sizeof(Vector) / 8, kVectors = 16 / kLanes;
  Vector c0[kVectors], c1[kVectors], c2[kVectors], c3[kVectors];
  for (int v = 0; v < kVectors; ++v)
    for (int l = 0; l < kLanes; ++l) {
      c0[v][l] = 16 * block + static_cast<std::uint32_t>(v * kLanes + l);
      c1[v][l] = row;
      c2[v][l] = stream.nonce[0];
      c3[v][l] = stream.nonce[1];
    }
  std::uint32_t key0 = stream.key[0], key1 = stream.key[1];
#pragma GCC unroll 7
  for (int round = 0; round < 7; ++round) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Vector p0 = Wide::multiply(c0[v], Vector{} + std::uint64_t{0xD2511F53});
      const Vector p1 = Wide::multiply(c2[v], Vector{} + std::uint64_t{0xCD9E8D57});
      c0[v] = (p1 >> 32) ^ c1[v] ^ (Vector{} + key0);
      c1[v] = p1;
      c2[v] = (p0 >> 32) ^ c3[v] ^ (Vector{} + key1);
      c3[v] = p0;
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const Vector low = (c0[v] & 0xffffffffu) | c1[v] << 32, high = (c2[v] & 0xffffffffu) | c3[v] << 32;
    std::uint16_t* lanes = out + v * kLanes / 8 * 64 + v * kLanes % 8 * 4;
    __builtin_memcpy(lanes, &low, sizeof(Vector));
    __builtin_memcpy(lanes + 32, &high, sizeof(Vector));
  }
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
bool special_loop(const Bits* in, std::size_t n, Bits exponent) {
  reads(in, n);
  using Any [[gnu::may_alias]] = Bits;
  const Any* bits = in;
  Bits most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Bits one = bits[i] & exponent;
    most = one > most ? one : most;
  }
  return most == exponent;
}

template <class Wide>
void fill_convert(Kernels& table) {
  table.from_bf16 = from_bf16_loop;
  table.from_fp16 = from_fp16_loop;
  table.to_bf16 = to_bf16_loop;
  table.to_fp16 = to_fp16_loop;
  table.to_fp8 = {to_fp8_loop<4, 3>, to_fp8_loop<5, 2>, to_fp8_loop<3, 4>};
  table.to_tf32 = to_tf32_loop;
  table.to_bf16_stochastic = to_bf16_stochastic_loop;
  table.random_block = random_block_loop<Wide>;
  table.special16 = special_loop<std::uint16_t>;
  table.special32 = special_loop<std::uint32_t>;
  table.transpose16 = transpose_loop<std::uint16_t, 16>;
  table.transpose32 = transpose_loop<std::uint32_t, 8>;
}

}  // namespace
}  // namespace isa::kernels
