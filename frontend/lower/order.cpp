#include "frontend/lower/order.h"

#include <algorithm>
#include <vector>

#include "frontend/graph/element.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::size_t kMostMoved = 64;  // nodes that move up together

double bytes_of(const Type& type) {
  if (!type.is_tensor()) return 0;
  return static_cast<double>(element_count(type.dims)) * std::max(info(type.element).bits, 8) / 8;
}

/// Whether a node's results are its operands' memory.
bool looks_on(const Node& node) {
  const std::string_view op = node.op->name;
  return op == "reshape" || op == "transpose" || op == "slice" || op == "broadcast_in_dim" || op == "copy" ||
         op == "optimization_barrier" || op == "bitcast_convert" || op == "reverse";
}

class Order {
 public:
  explicit Order(Function& function)
      : function_{function},
        maker_(function.values.size(), kNone),
        memory_(function.values.size()),
        bytes_(function.values.size()),
        stays_(function.values.size()),
        readers_(function.values.size()),
        placed_(function.nodes.size()),
        early_(function.nodes.size()) {
    for (ValueId v = 0; v < memory_.size(); ++v) memory_[v] = v;
    for (ValueId v = 0; v < function.parameters; ++v) stays_[v] = true;
    for (std::size_t n = 0; n < function.nodes.size(); ++n) add(n);
    for (const ValueId v : function.results) stays_[memory_[v]] = true;
  }

  void run() {
    find_vectors_of_parameters();
    for (std::size_t n = 0; n < function_.nodes.size(); ++n)
      if (!placed_[n]) place({n});
    std::vector<Node> nodes;
    for (const std::size_t n : order_) nodes.push_back(std::move(function_.nodes[n]));
    function_.nodes = std::move(nodes);
  }

 private:
  void add(std::size_t n) {
    const Node& node = function_.nodes[n];
    const bool looks = looks_on(node);
    for (std::uint32_t i = 0; i < node.results; ++i) {
      const ValueId v = node.result(i);
      maker_[v] = n;
      if (looks)
        memory_[v] = memory_[node.operands[std::min<std::size_t>(i, node.operands.size() - 1)]];
      else if (node.op->group != Group::kCreation)
        bytes_[v] = bytes_of(function_.type(v));
    }
    if (looks) return;
    for (const ValueId v : reads(n)) readers_[v].push_back(n);
  }

  /// The memory that a node reads, once each.
  std::vector<ValueId> reads(std::size_t n) const {
    const Node& node = function_.nodes[n];
    std::vector<ValueId> out;
    for (const ValueId v : node.operands) out.push_back(memory_[v]);
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) out.push_back(memory_[v]);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// Small results that need nothing but parameters, such as the factors of a batch norm: their reader can be
  /// computed with the product before it if they are computed before that.
  void find_vectors_of_parameters() {
    constexpr double kSmall = 64 * 1024;  // bytes
    std::vector<bool> early(function_.values.size());
    for (ValueId v = 0; v < function_.parameters; ++v) early[v] = true;
    for (std::size_t n = 0; n < function_.nodes.size(); ++n) {
      const Node& node = function_.nodes[n];
      const bool moves_nothing = node.op->group == Group::kCreation || looks_on(node);
      if (!moves_nothing && node.op->group != Group::kElementwise) continue;
      if (!node.regions.empty() || !std::ranges::all_of(node.operands, [&](ValueId v) { return early[v]; })) continue;
      early_[n] = moves_nothing || bytes_of(function_.type(node.result(0))) <= kSmall;
      for (std::uint32_t i = 0; i < node.results; ++i) early[node.result(i)] = early_[n];
    }
  }

  bool is_product(std::size_t n) const { return function_.nodes[n].op->group == Group::kProduct; }
  bool is_ready(std::size_t n) const {
    return std::ranges::all_of(function_.nodes[n].operands,
                               [&](ValueId v) { return maker_[v] == kNone || placed_[maker_[v]]; });
  }

  /// Places nodes that can be computed now, in their order, and those that are worth being computed behind them;
  /// ahead of a product the vectors of parameters between it and the next one.
  void place(const std::vector<std::size_t>& nodes) {
    std::vector<ValueId> open;
    const auto put = [&](std::size_t n) {
      if (placed_[n]) return;
      placed_[n] = true;
      order_.push_back(n);
      for (const ValueId v : reads(n)) open.push_back(v);
    };
    const auto take = [&](std::size_t n) {
      if (is_product(n))
        for (std::size_t m = n + 1; m < placed_.size() && !is_product(m); ++m)
          if (early_[m] && is_ready(m)) put(m);
      put(n);
    };
    std::ranges::for_each(nodes, take);
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      for (const std::size_t n : worthwhile(v)) take(n);
    }
  }

  /// The last reader of `v`, with all that it needs, if that frees memory; else nothing.
  std::vector<std::size_t> worthwhile(ValueId v) {
    if (stays_[v] || bytes_[v] == 0) return {};
    std::erase_if(readers_[v], [&](std::size_t n) { return placed_[n]; });
    if (readers_[v].size() != 1) return {};
    const std::vector<std::size_t> group = needed(readers_[v].front());
    return !group.empty() && gain(group) > 0 ? group : std::vector<std::size_t>{};
  }

  /// A node and those before it that are not placed, in their order; nothing where they are many.
  std::vector<std::size_t> needed(std::size_t node) const {
    std::vector<std::size_t> out{node};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Node& one = function_.nodes[out[i]];
      const auto need = [&](ValueId v) {
        const std::size_t n = maker_[v];
        if (n != kNone && !placed_[n] && std::ranges::find(out, n) == out.end()) out.push_back(n);
      };
      std::ranges::for_each(one.operands, need);
      for (const Region& region : one.regions) std::ranges::for_each(region.captures, need);
      if (out.size() > kMostMoved) return {};
    }
    std::ranges::sort(out);
    return out;
  }

  /// The bytes that a group frees, less those that it leaves.
  double gain(const std::vector<std::size_t>& group) const {
    std::vector<ValueId> all;
    for (const std::size_t n : group) {
      for (const ValueId v : reads(n)) all.push_back(v);
      const Node& node = function_.nodes[n];
      for (std::uint32_t i = 0; i < node.results; ++i) all.push_back(memory_[node.result(i)]);
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    double out = 0;
    for (const ValueId v : all) {
      const bool ends = !stays_[v] && std::ranges::all_of(readers_[v], [&](std::size_t n) {
        return placed_[n] || std::ranges::binary_search(group, n);
      });
      const bool made_here = maker_[v] != kNone && std::ranges::binary_search(group, maker_[v]);
      if (made_here && !ends) out -= bytes_[v];
      if (!made_here && ends) out += bytes_[v];
    }
    return out;
  }

  Function& function_;
  std::vector<std::size_t> maker_;                 // of each value: its node
  std::vector<ValueId> memory_;                    // the value in whose memory it is
  std::vector<double> bytes_;                      // of it
  std::vector<bool> stays_;                        // until the end
  std::vector<std::vector<std::size_t>> readers_;  // of the memory, not those that only look on
  std::vector<bool> placed_;
  std::vector<bool> early_;  // nodes that find_vectors_of_parameters() has found
  std::vector<std::size_t> order_;
};

}  // namespace

void order_for_memory(Module& module) {
  for (Function& function : module.functions)
    if (!function.nodes.empty()) Order{function}.run();
}

}  // namespace trnsim::frontend
