// Communication of tensor-parallel ranks between two blocks, and the loss over a split vocabulary.
#include <cmath>
#include <limits>

#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

/// All of a tensor as one row, as collectives take it.
Tile whole(Emitter& e, ValueId v) {
  Tile tile = e.hbm_flat(v, 0, 1, 1, 0);
  tile.free[0].size = static_cast<std::uint32_t>(e.value(v).elements());
  return tile;
}

const CollectiveAttrs& attrs_of(const Node& node) { return node.attrs.as<CollectiveAttrs>(); }

/// Attributes of the sum over the same ranks that the gradient needs.
CollectiveAttrs same_group(const Node& node) { return {.ranks = attrs_of(node).ranks, .group = attrs_of(node).group}; }

void collective(Emitter& e, const Node& node, Opcode op, Alu alu) {
  e.emit({.op = op,
          .engine = isa::Engine::kSync,
          .alu0 = alu,
          .queue = kActivationQueue,
          .group = attrs_of(node).group,
          .dst = whole(e, node.out[0]),
          .a = whole(e, node.in[0])});
}

Tensors identity(const Attrs&, std::span<const Tensor> in) { return {in[0]}; }

/// Partial sums become their sum over the ranks of attrs.group, or their reduction by attrs.alu, on every rank. The
/// gradient passes unchanged. Shapes: [R, C] -> [R, C]. Source: Shoeybi et al., arXiv:1909.08053, section 3, "g".
std::vector<Shape> same_infer(const Contract& c) { return {{c.in(0).rows, c.in(0).cols, c.in(0).dtype}}; }

void sum_backward(Backward& b, const Node& node) { b.add(node, 0, b.grad(node)); }

void sum_lower(Emitter& e, const Node& node) { collective(e, node, Opcode::kAllReduce, attrs_of(node).alu); }

/// A value on every rank becomes the operand of split work: no data moves, but the gradients of the parts add
/// up. Shapes: [R, C] -> [R, C] in place. Source: as above, "f".
std::vector<Shape> fork_infer(const Contract& c) { return {{c.in(0).rows, c.in(0).cols, c.in(0).dtype, c.node.in[0]}}; }

void fork_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kRankSum, node, "grad", {b.grad(node)}, same_group(node)));
}

void fork_lower(Emitter&, const Node&) {}

/// Rows of the ranks of attrs.group (attrs.ranks of them), one rank's after the other's. Shapes: [R, C] -> [R * ranks,
/// C]. The gradient is summed and dealt out again. Source: Korthikanti et al., arXiv:2205.05198, section 4.2.2.
std::vector<Shape> gather_infer(const Contract& c) {
  return {{c.in(0).rows * attrs_of(c.node).ranks, c.in(0).cols, c.in(0).dtype}};
}

Tensors gather_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t ranks = attrs.as<CollectiveAttrs>().ranks;
  return {generate(in[0].rows * ranks, in[0].cols, [&](auto r, auto c) { return in[0].at(r % in[0].rows, c); })};
}

void gather_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kRankScatter, node, "grad", {b.grad(node)}, same_group(node)));
}

void gather_lower(Emitter& e, const Node& node) { collective(e, node, Opcode::kAllGather, Alu::kNone); }

/// The sum over the ranks of attrs.group (attrs.ranks of them), or their reduction by attrs.alu, of which each gets its
/// part of the rows. Shapes: [R, C]
/// -> [R / ranks, C]. The gradient is gathered. Source: as above.
std::vector<Shape> scatter_infer(const Contract& c) {
  const std::int64_t ranks = attrs_of(c.node).ranks;
  if (ranks < 1 || c.in(0).rows % ranks != 0)
    c.fail("the ranks do not divide the rows", "choose a length or batch that they divide");
  return {{c.in(0).rows / ranks, c.in(0).cols, c.in(0).dtype}};
}

Tensors scatter_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t ranks = attrs.as<CollectiveAttrs>().ranks;
  return {generate(in[0].rows / ranks, in[0].cols, [&](auto r, auto c) { return in[0].at(r, c); })};
}

void scatter_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kRankGather, node, "grad", {b.grad(node)}, same_group(node)));
}

void scatter_lower(Emitter& e, const Node& node) { collective(e, node, Opcode::kReduceScatter, attrs_of(node).alu); }

// ---- cross-entropy when each rank has some columns of the logits (Shoeybi et al., section 3)

/// The largest element of each row. Shapes: x [R, C] -> [R, 1] fp32. No gradient: the loss does not depend on it.
std::vector<Shape> max_infer(const Contract& c) { return {{c.in(0).rows, 1, Dtype::kFp32}}; }

Tensors max_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(in[0].rows, 1, [&](auto r, auto) {
    float most = in[0].at(r, 0);
    for (std::int64_t c = 1; c < in[0].cols; ++c) most = std::max(most, in[0].at(r, c));
    return most;
  })};
}

void no_gradient(Backward&, const Node&) {}

constexpr float kLowest = std::numeric_limits<float>::lowest();

/// As many as four banks of PSUM hold: long enough that the fixed cost of an instruction does not matter.
std::int64_t piece_columns(const Emitter& e) { return 4 * e.bank_columns(Dtype::kFp32); }

/// Goes over the rows of x in tiles, and over the columns of each in pieces: a vocabulary is too long for SBUF.
struct Pieces {
  Emitter& e;
  ValueId x;
  std::int64_t count() const { return ceil_div(e.value(x).cols, piece_columns(e)); }
  template <class F>
  void tiles(const F& f) const {
    const std::int64_t rows = e.value(x).rows;
    for (std::int64_t row = 0; row < rows; row += kPartitions) f(row, std::min(kPartitions, rows - row));
  }
  template <class F>
  void columns_of(std::int64_t row, std::int64_t parts, const F& f) const {
    const Value& value = e.value(x);
    for (std::int64_t c = 0; c < value.cols; c += piece_columns(e)) {
      const std::int64_t cols = std::min(piece_columns(e), value.cols - c);
      f(c, e.loaded(value.dtype, e.hbm(x, row, parts, c, cols, 1)));
    }
  }
};

void max_lower(Emitter& e, const Node& node) {
  const Pieces pieces{e, node.in[0]};
  pieces.tiles([&](std::int64_t row, std::int64_t parts) {
    const Tile some = e.sbuf(Dtype::kFp32, parts, pieces.count()), most = e.sbuf(Dtype::kFp32, parts, 1);
    pieces.columns_of(row, parts, [&](std::int64_t c, const Tile& x) {
      e.reduce(columns(some, c / piece_columns(e), 1), Alu::kMax, x);
    });
    e.reduce(most, Alu::kMax, some);
    e.store(e.hbm(node.out[0], row, parts), most);
  });
}

/// The contribution of this rank's columns to the loss: the sum of exp(x - m), and x[label], 0 when the label is
/// another rank's; with smoothing, the sum of x times the smoothed labels. Shapes: x [R, C], labels [R, 1] int32
/// counted from this rank's first column, m [R, 1] -> [R, 2] fp32.
std::vector<Shape> sums_infer(const Contract& c) {
  c.need(1, c.in(0).rows, 1, "labels");
  c.need(2, c.in(0).rows, 1, "maxima");
  return {{c.in(0).rows, 2, Dtype::kFp32}};
}

/// The weight of the label's column, and the extra weight of every column.
struct Smoothed {
  Smoothed(const Attrs& attrs, std::int64_t columns) {
    const auto& a = attrs.as<LossAttrs>();
    label = 1 - a.smoothing;
    every = a.smoothing / static_cast<double>(a.classes > 0 ? a.classes : columns);
  }
  double label = 1, every = 0;
};

Tensors sums_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  const Smoothed smoothed{attrs, x.cols};
  Tensor out(x.rows, 2);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < x.cols; ++c) sum += std::exp(static_cast<double>(x.at(r, c)) - in[2].at(r, 0));
    const auto label = static_cast<std::int64_t>(in[1].at(r, 0));
    out.at(r, 0) = static_cast<float>(sum);
    double chosen = label >= 0 && label < x.cols ? smoothed.label * x.at(r, label) : 0;
    for (std::int64_t c = 0; c < x.cols && smoothed.every > 0; ++c) chosen += smoothed.every * x.at(r, c);
    out.at(r, 1) = static_cast<float>(chosen);
  }
  return {out};
}

/// Rows of a column in fp32, times -1 if asked: [P, 1].
Tile column(Emitter& e, ValueId v, std::int64_t row, std::int64_t parts, float sign = 1) {
  const Tile raw = e.loaded(e.value(v).dtype, e.hbm(v, row, parts)), out = e.sbuf(Dtype::kFp32, parts, 1);
  e.tensor_scalar(out, raw, Alu::kMul, sign);
  return out;
}

/// One where column `first` + j is the label, or its smoothed weight: [P, cols].
Tile one_hot_labels(Emitter& e, const Tile& label, std::int64_t first, std::int64_t cols, const Smoothed& smoothed) {
  const Tile here = e.sbuf(Dtype::kFp32, label.partitions, 1), hot = e.sbuf(Dtype::kBf16, label.partitions, cols);
  e.tensor_scalar(here, label, Alu::kSub, static_cast<float>(first));
  e.tensor_scalar(hot, columns(partitions(e.ramp(piece_columns(e)), label.partitions), 0, cols), Alu::kEq, here);
  if (smoothed.every == 0) return hot;
  const Tile soft = e.sbuf(Dtype::kFp32, label.partitions, cols);
  e.tensor_scalar(soft, hot, Alu::kMul, static_cast<float>(smoothed.label), Alu::kAdd,
                  static_cast<float>(smoothed.every));
  return soft;
}

void sums_lower(Emitter& e, const Node& node) {
  const Pieces pieces{e, node.in[0]};
  const Smoothed smoothed{node.attrs, e.value(node.in[0]).cols};
  pieces.tiles([&](std::int64_t row, std::int64_t parts) {
    const Tile label = column(e, node.in[1], row, parts), least = column(e, node.in[2], row, parts, -1);
    const Tile sums = e.sbuf(Dtype::kFp32, parts, pieces.count()), picks = e.sbuf(Dtype::kFp32, parts, pieces.count());
    pieces.columns_of(row, parts, [&](std::int64_t c, const Tile& x) {
      const Tile waste = e.sbuf(Dtype::kFp32, parts, x.cols());
      const Tile sum = columns(sums, c / piece_columns(e), 1);
      e.activation(waste, Fn::kExp, x, 1.0F, least, &sum);
      const Tile hot = one_hot_labels(e, label, c, x.cols(), smoothed);
      if (smoothed.every == 0)  // scores masked by -inf are no part of x[label]: 0 times the lowest number is 0
        e.scalar_tensor_tensor(waste, x, Alu::kMax, kLowest, Alu::kMul, hot);
      else
        e.tensor_tensor(waste, x, Alu::kMul, hot);
      e.reduce(columns(picks, c / piece_columns(e), 1), Alu::kAdd, waste);
    });
    const Tile out = e.sbuf(Dtype::kFp32, parts, 2), chosen = columns(out, 1, 1);
    e.reduce(columns(out, 0, 1), Alu::kAdd, sums);
    e.reduce(chosen, Alu::kAdd, picks);
    if (node.attrs.as<LossAttrs>().masked)  // a label whose score is -inf: twice the lowest number
      e.tensor_scalar(chosen, chosen, Alu::kMul, 2.0F, Alu::kMul, 0.5F);
    e.store(e.hbm(node.out[0], row, parts), out);
  });
}

/// loss = w * (log s0 + m - s1) with the sums s of all ranks, and the gradient for this rank's columns,
/// w * attrs.scale * (exp(x - m) / s0 - onehot(label)). Shapes: x [R, C], labels [R, 1] int32, w [R, 1], m [R, 1],
/// s [R, 2] -> loss [R, 1] fp32, dx [R, C].
std::vector<Shape> loss_infer(const Contract& c) {
  const std::int64_t rows = c.in(0).rows;
  for (const std::size_t i : {1u, 2u, 3u}) c.need(i, rows, 1, "labels, weights or maxima");
  c.need(4, rows, 2, "sums");
  return {{rows, 1, Dtype::kFp32}, {rows, c.in(0).cols, c.result_type()}};
}

Tensors loss_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const double scale = attrs.as<LossAttrs>().scale;
  const Tensor &x = in[0], &w = in[2], &m = in[3], &s = in[4];
  const Smoothed smoothed{attrs, x.cols};
  Tensor loss(x.rows, 1), dx(x.rows, x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    loss.at(r, 0) = static_cast<float>(w.at(r, 0) * (std::log(s.at(r, 0)) + m.at(r, 0) - s.at(r, 1)));
    const auto label = static_cast<std::int64_t>(in[1].at(r, 0));
    for (std::int64_t c = 0; c < x.cols; ++c)
      dx.at(r, c) = static_cast<float>(
          scale * w.at(r, 0) *
          (std::exp(x.at(r, c) - m.at(r, 0)) / s.at(r, 0) - (c == label ? smoothed.label : 0) - smoothed.every));
  }
  return {loss, dx};
}

void loss_backward(Backward& b, const Node& node) { b.add(node, 0, node.out[1]); }

void loss_lower(Emitter& e, const Node& node) {
  const Pieces pieces{e, node.in[0]};
  const Smoothed smoothed{node.attrs, e.value(node.in[0]).cols};
  pieces.tiles([&](std::int64_t row, std::int64_t parts) {
    const Tile label = column(e, node.in[1], row, parts), w = column(e, node.in[2], row, parts);
    const Tile most = column(e, node.in[3], row, parts), least = column(e, node.in[3], row, parts, -1);
    const Tile sums = e.loaded(Dtype::kFp32, e.hbm(node.in[4], row, parts));
    const Tile logs = e.sbuf(Dtype::kFp32, parts, 1), gap = e.sbuf(Dtype::kFp32, parts, 1);
    const Tile loss = e.sbuf(Dtype::kFp32, parts, 1), inverse = e.sbuf(Dtype::kFp32, parts, 1);
    e.activation(logs, Fn::kLog, columns(sums, 0, 1));
    e.tensor_tensor(gap, logs, Alu::kSub, columns(sums, 1, 1));
    e.tensor_scalar(loss, gap, Alu::kAdd, most, Alu::kMul, w);
    e.store(e.hbm(node.out[0], row, parts), loss);
    e.activation(inverse, Fn::kReciprocal, columns(sums, 0, 1));
    pieces.columns_of(row, parts, [&](std::int64_t c, const Tile& x) {
      const Tile p = e.sbuf(Dtype::kFp32, parts, x.cols()), dx = e.sbuf(e.value(node.out[1]).dtype, parts, x.cols());
      e.activation(p, Fn::kExp, x, 1.0F, least);
      e.scalar_tensor_tensor(p, p, Alu::kMul, inverse, Alu::kSub, one_hot_labels(e, label, c, x.cols(), smoothed));
      e.tensor_scalar(dx, p, Alu::kMul, w, Alu::kMul, static_cast<float>(node.attrs.as<LossAttrs>().scale));
      e.store(e.hbm(node.out[1], row, parts, c, x.cols(), 1), dx);
    });
  });
}

/// The same collective, for whose result only its readers wait.
Op ahead(Op op, std::string_view name, std::string_view text) {
  op.name = name, op.text = text;
  op.collective = Collective::kAhead;
  op.repeated_ahead_by = nullptr;
  return op;
}

}  // namespace

const Op kRankSum{.name = "rank_sum",
                  .text = "sum (or maximum) over tensor-parallel ranks",
                  .attrs = CollectiveAttrs{},
                  .infer = same_infer,
                  .forward = identity,
                  .backward = sum_backward,
                  .lower_whole = sum_lower,
                  .collective = Collective::kInStep};
const Op kRankFork{.name = "rank_fork",
                   .text = "read by all tensor-parallel ranks; its gradient is their sum",
                   .attrs = CollectiveAttrs{},
                   .infer = fork_infer,
                   .forward = identity,
                   .backward = fork_backward,
                   .lower_whole = fork_lower};
const Op kRankGather{.name = "rank_gather",
                     .text = "rows of all ranks, one after the other",
                     .attrs = CollectiveAttrs{},
                     .infer = gather_infer,
                     .forward = gather_forward,
                     .backward = gather_backward,
                     .lower_whole = gather_lower,
                     .collective = Collective::kInStep,
                     .repeated_ahead_by = &kGatherAhead};
const Op kRankScatter{.name = "rank_scatter",
                      .text = "sum over ranks, each gets its part of the rows",
                      .attrs = CollectiveAttrs{},
                      .infer = scatter_infer,
                      .forward = scatter_forward,
                      .backward = scatter_backward,
                      .lower_whole = scatter_lower,
                      .collective = Collective::kInStep};
const Op kSumAhead =
    ahead(kRankSum, "rank_sum_ahead", "sum (or maximum) over ranks; only readers of the result wait for it");
const Op kGatherAhead = ahead(kRankGather, "rank_gather_ahead",
                              "rows of all ranks, one after the other; only readers of the result wait for it");
const Op kScatterAhead = ahead(kRankScatter, "rank_scatter_ahead",
                               "sum over ranks, each gets its part of the rows; only readers of it wait");
const Op kRowMax{.name = "row_max",
                 .text = "the largest element of each row",
                 .infer = max_infer,
                 .forward = max_forward,
                 .backward = no_gradient,
                 .lower_whole = max_lower};
const Op kLossSums{.name = "loss_sums",
                   .text = "what a rank's columns add to cross-entropy",
                   .attrs = LossAttrs{},
                   .infer = sums_infer,
                   .forward = sums_forward,
                   .backward = no_gradient,
                   .lower_whole = sums_lower};
const Op kSplitLoss{.name = "split_loss",
                    .text = "cross-entropy from the sums of all ranks, and its gradient",
                    .attrs = LossAttrs{},
                    .infer = loss_infer,
                    .forward = loss_forward,
                    .backward = loss_backward,
                    .lower_whole = loss_lower};

}  // namespace runtime
