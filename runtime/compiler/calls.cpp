#include "runtime/compiler/calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

bool is_ahead(const Node& node) { return node.op->collective == Collective::kAhead; }

/// Scopes, each after those that it waits for. Unless the order is kept, backward of a micro-batch runs as
/// soon as it can, before the next one's forward: its activations are free by then. Scopes that wait for each other
/// come last, in their order.
std::vector<std::size_t> backward_early(const Graph& graph, const std::vector<std::size_t>& order,
                                        const std::vector<std::vector<NodeId>>& nodes, bool as_it_is) {
  std::vector<std::set<std::size_t>> waits(nodes.size()), next(nodes.size());
  for (const std::size_t scope : order)
    for (const NodeId n : nodes[scope])
      for (const ValueId v : graph.node(n).in) {
        const NodeId from = graph.value(v).producer;
        if (from == kNoNode || graph.node(from).scope == scope) continue;
        waits[scope].insert(graph.node(from).scope);
        next[graph.node(from).scope].insert(scope);
      }
  // Ready scopes, those of backward first, then by their place in `order`.
  std::vector<std::pair<bool, std::size_t>> rank(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Scope& scope = graph.scopes()[order[i]];
    const bool ahead = is_ahead(graph.node(nodes[order[i]].front()));
    rank[order[i]] = {as_it_is || scope.phase != isa::Phase::kBackward || (scope.recomputed && !ahead), i};
    if (!ahead || i == 0) continue;  // no sooner than in the graph
    waits[order[i]].insert(order[i - 1]);
    next[order[i - 1]].insert(order[i]);
  }
  std::set<std::pair<bool, std::size_t>> ready;
  for (const std::size_t scope : order)
    if (waits[scope].empty()) ready.insert(rank[scope]);
  std::vector<std::size_t> out;
  while (!ready.empty()) {
    const std::size_t scope = order[ready.extract(ready.begin()).value().second];
    out.push_back(scope);
    for (const std::size_t after : next[scope])
      if (waits[after].erase(scope) == 1 && waits[after].empty()) ready.insert(rank[after]);
  }
  for (const std::size_t scope : order)
    if (!waits[scope].empty()) out.push_back(scope);
  return out;
}

/// Collectives that run alongside the compute move to where their last operand is ready, but not before the last
/// message to another stage: that stage would wait behind data that are not urgent.
std::vector<std::size_t> collectives_early(const Graph& graph, const std::vector<std::size_t>& order,
                                           const std::vector<std::vector<NodeId>>& nodes) {
  std::vector<std::size_t> compute, late;
  for (const std::size_t scope : order)
    (runs_beside(graph.node(nodes[scope].front())) ? late : compute).push_back(scope);
  std::vector<std::size_t> behind(graph.scopes().size());  // how many of `compute` a scope comes after
  std::size_t messages = 0;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    behind[compute[i]] = i + 1;
    if (graph.node(nodes[compute[i]].front()).op->reaches_out) messages = i + 1;
  }
  std::vector<std::vector<std::size_t>> collectives(compute.size() + 1);
  for (const std::size_t scope : late) {
    behind[scope] = messages;
    for (const NodeId n : nodes[scope])
      for (const ValueId v : graph.node(n).in)
        if (const NodeId from = graph.value(v).producer; from != kNoNode && graph.node(from).scope != scope)
          behind[scope] = std::max(behind[scope], behind[graph.node(from).scope]);
    collectives[behind[scope]].push_back(scope);
  }
  std::vector<std::size_t> out = collectives.front();
  for (std::size_t i = 0; i < compute.size(); ++i) {
    out.push_back(compute[i]);
    out.insert(out.end(), collectives[i + 1].begin(), collectives[i + 1].end());
  }
  return out;
}

/// A scope's nodes with each behind those whose results it reads. Passes may have given a value another producer.
std::vector<NodeId> in_order(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::set<NodeId> left{nodes.begin(), nodes.end()};
  std::vector<NodeId> out;
  const auto visit = [&](const auto& self, NodeId n) -> void {
    if (left.erase(n) == 0) return;
    for (const ValueId v : graph.node(n).in) self(self, graph.value(v).producer);
    out.push_back(n);
  };
  for (const NodeId n : nodes) visit(visit, n);
  return out;
}

/// The names under which calls access each tensor's memory: within a block only accesses under one name are in order.
class MemoryNames {
 public:
  explicit MemoryNames(const Graph& graph) : graph_{&graph} {}

  void add(const std::vector<NodeId>& nodes) {
    for (const NodeId n : nodes) {
      const Node& node = graph_->node(n);
      if (node.op->looks_on) continue;
      for (const ValueId v : node.in) names_[graph_->root(v)].insert(graph_->base(v));
      for (const ValueId v : node.out) {
        names_[graph_->root(v)].insert(graph_->base(v));
        written_.insert(graph_->root(v));
      }
    }
  }
  bool in_order() const {
    return std::ranges::none_of(written_, [&](ValueId root) { return names_.at(root).size() > 1; });
  }

 private:
  const Graph* graph_;
  std::map<ValueId, std::set<ValueId>> names_;
  std::set<ValueId> written_;
};

Calls joined_calls(const Graph& graph, const Calls& calls) {
  Calls joined;
  MemoryNames names{graph};
  for (const std::vector<NodeId>& nodes : calls) {
    names.add(nodes);
    if (joined.empty() || !names.in_order()) {
      joined.emplace_back();
      names = MemoryNames{graph};
      names.add(nodes);
    }
    joined.back().insert(joined.back().end(), nodes.begin(), nodes.end());
  }
  return joined;
}

}  // namespace

bool runs_beside(const Node& node) { return node.op->collective == Collective::kBeside; }

Calls calls_of(const Graph& graph, bool as_it_is) {
  std::vector<std::vector<NodeId>> by_scope(graph.scopes().size());
  std::vector<std::size_t> order;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!node.op) continue;
    if (by_scope[node.scope].empty()) order.push_back(node.scope);
    by_scope[node.scope].push_back(n);
  }
  order = collectives_early(graph, backward_early(graph, order, by_scope, as_it_is), by_scope);
  std::vector<std::size_t> place(graph.scopes().size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  Calls calls;
  for (const std::size_t scope : order) {
    for (const NodeId n : by_scope[scope])
      for (const ValueId v : graph.node(n).in) {
        const NodeId from = graph.value(v).producer;
        base::ensure(from == kNoNode || place[graph.node(from).scope] <= place[scope], graph.node(n).label,
                     "its scope runs before the scope of an operand");
      }
    calls.push_back(in_order(graph, by_scope[scope]));
  }
  return calls;
}

std::size_t merge_calls(const Graph& graph, Calls& calls) {
  constexpr double kMostTiles = 2000;  // row tiles of all nodes: some 20,000 instructions
  if (calls.empty()) return 0;         // a graph without work
  const auto work = [&](const std::vector<NodeId>& nodes) {
    double tiles = 0;
    for (const NodeId n : nodes) {
      const Node& node = graph.node(n);
      tiles += static_cast<double>(graph.value(node.out[0]).rows) / isa::kPartitions;
      if (node.op->pieces) tiles += node.op->pieces(node);
    }
    return tiles;
  };
  const auto plain = [&](const std::vector<NodeId>& nodes) {
    return graph.scope_of(graph.node(nodes.front())).phase == isa::Phase::kForward &&
           std::ranges::none_of(nodes, [&](NodeId n) {
             const Node& node = graph.node(n);
             return node.attrs.p() > 0 || node.op->collective != Collective::kNone;
           });
  };
  double all = 0;
  for (const auto& nodes : calls) {
    if (!plain(nodes)) return 0;  // training repeats its layers' blocks instead
    all += work(nodes);
  }
  if (all > kMostTiles) return 0;
  const std::size_t before = calls.size();
  calls = joined_calls(graph, calls);
  return before - calls.size();
}

}  // namespace runtime
