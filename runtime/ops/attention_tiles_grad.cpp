// The gradient of attention for rows that SBUF does not hold: it adds up in SBUF for keys and values, and from block to
// block in HBM for queries.
#include "runtime/ops/key_blocks.h"
#include "runtime/ops/key_sums.h"

namespace runtime {
namespace {

class TiledAttentionGrad {
 public:
  TiledAttentionGrad(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<AttentionAttrs>()},
        h_{e.graph(), node},
        ratio_{h_.heads / h_.kv_heads},
        segment_{node.out.size() > 4 ? segment_of(h_, a_) : 0} {}

  void run() {
    if (segment_ > 0) return in_segments();
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.kv_heads});
    for (b_ = part.outer; b_ < part.outer + part.outer_count; ++b_)
      for (kv_ = part.inner; kv_ < part.inner + part.inner_count; ++kv_) over_keys({0, h_.keys}, {0, h_.tiles()});
  }

 private:
  void in_segments() {
    over_segments(
        e_, h_, segment_,
        [&](std::int64_t b, std::int64_t i, std::int64_t j) {
          b_ = b, adds_ = i != j;
          for (kv_ = 0; kv_ < h_.kv_heads; ++kv_)
            over_keys(rows_of_segment(h_, segment_, j), tiles_of_segment(h_, segment_, i));
        },
        [&](std::int64_t b, std::int64_t i) {
          const Span rows = rows_of_segment(h_, segment_, i);
          for (std::int64_t row = rows.begin; row < rows.begin + rows.size; row += kPartitions)
            for (std::size_t o = 0; o < 3; ++o) {  // DMA converts
              const std::int64_t count = std::min(kPartitions, rows.begin + rows.size - row);
              const Tile sums = e_.loaded(e_.value(node_.out[o]).dtype, e_.hbm(sums_of(o), b * h_.seq + row, count));
              e_.store(e_.hbm(node_.out[o], b * h_.seq + row, count), sums);
            }
        });
  }

  /// Where gradients of queries, keys or values are added up in HBM.
  ValueId sums_of(std::size_t operand) const { return node_.out[3 + operand]; }

  void over_keys(const Span& keys, const Span& tiles) {
    BlockOfKeys block{e_, node_, h_, b_, kv_};
    const auto mask = node_.in.size() > 6 ? std::optional<std::size_t>{6} : std::nullopt;
    const std::int64_t end = keys.begin + keys.size;
    first_tile_ = tiles.begin;
    for (std::int64_t k = keys.begin; k < end; k += a_.tile_keys) {
      block.load(k, std::min(a_.tile_keys, end - k), mask, true);
      KeySums sums{e_, *block.heads, 1};
      for (std::int64_t i = 0; i < ratio_; ++i)
        for (std::int64_t t = tiles.begin; t < tiles.begin + tiles.size; ++t)
          if (block.heads->visible(t) > 0) queries(kv_ * ratio_ + i, t, block, sums);
      store(block, sums);
    }
  }

  void store(const BlockOfKeys& block, KeySums& sums) {
    for (std::int64_t t = 0; t < block.heads->key_tiles(); ++t) {
      const std::int64_t rows = block.heads->key_rows(t);
      const std::int64_t row = b_ * h_.keys + block.heads->first + t * kPartitions;
      const auto made = [&](std::size_t o) {
        return e_.sbuf(segment_ > 0 ? Dtype::kFp32 : e_.value(node_.out[o]).dtype, rows, size_of(o));
      };
      const Tile dk = made(1), dv = made(2);
      sums.take(t, dk, dv, static_cast<float>(a_.scale));
      for (const auto& [o, tile] : {std::pair{std::size_t{1}, dk}, {std::size_t{2}, dv}}) {
        const Tile to = e_.hbm(segment_ > 0 ? sums_of(o) : node_.out[o], row, rows, kv_ * size_of(o), size_of(o), 1);
        if (adds_) e_.tensor_tensor(tile, tile, Alu::kAdd, e_.loaded(Dtype::kFp32, to));
        e_.store(to, tile);
      }
    }
  }

  /// A head's elements in the gradient of queries, keys or values.
  std::int64_t size_of(std::size_t operand) const { return operand < 2 ? h_.size : h_.value_size; }

  Tile rows_of(std::size_t operand, std::int64_t head, std::int64_t t) {
    const std::int64_t row = b_ * h_.seq + t * kPartitions, size = size_of(operand);
    return e_.loaded(h_.type, e_.hbm(node_.in[operand], row, h_.tile_rows(t), head * size, size, 1));
  }

  /// 128 queries of one head, and a block of their keys.
  void queries(std::int64_t head, std::int64_t t, const BlockOfKeys& block, KeySums& sums) {
    const Tile q = rows_of(0, head, t), dy = rows_of(4, head, t), o = rows_of(5, head, t);
    Tile tanhs{};
    const Tile x = block.scores(t, transpose_tile(e_, q, h_.type), static_cast<float>(a_.scale),
                                a_.soft_cap > 0 ? &tanhs : nullptr);
    const Tile p = probabilities(head, t, x);
    const Tile ds = score_gradients(head, t, block, {.q = q, .dy = dy, .p = p, .ds = o});
    if (a_.soft_cap > 0) cap_gradient(e_, ds, tanhs);
    query_gradients(head, t, block, ds);
    sums.add(t, {.q = q, .dy = dy, .p = block.dropped(p, head, t), .ds = ds}, 0);
  }

  /// exp(x - logarithm of the sum).
  Tile probabilities(std::int64_t head, std::int64_t t, const Tile& x) {
    const std::int64_t row = (b_ * h_.heads + head) * h_.seq + t * kPartitions;
    const Tile logarithm = e_.loaded(Dtype::kFp32, e_.hbm(node_.in[3], row, x.partitions, 0, 1, 1));
    const Tile less = e_.sbuf(Dtype::kFp32, x.partitions, 1), p = e_.sbuf(h_.type, x.partitions, x.cols());
    e_.tensor_scalar(less, logarithm, Alu::kMul, -1.0F);
    e_.activation(p, Fn::kExp, x, 1.0F, less);
    return p;
  }

  /// p (dy v^T - sum of dy o); the context is in `rows.ds`.
  Tile score_gradients(std::int64_t head, std::int64_t t, const BlockOfKeys& block, const Queries& rows) {
    const std::int64_t parts = rows.p.partitions, seen = rows.p.cols();
    const HeadPanels dy_t = transpose_tile(e_, rows.dy, h_.type);
    const Tile product = e_.sbuf(Dtype::kFp32, parts, h_.value_size), dot = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.tensor_tensor(product, rows.dy, Alu::kMul, rows.ds);
    e_.activation(product, Fn::kCopy, product, 1.0F, 0.0F, &dot);
    const Tile ds = e_.sbuf(h_.type, parts, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      Tile dp = e_.psum(parts, width);
      contract_heads(e_, dp, dy_t, block.values_t, c);
      if (a_.p > 0) {
        const Tile piece = e_.sbuf(h_.score, parts, width);
        block.drop(piece, dp, head, t, c);
        dp = piece;
      }
      e_.scalar_tensor_tensor(columns(ds, c, width), dp, Alu::kSub, dot, Alu::kMul, columns(rows.p, c, width));
    }
    return ds;
  }

  /// scale * ds k, added to that of the blocks before.
  void query_gradients(std::int64_t head, std::int64_t t, const BlockOfKeys& block, const Tile& ds) {
    const std::int64_t parts = ds.partitions, row = b_ * h_.seq + t * kPartitions, first = block.heads->first;
    const std::vector<Tile> panels = transpose_tile(e_, ds, h_.type);
    const Tile sum = e_.psum(parts, h_.size);
    for (std::size_t k = 0; k < panels.size(); ++k)
      e_.matmul(sum, panels[k], partitions(block.keys[k], panels[k].partitions), k > 0);
    const bool last = segment_ == 0 && first + ds.cols() >= h_.visible(t);
    const Tile out = e_.sbuf(last ? e_.value(node_.out[0]).dtype : Dtype::kFp32, parts, h_.size);
    const Tile sums = e_.hbm(sums_of(0), row, parts, head * h_.size, h_.size, 1);
    const auto alpha = static_cast<float>(a_.scale);
    const std::int64_t earliest = std::max(h_.earliest(t), segment_ > 0 ? first_tile_ * kPartitions : 0);
    if (adds_ || first > earliest)  // not the first block that it sees
      e_.scalar_tensor_tensor(out, sum, Alu::kMul, alpha, Alu::kAdd, e_.loaded(Dtype::kFp32, sums));
    else
      e_.copy(out, sum, alpha);
    e_.store(last ? e_.hbm(node_.out[0], row, parts, head * h_.size, h_.size, 1) : sums, out);
  }

  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads h_;
  const std::int64_t ratio_, segment_;  // segment_: of a sequence, or 0
  std::int64_t b_ = 0, kv_ = 0;
  std::int64_t first_tile_ = 0;  // of the queries
  bool adds_ = false;            // to sums of earlier pairs of segments
};

}  // namespace

void lower_tiled_attention_grad(Emitter& e, const Node& node) { TiledAttentionGrad{e, node}.run(); }

}  // namespace runtime
