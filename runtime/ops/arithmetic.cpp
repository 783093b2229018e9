#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// The gradient of an operand that stood for all rows or columns is the sum over them. Errors: Fault::kProgram for a
/// column that is added, whose gradient no model needs.
ValueId reduce_to(Backward& b, const Node& node, std::size_t i, ValueId gradient) {
  const Value& operand = b.graph().value(node.in[i]);
  const Value& g = b.graph().value(gradient);
  if (operand.rows == g.rows && operand.cols == g.cols) return gradient;
  if (operand.rows != 1 || operand.cols != g.cols)
    Contract{b.graph(), node}.fail("needs the gradient of a broadcast column", "make it a row, or write that gradient");
  // Longer sums do not stay beside the rows that they are made of: SBUF has 48 Ki floats in a partition.
  constexpr std::int64_t kLongest = 16 * 1024;
  const Op& sum = g.cols > kLongest ? kWideColSum : kColSum;
  return b.op(sum, node, "bias_grad", {gradient}, ResultAttrs{.dtype = b.graph().numerics().gradient});
}

/// y = x + z. Shapes: x [R, C]; z [R, C], or [1, C] or [R, 1] for all rows or columns -> y [R, C].
/// Lowering: VectorE tensor_tensor; tensor_scalar when z is a column.
Tensors add_forward(const Attrs&, std::span<const Tensor> in) {
  return map(in, [](float x, float z) { return x + z; });
}

void add_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node);
  b.add(node, 0, dy);
  if (b.needs(node, 1)) b.add(node, 1, reduce_to(b, node, 1, dy));
}

void lower_binary(RowTiler& r, const Node& node, Span span, Alu alu) {
  const Tile a = r.in(node, 0, span), b = r.in(node, 1, span), y = r.out(node, 0, span);
  if (b.cols() == 1 && span.size > 1)
    r.e().tensor_scalar(y, a, alu, b);
  else
    r.e().tensor_tensor(y, a, alu, b);
}

void add_lower(RowTiler& r, const Node& node, Span span) { lower_binary(r, node, span, Alu::kAdd); }

/// y = x * z. Shapes and lowering: as add.
Tensors mul_forward(const Attrs&, std::span<const Tensor> in) {
  return map(in, [](float x, float z) { return x * z; });
}

void mul_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node);
  if (b.needs(node, 0)) b.add(node, 0, b.op(kMul, node, "grad", {dy, node.in[1]}));
  if (!b.needs(node, 1)) return;
  const Value &x = b.graph().value(node.in[0]), &z = b.graph().value(node.in[1]);
  const bool column = z.rows == x.rows && z.cols == 1 && x.cols > 1;
  b.add(node, 1,
        column ? b.op(kRowDot, node, "column_grad", {dy, node.in[0]})
               : reduce_to(b, node, 1, b.op(kMul, node, "grad", {dy, node.in[0]})));
}

void mul_lower(RowTiler& r, const Node& node, Span span) { lower_binary(r, node, span, Alu::kMul); }

/// y = x * alpha + beta. Shapes: [R, C] -> [R, C]. Lowering: one tensor_scalar on VectorE.
Tensors affine_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<AffineAttrs>();
  const auto alpha = static_cast<float>(a.alpha), beta = static_cast<float>(a.beta);
  return map(in, [&](float x, float) { return x * alpha + beta; });
}

void affine_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kAffine, node, "grad", {b.grad(node)}, AffineAttrs{.alpha = node.attrs.as<AffineAttrs>().alpha}));
}

void affine_lower(RowTiler& r, const Node& node, Span span) {
  const auto& a = node.attrs.as<AffineAttrs>();
  const auto alpha = static_cast<float>(a.alpha), beta = static_cast<float>(a.beta);
  const Tile x = r.in(node, 0, span), y = r.out(node, 0, span);
  if (beta == 0)
    r.e().copy(y, x, alpha);
  else
    r.e().tensor_scalar(y, x, Alu::kMul, alpha, Alu::kAdd, beta);
}

/// z = x in z's type and z's place: a parameter from its master copy. Shapes: x, z [R, C] -> z.
std::vector<Shape> assign_infer(const Contract& c) {
  c.need(0, c.in(1).rows, c.in(1).cols, "value");
  return {{c.in(1).rows, c.in(1).cols, c.in(1).dtype, c.node.in[1]}};
}

Tensors assign_forward(const Attrs&, std::span<const Tensor> in) { return {in[0]}; }

void assign_lower(RowTiler& r, const Node& node, Span span) { r.e().copy(r.out(node, 0, span), r.in(node, 0, span)); }

}  // namespace

const Op kAdd{.name = "add",
              .text = "x + z; z may be one row or one column",
              .attrs = ResultAttrs{},
              .infer = same_or_broadcast,
              .forward = add_forward,
              .backward = add_backward,
              .lower_columns = add_lower};
const Op kMul{.name = "mul",
              .text = "x * z; z may be one row or one column",
              .attrs = ResultAttrs{},
              .infer = same_or_broadcast,
              .forward = mul_forward,
              .backward = mul_backward,
              .lower_columns = mul_lower};
const Op kAffine{.name = "affine",
                 .text = "x * alpha + beta",
                 .attrs = AffineAttrs{},
                 .infer = same_or_broadcast,
                 .forward = affine_forward,
                 .backward = affine_backward,
                 .lower_columns = affine_lower};

const Op kAssign{.name = "assign",
                 .text = "a value written into another one's place",
                 .infer = assign_infer,
                 .forward = assign_forward,
                 .lower_columns = assign_lower};

}  // namespace runtime
