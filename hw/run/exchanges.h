// Which waits of a logical core are for a part of a result that its other physical core computes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "isa/instr.h"

namespace hw {

/// Follows the bytes of a block from the operation that computes them to those that read them. Each core has a part of
/// an operation, so another one that reads its result waits for both; once the other core's part has begun to arrive,
/// it keeps up, so a pair of operations exchanges once. Operations are told apart by their labels and, as layers have
/// the same ones, by the layer: how often their data has come back to a label. The experts of a mixture, which
/// libraries compute together, have one name each. PSUM is a core's own: nothing there is exchanged. Constants are not
/// either: each core makes its own.
class Exchanges {
 public:
  /// Moves the waits of `instr`, the block's next instruction, that an exchange delays in front of its others.
  /// Returns how many they are.
  std::uint8_t sort(const isa::Instr& instr, std::span<isa::Wait> waits);

 private:
  /// Where bytes come from: their operation, and the labels that their data has passed in this layer.
  struct Origin {
    std::uint32_t label = kNone, layer = 0;
    std::vector<bool> passed;
    bool operator<(const Origin& other) const {
      return std::tie(label, layer, passed) < std::tie(other.label, other.layer, other.passed);
    }
  };
  struct Cell {
    std::uint32_t origin = 0;  // in origins_
    isa::Engine engine = isa::Engine::kSync;
    bool in_hbm = false;
    bool whole = false;  // both cores' parts are there, or none is exchanged: of HBM, or in PSUM
    bool operator==(const Cell&) const = default;
  };
  static constexpr std::uint32_t kNone = ~0U;

  /// Finds where the operands of `instr` come from, each origin once.
  void find_read(const isa::Instr& instr);
  /// The semaphores, a bit each, behind which it finds results of other operations that it is the first to read.
  std::uint64_t awaited(const isa::Instr& instr);
  bool is_first(const Origin& writer, std::uint32_t reader);
  /// The origin of the result of `instr` is one layer further where its data has been at its label before.
  std::uint32_t origin_of(const isa::Instr& instr);
  void note(const isa::Instr& instr, std::uint32_t origin);
  /// The places in SBUF or PSUM that a tile touches.
  template <class F>
  void for_cells(const isa::Tile& tile, const F& f);

  static constexpr int kQuarters = 4;                              // of the partitions: engines begin at a quarter
  std::array<std::array<std::vector<Cell>, kQuarters>, 2> cells_;  // of SBUF and of PSUM, by 64 bytes of a partition
  std::map<std::uint32_t, std::uint32_t> stored_;                  // register of a tensor in HBM -> origin
  std::vector<Origin> origins_ = std::vector<Origin>(1);           // first that of bytes that nothing computes
  std::map<Origin, std::uint32_t> numbers_;                        // of origins_
  std::vector<Cell> read_;                                         // of the present instruction
  /// Its label and what it reads -> the origin of its result: most instructions repeat an earlier one.
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> pairs_;  // writer, its layer, and reader
};

}  // namespace hw
