// What the ops of a mixture of experts share.
#pragma once

#include <algorithm>

#include "runtime/emitter.h"

namespace runtime {

/// All rows of a tensor in HBM, as the target of a scatter or the source of a gather.
inline Tile table_of(Emitter& e, ValueId v) {
  const Value& value = e.value(v);
  Tile all = e.hbm(v, 0, 1);
  all.partitions = static_cast<std::uint16_t>(std::min<std::int64_t>(value.rows, 65535));
  all.pstep = value.cols * isa::size_of(value.dtype);
  return all;
}

}  // namespace runtime
