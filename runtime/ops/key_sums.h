// Gradients of keys and values of a long sequence, added up in SBUF.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/ops/attention.h"

namespace runtime {

/// 128 queries of a head: rows, gradients of the context, probabilities after dropout, gradients of the scores.
struct Queries {
  Tile q, dy, p, ds;
};

/// The sums of key tile t are in columns [t * width, +width) of one tile, width: of the key heads.
class KeySums {
 public:
  KeySums(Emitter& e, const Heads& h, std::int64_t kv_group) : e_{e}, h_{h}, width_{kv_group * h.size} {
    sum_k_ = e_.sbuf(Dtype::kFp32, kPartitions, h_.key_tiles() * width_);
    sum_v_ = e_.sbuf(Dtype::kFp32, kPartitions, h_.key_tiles() * width_);
    e_.fill(sum_k_, 0);
    e_.fill(sum_v_, 0);
  }

  /// Adds the gradients of the queries of tile t to the keys that they see; several tiles of keys share a PSUM bank and
  /// an addition.
  void add(std::int64_t t, const Queries& queries, std::int64_t kv_col) {
    const std::int64_t tiles = ceil_div(h_.visible(t), kPartitions);
    const std::int64_t together = width_ == h_.size ? kChunk / h_.size : 1;
    for (std::int64_t k = 0; k < tiles; k += together) {
      const std::int64_t count = std::min(together, tiles - k), rows = h_.key_rows(k + count - 1);
      // A shorter last tile of keys leaves rows of its bank untouched: it goes by itself.
      if (count > 1 && rows < kPartitions) {
        add_some(k, count - 1, queries, kv_col);
        add_some(k + count - 1, 1, queries, kv_col);
      } else {
        add_some(k, count, queries, kv_col);
      }
    }
  }

  /// The sums of key tile t, those of keys times `scale`.
  void take(std::int64_t t, const Tile& dk, const Tile& dv, const Scalar& scale) {
    const std::int64_t rows = h_.key_rows(t);
    e_.copy(dk, columns(partitions(sum_k_, rows), t * width_, width_), scale);
    e_.copy(dv, columns(partitions(sum_v_, rows), t * width_, width_));
  }

 private:
  void add_some(std::int64_t k, std::int64_t count, const Queries& queries, std::int64_t kv_col) {
    const std::int64_t rows = h_.key_rows(k);
    const auto add = [&](const Tile& sums, const Tile& weights, const Tile& moving) {
      const Tile bank = e_.psum(rows, count * h_.size);
      for (std::int64_t i = 0; i < count; ++i)
        e_.matmul(columns(bank, i * h_.size, h_.size), columns(weights, (k + i) * kPartitions, rows), moving, false);
      const Tile to = columns(partitions(sums, rows), k * width_ + kv_col, count * h_.size);
      e_.tensor_tensor(to, bank, Alu::kAdd, to);
    };
    add(sum_v_, queries.p, queries.dy);
    add(sum_k_, queries.ds, queries.q);
  }

  Emitter& e_;
  const Heads& h_;
  const std::int64_t width_;
  Tile sum_k_{}, sum_v_{};
};

}  // namespace runtime
