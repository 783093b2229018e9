// Attention and its gradient for rows that SBUF does not hold: keys are taken in blocks, each with the queries that see
// it. Forward keeps a running maximum, sum and context of each query; the gradient adds up in SBUF for keys and values,
// and from block to block in HBM for queries.
#include <optional>

#include "runtime/ops/attention.h"
#include "runtime/ops/key_sums.h"

namespace runtime {
namespace {

/// As kHiddenScore, and finite in every type: a block may hide all keys of a query, whose later blocks outweigh it.
constexpr float kHiddenInBlock = -1e30F;

/// Heads that share keys, and the part of a sequence's keys that is in SBUF.
class BlockOfKeys {
 public:
  BlockOfKeys(Emitter& e, const Node& node, const Heads& whole, std::int64_t b, std::int64_t kv_head)
      : e_{e}, node_{node}, a_{node.attrs.as<AttentionAttrs>()}, whole_{whole}, b_{b}, kv_head_{kv_head} {}

  /// Loads keys [first, first + count). `values_too`: the values' columns as well as their rows.
  void load(std::int64_t first, std::int64_t count, std::optional<std::size_t> mask, bool values_too) {
    heads.emplace(whole_.block(first, count));
    keys = load_some_rows(e_, whole_, node_.in[1], b_, {first, count}, {kv_head_ * whole_.size, whole_.size});
    values = load_some_rows(e_, whole_, node_.in[2], b_, {first, count}, {kv_head_ * whole_.size, whole_.size});
    keys_t = transpose_rows(e_, whole_, keys, 0);
    if (values_too) values_t = transpose_rows(e_, whole_, values, 0);
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

class TiledAttention {
 public:
  TiledAttention(Emitter& e, const Node& node)
      : e_{e}, node_{node}, a_{node.attrs.as<AttentionAttrs>()}, h_{e.graph(), node}, ratio_{h_.heads / h_.kv_heads} {}

  void run() {
    // Queries and their contexts take a quarter of SBUF, with all heads that share the keys.
    const std::int64_t room = e_.target().geometry.sbuf_partition_bytes / 4, each = ratio_ * h_.size * 8;
    const std::int64_t together = std::max<std::int64_t>(1, std::min<std::int64_t>(16, room / each));
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.kv_heads});
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b)
      for (std::int64_t kv = part.inner; kv < part.inner + part.inner_count; ++kv)
        for (std::int64_t t = 0; t < h_.tiles(); t += together) queries(b, kv, t, std::min(h_.tiles(), t + together));
  }

 private:
  /// 128 queries of one head, and what of their keys was seen so far.
  struct Rows {
    std::int64_t head, tile;
    HeadPanels query;
    Tile most{}, sum{}, context{};
  };

  void queries(std::int64_t b, std::int64_t kv, std::int64_t from, std::int64_t to) {
    const Span rows{from * kPartitions, std::min(h_.seq, to * kPartitions) - from * kPartitions};
    const RowTiles q = load_some_rows(e_, h_, node_.in[0], b, rows, {kv * ratio_ * h_.size, ratio_ * h_.size});
    std::vector<Rows> all;
    for (std::int64_t i = 0; i < ratio_; ++i) {
      const HeadPanels panels = transpose_rows(e_, h_, q, i * h_.size);
      for (std::int64_t t = from; t < to; ++t) {
        Rows& one = all.emplace_back(Rows{.head = kv * ratio_ + i, .tile = t, .query = {}});
        for (const Tile& panel : panels) one.query.push_back(columns(panel, (t - from) * kPartitions, h_.tile_rows(t)));
      }
    }
    BlockOfKeys block{e_, node_, h_, b, kv};
    const std::int64_t seen = h_.visible(to - 1);
    for (std::int64_t k = 0; k < seen; k += a_.tile_keys) {
      block.load(k, std::min(a_.tile_keys, seen - k), masked(), false);
      for (Rows& one : all)
        if (block.heads->visible(one.tile) > 0) add(one, block);
    }
    for (const Rows& one : all) finish(one, b);
  }

  std::optional<std::size_t> masked() const {
    return node_.in.size() > 3 ? std::optional<std::size_t>{3} : std::nullopt;
  }

  /// The keys of a block: with a larger maximum, what was added up before counts less.
  void add(Rows& rows, const BlockOfKeys& block) {
    const std::int64_t parts = h_.tile_rows(rows.tile);
    const bool first = !rows.context;
    const auto column = [&] { return e_.sbuf(Dtype::kFp32, parts, 1); };
    const Tile x = block.scores(rows.tile, rows.query, static_cast<float>(a_.scale));
    const Tile most = column(), least = column(), sum = column(), less = column();
    e_.reduce(most, Alu::kMax, x);
    if (!first) e_.tensor_tensor(most, most, Alu::kMax, rows.most);
    e_.tensor_scalar(least, most, Alu::kMul, -1.0F);
    const Tile p = e_.sbuf(h_.type, parts, x.cols());
    e_.activation(p, Fn::kExp, x, 1.0F, least, &sum);
    if (!first) {
      e_.activation(less, Fn::kExp, rows.most, 1.0F, least);
      e_.scalar_tensor_tensor(sum, rows.sum, Alu::kMul, less, Alu::kAdd, sum);
    }
    const std::vector<Tile> panels = transpose_tile(e_, block.dropped(p, rows.head, rows.tile), h_.type);
    const Tile product = e_.psum(parts, h_.size);
    for (std::size_t k = 0; k < panels.size(); ++k)
      e_.matmul(product, panels[k], partitions(block.values[k], panels[k].partitions), k > 0);
    if (first) {
      rows.context = e_.sbuf(Dtype::kFp32, parts, h_.size);
      e_.copy(rows.context, product);
    } else {
      e_.scalar_tensor_tensor(rows.context, rows.context, Alu::kMul, less, Alu::kAdd, product);
    }
    rows.most = most, rows.sum = sum;
  }

  void finish(const Rows& rows, std::int64_t b) {
    const std::int64_t parts = h_.tile_rows(rows.tile), row = b * h_.seq + rows.tile * kPartitions;
    const Tile inverse = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.emit({.op = Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = rows.sum});
    const Tile out = e_.sbuf(e_.value(node_.out[0]).dtype, parts, h_.size);
    e_.copy(out, rows.context, inverse);
    e_.store(e_.hbm(node_.out[0], row, parts, rows.head * h_.size, h_.size, 1), out);
    if (e_.graph().users(node_.out[1]).empty() && e_.value(node_.out[1]).kind == Kind::kActivation) return;
    const Tile logarithm = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.activation(logarithm, Fn::kLog, rows.sum);
    e_.tensor_tensor(logarithm, logarithm, Alu::kAdd, rows.most);
    const std::int64_t kept = (b * h_.heads + rows.head) * h_.seq + rows.tile * kPartitions;
    e_.store(e_.hbm(node_.out[1], kept, parts, 0, 1, 1), logarithm);
  }

  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads h_;
  const std::int64_t ratio_;
};

class TiledAttentionGrad {
 public:
  TiledAttentionGrad(Emitter& e, const Node& node)
      : e_{e}, node_{node}, a_{node.attrs.as<AttentionAttrs>()}, h_{e.graph(), node}, ratio_{h_.heads / h_.kv_heads} {}

  void run() {
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.kv_heads});
    for (b_ = part.outer; b_ < part.outer + part.outer_count; ++b_)
      for (kv_ = part.inner; kv_ < part.inner + part.inner_count; ++kv_) {
        BlockOfKeys block{e_, node_, h_, b_, kv_};
        for (std::int64_t k = 0; k < h_.keys; k += a_.tile_keys) {
          const auto mask = node_.in.size() > 6 ? std::optional<std::size_t>{6} : std::nullopt;
          block.load(k, std::min(a_.tile_keys, h_.keys - k), mask, true);
          KeySums sums{e_, *block.heads, 1};
          for (std::int64_t i = 0; i < ratio_; ++i)
            for (std::int64_t t = 0; t < h_.tiles(); ++t)
              if (block.heads->visible(t) > 0) queries(kv_ * ratio_ + i, t, block, sums);
          store(block, sums);
        }
      }
  }

 private:
  void store(const BlockOfKeys& block, KeySums& sums) {
    for (std::int64_t t = 0; t < block.heads->key_tiles(); ++t) {
      const std::int64_t rows = block.heads->key_rows(t);
      const std::int64_t row = b_ * h_.keys + block.heads->first + t * kPartitions;
      const Tile dk = e_.sbuf(e_.value(node_.out[1]).dtype, rows, h_.size);
      const Tile dv = e_.sbuf(e_.value(node_.out[2]).dtype, rows, h_.size);
      sums.take(t, dk, dv, static_cast<float>(a_.scale));
      e_.store(e_.hbm(node_.out[1], row, rows, kv_ * h_.size, h_.size, 1), dk);
      e_.store(e_.hbm(node_.out[2], row, rows, kv_ * h_.size, h_.size, 1), dv);
    }
  }

  Tile rows_of(std::size_t operand, std::int64_t head, std::int64_t t) {
    return e_.loaded(
        h_.type, e_.hbm(node_.in[operand], b_ * h_.seq + t * kPartitions, h_.tile_rows(t), head * h_.size, h_.size, 1));
  }

  /// 128 queries of one head, and a block of their keys.
  void queries(std::int64_t head, std::int64_t t, const BlockOfKeys& block, KeySums& sums) {
    const Tile q = rows_of(0, head, t), dy = rows_of(4, head, t), o = rows_of(5, head, t);
    Tile tanhs{};
    const Tile x = block.scores(t, transpose_tile(e_, q, h_.type), static_cast<float>(a_.scale),
                                a_.soft_cap > 0 ? &tanhs : nullptr);
    const Tile p = probabilities(head, t, x);
    const Tile ds = score_gradients(head, t, block, {.q = q, .dy = dy, .p = p, .ds = o});
    if (a_.soft_cap > 0) {
      e_.tensor_tensor(tanhs, tanhs, Alu::kMul, tanhs);
      e_.tensor_scalar(tanhs, tanhs, Alu::kMul, -1.0F, Alu::kAdd, 1.0F);
      e_.tensor_tensor(ds, ds, Alu::kMul, tanhs);
    }
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
    const Tile product = e_.sbuf(Dtype::kFp32, parts, h_.size), dot = e_.sbuf(Dtype::kFp32, parts, 1);
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
    const bool last = first + ds.cols() >= h_.visible(t);
    const Tile out = e_.sbuf(last ? e_.value(node_.out[0]).dtype : Dtype::kFp32, parts, h_.size);
    const Tile sums = e_.hbm(node_.out[3], row, parts, head * h_.size, h_.size, 1);
    const auto alpha = static_cast<float>(a_.scale);
    if (first > h_.earliest(t))  // not the first block that it sees
      e_.scalar_tensor_tensor(out, sum, Alu::kMul, alpha, Alu::kAdd, e_.loaded(Dtype::kFp32, sums));
    else
      e_.copy(out, sum, alpha);
    e_.store(last ? e_.hbm(node_.out[0], row, parts, head * h_.size, h_.size, 1) : sums, out);
  }

  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads h_;
  const std::int64_t ratio_;
  std::int64_t b_ = 0, kv_ = 0;
};

}  // namespace

void lower_tiled_attention(Emitter& e, const Node& node) { TiledAttention{e, node}.run(); }
void lower_tiled_attention_grad(Emitter& e, const Node& node) { TiledAttentionGrad{e, node}.run(); }

}  // namespace runtime
