#include <algorithm>

#include "base/error.h"
#include "runtime/compiler/budgets.h"
#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/strided.h"

namespace runtime {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t batches(const BatchMatmulAttrs& a) {
  std::int64_t count = 1;
  for (const std::int64_t size : a.batch) count *= size;
  return count;
}

/// y[b] = x[b] w[b]: [m, k] times [k, n] for each b of the batch, both operands at strides. Shapes: x, w -> [B m, n].
/// Lowering: x with the summed axis on the partitions is stationary, w moves; TensorE turns an operand whose summed
/// axis is the fastest.
std::vector<Shape> batch_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<BatchMatmulAttrs>();
  const std::size_t rank = a.batch.size() + 2;
  if (a.x.size() != rank || a.w.size() != rank) c.fail("has strides of another rank", "give one for each axis");
  const auto reach = [&](const Ints& strides, std::int64_t first, std::int64_t p, std::int64_t q) {
    std::int64_t last = first + (p - 1) * strides[rank - 2] + (q - 1) * strides[rank - 1];
    for (std::size_t d = 0; d < a.batch.size(); ++d) last += (a.batch[d] - 1) * strides[d];
    return last;
  };
  if (reach(a.x, a.x_first, a.m, a.k) >= c.in(0).elements() || reach(a.w, a.w_first, a.k, a.n) >= c.in(1).elements())
    c.fail("reaches beyond its operands", "correct sizes and strides");
  return {{batches(a) * a.m, a.n, c.result_type()}};
}

/// Where matrix b begins.
std::int64_t begin_of(const BatchMatmulAttrs& a, const Ints& strides, std::int64_t b) {
  std::int64_t at = 0;
  for (std::size_t d = a.batch.size(); d-- > 0; b /= a.batch[d]) at += b % a.batch[d] * strides[d];
  return at;
}

Tensors batch_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<BatchMatmulAttrs>();
  const std::size_t d = a.batch.size();
  return {generate(batches(a) * a.m, a.n, [&](auto row, auto n) {
    const std::int64_t b = row / a.m, m = row % a.m;
    const std::int64_t x = a.x_first + begin_of(a, a.x, b) + m * a.x[d],
                       w = a.w_first + begin_of(a, a.w, b) + n * a.w[d + 1];
    double sum = 0;
    for (std::int64_t k = 0; k < a.k; ++k)
      sum += static_cast<double>(in[0].data[static_cast<std::size_t>(x + k * a.x[d + 1])]) *
             in[1].data[static_cast<std::size_t>(w + k * a.w[d])];
    return static_cast<float>(sum);
  })};
}

/// Both gradients are such products. That of w is made turned where w's rows are its columns in memory, so that it is
/// written in runs.
void batch_backward(Backward& b, const Node& node) {
  const auto a = node.attrs.as<BatchMatmulAttrs>();
  const std::size_t m = a.batch.size(), n = m + 1;
  const auto shaped = [&](std::int64_t rows, std::int64_t cols) {
    Ints sizes = a.batch;
    sizes.insert(sizes.end(), {rows, cols});
    return sizes;
  };
  const auto turned = [&](Ints strides) {
    std::swap(strides[m], strides[n]);
    return strides;
  };
  const ValueId dy = b.grad(node);
  const Ints of_dy = dense_strides(shaped(a.m, a.n));
  const auto product = [&](const char* what, std::vector<ValueId> in, BatchMatmulAttrs attrs, std::size_t operand) {
    attrs.batch = a.batch, attrs.operand = a.operand, attrs.dtype = b.graph().value(node.in[operand]).dtype;
    return b.op(kBatchMatmul, node, what, std::move(in), attrs);
  };
  if (b.needs(node, 0)) {
    const BatchMatmulAttrs attrs{.m = a.m, .k = a.n, .n = a.k, .x = of_dy, .w = turned(a.w), .w_first = a.w_first};
    const ValueId dx = product("grad_x", {dy, node.in[1]}, attrs, 0);
    add_strided(b, node, 0, dx, {shaped(a.m, a.k), a.x, a.x_first});
  }
  if (!b.needs(node, 1)) return;
  if (a.w[n] != 1 && a.w[m] == 1) {
    const BatchMatmulAttrs attrs{.m = a.n, .k = a.m, .n = a.k, .x = turned(of_dy), .w = a.x, .w_first = a.x_first};
    const ValueId dw = product("grad_w", {dy, node.in[0]}, attrs, 1);
    add_strided(b, node, 1, dw, {shaped(a.n, a.k), turned(a.w), a.w_first});
  } else {
    const BatchMatmulAttrs attrs{.m = a.k, .k = a.m, .n = a.n, .x = turned(a.x), .w = of_dy, .x_first = a.x_first};
    const ValueId dw = product("grad_w", {node.in[0], dy}, attrs, 1);
    add_strided(b, node, 1, dw, {shaped(a.k, a.n), a.w, a.w_first});
  }
}

double batch_flops(const Graph& g, const Node& n) {
  const auto& a = n.attrs.as<BatchMatmulAttrs>();
  static_cast<void>(g);
  return 2.0 * static_cast<double>(batches(a)) * static_cast<double>(a.m) * static_cast<double>(a.k) *
         static_cast<double>(a.n);
}

class BatchMatmul {
 public:
  BatchMatmul(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<BatchMatmulAttrs>()},
        type_{operand_type(e.graph(), node)},
        rank_{a_.batch.size()},
        panels_{ceil_div(a_.k, kPartitions)} {}

  void run() {
    const Budgets budgets{e_.target().geometry};
    const std::int64_t column = panels_ * isa::size_of(type_);  // bytes of a column of w in a partition
    std::int64_t wide = std::max<std::int64_t>(budgets.resident_weights / 2 / column, 1);
    wide = wide >= kChunk ? wide / kChunk * kChunk : wide;
    const LoopPart part = e_.part_of({.outer = batches(a_), .inner = ceil_div(a_.n, wide)});
    for (std::int64_t b = part.outer; b < part.outer + part.outer_count; ++b)
      for (std::int64_t n = part.inner; n < part.inner + part.inner_count; ++n)
        strip(b, n * wide, std::min(wide, a_.n - n * wide));
  }

 private:
  static constexpr std::int64_t kChunk = isa::kMovingColumns;
  using Panels = std::vector<Tile>;

  /// All rows of matrix b times columns [n, n + wide) of w.
  void strip(std::int64_t b, std::int64_t n, std::int64_t wide) {
    const Panels moving =
        read(node_.in[1], a_.w_first + begin_of(a_, a_.w, b) + n * a_.w[rank_ + 1], a_.w[rank_], a_.w[rank_ + 1], wide);
    for (std::int64_t m = 0; m < a_.m; m += kPartitions) {
      const std::int64_t rows = std::min(kPartitions, a_.m - m);
      const Panels stationary =
          read(node_.in[0], a_.x_first + begin_of(a_, a_.x, b) + m * a_.x[rank_], a_.x[rank_ + 1], a_.x[rank_], rows);
      const Tile out = e_.sbuf(e_.value(node_.out[0]).dtype, rows, wide);
      for (std::int64_t c = 0; c < wide; c += kChunk) {
        const std::int64_t cols = std::min(kChunk, wide - c);
        const Tile sum = e_.psum(rows, cols);
        for (std::size_t p = 0; p < stationary.size(); ++p)
          e_.matmul(sum, stationary[p], columns(moving[p], c, cols), p > 0);
        e_.copy(columns(out, c, cols), sum);
      }
      e_.store(e_.hbm(node_.out[0], b * a_.m + m, rows, n, wide, 1), out);
    }
  }

  Tile piece(ValueId v, std::int64_t begin, std::int64_t rows, std::int64_t row_step, std::int64_t cols,
             std::int64_t col_step) {
    Tile tile = e_.hbm_flat(v, begin, rows, cols, row_step);
    tile.free[0].step = static_cast<std::int32_t>(col_step);
    return e_.loaded(type_, tile);
  }

  /// [k, count] in pieces of 128 of the summed axis, which has `k_step`.
  Panels read(ValueId v, std::int64_t begin, std::int64_t k_step, std::int64_t step, std::int64_t count) {
    Panels out;
    for (std::int64_t k = 0; k < a_.k; k += kPartitions) {
      const std::int64_t deep = std::min(kPartitions, a_.k - k);
      if (k_step != 1 || step == 1 || count == 1)
        out.push_back(piece(v, begin + k * k_step, deep, k_step, count, step));
      else
        out.push_back(e_.sbuf(type_, deep, count));
    }
    if (k_step != 1 || step == 1 || count == 1) return out;
    for (std::int64_t c = 0; c < count; c += kChunk)
      turn(v, begin + c * step, step, std::min(kChunk, count - c), c, out);
    return out;
  }

  /// Columns [at, at + count) of the panels from rows whose summed axis is the fastest.
  void turn(ValueId v, std::int64_t begin, std::int64_t step, std::int64_t count, std::int64_t at, Panels& out) {
    std::vector<Tile> rows;
    for (std::int64_t s = 0; s < count; s += kPartitions)
      rows.push_back(piece(v, begin + s * step, std::min(kPartitions, count - s), step, a_.k, 1));
    for (std::size_t p = 0; p < out.size(); ++p) {
      const Tile bank = e_.psum(out[p].partitions, count, type_);
      for (std::size_t s = 0; s < rows.size(); ++s)
        e_.transpose(columns(bank, static_cast<std::int64_t>(s) * kPartitions, rows[s].partitions),
                     columns(rows[s], static_cast<std::int64_t>(p) * kPartitions, out[p].partitions));
      e_.copy(columns(out[p], at, count), bank);
    }
  }

  Emitter& e_;
  const Node& node_;
  const BatchMatmulAttrs& a_;
  const Dtype type_;
  const std::size_t rank_;
  const std::int64_t panels_;
};

void batch_lower(Emitter& e, const Node& node) { BatchMatmul{e, node}.run(); }

double batch_pieces(const Node& node) {
  const auto& a = node.attrs.as<BatchMatmulAttrs>();
  return static_cast<double>(batches(a) * ceil_div(a.m, kPartitions));
}

}  // namespace

const Op kBatchMatmul{.name = "batch_matmul",
                      .text = "x w for each of a batch, operands at strides",
                      .attrs = BatchMatmulAttrs{},
                      .infer = batch_infer,
                      .forward = batch_forward,
                      .backward = batch_backward,
                      .lower_whole = batch_lower,
                      .matmul_flops = batch_flops,
                      .pieces = batch_pieces};

}  // namespace runtime
