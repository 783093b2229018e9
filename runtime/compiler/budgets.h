// Shares of the target's memories that a part of a block may hold, so that others beside it have the rest.
#pragma once

#include <cstdint>

#include "isa/target.h"

namespace runtime {

/// Bytes are per partition.
struct Budgets {
  std::int64_t resident_weights;  // of a group: they stay for all row tiles; larger ones are streamed
  std::int64_t row_block;         // of a group with streamed weights: the row tiles that use each piece
  std::int64_t group_rows;        // kept by a group's nodes for each row tile
  std::int64_t head;              // attention's gradient: p and ds of all queries of a head
  std::int64_t streamed_tiles;    // row tiles that use each piece: their sums take half of PSUM
  std::int64_t sum_banks;         // banks of one node's sums over rows; longer sums add up in SBUF
  std::int64_t group_sum_banks;   // of all nodes of a group
  std::int64_t output_banks;      // of a weight gradient: its eviction overlaps the next block's sums in the others

  explicit Budgets(const isa::Geometry& g)
      : resident_weights{g.sbuf_partition_bytes / 2},
        row_block{g.sbuf_partition_bytes * 3 / 4},
        group_rows{g.sbuf_partition_bytes * 5 / 24},
        head{g.sbuf_partition_bytes * 3 / 8},
        streamed_tiles{g.psum_banks() / 2},
        sum_banks{g.psum_banks() * 3 / 4},
        group_sum_banks{g.psum_banks() * 3 / 8},
        output_banks{g.psum_banks() * 3 / 4} {}
};

}  // namespace runtime
