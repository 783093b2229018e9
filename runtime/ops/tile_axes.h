// The free axes of a tile, as access patterns of pictures and kernels need them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/compiler/tiles.h"

namespace runtime {

/// A free axis of a tile that may turn out to be none.
struct Free {
  std::int64_t step = 1, size = 1;
};

/// `tile` with these free axes, outermost first: those of one element go, and neighbours that follow each other join.
inline Tile with_axes(Tile tile, std::initializer_list<Free> axes) {
  std::vector<Free> kept;
  for (const Free& axis : axes) {
    if (axis.size == 1) continue;
    if (!kept.empty() && kept.back().step == axis.step * axis.size)
      kept.back() = {axis.step, kept.back().size * axis.size};
    else
      kept.push_back(axis);
  }
  if (kept.empty()) kept.push_back({});
  tile.rank = static_cast<std::uint8_t>(kept.size());
  for (std::size_t d = 0; d < kept.size(); ++d)
    tile.free[d] = {.step = static_cast<std::int32_t>(kept[d].step), .size = static_cast<std::uint32_t>(kept[d].size)};
  return tile;
}

inline Tile moved_by(Tile tile, std::int64_t elements) {
  tile.offset += elements * isa::size_of(tile.dtype);
  return tile;
}

}  // namespace runtime
