// An access pattern: which bytes of which memory an operand names. Source: AWS Neuron docs, NKI architecture guide v2.
#pragma once

#include <array>
#include <cstdint>

#include "isa/dtype.h"

namespace isa {

enum class Space : std::uint8_t { kNone, kSbuf, kPsum, kHbm };

// The same in every generation: the limits of an instruction's operand.
inline constexpr int kPartitions = 128;
inline constexpr std::int64_t kMovingColumns = 512;  // of a matmul
/// Sizes that simulated memories have room for: those of two cores of NeuronCore-v3, whose work one does where programs
/// of a kernel meet. A core's own sizes are its target's (isa/target.h).
inline constexpr std::int64_t kMostSbufPartitionBytes = std::int64_t{448} * 1024;
inline constexpr std::int64_t kMostPsumPartitionBytes = std::int64_t{32} * 1024;

/// Tensors begin in HBM at a multiple of it, bytes: a convention of programs, for long descriptors.
inline constexpr std::uint64_t kHbmAlign = 512;

/// One free axis: `size` elements, `step` elements apart (0 repeats one element: a broadcast).
struct Dim {
  std::int32_t step = 1;
  std::uint32_t size = 1;
  bool operator==(const Dim&) const = default;
};

/// `partitions` rows of up to four free axes (outermost first). Element (p, i0..i3) is in SBUF and PSUM in partition
/// `start + p` at byte `offset + size_of(dtype) * sum(i*step)`; in HBM at byte
/// `base[reg] + offset + p * pstep + size_of(dtype) * sum(i*step)`, where base[] are the registers of the block call.
struct Tile {
  Space space = Space::kNone;
  Dtype dtype = Dtype::kFp32;
  std::uint8_t start = 0;       // first partition
  std::uint8_t rank = 1;        // free axes in use, 1..4
  std::int32_t partitions = 0;  // 1..128; in HBM any number: the rows that an indexed transfer may name
  std::uint32_t reg = 0;        // HBM: base register; before allocation (runtime/ only): virtual buffer
  std::int64_t offset = 0;      // bytes
  std::int64_t pstep = 0;       // HBM only: bytes from one partition to the next (0: broadcast to all)
  std::array<Dim, 4> free{};

  bool operator==(const Tile&) const = default;
  constexpr explicit operator bool() const { return space != Space::kNone; }
  /// Elements in one partition.
  constexpr std::int64_t cols() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= free[static_cast<std::size_t>(d)].size;
    return n;
  }
  constexpr std::int64_t elements() const { return cols() * partitions; }
  constexpr std::int64_t bytes() const { return elements() * size_of(dtype); }
};

}  // namespace isa
