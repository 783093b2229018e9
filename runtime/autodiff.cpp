#include "runtime/autodiff.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "base/error.h"
#include "runtime/ops.h"

namespace runtime {

Backward::Backward(Graph& graph) : graph_{graph}, needs_(graph.value_count(), 0) {
  for (ValueId v = 0; v < graph.value_count(); ++v) needs_[v] = graph.value(v).kind == Kind::kWeight;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!node.op) continue;
    bool any = false;
    for (const ValueId v : node.in) any = any || needs_[v];
    for (const ValueId v : node.out) needs_[v] = any;
  }
}

ValueId Backward::grad(const Node& node, std::size_t o) const {
  const auto found = grads_.find(node.out[o]);
  return found == grads_.end() ? kNoValue : found->second;
}

void Backward::add(const Node& node, std::size_t i, ValueId gradient) {
  const ValueId v = node.in[i];
  if (!needs_[v]) return;
  const auto [place, first] = grads_.try_emplace(v, gradient);
  if (!first) place->second = graph_.add1(kAdd, node.label + ".sum", {place->second, gradient});
}

ValueId Backward::op(const Op& op, const Node& node, const char* what, std::vector<ValueId> in, Attrs attrs) {
  return graph_.add1(op, fmt::format("{}.{}", node.label, what), std::move(in), std::move(attrs));
}

std::vector<ValueId> Backward::ops(const Op& op, const Node& node, const char* what, std::vector<ValueId> in,
                                   Attrs attrs) {
  return graph_.add(op, fmt::format("{}.{}", node.label, what), std::move(in), std::move(attrs));
}

std::map<ValueId, ValueId> Backward::run(const std::vector<ValueId>& losses) {
  std::set<NodeId> from;
  for (const ValueId loss : losses) from.insert(graph_.value(loss).producer);
  base::ensure(!losses.empty() && !from.contains(kNoNode), "autodiff", "a loss is no result of a node");
  // What an earlier walk has found for other than parameters is done with: only parameters add up over walks.
  std::erase_if(grads_, [&](const auto& g) { return graph_.value(g.first).kind != Kind::kWeight; });
  for (NodeId n = *from.rbegin() + 1; n-- > 0;) {
    const Node node = graph_.node(n);  // by value: adding nodes moves the others
    if (!node.op) continue;
    bool reached = from.contains(n);
    for (const ValueId v : node.out) reached = reached || grads_.contains(v);
    bool leads = false;
    for (const ValueId v : node.in) leads = leads || (v < needs_.size() && needs_[v]);
    if (!reached || !leads) continue;
    if (!node.op->backward)
      throw base::Error{base::Fault::kProgram, fmt::format("{} {}", node.op->name, node.label),
                        "has no gradient, but a parameter lies behind it", "compute its parameters another way"};
    Scope scope = graph_.scope_of(node);
    scope.name += ".bwd";
    scope.phase = isa::Phase::kBackward;
    graph_.enter(scope);
    node.op->backward(*this, node);
  }
  return grads_;
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
  const auto [begin, end] = boost::edges(graph.boost());
  for (auto e = begin; e != end; ++e)
    parent[top(boost::source(*e, graph.boost()))] = top(boost::target(*e, graph.boost()));
  std::vector<std::vector<ValueId>> out;
  std::map<NodeId, std::size_t> place;
  for (const ValueId loss : losses) {
    const NodeId producer = graph.value(loss).producer;
    base::ensure(producer != kNoNode, "autodiff", "a loss is no result of a node");
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

std::map<ValueId, ValueId> differentiate(Graph& graph, const std::vector<ValueId>& losses) {
  const std::uint32_t scope = graph.current_scope();
  Backward backward{graph};
  std::map<ValueId, ValueId> grads;
  for (const auto& connected : by_component(graph, losses)) grads = backward.run(connected);
  std::map<ValueId, ValueId> out;
  for (const auto& [value, gradient] : grads) {
    if (graph.value(value).kind != Kind::kWeight) continue;
    graph.set_kind(gradient, Kind::kGradient);
    graph.rename(gradient, "grad." + graph.value(value).name);
    out[value] = gradient;
  }
  graph.return_to(scope);
  return out;
}

}  // namespace runtime
