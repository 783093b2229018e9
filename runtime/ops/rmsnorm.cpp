#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// Scales each row to a root mean square of 1: y = xhat * gamma, xhat = x * rstd, rstd = 1 / sqrt(mean(x^2) + eps).
/// Shapes: x [R, H * C], gamma [1, C], and eps [1, 1] where it is data -> y [R, H * C]; keeps xhat [R, H * C] and rstd
/// [R, H] (fp32) for the gradient.
/// H > 1: heads side by side, each by itself, with one gamma (Qwen3's queries and keys).
/// Source: Zhang and Sennrich, arXiv:1910.07467, eq. 4. Lowering: ScalarE squares and sums, rsqrt, two products; one
/// instruction for both where xhat is not read.
std::vector<Shape> rms_infer(const Contract& c) {
  const Value& x = c.in(0);
  const std::int64_t heads = std::max<std::int64_t>(1, x.cols / c.in(1).cols);
  c.need(1, 1, x.cols / heads, "gamma");
  if (c.inputs() > 2) c.need(2, 1, 1, "eps");
  return {{x.rows, x.cols, c.result_type()}, {x.rows, x.cols, c.result_type()}, {x.rows, heads, Dtype::kFp32}};
}

Tensors rms_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const double eps = in.size() > 2 ? in[2].at(0, 0) : attrs.as<NormAttrs>().eps;
  const Tensor& x = in[0];
  const std::int64_t size = in[1].cols, heads = x.cols / size;
  Tensor y(x.rows, x.cols), xhat(x.rows, x.cols), rstd(x.rows, heads);
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t h = 0; h < heads; ++h) {
      double squares = 0;
      for (std::int64_t c = h * size; c < (h + 1) * size; ++c) squares += static_cast<double>(x.at(r, c)) * x.at(r, c);
      const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + eps);
      rstd.at(r, h) = static_cast<float>(scale);
      for (std::int64_t c = h * size; c < (h + 1) * size; ++c) {
        xhat.at(r, c) = static_cast<float>(x.at(r, c) * scale);
        y.at(r, c) = xhat.at(r, c) * in[1].at(0, c - h * size);
      }
    }
  return {y, xhat, rstd};
}

void rms_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node), xhat = node.out[1], rstd = node.out[2];
  if (b.needs(node, 1)) {
    const ValueId product = b.op(kMul, node, "grad", {dy, xhat});
    ValueId sum = b.op(kColSum, node, "gamma_grad", {product}, ResultAttrs{.dtype = b.graph().numerics().gradient});
    const std::int64_t size = b.graph().value(node.in[1]).cols;
    if (size < b.graph().value(sum).cols) sum = b.op(kHeadSum, node, "gamma_sum", {sum}, StrideAttrs{.stride = size});
    b.add(node, 1, sum);
  }
  if (b.needs(node, 0)) b.add(node, 0, b.op(kRmsNormGrad, node, "grad", {dy, node.in[1], xhat, rstd}));
}

void rms_lower(RowTiler& r, const Node& node) {
  const Tile all = r.in(node, 0), gamma = r.in(node, 1), all_y = r.out(node, 0), all_rstd = r.out(node, 2);
  const Tile sum = r.scratch(Dtype::kFp32, 1);
  const std::int64_t size = gamma.cols();
  const bool kept = r.is_read(node.out[1]);  // a gradient follows
  const Scalar eps = eps_of(r, node, 2);
  for (std::int64_t h = 0; h * size < all.cols(); ++h) {
    const Tile x = columns(all, h * size, size), y = columns(all_y, h * size, size), rstd = columns(all_rstd, h, 1);
    r.e().activation(y, Fn::kSquare, x, 1.0F, 0.0F, &sum);  // the squares themselves are of no use: y comes later
    r.e().activation(rstd, Fn::kRsqrt, sum, static_cast<float>(1.0 / static_cast<double>(size)), eps);
    if (!kept) {
      r.e().scalar_tensor_tensor(y, x, Alu::kMul, rstd, Alu::kMul, gamma);
      continue;
    }
    const Tile xhat = columns(r.out(node, 1), h * size, size);
    r.e().tensor_scalar(xhat, x, Alu::kMul, rstd);
    r.e().tensor_tensor(y, xhat, Alu::kMul, gamma);
  }
}

/// dx = rstd * (g - xhat * mean(g * xhat)), g = dy * gamma, of each head.
/// Shapes: dy [R, H * C], gamma [1, C], xhat [R, H * C], rstd [R, H] -> dx [R, H * C]. A fifth operand [1, 1] is data
/// in the place of -1 / C, by which the mean's sum is multiplied.
std::vector<Shape> rms_grad_infer(const Contract& c) {
  const Value& dy = c.in(0);
  const std::int64_t heads = c.in(3).cols;
  c.need(1, 1, dy.cols / heads, "gamma");
  c.need(2, dy.rows, dy.cols, "xhat");
  c.need(3, dy.rows, heads, "rstd");
  if (c.inputs() > 4) c.need(4, 1, 1, "factor");
  return {{dy.rows, dy.cols, c.result_type()}};
}

Tensors rms_grad_forward(const Attrs&, std::span<const Tensor> in) {
  const Tensor &dy = in[0], &gamma = in[1], &xhat = in[2], &rstd = in[3];
  Tensor dx(dy.rows, dy.cols);
  const std::int64_t size = gamma.cols;
  for (std::int64_t r = 0; r < dy.rows; ++r)
    for (std::int64_t h = 0; h < rstd.cols; ++h) {
      const auto g = [&](std::int64_t c) { return static_cast<double>(dy.at(r, c)) * gamma.at(0, c - h * size); };
      double gx = 0;
      for (std::int64_t c = h * size; c < (h + 1) * size; ++c) gx += g(c) * xhat.at(r, c);
      const double mean = in.size() > 4 ? -gx * in[4].at(0, 0) : gx / static_cast<double>(size);
      for (std::int64_t c = h * size; c < (h + 1) * size; ++c)
        dx.at(r, c) = static_cast<float>(rstd.at(r, h) * (g(c) - xhat.at(r, c) * mean));
    }
  return {dx};
}

void rms_grad_lower(RowTiler& r, const Node& node) {
  const Tile all_dy = r.in(node, 0), gamma = r.in(node, 1), all_xhat = r.in(node, 2), rstd = r.in(node, 3);
  const Tile all_dx = r.out(node, 0);
  const Dtype type = all_dy.dtype;
  const std::int64_t cols = gamma.cols();
  const Tile g = r.scratch(type, cols), gx = r.scratch(type, cols), waste = r.scratch(type, cols);
  const Tile sum = r.scratch(Dtype::kFp32, 1), mean = r.scratch(Dtype::kFp32, 1);
  const Tile part = r.scratch(Dtype::kFp32, cols);
  const Scalar factor =
      node.in.size() > 4 ? Scalar{r.in(node, 4)} : static_cast<float>(-1.0 / static_cast<double>(cols));
  for (std::int64_t h = 0; h * cols < all_dy.cols(); ++h) {
    const auto head = [&](const Tile& tile) { return columns(tile, h * cols, cols); };
    const Tile xhat = head(all_xhat);
    r.e().tensor_tensor(g, head(all_dy), Alu::kMul, gamma);
    r.e().tensor_tensor(gx, g, Alu::kMul, xhat);
    r.e().activation(waste, Fn::kCopy, gx, 1.0F, 0.0F, &sum);
    r.e().tensor_scalar(mean, sum, Alu::kMul, factor);
    r.e().scalar_tensor_tensor(part, xhat, Alu::kMul, mean, Alu::kAdd, g);
    r.e().tensor_scalar(head(all_dx), part, Alu::kMul, columns(rstd, h, 1));
  }
}

/// The sum of a row's heads: y[c] = sum over h of x[h * C + c]. Shapes: x [R, H * C], C = attrs.stride -> y [R, C].
std::vector<Shape> head_sum_infer(const Contract& c) {
  const std::int64_t size = c.node.attrs.as<StrideAttrs>().stride;
  if (size < 1 || c.in(0).cols % size != 0) c.fail("the heads do not divide the columns", "give the size of a head");
  return {{c.in(0).rows, size, c.result_type()}};
}

Tensors head_sum_forward(const Attrs& attrs, std::span<const Tensor> in) {
  return {generate(in[0].rows, attrs.as<StrideAttrs>().stride, [&](auto r, auto c) {
    double sum = 0;
    for (std::int64_t at = c; at < in[0].cols; at += attrs.as<StrideAttrs>().stride) sum += in[0].at(r, at);
    return sum;
  })};
}

void head_sum_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0), y = r.out(node, 0);
  const std::int64_t size = y.cols();
  r.e().copy(y, columns(x, 0, size));
  for (std::int64_t at = size; at < x.cols(); at += size) r.e().tensor_tensor(y, y, Alu::kAdd, columns(x, at, size));
}

// ---- rotary positions

/// Elements of a head.
std::int64_t rope_head(const Attrs& attrs, std::int64_t pairs) {
  const std::int64_t head = attrs.as<RopeAttrs>().head;
  return head > 0 ? head : 2 * pairs;
}

/// Turns each pair (x[j], x[j + C]) of each head by the angle whose cosine and sine are given: the first half becomes
/// x1 cos - x2 sin, the second x2 cos + x1 sin; with attrs.inverse it turns back. Elements of a head beyond 2 * C
/// stay. Shapes: x [R, H * d], d = attrs.head or 2 * C, cos and sin [R, C] -> [R, H * d]. Source: Su et al.,
/// arXiv:2104.09864, with the halves of Hugging Face's Llama and, of a part of each head, GPT-NeoX.
std::vector<Shape> rope_infer(const Contract& c) {
  const Value &x = c.in(0), &cos = c.in(1);
  const std::int64_t head = rope_head(c.node.attrs, cos.cols);
  if (x.cols % head != 0 || 2 * cos.cols > head)
    c.fail("the angles do not divide the columns", "give an angle for each turned pair of a head");
  c.need(1, x.rows, cos.cols, "cosines");
  c.need(2, x.rows, cos.cols, "sines");
  return {{x.rows, x.cols, c.result_type()}};
}

Tensors rope_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const double sign = attrs.as<RopeAttrs>().inverse ? -1 : 1;
  const Tensor &x = in[0], &cos = in[1], &sin = in[2];
  const std::int64_t half = cos.cols, head = rope_head(attrs, half);
  return {generate(x.rows, x.cols, [&](auto r, auto c) {
    const std::int64_t j = c % head;
    if (j >= 2 * half) return static_cast<double>(x.at(r, c));
    const bool first = j < half;
    const double other = first ? -static_cast<double>(x.at(r, c + half)) : x.at(r, c - half);
    return static_cast<double>(x.at(r, c)) * cos.at(r, j % half) + sign * other * sin.at(r, j % half);
  })};
}

void rope_backward(Backward& b, const Node& node) {
  auto attrs = node.attrs.as<RopeAttrs>();
  attrs.inverse = !attrs.inverse;
  b.add(node, 0, b.op(kRope, node, "grad", {b.grad(node), node.in[1], node.in[2]}, attrs));
}

/// Elements [first, first + size) of all heads: [P, H, size].
Tile of_heads(const Tile& x, std::int64_t head, std::int64_t first, std::int64_t size) {
  Tile out = columns(x, first, x.cols());
  out.rank = 2;
  out.free[0] = {.step = static_cast<std::int32_t>(head), .size = static_cast<std::uint32_t>(x.cols() / head)};
  out.free[1] = {.step = 1, .size = static_cast<std::uint32_t>(size)};
  return out;
}

/// [P, half] seen by each head: [P, H, half].
Tile for_heads(const Tile& angles, std::int64_t heads) {
  Tile out = angles;
  out.rank = 2;
  out.free[1] = angles.free[0];
  out.free[0] = {.step = 0, .size = static_cast<std::uint32_t>(heads)};
  return out;
}

void rope_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0), y = r.out(node, 0);
  const std::int64_t half = r.cols_of(node.in[1]), head = rope_head(node.attrs, half), heads = x.cols() / head;
  const Tile cos = for_heads(r.in(node, 1), heads), sin = for_heads(r.in(node, 2), heads);
  const Tile a = fold(r.scratch(Dtype::kFp32, heads * half), heads, half);
  const Tile b = fold(r.scratch(Dtype::kFp32, heads * half), heads, half);
  const bool forward = !node.attrs.as<RopeAttrs>().inverse;
  const auto halves = [&](const Tile& tile, bool second) { return of_heads(tile, head, second ? half : 0, half); };
  const std::int64_t still = head - 2 * half;
  if (still > 0) r.e().copy(of_heads(y, head, 2 * half, still), of_heads(x, head, 2 * half, still));
  for (const bool second : {false, true}) {
    r.e().tensor_tensor(a, halves(x, second), Alu::kMul, cos);
    r.e().tensor_tensor(b, halves(x, !second), Alu::kMul, sin);
    r.e().tensor_tensor(halves(y, second), a, second == forward ? Alu::kAdd : Alu::kSub, b);
  }
}

}  // namespace

const Op kRmsNorm{.name = "rmsnorm",
                  .text = "x / sqrt(mean(x^2) + eps) * gamma, by rows",
                  .attrs = NormAttrs{},
                  .infer = rms_infer,
                  .forward = rms_forward,
                  .backward = rms_backward,
                  .lower_rows = rms_lower};
const Op kRmsNormGrad{.name = "rmsnorm_grad",
                      .text = "gradient of rmsnorm for x",
                      .attrs = ResultAttrs{},
                      .infer = rms_grad_infer,
                      .forward = rms_grad_forward,
                      .lower_rows = rms_grad_lower};
const Op kHeadSum{.name = "head_sum",
                  .text = "sum of a row's heads",
                  .attrs = StrideAttrs{},
                  .infer = head_sum_infer,
                  .forward = head_sum_forward,
                  .lower_rows = head_sum_lower};
const Op kRope{.name = "rope",
               .text = "rotary positions: pairs of a head turned by their angle",
               .attrs = RopeAttrs{},
               .infer = rope_infer,
               .forward = rope_forward,
               .backward = rope_backward,
               .lower_rows = rope_lower};

}  // namespace runtime
