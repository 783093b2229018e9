// Attention for rows that SBUF does not hold: keys are taken in blocks, each with the queries that see it. Each query
// has a running maximum, sum and context.
#include "runtime/ops/key_blocks.h"

namespace runtime {
namespace {

class TiledAttention {
 public:
  TiledAttention(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<AttentionAttrs>()},
        h_{e.graph(), node},
        ratio_{h_.heads / h_.kv_heads},
        segment_{node.out.size() > (a_.sinks() ? 3 : 2) ? segment_of(h_, a_) : 0} {}

  void run() {
    if (segment_ > 0) return in_segments();
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.kv_heads});
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b)
      for (std::int64_t kv = part.inner; kv < part.inner + part.inner_count; ++kv)
        for (const Span& tiles : groups({0, h_.tiles()}))
          for (const Rows& one : queries(b, kv, tiles, {0, h_.keys}, false)) finish(one, b);
  }

 private:
  /// 128 queries of one head, and what of their keys was seen so far: their weighted values, the scores' maximum, and
  /// the sum of exponentials. In segments these are columns of `state`.
  struct Rows {
    std::int64_t head, tile;
    HeadPanels query;
    Tile most{}, sum{}, context{}, state{};
  };

  void in_segments() {
    over_segments(
        e_, h_, segment_,
        [&](std::int64_t b, std::int64_t i, std::int64_t j) {
          for (std::int64_t kv = 0; kv < h_.kv_heads; ++kv)
            for (const Span& tiles : groups(tiles_of_segment(h_, segment_, i)))
              for (const Rows& one : queries(b, kv, tiles, rows_of_segment(h_, segment_, j), i != j)) save(one, b);
        },
        [&](std::int64_t b, std::int64_t i) {
          const Span tiles = tiles_of_segment(h_, segment_, i);
          for (std::int64_t head = 0; head < h_.heads; ++head)
            for (std::int64_t t = tiles.begin; t < tiles.begin + tiles.size; ++t) {
              Rows one{.head = head, .tile = t, .query = {}};
              resume(one, b);
              finish(one, b);
            }
        });
  }

  /// Tiles of queries that are in SBUF together: with their contexts, and all heads that share the keys, they take a
  /// quarter of it.
  std::vector<Span> groups(const Span& tiles) const {
    const std::int64_t room = e_.target().geometry.sbuf_partition_bytes / 4,
                       each = ratio_ * (h_.size + h_.value_size) * 4;
    const std::int64_t together = std::max<std::int64_t>(1, std::min<std::int64_t>(16, room / each));
    std::vector<Span> out;
    for (std::int64_t t = 0; t < tiles.size; t += together)
      out.push_back({tiles.begin + t, std::min(together, tiles.size - t)});
    return out;
  }

  /// Queries after keys [keys.begin, +keys.size), of which `resumes` earlier ones were seen.
  std::vector<Rows> queries(std::int64_t b, std::int64_t kv, const Span& tiles, const Span& keys, bool resumes) {
    const std::int64_t from = tiles.begin, to = tiles.begin + tiles.size;
    const Span rows{from * kPartitions, std::min(h_.seq, to * kPartitions) - from * kPartitions};
    const RowTiles q = load_some_rows(e_, h_, node_.in[0], b, rows, {kv * ratio_ * h_.size, ratio_ * h_.size});
    std::vector<Rows> all;
    for (std::int64_t i = 0; i < ratio_; ++i) {
      const HeadPanels panels = transpose_rows(e_, h_, q, {i * h_.size, h_.size});
      for (std::int64_t t = from; t < to; ++t) {
        Rows& one = all.emplace_back(Rows{.head = kv * ratio_ + i, .tile = t, .query = {}});
        for (const Tile& panel : panels) one.query.push_back(columns(panel, (t - from) * kPartitions, h_.tile_rows(t)));
      }
    }
    BlockOfKeys block{e_, node_, h_, b, kv};
    const std::int64_t seen = std::min(h_.visible(to - 1), keys.begin + keys.size);
    for (std::int64_t k = keys.begin; k < seen; k += a_.tile_keys) {
      block.load(k, std::min(a_.tile_keys, seen - k), masked(), false);
      for (Rows& one : all) {
        if (block.heads->visible(one.tile) == 0) continue;
        if (resumes && !one.context) resume(one, b);
        add(one, block);
      }
    }
    return all;
  }

  /// The state of 128 queries of a head between pairs of segments.
  Tile kept(const Rows& rows, std::int64_t b) {
    return e_.hbm(node_.out.back(), b * h_.seq + rows.tile * kPartitions, h_.tile_rows(rows.tile),
                  rows.head * (h_.value_size + 2), h_.value_size + 2, 1);
  }
  void resume(Rows& rows, std::int64_t b) {
    rows.state = e_.loaded(Dtype::kFp32, kept(rows, b));
    rows.context = columns(rows.state, 0, h_.value_size);
    rows.most = columns(rows.state, h_.value_size, 1), rows.sum = columns(rows.state, h_.value_size + 1, 1);
  }
  void save(const Rows& rows, std::int64_t b) {
    if (!rows.context) return;  // none of the keys is in its window
    e_.copy(columns(rows.state, h_.value_size, 1), rows.most);
    e_.copy(columns(rows.state, h_.value_size + 1, 1), rows.sum);
    e_.store(kept(rows, b), rows.state);
  }

  std::optional<std::size_t> masked() const { return has_mask(node_) ? std::optional<std::size_t>{3} : std::nullopt; }

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
    const Tile product = e_.psum(parts, h_.value_size);
    for (std::size_t k = 0; k < panels.size(); ++k)
      e_.matmul(product, panels[k], partitions(block.values[k], panels[k].partitions), k > 0);
    if (first) {
      rows.state = e_.sbuf(Dtype::kFp32, parts, h_.value_size + (segment_ > 0 ? 2 : 0));
      rows.context = columns(rows.state, 0, h_.value_size);
      e_.copy(rows.context, product);
    } else {
      e_.scalar_tensor_tensor(rows.context, rows.context, Alu::kMul, less, Alu::kAdd, product);
    }
    rows.most = most, rows.sum = sum;
  }

  /// The sink comes after all keys: with a larger maximum these count less.
  void add_sink(Rows& rows, std::int64_t b) {
    const std::int64_t parts = h_.tile_rows(rows.tile);
    const auto column = [&] { return e_.sbuf(Dtype::kFp32, parts, 1); };
    const Tile most = column(), less = column(), sum = column(), inverse = column();
    e_.copy(most, rows.most);
    const Tile sink = with_sink(e_, most, e_.broadcast(node_.in.back(), parts, rows.head, 1));
    e_.tensor_tensor(less, rows.most, Alu::kSub, most);
    e_.activation(less, Fn::kExp, less);
    e_.scalar_tensor_tensor(sum, rows.sum, Alu::kMul, less, Alu::kAdd, sink);
    e_.tensor_scalar(rows.context, rows.context, Alu::kMul, less);
    rows.most = most, rows.sum = sum;
    e_.emit({.op = Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = sum});
    keep_share(e_, node_, h_, {b, rows.head, rows.tile}, sink, inverse);
  }

  void finish(Rows rows, std::int64_t b) {
    if (a_.sinks()) add_sink(rows, b);
    const std::int64_t parts = h_.tile_rows(rows.tile), row = b * h_.seq + rows.tile * kPartitions;
    const Tile inverse = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.emit({.op = Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = rows.sum});
    const Tile out = e_.sbuf(e_.value(node_.out[0]).dtype, parts, h_.value_size);
    e_.copy(out, rows.context, inverse);
    e_.store(e_.hbm(node_.out[0], row, parts, rows.head * h_.value_size, h_.value_size, 1), out);
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
  const std::int64_t ratio_, segment_;  // segment_: of a sequence, or 0
};

}  // namespace

void lower_tiled_attention(Emitter& e, const Node& node) { TiledAttention{e, node}.run(); }

}  // namespace runtime
