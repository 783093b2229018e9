// Numbers kept within a limit, as "clip_qkv" of OLMo, DBRX and MPT does to queries, keys and values.
#include <algorithm>
#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

float limit_of(const Attrs& attrs) { return static_cast<float>(attrs.as<ClampAttrs>().limit); }

/// y = min(max(x, -limit), limit). Shapes: [R, C] -> [R, C]. Lowering: one tensor_scalar on VectorE.
Tensors clamp_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const float limit = limit_of(attrs);
  return map(in, [limit](float x, float) { return std::clamp(x, -limit, limit); });
}

void clamp_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kClampGrad, node, "grad", {b.grad(node), node.in[0]}, node.attrs.as<ClampAttrs>()));
}

void clamp_lower(RowTiler& r, const Node& node, Span span) {
  const float limit = limit_of(node.attrs);
  r.e().tensor_scalar(r.out(node, 0, span), r.in(node, 0, span), Alu::kMax, -limit, Alu::kMin, limit);
}

/// dx = dy where |x| <= limit, else 0, as torch.clamp has it. Shapes: dy, x [R, C] -> [R, C]. Lowering: x clamped,
/// where it is still x, and a product.
Tensors clamp_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const float limit = limit_of(attrs);
  return map(in, [limit](float dy, float x) { return std::abs(x) <= limit ? dy : 0.0F; });
}

void clamp_grad_lower(RowTiler& r, const Node& node, Span span) {
  const Tile dy = r.in(node, 0, span), x = r.in(node, 1, span);
  const Tile kept = r.scratch(Dtype::kFp32, span.size);
  const float limit = limit_of(node.attrs);
  r.e().tensor_scalar(kept, x, Alu::kMax, -limit, Alu::kMin, limit);
  r.e().tensor_tensor(kept, kept, Alu::kEq, x);
  r.e().tensor_tensor(r.out(node, 0, span), dy, Alu::kMul, kept);
}

}  // namespace

const Op kClamp{.name = "clamp",
                .text = "x kept within a limit on both sides",
                .attrs = ClampAttrs{},
                .infer = same_or_broadcast,
                .forward = clamp_forward,
                .backward = clamp_backward,
                .lower_columns = clamp_lower};
const Op kClampGrad{.name = "clamp_grad",
                    .text = "dy where x is within the limit, else 0",
                    .attrs = ClampAttrs{},
                    .infer = same_or_broadcast,
                    .forward = clamp_grad_forward,
                    .lower_columns = clamp_grad_lower};

}  // namespace runtime
