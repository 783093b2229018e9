// A padded value, and beside it a padded truth that picks it: PyTorch's gradient of a slice. The padding has the number
// that is picked elsewhere, so the value is the result.
#include <map>
#include <optional>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/patterns.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

const Node* pad_behind(const Producers& producers, ValueId value) {
  const Node* node = producers.of(value);
  return node && node->op->name == "pad" ? node : nullptr;
}

/// The truth that all elements of a constant are.
std::optional<bool> truth_of(const Function& function, const Producers& producers, ValueId value) {
  const Node* node = producers.of(value);
  while (node && node->op->name == "broadcast_in_dim") node = producers.of(node->operands[0]);
  if (!node || node->op->name != "constant" || !is_bool(function.type(node->result()).element)) return {};
  const LiteralPtr literal = node->attributes.literal("value");
  if (!literal || (!literal->splat && literal->count() != 1)) return {};
  return literal->bits(0) != 0;
}

bool same_places(const Node& a, const Node& b) {
  for (const char* name : {"edge_padding_low", "edge_padding_high", "interior_padding"})
    if (a.attributes.ints(name) != b.attributes.ints(name)) return false;
  return true;
}

}  // namespace

std::size_t paddings(Module&, Function& function) {
  const Producers producers{function};
  std::map<ValueId, ValueId> replaced;
  for (const Node& node : function.nodes) {
    if (node.op->name != "select") continue;
    const Node *truth = pad_behind(producers, node.operands[0]), *value = pad_behind(producers, node.operands[1]);
    if (!truth || !value || !same_places(*truth, *value)) continue;
    const auto inside = truth_of(function, producers, truth->operands[0]),
               outside = truth_of(function, producers, truth->operands[1]);
    const auto padding = number_of(function, producers, value->operands[1]),
               elsewhere = number_of(function, producers, node.operands[2]);
    if (inside == true && outside == false && padding && padding == elsewhere)
      replaced.emplace(node.result(), node.operands[1]);
  }
  replace_reads(function, replaced);
  return replaced.size();
}

}  // namespace trnsim::frontend::rewrite
