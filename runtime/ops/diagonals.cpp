// A bias that depends on the distance of key and query alone, as T5 has it: one number for each distance, spread over
// the scores.
#include <algorithm>

#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

constexpr std::int64_t kTogether = 4096;  // elements in a partition that one transfer moves

std::int64_t rows_of(const Node& node) { return node.attrs.as<DiagonalsAttrs>().rows; }

/// Each row of x becomes S rows, each of them one place further left: y[h * S + i, j] = x[h, S - 1 - i + j].
/// Shapes: x [H, S + K - 1], S attrs.rows -> y [H * S, K]. Lowering: x is in SBUF, H partitions, and transfers read
/// it row by row from one place further left.
std::vector<Shape> diagonals_infer(const Contract& c) {
  const std::int64_t rows = rows_of(c.node), cols = c.in(0).cols - rows + 1;
  if (rows < 1 || cols < 1) c.fail("has fewer columns than diagonals", "give rows + columns - 1 of them");
  return {{c.in(0).rows * rows, cols, c.result_type()}};
}

Tensors diagonals_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t rows = attrs.as<DiagonalsAttrs>().rows;
  return {generate(in[0].rows * rows, in[0].cols - rows + 1,
                   [&](auto r, auto c) { return in[0].at(r / rows, rows - 1 - r % rows + c); })};
}

void diagonals_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kDiagonalsGrad, node, "grad", {b.grad(node)}, DiagonalsAttrs{.rows = rows_of(node)}));
}

/// Calls body(first head, heads, first row, rows, their tile in HBM) for as many rows of up to 128 heads as go
/// together. `v`: [heads * rows, cols].
template <class Body>
void for_each_part(Emitter& e, ValueId v, std::int64_t rows, const Body& body) {
  const std::int64_t cols = e.value(v).cols, heads = e.value(v).rows / rows;
  const std::int64_t most = std::max<std::int64_t>(1, kTogether / cols);
  for (std::int64_t h = 0; h < heads; h += kPartitions) {
    const std::int64_t parts = std::min(kPartitions, heads - h);
    for (std::int64_t i = 0; i < rows; i += most) {
      const std::int64_t count = std::min(most, rows - i);
      const Tile place = e.hbm_flat(v, (h * rows + i) * cols, parts, count * cols, rows * cols);
      body(h, parts, i, count, fold(place, count, cols));
    }
  }
}

void diagonals_lower(Emitter& e, const Node& node) {
  const std::int64_t rows = rows_of(node);
  const Value& y = e.value(node.out[0]);
  Tile x{};
  for_each_part(e, node.out[0], rows, [&](auto head, auto heads, auto i, auto count, const Tile& place) {
    if (i == 0) x = e.loaded(y.dtype, e.hbm(node.in[0], head, heads));
    Tile shifted = fold(columns(x, rows - 1 - i, y.cols), count, y.cols);
    shifted.free[0].step = -1;
    e.store(place, shifted);
  });
}

/// The sums along the diagonals: dx[h, d] is that of all dy[h * S + i, j] with S - 1 - i + j = d.
/// Shapes: dy [H * S, K], S attrs.rows -> dx [H, S + K - 1]. Lowering: VectorE adds row by row, heads are partitions;
/// sums are fp32.
std::vector<Shape> grad_infer(const Contract& c) {
  const std::int64_t rows = rows_of(c.node);
  if (rows < 1 || c.in(0).rows % rows != 0)
    c.fail("does not have rows of each head", "give as many rows for each head");
  return {{c.in(0).rows / rows, c.in(0).cols + rows - 1, c.result_type()}};
}

Tensors grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t rows = attrs.as<DiagonalsAttrs>().rows;
  Tensor out(in[0].rows / rows, in[0].cols + rows - 1);
  for (std::int64_t r = 0; r < in[0].rows; ++r)
    for (std::int64_t c = 0; c < in[0].cols; ++c) out.at(r / rows, rows - 1 - r % rows + c) += in[0].at(r, c);
  return {out};
}

void grad_lower(Emitter& e, const Node& node) {
  const std::int64_t rows = rows_of(node);
  const Value &dy = e.value(node.in[0]), &dx = e.value(node.out[0]);
  Tile sums{};
  for_each_part(e, node.in[0], rows, [&](auto head, auto heads, auto first, auto count, const Tile& place) {
    if (first == 0) {
      sums = e.sbuf(Dtype::kFp32, heads, dx.cols);
      e.fill(sums, 0);
    }
    const Tile some = e.sbuf(dy.dtype, heads, count * dy.cols);
    e.load(fold(some, count, dy.cols), place);
    for (std::int64_t i = 0; i < count; ++i) {
      const Tile to = columns(sums, rows - 1 - first - i, dy.cols);
      e.tensor_tensor(to, columns(some, i * dy.cols, dy.cols), Alu::kAdd, to);
    }
    if (first + count < rows) return;
    const Tile result = e.sbuf(dx.dtype, heads, dx.cols);
    e.copy(result, sums);
    e.store(e.hbm(node.out[0], head, heads), result);
  });
}

}  // namespace

const Op kDiagonals{.name = "diagonals",
                    .text = "rows shifted against each other: a bias that depends on distance",
                    .attrs = DiagonalsAttrs{},
                    .infer = diagonals_infer,
                    .forward = diagonals_forward,
                    .backward = diagonals_backward,
                    .lower_whole = diagonals_lower};
const Op kDiagonalsGrad{.name = "diagonals_grad",
                        .text = "sums along diagonals",
                        .attrs = DiagonalsAttrs{},
                        .infer = grad_infer,
                        .forward = grad_forward,
                        .lower_whole = grad_lower};

}  // namespace runtime
