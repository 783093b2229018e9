// Numbers kept within a limit, as "clip_qkv" of OLMo, DBRX and MPT does to queries, keys and values, or below one.
#include <algorithm>
#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

float limit_of(const Attrs& attrs) { return static_cast<float>(attrs.as<ClampAttrs>().limit); }

/// `x` as attrs has it, on the device.
void clamp(Emitter& e, const Tile& out, const Tile& x, const Attrs& attrs) {
  const float limit = limit_of(attrs);
  if (attrs.as<ClampAttrs>().above_only)
    e.tensor_scalar(out, x, Alu::kMin, limit);
  else
    e.tensor_scalar(out, x, Alu::kMax, -limit, Alu::kMin, limit);
}

/// y = min(max(x, -limit), limit), with attrs.above_only min(x, limit). Shapes: [R, C] -> [R, C]. Lowering: one
/// tensor_scalar on VectorE.
Tensors clamp_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const float limit = limit_of(attrs), least = attrs.as<ClampAttrs>().above_only ? -INFINITY : -limit;
  return map(in, [limit, least](float x, float) { return std::clamp(x, least, limit); });
}

void clamp_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kClampGrad, node, "grad", {b.grad(node), node.in[0]}, node.attrs.as<ClampAttrs>()));
}

void clamp_lower(RowTiler& r, const Node& node, Span span) {
  clamp(r.e(), r.out(node, 0, span), r.in(node, 0, span), node.attrs);
}

/// dx = dy where x is within the limits, else 0, as torch.clamp has it. Shapes: dy, x [R, C] -> [R, C]. Lowering: x
/// clamped, where it is still x, and a product.
Tensors clamp_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const float limit = limit_of(attrs);
  const bool above_only = attrs.as<ClampAttrs>().above_only;
  return map(in, [=](float dy, float x) { return x <= limit && (above_only || x >= -limit) ? dy : 0.0F; });
}

void clamp_grad_lower(RowTiler& r, const Node& node, Span span) {
  const Tile dy = r.in(node, 0, span), x = r.in(node, 1, span);
  const Tile kept = r.scratch(Dtype::kFp32, span.size);
  clamp(r.e(), kept, x, node.attrs);
  r.e().tensor_tensor(kept, kept, Alu::kEq, x);
  r.e().tensor_tensor(r.out(node, 0, span), dy, Alu::kMul, kept);
}

}  // namespace

const Op kClamp{.name = "clamp",
                .text = "x kept within a limit on both sides, or below it",
                .attrs = ClampAttrs{},
                .infer = same_or_broadcast,
                .forward = clamp_forward,
                .backward = clamp_backward,
                .lower_columns = clamp_lower};
const Op kClampGrad{.name = "clamp_grad",
                    .text = "dy where x is within the limits, else 0",
                    .attrs = ClampAttrs{},
                    .infer = same_or_broadcast,
                    .forward = clamp_grad_forward,
                    .lower_columns = clamp_grad_lower};

}  // namespace runtime
