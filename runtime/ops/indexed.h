// Transfers that name rows by indices: how far one reaches, and those that meet what is there.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/compiler/emitter.h"

namespace runtime {

/// Rows of a table that an indexed transfer can name: indices are int32.
inline constexpr std::int64_t kIndexedRows = std::numeric_limits<std::int32_t>::max();

/// All rows of a tensor in HBM, as the target of a scatter or the source of a gather.
inline Tile table_of(Emitter& e, ValueId v) {
  const Value& value = e.value(v);
  Tile all = e.hbm(v, 0, 1);
  all.partitions = static_cast<std::int32_t>(value.rows);
  all.pstep = value.cols * isa::size_of(value.dtype);
  return all;
}

/// How a scatter treats what is there, and indices that are out of range.
struct ScatterForm {
  bool accumulate = false;  // added to the row that is there, instead of taking its place
  bool skip = false;        // an index that is out of range changes nothing; otherwise it is an error
};

/// Rows of `src` to the rows of `dst` that `index` [P, 1] int32 names. All such transfers take the last ring, and so
/// run one after the other: several may name the same row.
inline void scatter_in_turn(Emitter& e, const Tile& dst, const Tile& src, const Tile& index, ScatterForm form) {
  e.emit({.op = isa::Opcode::kDmaScatter,
          .engine = isa::Engine::kGpSimd,
          .accumulate = form.accumulate,
          .skip = form.skip,
          .queue = static_cast<std::uint8_t>(e.target().geometry.dma_rings - 1),
          .dst = dst,
          .a = src,
          .b = index});
}

}  // namespace runtime
