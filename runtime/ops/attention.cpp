#include "runtime/ops/attention.h"

#include <optional>

#include "runtime/graph/autodiff.h"

namespace runtime {
namespace {

/// The gradient of a bias that sequences share is the sum of the scores' gradients over them.
void attention_backward(Backward& b, const Node& node) {
  std::vector<ValueId> in{node.in[0], node.in[1], node.in[2], node.out[1], b.grad(node), node.out[0]};
  if (node.attrs.as<AttentionAttrs>().flash && has_mask(node)) in.push_back(node.in[3]);
  const auto grads = b.ops(kAttentionGrad, node, "grad", in, node.attrs);
  for (std::size_t i = 0; i < 3; ++i) b.add(node, i, grads[i]);
  const std::size_t bias = node.in.size() - 1;
  if (node.attrs.as<AttentionAttrs>().sinks()) return sinks_backward(b, node);
  if (!node.attrs.as<AttentionAttrs>().biased() || !b.needs(node, bias)) return;
  const Value& like = b.graph().value(node.in[bias]);
  const std::int64_t rows = like.rows;
  if (rows == b.graph().value(grads[3]).rows) return b.add(node, bias, grads[3]);
  b.add(node, bias,
        b.op(kPositionsGrad, node, "bias", {grads[3]},
             PositionsGradAttrs{.seq = rows, .rows = rows, .dtype = like.dtype}));
}

class Attention {
 public:
  Attention(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<AttentionAttrs>()},
        h_{e.graph(), node},
        keep_{kept(e.graph(), node.out[1])},
        scale_{scale_of(e, node)},
        spills_{score_bytes() > sbuf_bytes()} {}

  void run() {
    const std::int64_t group = h_.group(), ratio = h_.heads / h_.kv_heads;
    if (a_.slopes()) number_keys();
    if (a_.sinks()) sinks_ = e_.broadcast(node_.in.back(), std::min(kPartitions, h_.seq), 0, h_.heads);
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.heads / group});
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b) {
      if (has_mask(node_))
        mask_ = e_.loaded(h_.score, e_.hbm_row(node_.in[3], b, std::min(kPartitions, h_.seq), 0, h_.keys));
      for (std::int64_t turn = part.inner; turn < part.inner + part.inner_count; ++turn) {
        const std::int64_t first = turn * group;
        const std::int64_t kv = first / ratio, kvs = group / ratio;
        const RowTiles q = load_rows(e_, h_, node_.in[0], b, first * h_.size, group * h_.size);
        const RowTiles k = load_rows(e_, h_, node_.in[1], b, kv * h_.size, kvs * h_.size);
        const RowTiles v = load_rows(e_, h_, node_.in[2], b, kv * h_.value_size, kvs * h_.value_size);
        RowTiles context;
        for (std::int64_t t = 0; t < h_.tiles(); ++t)
          context.push_back(e_.sbuf(e_.value(node_.out[0]).dtype, h_.tile_rows(t), group * h_.value_size));
        HeadPanels keys;
        for (std::int64_t i = 0; i < group; ++i) {
          if (i % ratio == 0) keys = transpose_rows(e_, h_, k, {i / ratio * h_.size, h_.size});
          const HeadPanels queries = transpose_rows(e_, h_, q, {i * h_.size, h_.size}, scale_);
          for (std::int64_t t = 0; t < h_.tiles(); ++t)
            one({b, first + i, t}, queries, {keys, v, i / ratio * h_.value_size},
                columns(context[static_cast<std::size_t>(t)], i * h_.value_size, h_.value_size));
        }
        for (std::int64_t t = 0; t < h_.tiles(); ++t) {
          const Tile& tile = context[static_cast<std::size_t>(t)];
          const std::int64_t row = b * h_.seq + t * kPartitions;
          e_.store(e_.hbm(node_.out[0], row, h_.tile_rows(t), first * h_.value_size, group * h_.value_size, 1), tile);
          if (group == h_.heads) e_.keep(node_.out[0], row, tile);
        }
      }
    }
  }

 private:
  /// Scores that exist at a time where each step is an operation; 0 elsewhere. kUnfused: those of all heads of a
  /// sequence, whose graph works on one after the other, in the type of the operands.
  double score_bytes() const {
    if (a_.tile_keys == AttentionAttrs::kUnfusedTogether) return h_.pairs() * isa::size_of(Dtype::kFp32);
    if (a_.tile_keys != AttentionAttrs::kUnfused) return 0;
    return h_.pairs() / static_cast<double>(h_.batch) * isa::size_of(e_.value(node_.in[0]).dtype);
  }
  double sbuf_bytes() const { return static_cast<double>(kPartitions * e_.target().geometry.sbuf_partition_bytes); }
  static bool kept(const Graph& graph, ValueId v) {
    return graph.value(v).kind != Kind::kActivation || !graph.users(v).empty();
  }

  /// The numbers of all keys, and the slopes of all heads, for 128 queries.
  void number_keys() {
    const std::int64_t parts = std::min(kPartitions, h_.seq);
    slopes_ = e_.broadcast(node_.in[operands_of(node_) - 1], parts, 0, h_.heads);
    key_numbers_ = e_.sbuf(Dtype::kFp32, parts, h_.keys);
    e_.emit({.op = Opcode::kIota, .engine = isa::Engine::kGpSimd, .imm1 = 0, .imm2 = 1, .dst = key_numbers_});
  }

  struct KeysAndValues {
    const HeadPanels& keys;
    const RowTiles& values;
    std::int64_t col;  // of the head's values
  };

  /// 128 queries of one head.
  void one(const QueryPlace& place, const HeadPanels& queries, const KeysAndValues& kv, const Tile& context) {
    const auto [b, head, t] = place;
    const std::int64_t parts = h_.tile_rows(t), seen = h_.visible(t);
    row_ = (b * h_.heads + head) * h_.seq + t * kPartitions;
    place_ = place;
    Tile bias{};
    if (a_.biased()) bias = bias_of(t);
    if (a_.slopes()) slope_ = columns(slopes_, head, 1);
    const Tile p = passed(softmax(scores(t, parts, seen, queries, kv.keys, bias), parts, seen));
    Tile kept = p;
    if (a_.p > 0) {
      kept = e_.sbuf(h_.type, parts, seen);
      drop_scores(e_, h_, node_, (b * h_.heads + head) * h_.tiles() + t, kept,
                  [&](auto c, auto width) { return columns(p, c, width); });
    } else if (p.dtype != h_.type) {
      kept = e_.sbuf(h_.type, parts, seen);
      e_.copy(kept, p);
    }
    const std::vector<Tile> panels = transpose_tile(e_, kept, h_.type);
    const Tile sum = e_.psum(parts, h_.value_size);
    for (std::size_t k = 0; k < panels.size(); ++k)
      e_.matmul(sum, panels[k], columns(partitions(kv.values[k], panels[k].partitions), kv.col, h_.value_size), k > 0);
    e_.copy(context, sum);
  }

  /// The bias of 128 queries. One that all heads share stays in SBUF if it needs an eighth of that at most.
  Tile bias_of(std::int64_t t) {
    const ValueId v = node_.in[operands_of(node_) - 1];
    const std::int64_t rows = e_.value(v).rows, row = row_ % rows;
    const std::int64_t all = h_.tiles() * h_.keys * isa::size_of(h_.score);
    const bool stays = rows == h_.seq && 8 * all <= e_.target().geometry.sbuf_partition_bytes;
    const auto load = [&] { return e_.loaded(h_.score, e_.hbm(v, row, h_.tile_rows(t))); };
    if (!stays) return load();
    biases_.resize(static_cast<std::size_t>(h_.tiles()));
    std::optional<Tile>& kept = biases_[static_cast<std::size_t>(t)];
    if (!kept) kept = load();
    return *kept;
  }

  /// `x` as the next operation reads it: `x` itself, or its copy from HBM.
  Tile passed(const Tile& x) {
    if (!spills_) return x;
    e_.store(e_.hbm(node_.out[1], row_, x.partitions, 0, x.cols(), 1), x);
    return again(x);
  }
  /// As above, for another operation that reads it.
  Tile again(const Tile& x) {
    return spills_ ? e_.loaded(x.dtype, e_.hbm(node_.out[1], row_, x.partitions, 0, x.cols(), 1)) : x;
  }

  Tile scores(std::int64_t t, std::int64_t parts, std::int64_t seen, const HeadPanels& queries, const HeadPanels& keys,
              const Tile& bias) {
    const Tile x = e_.sbuf(h_.score, parts, seen);
    HeadPanels some;
    for (const Tile& panel : queries) some.push_back(columns(panel, t * kPartitions, parts));
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      const Tile sum = e_.psum(parts, width);
      contract_heads(e_, sum, some, keys, c);
      const Tile raw = a_.soft_cap > 0 ? capped(columns(x, c, width), sum) : sum;
      if (mask_)
        e_.tensor_tensor(columns(x, c, width), raw, Alu::kAdd, columns(partitions(mask_, parts), c, width));
      else if (!bias && !slope_ && a_.soft_cap == 0)
        e_.copy(columns(x, c, width), sum);
      if (slope_)
        e_.scalar_tensor_tensor(columns(x, c, width), columns(partitions(key_numbers_, parts), c, width), Alu::kMul,
                                partitions(slope_, parts), Alu::kAdd, mask_ ? columns(x, c, width) : sum);
      if (bias)
        e_.tensor_tensor(columns(x, c, width), mask_ ? columns(x, c, width) : sum, Alu::kAdd, columns(bias, c, width));
    }
    if (!a_.causal) return passed(x);
    if (spills_) return passed(selected(passed(x), t));
    hide(x, t, kHiddenScore);
    return x;
  }

  Tile capped(const Tile& to, const Tile& scores) {
    e_.activation(to, Fn::kTanh, scores, static_cast<float>(1 / a_.soft_cap));
    e_.tensor_scalar(to, to, Alu::kMul, static_cast<float>(a_.soft_cap));
    return to;
  }

  /// Scores of keys that a query does not see become `value`.
  void hide(const Tile& x, std::int64_t t, float value) {
    const std::int64_t first = h_.skips ? t * kPartitions : 0;
    hide_later(e_, columns(x, first, x.cols() - first), t, first, value);
    if (a_.window > 0 && a_.window < x.cols()) hide_earlier(e_, x, t, a_.window, value);
  }
  /// The same by a mask and a constant, each as large as the scores.
  Tile selected(const Tile& x, std::int64_t t) {
    const Tile mask = e_.sbuf(Dtype::kUint8, x.partitions, x.cols());
    e_.fill(mask, 1);
    hide(mask, t, 0);
    const Tile seen = passed(mask), hidden = e_.sbuf(x.dtype, x.partitions, x.cols());
    e_.fill(hidden, kHiddenScore);
    const Tile out = passed(hidden);
    e_.emit({.op = Opcode::kCopyPredicated, .engine = isa::Engine::kVector, .dst = out, .a = x, .b = seen});
    return out;
  }

  /// exp(x - max) / sum by rows.
  Tile softmax(const Tile& x, std::int64_t parts, std::int64_t seen) {
    const Tile most = e_.sbuf(Dtype::kFp32, parts, 1), least = e_.sbuf(Dtype::kFp32, parts, 1);
    const Tile sum = e_.sbuf(Dtype::kFp32, parts, 1), inverse = e_.sbuf(Dtype::kFp32, parts, 1);
    Tile exponentials = e_.sbuf(h_.score, parts, seen);
    const bool probabilities = keep_ && !a_.flash;
    const Tile p = e_.sbuf(probabilities ? e_.value(node_.out[1]).dtype : h_.type, parts, seen);
    e_.reduce(most, Alu::kMax, x);
    const Tile sink = a_.sinks() ? with_sink(e_, most, columns(partitions(sinks_, parts), place_.head, 1)) : Tile{};
    e_.tensor_scalar(least, most, Alu::kMul, -1.0F);
    if (spills_)
      exponentials = apart(again(x), least, sum);
    else
      e_.activation(exponentials, Fn::kExp, x, 1.0F, least, &sum);
    if (sink) e_.tensor_tensor(sum, sum, Alu::kAdd, sink);
    e_.emit({.op = Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = sum});
    if (sink) keep_share(e_, node_, h_, place_, sink, inverse);
    if (spills_) {
      const Tile whole = again(exponentials);  // before the broadcast takes its place
      e_.tensor_tensor(p, whole, Alu::kMul, widened(inverse, whole));
    } else {
      e_.copy(p, exponentials, inverse);
    }
    if (probabilities) e_.store(e_.hbm(node_.out[1], row_, parts, 0, seen, 1), p);
    if (keep_ && a_.flash) {
      const Tile logarithm = e_.sbuf(Dtype::kFp32, parts, 1);
      e_.activation(logarithm, Fn::kLog, sum);
      e_.tensor_tensor(logarithm, logarithm, Alu::kAdd, most);
      e_.store(e_.hbm(node_.out[1], row_, parts, 0, 1, 1), logarithm);
    }
    return p;
  }

  /// `column` [P, 1] in the shape of `like`, as the next operation reads it.
  Tile widened(const Tile& column, const Tile& like) {
    const Tile wide = e_.sbuf(h_.score, like.partitions, like.cols());
    e_.activation(wide, Fn::kCopy, like, 0.0F, column);
    return passed(wide);
  }
  /// exp(x + least) and its sum by rows, in four operations.
  Tile apart(const Tile& x, const Tile& least, const Tile& sum) {
    const Tile difference = widened(least, x);
    const Tile exponentials = e_.sbuf(h_.score, x.partitions, x.cols());
    e_.tensor_tensor(difference, x, Alu::kAdd, difference);
    e_.activation(exponentials, Fn::kExp, passed(difference));
    const Tile summed = passed(exponentials);
    e_.reduce(sum, Alu::kAdd, summed);
    return summed;
  }

  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads h_;
  const bool keep_;
  const Scalar scale_;
  const bool spills_;
  std::int64_t row_ = 0;  // of the probabilities: the first of 128 queries of a head
  QueryPlace place_{};
  Tile mask_{};
  Tile key_numbers_{}, slopes_{}, slope_{}, sinks_{};  // slope_: of the present head
  std::vector<std::optional<Tile>> biases_{};          // of tiles of queries, which heads share
};

void attention_lower(Emitter& e, const Node& node) {
  node.attrs.as<AttentionAttrs>().tile_keys > 0 ? lower_tiled_attention(e, node) : Attention{e, node}.run();
}

/// One number per row is kept in place of the probabilities. Not with a bias, whose gradient is that of all scores.
bool attention_flash(Graph& graph, NodeId n) {
  auto& a = graph.node(n).attrs.as<AttentionAttrs>();
  if (a.biased() || a.slopes() || scale_is_data(a)) return false;
  a.flash = true;
  const ValueId kept = graph.node(n).out[1];
  graph.set_shape(kept, {graph.value(kept).rows, 1, Dtype::kFp32});
  return true;
}

/// Keys by blocks, and no probabilities.
bool attention_tiled(Graph& graph, NodeId n, const isa::Geometry& geometry) {
  const Heads h{graph, graph.node(n)};
  const auto& a = graph.node(n).attrs.as<AttentionAttrs>();
  if (!rows_are_long(h, a, geometry)) return false;
  if (!a.flash) attention_flash(graph, n);
  auto& attrs = graph.node(n).attrs.as<AttentionAttrs>();
  attrs.tile_keys = kTileKeys;
  if (segment_of(h, attrs) > 0) graph.append_result(n, {h.batch * h.seq, h.heads * (h.value_size + 2), Dtype::kFp32});
  return true;
}

/// q k^T and p v.
double attention_flops(const Graph& g, const Node& node) {
  const Heads h{g, node};
  return 2.0 * h.pairs() * static_cast<double>(h.size + h.value_size);
}

}  // namespace

const Op kAttention{.name = "attention",
                    .text = "softmax(alpha q k^T + mask + bias) v by heads",
                    .attrs = AttentionAttrs{},
                    .infer = attention_infer,
                    .forward = attention_forward,
                    .backward = attention_backward,
                    .lower_whole = attention_lower,
                    .matmul_flops = attention_flops,
                    .tensor_operands = {0, 1, 2},
                    .use_flash = attention_flash,
                    .tile_long_rows = attention_tiled,
                    .pieces = heads_and_sequences,
                    .recomputed_selectively = true};

}  // namespace runtime
