// The matmul tile: operands packed into panels of 32-bit elements, then register blocks of kRows x kVectors vectors.
// For isa/kernels/target_*.cpp only (see body_math.h). An element is one fp32 number, or two bf16 numbers of successive
// k on hosts that multiply pairs: a Simd policy says which, and with which vectors.
#pragma once

#include "isa/kernels/body_math.h"
#include "isa/kernels/kernels.h"

namespace isa::kernels {
namespace {

/// Packed stationary: element (k, m) at [k * kStationaryStride + m]; the padding keeps the rows of a register block out
/// of one set of the host's cache.
constexpr int kStationaryStride = kMaxM + 16;
constexpr int kMostRows = 8;  // of a register block: m is padded to a multiple

template <class Simd>
struct Packed {
  static constexpr int kColumns = Simd::kVectors * Simd::kWidth;  // of one panel
  alignas(64) std::uint32_t stationary[kMaxK * kStationaryStride];
  alignas(64) std::uint32_t moving[kMaxK * kColumns];
};

/// Asks for `bytes` of each of `rows` rows, which lie too far apart for the host to foresee.
inline void prefetch_rows(const void* first, std::int64_t stride, int rows, int bytes) {
  const std::byte* row = static_cast<const std::byte*>(first);
  for (int r = 0; r < rows; ++r, row += stride)
    for (int line = 0; line < bytes; line += 64) __builtin_prefetch(row + line);
}

/// One register block: c[kRows][kColumns] = sum over k of a[k][row] * b[k][column], then added or stored.
template <class Simd>
void register_block(int k, const std::uint32_t* a, const std::uint32_t* b, float* c, std::int64_t c_stride,
                    bool accumulate, int rows) {
  using Vector = typename Simd::Vector;
  prefetch_rows(c, c_stride, rows, Packed<Simd>::kColumns * 4);
  Vector sum[Simd::kRows][Simd::kVectors];
  for (auto& row : sum)
    for (auto& vector : row) vector = Simd::zero();
  for (int i = 0; i < k; ++i) {
    typename Simd::Operand column[Simd::kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < Simd::kVectors; ++v) column[v] = Simd::load_operand(b + v * Simd::kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < Simd::kRows; ++r) {
      const auto scalar = Simd::broadcast(a[r]);
#pragma GCC unroll 8
      for (int v = 0; v < Simd::kVectors; ++v) sum[r][v] = Simd::multiply_add(scalar, column[v], sum[r][v]);
    }
    a += kStationaryStride;
    b += Packed<Simd>::kColumns;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Simd::kRows; ++r) {
    if (r >= rows) break;
    float* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(c) + r * c_stride);
#pragma GCC unroll 8
    for (int v = 0; v < Simd::kVectors; ++v) {
      float* target = row + v * Simd::kWidth;
      Simd::store(target, accumulate ? Simd::add(Simd::load(target), sum[r][v]) : sum[r][v]);
    }
  }
}

/// A panel that is not full goes through a buffer.
template <class Simd>
void edge_block(int k, const std::uint32_t* a, const std::uint32_t* b, float* c, std::int64_t c_stride, bool accumulate,
                int rows, int columns) {
  alignas(64) float block[Simd::kRows][Packed<Simd>::kColumns];
  register_block<Simd>(k, a, b, block[0], sizeof(block[0]), false, rows);
  for (int r = 0; r < rows; ++r) {
    float* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(c) + r * c_stride);
    for (int i = 0; i < columns; ++i) row[i] = accumulate ? row[i] + block[r][i] : block[r][i];
  }
}

template <class Simd, class Packer>
void matmul_tile(const MatMul& args) {
  Packed<Simd> packed;
  constexpr int kColumns = Packed<Simd>::kColumns;
  const int steps = Packer::steps(args.k);
  const int padded_rows = (args.m + kMostRows - 1) / kMostRows * kMostRows;
  Packer::pack(args.a, args.a_stride, args.k, args.m, padded_rows, packed.stationary, kStationaryStride);
  const int blocks = (args.m + Simd::kRows - 1) / Simd::kRows;
  for (int n = 0; n < args.n; n += kColumns) {
    const int columns = args.n - n < kColumns ? args.n - n : kColumns;
    const std::byte* panel = args.b + n * Packer::kBytes;
    Packer::pack(panel, args.b_stride, args.k, columns, kColumns, packed.moving, kColumns);
    const int ahead = n + 2 * kColumns <= args.n ? 2 * Simd::kRows : 0;  // rows of the next panel, block by block
    for (int block = 0; block < blocks; ++block) {
      const int m = (args.falling ? blocks - 1 - block : block) * Simd::kRows;
      const int next = 2 * m, left = args.k - next;
      if (left > 0)
        prefetch_rows(panel + kColumns * Packer::kBytes + next * args.b_stride, args.b_stride,
                      left < ahead ? left : ahead, kColumns * Packer::kBytes);
      const int rows = args.m - m < Simd::kRows ? args.m - m : Simd::kRows;
      float* c = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(args.c) + m * args.c_stride) + n;
      if (columns == kColumns)
        register_block<Simd>(steps, packed.stationary + m, packed.moving, c, args.c_stride, args.accumulate, rows);
      else
        edge_block<Simd>(steps, packed.stationary + m, packed.moving, c, args.c_stride, args.accumulate, rows, columns);
    }
  }
}

/// Copies `used` elements of each of k rows, zeros up to `width`, rows `stride` elements apart.
struct PackFp32 {
  static constexpr int kBytes = 4;
  static int steps(int k) { return k; }
  static void pack(const std::byte* in, std::int64_t in_stride, int k, int used, int width, std::uint32_t* out,
                   int stride) {
    for (int i = 0; i < k; ++i, in += in_stride, out += stride) {
      __builtin_memcpy(out, in, static_cast<std::size_t>(used) * 4);
      for (int j = used; j < width; ++j) out[j] = 0;
    }
  }
};

/// The same for bf16 numbers, as the fp32 numbers they are.
struct PackBf16AsFp32 {
  static constexpr int kBytes = 2;
  static int steps(int k) { return k; }
  static void pack(const std::byte* in, std::int64_t in_stride, int k, int used, int width, std::uint32_t* out,
                   int stride) {
    for (int i = 0; i < k; ++i, in += in_stride, out += stride) {
      const Half* source = reinterpret_cast<const Half*>(in);
      for (int j = 0; j < used; ++j) out[j] = static_cast<std::uint32_t>(source[j]) << 16;
      for (int j = used; j < width; ++j) out[j] = 0;
    }
  }
};

/// Pairs of bf16 numbers of rows 2i (lower half) and 2i + 1; an odd last row is paired with zeros.
struct PackBf16Pairs {
  static constexpr int kBytes = 2;
  static int steps(int k) { return (k + 1) / 2; }
  static void pack(const std::byte* in, std::int64_t in_stride, int k, int used, int width, std::uint32_t* out,
                   int stride) {
    for (int i = 0; i < k; i += 2, in += 2 * in_stride, out += stride) {
      const Half* even = reinterpret_cast<const Half*>(in);
      const Half* odd = reinterpret_cast<const Half*>(in + in_stride);
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
