// Attention: products of queries and keys, scaled, masked, softmax by rows, times values; and its gradient. Softmax is
// known by its numbers at samples, products by their operands' axes, however they are reshaped and transposed.
#include "frontend/rewrite/attention.h"

#include <algorithm>
#include <cmath>

#include "frontend/ops/counted_places.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

using Numbers = Samples::Numbers;

constexpr std::size_t kSoftmaxBehind = 16, kMostSteps = 12;
constexpr double kHidden = -1e8;       // the score of a hidden key is below it
constexpr double kScoreFloor = 1e-3;   // below it differences count as they are
constexpr std::int64_t kWidest = 256;  // of a head

Numbers softmax_of(const Numbers& x) {
  Numbers out(x.size());
  for (std::size_t row = 0; row < x.size(); row += kSampleWidth) {
    double sum = 0;
    for (std::size_t c = row; c < row + kSampleWidth; ++c) sum += std::exp(x[c]);
    for (std::size_t c = row; c < row + kSampleWidth; ++c) out[c] = std::exp(x[c]) / sum;
  }
  return out;
}

bool is_product(const Node* node) { return node && node->op->name == "dot_general"; }

/// Numbers as they were, in another type or form.
bool keeps(const Node& node) {
  return node.op->name == "convert" || node.op->name == "copy" || node.op->name == "reshape";
}

/// A value that counts from, from + 1, ... along a dimension; -1: none.
struct Counted {
  std::int64_t along = -1, from = 0;
};

/// The whole number that all elements of a constant are.
std::optional<std::int64_t> whole_number(const Function& function, const Producers& producers, ValueId value) {
  const Node* node = producers.of(value);
  while (node && (node->op->name == "broadcast_in_dim" || keeps(*node))) node = producers.of(node->operands[0]);
  if (!node || node->op->name != "constant" || !is_integer(function.type(node->result()).element)) return {};
  const LiteralPtr literal = node->attributes.literal("value");
  if (!literal || (!literal->splat && literal->count() != 1)) return {};
  return wrap_to(literal->type.element, static_cast<std::int64_t>(literal->bits(0)));
}

Counted counted(const Function& function, const Producers& producers, ValueId value) {
  std::int64_t from = 0;
  for (const Node* node = producers.of(value); node; node = producers.of(value)) {
    const bool adds = node->op->name == "add", subtracts = node->op->name == "subtract";
    if (!adds && !subtracts) break;
    auto number = whole_number(function, producers, node->operands[1]);
    const bool first = !number && adds;
    if (first) number = whole_number(function, producers, node->operands[0]);
    if (!number) return {};
    from += subtracts ? -*number : *number;
    value = node->operands[first ? 1 : 0];
  }
  return {.along = counts_along([&](ValueId v) { return producers.of(v); }, value), .from = from};
}

}  // namespace

AttentionSearch::AttentionSearch(const Module& module, const Function& function)
    : module_{module}, function_{function}, producers_{function}, readers_(function.values.size()) {
  for (const Node& node : function.nodes) {
    for (const ValueId v : node.operands) readers_[v].push_back(&node);
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) readers_[v].push_back(nullptr);
  }
  for (const ValueId v : function.results) readers_[v].push_back(nullptr);
}

bool AttentionSearch::is_sum(const Node& node) const {
  return node.op->name == "reduce" && node.operands.size() == 2 && is_region_of(module_, node, "add") &&
         number_of(function_, producers_, node.operands[1]) == 0.0;
}

std::optional<AttentionUse> AttentionSearch::at(const Node& product) const {
  if (!is_product(&product)) return {};
  for (const std::size_t side : {0U, 1U}) {
    AttentionUse use{.context = &product, .p_side = side};
    if (!softmax_behind(use, product.operands[side]) || !scores_behind(use, use.scores) || !operands(use) ||
        !values(use) || !alone(use))
      continue;
    std::set<ValueId> others;
    const Products of_p = products_of(use.p, others);
    if ((of_p.size() == 1 && others.empty()) || gradient(use, of_p, others)) return use;
  }
  return {};
}

/// The probabilities that an operand is, and the scores that they are the softmax of.
bool AttentionSearch::softmax_behind(AttentionUse& use, ValueId operand) const {
  const Node* node = producers_.of(operand);
  while (node && keeps(*node)) operand = node->operands[0], node = producers_.of(operand);
  if (!node || (node->op->name != "divide" && node->op->name != "multiply")) return false;
  const Type& type = function_.type(operand);
  if (!is_float(type.element) || type.rank() < 2) return false;
  std::vector<ValueId> from = origins(function_, producers_, operand, kSoftmaxBehind, true);
  std::ranges::sort(from);  // the furthest first: softmax of x less its largest number is that of x
  for (const ValueId x : from) {
    if (x == operand || function_.type(x).dims != type.dims || !is_float(function_.type(x).element)) continue;
    const Numbers at = row_samples(0.6180339887498949, 3, -1.3);
    Samples samples{module_, function_, producers_, x, at, {.by_rows = true, .width = kSampleWidth, .losses = true}};
    const Numbers* found = samples.of(operand);
    if (!found || !samples.others().empty() || !samples.columns().empty() || !samples.rows().empty()) continue;
    if (difference(*found, softmax_of(at), kScoreFloor) >= 4 * samples.tolerance()) continue;
    use.p = operand, use.scores = x;
    return true;
  }
  return false;
}

/// Whether a product is behind a value by steps that scores take.
bool AttentionSearch::reaches_product(ValueId value) const {
  for (std::size_t i = 0; i < kMostSteps; ++i) {
    const Node* node = producers_.of(value);
    if (!node || is_product(node)) return node != nullptr;
    const std::string_view op = node->op->name;
    if (keeps(*node) || op == "tanh")
      value = node->operands[0];
    else if (op == "multiply" || op == "divide")
      value = node->operands[factor_of(function_, producers_, node->operands[0]) ? 1 : 0];
    else
      return false;
  }
  return false;
}

/// From scores to their product: scales, a mask that is added, keys that are hidden.
bool AttentionSearch::scores_behind(AttentionUse& use, ValueId value) const {
  for (std::size_t i = 0; i < kMostSteps; ++i) {
    const Node* node = producers_.of(value);
    if (!node) return false;
    use.chain.insert(value);
    const std::string_view op = node->op->name;
    if (is_product(node)) return use.product = node, true;
    if (keeps(*node)) {
      if (function_.type(node->operands[0]).dims.back() != function_.type(value).dims.back()) return false;
      value = node->operands[0];
    } else if (op == "multiply" || op == "divide") {
      const auto factor = [&](std::size_t side) { return factor_of(function_, producers_, node->operands[side]); };
      const auto second = factor(1), first = op == "divide" ? std::nullopt : factor(0);
      if (!second && !first) return false;
      if (!use.scaling.take(second ? *second : *first, op == "divide")) return false;
      value = node->operands[second ? 0 : 1];
    } else if (op == "tanh") {
      if (use.soft_cap != 0 || use.scaling.value || use.scaling.number <= 0) return false;
      use.soft_cap = use.scaling.number;
      value = node->operands[0];
    } else if (op == "add") {
      const std::size_t path = reaches_product(node->operands[0]) ? 0 : 1;
      if (use.mask || use.causal || use.soft_cap != 0 || use.scaling != Scaling{}) return false;
      if (!reaches_product(node->operands[path])) return false;
      masked(use, node->operands[1 - path]);
      value = node->operands[path];
    } else if (op == "select") {
      if (use.mask || use.causal || use.soft_cap != 0 || use.scaling != Scaling{}) return false;
      const auto hidden = selected(use, *node);
      if (!hidden) return false;
      value = *hidden;
    } else {
      return false;
    }
  }
  return false;
}

/// The scores of which a select hides some.
std::optional<ValueId> AttentionSearch::selected(AttentionUse& use, const Node& node) const {
  for (const bool hides : {false, true}) {
    const auto number = number_of(function_, producers_, node.operands[hides ? 1 : 2]);
    const ValueId scores = node.operands[hides ? 2 : 1];
    if (!number || *number > kHidden || !reaches_product(scores)) continue;
    use.causal = is_causal(node.operands[0], hides), use.chosen = node.operands[0];
    if (!use.causal) use.mask = node.operands[0], use.hidden = *number, use.hides = hides;
    return scores;
  }
  return {};
}

/// A mask that is added: one that hides later keys, or any.
void AttentionSearch::masked(AttentionUse& use, ValueId mask) const {
  const Node* node = producers_.of(mask);
  std::int64_t more = function_.type(mask).rank();
  while (node && (keeps(*node) || node->op->name == "broadcast_in_dim")) node = producers_.of(node->operands[0]);
  if (node && node->op->name == "select" && function_.type(node->result()).rank() <= more) {
    const auto seen = number_of(function_, producers_, node->operands[1]),
               hidden = number_of(function_, producers_, node->operands[2]);
    const bool last = placed(function_, producers_, mask).dims.size() >= 2;
    if (last && seen == 0.0 && hidden && *hidden <= kHidden && is_causal(node->operands[0], false)) {
      use.causal = true;
      return;
    }
    if (last && hidden == 0.0 && seen && *seen <= kHidden && is_causal(node->operands[0], true)) {
      use.causal = true;
      return;
    }
  }
  use.mask = mask;
}

/// Whether a truth of the last two dimensions says that a key is not later than its query, or that it is.
bool AttentionSearch::is_causal(ValueId truth, bool later) const {
  const std::int64_t rank = function_.type(truth).rank();
  const Node* node = producers_.of(truth);
  std::int64_t cut = 0;  // dimensions in front that were broadcast
  while (node && node->op->name == "broadcast_in_dim") {
    const Ints places = node->attributes.ints("broadcast_dimensions");
    const std::int64_t own = function_.type(node->result()).rank();
    for (std::size_t d = 0; d < places.size(); ++d)
      if (places[d] != own - static_cast<std::int64_t>(places.size()) + static_cast<std::int64_t>(d)) return false;
    cut += own - static_cast<std::int64_t>(places.size());
    node = producers_.of(node->operands[0]);
  }
  if (!node || node->op->name != "compare" || rank - cut < 2) return false;
  const std::int64_t own = function_.type(node->result()).rank();
  const Dims& dims = function_.type(node->result()).dims;
  const Counted first = counted(function_, producers_, node->operands[0]),
                second = counted(function_, producers_, node->operands[1]);
  if (dims[static_cast<std::size_t>(own - 1)] != dims[static_cast<std::size_t>(own - 2)]) return false;
  std::string way = node->attributes.text("comparison_direction");
  std::int64_t apart = second.from - first.from;  // query - key is compared with it
  if (first.along == own - 1 && second.along == own - 2)
    way = way.front() == 'L' ? "G" + way.substr(1) : way.front() == 'G' ? "L" + way.substr(1) : way, apart = -apart;
  else if (first.along != own - 2 || second.along != own - 1)
    return false;
  return later ? (way == "LT" && apart == 0) || (way == "LE" && apart == -1)
               : (way == "GE" && apart == 0) || (way == "GT" && apart == -1);
}

/// The axes of queries and keys: the last dimension of the scores are keys.
bool AttentionSearch::operands(AttentionUse& use) const {
  const DotDims dims = dot_dims(use.product->attributes);
  const auto side = [&](std::size_t i) { return placed(function_, producers_, use.product->operands[i], true); };
  const auto kept = [&](std::size_t i, const Ints& batch, const Ints& summed) {
    Ints out;
    for (std::int64_t d = 0; d < function_.type(use.product->operands[i]).rank(); ++d)
      if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(summed, d) == summed.end()) out.push_back(d);
    return out;
  };
  const Ints rows = kept(0, dims.lhs_batch, dims.lhs_contracting), keys = kept(1, dims.rhs_batch, dims.rhs_contracting);
  if (dims.lhs_contracting.size() != 1 || keys.size() != 1 || rows.empty() || rows.size() > 2) return false;
  const Placed q = side(0), k = side(1);
  use.q = {.root = q.root,
           .batch = q.joined(dims.lhs_batch),
           .tokens = q.joined({rows.back()}),
           .size = q.joined(dims.lhs_contracting),
           .scaling = q.scaling};
  if (rows.size() == 2) use.q.group = q.joined({rows.front()});
  use.k = {.root = k.root,
           .batch = k.joined(dims.rhs_batch),
           .tokens = k.joined(keys),
           .size = k.joined(dims.rhs_contracting),
           .scaling = k.scaling};
  if (k.scaling.value || (q.scaling.value && use.scaling.value)) return false;
  use.queries = size_of_axes(use.q.tokens), use.keys = size_of_axes(use.k.tokens);
  use.head = size_of_axes(use.q.size);
  return use.head <= kWidest && use.keys == function_.type(use.scores).dims.back();
}

bool AttentionSearch::values(AttentionUse& use) const {
  const DotDims dims = dot_dims(use.context->attributes);
  const bool first = use.p_side == 0;
  const Ints &p_batch = first ? dims.lhs_batch : dims.rhs_batch, &v_batch = first ? dims.rhs_batch : dims.lhs_batch;
  const Ints& p_summed = first ? dims.lhs_contracting : dims.rhs_contracting;
  const Ints& v_summed = first ? dims.rhs_contracting : dims.lhs_contracting;
  const Type& p = function_.type(use.context->operands[use.p_side]);
  const ValueId value = use.context->operands[1 - use.p_side];
  Ints in_order(p_batch.size());
  for (std::size_t d = 0; d < in_order.size(); ++d) in_order[d] = static_cast<std::int64_t>(d);
  if (p_batch != in_order || p_summed != Ints{p.rank() - 1} || v_summed.size() != 1) return false;
  const Placed v = placed(function_, producers_, value);
  Ints kept;
  for (std::int64_t d = 0; d < function_.type(value).rank(); ++d)
    if (d != v_summed[0] && std::ranges::find(v_batch, d) == v_batch.end()) kept.push_back(d);
  if (kept.size() != 1) return false;
  use.v = {.root = v.root, .batch = v.joined(v_batch), .tokens = v.joined(v_summed), .size = v.joined(kept)};
  return size_of_axes(use.v.size) == use.head && size_of_axes(use.v.tokens) == use.keys &&
         size_of_axes(use.v.batch) == size_of_axes(use.q.batch);
}

/// Values that `last` is computed of, back to `first`, both with it; without constants.
std::set<ValueId> AttentionSearch::between(ValueId last, const std::set<ValueId>& first) const {
  constexpr std::size_t kMost = 64;
  std::set<ValueId> out;
  std::vector<ValueId> all{last};
  for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
    if (out.contains(all[i]) || number_of(function_, producers_, all[i])) continue;
    out.insert(all[i]);
    const Node* node = first.contains(all[i]) ? nullptr : producers_.of(all[i]);
    if (node) all.insert(all.end(), node->operands.begin(), node->operands.end());
  }
  return out;
}

/// Whether nothing else reads what is between the products, or the gradient alone.
bool AttentionSearch::alone(const AttentionUse& use) const {
  std::set<ValueId> inside = between(use.p, use.chain);
  inside.insert(use.chain.begin(), use.chain.end());
  for (const ValueId v : inside)
    for (const Node* reader : readers_[v])
      if (v != use.p && (!reader || !inside.contains(reader->result()))) return false;
  return true;
}

}  // namespace trnsim::frontend::rewrite
