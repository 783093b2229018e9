// The part of xIELU (Huang and Schlag, arXiv:2411.13010) that is of negative numbers. An operator of its own, as its
// terms nearly cancel where x is small: they stay in fp32 whatever the type of x.
#include <algorithm>
#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// exp(min(x, 0)) - 1, and min(x, 0) beside it.
struct Rise {
  Tile rise, below;
};
Rise rise_of(RowTiler& r, const Tile& x, std::int64_t size) {
  Rise out{r.scratch(Dtype::kFp32, size), r.scratch(Dtype::kFp32, size)};
  r.e().tensor_scalar(out.below, x, Alu::kMin, 0.0F);
  r.e().activation(out.rise, isa::Fn::kExp, out.below);
  return out;
}

/// y = exp(min(x, 0)) - 1 - min(x, 0). Shapes: [R, C] -> [R, C]. Lowering: ScalarE for the exponential, VectorE for the
/// rest.
Tensors exp_rest_forward(const Attrs&, std::span<const Tensor> in) {
  return map(in, [](float x, float) {
    const double below = std::min(x, 0.0F);
    return static_cast<float>(std::expm1(below) - below);
  });
}

void exp_rest_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kExpRestGrad, node, "grad", {b.grad(node), node.in[0]}));
}

void exp_rest_lower(RowTiler& r, const Node& node, Span span) {
  const auto [rise, below] = rise_of(r, r.in(node, 0, span), span.size);
  r.e().scalar_tensor_tensor(r.out(node, 0, span), rise, Alu::kAdd, -1.0F, Alu::kSub, below);
}

/// dx = dy * (exp(min(x, 0)) - 1). Shapes: dy, x [R, C] -> [R, C]. Lowering: as exp_rest.
Tensors exp_rest_grad_forward(const Attrs&, std::span<const Tensor> in) {
  return map(in, [](float dy, float x) { return static_cast<float>(dy * std::expm1(std::min<double>(x, 0))); });
}

void exp_rest_grad_lower(RowTiler& r, const Node& node, Span span) {
  const Tile dy = r.in(node, 0, span);
  const auto [rise, below] = rise_of(r, r.in(node, 1, span), span.size);
  r.e().scalar_tensor_tensor(r.out(node, 0, span), rise, Alu::kAdd, -1.0F, Alu::kMul, dy);
}

}  // namespace

const Op kExpRest{.name = "exp_rest",
                  .text = "exp(min(x, 0)) - 1 - min(x, 0)",
                  .attrs = ResultAttrs{},
                  .infer = same_or_broadcast,
                  .forward = exp_rest_forward,
                  .backward = exp_rest_backward,
                  .lower_columns = exp_rest_lower};
const Op kExpRestGrad{.name = "exp_rest_grad",
                      .text = "dy * (exp(min(x, 0)) - 1)",
                      .attrs = ResultAttrs{},
                      .infer = same_or_broadcast,
                      .forward = exp_rest_grad_forward,
                      .lower_columns = exp_rest_grad_lower};

}  // namespace runtime
