// The last writer of each byte of a core's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "isa/program.h"
#include "isa/tile.h"

namespace hw {

/// One number per granule of SBUF, PSUM and HBM: the instruction that wrote it, 0 for none. Reserved as address space:
/// only what a program touches costs host memory.
class Shadow {
 public:
  using Writer = std::uint32_t;
  /// Set while the writer has begun and not retired.
  static constexpr Writer kInFlight = 0x8000'0000u;

  /// `granule`: bytes, a divisor of every offset and length in use. Errors: Fault::kCapacity.
  Shadow(int granule, std::uint64_t hbm_bytes);
  Shadow(Shadow&& other) noexcept;
  ~Shadow();

  /// Calls `f(Writer* run, std::size_t n)` for each contiguous run of the tile.
  template <typename F>
  void visit(const isa::Tile& tile, std::span<const std::uint64_t> bases, F&& f) {
    std::int64_t run = 1;  // elements
    int outer = tile.rank;
    while (outer > 0 && (tile.free[outer - 1].size == 1 || tile.free[outer - 1].step == run))
      run *= tile.free[--outer].size;
    const std::int64_t size = isa::size_of(tile.dtype);
    for (int p = 0; p < tile.partitions; ++p) {
      const std::int64_t start = row_start(tile, p, bases);
      each_row(tile, outer, 0, 0, [&](std::int64_t element) {
        f(at(tile.space, start + element * size), static_cast<std::size_t>(run * size / granule_));
      });
    }
  }

 private:
  static std::int64_t row_start(const isa::Tile& tile, int p, std::span<const std::uint64_t> bases) {
    switch (tile.space) {
      case isa::Space::kSbuf: return (tile.start + p) * isa::kMostSbufPartitionBytes + tile.offset;
      case isa::Space::kPsum: return (tile.start + p) * isa::kMostPsumPartitionBytes + tile.offset;
      default: return static_cast<std::int64_t>(bases[tile.reg]) + tile.offset + p * tile.pstep;
    }
  }
  template <typename F>
  static void each_row(const isa::Tile& tile, int outer, int d, std::int64_t element, F&& f) {
    if (d == outer) return f(element);
    for (std::uint32_t i = 0; i < tile.free[d].size; ++i)
      each_row(tile, outer, d + 1, element + std::int64_t{tile.free[d].step} * i, f);
  }
  Writer* at(isa::Space space, std::int64_t byte);

  int granule_;
  std::uint64_t bytes_;                   // of the reservation
  std::uint64_t psum_first_, hbm_first_;  // granules
  Writer* writers_ = nullptr;
};

/// The largest granule (1, 2 or 4 bytes) that tells all tiles of `program` apart.
int shadow_granule(const isa::Program& program);

/// True when the two may share a byte.
bool may_overlap(const isa::Tile& x, const isa::Tile& y, std::span<const std::uint64_t> bases);

}  // namespace hw
