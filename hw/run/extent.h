// Where a tile is in SBUF.
#pragma once

#include <cstdint>

#include "isa/dtype.h"
#include "isa/tile.h"

namespace hw {

/// The partitions and bytes that a tile in SBUF touches at most.
struct Extent {
  int first_partition, end_partition;
  std::int64_t first_byte, end_byte;

  explicit Extent(const isa::Tile& tile)
      : first_partition{tile.start},
        end_partition{tile.start + tile.partitions},
        first_byte{tile.offset},
        end_byte{tile.offset + isa::size_of(tile.dtype)} {
    for (int d = 0; d < tile.rank; ++d) {
      const std::int64_t span =
          std::int64_t{tile.free[d].step} * (std::int64_t{tile.free[d].size} - 1) * isa::size_of(tile.dtype);
      (span < 0 ? first_byte : end_byte) += span;
    }
  }
  bool overlaps(const Extent& other) const {
    return first_partition < other.end_partition && other.first_partition < end_partition &&
           first_byte < other.end_byte && other.first_byte < end_byte;
  }
};

}  // namespace hw
