// Programs of a launch grid share tensors in HBM, and nothing orders their reads and writes but a meeting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "isa/tile.h"
#include "runtime/compiler/rect_log.h"

namespace runtime::nki {

/// The writes to tensors in HBM since the programs met last, and the program that made each.
class Races {
 public:
  /// Another program goes on.
  void program(std::size_t number) { program_ = number; }
  /// All programs have come here: earlier writes are there for each.
  void meet() { writes_.clear(); }

  void write(const isa::Tile& tile) {
    if (tile.space == isa::Space::kHbm) writes_[tile.reg].add({HbmRect::of(tile), program_});
  }

  /// Whether another program has written to these places.
  bool raced(const isa::Tile& tile) const {
    const auto found = tile.space == isa::Space::kHbm ? writes_.find(tile.reg) : writes_.end();
    bool others = false;
    if (found != writes_.end())
      found->second.each(HbmRect::of(tile), [&](const Written& w) { others |= w.program != program_; });
    return others;
  }

 private:
  struct Written : HbmRect {
    std::size_t program = 0;
  };
  std::unordered_map<std::uint32_t, RectLog<Written>> writes_;
  std::size_t program_ = 0;
};

}  // namespace runtime::nki
