#include "runtime/graph/autodiff.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

constexpr std::uint32_t kNoScope = std::numeric_limits<std::uint32_t>::max();

/// The scope in which nodes of `scope` run again, for the backward pass.
Scope recompute_scope(Scope scope) {
  scope.name += ".again";
  scope.phase = isa::Phase::kBackward;
  scope.recomputed = true;
  return scope;
}

}  // namespace

Backward::Backward(Graph& graph) : graph_{graph} {}

/// Only for nodes added since the last walk: nodes do not change the needs of those before them.
void Backward::find_needs() {
  for (auto v = static_cast<ValueId>(needs_.size()); v < graph_.value_count(); ++v)
    needs_.push_back(graph_.value(v).kind == Kind::kWeight && !graph_.value(v).frozen);
  for (; looked_at_ < graph_.node_count(); ++looked_at_) {
    const Node& node = graph_.node(looked_at_);
    if (!node.op) continue;
    bool any = node.op->reaches_out && node.in.empty();
    for (const ValueId v : node.in) any = any || needs_[v];
    for (const ValueId v : node.out) needs_[v] = any;
  }
}

ValueId Backward::grad(const Node& node, std::size_t o) const {
  const ValueId v = first(node.out[o]);
  const Gradients& known = is_parameter(v) ? grads_ : others_;
  const auto found = known.find(v);
  return found == known.end() ? kNoValue : found->second;
}

void Backward::add(const Node& node, std::size_t i, ValueId gradient) {
  const ValueId v = first(node.in[i]);
  if (!needs_[v]) return;
  const auto [place, first] = (is_parameter(v) ? grads_ : others_).try_emplace(v, gradient);
  if (!first) place->second = graph_.add1(kAdd, node.label + ".sum", {place->second, gradient});
}

ValueId Backward::op(const Op& op, const Node& node, const char* what, std::vector<ValueId> in, Attrs attrs) {
  return graph_.add1(op, fmt::format("{}.{}", node.label, what), std::move(in), std::move(attrs));
}

std::vector<ValueId> Backward::ops(const Op& op, const Node& node, const char* what, std::vector<ValueId> in,
                                   Attrs attrs) {
  return graph_.add(op, fmt::format("{}.{}", node.label, what), std::move(in), std::move(attrs));
}

/// Adds the nodes of the segment that ends with node `last` again.
void Backward::repeat_segment(NodeId last) {
  again_.clear();
  NodeId begin = last;
  while (begin > 0 && graph_.node(begin - 1).op && segment_(graph_.node(begin - 1)) == repeated_) --begin;
  for (NodeId n = begin; n <= last; ++n) {
    Node node = graph_.node(n);
    const Scope scope = recompute_scope(graph_.scope_of(node));
    if (graph_.scope_of(graph_.node(graph_.node_count() - 1)) != scope) graph_.enter(scope);
    for (ValueId& v : node.in)
      if (const auto found = again_.find(v); found != again_.end()) v = found->second;
    const auto out = graph_.add(*node.op, node.label, node.in, node.attrs);
    for (std::size_t o = 0; o < out.size(); ++o) again_[node.out[o]] = out[o], first_[out[o]] = node.out[o];
  }
}

/// Node n, or its recomputation: its backward reads the recomputed values.
Node Backward::recomputed(NodeId n) {
  const Node node = graph_.node(n);  // by value: adding nodes moves the others
  const std::int32_t segment = segment_ && node.op ? segment_(node) : -1;
  if (segment < 0) return node;
  if (segment != repeated_) {
    repeated_ = segment;
    repeat_segment(n);
  }
  Node copy = node;
  for (auto* values : {&copy.in, &copy.out})
    for (ValueId& v : *values)
      if (const auto found = again_.find(v); found != again_.end()) v = found->second;
  return copy;
}

/// The nodes that the losses depend on, in order.
std::vector<NodeId> Backward::behind(const std::vector<ValueId>& losses) const {
  std::vector<char> seen(graph_.node_count(), 0);
  std::vector<NodeId> out;
  const auto visit = [&](ValueId v) {
    const NodeId from = graph_.value(v).producer;
    if (from != kNoNode && !std::exchange(seen[from], 1)) out.push_back(from);
  };
  for (const ValueId loss : losses) visit(loss);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const ValueId v : graph_.node(out[i]).in) visit(v);
  std::ranges::sort(out);
  return out;
}

/// Those of a walk's nodes whose results come again.
void Backward::find_ahead(const std::vector<NodeId>& nodes) {
  ahead_.clear();
  recomputed_.clear();
  if (!repeats_) return;
  for (const NodeId n : nodes) {
    const Node& node = graph_.node(n);
    if (node.op && !(segment_ && segment_(node) >= 0) && repeats_(node)) ahead_.push_back(n);
  }
}

/// Adds the recomputation of node n.
void Backward::add_recomputation(NodeId n) {
  const Node node = graph_.node(n);
  graph_.enter(recompute_scope(graph_.scope_of(node)));
  const auto out = graph_.add(*repeats_(node), node.label, node.in, node.attrs);
  for (std::size_t o = 0; o < out.size(); ++o) recomputed_[node.out[o]] = out[o], first_[out[o]] = node.out[o];
}

/// Before the backward of the scope that ends with node `last`: adds the recomputation of its operands, and of those
/// read next, which overlaps with it.
void Backward::recompute_ahead(NodeId last) {
  if (ahead_.empty()) return;
  const std::uint32_t scope = graph_.node(last).scope;
  bool reads = false;
  for (NodeId n = last + 1; n-- > 0 && graph_.node(n).scope == scope;) {
    const std::vector<ValueId> operands = graph_.node(n).in;  // adding nodes moves the others
    for (const ValueId v : operands)
      if (const NodeId from = graph_.value(v).producer; std::ranges::count(ahead_, from) > 0) {
        reads = true;
        add_recomputation(from);
        std::erase(ahead_, from);
      } else {
        reads = reads || recomputed_.contains(v);
      }
  }
  if (!reads || ahead_.empty()) return;
  add_recomputation(ahead_.back());
  ahead_.pop_back();
}

void Backward::run(const std::vector<ValueId>& losses) {
  std::set<NodeId> from;
  for (const ValueId loss : losses) from.insert(graph_.value(loss).producer);
  find_needs();
  base::ensure(!losses.empty() && !from.contains(kNoNode), "autodiff", "a loss is not a result of a node");
  // Drop gradients that an earlier walk found for non-parameters: only those of parameters add up over walks.
  others_.clear();
  const std::vector<NodeId> nodes = behind(losses);
  find_ahead(nodes);
  std::uint32_t requested = kNoScope;
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {  // clang 14, which fuzzes, has no views::reverse
    const NodeId n = *at;
    if (!graph_.node(n).op) continue;
    bool reached = from.contains(n);
    for (const ValueId v : graph_.node(n).out) reached = reached || (is_parameter(v) ? grads_ : others_).contains(v);
    bool leads = graph_.node(n).op->reaches_out;
    for (const ValueId v : graph_.node(n).in) leads = leads || (v < needs_.size() && needs_[v]);
    if (!reached || !leads) continue;
    if (graph_.node(n).scope != requested) recompute_ahead(n), requested = graph_.node(n).scope;
    Node node = recomputed(n);
    for (ValueId& v : node.in)
      if (const auto found = recomputed_.find(v); found != recomputed_.end()) v = found->second;
    if (!node.op->backward)
      throw base::Error{base::Fault::kProgram, fmt::format("{} {}", node.op->name, node.label),
                        "has no gradient, but a parameter needs one through it", "compute its parameters another way"};
    Scope scope = graph_.scope_of(node);  // of its forward, also when it runs again
    scope.name += ".bwd";
    scope.phase = isa::Phase::kBackward;
    graph_.enter(scope);
    node.op->backward(*this, node);
  }
}

/// A parameter's gradient is summed over ranks and micro-batches in place. One that other nodes read, or that is
/// another parameter's too, as with a single row, that is in another value's memory, or that has the type of an
/// activation, is copied.
ValueId Backward::own(ValueId gradient, std::set<ValueId>& taken) {
  const NodeId from = graph_.value(gradient).producer;
  const isa::Dtype type = graph_.numerics().gradient;
  const bool apart = graph_.value(gradient).alias == kNoValue && graph_.users(gradient).empty() &&
                     graph_.value(gradient).dtype == type;
  if (taken.insert(gradient).second && apart) return gradient;
  graph_.return_to(graph_.node(from).scope);
  return graph_.add1(kAffine, graph_.node(from).label + ".own", {gradient}, AffineAttrs{.dtype = type});
}

std::map<ValueId, ValueId> Backward::finish() {
  std::map<ValueId, ValueId> out;
  std::set<ValueId> taken;
  for (auto& [value, gradient] : grads_) {
    gradient = own(gradient, taken);
    graph_.set_kind(gradient, Kind::kGradient);
    graph_.rename(gradient, "grad." + graph_.value(value).name);
    out[value] = gradient;
  }
  return out;
}

namespace {

/// Losses that depend on common nodes together: one walk back serves them. Micro-batches share parameters only.
std::vector<std::vector<ValueId>> by_component(const Graph& graph, const std::vector<ValueId>& losses) {
  std::vector<NodeId> parent(graph.node_count());
  std::iota(parent.begin(), parent.end(), NodeId{0});
  const auto top = [&](NodeId n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  for (ValueId v = 0; v < graph.value_count(); ++v)
    if (const NodeId from = graph.value(v).producer; from != kNoNode)
      for (const NodeId n : graph.users(v)) parent[top(from)] = top(n);
  std::vector<std::vector<ValueId>> out;
  std::map<NodeId, std::size_t> place;
  for (const ValueId loss : losses) {
    const NodeId producer = graph.value(loss).producer;
    base::ensure(producer != kNoNode, "autodiff", "a loss is not a result of a node");
    const auto [found, added] = place.try_emplace(top(producer), out.size());
    if (added) out.emplace_back();
    out[found->second].push_back(loss);
  }
  return out;
}

}  // namespace

std::map<ValueId, ValueId> differentiate(Graph& graph, ValueId loss) {
  return differentiate(graph, std::vector<ValueId>{loss});
}

std::map<ValueId, ValueId> differentiate(Graph& graph, const std::vector<ValueId>& losses,
                                         Backward::Segment recomputed) {
  const std::uint32_t scope = graph.current_scope();
  Backward backward{graph};
  if (recomputed) backward.recompute(std::move(recomputed));
  for (const auto& connected : by_component(graph, losses)) backward.run(connected);
  graph.return_to(scope);
  return backward.finish();
}

}  // namespace runtime
