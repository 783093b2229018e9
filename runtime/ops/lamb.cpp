#include <cmath>

#include "runtime/compiler/emitter.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

struct LambElement {
  double weight, m, v;
};

/// lr * u of one element, from its new moments.
double lamb_step(const OptimizerAttrs& a, const Tensor& inputs, const LambElement& at) {
  return inputs.at(0, kRate) * at.m / (std::sqrt(at.v) * inputs.at(0, kRootScale) + a.eps) +
         (a.decays ? inputs.at(0, kDecayedShare) * at.weight : 0);
}

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
    step[i] = lamb_step(a, inputs, {w, m, v});
    weights += w * w, steps += step[i] * step[i];
    out[1].data[i] = static_cast<float>(m);
    out[2].data[i] = static_cast<float>(v);
  }
  const bool scaled = weights > 0 && steps > 0;
  const double trust = scaled ? inputs.at(0, kLearningRate) * std::sqrt(weights / steps) : 1;
  for (std::size_t i = 0; i < step.size(); ++i) out[0].data[i] = static_cast<float>(in[0].data[i] - trust * step[i]);
  return out;
}

/// The tiles of a tensor, and the direction in which it moves.
class LambTiles : protected FlatTiles {
 public:
  /// `inputs`: which operand has the factors.
  LambTiles(Emitter& e, const Node& node, std::size_t inputs)
      : FlatTiles{e, node}, a_{node.attrs.as<OptimizerAttrs>()}, type_{e.value(node.in[0]).dtype} {
    inputs_ = e.loaded(Dtype::kFp32, e.hbm_row(node.in[inputs], 0, flat_.parts, 0, kOptimizerInputs));
  }

 protected:
  Tile input(OptimizerInput which) const { return columns(inputs_, which, 1); }

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

  /// - lr |w| / |lr u| in every partition, from the sums of squares there; -1 when |w| is 0.
  Tile trust(const Tile& total) {
    const Tile norms = fp32(2), zero = fp32(2), factor = fp32(1);
    e_.activation(norms, Fn::kSqrt, total);
    e_.tensor_scalar(zero, norms, Alu::kEq, 0.0F);
    e_.tensor_tensor(columns(norms, 1, 1), columns(norms, 1, 1), Alu::kAdd, columns(zero, 1, 1));
    e_.activation(factor, Fn::kReciprocal, columns(norms, 1, 1));
    e_.scalar_tensor_tensor(factor, factor, Alu::kMul, input(kLearningRate), Alu::kMul, columns(norms, 0, 1));
    e_.tensor_scalar(factor, factor, Alu::kAdd, columns(zero, 0, 1), Alu::kMul, -1.0F);
    return factor;
  }

  const OptimizerAttrs& a_;
  const Dtype type_;

 private:
  Tile inputs_{};
};

/// Operands w, g, m, v, inputs, clip. `first`: which result m is; v is the next one.
class LambMoments : public LambTiles {
 public:
  LambMoments(Emitter& e, const Node& node, std::size_t first) : LambTiles{e, node, 4}, first_{first} {
    const std::int64_t parts = flat_.parts;
    const Tile clip = e.loaded(Dtype::kFp32, e.hbm_row(node.in[5], 0, parts, 0, 1));
    factors_ = e.sbuf(Dtype::kFp32, parts, 2);
    e.tensor_scalar(grad_m(), clip, Alu::kMul, static_cast<float>(1 - a_.beta1));
    e.tensor_scalar(grad_v(), clip, Alu::kMul, static_cast<float>(std::sqrt(1 - a_.beta2)));
    const std::int64_t tiles = ceil_div(flat_.cols, tile_cols(type_));
    weights_ = e.sbuf(Dtype::kFp32, parts, tiles), steps_ = e.sbuf(Dtype::kFp32, parts, tiles);
  }

 protected:
  /// Updates the moments. Returns the squares of w and lr u, summed over the tensor, in each of `parts` partitions of
  /// PSUM.
  Tile measured(std::int64_t parts) {
    std::int64_t number = 0;
    for_tiles(flat_, type_, [&](std::int64_t c, std::int64_t cols) { measure(c, cols, number++); });
    const Tile sums = fp32(2);
    return summed(sums, parts);
  }

 private:
  Tile grad_m() const { return columns(factors_, 0, 1); }
  Tile grad_v() const { return columns(factors_, 1, 1); }

  void measure(std::int64_t c, std::int64_t cols, std::int64_t number) {
    const Tile w = get(0, c, cols), g = get(1, c, cols), m = get(2, c, cols), v = get(3, c, cols);
    const Tile part = fp32(cols), w_sum = columns(weights_, number, 1), s_sum = columns(steps_, number, 1);
    e_.tensor_scalar(part, g, Alu::kMul, grad_m());
    e_.scalar_tensor_tensor(m, m, Alu::kMul, static_cast<float>(a_.beta1), Alu::kAdd, part);
    e_.activation(part, Fn::kSquare, g, grad_v());
    e_.scalar_tensor_tensor(v, v, Alu::kMul, static_cast<float>(a_.beta2), Alu::kAdd, part);
    e_.store(at(node_.out[first_], c, cols), m);
    e_.store(at(node_.out[first_ + 1], c, cols), v);
    const Tile step = direction(w, m, v);
    e_.activation(step, Fn::kSquare, step, 1.0F, 0.0F, &s_sum);
    e_.activation(part, Fn::kSquare, w, 1.0F, 0.0F, &w_sum);
  }

  Tile summed(const Tile& sums, std::int64_t parts) {
    e_.reduce(columns(sums, 0, 1), Alu::kAdd, weights_);
    e_.reduce(columns(sums, 1, 1), Alu::kAdd, steps_);
    const Tile total = e_.psum(parts, 2);
    e_.matmul(total, partitions(e_.ones(Dtype::kFp32, parts), flat_.parts), sums, false);
    return total;
  }

  const std::size_t first_;
  Tile factors_{}, weights_{}, steps_{};
};

class Lamb : LambMoments {
 public:
  Lamb(Emitter& e, const Node& node) : LambMoments{e, node, 1} {}

  void run() {
    const Tile factor = trust(measured(flat_.parts));
    for_tiles(flat_, type_, [&](std::int64_t c, std::int64_t cols) {
      const Tile w = get(0, c, cols), m = get(2, c, cols), v = get(3, c, cols);
      e_.scalar_tensor_tensor(w, direction(w, m, v), Alu::kMul, factor, Alu::kAdd, w);
      e_.store(at(node_.out[0], c, cols), w);
    });
  }
};

void lamb_lower(Emitter& e, const Node& node) { Lamb{e, node}.run(); }

/// Sums over the partitions, in each of them.
double lamb_flops(const Graph& g, const Node& node) {
  const auto parts = static_cast<double>(Flat{g.value(node.in[0]).elements()}.parts);
  return 2 * parts * parts * 2;
}

// ---- a tensor of a checkpoint that a device has in parts: one ratio for all of them

/// The first half of a LAMB update, of a part of a parameter tensor: new moments, and the squares of w and lr u, whose
/// sums over all parts make the ratio. Shapes: as lamb -> m, v in place, norms [1, 2]. Source: as lamb.
std::vector<Shape> lamb_norms_infer(const Contract& c) {
  std::vector<Shape> out = moments_infer(c);
  out.erase(out.begin());
  out.push_back({1, 2, Dtype::kFp32});
  return out;
}

Tensors lamb_norms_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<OptimizerAttrs>();
  Tensors out{in[2], in[3], Tensor(1, 2)};
  double weights = 0, steps = 0;
  for (std::size_t i = 0; i < in[0].data.size(); ++i) {
    const double g = static_cast<double>(in[1].data[i]) * in[5].at(0, 0), w = in[0].data[i];
    const double m = a.beta1 * in[2].data[i] + (1 - a.beta1) * g, v = a.beta2 * in[3].data[i] + (1 - a.beta2) * g * g;
    const double step = lamb_step(a, in[4], {w, m, v});
    weights += w * w, steps += step * step;
    out[0].data[i] = static_cast<float>(m), out[1].data[i] = static_cast<float>(v);
  }
  out[2].at(0, 0) = static_cast<float>(weights), out[2].at(0, 1) = static_cast<float>(steps);
  return out;
}

class LambNorms : LambMoments {
 public:
  LambNorms(Emitter& e, const Node& node) : LambMoments{e, node, 0} {}

  void run() {
    const Tile total = measured(1), norms = e_.sbuf(Dtype::kFp32, 1, 2);
    e_.copy(norms, total);
    e_.store(e_.hbm(node_.out[2], 0, 1), norms);
  }
};

void lamb_norms_lower(Emitter& e, const Node& node) { LambNorms{e, node}.run(); }

/// Sums over the partitions.
double lamb_norms_flops(const Graph& g, const Node& node) {
  return 2 * static_cast<double>(Flat{g.value(node.in[0]).elements()}.parts) * 2;
}

/// The second half: w = w - lr (|w| / |u|) u with the norms of all parts. Shapes: w, m, v [R, C]; inputs [1, 8]
/// (runtime/ops/optimizer_inputs.h); norms [1, 2] -> w in place.
std::vector<Shape> lamb_apply_infer(const Contract& c) {
  const Value& w = c.in(0);
  for (const std::size_t i : {1u, 2u}) c.need(i, w.rows, w.cols, "moment");
  c.need(3, 1, kOptimizerInputs, "inputs");
  c.need(4, 1, 2, "norms");
  return {{w.rows, w.cols, w.dtype, c.node.in[0]}};
}

Tensors lamb_apply_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<OptimizerAttrs>();
  const double weights = in[4].at(0, 0), steps = in[4].at(0, 1);
  const double trust = weights > 0 && steps > 0 ? in[3].at(0, kLearningRate) * std::sqrt(weights / steps) : 1;
  Tensor out = in[0];
  for (std::size_t i = 0; i < out.data.size(); ++i)
    out.data[i] =
        static_cast<float>(in[0].data[i] - trust * lamb_step(a, in[3], {in[0].data[i], in[1].data[i], in[2].data[i]}));
  return {out};
}

class LambApply : LambTiles {
 public:
  LambApply(Emitter& e, const Node& node) : LambTiles{e, node, 3} {}

  void run() {
    const Tile factor = trust(e_.loaded(Dtype::kFp32, e_.hbm_row(node_.in[4], 0, flat_.parts, 0, 2)));
    for_tiles(flat_, type_, [&](std::int64_t c, std::int64_t cols) {
      const Tile w = get(0, c, cols), m = get(1, c, cols), v = get(2, c, cols);
      e_.scalar_tensor_tensor(w, direction(w, m, v), Alu::kMul, factor, Alu::kAdd, w);
      e_.store(at(node_.out[0], c, cols), w);
    });
  }
};

void lamb_apply_lower(Emitter& e, const Node& node) { LambApply{e, node}.run(); }

}  // namespace

const Op kLamb{.name = "lamb",
               .text = "LAMB update of a parameter tensor",
               .attrs = OptimizerAttrs{},
               .infer = moments_infer,
               .forward = lamb_forward,
               .lower_whole = lamb_lower,
               .matmul_flops = lamb_flops,
               .extra_flops = lamb_flops};

const Op kLambNorms{.name = "lamb_norms",
                    .text = "moments of LAMB of a part of a parameter tensor, and its share of the norms",
                    .attrs = OptimizerAttrs{},
                    .infer = lamb_norms_infer,
                    .forward = lamb_norms_forward,
                    .lower_whole = lamb_norms_lower,
                    .matmul_flops = lamb_norms_flops,
                    .extra_flops = lamb_norms_flops};
const Op kLambApply{.name = "lamb_apply",
                    .text = "LAMB update of a part of a parameter tensor by the norms of all of it",
                    .attrs = OptimizerAttrs{},
                    .infer = lamb_apply_infer,
                    .forward = lamb_apply_forward,
                    .lower_whole = lamb_apply_lower};

}  // namespace runtime
