// Shared by attention and its gradient where SBUF does not hold rows of scores: blocks of keys, and segments of long
// sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "runtime/ops/attention.h"

namespace runtime {

/// As kHiddenScore, and finite in every type: a block may hide all keys of a query, whose later blocks outweigh it.
inline constexpr float kHiddenInBlock = -1e30F;

/// Heads that share keys, and the part of a sequence's keys that is in SBUF.
class BlockOfKeys {
 public:
  BlockOfKeys(Emitter& e, const Node& node, const Heads& whole, std::int64_t b, std::int64_t kv_head)
      : e_{e}, node_{node}, a_{node.attrs.as<AttentionAttrs>()}, whole_{whole}, b_{b}, kv_head_{kv_head} {}

  /// Loads keys [first, first + count). `values_too`: the values' columns as well as their rows.
  void load(std::int64_t first, std::int64_t count, std::optional<std::size_t> mask, bool values_too) {
    heads.emplace(whole_.block(first, count));
    keys = load_some_rows(e_, whole_, node_.in[1], b_, {first, count}, {kv_head_ * whole_.size, whole_.size});
    const std::int64_t width = whole_.value_size;
    values = load_some_rows(e_, whole_, node_.in[2], b_, {first, count}, {kv_head_ * width, width});
    keys_t = transpose_rows(e_, whole_, keys, {0, whole_.size});
    if (values_too) values_t = transpose_rows(e_, whole_, values, {0, width});
    if (mask)
      mask_ = e_.loaded(whole_.score, e_.hbm_row(node_.in[*mask], b_, std::min(kPartitions, whole_.seq), first, count));
  }

  /// Scores of the queries of tile t, whose elements are on the partitions: scale * q k^T, capped and masked. The caps'
  /// tanh goes to `tanhs`, if asked for.
  Tile scores(std::int64_t t, const HeadPanels& queries, float scale, Tile* tanhs = nullptr) const {
    const std::int64_t seen = heads->visible(t), parts = whole_.tile_rows(t);
    const bool caps = a_.soft_cap > 0;
    const Tile x = e_.sbuf(tanhs || caps ? Dtype::kFp32 : whole_.score, parts, seen);
    if (tanhs) *tanhs = e_.sbuf(Dtype::kFp32, parts, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      const Tile sum = e_.psum(parts, width), to = columns(x, c, width);
      contract_heads(e_, sum, queries, keys_t, c);
      if (caps) {
        const Tile tanh = tanhs ? columns(*tanhs, c, width) : to;
        e_.activation(tanh, Fn::kTanh, sum, scale / static_cast<float>(a_.soft_cap));
        e_.tensor_scalar(to, tanh, Alu::kMul, static_cast<float>(a_.soft_cap));
      } else {
        e_.copy(to, sum, scale);
      }
      if (mask_) e_.tensor_tensor(to, to, Alu::kAdd, columns(partitions(mask_, parts), c, width));
    }
    hide(x, t);
    return x;
  }

  /// Hides what queries of tile t do not see.
  void hide(const Tile& x, std::int64_t t) const {
    if (!a_.causal) return;
    const std::int64_t diagonal = t * kPartitions - heads->first;
    if (diagonal + kPartitions > 0 && diagonal < x.cols()) {
      const std::int64_t from = std::max<std::int64_t>(0, diagonal);
      hide_later(e_, columns(x, from, x.cols() - from), t, heads->first + from, kHiddenInBlock);
    }
    if (a_.window > 0 && heads->first + a_.window < (t + 1) * kPartitions)
      hide_earlier(e_, x, t, a_.window, kHiddenInBlock, heads->first);
  }

  /// p as TensorE takes it, after dropout.
  Tile dropped(const Tile& p, std::int64_t head, std::int64_t t) const {
    if (a_.p == 0) return p;
    const Tile out = e_.sbuf(whole_.type, p.partitions, p.cols());
    for (std::int64_t c = 0; c < p.cols(); c += kChunk) {
      const std::int64_t width = std::min(kChunk, p.cols() - c);
      drop(columns(out, c, width), columns(p, c, width), head, t, c);
    }
    return out;
  }
  void drop(const Tile& to, const Tile& from, std::int64_t head, std::int64_t t, std::int64_t c) const {
    const std::int64_t place = (b_ * whole_.heads + head) * whole_.tiles() + t;
    drop_piece(e_, node_, piece_at(whole_, place, heads->first + c), to, from);
  }

  std::optional<Heads> heads;
  RowTiles keys, values;
  HeadPanels keys_t, values_t;

 private:
  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads& whole_;
  const std::int64_t b_, kv_head_;
  Tile mask_{};
};

/// Pairs of segments: those of one stage have as many segments between them. Afterwards the segments by themselves.
inline LoopStages stages_of(const Heads& h, std::int64_t segment) {
  const std::int64_t segments = ceil_div(h.seq, segment);
  LoopStages out;
  for (std::int64_t between = 0; between < segments; ++between)
    out.push_back({.outer = h.batch, .inner = segments - between});
  out.push_back({.outer = h.batch, .inner = segments});
  return out;
}

/// Calls pair(sequence, segment of queries, segment of keys) for each pair of the stages that are to be written, and
/// end(sequence, segment) for each segment of the last one.
template <class Pair, class End>
void over_segments(Emitter& e, const Heads& h, std::int64_t segment, const Pair& pair, const End& end) {
  const std::int64_t segments = ceil_div(h.seq, segment);
  for (const LoopPart& part : e.parts_of(stages_of(h, segment)))
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b)
      for (std::int64_t i = part.inner; i < part.inner + part.inner_count; ++i)
        part.stage < segments ? pair(b, i + part.stage, i) : end(b, i);
}

/// The rows of a segment.
inline Span rows_of_segment(const Heads& h, std::int64_t segment, std::int64_t i) {
  return {i * segment, std::min(segment, h.seq - i * segment)};
}
/// Its tiles of 128 rows.
inline Span tiles_of_segment(const Heads& h, std::int64_t segment, std::int64_t i) {
  const Span rows = rows_of_segment(h, segment, i);
  return {rows.begin / kPartitions, ceil_div(rows.size, kPartitions)};
}

}  // namespace runtime
