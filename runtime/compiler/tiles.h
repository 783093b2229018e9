// Parts and views of tiles.
#pragma once

#include <cstdint>

#include "isa/tile.h"

namespace runtime {

using isa::Tile;

/// Partitions of SBUF and PSUM, and the side of TensorE's array; signed, as sizes of tensors are.
inline constexpr std::int64_t kPartitions = isa::kPartitions;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The position of row k of a weight of `rows` rows that is stored blocked: partition k mod 128 has its rows of all
/// blocks of 128 side by side, so that one descriptor brings several; the rows behind the last whole block stay.
constexpr std::int64_t blocked_row(std::int64_t k, std::int64_t rows) {
  const std::int64_t blocks = rows / kPartitions;
  return k < blocks * kPartitions ? k % kPartitions * blocks + k / kPartitions : k;
}

/// Columns [begin, begin + size) of a tile with one free axis.
constexpr Tile columns(Tile tile, std::int64_t begin, std::int64_t size) {
  tile.offset += begin * tile.free[0].step * isa::size_of(tile.dtype);
  tile.free[0].size = static_cast<std::uint32_t>(size);
  return tile;
}

/// The first `count` partitions.
constexpr Tile partitions(Tile tile, std::int64_t count) {
  tile.partitions = static_cast<std::int32_t>(count);
  return tile;
}

/// [P, 1] seen as [P, cols].
constexpr Tile widen(Tile tile, std::int64_t cols) {
  tile.free[0] = {.step = 0, .size = static_cast<std::uint32_t>(cols)};
  return tile;
}

/// [P, outer * inner] seen as [P, outer, inner].
constexpr Tile fold(Tile tile, std::int64_t outer, std::int64_t inner) {
  tile.rank = 2;
  tile.free[0] = {.step = static_cast<std::int32_t>(inner), .size = static_cast<std::uint32_t>(outer)};
  tile.free[1] = {.step = 1, .size = static_cast<std::uint32_t>(inner)};
  return tile;
}

}  // namespace runtime
