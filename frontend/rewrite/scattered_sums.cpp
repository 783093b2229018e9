// A sum over ranks of which each rank takes its own part: all-reduce and a slice at a place that the rank's number
// gives.
#include <algorithm>
#include <map>
#include <optional>

#include "frontend/graph/grid.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/patterns.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

/// An integer that follows from a rank's number, for that rank.
class OfRank {
 public:
  OfRank(const Function& function, const Producers& producers, std::int64_t replica, std::int64_t partition)
      : function_{function}, producers_{producers}, replica_{replica}, partition_{partition} {}

  std::optional<std::int64_t> of(ValueId value, int depth = 0) const {
    constexpr int kDeepest = 12;
    const Node* node = producers_.of(value);
    if (!node || depth > kDeepest) return {};
    const std::string_view op = node->op->name;
    if (op == "partition_id") return partition_;
    if (op == "replica_id") return replica_;
    if (op == "constant") return element_count(function_.type(value).dims) == 1 ? element(*node, 0) : std::nullopt;
    if (op == "reshape" || op == "convert" || op == "copy") return of(node->operands[0], depth + 1);
    if (op == "dynamic_slice") return entry(*node, depth);
    if (op != "multiply" && op != "add" && op != "subtract") return {};
    const auto a = of(node->operands[0], depth + 1), b = of(node->operands[1], depth + 1);
    if (!a || !b) return {};
    return op == "multiply" ? *a * *b : op == "add" ? *a + *b : *a - *b;
  }

 private:
  static std::optional<std::int64_t> element(const Node& constant, std::int64_t i) {
    const LiteralPtr literal = constant.attributes.literal("value");
    if (!literal || !is_integer(literal->type.element)) return {};
    if (i < 0 || i >= literal->count()) return {};
    return wrap_to(literal->type.element, static_cast<std::int64_t>(literal->bits(i)));
  }

  /// One element of a table with one dimension.
  std::optional<std::int64_t> entry(const Node& slice, int depth) const {
    const Node* table = producers_.of(slice.operands[0]);
    if (!table || table->op->name != "constant" || slice.operands.size() != 2) return {};
    if (slice.attributes.ints("slice_sizes") != Ints{1}) return {};
    const auto at = of(slice.operands[1], depth + 1);
    return at ? element(*table, *at) : std::nullopt;
  }

  const Function& function_;
  const Producers& producers_;
  std::int64_t replica_, partition_;
};

/// Ranks that add up, in their order: those of the attribute, or all.
std::vector<std::vector<std::int64_t>> groups_of(const Module& module, const Node& sum) {
  std::vector<std::vector<std::int64_t>> out;
  const IntTable table = process_groups(module, sum);
  for (std::int64_t r = 0; r < table.rows(); ++r) {
    out.emplace_back();
    for (std::int64_t c = 0; c < table.columns; ++c)
      if (table.at(r, c) >= 0) out.back().push_back(table.at(r, c));
  }
  return out;
}

/// The one dimension that a slice shortens.
std::optional<std::size_t> cut_dimension(const Dims& whole, const Dims& part) {
  std::optional<std::size_t> out;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] == part[d]) continue;
    if (out) return {};
    out = d;
  }
  return out;
}

/// The dimension along which each rank takes its part.
std::optional<std::size_t> own_parts(const Module& module, const Function& function, const Producers& producers,
                                     const Node& sum, const Node& slice) {
  const Dims &whole = function.type(slice.operands[0]).dims, &part = function.type(slice.result()).dims;
  const auto d = cut_dimension(whole, part);
  if (!d) return {};
  const std::int64_t partitions = std::max<std::int64_t>(module.partitions, 1);
  for (const std::vector<std::int64_t>& group : groups_of(module, sum)) {
    if (part[*d] * static_cast<std::int64_t>(group.size()) != whole[*d]) return {};
    for (std::size_t place = 0; place < group.size(); ++place)
      if (OfRank{function, producers, group[place] / partitions, group[place] % partitions}.of(
              slice.operands[1 + *d]) != static_cast<std::int64_t>(place) * part[*d])
        return {};
  }
  return d;
}

}  // namespace

std::size_t scattered_sums(Module& module, Function& function) {
  const Producers producers{function};
  std::map<ValueId, int> readers;
  for (const Node& node : function.nodes) {
    for (const ValueId v : node.operands) ++readers[v];
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) ++readers[v];
  }
  for (const ValueId v : function.results) ++readers[v];
  std::size_t count = 0;
  std::vector<ValueId> gone;
  for (Node& node : function.nodes) {
    if (node.op->name != "dynamic_slice") continue;
    const Node* sum = producers.of(node.operands[0]);
    if (!sum || sum->op->name != "all_reduce" || sum->results != 1 || readers[sum->result()] != 1) continue;
    if (!is_region_of(module, *sum, "add")) continue;
    const auto d = own_parts(module, function, producers, *sum, node);
    if (!d) continue;
    Node made = *sum;
    made.op = &operator_named("reduce_scatter");
    made.attributes.set("scatter_dimension", static_cast<std::int64_t>(*d));
    made.first_result = node.first_result;
    gone.push_back(sum->result());
    node = std::move(made);
    ++count;
  }
  std::erase_if(function.nodes, [&](const Node& node) {
    return node.op->name == "all_reduce" && std::ranges::find(gone, node.result()) != gone.end();
  });
  return count;
}

}  // namespace trnsim::frontend::rewrite
