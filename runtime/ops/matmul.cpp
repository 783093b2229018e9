#include "base/error.h"
#include "runtime/elementwise.h"

namespace runtime {
namespace {

/// y = alpha * x w, or alpha * x w^T with trans_b. Shapes: x [R, K], w [K, N] (trans_b: [N, K]) -> y [R, N].
/// Operands enter TensorE as attrs.operand (default: x's type), sums are fp32.
/// With attrs.blocked the rows of w lie as blocked_row() says; then it has no gradient.
/// Lowering: runtime/compiler/row_tiler_matmul.cpp; x is stationary after a transpose on TensorE, w moves.
std::vector<Shape> infer(const Contract& c) {
  const Value &x = c.in(0), &w = c.in(1);
  const bool t = c.node.attrs.trans_b;
  if (t && c.node.attrs.blocked) c.fail("a blocked weight cannot be read transposed", "store it as [in, out]");
  c.need(1, t ? w.rows : x.cols, t ? x.cols : w.cols, "w");
  return {{x.rows, t ? w.rows : w.cols, c.result_type()}};
}

Tensors forward(const Attrs& a, std::span<const Tensor> in) {
  const Tensor &x = in[0], &w = in[1];
  return {generate(x.rows, a.trans_b ? w.rows : w.cols, [&](auto r, auto c) {
    double sum = 0;
    for (std::int64_t k = 0; k < x.cols; ++k)
      sum +=
          static_cast<double>(x.at(r, k)) * (a.trans_b ? w.at(c, k) : w.at(a.blocked ? blocked_row(k, w.rows) : k, c));
    return a.alpha * sum;
  })};
}

void backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node), x = node.in[0], w = node.in[1];
  const Attrs& a = node.attrs;
  base::ensure(!a.blocked, node.label, "a blocked weight has no gradient");
  const Attrs dx{.alpha = a.alpha, .trans_b = !a.trans_b, .operand = a.operand};
  if (b.needs(node, 0)) b.add(node, 0, b.op(kMatmul, node, "grad", {dy, w}, dx));
  const Attrs dw{.alpha = a.alpha, .dtype = b.graph().numerics().gradient, .operand = a.operand};
  if (b.needs(node, 1))
    b.add(node, 1,
          b.ops(kMatmulTn, node, "weight_grad", a.trans_b ? std::vector{dy, x} : std::vector{x, dy}, dw).front());
}

double flops(const Graph& g, const Node& n) {
  return 2.0 * static_cast<double>(g.value(n.in[0]).elements()) * static_cast<double>(g.value(n.out[0]).cols);
}

/// Only reached when a matmul is lowered outside of RowTiler::run_matmul, which would be a mistake.
void lower(RowTiler&, const Node& node) {
  throw base::Error{base::Fault::kInternal, node.label, "a matmul has no lowering of its own", "use RowTiler::run"};
}

// ---- sums over rows

/// y = sum over the rows of x. Shapes: x [R, C] -> y [1, C].
/// Lowering: a matmul with a stationary column of ones; PSUM adds up over all row tiles, SBUF when the row is long.
std::vector<Shape> sum_infer(const Contract& c) { return {{1, c.in(0).cols, c.result_type()}}; }

Tensors sum_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(1, in[0].cols, [&](auto, auto c) {
    double sum = 0;
    for (std::int64_t r = 0; r < in[0].rows; ++r) sum += in[0].at(r, c);
    return sum;
  })};
}

void sum_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0);
  const Tile ones = partitions(r.e().ones(x.dtype, 1), r.parts());
  const std::int64_t cols = x.cols();
  const bool wide = ceil_div(cols, kChunk) > r.budgets().sum_banks;  // others need some
  for (std::int64_t c = 0; c < cols; c += kChunk) {
    const std::int64_t size = std::min(kChunk, cols - c);
    const Tile sum = r.accumulator(node, c / kChunk, 1, size, wide);
    const Tile part = wide ? r.e().psum(1, size) : sum;
    r.e().matmul(part, ones, columns(x, c, size), !wide && !r.first_tile());
    if (wide && r.first_tile()) r.e().copy(sum, part);
    if (wide && !r.first_tile()) r.e().tensor_tensor(sum, part, Alu::kAdd, sum);
    if (!r.last_tile()) continue;
    const Tile row = r.e().sbuf(r.e().value(node.out[0]).dtype, 1, size);
    r.e().copy(row, sum);
    r.e().store(r.e().hbm(node.out[0], 0, 1, c, size, 1), row);
  }
}

double sum_flops(const Graph& g, const Node& n) { return 2.0 * static_cast<double>(g.value(n.in[0]).elements()); }

}  // namespace

const Op kMatmul{.name = "matmul",
                 .text = "alpha * x w, or x w^T",
                 .infer = infer,
                 .forward = forward,
                 .backward = backward,
                 .lower_rows = lower,
                 .matmul_flops = flops};
const Op kColSum{.name = "col_sum",
                 .text = "sum over rows",
                 .infer = sum_infer,
                 .forward = sum_forward,
                 .lower_rows = sum_lower,
                 .matmul_flops = sum_flops};

}  // namespace runtime
