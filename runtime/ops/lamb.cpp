#include <cmath>

#include "runtime/compiler/emitter.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

/// One LAMB update of one parameter tensor: m and v as AdamW's, u = m^ / (sqrt(v^) + eps) + wd w, and
/// w = w - lr (|w| / |u|) u with norms over the whole tensor; the ratio is 1 while |w| or |u| is 0, and g is scaled by
/// `clip`. Shapes: w, g, m, v [R, C]; inputs [1, 8] (runtime/ops/optimizer_inputs.h); clip [1, 1] -> w, m, v in place.
/// Settings: OptimizerAttrs; b1 and b2 are its betas.
/// Lowering: two walks over the tensor. The first updates the moments and sums the squares of w and lr u; the second
/// makes lr u again from the stored moments, which costs three reads, and no further tensor in HBM.
/// Source: You et al., arXiv:1904.00962, algorithm 2, phi the identity.
Tensors lamb_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<OptimizerAttrs>();
  Tensors out{in[0], in[2], in[3]};
  const Tensor& inputs = in[4];
  std::vector<double> step(in[0].data.size());
  double weights = 0, steps = 0;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const double g = static_cast<double>(in[1].data[i]) * in[5].at(0, 0), w = in[0].data[i];
    const double m = a.beta1 * in[2].data[i] + (1 - a.beta1) * g, v = a.beta2 * in[3].data[i] + (1 - a.beta2) * g * g;
    step[i] = inputs.at(0, kRate) * m / (std::sqrt(v) * inputs.at(0, kRootScale) + a.eps) +
              (a.decays ? inputs.at(0, kDecayedShare) * w : 0);
    weights += w * w, steps += step[i] * step[i];
    out[1].data[i] = static_cast<float>(m);
    out[2].data[i] = static_cast<float>(v);
  }
  const bool scaled = weights > 0 && steps > 0;
  const double trust = scaled ? inputs.at(0, kLearningRate) * std::sqrt(weights / steps) : 1;
  for (std::size_t i = 0; i < step.size(); ++i) out[0].data[i] = static_cast<float>(in[0].data[i] - trust * step[i]);
  return out;
}

class Lamb {
 public:
  Lamb(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<OptimizerAttrs>()},
        flat_{e.value(node.in[0]).elements()},
        type_{e.value(node.in[0]).dtype} {
    const std::int64_t parts = flat_.parts;
    inputs_ = e.loaded(Dtype::kFp32, e.hbm_row(node.in[4], 0, parts, 0, kOptimizerInputs));
    const Tile clip = e.loaded(Dtype::kFp32, e.hbm_row(node.in[5], 0, parts, 0, 1));
    factors_ = e.sbuf(Dtype::kFp32, parts, 2);
    e.tensor_scalar(grad_m(), clip, Alu::kMul, static_cast<float>(1 - a_.beta1));
    e.tensor_scalar(grad_v(), clip, Alu::kMul, static_cast<float>(std::sqrt(1 - a_.beta2)));
    const std::int64_t tiles = ceil_div(flat_.cols, tile_cols(type_));
    weights_ = e.sbuf(Dtype::kFp32, parts, tiles), steps_ = e.sbuf(Dtype::kFp32, parts, tiles);
  }

  void run() {
    std::int64_t number = 0;
    for_tiles(flat_, type_, [&](std::int64_t c, std::int64_t cols) { measure(c, cols, number++); });
    const Tile factor = trust();
    for_tiles(flat_, type_, [&](std::int64_t c, std::int64_t cols) {
      const Tile w = get(0, c, cols), m = get(2, c, cols), v = get(3, c, cols);
      e_.scalar_tensor_tensor(w, direction(w, m, v), Alu::kMul, factor, Alu::kAdd, w);
      e_.store(at(node_.out[0], c, cols), w);
    });
  }

 private:
  Tile grad_m() const { return columns(factors_, 0, 1); }
  Tile grad_v() const { return columns(factors_, 1, 1); }
  Tile input(OptimizerInput which) const { return columns(inputs_, which, 1); }
  Tile fp32(std::int64_t cols) { return e_.sbuf(Dtype::kFp32, flat_.parts, cols); }
  Tile at(ValueId v, std::int64_t c, std::int64_t cols) { return e_.hbm_flat(v, c, flat_.parts, cols, flat_.cols); }
  Tile get(std::size_t i, std::int64_t c, std::int64_t cols) {
    return e_.loaded(e_.value(node_.in[i]).dtype, at(node_.in[i], c, cols));
  }

  /// lr * u.
  Tile direction(const Tile& w, const Tile& m, const Tile& v) {
    const Tile step = fp32(w.cols());
    e_.activation(step, Fn::kSqrt, v);
    e_.tensor_scalar(step, step, Alu::kMul, input(kRootScale), Alu::kAdd, static_cast<float>(a_.eps));
    e_.activation(step, Fn::kReciprocal, step);
    e_.scalar_tensor_tensor(step, m, Alu::kMul, input(kRate), Alu::kMul, step);
    if (a_.decays) e_.scalar_tensor_tensor(step, w, Alu::kMul, input(kDecayedShare), Alu::kAdd, step);
    return step;
  }

  void measure(std::int64_t c, std::int64_t cols, std::int64_t number) {
    const Tile w = get(0, c, cols), g = get(1, c, cols), m = get(2, c, cols), v = get(3, c, cols);
    const Tile part = fp32(cols), w_sum = columns(weights_, number, 1), s_sum = columns(steps_, number, 1);
    e_.tensor_scalar(part, g, Alu::kMul, grad_m());
    e_.scalar_tensor_tensor(m, m, Alu::kMul, static_cast<float>(a_.beta1), Alu::kAdd, part);
    e_.activation(part, Fn::kSquare, g, grad_v());
    e_.scalar_tensor_tensor(v, v, Alu::kMul, static_cast<float>(a_.beta2), Alu::kAdd, part);
    e_.store(at(node_.out[1], c, cols), m);
    e_.store(at(node_.out[2], c, cols), v);
    const Tile step = direction(w, m, v);
    e_.activation(step, Fn::kSquare, step, 1.0F, 0.0F, &s_sum);
    e_.activation(part, Fn::kSquare, w, 1.0F, 0.0F, &w_sum);
  }

  /// - lr |w| / |lr u| in every partition; -1 when |w| is 0.
  Tile trust() {
    const std::int64_t parts = flat_.parts;
    const Tile sums = fp32(2), norms = fp32(2), zero = fp32(2), factor = fp32(1);
    e_.reduce(columns(sums, 0, 1), Alu::kAdd, weights_);
    e_.reduce(columns(sums, 1, 1), Alu::kAdd, steps_);
    const Tile total = e_.psum(parts, 2);
    e_.matmul(total, partitions(e_.ones(Dtype::kFp32, parts), parts), sums, false);
    e_.activation(norms, Fn::kSqrt, total);
    e_.tensor_scalar(zero, norms, Alu::kEq, 0.0F);
    e_.tensor_tensor(columns(norms, 1, 1), columns(norms, 1, 1), Alu::kAdd, columns(zero, 1, 1));
    e_.activation(factor, Fn::kReciprocal, columns(norms, 1, 1));
    e_.scalar_tensor_tensor(factor, factor, Alu::kMul, input(kLearningRate), Alu::kMul, columns(norms, 0, 1));
    e_.tensor_scalar(factor, factor, Alu::kAdd, columns(zero, 0, 1), Alu::kMul, -1.0F);
    return factor;
  }

  Emitter& e_;
  const Node& node_;
  const OptimizerAttrs& a_;
  const Flat flat_;
  const Dtype type_;
  Tile inputs_{}, factors_{}, weights_{}, steps_{};
};

void lamb_lower(Emitter& e, const Node& node) { Lamb{e, node}.run(); }

/// Sums over the partitions, in each of them.
double lamb_flops(const Graph& g, const Node& node) {
  const auto parts = static_cast<double>(Flat{g.value(node.in[0]).elements()}.parts);
  return 2 * parts * parts * 2;
}

}  // namespace

const Op kLamb{.name = "lamb",
               .text = "LAMB update of a parameter tensor",
               .attrs = OptimizerAttrs{},
               .infer = moments_infer,
               .forward = lamb_forward,
               .lower_whole = lamb_lower,
               .matmul_flops = lamb_flops,
               .extra_flops = lamb_flops};

}  // namespace runtime
