// The gradient of attention: products of the probabilities, of the context's gradient and of the scores' gradient,
// which is known by its numbers at samples.
#include <algorithm>
#include <cmath>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/attention.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

using Numbers = Samples::Numbers;

constexpr std::size_t kMostFollowed = 40;
constexpr double kGradientFloor = 1e-3;  // below it differences count as they are

/// p (x - the sum of x p), by rows.
Numbers softmax_gradient(const Numbers& x, const Numbers& p) {
  Numbers out(x.size());
  for (std::size_t row = 0; row < x.size(); row += kSampleWidth) {
    double sum = 0;
    for (std::size_t c = row; c < row + kSampleWidth; ++c) sum += x[c] * p[c];
    for (std::size_t c = row; c < row + kSampleWidth; ++c) out[c] = p[c] * (x[c] - sum);
  }
  return out;
}

bool same_axes(const DimAxes& a, const DimAxes& b) {
  const auto cut_a = cut_axes(a, cuts_of(b)), cut_b = cut_axes(b, cuts_of(a));
  const auto same = [](const Axis& x, const Axis& y) { return x.size == y.size && x.stride == y.stride; };
  return cut_a && cut_b && std::ranges::equal(*cut_a, *cut_b, same);
}

bool changes_form(const Node& node) {
  const std::string_view op = node.op->name;
  return op == "reshape" || op == "transpose" || op == "copy" || op == "convert";
}

}  // namespace

bool HeadOperand::same(const HeadOperand& other) const {
  return root == other.root && scaling == other.scaling && same_axes(batch, other.batch) &&
         same_axes(group, other.group) && same_axes(tokens, other.tokens) && same_axes(size, other.size);
}

/// An operand whose tokens a product sums up.
HeadOperand AttentionSearch::summed_operand(const Node& node, std::size_t side, bool scaled) const {
  HeadOperand out = kept_operand(node, side, scaled);
  std::swap(out.tokens, out.size);
  return out;
}

/// An operand whose tokens stay, and whose heads' elements a product sums up.
HeadOperand AttentionSearch::kept_operand(const Node& node, std::size_t side, bool scaled) const {
  const DotDims dims = dot_dims(node.attributes);
  const Ints& batch = side == 0 ? dims.lhs_batch : dims.rhs_batch;
  const Ints& summed = side == 0 ? dims.lhs_contracting : dims.rhs_contracting;
  const Placed at = placed(function_, producers_, node.operands[side], scaled);
  Ints kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(at.dims.size()); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(summed, d) == summed.end()) kept.push_back(d);
  return {.root = at.root,
          .batch = at.joined(batch),
          .tokens = at.joined(kept),
          .size = at.joined(summed),
          .scaling = at.scaling};
}

/// Products that read a value, in whatever form; `others`: values that are computed of it otherwise.
AttentionSearch::Products AttentionSearch::products_of(ValueId value, std::set<ValueId>& others) const {
  Products out;
  std::vector<ValueId> forms{value};
  for (std::size_t i = 0; i < forms.size(); ++i)
    for (const Node* reader : readers_[forms[i]]) {
      if (reader && changes_form(*reader)) {
        if (std::ranges::find(forms, reader->result()) == forms.end()) forms.push_back(reader->result());
      } else if (reader && reader->op->name == "dot_general") {
        out.push_back({reader, reader->operands[0] == forms[i] ? 0U : 1U});
      } else {
        others.insert(reader ? reader->result() : value);
      }
    }
  return out;
}

/// From the gradient of the probabilities to that of the scores, the last that products read.
std::optional<ValueId> AttentionSearch::scores_gradient(const AttentionUse& use, AttentionGradientUse& out,
                                                        const Node& dp, std::set<ValueId>& inside) const {
  const Dims& dims = function_.type(use.p).dims;
  std::vector<ValueId> all{dp.result()};
  std::optional<ValueId> x, last;
  for (std::size_t i = 0; i < all.size() && all.size() < kMostFollowed; ++i) {
    if (!x && function_.type(all[i]).dims == dims) x = all[i];
    for (const Node* reader : readers_[all[i]])
      if (reader && reader->results == 1 && reader->op->name != "dot_general" &&
          std::ranges::find(all, reader->result()) == all.end())
        all.push_back(reader->result());
  }
  if (!x) return {};
  std::ranges::sort(all);
  const Numbers at = row_samples(0.7548776662466927, 1, -0.5), p = row_samples(0.5698402909980532, 1, 0.02);
  for (const ValueId v : all) {
    if (v == *x || function_.type(v).dims != dims || !is_float(function_.type(v).element)) continue;
    Samples samples{module_, function_, producers_, *x, at, {.by_rows = true, .width = kSampleWidth}};
    samples.know(use.p, p);
    const Numbers* found = samples.of(v);
    if (!found || !samples.others().empty() || !samples.rows().empty()) continue;
    const Numbers expected = softmax_gradient(at, p);
    const auto most = std::ranges::max_element(expected, {}, [](double one) { return std::abs(one); });
    const double scale = (*found)[static_cast<std::size_t>(most - expected.begin())] / *most;
    Numbers scaled = expected;
    for (double& one : scaled) one *= scale;
    if (!std::isfinite(scale) || scale == 0) continue;
    if (difference(*found, scaled, kGradientFloor * std::abs(scale)) >= 4 * samples.tolerance()) continue;
    last = v, out.scaling.number = scale;
  }
  if (!last) return {};
  inside = between(*last, {dp.result(), use.p});
  inside.erase(use.p);
  for (bool any = true; any;) {
    const auto seen = seen_gradient(use, *last), next = seen ? seen : scaled_gradient(out, *last);
    out.cleared = out.cleared || (seen && !use.causal && !(use.hidden && std::isinf(*use.hidden)));
    if (any = next.has_value(); any) last = next, inside.insert(*next);
  }
  return last;
}

/// The same where scores that the softmax does not see have none. It is 0 there already, but in a row that sees
/// nothing: causal rows see themselves, and where an infinity hides, such a row has no numbers at all.
std::optional<ValueId> AttentionSearch::seen_gradient(const AttentionUse& use, ValueId value) const {
  const std::vector<const Node*>& all = readers_[value];
  if (!use.chosen || all.size() != 1 || !all.front() || all.front()->op->name != "select") return {};
  const Node& node = *all.front();
  const Placed truth = placed(function_, producers_, node.operands[0]),
               chosen = placed(function_, producers_, *use.chosen);
  if (truth.root != chosen.root || truth.dims.size() != chosen.dims.size()) return {};
  for (std::size_t d = 0; d < truth.dims.size(); ++d)
    if (!same_axes(truth.dims[d], chosen.dims[d])) return {};
  for (const std::size_t side : {1U, 2U})
    if (node.operands[side] == value && number_of(function_, producers_, node.operands[3 - side]) == 0.0 &&
        (side == 2) == use.hides)
      return node.result();
  return {};
}

bool AttentionSearch::is_scaling(const Node& node, ValueId value, const Scaling& by) const {
  if (node.op->name != (by.divides ? "divide" : "multiply") || node.operands[0] == node.operands[1]) return false;
  const std::size_t side = node.operands[0] == value ? 1 : 0;
  if (by.divides && side == 0) return false;
  const auto factor = factor_of(function_, producers_, node.operands[side]);
  return factor && factor->number == 1 && factor->value == by.value;
}

bool AttentionSearch::always_scaled(const Node& product, const Scaling& by) const {
  std::vector<ValueId> all{product.result()};
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Node* reader : readers_[all[i]]) {
      if (!reader || reader->results != 1) return false;
      if (is_scaling(*reader, all[i], by)) {
        any = true;
      } else if (reader->op->name == "reshape" || reader->op->name == "transpose") {
        all.push_back(reader->result());
      } else {
        return false;
      }
    }
  }
  return any;
}

/// The same behind a factor.
std::optional<ValueId> AttentionSearch::scaled_gradient(AttentionGradientUse& out, ValueId value) const {
  const std::vector<const Node*>& all = readers_[value];
  if (all.size() != 1 || !all.front()) return {};
  const Node& node = *all.front();
  const bool divides = node.op->name == "divide";
  if (!divides && node.op->name != "multiply") return {};
  const std::size_t side = node.operands[0] == value ? 1 : 0;
  const auto factor = factor_of(function_, producers_, node.operands[side]);
  if (!factor || (divides && side == 0) || !out.scaling.take(*factor, divides)) return {};
  return node.result();
}

/// Whether all that reads the probabilities besides the context is a gradient: three products that an operation makes.
bool AttentionSearch::gradient(AttentionUse& use, const Products& of_p, const std::set<ValueId>& others) const {
  if (of_p.size() != 2 || !use.q.group.empty() || use.soft_cap != 0) return false;
  AttentionGradientUse out;
  out.dv = of_p[of_p[0].node == use.context ? 1 : 0];
  const HeadOperand p = summed_operand(*out.dv.node, out.dv.side);
  if (!same_axes(p.tokens, {{use.queries, use.keys}}) || !same_axes(p.size, {{use.keys, 1}})) return false;
  out.dy = summed_operand(*out.dv.node, 1 - out.dv.side);
  std::set<ValueId> unused, inside;
  std::optional<ValueId> ds;
  for (const Node& node : function_.nodes) {
    if (node.op->name != "dot_general" || ds) continue;
    if (kept_operand(node, 0).same(out.dy) && kept_operand(node, 1).same(use.v))
      ds = scores_gradient(use, out, node, inside);
  }
  if (!ds) return false;
  std::set<ValueId> beside;
  const Products of_ds = products_of(*ds, beside);
  if (of_ds.size() != 2 || (!beside.empty() && (out.scaling != Scaling{} || use.scaling.value))) return false;
  if (!beside.empty()) out.scores = *ds;
  for (const AttentionGradientUse::Product& one : of_ds) {
    const HeadOperand with = summed_operand(*one.node, 1 - one.side, true);
    if (with.same(use.k)) out.dq = one;
    if (with.same(use.q)) out.dk = one;
  }
  if (!out.dq.node || !out.dk.node || out.dq.node == out.dk.node) return false;
  for (const ValueId v : inside)
    for (const Node* reader : readers_[v])
      if (v != *ds && (!reader || !inside.contains(reader->result()))) return false;
  if (!std::ranges::includes(inside, others)) return false;
  use.gradient = out;
  return true;
}

}  // namespace trnsim::frontend::rewrite
