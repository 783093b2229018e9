#include "runtime/compiler/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

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

/// The room that groups have for nodes.
class Room {
 public:
  Room(const Graph& graph, const Budgets& budgets) : graph_{graph}, budgets_{budgets} {}

  void append(Draft& draft, NodeId id) const {
    const Node& node = graph_.node(id);
    draft.group.nodes.push_back(id);
    draft.cols = passes(draft, node) ? cols_of(node) : kMixed;
    draft.piece_bytes += piece_bytes(node);
    draft.weight_bytes += weight_bytes(node);
    draft.row_bytes += row_bytes(draft, node);
    draft.banks += sums(node).banks;
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

  bool holds(Draft draft, const std::vector<NodeId>& more) const {
    return std::ranges::all_of(more, [&](NodeId n) {
      const bool fit = fits(draft, graph_.node(n));
      if (fit) append(draft, n);
      return fit;
    });
  }

  std::int64_t rows_of(const Node& node) const {
    return graph_.value(node.op->row_sums ? node.in[0] : node.out[0]).rows;
  }

 private:
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

  const Graph& graph_;
  const Budgets budgets_;
};

class Fuser {
 public:
  Fuser(const Graph& graph, const Budgets& budgets, bool fuse) : graph_{graph}, room_{graph, budgets}, fuse_{fuse} {}

  void add(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op->lower_whole) {
      drafts_.push_back({.group = {.nodes = {id}, .by_rows = false}});
      note(drafts_.size() - 1, id);
      node.op->looks_on ? look_on(node) : settle(node, drafts_.size() - 1);
      return;
    }
    const std::size_t home = fuse_ ? choose(id) : drafts_.size();
    if (home == drafts_.size())
      drafts_.push_back({.group = {.nodes = {}, .by_rows = true}, .rows = room_.rows_of(node)});
    put(home, id);
  }

  std::vector<FusedGroup> take() {
    std::vector<FusedGroup> out;
    for (Draft& draft : drafts_)
      if (!draft.group.nodes.empty()) out.push_back(std::move(draft.group));
    return out;
  }

 private:
  void put(std::size_t home, NodeId id) {
    room_.append(drafts_[home], id);
    note(home, id);
    settle(graph_.node(id), home);
  }
  void settle(const Node& node, std::size_t home) {
    for (const ValueId v : node.out) home_[v] = home;
  }
  void note(std::size_t place, NodeId id) {
    place_[id] = place;
    for (const ValueId v : graph_.node(id).out) {
      if (graph_.value(v).alias == kNoValue) continue;
      std::size_t& last = last_write_[graph_.root(v)];
      last = std::max(last, place);
    }
  }

  /// Whether operand i of `node` is read row by row, so that the group may hand it over tile by tile. A sum over rows
  /// is there after the last tile alone, also where it has one row and what was summed has one.
  bool tile_operand(const Node& node, std::size_t i) const {
    const Value& value = graph_.value(node.in[i]);
    const bool sum = value.producer != kNoNode && graph_.node(value.producer).op->row_sums;
    return !sum && !views_.contains(node.in[i]) && !node.op->not_by_row.contains(i) &&
           value.rows == room_.rows_of(node);
  }

  /// A view of memory does nothing: it is there with the memory, and does not have that row by row.
  void look_on(const Node& node) {
    const auto found = home_.find(node.in[0]);
    if (found == home_.end()) return;
    for (const ValueId v : node.out) home_[v] = found->second, views_.insert(v);
  }

  /// The group of the operand that is ready last, if the node may join it; otherwise a new one.
  std::size_t choose(NodeId id) {
    const Node& node = graph_.node(id);
    const std::size_t none = drafts_.size();
    std::size_t latest = none;
    bool reads_others = false;  // of the latest: rows other than its own
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const auto found = home_.find(node.in[i]);
      if (found == home_.end()) continue;
      if (latest == none || found->second > latest) latest = found->second, reads_others = false;
      if (found->second == latest && !tile_operand(node, i)) reads_others = true;
    }
    if (latest != none && overwrites(node, latest)) return none;
    if (latest != none && !reads_others) {
      if (room_.fits(drafts_[latest], node)) return joined(latest, id);
      if (const auto home = cut(latest, {id})) return *home;
    }
    if (node.op->row_product && (latest == none || !reads_others)) {
      const std::size_t sibling = same_operand(node);
      if (sibling != none && (latest == none || latest < sibling) && room_.fits(drafts_[sibling], node)) return sibling;
    }
    return drafts_.size();
  }

  /// Whether the node writes into memory that a group reads, other than those of its rows that are read and written
  /// tile by tile.
  bool overwrites(const Node& node, std::size_t home) const {
    return std::ranges::any_of(node.out, [&](ValueId written) {
      return graph_.value(written).alias != kNoValue && std::ranges::any_of(drafts_[home].group.nodes, [&](NodeId n) {
               return reads_other_rows(graph_.node(n), written);
             });
    });
  }
  bool reads_other_rows(const Node& node, ValueId written) const {
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      if (graph_.root(node.in[i]) != graph_.root(written)) continue;
      const bool same = graph_.begin(node.in[i]) == graph_.begin(written) &&
                        graph_.value(node.in[i]).rows == graph_.value(written).rows &&
                        graph_.value(node.in[i]).bytes() == graph_.value(written).bytes();
      if (!same || !tile_operand(node, i)) return true;
    }
    return false;
  }

  /// Where a node of group `latest` also reads rows of an earlier group, and nothing in `latest` had to wait for the
  /// groups between them, both are one: the node's operands need no way through HBM, in whichever order they were
  /// spelled. Products keep their own groups, because the weights of a group are in SBUF together.
  std::size_t joined(std::size_t latest, NodeId id) {
    const Node& node = graph_.node(id);
    const std::size_t none = drafts_.size();
    std::size_t earlier = none, whole = none;  // the last groups that the node reads row by row, and otherwise
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const auto found = home_.find(node.in[i]);
      if (found == home_.end() || found->second >= latest) continue;
      std::size_t& last = tile_operand(node, i) ? earlier : whole;
      if (last == none || found->second > last) last = found->second;
    }
    if (earlier == none || node.op->row_product) return latest;
    if (drafts_[latest].weight_bytes > 0) {
      delay(earlier, latest, id);
      return latest;
    }
    const bool writes = std::ranges::any_of(node.out, [&](ValueId v) { return graph_.value(v).alias != kNoValue; });
    if (writes || (whole != none && whole >= earlier)) return latest;
    std::vector<NodeId> more = drafts_[latest].group.nodes;
    if (!std::ranges::all_of(more, [&](NodeId n) { return may_move(graph_.node(n), earlier, latest); })) return latest;
    more.push_back(id);
    const auto home = room_.holds(drafts_[earlier], more) ? std::optional{earlier} : cut(earlier, more);
    if (!home) return latest;
    more.pop_back();
    drafts_[latest].group.nodes.clear();
    for (const NodeId n : more) put(*home, n);
    return *home;
  }

  /// Puts element-wise work of group `earlier` that nothing has read yet behind the product of group `latest`, if it
  /// has room for that and for `id`.
  void delay(std::size_t earlier, std::size_t latest, NodeId id) {
    const Draft& from = drafts_[earlier];
    if (!from.group.by_rows || from.cols == kMixed || from.weight_bytes > 0) return;
    if (is_used_behind(earlier, from.group.nodes)) return;
    std::vector<NodeId> more = from.group.nodes;
    more.push_back(id);
    if (!room_.holds(drafts_[latest], more)) return;
    for (const NodeId n : std::exchange(drafts_[earlier].group.nodes, {})) put(latest, n);
  }

  /// Group `at` has no room for `more`, which read it: from its last product on it may be a group of its own, with room
  /// for them. It is, at the end, where fewer bytes pass through HBM then.
  std::optional<std::size_t> cut(std::size_t at, const std::vector<NodeId>& more) {
    const std::vector<NodeId> all = drafts_[at].group.nodes;
    auto product = all.end();
    while (product != all.begin() && !graph_.node(*std::prev(product)).op->row_product) --product;
    if (!drafts_[at].group.by_rows || product == all.begin() || --product == all.begin()) return {};
    const std::vector<NodeId> front{all.begin(), product}, back{product, all.end()};
    std::vector<NodeId> behind = back;
    behind.insert(behind.end(), more.begin(), more.end());
    Draft head{.group = {.nodes = {}, .by_rows = true}, .rows = drafts_[at].rows}, tail = head;
    if (!room_.holds(tail, behind) || is_used_behind(at, behind)) return {};
    if (bytes_between(front, behind) >= bytes_between(back, more)) return {};
    for (const NodeId n : front) room_.append(head, n);
    drafts_[at] = std::move(head);
    drafts_.push_back(std::move(tail));
    for (const NodeId n : back) put(drafts_.size() - 1, n);
    return drafts_.size() - 1;
  }

  bool is_placed(NodeId n) const { return place_.contains(n); }

  /// Whether a group behind group `at` reads results of `nodes`, or writes into memory that they read.
  bool is_used_behind(std::size_t at, const std::vector<NodeId>& nodes) const {
    const auto is_behind = [&](NodeId user) {
      const auto found = place_.find(user);
      return found != place_.end() && found->second > at && std::ranges::find(nodes, user) == nodes.end();
    };
    const auto is_overwritten = [&](ValueId v) {
      const auto found = last_write_.find(graph_.root(v));
      return found != last_write_.end() && found->second > at;
    };
    return std::ranges::any_of(nodes, [&](NodeId n) {
      const Node& node = graph_.node(n);
      return std::ranges::any_of(node.in, is_overwritten) ||
             std::ranges::any_of(node.out, [&](ValueId v) { return std::ranges::any_of(graph_.users(v), is_behind); });
    });
  }

  /// Bytes that pass through HBM if `readers` are another group than the writers: those that they read, and those that
  /// are written for them alone.
  std::uint64_t bytes_between(const std::vector<NodeId>& writers, const std::vector<NodeId>& readers) const {
    std::uint64_t bytes = 0;
    for (const NodeId n : writers)
      for (const ValueId v : graph_.node(n).out) {
        const auto reads = [&](NodeId user) { return std::ranges::find(readers, user) != readers.end(); };
        const auto others = [&](NodeId user) {
          return !reads(user) && std::ranges::find(writers, user) == writers.end() &&
                 (graph_.node(user).op->lower_whole || is_placed(user));
        };
        if (std::ranges::none_of(graph_.users(v), reads)) continue;
        const bool written = graph_.value(v).kind != Kind::kActivation || std::ranges::any_of(graph_.users(v), others);
        bytes += graph_.value(v).bytes() * (written ? 1 : 2);
      }
    return bytes;
  }

  /// Whether a node of group `latest` has its operands as early as group `earlier`, and writes into no memory that
  /// groups between them may read.
  bool may_move(const Node& node, std::size_t earlier, std::size_t latest) const {
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const auto found = home_.find(node.in[i]);
      if (found == home_.end() || found->second < earlier || found->second == latest) continue;
      if (found->second > earlier || !tile_operand(node, i)) return false;
    }
    return std::ranges::all_of(node.out, [&](ValueId v) { return graph_.value(v).alias == kNoValue; });
  }

  /// The last group with a product of the same row tiles: both use the tiles staged for TensorE.
  std::size_t same_operand(const Node& node) const {
    for (std::size_t d = drafts_.size(); d-- > 0;)
      for (const NodeId n : drafts_[d].group.nodes)
        if (graph_.node(n).op->row_product && graph_.node(n).in[0] == node.in[0]) return d;
    return drafts_.size();
  }

  const Graph& graph_;
  const Room room_;
  const bool fuse_;
  std::vector<Draft> drafts_;
  std::map<NodeId, std::size_t> place_;
  std::map<ValueId, std::size_t> home_;        // of values: the group that has them
  std::map<ValueId, std::size_t> last_write_;  // into memory, by its root: the last group
  std::set<ValueId> views_;                    // of values that have a home
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
