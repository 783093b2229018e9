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

/// The sums of key tile t are in columns [t * n * size, +n * size) of one tile, n: of the key heads.
class KeySums {
 public:
  KeySums(Emitter& e, const Heads& h, std::int64_t kv_group)
      : e_{e}, h_{h}, kv_group_{kv_group}, keys_{made(h.size)}, values_{made(h.value_size)} {}

  /// Adds the gradients of the queries of tile t to the keys that they see, of head `kv`; several tiles of keys share a
  /// PSUM bank and an addition.
  void add(std::int64_t t, const Queries& queries, std::int64_t kv) {
    const std::int64_t tiles = ceil_div(h_.visible(t), kPartitions);
    const std::int64_t together = kv_group_ == 1 ? kChunk / std::max(h_.size, h_.value_size) : 1;
    for (std::int64_t k = 0; k < tiles; k += together) {
      const std::int64_t count = std::min(together, tiles - k), rows = h_.key_rows(k + count - 1);
      // A shorter last tile of keys leaves rows of its bank untouched: it goes by itself.
      if (count > 1 && rows < kPartitions) {
        add_some(k, count - 1, queries, kv);
        add_some(k + count - 1, 1, queries, kv);
      } else {
        add_some(k, count, queries, kv);
      }
    }
  }

  /// The sums of key tile t, those of keys times `scale`.
  void take(std::int64_t t, const Tile& dk, const Tile& dv, const Scalar& scale) {
    const std::int64_t rows = h_.key_rows(t);
    e_.copy(dk, columns(partitions(keys_.tile, rows), t * dk.cols(), dk.cols()), scale);
    e_.copy(dv, columns(partitions(values_.tile, rows), t * dv.cols(), dv.cols()));
  }

 private:
  struct Sums {
    std::int64_t size = 0;  // of a head
    Tile tile{};
  };

  Sums made(std::int64_t size) {
    const Sums out{size, e_.sbuf(Dtype::kFp32, kPartitions, h_.key_tiles() * kv_group_ * size)};
    e_.fill(out.tile, 0);
    return out;
  }

  void add_some(std::int64_t k, std::int64_t count, const Queries& queries, std::int64_t kv) {
    const std::int64_t rows = h_.key_rows(k);
    const auto add = [&](const Sums& sums, const Tile& weights, const Tile& moving) {
      const std::int64_t size = sums.size;
      const Tile bank = e_.psum(rows, count * size);
      for (std::int64_t i = 0; i < count; ++i)
        e_.matmul(columns(bank, i * size, size), columns(weights, (k + i) * kPartitions, rows), moving, false);
      const Tile to = columns(partitions(sums.tile, rows), (k * kv_group_ + kv) * size, count * size);
      e_.tensor_tensor(to, bank, Alu::kAdd, to);
    };
    add(values_, queries.p, queries.dy);
    add(keys_, queries.ds, queries.q);
  }

  Emitter& e_;
  const Heads& h_;
  const std::int64_t kv_group_;
  const Sums keys_, values_;
};

}  // namespace runtime
