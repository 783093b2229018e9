#include "runtime/compiler/fuse.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/compiler/row_tiler.h"

namespace runtime {
namespace {

constexpr std::int64_t kMixed = -1;

struct Draft {
  FusedGroup group;
  std::int64_t rows = 0;
  std::int64_t cols = 0;  // of all results, if all nodes are element-wise; else kMixed
  std::int64_t weight_bytes = 0, row_bytes = 0, banks = 0;
  std::int64_t piece_bytes = 0;  // of results whose rows pass in pieces
};

class Fuser {
 public:
  Fuser(const Graph& graph, const Budgets& budgets, bool fuse) : graph_{graph}, budgets_{budgets}, fuse_{fuse} {}

  void add(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op->lower_whole) {
      drafts_.push_back({.group = {.nodes = {id}, .by_rows = false}});
      if (node.op->looks_on) return look_on(node);
    } else {
      const std::size_t home = fuse_ ? choose(node) : drafts_.size();
      if (home == drafts_.size()) drafts_.push_back({.group = {.nodes = {}, .by_rows = true}, .rows = rows_of(node)});
      Draft& draft = drafts_[home];
      draft.group.nodes.push_back(id);
      draft.cols = passes(draft, node) ? cols_of(node) : kMixed;
      draft.piece_bytes += piece_bytes(node);
      draft.weight_bytes += weight_bytes(node);
      draft.row_bytes += row_bytes(draft, node);
      draft.banks += sums(node).banks;
      for (const ValueId v : node.out) home_[v] = home;
      return;
    }
    for (const ValueId v : node.out) home_[v] = drafts_.size() - 1;
  }

  std::vector<FusedGroup> take() {
    std::vector<FusedGroup> out;
    for (Draft& draft : drafts_) out.push_back(std::move(draft.group));
    return out;
  }

 private:
  std::int64_t rows_of(const Node& node) const {
    return graph_.value(node.op->row_sums ? node.in[0] : node.out[0]).rows;
  }
  std::int64_t cols_of(const Node& node) const { return graph_.value(node.out[0]).cols; }
  /// Whether the group is element-wise with this node: its rows pass in pieces, however long they are.
  bool passes(const Draft& draft, const Node& node) const {
    return node.op->lower_columns && (draft.cols == 0 || draft.cols == cols_of(node));
  }
  std::int64_t piece_bytes(const Node& node) const {
    std::int64_t bytes = 0;
    for (const ValueId v : node.out)
      bytes += std::min(graph_.value(v).cols * isa::size_of(graph_.value(v).dtype), kShortRow);
    return bytes;
  }
  std::int64_t weight_bytes(const Node& node) const {
    return node.op->row_product ? node.op->row_product.shared_bytes(graph_, node) : 0;
  }
  RowSums sums(const Node& node) const {
    return node.op->row_sums ? node.op->row_sums(graph_, node, budgets_) : RowSums{};
  }
  /// Bytes of a row of the node's results. Long rows of a product and its successors exist in chunks only.
  std::int64_t row_bytes(const Draft& draft, const Node& node) const {
    const bool chunks = node.op->row_product || (draft.weight_bytes > 0 && node.op->lower_columns);
    std::int64_t bytes = sums(node).bytes;
    for (const ValueId v : node.out) {
      const std::int64_t row = graph_.value(v).cols * isa::size_of(graph_.value(v).dtype);
      bytes += chunks ? std::min(row, kShortRow) : row;
    }
    return bytes;
  }

  /// Whether operand i of `node` is read row by row, so that the group may hand it over tile by tile. A sum over rows
  /// is there after the last tile alone, also where it has one row and what was summed has one.
  bool tile_operand(const Node& node, std::size_t i) const {
    const Value& value = graph_.value(node.in[i]);
    const bool sum = value.producer != kNoNode && graph_.node(value.producer).op->row_sums;
    return !sum && !views_.contains(node.in[i]) && !node.op->not_by_row.contains(i) && value.rows == rows_of(node);
  }

  /// A view of memory does nothing: it is there with the memory, and does not have that row by row.
  void look_on(const Node& node) {
    const auto found = home_.find(node.in[0]);
    if (found == home_.end()) return;
    for (const ValueId v : node.out) home_[v] = found->second, views_.insert(v);
  }

  /// The group of the operand that is ready last, if the node may join it; otherwise a new one.
  std::size_t choose(const Node& node) const {
    const std::size_t none = drafts_.size();
    std::size_t latest = none;
    bool reads_others = false;  // of the latest: rows other than its own
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const auto found = home_.find(node.in[i]);
      if (found == home_.end()) continue;
      if (latest == none || found->second > latest) latest = found->second, reads_others = false;
      if (found->second == latest && !tile_operand(node, i)) reads_others = true;
    }
    if (latest != none && !reads_others && fits(drafts_[latest], node)) return latest;
    if (node.op->row_product && (latest == none || !reads_others)) {
      const std::size_t sibling = same_operand(node);
      if (sibling != none && (latest == none || latest < sibling) && fits(drafts_[sibling], node)) return sibling;
    }
    return none;
  }

  /// The last group with a product of the same row tiles: both use the tiles staged for TensorE.
  std::size_t same_operand(const Node& node) const {
    for (std::size_t d = drafts_.size(); d-- > 0;)
      for (const NodeId n : drafts_[d].group.nodes)
        if (graph_.node(n).op->row_product && graph_.node(n).in[0] == node.in[0]) return d;
    return drafts_.size();
  }

  bool fits(const Draft& draft, const Node& node) const {
    if (!draft.group.by_rows || draft.rows != rows_of(node)) return false;
    const bool has_product = draft.weight_bytes > 0;
    if (node.op->row_product && has_product && draft.weight_bytes + weight_bytes(node) > budgets_.resident_weights)
      return false;
    const std::int64_t bytes =
        passes(draft, node) ? draft.piece_bytes + piece_bytes(node) : draft.row_bytes + row_bytes(draft, node);
    return bytes <= budgets_.group_rows && draft.banks + sums(node).banks <= budgets_.group_sum_banks;
  }

  const Graph& graph_;
  const Budgets budgets_;
  const bool fuse_;
  std::vector<Draft> drafts_;
  std::map<ValueId, std::size_t> home_;
  std::set<ValueId> views_;  // of values that have a home
};

}  // namespace

std::vector<FusedGroup> fuse_nodes(const Graph& graph, const std::vector<NodeId>& nodes, const isa::Geometry& geometry,
                                   bool fuse) {
  Fuser fuser{graph, Budgets{geometry}, fuse};
  for (const NodeId n : nodes) fuser.add(n);
  return fuser.take();
}

std::set<ValueId> escapes(const Graph& graph, const FusedGroup& group) {
  const std::set<NodeId> inside{group.nodes.begin(), group.nodes.end()};
  std::set<ValueId> out;
  for (const NodeId n : group.nodes)
    for (const ValueId v : graph.node(n).out) {
      const auto& users = graph.users(v);
      if (graph.value(v).kind != Kind::kActivation ||
          std::ranges::any_of(users, [&](NodeId u) { return !inside.contains(u); }))
        out.insert(v);
    }
  return out;
}

}  // namespace runtime
