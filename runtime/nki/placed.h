// Tiles that a kernel places itself: which of them holds the bytes of a place.
#pragma once

#include <cstdint>
#include <deque>

#include "isa/tile.h"

namespace runtime::nki {

/// The latest writes of such tiles; an owner is the number of a tensor.
class Placed {
 public:
  void write(const isa::Tile& tile, std::uint64_t owner);
  /// Whether another tile was written there after what `owner` wrote.
  bool overwritten(const isa::Tile& tile, std::uint64_t owner) const;

 private:
  struct Write {
    isa::Tile tile;
    std::uint64_t owner;
  };
  static constexpr std::size_t kMost = 256;
  std::deque<Write> writes_;  // the latest first
};

}  // namespace runtime::nki
