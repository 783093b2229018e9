#include <cmath>

#include "runtime/ops/elementwise.h"

// A norm over columns that ranks share: the squares of a rank's columns, summed between ranks, and 1 / root of them.

namespace runtime {
namespace {

/// s = the sum of x * z over each row. Shapes: x, z [R, C] -> s [R, 1], fp32. Lowering: VectorE's product, whose sum
/// ScalarE accumulates.
std::vector<Shape> dot_infer(const Contract& c) {
  c.need(1, c.in(0).rows, c.in(0).cols, "the other factor");
  return {{c.in(0).rows, 1, Dtype::kFp32}};
}

Tensors dot_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(in[0].rows, 1, [&](auto r, auto) {
    double sum = 0;
    for (std::int64_t c = 0; c < in[0].cols; ++c) sum += static_cast<double>(in[0].at(r, c)) * in[1].at(r, c);
    return sum;
  })};
}

void dot_backward(Backward& b, const Node& node) {
  const ValueId ds = b.grad(node);
  for (std::size_t i = 0; i < 2; ++i)
    if (b.needs(node, i)) b.add(node, i, b.op(kMul, node, "grad", {node.in[1 - i], ds}));
}

void dot_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0), s = r.out(node, 0);
  const Tile waste = r.scratch(x.dtype, x.cols());
  if (node.in[0] == node.in[1]) return r.e().activation(waste, Fn::kSquare, x, 1.0F, 0.0F, &s);
  const Tile product = r.scratch(Dtype::kFp32, x.cols());
  r.e().tensor_tensor(product, x, Alu::kMul, r.in(node, 1));
  r.e().activation(waste, Fn::kCopy, product, 1.0F, 0.0F, &s);
}

/// y = 1 / sqrt(x * alpha + beta). Shapes: [R, C] -> [R, C]. Lowering: one ScalarE activation. Its gradient
/// is -alpha / 2 * y^3.
Tensors root_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<AffineAttrs>();
  return map(in, [&](float x, float) { return static_cast<float>(1 / std::sqrt(x * a.alpha + a.beta)); });
}

void root_backward(Backward& b, const Node& node) {
  const ValueId y = node.out[0];
  const ValueId cube = b.op(kMul, node, "cube", {b.op(kMul, node, "square", {y, y}), y});
  const ValueId dy = b.op(kMul, node, "slope", {b.grad(node), cube});
  b.add(node, 0, b.op(kAffine, node, "grad", {dy}, AffineAttrs{.alpha = -node.attrs.as<AffineAttrs>().alpha / 2}));
}

void root_lower(RowTiler& r, const Node& node, Span span) {
  const auto& a = node.attrs.as<AffineAttrs>();
  r.e().activation(r.out(node, 0, span), Fn::kRsqrt, r.in(node, 0, span), static_cast<float>(a.alpha),
                   static_cast<float>(a.beta));
}

}  // namespace

const Op kRowDot{.name = "row_dot",
                 .text = "the sum of x * z over each row",
                 .infer = dot_infer,
                 .forward = dot_forward,
                 .backward = dot_backward,
                 .lower_rows = dot_lower};
const Op kInverseRoot{.name = "inverse_root",
                      .text = "1 / sqrt(x * alpha + beta)",
                      .attrs = AffineAttrs{},
                      .infer = same_or_broadcast,
                      .forward = root_forward,
                      .backward = root_backward,
                      .lower_columns = root_lower};

}  // namespace runtime
