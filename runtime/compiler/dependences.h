// The order that instructions on virtual buffers must keep.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/compiler/allocate.h"
#include "runtime/compiler/emitter.h"

namespace runtime {

/// A rectangle of a tensor in HBM: rows of `pitch` bytes, or with pitch 0 one run of bytes.
struct HbmRect {
  std::int64_t pitch = 0, row0 = 0, row1 = 1, col0 = 0, col1 = 0;
  std::int64_t low = 0, high = 0;  // all of it as a run
  static HbmRect of(const Tile& tile);
  bool meets(const HbmRect& other) const;
  /// Whether this one meets whatever meets the other one.
  bool covers(const HbmRect& other) const;
};

/// Bytes of a partition (of a row in HBM) that a tile covers, relative to its offset.
struct ByteRange {
  std::int64_t low = 0, high = 0;
  static ByteRange of(const Tile& tile);
};

/// Whether an instruction changes the accumulator registers of its engine, or reads them into dst2.
bool uses_registers(const isa::Instr& instr);

/// For each instruction those before it that it must follow: it reads their results, or overwrites their operands or
/// results. Dependences that others imply through the same bytes are omitted. Waits that are written in a row follow
/// all that came before them, and all that comes after follows them.
Lists dependences(const VirtualBlock& block);

}  // namespace runtime
