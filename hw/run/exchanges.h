// Which waits of a logical core are for a part of a result that its other physical core computes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "isa/instr.h"

namespace hw {

/// Follows the bytes of a block from the operation that computes them to those that read them. Each core has a part of
/// an operation, so another one that reads its result waits for both; once the other core's part has begun to arrive,
/// it keeps up, so a pair of operations exchanges once. Operations are told apart by their labels: those of joined
/// layers, and the experts of a mixture, which libraries compute together, have one name each. PSUM is a core's own:
/// nothing there is exchanged. Constants are not either: each core makes its own.
class Exchanges {
 public:
  /// Moves the waits of `instr`, the block's next instruction, that an exchange delays in front of its others.
  /// Returns how many they are.
  std::uint8_t sort(const isa::Instr& instr, std::span<isa::Wait> waits);

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Writer {
    std::uint32_t label = kNone;
    isa::Engine engine = isa::Engine::kSync;
    bool operator==(const Writer&) const = default;
  };
  /// The semaphores, a bit each, behind which `instr` finds results of other operations that it is the first to read.
  std::uint64_t awaited(const isa::Instr& instr);
  bool is_first(std::uint32_t writer, std::uint32_t reader);
  void note(const isa::Instr& instr);
  template <class F>
  void for_cells(const isa::Tile& tile, const F& f);

  static constexpr int kQuarters = 4;                 // of the partitions: engines begin at a quarter
  std::array<std::vector<Writer>, kQuarters> cells_;  // by 64 bytes of a partition of SBUF
  std::map<std::uint32_t, std::uint32_t> stored_;     // register of a tensor in HBM -> label that stored there last
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;  // labels: writer and reader
};

}  // namespace hw
