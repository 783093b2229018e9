#include "runtime/ops/attention.h"

#include <cmath>
#include <optional>

#include "runtime/ops/key_sums.h"

namespace runtime {
namespace {

/// The gradients of attention for q, k and v, and of the scores. With p the probabilities, m the dropout and o the
/// context: dv = (m p)^T do; dp = m (do v^T); ds = p (dp - sum over keys of p dp); dq = alpha ds k; dk = alpha ds^T q.
/// Shapes: q [B*S, H*d], k [B*K, KV*d], v [B*K, KV*e], p [B*H*S, K], do and o [B*S, H*e] -> dq, dk, dv as q, k, v, with
/// a bias also ds [B*H*S, K]; attrs.scale 0: alpha is the last operand [1, 1] or [B, 1]; with attrs.tile_keys a
/// place where dq adds up, as q, fp32. With attrs.flash the fourth operand is the logarithm of each row's sum [B*H*S,
/// 1], a mask [B, K] may follow, p is computed again, and the sum is that of do o over e. With attrs.soft_cap the
/// scores are computed again, too: ds is also times 1 - tanh^2 of them. Source: Dao et al., arXiv:2205.14135, appendix
/// B.2. Lowering: keys' gradients add up in PSUM over all queries while a head's p and ds fit in SBUF; else in SBUF.
std::vector<Shape> attention_grad_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<AttentionAttrs>();
  const Value &q = c.in(0), &k = c.in(1), &v = c.in(2);
  const std::int64_t rows = a.batch * a.heads * a.seq, keys = k.rows / a.batch;
  c.need(3, rows, a.flash ? 1 : keys, a.flash ? "logarithms of sums" : "probabilities");
  const std::int64_t context = v.cols / a.kv_heads * a.heads;
  c.need(4, q.rows, context, "gradient of the context");
  c.need(5, q.rows, context, "context");
  const std::size_t scale = operands_of(c.node);
  if (scale_is_data(a)) c.need(scale, c.in(scale).rows == a.batch ? a.batch : 1, 1, "scale");
  if (scale_is_data(a) && (a.flash || a.soft_cap > 0))
    c.fail("scores that are computed again have a known scale", "set scale");
  std::vector<Shape> out{{q.rows, q.cols, q.dtype}, {k.rows, k.cols, k.dtype}, {v.rows, v.cols, v.dtype}};
  if (a.biased()) out.push_back({rows, keys, operand_type(c.graph, c.node)});
  if (a.tile_keys > 0) out.push_back({q.rows, q.cols, Dtype::kFp32});
  return out;
}

double scale_at(const AttentionAttrs& a, std::span<const Tensor> in, std::int64_t b) {
  return scale_is_data(a) ? in.back().at(b % in.back().rows, 0) : a.scale;
}

double mask_at(const AttentionAttrs& a, std::span<const Tensor> in, std::int64_t b, std::int64_t j) {
  return in.size() > (scale_is_data(a) ? 7 : 6) ? in[6].at(b, j) : 0;
}

/// Without dropout: the reference has none.
Tensors attention_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<AttentionAttrs>();
  const Tensor &q = in[0], &k = in[1], &v = in[2], &p = in[3], &dy = in[4];
  const std::int64_t d = q.cols / a.heads, ratio = a.heads / a.kv_heads, keys = k.rows / a.batch;
  const std::int64_t width = v.cols / a.kv_heads;
  Tensor dq(q.rows, q.cols), dk(k.rows, k.cols), dv(v.rows, v.cols), scores(a.biased() ? p.rows : 0, keys);
  for (std::int64_t b = 0; b < a.batch; ++b)
    for (std::int64_t h = 0; h < a.heads; ++h)
      for (std::int64_t i = 0; i < a.seq; ++i) {
        const std::int64_t row = (b * a.heads + h) * a.seq + i, qi = b * a.seq + i;
        std::vector<double> dp(static_cast<std::size_t>(keys)), weights(dp.size()), slopes(dp.size());
        const double scale = scale_at(a, in, b);
        const float *qs = q.row(qi) + h * d, *dys = dy.row(qi) + h * width;
        const std::int64_t first = b * keys, column = h / ratio * d, values = h / ratio * width;
        double mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          const double x = dp[static_cast<std::size_t>(j)] = dot(dys, v.row(first + j) + values, width);
          const double raw = scale * dot(qs, k.row(first + j) + column, d);
          const double t = a.soft_cap > 0 ? std::tanh(raw / a.soft_cap) : 0;
          slopes[static_cast<std::size_t>(j)] = 1 - t * t;
          const double s = soft_capped(raw, a.soft_cap) + mask_at(a, in, b, j) + (a.hides(i, j) ? -1e30 : 0);
          double& weight = weights[static_cast<std::size_t>(j)];
          weight = a.flash ? std::exp(s - p.at(row, 0)) : p.at(row, j);
          mean += x * weight;
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          const double weight = weights[static_cast<std::size_t>(j)];
          const double slope = weight * (dp[static_cast<std::size_t>(j)] - mean) * slopes[static_cast<std::size_t>(j)],
                       ds = scale * slope;
          if (a.biased()) scores.at(row, j) = static_cast<float>(slope);
          add_scaled(dv.row(first + j) + values, weight, dys, width);
          add_scaled(dq.row(qi) + h * d, ds, k.row(first + j) + column, d);
          add_scaled(dk.row(first + j) + column, ds, qs, d);
        }
      }
  Tensors out{dq, dk, dv};
  if (a.biased()) out.push_back(scores);
  if (a.tile_keys > 0) out.emplace_back(q.rows, q.cols);
  return out;
}

/// A bias that is no weight needs no gradient.
bool is_read(const Graph& graph, ValueId v) {
  return graph.value(v).kind != Kind::kActivation || !graph.users(v).empty();
}

class AttentionGrad {
 public:
  AttentionGrad(Emitter& e, const Node& node)
      : e_{e}, node_{node}, a_{node.attrs.as<AttentionAttrs>()}, h_{e.graph(), node} {
    std::int64_t columns = 0;
    for (std::int64_t t = 0; t < h_.tiles(); ++t) columns += h_.visible(t);
    long_ = 2 * columns * isa::size_of(h_.type) > Budgets{e_.target().geometry}.head;
  }

  void run() {
    const std::int64_t group = h_.group(), ratio = h_.heads / h_.kv_heads;
    const LoopPart part = e_.part_of({.outer = h_.batch, .inner = h_.heads / group});
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b) {
      scale_ = scale_of(e_, node_, b);
      if (operands_of(node_) > 6)
        mask_ = e_.loaded(h_.score, e_.hbm_row(node_.in[6], b, std::min(kPartitions, h_.seq), 0, h_.keys));
      for (std::int64_t first = part.inner * group; first < (part.inner + part.inner_count) * group; first += group) {
        load(b, first, group, group / ratio);
        for (std::int64_t i = 0; i < group; ++i) head({.b = b, .head = first + i, .i = i, .kv = i / ratio}, i % ratio);
        store(b, first, group, group / ratio);
      }
    }
  }

 private:
  void load(std::int64_t b, std::int64_t first, std::int64_t group, std::int64_t kv_group) {
    for (RowTiles* tiles : {&q_, &dy_, &o_, &dq_, &dk_, &dv_}) tiles->clear();
    kv_first_ = first * h_.kv_heads / h_.heads;
    if (!long_) {
      q_ = load_rows(e_, h_, node_.in[0], b, first * h_.size, group * h_.size);
      dy_ = load_rows(e_, h_, node_.in[4], b, first * h_.value_size, group * h_.value_size);
      if (a_.flash) o_ = load_rows(e_, h_, node_.in[5], b, first * h_.value_size, group * h_.value_size);
    }
    k_ = load_rows(e_, h_, node_.in[1], b, kv_first_ * h_.size, kv_group * h_.size);
    v_ = load_rows(e_, h_, node_.in[2], b, kv_first_ * h_.value_size, kv_group * h_.value_size);
    if (long_) return void(sums_.emplace(e_, h_, kv_group));
    for (std::int64_t t = 0; t < std::max(h_.tiles(), h_.key_tiles()); ++t) {
      if (t < h_.tiles()) dq_.push_back(e_.sbuf(e_.value(node_.out[0]).dtype, h_.tile_rows(t), group * h_.size));
      if (t >= h_.key_tiles()) continue;
      dk_.push_back(e_.sbuf(e_.value(node_.out[1]).dtype, h_.key_rows(t), kv_group * h_.size));
      dv_.push_back(e_.sbuf(e_.value(node_.out[2]).dtype, h_.key_rows(t), kv_group * h_.value_size));
    }
  }

  void store(std::int64_t b, std::int64_t first, std::int64_t group, std::int64_t kv_group) {
    for (std::int64_t t = 0; t < std::max(h_.tiles(), h_.key_tiles()); ++t) {
      const std::int64_t own = b * h_.seq + t * kPartitions, row = b * h_.keys + t * kPartitions;
      const auto i = static_cast<std::size_t>(t);
      if (t < h_.tiles() && !long_)
        e_.store(e_.hbm(node_.out[0], own, h_.tile_rows(t), first * h_.size, group * h_.size, 1), dq_[i]);
      if (t >= h_.key_tiles()) continue;
      if (long_) {
        dk_.push_back(e_.sbuf(e_.value(node_.out[1]).dtype, h_.key_rows(t), kv_group * h_.size));
        dv_.push_back(e_.sbuf(e_.value(node_.out[2]).dtype, h_.key_rows(t), kv_group * h_.value_size));
        sums_->take(t, dk_.back(), dv_.back(), on_partitions(scale_, h_.key_rows(t)));
      }
      for (const auto& [o, size, tile] :
           {std::tuple{std::size_t{1}, h_.size, dk_[i]}, {std::size_t{2}, h_.value_size, dv_[i]}})
        e_.store(e_.hbm(node_.out[o], row, h_.key_rows(t), kv_first_ * size, kv_group * size, 1), tile);
    }
  }

  /// A head of a sequence, the `i`-th of those that are loaded, whose keys are the `kv`-th.
  struct Place {
    std::int64_t b, head, i, kv;
  };

  /// All its queries; `nth`: of those that share its keys.
  void head(const Place& at, std::int64_t nth) {
    const auto [b, head, n, kv] = at;
    const std::int64_t size = h_.size, width = h_.value_size, kv_col = kv * size;
    if (nth == 0) values_ = transpose_rows(e_, h_, v_, {kv * width, width});
    if (nth == 0 && (a_.flash || a_.soft_cap > 0)) keys_ = transpose_rows(e_, h_, k_, {kv_col, size});
    p_.clear(), ds_.clear();
    for (std::int64_t t = 0; t < h_.tiles(); ++t) {
      const auto i = static_cast<std::size_t>(t);
      const Tile q = long_ ? rows_of(0, b, head, t) : columns(q_[i], n * size, size);
      const Tile dy = long_ ? rows_of(4, b, head, t) : columns(dy_[i], n * width, width);
      if (a_.flash)
        flash_scores(b, head, t, q, dy, long_ ? rows_of(5, b, head, t) : columns(o_[i], n * width, width));
      else
        scores(b, head, t, q, dy);
      const Tile dq =
          long_ ? e_.sbuf(e_.value(node_.out[0]).dtype, h_.tile_rows(t), size) : columns(dq_[i], n * size, size);
      queries(dq, kv_col);
      if (!long_) continue;
      e_.store(e_.hbm(node_.out[0], b * h_.seq + t * kPartitions, h_.tile_rows(t), head * size, size, 1), dq);
      sums_->add(t, {.q = q, .dy = dy, .p = p_.back(), .ds = ds_.back()}, kv);
      p_.clear(), ds_.clear();
    }
    if (long_) return;
    for (std::int64_t t = 0; t < h_.key_tiles(); ++t) keys(t, at, nth > 0);
  }

  /// 128 queries of one head.
  Tile rows_of(std::size_t operand, std::int64_t b, std::int64_t head, std::int64_t t) {
    const std::int64_t row = b * h_.seq + t * kPartitions, size = operand == 0 ? h_.size : h_.value_size;
    return e_.loaded(h_.type, e_.hbm(node_.in[operand], row, h_.tile_rows(t), head * size, size, 1));
  }

  /// p as TensorE takes it, after dropout.
  Tile dropped(const Tile& p, std::int64_t place) {
    if (a_.p == 0 && p.dtype == h_.type) return p;
    const Tile kept = e_.sbuf(h_.type, p.partitions, p.cols());
    if (a_.p > 0)
      drop_scores(e_, h_, node_, place, kept, [&](auto c, auto width) { return columns(p, c, width); });
    else
      e_.copy(kept, p);
    return kept;
  }

  /// The inputs of backward for 128 queries, p after dropout and ds, from the probabilities that softmax has kept.
  void scores(std::int64_t b, std::int64_t head, std::int64_t t, const Tile& q, const Tile& dy) {
    const std::int64_t parts = h_.tile_rows(t), seen = h_.visible(t), place = (b * h_.heads + head) * h_.tiles() + t;
    const std::int64_t row = (b * h_.heads + head) * h_.seq + t * kPartitions;
    const Tile p = e_.loaded(h_.score, e_.hbm(node_.in[3], row, parts, 0, seen, 1));
    p_.push_back(dropped(p, place));
    const HeadPanels dy_t = transpose_tile(e_, dy, h_.type);
    const Tile dp = e_.sbuf(h_.score, parts, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      const Tile sum = e_.psum(parts, width);
      contract_heads(e_, sum, dy_t, values_, c);
      if (a_.p > 0)
        drop_piece(e_, node_, piece_at(h_, place, c), columns(dp, c, width), sum);
      else
        e_.copy(columns(dp, c, width), sum);
    }
    const Tile product = e_.sbuf(h_.score, parts, seen), dot = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.tensor_tensor(product, dp, Alu::kMul, p);
    e_.activation(product, Fn::kCopy, product, 1.0F, 0.0F, &dot);
    ds_.push_back(e_.sbuf(h_.type, parts, seen));
    e_.scalar_tensor_tensor(ds_.back(), dp, Alu::kSub, dot, Alu::kMul, p);
    if (a_.soft_cap > 0) cap_gradient(e_, ds_.back(), capped(q, seen));
    if (a_.biased() && is_read(e_.graph(), node_.out[3])) e_.store(e_.hbm(node_.out[3], row, parts), ds_.back());
  }

  /// tanh(alpha q k^T / cap) of 128 queries.
  Tile capped(const Tile& q, std::int64_t seen) {
    const HeadPanels q_t = transpose_tile(e_, q, h_.type);
    const Tile out = e_.sbuf(Dtype::kFp32, q.partitions, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      const Tile sum = e_.psum(q.partitions, width);
      contract_heads(e_, sum, q_t, keys_, c);
      e_.activation(columns(out, c, width), Fn::kTanh, sum, static_cast<float>(a_.scale / a_.soft_cap));
    }
    return out;
  }

  /// exp(alpha q k^T + mask - logarithm of the sum) of 128 queries.
  Tile probabilities(std::int64_t b, std::int64_t head, std::int64_t t, const Tile& q) {
    const std::int64_t parts = h_.tile_rows(t), seen = h_.visible(t);
    const Tile logarithm =
        e_.loaded(Dtype::kFp32, e_.hbm(node_.in[3], (b * h_.heads + head) * h_.seq + t * kPartitions, parts, 0, 1, 1));
    const Tile less = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.tensor_scalar(less, logarithm, Alu::kMul, -1.0F);
    const Tile p = e_.sbuf(h_.score, parts, seen);
    const bool caps = a_.soft_cap > 0;
    const auto alpha = static_cast<float>(caps ? a_.soft_cap : a_.scale);
    const HeadPanels q_t = caps ? HeadPanels{} : transpose_tile(e_, q, h_.type);
    if (caps) tanhs_ = capped(q, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      const Tile sum = caps ? columns(tanhs_, c, width) : e_.psum(parts, width);
      if (!caps) contract_heads(e_, sum, q_t, keys_, c);
      if (!mask_) {
        e_.activation(columns(p, c, width), Fn::kExp, sum, alpha, less);
        continue;
      }
      const Tile x = e_.sbuf(h_.score, parts, width);
      e_.scalar_tensor_tensor(x, sum, Alu::kMul, alpha, Alu::kAdd, columns(partitions(mask_, parts), c, width));
      e_.activation(columns(p, c, width), Fn::kExp, x, 1.0F, less);
    }
    if (a_.causal) hide_later(e_, columns(p, t * kPartitions, seen - t * kPartitions), t, t * kPartitions, 0);
    if (a_.causal && a_.window > 0 && a_.window < seen) hide_earlier(e_, p, t, a_.window, 0);
    return p;
  }

  /// The same as scores(), with the probabilities computed again.
  void flash_scores(std::int64_t b, std::int64_t head, std::int64_t t, const Tile& q, const Tile& dy, const Tile& o) {
    const std::int64_t parts = h_.tile_rows(t), seen = h_.visible(t), place = (b * h_.heads + head) * h_.tiles() + t;
    const Tile p = probabilities(b, head, t, q);
    const bool drops = a_.p > 0;
    p_.push_back(dropped(p, place));
    const HeadPanels dy_t = transpose_tile(e_, dy, h_.type);
    const Tile product = e_.sbuf(Dtype::kFp32, parts, h_.value_size), dot = e_.sbuf(Dtype::kFp32, parts, 1);
    e_.tensor_tensor(product, dy, Alu::kMul, o);
    e_.activation(product, Fn::kCopy, product, 1.0F, 0.0F, &dot);
    const Tile ds = e_.sbuf(h_.type, parts, seen);
    for (std::int64_t c = 0; c < seen; c += kChunk) {
      const std::int64_t width = std::min(kChunk, seen - c);
      Tile dp = e_.psum(parts, width);
      contract_heads(e_, dp, dy_t, values_, c);
      if (drops) {
        const Tile piece = e_.sbuf(h_.score, parts, width);
        drop_piece(e_, node_, piece_at(h_, place, c), piece, dp);
        dp = piece;
      }
      e_.scalar_tensor_tensor(columns(ds, c, width), dp, Alu::kSub, dot, Alu::kMul, columns(p, c, width));
    }
    if (a_.soft_cap > 0) cap_gradient(e_, ds, tanhs_);
    ds_.push_back(ds);
  }

  void queries(const Tile& dq, std::int64_t kv_col) {
    const Tile& ds = ds_.back();
    const std::vector<Tile> panels = transpose_tile(e_, ds, h_.type);
    const Tile sum = e_.psum(ds.partitions, h_.size);
    for (std::size_t k = 0; k < panels.size(); ++k)
      e_.matmul(sum, panels[k], columns(partitions(k_[k], panels[k].partitions), kv_col, h_.size), k > 0);
    e_.copy(dq, sum, on_partitions(scale_, dq.partitions));
  }

  /// The keys of tile t, from all queries that see them.
  void keys(std::int64_t t, const Place& at, bool add) {
    const std::int64_t rows = h_.key_rows(t), size = h_.size, width = h_.value_size;
    const Tile dv = e_.psum(rows, width), dk = e_.psum(rows, size);
    const std::int64_t first = h_.skips ? t : 0;
    for (std::int64_t i = first; i < h_.tiles(); ++i) {
      const auto q = static_cast<std::size_t>(i);
      e_.matmul(dv, columns(p_[q], t * kPartitions, rows), columns(dy_[q], at.i * width, width), i > first);
      e_.matmul(dk, columns(ds_[q], t * kPartitions, rows), columns(q_[q], at.i * size, size), i > first);
    }
    const Tile to_v = columns(dv_[static_cast<std::size_t>(t)], at.kv * width, width);
    const Tile to_k = columns(dk_[static_cast<std::size_t>(t)], at.kv * size, size);
    const Scalar alpha = on_partitions(scale_, rows);
    if (!add) {
      e_.copy(to_v, dv);
      e_.copy(to_k, dk, alpha);
    } else {
      e_.tensor_tensor(to_v, dv, Alu::kAdd, to_v);
      e_.scalar_tensor_tensor(to_k, dk, Alu::kMul, alpha, Alu::kAdd, to_k);
    }
  }

  Emitter& e_;
  const Node& node_;
  const AttentionAttrs& a_;
  const Heads h_;
  Scalar scale_{};
  bool long_ = false;
  std::int64_t kv_first_ = 0;
  RowTiles q_, k_, v_, dy_, o_, dq_, dk_, dv_, p_, ds_;
  HeadPanels values_, keys_;
  Tile mask_{}, tanhs_{};
  std::optional<KeySums> sums_;
};

void attention_grad_lower(Emitter& e, const Node& node) {
  node.attrs.as<AttentionAttrs>().tile_keys > 0 ? lower_tiled_attention_grad(e, node) : AttentionGrad{e, node}.run();
}

/// The mask of the forward pass is read again, if it has one.
bool attention_grad_flash(Graph& graph, NodeId n) {
  auto& a = graph.node(n).attrs.as<AttentionAttrs>();
  if (a.biased() || a.slopes() || scale_is_data(a)) return false;
  a.flash = true;
  const Node& forward = graph.node(graph.value(graph.node(n).in[3]).producer);
  if (has_mask(forward)) graph.append_operand(n, forward.in[3]);
  return false;
}

/// As the forward pass decides, whose attributes it has.
bool attention_grad_tiled(Graph& graph, NodeId n, const isa::Geometry& geometry) {
  const Heads h{graph, graph.node(n)};
  const auto& a = graph.node(n).attrs.as<AttentionAttrs>();
  if (!rows_are_long(h, a, geometry)) return false;
  if (!a.flash) attention_grad_flash(graph, n);
  auto& attrs = graph.node(n).attrs.as<AttentionAttrs>();
  attrs.tile_keys = kTileKeys;
  for (std::size_t i = 0; i < (segment_of(h, attrs) > 0 ? 3 : 1); ++i)
    graph.append_result(n,
                        {graph.value(graph.node(n).in[i]).rows, graph.value(graph.node(n).in[i]).cols, Dtype::kFp32});
  return true;
}

double product_flops(const Heads& h, std::int64_t size) { return 2.0 * h.pairs() * static_cast<double>(size); }

/// Scores that are computed again, with flash or a cap.
double scores_again_flops(const Graph& g, const Node& node) {
  const auto& a = node.attrs.as<AttentionAttrs>();
  const Heads h{g, node};
  return a.flash || a.soft_cap > 0 ? product_flops(h, h.size) : 0;
}

double attention_grad_flops(const Graph& g, const Node& node) {
  const Heads h{g, node};  // dq and dk, dp and dv
  return 2 * product_flops(h, h.size + h.value_size) + scores_again_flops(g, node);
}

}  // namespace

const Op kAttentionGrad{.name = "attention_grad",
                        .text = "gradients of attention for q, k, v and scores",
                        .attrs = AttentionAttrs{},
                        .infer = attention_grad_infer,
                        .forward = attention_grad_forward,
                        .lower_whole = attention_grad_lower,
                        .matmul_flops = attention_grad_flops,
                        .extra_flops = scores_again_flops,
                        .use_flash = attention_grad_flash,
                        .tile_long_rows = attention_grad_tiled,
                        .pieces = heads_and_sequences};

}  // namespace runtime
