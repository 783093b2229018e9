#include "frontend/graph/grid.h"

#include <fmt/format.h>

#include <algorithm>
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

void count_processes(Module& module) {
  std::int64_t replicas = 1, partitions = 1, devices = 1;  // devices: numbers that mean either
  for (const Function& function : module.functions)
    for (const Node& node : function.nodes) {
      if (node.op->group != Group::kCollective) continue;
      const bool permutes = node.op->name == "collective_permute", channel = node.attributes.integer("channel_id") > 0;
      const bool pairwise = permutes || node.op->name == "collective_broadcast" || node.op->name == "all_to_all";
      const IntTable table = node.attributes.table(permutes ? "source_target_pairs" : "replica_groups");
      std::int64_t& count = channel && pairwise                                        ? partitions
                            : channel && node.attributes.flag("use_global_device_ids") ? devices
                                                                                       : replicas;
      count = std::max(count, table.values.empty() ? parts_of(function, node)
                                                   : std::min(*std::ranges::max_element(table.values), kMost) + 1);
    }
  std::int64_t& either = partitions > replicas ? partitions : replicas;
  either = std::max(either, devices);
  module.replicas = replicas;
  module.partitions = replicas > 1 ? 1 : partitions;
}

}  // namespace

void settle_grid(Module& module) {
  if (module.replicas <= 1 && module.partitions <= 1) count_processes(module);
  if (module.replicas > kMost || module.partitions > kMost / std::max<std::int64_t>(module.replicas, 1))
    throw base::Error{base::Fault::kProgram, module.file,
                      fmt::format("is for {} replicas of {} partitions", module.replicas, module.partitions),
                      fmt::format("use {} processes at most", kMost)};
}

}  // namespace trnsim::frontend
