// The bytes of one NeuronCore: SBUF, PSUM and its part of HBM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "isa/tile.h"

namespace isa {

using RandomLane = std::array<std::uint32_t, 6>;

/// State that engines keep from one instruction to the next.
struct EngineState {
  std::array<float, kPartitions> scalar{}, vector{};         // accumulator registers, see Registers
  std::optional<std::uint32_t> seed;                         // of kRng, once kSetRngSeed has set it
  std::uint32_t drawn = 0;                                   // instructions that drew from it since
  std::optional<std::array<RandomLane, kPartitions>> lanes;  // of kRng on GpSimdE, once it has been used
};

/// Numbers that a program lost without an error, since the memory began.
struct NumericEvents {
  std::uint64_t overflowed = 0;    // finite, and a cast made them infinite or the limit of an integer type
  std::uint64_t out_of_range = 0;  // inputs of ScalarE outside its function's documented range
  std::uint64_t transposed = 0;    // Inf or NaN in a transpose or a choice of rows by TensorE, whose zeros spread them
  std::uint64_t flushed = 0;       // subnormal bf16 operands of TensorE, which count as zero

  bool operator==(const NumericEvents&) const = default;
  NumericEvents& operator+=(const NumericEvents& other);
};

/// Host memory behind one simulated core. SBUF and PSUM rows are padded, because a partition stride of a large power of
/// two thrashes the host's cache. HBM is reserved address space; the host pays for the pages that are touched.
class Memory {
 public:
  /// Errors: Fault::kCapacity when the host cannot reserve `hbm_bytes`.
  explicit Memory(std::uint64_t hbm_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static constexpr std::int64_t kSbufStride = kMostSbufPartitionBytes + 4160;  // bytes from partition to partition
  static constexpr std::int64_t kPsumStride = kMostPsumPartitionBytes + 64;

  std::byte* sbuf() { return sbuf_; }
  std::byte* psum() { return psum_; }
  std::byte* hbm() { return hbm_; }
  EngineState& engines() { return engines_; }
  /// Host threads that share an instruction add to it by std::atomic_ref.
  NumericEvents& events() { return events_; }
  std::uint64_t hbm_bytes() const { return hbm_bytes_; }
  /// Messages that kSend of rank `sender` in replica group `group` has delivered and kRecv has not yet taken, oldest
  /// first.
  std::deque<std::vector<std::byte>>& inbox(std::uint32_t sender, std::uint8_t group) {
    return inbox_[{sender, group}];
  }
  /// Host memory for one instruction while it executes: a core executes one at a time.
  struct Scratch {
    std::vector<std::byte> first, second;
    std::vector<float> sums;
  };
  Scratch& scratch() { return scratch_; }

 private:
  std::byte* sbuf_ = nullptr;
  std::byte* psum_ = nullptr;
  std::byte* hbm_ = nullptr;
  std::uint64_t hbm_bytes_ = 0;
  EngineState engines_;
  NumericEvents events_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::deque<std::vector<std::byte>>> inbox_;
  Scratch scratch_;
};

}  // namespace isa
