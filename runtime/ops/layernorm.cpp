#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// Normalizes each row: y = xhat * gamma + beta, xhat = (x - mean) * rstd, rstd = 1 / sqrt(var + eps).
/// Shapes: x [R, H * C], gamma and beta [1, C], and eps [1, 1] where it is data -> y [R, H * C]; keeps xhat [R, H * C]
/// and rstd [R, H] (fp32) for the gradient. With attrs.vectors 1 there is no beta, and with 0 no gamma either.
/// H > 1: heads side by side, each by itself, with one gamma and beta (Phi's and StableLM's queries and keys).
/// Source: Ba et al., arXiv:1607.06450, eq. 4; on the device: NKI bn_stats, bn_aggr, then rsqrt.
std::vector<Shape> layernorm_infer(const Contract& c) {
  const Value& x = c.in(0);
  const std::size_t vectors = c.node.attrs.as<NormAttrs>().vectors;
  if (vectors > 2) c.fail("has more than gamma and beta", "set vectors to 0, 1 or 2");
  const std::int64_t heads = vectors > 0 ? std::max<std::int64_t>(1, x.cols / c.in(1).cols) : 1;
  if (vectors > 0) c.need(1, 1, x.cols / heads, "gamma");
  if (x.cols % heads != 0) c.fail("the heads do not divide the columns", "give the gamma of a head");
  if (vectors > 1) c.need(2, 1, x.cols / heads, "beta");
  if (c.inputs() > vectors + 1) c.need(vectors + 1, 1, 1, "eps");
  return {{x.rows, x.cols, c.result_type()}, {x.rows, x.cols, c.result_type()}, {x.rows, heads, Dtype::kFp32}};
}

Tensors layernorm_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::size_t vectors = attrs.as<NormAttrs>().vectors;
  const double eps = in.size() > vectors + 1 ? in[vectors + 1].at(0, 0) : attrs.as<NormAttrs>().eps;
  const Tensor& x = in[0];
  const std::int64_t size = vectors > 0 ? in[1].cols : x.cols, heads = x.cols / size;
  Tensor y(x.rows, x.cols), xhat(x.rows, x.cols), rstd(x.rows, heads);
  for (std::int64_t part = 0; part < x.rows * heads; ++part) {
    const std::int64_t r = part / heads, h = part % heads, first = h * size, end = first + size;
    double sum = 0, squares = 0;
    for (std::int64_t c = first; c < end; ++c) sum += x.at(r, c);
    const double mean = sum / static_cast<double>(size);
    for (std::int64_t c = first; c < end; ++c) squares += (x.at(r, c) - mean) * (x.at(r, c) - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + eps);
    rstd.at(r, h) = static_cast<float>(scale);
    for (std::int64_t c = first; c < end; ++c) {
      xhat.at(r, c) = static_cast<float>((x.at(r, c) - mean) * scale);
      y.at(r, c) =
          xhat.at(r, c) * (vectors > 0 ? in[1].at(0, c - first) : 1.0F) + (vectors > 1 ? in[2].at(0, c - first) : 0.0F);
    }
  }
  return {y, xhat, rstd};
}

void layernorm_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node), xhat = node.out[1], rstd = node.out[2];
  const std::size_t vectors = node.attrs.as<NormAttrs>().vectors;
  const auto summed = [&](std::size_t operand, const char* name, ValueId rows) {
    ValueId sum = b.op(kColSum, node, name, {rows}, ResultAttrs{.dtype = b.graph().numerics().gradient});
    const std::int64_t size = b.graph().value(node.in[operand]).cols;
    if (size < b.graph().value(sum).cols) sum = b.op(kHeadSum, node, "heads_sum", {sum}, StrideAttrs{.stride = size});
    b.add(node, operand, sum);
  };
  if (vectors > 0 && b.needs(node, 1)) summed(1, "gamma_grad", b.op(kMul, node, "grad", {dy, xhat}));
  if (vectors > 1 && b.needs(node, 2)) summed(2, "beta_grad", dy);
  if (!b.needs(node, 0)) return;
  std::vector<ValueId> in{dy, xhat, rstd};
  if (vectors > 0) in.insert(in.begin() + 1, node.in[1]);
  b.add(node, 0, b.op(kLayerNormGrad, node, "grad", in));
}

/// Mean and variance of each row: dst [P, 2].
Tile statistics(RowTiler& r, const Tile& x) {
  const std::int64_t pieces = ceil_div(x.cols(), kChunk), size = ceil_div(x.cols(), pieces);
  const Tile stats = r.scratch(Dtype::kFp32, 6 * pieces), moments = r.scratch(Dtype::kFp32, 2);
  for (std::int64_t i = 0; i < pieces; ++i)
    r.e().emit({.op = Opcode::kBnStats,
                .engine = isa::Engine::kVector,
                .dst = columns(stats, 6 * i, 6),
                .a = columns(x, i * size, std::min(size, x.cols() - i * size))});
  r.e().emit({.op = Opcode::kBnAggr, .engine = isa::Engine::kVector, .dst = moments, .a = stats});
  return moments;
}

void layernorm_lower(RowTiler& r, const Node& node) {
  const std::size_t vectors = node.attrs.as<NormAttrs>().vectors;
  const Tile all = r.in(node, 0), gamma = vectors > 0 ? r.in(node, 1) : Tile{},
             beta = vectors > 1 ? r.in(node, 2) : Tile{};
  const Tile all_y = r.out(node, 0), all_xhat = r.out(node, 1), all_rstd = r.out(node, 2);
  const std::int64_t size = vectors > 0 ? gamma.cols() : all.cols();
  for (std::int64_t h = 0; h * size < all.cols(); ++h) {
    const auto head = [&](const Tile& tile) { return columns(tile, h * size, size); };
    const Tile x = head(all), y = head(all_y), xhat = head(all_xhat), rstd = columns(all_rstd, h, 1);
    const Tile moments = statistics(r, x);
    r.e().activation(rstd, Fn::kRsqrt, columns(moments, 1, 1), 1.0F, eps_of(r, node, vectors + 1));
    r.e().tensor_scalar(xhat, x, Alu::kSub, columns(moments, 0, 1), Alu::kMul, rstd);
    if (vectors == 0) return r.e().copy(y, xhat);
    r.e().tensor_tensor(y, xhat, Alu::kMul, gamma);
    if (vectors > 1) r.e().tensor_tensor(y, y, Alu::kAdd, beta);
  }
}

bool has_gamma(const Node& node) { return node.in.size() > 3; }

/// dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma.
/// Shapes: dy [R, H * C], gamma [1, C], xhat [R, H * C], rstd [R, H] -> dx [R, H * C], of each head by itself. A fifth
/// operand [1, 1] is data in the place of -1 / C, by which both means' sums are multiplied, or [1, 2] with one number
/// for each. Three operands have no gamma: g = dy.
std::vector<Shape> layernorm_grad_infer(const Contract& c) {
  const Value& dy = c.in(0);
  const std::size_t gamma = has_gamma(c.node) ? 1 : 0;
  const std::int64_t heads = std::max<std::int64_t>(1, c.in(gamma + 2).cols);
  if (dy.cols % heads != 0) c.fail("the heads do not divide the columns", "give one rstd of each head");
  if (gamma > 0) c.need(1, 1, dy.cols / heads, "gamma");
  c.need(gamma + 1, dy.rows, dy.cols, "xhat");
  c.need(gamma + 2, dy.rows, heads, "rstd");
  if (c.inputs() > 4) c.need(4, 1, c.in(4).cols == 2 ? 2 : 1, "factor");
  return {{dy.rows, dy.cols, c.result_type()}};
}

Tensors layernorm_grad_forward(const Attrs&, std::span<const Tensor> in) {
  const bool gains = in.size() > 3;
  const Tensor &dy = in[0], &xhat = in[gains ? 2 : 1], &rstd = in[gains ? 3 : 2];
  const std::int64_t heads = rstd.cols, size = dy.cols / heads;
  const auto gradient = [&](std::int64_t r, std::int64_t c) {
    return static_cast<double>(dy.at(r, c)) * (gains ? in[1].at(0, c % size) : 1.0F);
  };
  Tensor dx(dy.rows, dy.cols);
  const double usual = -1 / static_cast<double>(size);
  const double of_g = in.size() > 4 ? in[4].at(0, 0) : usual;
  const double of_gx = in.size() > 4 ? in[4].at(0, in[4].cols - 1) : usual;
  for (std::int64_t part = 0; part < dy.rows * heads; ++part) {
    const std::int64_t r = part / heads, first = part % heads * size;
    double g = 0, gx = 0;
    for (std::int64_t c = first; c < first + size; ++c) {
      g += gradient(r, c);
      gx += gradient(r, c) * xhat.at(r, c);
    }
    for (std::int64_t c = first; c < first + size; ++c)
      dx.at(r, c) =
          static_cast<float>(rstd.at(r, first / size) * (gradient(r, c) + g * of_g + xhat.at(r, c) * gx * of_gx));
  }
  return {dx};
}

void layernorm_grad_lower(RowTiler& r, const Node& node) {
  const std::size_t kept = has_gamma(node) ? 2 : 1;
  const Tile all = r.in(node, 0), gamma = has_gamma(node) ? r.in(node, 1) : Tile{};
  const Tile all_xhat = r.in(node, kept), all_rstd = r.in(node, kept + 1), all_dx = r.out(node, 0);
  const std::int64_t cols = all.cols() / all_rstd.cols();
  const Tile scaled = has_gamma(node) ? r.scratch(all.dtype, cols) : Tile{};
  const Tile gx = r.scratch(all.dtype, cols), waste = r.scratch(all.dtype, cols);
  const Tile sums = r.scratch(Dtype::kFp32, 2), means = r.scratch(Dtype::kFp32, 2);
  const Tile part = r.scratch(Dtype::kFp32, cols);
  for (std::int64_t h = 0; h < all_rstd.cols(); ++h) {
    const auto head = [&](const Tile& tile) { return columns(tile, h * cols, cols); };
    const Tile dy = head(all), xhat = head(all_xhat), dx = head(all_dx), rstd = columns(all_rstd, h, 1);
    const Tile g = has_gamma(node) ? scaled : dy;
    const Tile sum_g = columns(sums, 0, 1), sum_gx = columns(sums, 1, 1);
    if (has_gamma(node)) r.e().tensor_tensor(g, dy, Alu::kMul, gamma);
    r.e().tensor_tensor(gx, g, Alu::kMul, xhat);
    r.e().activation(waste, Fn::kCopy, g, 1.0F, 0.0F, &sum_g);
    r.e().activation(waste, Fn::kCopy, gx, 1.0F, 0.0F, &sum_gx);
    if (node.in.size() > 4 && r.cols_of(node.in[4]) == 2)
      r.e().tensor_tensor(means, sums, Alu::kMul, r.in(node, 4));
    else
      r.e().tensor_scalar(
          means, sums, Alu::kMul,
          node.in.size() > 4 ? Scalar{r.in(node, 4)} : Scalar{static_cast<float>(-1.0 / static_cast<double>(cols))});
    r.e().scalar_tensor_tensor(part, xhat, Alu::kMul, columns(means, 1, 1), Alu::kAdd, g);
    r.e().tensor_scalar(dx, part, Alu::kAdd, columns(means, 0, 1), Alu::kMul, rstd);
  }
}

}  // namespace

const Op kLayerNorm{.name = "layernorm",
                    .text = "(x - mean) / sqrt(var + eps) * gamma + beta, by rows",
                    .attrs = NormAttrs{},
                    .infer = layernorm_infer,
                    .forward = layernorm_forward,
                    .backward = layernorm_backward,
                    .lower_rows = layernorm_lower};
const Op kLayerNormGrad{.name = "layernorm_grad",
                        .text = "gradient of layernorm for x",
                        .attrs = ResultAttrs{},
                        .infer = layernorm_grad_infer,
                        .forward = layernorm_grad_forward,
                        .lower_rows = layernorm_grad_lower};

}  // namespace runtime
