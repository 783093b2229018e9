#include "frontend/lower/overlap.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "frontend/ops/operator.h"

namespace trnsim::frontend {
namespace overlap {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::size_t kMostMoved = 64;  // nodes that move up together
constexpr std::size_t kWindow = 256;    // nodes among which a product is sought

/// Whether a node on the way from a parameter to its gather may move with it: it does little, and waits for nothing.
bool is_light(const Node& node) {
  const std::string_view op = node.op->name;
  switch (node.op->group) {
    case Group::kCreation:
    case Group::kElementwise:
    case Group::kConversion: return node.regions.empty();
    default:
      return op == "reshape" || op == "transpose" || op == "slice" || op == "dynamic_slice" || op == "copy" ||
             op == "broadcast_in_dim";
  }
}

/// Whether a node moves data between ranks; the number of a rank is none of them.
bool communicates(const Node& node) {
  return node.op->group == Group::kCollective && node.op->name != "partition_id" && node.op->name != "replica_id";
}

/// A gather with all that it needs, in order, and its first reader.
struct Gather {
  std::vector<std::size_t> nodes;
  std::size_t reader = kNone;
};

/// A sum over ranks with nodes in front of it, in order, and the last other node that they need.
struct Sum {
  std::vector<std::size_t> nodes;
  std::size_t maker = 0;
};

class Order {
 public:
  explicit Order(Function& function)
      : function_{function}, maker_(function.values.size(), kNone), readers_(function.nodes.size(), kNone) {
    for (std::size_t n = 0; n < function.nodes.size(); ++n) {
      for (std::uint32_t i = 0; i < function.nodes[n].results; ++i) maker_[function.nodes[n].result(i)] = n;
      any_read(n, [&](ValueId v) {
        if (maker_[v] != kNone) readers_[maker_[v]] = std::min(readers_[maker_[v]], n);
        return false;
      });
    }
  }

  void run() {
    if (std::ranges::none_of(function_.nodes, communicates)) return;
    std::vector<Node> nodes;
    for (const std::size_t n : behind(ahead())) nodes.push_back(std::move(function_.nodes[n]));
    function_.nodes = std::move(nodes);
  }

 private:
  const Node& node(std::size_t n) const { return function_.nodes[n]; }
  template <class F>
  bool any_read(std::size_t n, const F& f) const {
    return std::ranges::any_of(node(n).operands, f) ||
           std::ranges::any_of(node(n).regions, [&](const Region& r) { return std::ranges::any_of(r.captures, f); });
  }

  // ---- collectives as early as they can begin

  std::deque<std::size_t> ahead() {
    std::vector<Gather> gathers = found();
    const std::vector<Sum> sums = found_sums();
    std::deque<std::size_t> order;
    std::vector<bool> placed(function_.nodes.size());
    std::size_t next = 0;  // of the gathers, the first that has not begun
    const auto put = [&](std::size_t n) {
      if (!placed[n]) order.push_back(n);
      placed[n] = true;
    };
    const auto begin = [&](std::size_t count) {
      for (; next < std::min(count, gathers.size()); ++next) {
        const auto& nodes = gathers[next].nodes;
        const auto first = std::ranges::find(nodes, false, [&](std::size_t n) { return placed[n]; });
        if (first != nodes.end()) function_.nodes[*first].apart = true;
        std::ranges::for_each(nodes, put);
      }
    };
    begin(1);
    for (std::size_t n = 0, read = 0, sum = 0; n < function_.nodes.size(); ++n) {
      while (read < gathers.size() && gathers[read].reader == n) ++read;
      begin(read + 1);
      put(n);
      for (; sum < sums.size() && sums[sum].maker <= n; ++sum) std::ranges::for_each(sums[sum].nodes, put);
    }
    return order;
  }
  std::vector<Gather> found() {
    std::vector<Gather> out;
    for (std::size_t n = 0; n < function_.nodes.size(); ++n) {
      if (node(n).op->name != "all_gather" || readers_[n] == kNone) continue;
      if (auto nodes = needed(n)) out.push_back({std::move(*nodes), readers_[n]});
    }
    for (const Gather& gather : out)
      for (const std::size_t n : gather.nodes)
        for (ValueId& v : function_.nodes[n].operands) v = before_barriers(v);
    std::ranges::stable_sort(out, {}, &Gather::reader);
    return out;
  }
  /// Sums over ranks with the nodes that only change the form or the type of their operands, by the last of the others
  /// that they need.
  std::vector<Sum> found_sums() const {
    std::vector<Sum> out;
    for (std::size_t n = 0; n < function_.nodes.size(); ++n) {
      const std::string_view op = node(n).op->name;
      if (op != "reduce_scatter" && op != "all_reduce") continue;
      Sum sum{.nodes = {n}};
      for (std::size_t at = 0; at < sum.nodes.size(); ++at)
        any_read(sum.nodes[at], [&](ValueId v) {
          const std::size_t by = maker_[v];
          if (by == kNone) return false;
          const bool is_form = is_light(node(by)) && node(by).op->group != Group::kElementwise;
          if (!is_form || sum.nodes.size() == kMostMoved)
            sum.maker = std::max(sum.maker, by);
          else if (std::ranges::find(sum.nodes, by) == sum.nodes.end())
            sum.nodes.push_back(by);
          return false;
        });
      std::ranges::sort(sum.nodes);
      out.push_back(std::move(sum));
    }
    std::ranges::stable_sort(out, {}, &Sum::maker);
    return out;
  }
  /// A barrier keeps apart what is computed twice; a parameter behind it is the parameter.
  ValueId before_barriers(ValueId v) const {
    while (maker_[v] != kNone && node(maker_[v]).op->name == "optimization_barrier")
      v = node(maker_[v]).operands[v - node(maker_[v]).result(0)];
    return v;
  }
  /// A gather and those before it, in order; nothing where one of them is no light work on parameters.
  std::optional<std::vector<std::size_t>> needed(std::size_t gather) const {
    std::vector<std::size_t> out{gather};
    for (std::size_t at = 0; at < out.size(); ++at) {
      for (ValueId v : node(out[at]).operands) {
        v = before_barriers(v);
        const std::size_t n = maker_[v];
        if (n == kNone || std::ranges::find(out, n) != out.end()) continue;
        if (!is_light(node(n)) || out.size() == kMostMoved) return std::nullopt;
        out.push_back(n);
      }
    }
    std::ranges::sort(out);
    return out;
  }

  // ---- readers of collectives

  bool is_heavy(std::size_t n) const {
    const Group group = node(n).op->group;
    return group == Group::kProduct || group == Group::kControl || node(n).op->name == "custom_call";
  }
  using Values = std::unordered_set<ValueId>;
  bool reads_any(std::size_t n, const Values& values) const {
    return any_read(n, [&](ValueId v) { return values.contains(v); });
  }

  std::vector<std::size_t> behind(std::deque<std::size_t> left) const {
    std::vector<std::size_t> order;
    Values fresh;  // results of collectives behind which no product has begun
    std::vector<bool> tried(function_.nodes.size());
    while (!left.empty()) {
      const std::size_t n = left.front();
      if (!tried[n] && reads_any(n, fresh)) {
        tried[n] = true;
        if (put_off(left, fresh)) continue;
      }
      left.pop_front();
      order.push_back(n);
      if (is_heavy(n)) fresh.clear();
      if (!communicates(node(n))) continue;
      for (std::uint32_t i = 0; i < node(n).results; ++i) fresh.insert(node(n).result(i));
    }
    return order;
  }
  /// Moves the first node, and those that need it, behind the next product that needs neither it nor a collective that
  /// has just begun. Returns whether one is near.
  bool put_off(std::deque<std::size_t>& left, const Values& fresh) const {
    std::vector<std::size_t> later, sooner;
    Values waits;
    bool is_near = false;
    for (std::size_t i = 0; i < std::min(kWindow, left.size()); ++i) {
      const std::size_t n = left[i];
      const bool is_later = i == 0 || reads_any(n, waits);
      if (is_near && is_heavy(n)) break;  // the product keeps its epilogue
      (is_later ? later : sooner).push_back(n);
      if (is_later)
        for (std::uint32_t r = 0; r < node(n).results; ++r) waits.insert(node(n).result(r));
      is_near |= !is_later && is_heavy(n) && !reads_any(n, fresh);
    }
    if (!is_near) return false;
    std::ranges::copy(sooner, left.begin());
    std::ranges::copy(later, left.begin() + static_cast<std::ptrdiff_t>(sooner.size()));
    return true;
  }

  Function& function_;
  std::vector<std::size_t> maker_;    // of each value: its node
  std::vector<std::size_t> readers_;  // of each node: the first that reads a result of it
};

}  // namespace
}  // namespace overlap

void overlap_collectives(Module& module) {
  for (Function& function : module.functions) overlap::Order{function}.run();
}

}  // namespace trnsim::frontend
