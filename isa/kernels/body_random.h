// Random bits, Philox4x32-7 of base/philox.h, and the draws made from them; for isa/kernels/target_*.cpp only (see
// body_math.h).
#pragma once

#include "isa/kernels/accesses.h"
#include "isa/kernels/body_math.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

/// The 128 columns of a block, row by row. Lane l of 16 has counter word 16 * block + l; lanes 0-7 yield the first 64
/// columns (words 0 and 1 of each, then words 2 and 3 of each), lanes 8-15 the others. The row is word 1 of the
/// counter: of the seven rounds it changes no vector of the first two, which are computed once for all rows. Words are
/// in 64-bit lanes whose upper halves are arbitrary: Wide::multiply takes the lower halves.
template <class Wide>
class RandomRows {
 public:
  RandomRows(const Stream& stream, std::uint32_t block) : keys_{stream.key[0], stream.key[1]} {
    const std::uint64_t second = kFactor1 * stream.nonce[0];
    of_row_ = static_cast<std::uint32_t>(second >> 32) ^ keys_[0];
    next_keys();
    for (int v = 0; v < kVectors; ++v) {
      Vector places;
      for (int l = 0; l < kLanes; ++l) places[l] = 16 * block + static_cast<std::uint32_t>(v * kLanes + l);
      const Vector p0 = Wide::multiply(places, Vector{} + kFactor0);
      const Vector c2 = (p0 >> 32) ^ (Vector{} + (stream.nonce[1] ^ stream.key[1]));
      c1_[v] = Wide::multiply(c2, Vector{} + kFactor1);
      c0_[v] = (c1_[v] >> 32) ^ (Vector{} + (second ^ keys_[0]));
      c2_[v] = p0 ^ (Vector{} + keys_[1]);
    }
    next_keys();
  }

  /// The random bits of the first 64 columns of row `row`, or of all 128.
  template <bool kAll>
  [[gnu::always_inline]] void draw(std::uint32_t row, std::uint16_t* out) const {
    constexpr int kUsed = kAll ? kVectors : kVectors / 2;
    const std::uint64_t product = kFactor0 * (of_row_ ^ row);
    Vector c0[kUsed], c1[kUsed], c2[kUsed], c3[kUsed];
#pragma GCC unroll 8
    for (int v = 0; v < kUsed; ++v) {
      c0[v] = c0_[v], c1[v] = c1_[v];
      c2[v] = c2_[v] ^ (Vector{} + (product >> 32)), c3[v] = Vector{} + product;
    }
    std::uint32_t key0 = keys_[0], key1 = keys_[1];
#pragma GCC unroll 5
    for (int round = 2; round < 7; ++round, key0 += kStep0, key1 += kStep1) {
#pragma GCC unroll 8
      for (int v = 0; v < kUsed; ++v) {
        const Vector p0 = Wide::multiply(c0[v], Vector{} + kFactor0), p1 = Wide::multiply(c2[v], Vector{} + kFactor1);
        c0[v] = (p1 >> 32) ^ c1[v] ^ (Vector{} + key0);
        c1[v] = p1;
        c2[v] = (p0 >> 32) ^ c3[v] ^ (Vector{} + key1);
        c3[v] = p0;
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < kUsed; ++v) {
      const Vector low = (c0[v] & 0xffffffffu) | c1[v] << 32, high = (c2[v] & 0xffffffffu) | c3[v] << 32;
      std::uint16_t* lanes = out + v * kLanes / 8 * 64 + v * kLanes % 8 * 4;
      __builtin_memcpy(lanes, &low, sizeof(Vector));
      __builtin_memcpy(lanes + 32, &high, sizeof(Vector));
    }
  }

 private:
  using Vector = typename Wide::Vector;
  static constexpr int kLanes = sizeof(Vector) / 8, kVectors = 16 / kLanes;
  static constexpr std::uint64_t kFactor0 = 0xD2511F53, kFactor1 = 0xCD9E8D57;
  static constexpr std::uint32_t kStep0 = 0x9E3779B9, kStep1 = 0xBB67AE85;

  void next_keys() { keys_[0] += kStep0, keys_[1] += kStep1; }

  std::uint32_t keys_[2];
  std::uint32_t of_row_ = 0;                           // word 0 after a round, but for the row
  Vector c0_[kVectors], c1_[kVectors], c2_[kVectors];  // words after two rounds; word 2 but for the row's part
};

/// Numbers that are drawn before they are used: they stay in the host's first-level cache.
constexpr std::size_t kDrawn = 512;

/// The distance, in numbers, between rows drawn for rows of n.
constexpr std::size_t pitch_of(std::size_t n) { return (n + 63) / 64 * 64; }

/// The random bits of `rows` rows of n columns, pitch_of(n) apart.
template <class Wide>
void draw_rows(const Draw& draw, std::size_t rows, std::size_t n, std::uint16_t* out) {
  const std::size_t pitch = pitch_of(n);
  for (std::size_t first = 0; first < n; first += 128) {
    const RandomRows<Wide> block{draw.stream, (draw.first + static_cast<std::uint32_t>(first)) / 128};
    for (std::size_t r = 0; r < rows; ++r) {
      const std::uint32_t row = draw.row + static_cast<std::uint32_t>(r);
      if (n - first > 64)
        block.template draw<true>(row, out + r * pitch + first);
      else
        block.template draw<false>(row, out + r * pitch + first);
    }
  }
}

/// Calls body(row, first, n, random) for every row, or part of a long one, with its random bits, or with zeros where
/// needs(row, count, first, n) says of `count` rows that bits would change nothing.
template <class Wide, class Needs, class Body>
[[gnu::always_inline]] inline void for_drawn(const Draw& draw, std::size_t rows, std::size_t cols, const Needs& needs,
                                             const Body& body) {
  alignas(64) static constexpr std::uint16_t kZeros[kDrawn] = {};
  alignas(64) std::uint16_t random[kDrawn];
  const std::size_t pitch = pitch_of(cols < kDrawn ? cols : kDrawn), at_once = kDrawn / (pitch > 0 ? pitch : 64);
  for (std::size_t first = 0; first < cols; first += kDrawn) {
    const std::size_t n = cols - first < kDrawn ? cols - first : kDrawn;
    for (std::size_t r = 0; r < rows; r += at_once) {
      const std::size_t count = rows - r < at_once ? rows - r : at_once;
      const bool drawn = needs(r, count, first, n);
      if (drawn)
        draw_rows<Wide>(
            {draw.stream, draw.row + static_cast<std::uint32_t>(r), draw.first + static_cast<std::uint32_t>(first)},
            count, n, random);
      for (std::size_t i = 0; i < count; ++i) body(r + i, first, n, drawn ? random + i * pitch : kZeros);
    }
  }
}

template <class Wide>
void random_row_loop(const Draw& draw, std::size_t n, std::uint16_t* out) {
  writes(out, pitch_of(n));
  draw_rows<Wide>(draw, 1, n, out);
}

template <class Wide>
void dropout_loop(const float* a, const Draw& draw, const Dropout& drop, float* out, std::size_t rows,
                  std::size_t cols) {
  const auto [threshold, scale] = drop;
  reads(a, rows * cols), writes(out, rows * cols);
  const auto always = [](auto...) { return true; };
  for_drawn<Wide>(draw, rows, cols, always,
                  [&, threshold = threshold, scale = scale](std::size_t row, std::size_t first, std::size_t n,
                                                            const std::uint16_t* random) {
                    const float* from = a + row * cols + first;
                    float* to = out + row * cols + first;
#pragma GCC ivdep
                    for (std::size_t i = 0; i < n; ++i) to[i] = random[i] >= threshold ? from[i] * scale : 0.0f;
                  });
}

template <class Wide>
void fill_random(Kernels& table) {
  table.random_row = random_row_loop<Wide>;
  table.dropout = dropout_loop<Wide>;
}

}  // namespace
}  // namespace isa::kernels
