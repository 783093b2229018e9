// Tiles that a kernel places itself: which of them holds the bytes of a place.
#pragma once

#include <cstdint>
#include <deque>

#include "isa/tile.h"

namespace runtime::nki {

struct Storage;

/// The latest writes of such tiles.
class Placed {
 public:
  void write(const isa::Tile& tile, const Storage* owner);
  /// Whether another tile was written there after what `owner` wrote.
  bool overwritten(const isa::Tile& tile, const Storage* owner) const;

 private:
  struct Write {
    isa::Tile tile;
    const Storage* owner;
  };
  static constexpr std::size_t kMost = 256;
  std::deque<Write> writes_;  // the latest first
};

}  // namespace runtime::nki
