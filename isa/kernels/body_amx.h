// The bf16 matmul tile on AMX's 16 x 64-byte tile registers. Tiles is a policy of the tile instructions, so that the
// same code runs on emulated ones in the tests. Only compile-time tile numbers, as the hardware wants.
#pragma once

#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

constexpr int kTileRows = 16;    // rows of a tile register, also fp32 columns and bf16 pairs of a row
constexpr int kAmxColumns = 32;  // of a moving panel: two tiles
constexpr int kAmxPairs = kMaxK / 2;

struct AmxPacked {
  alignas(64) std::uint32_t pairs[kAmxPairs * kStationaryStride];  // stationary as packed by PackBf16Pairs
  alignas(64) std::uint32_t stationary[kMaxM * kAmxPairs];         // [m][pair]
  alignas(64) std::uint32_t moving[kAmxPairs * kAmxColumns];
  alignas(64) float block[2 * kTileRows * kAmxColumns];
};

/// block[32][32] = stationary rows m..m+31 times the panel. Tiles 0-3: sums, 4-5: stationary, 6-7: moving.
template <class Tiles>
void amx_block(Tiles& tiles, AmxPacked& packed, int steps, int m) {
  tiles.template zero<0>(), tiles.template zero<1>(), tiles.template zero<2>(), tiles.template zero<3>();
  for (int k = 0; k < steps; k += kTileRows) {
    const std::uint32_t* a = packed.stationary + m * kAmxPairs + k;
    const std::uint32_t* b = packed.moving + k * kAmxColumns;
    tiles.template load<4>(a, kAmxPairs * 4), tiles.template load<5>(a + kTileRows * kAmxPairs, kAmxPairs * 4);
    tiles.template load<6>(b, kAmxColumns * 4), tiles.template load<7>(b + kTileRows, kAmxColumns * 4);
    tiles.template multiply_add<0, 4, 6>(), tiles.template multiply_add<1, 4, 7>();
    tiles.template multiply_add<2, 5, 6>(), tiles.template multiply_add<3, 5, 7>();
  }
  float* out = packed.block;
  tiles.template store<0>(out, kAmxColumns * 4), tiles.template store<1>(out + kTileRows, kAmxColumns * 4);
  out += kTileRows * kAmxColumns;
  tiles.template store<2>(out, kAmxColumns * 4), tiles.template store<3>(out + kTileRows, kAmxColumns * 4);
}

/// `steps` pairs rounded up to whole tiles, zeros behind.
inline void amx_pack(const MatMul& args, AmxPacked& packed, int steps, int padded) {
  const int rows = (args.m + 31) / 32 * 32;
  PackBf16Pairs::pack({args.a, args.a_stride, args.k, args.m}, {packed.pairs, kStationaryStride, rows});
  if (args.flushed && args.counts_a) *args.flushed += subnormal(packed.pairs, steps, rows, kStationaryStride);
  for (int m = 0; m < rows; ++m)
    for (int k = 0; k < padded; ++k)
      packed.stationary[m * kAmxPairs + k] = k < steps ? packed.pairs[k * kStationaryStride + m] : 0;
}

template <class Tiles>
[[gnu::noinline]] void amx_matmul(const MatMul& args, Tiles& tiles, AmxPacked& packed) {
  accesses(args, 2);
  const FlushSubnormals flush;  // tiles do so by themselves
  const int steps = PackBf16Pairs::steps(args.k);
  const int padded = (steps + kTileRows - 1) / kTileRows * kTileRows;
  amx_pack(args, packed, steps, padded);
  for (int i = steps * kAmxColumns; i < padded * kAmxColumns; ++i) packed.moving[i] = 0;
  for (int n = 0; n < args.n; n += kAmxColumns) {
    const int columns = args.n - n < kAmxColumns ? args.n - n : kAmxColumns;
    PackBf16Pairs::pack({args.b + n * 2, args.b_stride, args.k, columns}, {packed.moving, kAmxColumns, kAmxColumns});
    count_panel(args, n / kAmxColumns, packed.moving, steps, kAmxColumns);
    for (int m = 0; m < args.m; m += 2 * kTileRows) {
      amx_block(tiles, packed, padded, m);
      for (int r = 0; r < 2 * kTileRows && m + r < args.m; ++r) {
        float* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(args.c) + (m + r) * args.c_stride) + n;
        const float* sum = packed.block + r * kAmxColumns;
        for (int i = 0; i < columns; ++i) row[i] = canonical_nan(args.accumulate ? row[i] + sum[i] : sum[i]);
      }
    }
  }
}

}  // namespace
}  // namespace isa::kernels
