#include "frontend/graph/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/error.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {
namespace {

constexpr std::int64_t kMost = 1 << 20;  // processes: each has an entry in tables of them all

/// Parts that a collective without groups makes one of, or one into, along a dimension; 1: its types do not show it.
std::int64_t parts_of(const Function& function, const Node& node) {
  const bool gathers = node.op->name == "all_gather";
  if ((!gathers && node.op->name != "reduce_scatter") || node.operands.empty() || node.results == 0) return 1;
  const Type &in = function.values[node.operands[0]], &out = function.values[node.result(0)];
  const auto d = static_cast<std::size_t>(node.attributes.integer(gathers ? "all_gather_dim" : "scatter_dimension"));
  if (d >= in.dims.size() || d >= out.dims.size()) return 1;
  const auto [few, many] = std::minmax(in.dims[d], out.dims[d]);
  return few > 0 ? many / few : 1;
}

/// Whether a channel makes the numbers of its groups those of partitions.
bool is_pairwise(const Node& node) {
  constexpr std::array<std::string_view, 4> kOps = {"collective_permute", "collective_broadcast", "collective_reduce",
                                                    "all_to_all"};
  return std::ranges::find(kOps, node.op->name) != kOps.end();
}

void count_processes(Module& module) {
  std::int64_t replicas = 1, partitions = 1, devices = 1;  // devices: numbers that mean either
  bool asks_replica = false, asks_partition = false;
  for (const Function& function : module.functions)
    for (const Node& node : function.nodes) {
      asks_replica = asks_replica || node.op->name == "replica_id";
      asks_partition = asks_partition || node.op->name == "partition_id";
      if (node.op->group != Group::kCollective) continue;
      const bool permutes = node.op->name == "collective_permute", channel = node.attributes.integer("channel_id") > 0;
      const IntTable table = node.attributes.table(permutes ? "source_target_pairs" : "replica_groups");
      std::int64_t& count = channel && is_pairwise(node)                               ? partitions
                            : channel && node.attributes.flag("use_global_device_ids") ? devices
                                                                                       : replicas;
      count = std::max(count, table.values.empty() ? parts_of(function, node)
                                                   : std::min(*std::ranges::max_element(table.values), kMost) + 1);
    }
  const bool divided = partitions > replicas || (partitions == replicas && asks_partition && !asks_replica);
  std::int64_t& either = divided ? partitions : replicas;
  either = std::max(either, devices);
  module.replicas = replicas;
  module.partitions = replicas > 1 ? 1 : partitions;
}

/// Whose numbers the groups have, and the processes that one of them is, beside which other ones.
struct Numbers {
  std::int64_t count = 1, step = 1;   // how many there are, and how far apart their processes are
  std::int64_t beside = 1, next = 1;  // the other half of the grid
  bool together = false;              // whether all of the other half is in one group
};

Numbers numbers_of(const Module& module, const Node& node) {
  const std::int64_t replicas = std::max<std::int64_t>(module.replicas, 1),
                     partitions = std::max<std::int64_t>(module.partitions, 1);
  const bool channel = node.attributes.integer("channel_id") > 0;
  if (channel && !is_pairwise(node) && node.attributes.flag("use_global_device_ids"))
    return {.count = replicas * partitions};
  if (channel && is_pairwise(node)) return {.count = partitions, .beside = replicas, .next = partitions};
  return {.count = replicas, .step = partitions, .beside = partitions, .together = channel};
}

}  // namespace

IntTable process_groups(const Module& module, const Node& node) {
  const Numbers n = numbers_of(module, node);
  IntTable table = node.attributes.table("replica_groups");
  if (table.values.empty()) {
    table = {.columns = n.count, .values = Ints(static_cast<std::size_t>(n.count))};
    std::iota(table.values.begin(), table.values.end(), 0);
  }
  if (*std::ranges::max_element(table.values) >= n.count) return table;
  IntTable out{.columns = n.together ? table.columns * n.beside : table.columns, .values = {}};
  const auto fill = [&out] {
    while (static_cast<std::int64_t>(out.values.size()) % out.columns != 0) out.values.push_back(-1);
  };
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::int64_t other = 0; other < n.beside; ++other) {
      for (std::int64_t column = 0; column < table.columns; ++column)
        if (table.at(row, column) >= 0) out.values.push_back(table.at(row, column) * n.step + other * n.next);
      if (!n.together) fill();
    }
    fill();
  }
  return out;
}

void settle_grid(Module& module) {
  if (module.replicas <= 1 && module.partitions <= 1) count_processes(module);
  if (module.replicas > kMost || module.partitions > kMost / std::max<std::int64_t>(module.replicas, 1))
    throw base::Error{base::Fault::kProgram, module.file,
                      fmt::format("is for {} replicas of {} partitions", module.replicas, module.partitions),
                      fmt::format("use at most {} processes", kMost)};
}

}  // namespace trnsim::frontend
