#include "runtime/compiler/emitter.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

/// Gradient descent with momentum: m = b1 m + (g + wd w); w = w - lr m, with g scaled by `clip`; the decay is part of
/// the gradient. Shapes: w, g, m [R, C]; inputs [1, 8] (runtime/ops/optimizer_inputs.h); clip [1, 1] -> w, m in place.
/// Settings: OptimizerAttrs; b1 is the momentum. Lowering: one walk over the tensor.
/// Source: PyTorch, torch.optim.SGD (dampening 0, no Nesterov); Sutskever et al., ICML 2013.
std::vector<Shape> momentum_infer(const Contract& c) {
  const Value& w = c.in(0);
  for (const std::size_t i : {1u, 2u}) c.need(i, w.rows, w.cols, "gradient or moment");
  c.need(3, 1, kOptimizerInputs, "inputs");
  c.need(4, 1, 1, "clip");
  return {{w.rows, w.cols, w.dtype, c.node.in[0]}, {w.rows, w.cols, c.in(2).dtype, c.node.in[2]}};
}

Tensors momentum_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<OptimizerAttrs>();
  Tensors out{in[0], in[2]};
  const double decay = a.decays ? in[3].at(0, kWeightDecay) : 0;
  for (std::size_t i = 0; i < out[0].data.size(); ++i) {
    const double g = static_cast<double>(in[1].data[i]) * in[4].at(0, 0) + decay * in[0].data[i];
    const double m = a.beta1 * in[2].data[i] + g;
    out[0].data[i] = static_cast<float>(in[0].data[i] - in[3].at(0, kLearningRate) * m);
    out[1].data[i] = static_cast<float>(m);
  }
  return out;
}

void momentum_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<OptimizerAttrs>();
  const Flat flat{e.value(node.in[0]).elements()};
  const Tile inputs = e.loaded(Dtype::kFp32, e.hbm_row(node.in[3], 0, flat.parts, 0, kOptimizerInputs));
  const Tile clip = e.loaded(Dtype::kFp32, e.hbm_row(node.in[4], 0, flat.parts, 0, 1));
  const Tile rate = e.sbuf(Dtype::kFp32, flat.parts, 1);
  e.tensor_scalar(rate, columns(inputs, kLearningRate, 1), Alu::kMul, -1.0F);
  for_tiles(flat, e.value(node.in[0]).dtype, [&](std::int64_t c, std::int64_t cols) {
    const auto get = [&](std::size_t i) {
      return e.loaded(e.value(node.in[i]).dtype, flat.at(e, node.in[i], c, cols));
    };
    const Tile w = get(0), g = get(1), m = get(2), step = e.sbuf(Dtype::kFp32, flat.parts, cols);
    e.tensor_scalar(step, g, Alu::kMul, clip);
    if (a.decays) e.scalar_tensor_tensor(step, w, Alu::kMul, columns(inputs, kWeightDecay, 1), Alu::kAdd, step);
    e.scalar_tensor_tensor(m, m, Alu::kMul, static_cast<float>(a.beta1), Alu::kAdd, step);
    e.scalar_tensor_tensor(w, m, Alu::kMul, rate, Alu::kAdd, w);
    e.store(flat.at(e, node.out[0], c, cols), w);
    e.store(flat.at(e, node.out[1], c, cols), m);
  });
}

}  // namespace

const Op kMomentum{.name = "momentum",
                   .text = "gradient descent with momentum",
                   .attrs = OptimizerAttrs{},
                   .infer = momentum_infer,
                   .forward = momentum_forward,
                   .lower_whole = momentum_lower};

}  // namespace runtime
