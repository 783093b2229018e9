// Experts without slots: the gates of all of them, zero where a token did not choose one, and the sum of the experts'
// outputs for the same tokens. For tokens that are few, or all of whose experts are computed. Source: as route.cpp.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/slots.h"

namespace runtime {
namespace {

/// Shapes: logits [T, E] -> gates [T, E] fp32: the softmax of the attrs.top_k largest logits of each row, over those
/// alone if attrs.normalised, elsewhere 0. Ties: the first expert. A bias, sigmoids and groups as route has them.
/// Errors: Fault::kProgram for more choices than experts.
std::vector<Shape> gates_infer(const Contract& c) {
  const std::int64_t top_k = c.node.attrs.as<RouteAttrs>().top_k;
  if (top_k < 1 || top_k > c.in(0).cols)
    c.fail("does not choose between 1 and all experts", "choose top_k from 1 to the experts");
  if (c.inputs() > 1) c.need(1, 1, c.in(0).cols, "bias");
  return {{c.in(0).rows, c.in(0).cols, Dtype::kFp32}};
}

Tensors gates_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RouteAttrs>();
  const Tensor& x = in[0];
  Tensor gates(x.rows, x.cols);
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const RouterRow router = router_row(a, x, t, in.size() > 1 ? &in[1] : nullptr);
    const auto score = [&](std::int64_t e) { return router.scores[static_cast<std::size_t>(e)]; };
    double chosen = 0;
    std::vector<std::int64_t> order;
    for (std::int64_t e = 0; e < x.cols; ++e) order.push_back(e);
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::int64_t e) { return router.choice[static_cast<std::size_t>(e)]; });
    order.resize(static_cast<std::size_t>(a.top_k));
    for (const std::int64_t e : order) chosen += score(e);
    for (const std::int64_t e : order) gates.at(t, e) = static_cast<float>(score(e) / (a.normalised ? chosen : 1));
  }
  return {gates};
}

/// The numbers of a choice by scores; `all`: the sum of the shares, which are no scores yet in a softmax.
Tile chosen_by(RowTiler& r, const Node& node, const Tile& shares, const Tile& all) {
  const auto& a = node.attrs.as<RouteAttrs>();
  const Tile scores = r.scratch(Dtype::kFp32, shares.cols()), inverse = r.scratch(Dtype::kFp32, 1);
  if (a.sigmoid) {
    r.e().copy(scores, shares);
  } else {
    r.e().activation(inverse, Fn::kReciprocal, all);
    r.e().tensor_scalar(scores, shares, Alu::kMul, inverse);
  }
  if (node.in.size() == 1) return choice_of(r.e(), a, scores, nullptr);
  const Tile bias = r.in(node, 1);
  return choice_of(r.e(), a, scores, &bias);
}

void gates_lower(RowTiler& r, const Node& node) {
  const auto& a = node.attrs.as<RouteAttrs>();
  Emitter& e = r.e();
  const Tile x = r.in(node, 0), gates = r.out(node, 0);
  const std::int64_t experts = x.cols();
  const auto column = [&] { return r.scratch(Dtype::kFp32, 1); };
  const Tile left = r.scratch(Dtype::kFp32, experts), shares = r.scratch(Dtype::kFp32, experts);
  const Tile kept = r.scratch(Dtype::kFp32, experts);
  const Tile most = column(), all = column(), sum = column(), inverse = column();
  e.copy(left, x);
  if (a.sigmoid) {
    e.activation(shares, Fn::kSigmoid, left);
  } else {
    e.reduce(most, Alu::kMax, left);
    e.tensor_scalar(most, most, Alu::kMul, -1.0F);
    e.activation(shares, Fn::kExp, left, 1.0F, most, &all);
  }
  const bool biased = node.in.size() > 1;
  const Tile choice = chooses_by_scores(a, biased) ? chosen_by(r, node, shares, all) : left;
  e.tensor_tensor(kept, shares, Alu::kMul, largest_of(e, choice, a.top_k));
  if (a.sigmoid && !a.normalised) return e.copy(gates, kept);
  if (a.normalised) e.reduce(sum, Alu::kAdd, kept);
  e.activation(inverse, Fn::kReciprocal, a.normalised ? sum : all);
  e.tensor_scalar(gates, kept, Alu::kMul, inverse);
}

/// Adds one more expert: y times its gate, plus the sum so far. Shapes: y [T, C], gates [T, E], sum [T, C] or absent
/// -> [T, C]; attrs.column: the expert.
std::vector<Shape> gated_infer(const Contract& c) {
  const std::int64_t column = c.node.attrs.as<ColumnAttrs>().column;
  c.need(1, c.in(0).rows, c.in(1).cols, "gates");
  if (column < 0 || column >= c.in(1).cols) c.fail("names a gate that does not exist", "choose an expert");
  if (c.inputs() > 2) c.need(2, c.in(0).rows, c.in(0).cols, "sum");
  return {{c.in(0).rows, c.in(0).cols, c.result_type()}};
}

Tensors gated_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t column = attrs.as<ColumnAttrs>().column;
  return {generate(in[0].rows, in[0].cols, [&](auto t, auto c) {
    return static_cast<float>(static_cast<double>(in[0].at(t, c)) * in[1].at(t, column) +
                              (in.size() > 2 ? in[2].at(t, c) : 0.0F));
  })};
}

void gated_lower(RowTiler& r, const Node& node) {
  const Tile y = r.in(node, 0), gate = columns(r.in(node, 1), node.attrs.as<ColumnAttrs>().column, 1);
  if (node.in.size() > 2)
    r.e().scalar_tensor_tensor(r.out(node, 0), y, Alu::kMul, gate, Alu::kAdd, r.in(node, 2));
  else
    r.e().tensor_scalar(r.out(node, 0), y, Alu::kMul, gate);
}

}  // namespace

const Op kGates{.name = "gates",
                .text = "a router's gates of all experts, 0 where a token did not choose one",
                .attrs = RouteAttrs{},
                .infer = gates_infer,
                .forward = gates_forward,
                .lower_rows = gates_lower};
const Op kGatedSum{.name = "gated_sum",
                   .text = "rows times their gates of one expert, plus the sum so far",
                   .attrs = ColumnAttrs{},
                   .infer = gated_infer,
                   .forward = gated_forward,
                   .lower_rows = gated_lower};

}  // namespace runtime
