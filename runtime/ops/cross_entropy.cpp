#include <cmath>

#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// Softmax cross-entropy of each row, weighted: loss[r] = w[r] * (log sum exp x[r] - x[r, label]), and its gradient for
/// x, w * (softmax(x) - onehot(label)). The loss is the sum over rows; w is 1 / (rows that count), or 0 for a row that
/// does not. Shapes: x [R, C], labels [R, 1] int32, w [R, 1] fp32 -> loss [R, 1] fp32, dx [R, C].
/// With attrs.smoothing s the label's one becomes 1 - s, and every class has s / C more (torch's label_smoothing).
/// A label outside [0, C) with w = 0 is allowed (PyTorch's ignore_index). Source: PyTorch, CrossEntropyLoss.
std::vector<Shape> cross_entropy_infer(const Contract& c) {
  const Value& x = c.in(0);
  c.need(1, x.rows, 1, "labels");
  c.need(2, x.rows, 1, "weights");
  return {{x.rows, 1, Dtype::kFp32}, {x.rows, x.cols, c.result_type()}};
}

Tensors cross_entropy_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const double scale = attrs.as<LossAttrs>().scale, s = attrs.as<LossAttrs>().smoothing;
  const Tensor &x = in[0], &labels = in[1], &w = in[2];
  Tensor loss(x.rows, 1), dx(x.rows, x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double most = -INFINITY, sum = 0;
    for (std::int64_t c = 0; c < x.cols; ++c) most = std::max<double>(most, x.at(r, c));
    for (std::int64_t c = 0; c < x.cols; ++c) sum += std::exp(x.at(r, c) - most);
    const auto label = static_cast<std::int64_t>(labels.at(r, 0));
    const double even = s / static_cast<double>(x.cols);
    double chosen = label >= 0 && label < x.cols ? (1 - s) * x.at(r, label) : 0;
    for (std::int64_t c = 0; c < x.cols; ++c) chosen += even * x.at(r, c);
    loss.at(r, 0) = static_cast<float>(w.at(r, 0) * (std::log(sum) + most - chosen));
    for (std::int64_t c = 0; c < x.cols; ++c)
      dx.at(r, c) = static_cast<float>(scale * w.at(r, 0) *
                                       (std::exp(x.at(r, c) - most) / sum - (c == label ? 1 - s : 0) - even));
  }
  return {loss, dx};
}

void cross_entropy_backward(Backward& b, const Node& node) { b.add(node, 0, node.out[1]); }

void cross_entropy_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0), labels = r.in(node, 1), w = r.in(node, 2), loss = r.out(node, 0), dx = r.out(node, 1);
  const std::int64_t cols = x.cols();
  const auto column = [&] { return r.scratch(Dtype::kFp32, 1); };
  const Tile e = r.scratch(Dtype::kFp32, cols), hot = r.scratch(Dtype::kFp32, cols), at = r.scratch(Dtype::kFp32, cols);
  const Tile most = column(), least = column(), sum = column(), inverse = column(), label = column(), chosen = column();
  const Tile logs = column(), gap = column();
  r.e().reduce(most, Alu::kMax, x);
  r.e().tensor_scalar(least, most, Alu::kMul, -1.0F);
  r.e().activation(e, Fn::kExp, x, 1.0F, least, &sum);
  r.e().tensor_scalar(label, labels, Alu::kAdd, 0.0F);
  r.e().tensor_scalar(hot, partitions(r.e().ramp(cols), r.parts()), Alu::kEq, label);
  if (const double s = node.attrs.as<LossAttrs>().smoothing; s > 0)
    r.e().tensor_scalar(hot, hot, Alu::kMul, static_cast<float>(1 - s), Alu::kAdd,
                        static_cast<float>(s / static_cast<double>(cols)));
  r.e().tensor_tensor(at, x, Alu::kMul, hot);
  r.e().reduce(chosen, Alu::kAdd, at);
  r.e().activation(logs, Fn::kLog, sum);
  r.e().tensor_tensor(gap, logs, Alu::kSub, chosen);
  r.e().tensor_scalar(loss, gap, Alu::kAdd, most, Alu::kMul, w);
  r.e().activation(inverse, Fn::kReciprocal, sum);
  r.e().scalar_tensor_tensor(e, e, Alu::kMul, inverse, Alu::kSub, hot);
  r.e().tensor_scalar(dx, e, Alu::kMul, w, Alu::kMul, static_cast<float>(node.attrs.as<LossAttrs>().scale));
}

}  // namespace

const Op kCrossEntropy{.name = "cross_entropy",
                       .text = "weighted softmax cross-entropy by rows, and its gradient",
                       .attrs = LossAttrs{},
                       .infer = cross_entropy_infer,
                       .forward = cross_entropy_forward,
                       .backward = cross_entropy_backward,
                       .lower_rows = cross_entropy_lower};

}  // namespace runtime
