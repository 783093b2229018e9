// Shared by operators on few rows: a row folded over several partitions, so that no engine leaves most lanes idle.
#pragma once

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/ops.h"

namespace runtime {

/// Partitions that each of `rows` rows takes: a power of two, so many that each holds whole blocks of 128 columns.
constexpr std::int64_t skinny_fold(std::int64_t rows, std::int64_t cols) {
  std::int64_t parts = 1;
  while (2 * parts * rows <= kPartitions && cols % (2 * parts * kPartitions) == 0) parts *= 2;
  return parts;
}

}  // namespace runtime
