// Sums by index that are added to something: they are summed up there. A table that is a head too, or is read twice,
// has such a gradient.
#include <algorithm>
#include <map>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

/// Whether a node adds rows up, from zeros on.
bool sums_from_zero(const Module& module, const Function& function, const Producers& producers, const Node& node) {
  return node.op->name == "scatter" && node.results == 1 && node.operands.size() == 3 &&
         is_region_of(module, node, "add") && number_of(function, producers, node.operands[0]) == 0.0;
}

}  // namespace

std::size_t row_sums(Module& module, Function& function) {
  const Producers producers{function};
  std::vector<std::size_t> reads(function.values.size());
  for (const Node& node : function.nodes) {
    for (const ValueId v : node.operands) ++reads[v];
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) ++reads[v];
  }
  for (const ValueId v : function.results) ++reads[v];
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  const auto latest = [&](ValueId v) { return replaced.contains(v) ? replaced.at(v) : v; };
  for (const Node& node : function.nodes) {
    if (node.op->name != "add") continue;
    for (const std::size_t side : {1U, 0U}) {
      const Node* sum = producers.of(node.operands[side]);
      if (!sum || reads[sum->result()] != 1 || !sums_from_zero(module, function, producers, *sum)) continue;
      Node out = *sum;
      out.operands = {latest(node.operands[1 - side]), latest(sum->operands[1]), latest(sum->operands[2])};
      out.first_result = static_cast<ValueId>(function.values.size());
      replaced[node.result()] = out.result();
      made.push_back(std::move(out));
      break;
    }
    if (const auto found = replaced.find(node.result()); found != replaced.end())
      function.values.push_back(function.type(node.result()));
  }
  if (!made.empty()) replace_by(function, made, replaced);
  return made.size();
}

}  // namespace trnsim::frontend::rewrite
