// The router of a mixture of experts: which token goes to which expert, with which gate, in which slot.
// Expert e has slots [e * capacity, (e + 1) * capacity). A token takes the next slot of each of its experts in the
// order of the tokens; one that finds an expert full is dropped there. Source: Shazeer et al., arXiv:1701.06538;
// Lepikhin et al., arXiv:2006.16668, section 2; Jiang et al., arXiv:2401.04088 (Mixtral: no drop, gates over the chosen
// add up to 1).
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/slots.h"

namespace runtime {
namespace {

constexpr std::int64_t kMostExperts = isa::kMovingColumns;

const RouteAttrs& route_of(const Node& node) { return node.attrs.as<RouteAttrs>(); }

// ---- the router

enum RouteOut : std::size_t { kSlot, kGate, kSource, kShare, kProbs, kWhich, kLoad, kMass };

/// Shapes: logits [T, E] -> place [T, k] int32 (the slot of each choice, the largest logit first; 0 if dropped), gate
/// [T, k] (0 if dropped), source [S + 1, 1] int32 (the token of a slot; 0 if empty, the last row is waste), share
/// [S + 1, 1] (its gate; 0 if empty), probs [T, E], which [T, k] (expert of each choice), load [1, E] (tokens that
/// chose it), mass [1, E] (sum of its probabilities); S = E * attrs.capacity. All fp32 but the two. Ties: the first
/// expert. A second operand [1, E] is added to the scores for the choice alone, and has no gradient; with attrs.sigmoid
/// probs are sigmoids, and by attrs.groups experts are chosen from the best groups alone (router_scores.cpp).
std::vector<Shape> route_infer(const Contract& c) {
  const RouteAttrs& a = route_of(c.node);
  const std::int64_t tokens = c.in(0).rows, experts = c.in(0).cols;
  if (a.top_k < 1 || a.top_k > experts)
    c.fail("does not choose between 1 and all experts", "choose top_k from 1 to the experts");
  if (a.capacity < 1 || a.capacity > tokens)
    c.fail("has no capacity, or more than tokens", "choose from 1 to the tokens");
  if (experts > kMostExperts) c.fail("has more experts than a bank of PSUM has columns", "use fewer experts");
  if (a.groups < 1 || experts % a.groups != 0 || a.top_groups < 1 || a.top_groups > a.groups)
    c.fail("does not choose between 1 and all groups", "choose groups that divide the experts");
  if (c.inputs() > 1) c.need(1, 1, experts, "bias");
  const std::int64_t slots = experts * a.capacity + 1;
  const auto fp32 = Dtype::kFp32;
  return {{tokens, a.top_k, Dtype::kInt32}, {tokens, a.top_k, fp32}, {slots, 1, Dtype::kInt32}, {slots, 1, fp32},
          {tokens, experts, fp32},          {tokens, a.top_k, fp32}, {1, experts, fp32},        {1, experts, fp32}};
}

Tensors route_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RouteAttrs>();
  const Tensor& x = in[0];
  const std::int64_t slots = x.cols * a.capacity + 1;
  Tensor place(x.rows, a.top_k), gate(x.rows, a.top_k), source(slots, 1), share(slots, 1), probs(x.rows, x.cols),
      which(x.rows, a.top_k), load(1, x.cols), mass(1, x.cols);
  for (std::int64_t t = 0; t < x.rows; ++t) {
    double chosen = 0;
    const RouterRow router = router_row(a, x, t, in.size() > 1 ? &in[1] : nullptr);
    std::vector<std::int64_t> order;
    for (std::int64_t e = 0; e < x.cols; ++e) {
      probs.at(t, e) = static_cast<float>(router.scores[static_cast<std::size_t>(e)]);
      mass.at(0, e) += probs.at(t, e);
      order.push_back(e);
    }
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::int64_t e) { return router.choice[static_cast<std::size_t>(e)]; });
    for (std::int64_t j = 0; j < a.top_k; ++j) chosen += probs.at(t, order[static_cast<std::size_t>(j)]);
    for (std::int64_t j = 0; j < a.top_k; ++j) {
      const std::int64_t e = order[static_cast<std::size_t>(j)];
      const auto before = static_cast<std::int64_t>(load.at(0, e));
      which.at(t, j) = static_cast<float>(e);
      load.at(0, e) += 1;
      if (before >= a.capacity) continue;
      const std::int64_t slot = e * a.capacity + before;
      place.at(t, j) = static_cast<float>(slot);
      gate.at(t, j) = static_cast<float>(probs.at(t, e) / (a.normalised ? chosen : 1.0));
      source.at(slot, 0) = static_cast<float>(t), share.at(slot, 0) = gate.at(t, j);
    }
  }
  return {place, gate, source, share, probs, which, load, mass};
}

void route_backward(Backward& b, const Node& node) {
  const ValueId dgate = b.grad(node, kGate), dmass = b.grad(node, kMass);
  if (!b.needs(node, 0) || dgate == kNoValue) return;
  std::vector<ValueId> in{node.out[kProbs], node.out[kWhich], node.out[kGate], dgate};
  if (dmass != kNoValue) in.push_back(dmass);
  b.add(node, 0, b.op(kRouteGrad, node, "grad", in, route_of(node)));
}

/// A [P, E] tile's ones where the column is the row's `which`.
Tile one_hot_of(Emitter& e, const Tile& which, std::int64_t experts) {
  const Tile hot = e.sbuf(Dtype::kFp32, which.partitions, experts);
  e.tensor_scalar(hot, partitions(e.ramp(experts), which.partitions), Alu::kEq, which);
  return hot;
}

/// All rows of a column become zero.
void clear_column(Emitter& e, ValueId v) {
  const Value& value = e.value(v);
  constexpr std::int64_t kCols = 64;
  for (std::int64_t at = 0; at < value.rows;) {
    const std::int64_t left = value.rows - at, cols = std::min(kCols, left), parts = std::min(kPartitions, left / cols);
    e.store(e.hbm_flat(v, at, parts, cols, cols), partitions(columns(e.zeros(value.dtype, kCols), 0, cols), parts));
    at += parts * cols;
  }
}

/// Lowers a router, tile by tile: the number of earlier tokens that chose an expert is a matmul with ones above the
/// diagonal, plus the count of earlier tiles.
class Router {
 public:
  Router(Emitter& e, const Node& node)
      : e_{e}, node_{node}, a_{route_of(node)}, tokens_{e.value(node.in[0]).rows}, experts_{e.value(node.in[0]).cols} {}

  void run() {
    const Tile above = e_.sbuf(Dtype::kFp32, kPartitions, kPartitions),
               load = e_.sbuf(Dtype::kFp32, kPartitions, experts_);
    const Tile mass = e_.sbuf(Dtype::kFp32, 1, experts_);
    e_.copy(above, e_.ones(Dtype::kFp32, kPartitions));
    e_.affine_select(above, -1, -1, 1, 0);
    e_.fill(load, 0), e_.fill(mass, 0);
    clear_column(e_, node_.out[kSource]), clear_column(e_, node_.out[kShare]);
    for (std::int64_t row = 0; row < tokens_; row += kPartitions)
      tile(row, std::min(kPartitions, tokens_ - row), above, load, mass);
    e_.store(e_.hbm(node_.out[kLoad], 0, 1), partitions(load, 1));
    e_.store(e_.hbm(node_.out[kMass], 0, 1), mass);
    const std::int64_t waste = e_.value(node_.out[kSource]).rows - 1;
    for (const std::size_t o : {kSource, kShare})
      e_.store(e_.hbm(node_.out[o], waste, 1), partitions(e_.zeros(e_.value(node_.out[o]).dtype, 1), 1));
  }

 private:
  Tile softmax(const Tile& x) {
    const std::int64_t parts = x.partitions;
    const Tile most = column(parts), sum = column(parts), inverse = column(parts);
    const Tile probs = e_.sbuf(Dtype::kFp32, parts, experts_);
    e_.reduce(most, Alu::kMax, x);
    e_.tensor_scalar(most, most, Alu::kMul, -1.0F);
    e_.activation(probs, Fn::kExp, x, 1.0F, most, &sum);
    e_.activation(inverse, Fn::kReciprocal, sum);
    e_.tensor_scalar(probs, probs, Alu::kMul, inverse);
    return probs;
  }

  void tile(std::int64_t row, std::int64_t parts, const Tile& above, const Tile& load, const Tile& mass) {
    const Tile x = e_.sbuf(Dtype::kFp32, parts, experts_);
    e_.copy(x, e_.loaded(e_.value(node_.in[0]).dtype, e_.hbm(node_.in[0], row, parts)));
    const Tile probs = a_.sigmoid ? e_.sbuf(Dtype::kFp32, parts, experts_) : softmax(x);
    if (a_.sigmoid) e_.activation(probs, Fn::kSigmoid, x);
    const bool biased = node_.in.size() > 1;
    const Tile bias = biased ? e_.broadcast(node_.in[1], parts, 0, experts_) : Tile{};
    const Tile choice = chooses_by_scores(a_, biased) ? choice_of(e_, a_, probs, biased ? &bias : nullptr) : x;
    e_.store(e_.hbm(node_.out[kProbs], row, parts), probs);
    const Tile which = e_.sbuf(Dtype::kFp32, parts, a_.top_k), raw = e_.sbuf(Dtype::kFp32, parts, a_.top_k);
    const Tile chosen = e_.sbuf(Dtype::kFp32, parts, experts_), waste = e_.sbuf(Dtype::kFp32, parts, experts_);
    const Tile ramp = partitions(e_.ramp(experts_), parts);
    e_.fill(chosen, 0);
    std::vector<Tile> hot;
    for (std::int64_t j = 0; j < a_.top_k; ++j) {
      hot.push_back(take_largest(e_, choice, ramp, columns(which, j, 1)));
      e_.tensor_tensor(chosen, chosen, Alu::kAdd, hot.back());
      e_.tensor_tensor(waste, probs, Alu::kMul, hot.back());
      e_.reduce(columns(raw, j, 1), Alu::kAdd, waste);
    }
    e_.store(e_.hbm(node_.out[kWhich], row, parts), which);
    if (a_.normalised && a_.top_k == 1) {
      e_.fill(raw, 1);  // exactly: no rounding of a quotient is a gradient of the logits
    } else if (a_.normalised) {
      const Tile sum = column(parts), inverse = column(parts);
      e_.reduce(sum, Alu::kAdd, raw);
      e_.activation(inverse, Fn::kReciprocal, sum);
      e_.tensor_scalar(raw, raw, Alu::kMul, inverse);
    }
    give_slots(row, hot, before(chosen, above, load), which, raw);
    count(chosen, probs, load, mass);
  }

  /// How many tokens before each one chose each expert.
  Tile before(const Tile& chosen, const Tile& above, const Tile& load) {
    const std::int64_t parts = chosen.partitions;
    const Tile sum = e_.psum(parts, experts_), out = e_.sbuf(Dtype::kFp32, parts, experts_);
    e_.move(sum, columns(partitions(above, parts), 0, parts), chosen);
    e_.tensor_tensor(out, sum, Alu::kAdd, partitions(load, parts));
    return out;
  }

  void count(const Tile& chosen, const Tile& probs, const Tile& load, const Tile& mass) {
    const std::int64_t parts = chosen.partitions;
    const Tile ones = partitions(e_.ones(Dtype::kFp32, kPartitions), parts);
    const Tile all = e_.psum(kPartitions, experts_), some = e_.psum(1, experts_);
    e_.move(all, ones, chosen);
    e_.tensor_tensor(load, all, Alu::kAdd, load);
    e_.move(some, columns(ones, 0, 1), probs);
    e_.tensor_tensor(mass, some, Alu::kAdd, mass);
  }

  void give_slots(std::int64_t row, const std::vector<Tile>& hot, const Tile& before, const Tile& which,
                  const Tile& raw) {
    const std::int64_t parts = before.partitions, slots = experts_ * a_.capacity;
    const Tile place = e_.sbuf(Dtype::kInt32, parts, a_.top_k), gate = e_.sbuf(Dtype::kFp32, parts, a_.top_k);
    const Tile token = e_.sbuf(Dtype::kInt32, parts, 1), number = column(parts);
    const Tile waste = e_.sbuf(Dtype::kFp32, parts, experts_);
    e_.emit({.op = Opcode::kIota,
             .engine = isa::Engine::kGpSimd,
             .imm0 = static_cast<float>(row),
             .imm1 = 1,
             .dst = number});
    e_.tensor_scalar(token, number, Alu::kAdd, 0.0F);
    for (std::int64_t j = 0; j < a_.top_k; ++j) {
      const Tile rank = column(parts), kept = column(parts), slot = column(parts),
                 target = e_.sbuf(Dtype::kInt32, parts, 1);
      e_.tensor_tensor(waste, before, Alu::kMul, hot[static_cast<std::size_t>(j)]);
      e_.reduce(rank, Alu::kAdd, waste);
      e_.tensor_scalar(kept, rank, Alu::kLt, static_cast<float>(a_.capacity));
      e_.scalar_tensor_tensor(slot, columns(which, j, 1), Alu::kMul, static_cast<float>(a_.capacity), Alu::kAdd, rank);
      e_.tensor_scalar(slot, slot, Alu::kMul, kept);
      e_.tensor_scalar(columns(place, j, 1), slot, Alu::kAdd, 0.0F);
      e_.tensor_scalar(columns(gate, j, 1), columns(raw, j, 1), Alu::kMul, kept);
      // Where it is dropped the row behind the slots takes it: slot + (1 - kept) * slots.
      e_.tensor_scalar(kept, kept, Alu::kMul, -static_cast<float>(slots), Alu::kAdd, static_cast<float>(slots));
      e_.tensor_tensor(slot, slot, Alu::kAdd, kept);
      e_.tensor_scalar(target, slot, Alu::kAdd, 0.0F);
      e_.scatter(table_of(e_, node_.out[kSource]), token, target);
      e_.scatter(table_of(e_, node_.out[kShare]), columns(gate, j, 1), target);
    }
    e_.store(e_.hbm(node_.out[kSlot], row, parts), place);
    e_.store(e_.hbm(node_.out[kGate], row, parts), gate);
  }

  Tile column(std::int64_t parts) { return e_.sbuf(Dtype::kFp32, parts, 1); }

  Emitter& e_;
  const Node& node_;
  const RouteAttrs& a_;
  const std::int64_t tokens_, experts_;
};

void route_lower(Emitter& e, const Node& node) { Router{e, node}.run(); }

/// Through the gates and the softmax. Shapes: probs [T, E], which, gate, dgate [T, k], dmass [1, E] or none -> [T, E].
/// With p the probabilities, n the sum of the chosen ones (1 if not normalised) and d the gradient of a kept gate:
/// dp = (d - sum of d * gate, if normalised) / n for the chosen, plus dmass; dx = p (dp - sum of p dp), with
/// attrs.sigmoid p (1 - p) dp.
std::vector<Shape> route_grad_infer(const Contract& c) {
  const std::int64_t tokens = c.in(0).rows;
  for (const std::size_t i : {1u, 2u, 3u}) c.need(i, tokens, route_of(c.node).top_k, "choices");
  if (c.inputs() > 4) c.need(4, 1, c.in(0).cols, "gradient of the mass");
  return {{tokens, c.in(0).cols, Dtype::kFp32}};
}

Tensors route_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const bool normalised = attrs.as<RouteAttrs>().normalised, sigmoid = attrs.as<RouteAttrs>().sigmoid;
  const Tensor &p = in[0], &which = in[1], &gate = in[2], &dgate = in[3];
  Tensor dx(p.rows, p.cols);
  for (std::int64_t t = 0; t < p.rows; ++t) {
    double n = 0, mean = 0, all = 0;
    std::vector<double> dp(static_cast<std::size_t>(p.cols));
    for (std::int64_t j = 0; j < gate.cols; ++j) {
      n += p.at(t, static_cast<std::int64_t>(which.at(t, j)));
      mean += static_cast<double>(dgate.at(t, j)) * gate.at(t, j);
    }
    for (std::int64_t j = 0; j < gate.cols; ++j) {
      const double d = gate.at(t, j) > 0 ? dgate.at(t, j) : 0;
      dp[static_cast<std::size_t>(which.at(t, j))] = normalised ? (d - mean) / n : d;
    }
    for (std::int64_t e = 0; e < p.cols; ++e) {
      if (in.size() > 4) dp[static_cast<std::size_t>(e)] += in[4].at(0, e);
      all += p.at(t, e) * dp[static_cast<std::size_t>(e)];
    }
    for (std::int64_t e = 0; e < p.cols; ++e)
      dx.at(t, e) = static_cast<float>(p.at(t, e) * (sigmoid ? (1 - p.at(t, e)) * dp[static_cast<std::size_t>(e)]
                                                             : dp[static_cast<std::size_t>(e)] - all));
  }
  return {dx};
}

void route_grad_tile(Emitter& e, const Node& node, std::int64_t row, std::int64_t parts) {
  const std::int64_t experts = e.value(node.in[0]).cols, k = route_of(node).top_k;
  const auto rows = [&](std::size_t i) { return e.loaded(e.value(node.in[i]).dtype, e.hbm(node.in[i], row, parts)); };
  const Tile p = rows(0), which = rows(1), gate = rows(2), raw = rows(3);
  const Tile d = e.sbuf(Dtype::kFp32, parts, k), few = e.sbuf(Dtype::kFp32, parts, k);
  const Tile dp = e.sbuf(Dtype::kFp32, parts, experts), many = e.sbuf(Dtype::kFp32, parts, experts);
  const Tile sum = e.sbuf(Dtype::kFp32, parts, 1), dx = e.sbuf(Dtype::kFp32, parts, experts);
  e.tensor_scalar(few, gate, Alu::kGt, 0.0F);
  e.tensor_tensor(d, few, Alu::kMul, raw);
  if (route_of(node).normalised) {
    e.tensor_tensor(few, d, Alu::kMul, gate);
    e.reduce(sum, Alu::kAdd, few);
    e.tensor_scalar(d, d, Alu::kSub, sum);
  }
  const Tile chosen = e.sbuf(Dtype::kFp32, parts, experts);
  e.fill(dp, 0), e.fill(chosen, 0);
  for (std::int64_t j = 0; j < k; ++j) {
    const Tile hot = one_hot_of(e, columns(which, j, 1), experts);
    e.scalar_tensor_tensor(dp, hot, Alu::kMul, columns(d, j, 1), Alu::kAdd, dp);
    e.tensor_tensor(chosen, chosen, Alu::kAdd, hot);
  }
  if (route_of(node).normalised) {
    const Tile inverse = e.sbuf(Dtype::kFp32, parts, 1);
    e.tensor_tensor(many, chosen, Alu::kMul, p);
    e.reduce(sum, Alu::kAdd, many);
    e.activation(inverse, Fn::kReciprocal, sum);
    e.tensor_scalar(dp, dp, Alu::kMul, inverse);
  }
  if (node.in.size() > 4) e.tensor_tensor(dp, dp, Alu::kAdd, e.broadcast(node.in[4], parts, 0, experts));
  if (route_of(node).sigmoid) {
    e.tensor_scalar(many, p, Alu::kMul, -1.0F, Alu::kAdd, 1.0F);
    e.tensor_tensor(dp, dp, Alu::kMul, many);
  } else {
    e.tensor_tensor(many, dp, Alu::kMul, p);
    e.reduce(sum, Alu::kAdd, many);
    e.tensor_scalar(dp, dp, Alu::kSub, sum);
  }
  e.tensor_tensor(dx, dp, Alu::kMul, p);
  e.store(e.hbm(node.out[0], row, parts), dx);
}

void route_grad_lower(Emitter& e, const Node& node) {
  const std::int64_t tokens = e.value(node.in[0]).rows;
  for (std::int64_t row = 0; row < tokens; row += kPartitions)
    route_grad_tile(e, node, row, std::min(kPartitions, tokens - row));
}

}  // namespace

const Op kRoute{.name = "route",
                .text = "each token's experts, gates and slots",
                .attrs = RouteAttrs{},
                .infer = route_infer,
                .forward = route_forward,
                .backward = route_backward,
                .lower_whole = route_lower};
const Op kRouteGrad{.name = "route_grad",
                    .text = "gradient of a router's logits",
                    .attrs = RouteAttrs{},
                    .infer = route_grad_infer,
                    .forward = route_grad_forward,
                    .lower_whole = route_grad_lower};

}  // namespace runtime
