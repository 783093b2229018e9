// Shared by forward and backward of attention: heads as column slices of tiles of 128 rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/ops.h"

namespace runtime {

/// The score of a hidden key: below every other, so that exp(score - maximum) is exactly 0. Finite,
/// because TensorE transposes scores, and would spread an infinity.
inline constexpr float kHiddenScore = std::numeric_limits<float>::lowest();

/// Rows of one sequence, `heads` neighbouring heads wide, in tiles of 128 rows.
using RowTiles = std::vector<Tile>;

/// Keys of a block where rows do not fit: long enough that what is done once for 128 queries and a block does not
/// count, short enough that two blocks are in SBUF at a time. Kernels take as many (nki-samples,
/// reference/attention.py, FlashConfig.seq_tile_size).
inline constexpr std::int64_t kTileKeys = 4 * kChunk;

struct Heads {
  std::int64_t batch, seq, keys, heads, kv_heads;  // keys: of a sequence
  std::int64_t size, value_size;                   // of a head's queries and keys; of its values and context
  Dtype type;                                      // of TensorE's operands
  Dtype score;                                     // of scores and exponentials in SBUF
  bool skips;                                      // keys that no query of a tile sees are left out
  std::int64_t window;                             // keys that a query sees, itself among them; 0: all
  std::int64_t tile_keys;                          // keys of a block; 0: rows are whole
  std::int64_t first = 0;                          // of a block's keys, in the sequence
  bool is_block = false;

  Heads(const Graph& graph, const Node& node);
  Heads(const Graph& graph, const Node& node, const AttentionAttrs& attrs);
  std::int64_t tiles() const { return ceil_div(seq, kPartitions); }
  std::int64_t tile_rows(std::int64_t t) const { return std::min(kPartitions, seq - t * kPartitions); }
  std::int64_t key_tiles() const { return ceil_div(keys, kPartitions); }
  std::int64_t key_rows(std::int64_t t) const { return std::min(kPartitions, keys - t * kPartitions); }
  /// Heads that are loaded together: as many as fit in a few KiB of each partition, because long rows suit the DMA.
  std::int64_t group() const;
  /// Keys that are computed for the queries of tile t.
  std::int64_t visible(std::int64_t t) const {
    if (is_block && skips && first + keys <= earliest(t)) return 0;
    return skips ? std::clamp((t + 1) * kPartitions - first, std::int64_t{0}, keys) : keys;
  }
  /// The first key that a query of tile t sees.
  std::int64_t earliest(std::int64_t t) const {
    return window > 0 ? std::max(std::int64_t{0}, t * kPartitions - window + 1) : 0;
  }
  /// The same heads, of whose keys there are [begin, begin + count) alone.
  Heads block(std::int64_t begin, std::int64_t count) const {
    Heads out = *this;
    out.first = begin, out.keys = count, out.is_block = true;
    return out;
  }
  /// Pairs of a query and a key that are computed, over all heads and sequences.
  double pairs() const;
};

/// cap * tanh(s / cap); of 0 s itself.
inline double soft_capped(double s, double cap) { return cap > 0 ? cap * std::tanh(s / cap) : s; }

/// The gradient of capped scores as that of the scores; `t`, their tanh, becomes 1 - t^2.
inline void cap_gradient(Emitter& e, const Tile& ds, const Tile& t) {
  e.tensor_tensor(t, t, Alu::kMul, t);
  e.tensor_scalar(t, t, Alu::kMul, -1.0F, Alu::kAdd, 1.0F);
  e.tensor_tensor(ds, ds, Alu::kMul, t);
}

/// Op::pieces of attention and its gradient.
double heads_and_sequences(const Node& node);
/// Loads columns [col, col + cols) of sequence b of queries or keys.
RowTiles load_rows(Emitter& e, const Heads& h, ValueId v, std::int64_t b, std::int64_t col, std::int64_t cols);
/// The same of rows [rows.begin, +rows.size) of the sequence alone.
RowTiles load_some_rows(Emitter& e, const Heads& h, ValueId v, std::int64_t b, Span rows, Span cols);
/// A head's elements on the partitions: one tile, or two of 128 for a head of up to 256.
using HeadPanels = std::vector<Tile>;
inline constexpr std::int64_t kWidestHead = 2 * kPartitions;
/// [cols.size, rows] from these columns of the tiles; four transposes fill a PSUM bank.
HeadPanels transpose_rows(Emitter& e, const Heads& h, const RowTiles& rows, Span cols, Scalar scale = 1.0F);
inline bool scale_is_data(const AttentionAttrs& a) { return a.scale == 0; }
/// Operands but for a scale that is data, and the scale: of `parts` partitions where it is data.
inline std::size_t operands_of(const Node& node) {
  return node.in.size() - (scale_is_data(node.attrs.as<AttentionAttrs>()) ? 1 : 0);
}
/// Whether an attention, not its gradient, has a mask of keys, its fourth operand.
inline bool has_mask(const Node& node) {
  const auto& a = node.attrs.as<AttentionAttrs>();
  return operands_of(node) > (a.term != ScoreTerm::kNone ? 4 : 3);
}
/// The scale of sequence `b`, where each has its own.
Scalar scale_of(Emitter& e, const Node& node, std::int64_t b = 0);
Scalar on_partitions(const Scalar& scale, std::int64_t parts);
/// sum = transposed `weights` times `moving`, columns [c, c + sum.cols()), both with a head's elements on the
/// partitions.
void contract_heads(Emitter& e, const Tile& sum, const HeadPanels& weights, const HeadPanels& moving, std::int64_t c);
/// Keys that come after their query, of the queries of tile t: `dst`, which begins at key `first`, becomes `value`.
void hide_later(Emitter& e, const Tile& dst, std::int64_t t, std::int64_t first, float value);
/// As above, for keys before a sliding window of its last keys.
void hide_earlier(Emitter& e, const Tile& dst, std::int64_t t, std::int64_t window, float value,
                  std::int64_t first = 0);
/// The number of the piece that begins at column c of the scores of 128 queries, the `place`-th of all.
inline std::int64_t piece_at(const Heads& h, std::int64_t place, std::int64_t c) {
  return place * ceil_div(h.keys, kChunk) + c / kChunk;
}
/// Dropout of one piece.
inline void drop_piece(Emitter& e, const Node& node, std::int64_t piece, const Tile& dst, const Tile& src) {
  const auto& a = node.attrs.as<AttentionAttrs>();
  e.dropout(dst, src, a.p, {.stream = a.stream, .piece = static_cast<std::uint32_t>(piece)});
}
/// Dropout of 128 queries of one head, in pieces of one size, so that forward and backward drop the same elements.
/// `source`: the piece at that column.
template <class Source>
void drop_scores(Emitter& e, const Heads& h, const Node& node, std::int64_t place, const Tile& dst,
                 const Source& source) {
  for (std::int64_t c = 0; c < dst.cols(); c += kChunk) {
    const std::int64_t width = std::min(kChunk, dst.cols() - c);
    drop_piece(e, node, piece_at(h, place, c), columns(dst, c, width), source(c, width));
  }
}
/// 128 queries of a head of a sequence.
struct QueryPlace {
  std::int64_t sequence, head, tile;
};
/// A head's sink beside scores whose maximum is `most`, all of them columns [P, 1] fp32: `most` becomes that with the
/// sink, and the result is exp(sink - most).
Tile with_sink(Emitter& e, const Tile& most, const Tile& sink);
/// Writes the share of a sink, exp(sink - most), in the sum whose inverse is given, if it is read.
void keep_share(Emitter& e, const Node& node, const Heads& h, const QueryPlace& at, const Tile& sink,
                const Tile& inverse);
/// Adds the gradient of an attention's sinks.
void sinks_backward(Backward& b, const Node& node);
std::vector<Shape> attention_infer(const Contract& c);
Tensors attention_forward(const Attrs& attrs, std::span<const Tensor> in);
/// Whether SBUF does not hold whole rows of keys, so that they are taken in blocks.
bool rows_are_long(const Heads& h, const AttentionAttrs& a, const isa::Geometry& geometry);
/// Where keys are taken in blocks, rows of a segment of a sequence, a multiple of tile_keys: pairs of segments, of
/// queries and of keys, are worked on by themselves, with their sums in HBM in between. 0: sequences are whole.
std::int64_t segment_of(const Heads& h, const AttentionAttrs& a);
/// The lowerings of attention and its gradient with attrs.tile_keys. Source: Dao et al., arXiv:2205.14135, algorithms 1
/// and 4.
void lower_tiled_attention(Emitter& e, const Node& node);
void lower_tiled_attention_grad(Emitter& e, const Node& node);
/// [P, n] -> panels [<= 128 of n, P] for a contraction over n.
std::vector<Tile> transpose_tile(Emitter& e, const Tile& tile, Dtype type);

}  // namespace runtime
