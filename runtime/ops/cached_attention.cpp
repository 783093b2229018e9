// Generation: keys and values of earlier tokens stay in HBM; a step reads them and adds one row to each.
#include <algorithm>

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/attention.h"
#include "runtime/ops/cached_attention.h"
#include "runtime/ops/cached_sizes.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

using cached::dim;
using cached::Sizes;
using cached::view;

/// The new keys and values become rows of the caches. It comes last: nothing above reads them there.
void append_rows(Emitter& e, const Node& node, const Tile& new_keys, const Tile& new_values) {
  const Sizes n{e.graph(), node};
  const bool windowed = node.attrs.as<CachedAttentionAttrs>().window > 0;
  const ValueId places = node.in[windowed ? 6 : 5];
  const Tile slot = n.beside ? cache_rows_beside(e, places, n.batch) : cache_rows(e, places, n.batch, n.rows_there);
  e.scatter(table_of(e, node.out[1]), partitions(new_keys, n.batch), slot);
  e.scatter(table_of(e, node.out[2]), partitions(new_values, n.batch), slot);
}

/// A number of each sequence as fp32, in each of `parts` partitions: [parts, B].
Tile spread(Emitter& e, ValueId integers, std::int64_t parts) {
  const std::int64_t batch = e.value(integers).rows;
  const Tile row = e.loaded(Dtype::kInt32, e.hbm_flat(integers, 0, 1, batch, batch));
  const Tile numbers = e.sbuf(Dtype::kFp32, 1, batch);
  e.tensor_scalar(numbers, row, Alu::kAdd, 0.0F);
  return e.spread(numbers, parts);
}

Tile converted(Emitter& e, const Tile& tile, Dtype type) {
  const Tile out = e.sbuf(type, tile.partitions, tile.cols());
  e.copy(out, tile);
  return out;
}

/// [keys, heads * tiles]: each key's number times each head's slope, in the order of the scores of a sequence.
Tile slopes_by_key(Emitter& e, const Sizes& n, const Tile& key_numbers, const Tile& slopes) {
  const Tile out = e.sbuf(Dtype::kFp32, n.keys, n.heads * n.tiles);
  const auto threefold = [&n](Tile tile, std::int64_t group, std::int64_t of_tile, std::int64_t head) {
    tile.rank = 3;
    tile.free[0] = dim(group, n.groups), tile.free[1] = dim(of_tile, n.tiles), tile.free[2] = dim(head, n.ratio);
    return tile;
  };
  e.tensor_tensor(threefold(out, n.tiles * n.ratio, n.ratio, 1), threefold(key_numbers, 0, 1, 0), Alu::kMul,
                  threefold(partitions(slopes, n.keys), n.ratio, 0, 1));
  return out;
}

/// Adds the same of the new tokens' keys: `scores` has a column for each head of each sequence from `first` on.
void add_slopes(Emitter& e, const Sizes& n, const Tile& scores, std::int64_t first, const Tile& places,
                const Tile& slopes) {
  const Tile term = e.sbuf(Dtype::kFp32, scores.partitions, scores.cols());
  const std::int64_t count = scores.cols() / n.heads;
  e.tensor_tensor(fold(term, count, n.heads), view(partitions(places, n.batch), first, dim(1, count), dim(0, n.heads)),
                  Alu::kMul, view(partitions(slopes, n.batch), 0, dim(0, count), dim(1, n.heads)));
  e.tensor_tensor(scores, scores, Alu::kAdd, term);
}

/// Scores as attrs.soft_cap says, which may be those in PSUM.
Tile capped(Emitter& e, const Node& node, const Tile& scores) {
  const double cap = node.attrs.as<CachedAttentionAttrs>().soft_cap;
  if (cap <= 0) return scores;
  const Tile out = e.sbuf(Dtype::kFp32, scores.partitions, scores.cols());
  e.activation(out, Fn::kTanh, scores, static_cast<float>(1 / cap));
  e.tensor_scalar(out, out, Alu::kMul, static_cast<float>(cap));
  return out;
}

/// The sinks of `heads` heads and the first partition of `x`, which has a column for each sequence and head.
void with_sinks(Emitter& e, const Tile& out, const Tile& sinks, Alu alu, const Tile& x) {
  const std::int64_t heads = sinks.cols(), count = x.cols() / heads;
  e.tensor_tensor(fold(out, count, heads), view(sinks, 0, dim(0, count), dim(1, heads)), alu,
                  fold(partitions(x, 1), count, heads));
}

/// exp(sink - most), which counts in the sums.
Tile sink_exponentials(Emitter& e, const Tile& sinks, const Tile& most) {
  const Tile out = e.sbuf(Dtype::kFp32, 1, most.cols());
  with_sinks(e, out, sinks, Alu::kSub, most);
  e.activation(out, Fn::kExp, out);
  return out;
}

/// [keys, tiles]: key j is in partition j mod keys.
Tile key_numbers(Emitter& e, const Sizes& n) {
  const Tile out = e.sbuf(Dtype::kFp32, n.keys, n.tiles);
  e.emit(
      {.op = Opcode::kIota, .engine = isa::Engine::kGpSimd, .imm1 = 1, .imm2 = static_cast<float>(n.keys), .dst = out});
  return out;
}

/// [d, count * keys]: `count` tiles of keys, transposed; their heads are `step` apart from `head` on.
HeadPanels transposed_tiles(Emitter& e, const Sizes& n, const Tile& keys, std::int64_t head, std::int64_t step,
                            std::int64_t count) {
  HeadPanels out;
  for (std::size_t part = 0; part < n.key.panels(); ++part) {
    const Tile square = e.psum(n.key.depth(part), count * n.keys, n.type);
    out.push_back(e.sbuf(n.type, n.key.depth(part), count * n.keys));
    for (std::int64_t i = 0; i < count; ++i)
      e.transpose(columns(square, i * n.keys, n.keys), n.key.panel_of(keys, head + i * step, part));
    e.copy(out.back(), square);
  }
  return out;
}

/// Tiles with one column for each sequence and head have it at b * heads + h; scores have `tiles` for each of them,
/// those of a group's heads side by side.
class CachedAttention {
 public:
  CachedAttention(Emitter& e, const Node& node)
      : e_{e}, node_{node}, n_{e.graph(), node}, new_keys_{rows_of(node.in[1])}, new_values_{rows_of(node.in[2])} {}

  void run() {
    queries_ =
        transposed(rows_of(node_.in[0]), n_.heads, static_cast<float>(node_.attrs.as<CachedAttentionAttrs>().scale));
    transposed_keys_ = transposed(new_keys_, n_.groups, 1);
    places_ = spread(e_, node_.in[5], has_slopes() ? n_.rows() : n_.keys);
    if (window() > 0) slots_ = spread(e_, node_.in[6], n_.keys);
    key_numbers_ = key_numbers(e_, n_);
    if (has_slopes()) {
      slopes_ = e_.broadcast(node_.in[6], n_.rows(), 0, n_.heads);
      by_key_ = slopes_by_key(e_, n_, key_numbers_, slopes_);
    }
    if (node_.attrs.as<CachedAttentionAttrs>().sinks()) sinks_ = e_.broadcast(node_.in.back(), 1, 0, n_.heads);
    for (std::int64_t b = 0; b < n_.batch; b += n_.together()) group(b, std::min(n_.together(), n_.batch - b));
    append_rows(e_, node_, new_keys_, new_values_);
  }

 private:
  std::int64_t window() const { return node_.attrs.as<CachedAttentionAttrs>().window; }

  bool has_slopes() const { return node_.attrs.as<CachedAttentionAttrs>().slopes(); }

  Tile rows_of(ValueId v) {
    const Tile* kept = e_.kept(v, 0, n_.batch);
    return kept ? *kept : e_.loaded(e_.value(v).dtype, e_.hbm(v, 0, n_.batch));
  }

  /// [B, heads * d] -> [d, B * heads]: column b * heads + h.
  HeadPanels transposed(const Tile& rows, std::int64_t heads, float scale) {
    HeadPanels out;
    const std::int64_t per_bank = std::max<std::int64_t>(1, e_.bank_columns(rows.dtype) / n_.batch);
    for (std::size_t part = 0; part < n_.key.panels(); ++part) {
      out.push_back(e_.sbuf(n_.type, n_.key.depth(part), n_.batch * heads));
      for (std::int64_t first = 0; first < heads; first += per_bank) {
        const std::int64_t count = std::min(per_bank, heads - first);
        const Tile bank = e_.psum(n_.key.depth(part), count * n_.batch, rows.dtype);
        for (std::int64_t i = 0; i < count; ++i)
          e_.transpose(columns(bank, i * n_.batch, n_.batch), n_.key.panel_of(rows, first + i, part));
        e_.copy(view(out.back(), first, dim(1, count), dim(heads, n_.batch)),
                view(bank, 0, dim(n_.batch, count), dim(1, n_.batch)), scale);
      }
    }
    return out;
  }

  const cached::Elements& elements(std::size_t which) const { return which == 3 ? n_.key : n_.value; }
  /// Tiles [tile, tile + count) of the caches of `some` sequences from b on, [keys, count * some * groups * elements]:
  /// key j is in partition j mod keys, as compilers cut loops over keys, so that each descriptor is one row.
  Tile cached(std::size_t which, std::int64_t b, std::int64_t some, std::int64_t tile, std::int64_t count) {
    const std::int64_t width = n_.groups * elements(which).count, row = n_.beside ? n_.batch * width : width;
    const std::int64_t first = b * (n_.beside ? width : n_.rows_there * width) + tile * n_.keys * row;
    Tile rows = e_.hbm_flat(node_.in[which], first, n_.keys, count * some * width, row);
    rows.rank = 2;
    rows.free[0] = dim(n_.keys * row, count), rows.free[1] = dim(1, some * width);
    return e_.loaded(n_.type, rows);
  }
  template <class F>
  void for_tiles(std::size_t which, std::int64_t b, std::int64_t some, const F& f) {
    const std::int64_t step = n_.step(elements(which), e_.value(node_.in[which]).dtype, some);
    for (std::int64_t t = 0; t < n_.tiles; t += step) {
      const std::int64_t count = std::min(step, n_.tiles - t);
      f(t, count, cached(which, b, some, t, count));
    }
  }

  void group(std::int64_t first, std::int64_t count) {
    const std::int64_t cols = count * n_.heads;
    const Tile scores = e_.sbuf(Dtype::kFp32, n_.keys, cols * n_.tiles);
    const std::int64_t some = n_.at_once(count), each = n_.heads * n_.tiles;
    for (std::int64_t b = 0; b < count; b += some) score(first + b, some, columns(scores, b * each, some * each));
    const Tile fresh = new_scores(first, count);
    const Tile most = maxima(scores, fresh, cols);
    const Tile p = e_.sbuf(n_.type, n_.keys, cols * n_.tiles), fresh_p = e_.sbuf(n_.type, n_.batch, cols);
    e_.tensor_tensor(n_.by_tile(scores, n_.tiles, n_.ratio), n_.by_tile(scores, n_.tiles, n_.ratio), Alu::kSub,
                     n_.by_tile(partitions(most, n_.keys), 1, 0));
    e_.activation(p, Fn::kExp, scores);
    e_.tensor_tensor(fresh, fresh, Alu::kSub, partitions(most, n_.batch));
    e_.activation(fresh_p, Fn::kExp, fresh);
    const Tile inverse = inverse_sums(p, fresh_p, sinks_ ? sink_exponentials(e_, sinks_, most) : Tile{});
    HeadPanels sums, context;
    for (std::size_t part = 0; part < n_.value.panels(); ++part) sums.push_back(e_.psum(n_.value.depth(part), cols));
    for (std::int64_t b = 0; b < count; b += some)
      weigh(first + b, some, columns(p, b * each, some * each), b * n_.heads, sums);
    const Tile values = new_values_.dtype == n_.type ? new_values_ : converted(e_, new_values_, n_.type);
    for (std::size_t part = 0; part < n_.value.panels(); ++part) {
      for (std::int64_t g = 0; g < n_.groups; ++g)
        e_.matmul(n_.of_group(sums[part], g, count), n_.value.panel_of(values, g, part), n_.of_group(fresh_p, g, count),
                  true);
      context.push_back(e_.sbuf(e_.value(node_.out[0]).dtype, n_.value.depth(part), cols));
      e_.tensor_tensor(context.back(), sums[part], Alu::kMul, partitions(inverse, n_.value.depth(part)));
    }
    finish(first, count, context);
  }

  /// The term added to the scores of sequence b: much less than any score where the cache has no token yet, or one that
  /// its window has left. The token in row r came (slot - r) mod N before the new one, or N where that is 0.
  Tile hidden(std::int64_t b) {
    const Tile mask = e_.sbuf(Dtype::kFp32, n_.keys, n_.tiles);
    e_.tensor_scalar(mask, key_numbers_, Alu::kGe, columns(partitions(places_, n_.keys), b, 1), Alu::kMul,
                     kHiddenScore);
    if (window() == 0) return mask;
    const Tile left = e_.sbuf(Dtype::kFp32, n_.keys, n_.tiles), turn = e_.sbuf(Dtype::kFp32, n_.keys, n_.tiles);
    e_.tensor_scalar(left, key_numbers_, Alu::kSub, columns(slots_, b, 1));
    e_.tensor_scalar(turn, left, Alu::kLt, 0.0F, Alu::kMul, static_cast<float>(n_.rows_there));
    e_.tensor_tensor(left, left, Alu::kAdd, turn);  // steps until the row is written again, but for this one
    const auto seen_from = static_cast<float>(n_.rows_there - window() + 1);
    e_.tensor_scalar(left, left, Alu::kLt, seen_from, Alu::kMul, kHiddenScore);
    e_.tensor_tensor(mask, mask, Alu::kMin, left);  // not their sum, which is infinite
    return mask;
  }

  /// Scores of `some` sequences from `from` on to their cached keys.
  void score(std::int64_t from, std::int64_t some, const Tile& scores) {
    std::vector<Tile> masks;
    for (std::int64_t b = 0; b < some; ++b) masks.push_back(hidden(from + b));
    for_tiles(3, from, some, [&](std::int64_t tile, std::int64_t count, const Tile& keys) {
      for (std::int64_t b = 0; b < some; ++b)
        for (std::int64_t g = 0; g < n_.groups; ++g) {
          const Tile bank =
              score_tiles(keys, b * n_.groups + g, some * n_.groups, count, (from + b) * n_.heads + g * n_.ratio);
          const std::int64_t first = b * n_.heads * n_.tiles + (g * n_.tiles + tile) * n_.ratio;
          const Tile sums = view(scores, first, dim(n_.ratio, count), dim(1, n_.ratio));
          e_.tensor_tensor(sums, fold(capped(e_, node_, bank), count, n_.ratio), Alu::kAdd,
                           view(masks[static_cast<std::size_t>(b)], tile, dim(1, count), dim(0, n_.ratio)));
          if (has_slopes())
            e_.tensor_tensor(sums, sums, Alu::kAdd,
                             view(by_key_, (g * n_.tiles + tile) * n_.ratio, dim(n_.ratio, count), dim(1, n_.ratio)));
        }
    });
  }

  /// [keys, count * ratio]: products of `count` tiles of keys, of which head `head` of `heads` side by side is read,
  /// and the queries from column `queries` on.
  Tile score_tiles(const Tile& keys, std::int64_t head, std::int64_t heads, std::int64_t count, std::int64_t queries) {
    const Tile bank = e_.psum(n_.keys, count * n_.ratio);
    const std::int64_t per_bank = e_.bank_columns(n_.type) / n_.keys;
    for (std::int64_t t = 0; t < count; t += per_bank) {
      const std::int64_t some = std::min(per_bank, count - t);
      const HeadPanels panels = transposed_tiles(e_, n_, keys, t * heads + head, heads, some);
      for (std::int64_t i = 0; i < some; ++i)
        for (std::size_t part = 0; part < n_.key.panels(); ++part)
          e_.matmul(columns(bank, (t + i) * n_.ratio, n_.ratio), columns(panels[part], i * n_.keys, n_.keys),
                    columns(queries_[part], queries, n_.ratio), part > 0);
    }
    return bank;
  }

  /// Scores to all new keys, of which each sequence sees its own.
  Tile new_scores(std::int64_t first, std::int64_t count) {
    const std::int64_t cols = count * n_.heads, heads = n_.heads;
    const Tile bank = e_.psum(n_.batch, cols), own = e_.sbuf(Dtype::kFp32, n_.batch, cols);
    for (std::int64_t g = 0; g < n_.groups; ++g)
      for (std::size_t part = 0; part < n_.key.panels(); ++part) {
        Tile keys = columns(transposed_keys_[part], g, n_.batch);
        keys.free[0].step = static_cast<std::int32_t>(n_.groups);
        e_.matmul(n_.of_group(bank, g, count), keys,
                  n_.of_group(columns(queries_[part], first * heads, cols), g, count), part > 0);
      }
    // Column c is of sequence first + c / heads: where c - (p - first) * heads is from 0 to heads - 1.
    const auto begin = static_cast<float>(first * heads), size = static_cast<float>(heads);
    e_.copy(own, capped(e_, node_, bank));
    if (has_slopes()) add_slopes(e_, n_, own, first, places_, slopes_);
    e_.affine_select(own, begin, -size, 1, kHiddenScore);
    e_.affine_select(own, size - 1 - begin, size, -1, kHiddenScore);
    return own;
  }

  /// The largest score of each column, in every partition: transposed, reduced, and transposed back. In PSUM.
  Tile maxima(const Tile& scores, const Tile& fresh, std::int64_t cols) {
    const std::int64_t rows = n_.rows();
    const Tile some = e_.sbuf(Dtype::kFp32, rows, cols);
    if (n_.keys < rows) e_.fill(some, kHiddenScore);
    e_.reduce(partitions(some, n_.keys), Alu::kMax, n_.by_head(scores));
    e_.tensor_tensor(partitions(some, n_.batch), partitions(some, n_.batch), Alu::kMax, fresh);
    if (sinks_) with_sinks(e_, partitions(some, 1), sinks_, Alu::kMax, some);
    const Tile transposed = e_.psum(cols, rows), most = e_.sbuf(Dtype::kFp32, cols, 1);
    e_.transpose(transposed, some);
    e_.reduce(most, Alu::kMax, transposed);
    const Tile wide = e_.sbuf(Dtype::kFp32, cols, rows), back = e_.psum(rows, cols);
    e_.copy(wide, widen(most, rows));
    e_.transpose(back, wide);
    return back;
  }

  /// 1 / the sum of each column, in as many partitions as a panel of a head has.
  Tile inverse_sums(const Tile& p, const Tile& fresh, const Tile& sinks) {
    const std::int64_t rows = n_.rows(), cols = fresh.cols();
    const std::int64_t depth = n_.value.depth(0);
    const Tile sums = e_.sbuf(Dtype::kFp32, rows, cols), all = e_.psum(depth, cols);
    if (n_.keys < rows) e_.fill(sums, 0);
    e_.reduce(partitions(sums, n_.keys), Alu::kAdd, n_.by_head(p));
    e_.tensor_tensor(partitions(sums, n_.batch), partitions(sums, n_.batch), Alu::kAdd, fresh);
    if (sinks) e_.tensor_tensor(partitions(sums, 1), partitions(sums, 1), Alu::kAdd, sinks);
    e_.matmul(all, partitions(columns(e_.ones(Dtype::kFp32, kPartitions), 0, depth), rows), sums, false);
    const Tile inverse = e_.sbuf(Dtype::kFp32, depth, cols);
    e_.activation(inverse, Fn::kReciprocal, all);
    return inverse;
  }

  /// Sums of the values of the caches of `some` sequences, in columns from `col` on: [e, sequences and heads].
  void weigh(std::int64_t from, std::int64_t some, const Tile& p, std::int64_t col, const HeadPanels& sums) {
    for_tiles(4, from, some, [&](std::int64_t tile, std::int64_t count, const Tile& values) {
      for (std::int64_t b = 0; b < some; ++b)
        for (std::int64_t g = 0; g < n_.groups; ++g)
          for (std::int64_t t = 0; t < count; ++t)
            for (std::size_t part = 0; part < n_.value.panels(); ++part)
              e_.matmul(columns(sums[part], col + b * n_.heads + g * n_.ratio, n_.ratio),
                        n_.value.panel_of(values, (t * some + b) * n_.groups + g, part),
                        columns(p, b * n_.heads * n_.tiles + (g * n_.tiles + tile + t) * n_.ratio, n_.ratio),
                        tile + t > 0);
    });
  }

  /// [e, sequences and heads] -> rows of the result.
  void finish(std::int64_t first, std::int64_t count, const HeadPanels& context) {
    const ValueId out = node_.out[0];
    const Dtype type = context.front().dtype;
    const std::int64_t width = n_.value.count, per_bank = e_.bank_columns(type) / width;
    const Tile rows = e_.sbuf(type, count, n_.heads * width);
    for (std::int64_t h = 0; h < n_.heads; h += per_bank) {
      const std::int64_t some = std::min(per_bank, n_.heads - h);
      const Tile bank = e_.psum(count, some * width, type);
      for (std::int64_t i = 0; i < some; ++i)
        for (std::size_t part = 0; part < n_.value.panels(); ++part) {
          Tile head = columns(context[part], h + i, count);
          head.free[0].step = static_cast<std::int32_t>(n_.heads);
          e_.transpose(n_.value.panel_of(bank, i, part), head);
        }
      e_.copy(columns(rows, h * width, some * width), bank);
    }
    e_.store(e_.hbm(out, first, count), rows);
    if (count == n_.batch) e_.keep(out, 0, rows);
  }

  Emitter& e_;
  const Node& node_;
  const Sizes n_;
  const Tile new_keys_, new_values_;      // [B, groups * d], [B, groups * e]
  HeadPanels queries_, transposed_keys_;  // [d, B * heads], [d, B * groups]
  Tile places_{}, slots_{};               // [keys, B], with slopes [rows, B]
  Tile key_numbers_{};                    // [keys, tiles]
  Tile slopes_{}, by_key_{};              // [rows, heads], [keys, heads * tiles]
  Tile sinks_{};                          // [1, heads]
};

void cached_lower(Emitter& e, const Node& node) { CachedAttention{e, node}.run(); }

double cached_pieces(const Node& node) {
  const auto& a = node.attrs.as<CachedAttentionAttrs>();
  return static_cast<double>(a.batch * a.heads);
}

/// q k^T and p v over all rows of the caches, then with the new rows of all sequences, and the sums over keys.
double cached_flops(const Graph& g, const Node& node) {
  const Sizes n{g, node};
  return 2.0 * static_cast<double>(n.batch * n.heads) *
         static_cast<double>((n.key.count + n.value.count) * (n.length + n.batch) + n.value.depth(0) * n.rows());
}

}  // namespace

const Op kCachedAttention{.name = "cached_attention",
                          .text = "attention of new tokens to caches of keys and values, which grow by a row",
                          .attrs = CachedAttentionAttrs{},
                          .infer = cached_infer,
                          .forward = cached_forward,
                          .lower_whole = cached_lower,
                          .matmul_flops = cached_flops,
                          .pieces = cached_pieces};

}  // namespace runtime
