// Reverse-mode differentiation of a graph.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/graph/graph.h"

namespace runtime {

/// The interface of an op's `backward`: gradients of its results in, gradients of its operands out.
class Backward {
 public:
  explicit Backward(Graph& graph);
  /// Results of forward nodes with the same number are not kept for the backward: their nodes run again, from their
  /// inputs. -1: kept. Nodes of a number follow each other. Source: Chen et al., arXiv:1604.06174.
  using Segment = std::function<std::int32_t(const Node&)>;
  void recompute(Segment segment) { segment_ = std::move(segment); }

  /// The op that repeats a forward node, whose results are then not kept for the backward: they are recomputed from its
  /// operands, one such node before they are read. nullptr: kept. Source: Korthikanti et al.,
  /// arXiv:2205.05198, section 4.2.2: values gathered by sequence parallelism are gathered again.
  using Repeats = std::function<const Op*(const Node&)>;
  void repeat_ahead(Repeats repeats) { repeats_ = std::move(repeats); }

  Graph& graph() { return graph_; }
  /// The gradient of result o of `node`, or kNoValue when nothing depends on it.
  ValueId grad(const Node& node, std::size_t o = 0) const;
  /// Whether operand i leads to a parameter.
  bool needs(const Node& node, std::size_t i) const { return needs_[first(node.in[i])]; }
  /// Adds to the gradient of operand i.
  void add(const Node& node, std::size_t i, ValueId gradient);
  /// Adds a node with one result, labelled after `node`.
  ValueId op(const Op& op, const Node& node, const char* what, std::vector<ValueId> in, Attrs attrs = {});
  std::vector<ValueId> ops(const Op& op, const Node& node, const char* what, std::vector<ValueId> in, Attrs attrs = {});

  /// Walks back from `losses`, sums over rows that are all weighted already: their gradients are one. The gradients of
  /// parameters add to those of earlier walks, which must not have passed the same nodes.
  void run(const std::vector<ValueId>& losses);
  /// Gives the gradients of the parameters their kind and their names, "grad.WEIGHT". Returns weight -> gradient.
  std::map<ValueId, ValueId> finish();

 private:
  void find_needs();
  Node recomputed(NodeId n);
  void repeat_segment(NodeId last);
  std::vector<NodeId> behind(const std::vector<ValueId>& losses) const;
  void find_ahead(const std::vector<NodeId>& nodes);
  void add_recomputation(NodeId n);
  void recompute_ahead(NodeId last);
  ValueId own(ValueId gradient, std::set<ValueId>& taken);
  /// The value that `v` repeats, or itself.
  ValueId first(ValueId v) const {
    const auto found = first_.find(v);
    return found == first_.end() ? v : found->second;
  }

  bool is_parameter(ValueId v) const { return graph_.value(v).kind == Kind::kWeight; }

  using Gradients = std::map<ValueId, ValueId>;
  Graph& graph_;
  std::vector<char> needs_;   // per value: whether it leads to a parameter
  NodeId looked_at_ = 0;      // as many nodes have been, for that
  Gradients grads_, others_;  // of parameters; of other values of this walk
  Segment segment_;
  std::int32_t repeated_ = -1;                          // the segment whose nodes run again now
  std::unordered_map<ValueId, ValueId> again_, first_;  // of a value: its recomputation; the value that it recomputes
  Repeats repeats_;
  std::vector<NodeId> ahead_;              // of this walk: nodes that are repeated and not yet recomputed, in order
  std::map<ValueId, ValueId> recomputed_;  // their results: the recomputed values
};

/// Adds the nodes that compute the gradients of all weights. `loss` must come from cross_entropy (whose own gradient it
/// is). Scopes: "NAME.bwd" for a forward scope NAME, phase backward. Returns weight -> gradient; the gradients have the
/// numerics' type, kind kGradient and the name "grad.WEIGHT".
/// Errors: Fault::kProgram when an op on the way has no gradient.
std::map<ValueId, ValueId> differentiate(Graph& graph, ValueId loss);
/// As above, for several losses, whose gradients add up: micro-batches, or heads on one trunk.
std::map<ValueId, ValueId> differentiate(Graph& graph, const std::vector<ValueId>& losses,
                                         Backward::Segment recomputed = {});

}  // namespace runtime
