#include "frontend/rewrite/patterns.h"

#include <algorithm>

#include "base/error.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {

bool is_followed(const Node& node, bool by_rows) {
  if (is_analytic(node)) return true;
  const std::string_view op = node.op->name;
  if (op == "convert") return true;
  return by_rows && (op == "reduce" || op == "broadcast_in_dim" || op == "reshape" || op == "copy");
}

std::vector<ValueId> origins(const Function& function, const Producers& producers, ValueId value, std::size_t most,
                             bool by_rows, std::optional<ValueId> until) {
  std::vector<ValueId> out{value};
  for (std::size_t i = 0; i < out.size() && out.size() < most; ++i) {
    const Node* node = out[i] == until ? nullptr : producers.of(out[i]);
    if (!node || !is_followed(*node, by_rows) || number_of(function, producers, out[i])) continue;
    for (const ValueId operand : node->operands)
      if (std::ranges::find(out, operand) == out.end()) out.push_back(operand);
  }
  return out;
}

bool depends_on(const Function& function, const Producers& producers, ValueId value, ValueId variable, bool by_rows,
                std::size_t most) {
  const std::vector<ValueId> all = origins(function, producers, value, most, by_rows);
  return std::ranges::find(all, variable) != all.end();
}

std::size_t others_behind(const Function& function, const Producers& producers, ValueId value, ValueId variable,
                          bool by_rows, std::size_t most) {
  constexpr std::size_t kMostValues = 64;
  std::vector<ValueId> all{value};
  std::size_t others = 0;
  for (std::size_t i = 0; i < all.size() && others < most; ++i) {
    if (all.size() > kMostValues) return most;
    if (all[i] == variable || number_of(function, producers, all[i])) continue;
    const Node* node = producers.of(all[i]);
    const bool stops = !node || !is_followed(*node, by_rows) ||
                       (!by_rows && !depends_on(function, producers, all[i], variable, by_rows, kMostValues));
    if (stops) {
      ++others;
      continue;
    }
    for (const ValueId operand : node->operands)
      if (std::ranges::find(all, operand) == all.end()) all.push_back(operand);
  }
  return others;
}

Node custom_call(Function& function, const std::string& target, std::vector<ValueId> operands,
                 const std::vector<Type>& results) {
  Node out;
  out.op = &operator_named("custom_call");
  out.operands = std::move(operands);
  out.attributes.set("call_target_name", target);
  out.attributes.set("has_side_effect", false);
  out.first_result = static_cast<ValueId>(function.values.size());
  out.results = static_cast<std::uint32_t>(results.size());
  function.values.insert(function.values.end(), results.begin(), results.end());
  return out;
}

Node plain_node(Function& function, std::string_view op, std::vector<ValueId> operands, const Type& result) {
  Node out;
  out.op = &operator_named(op);
  out.operands = std::move(operands);
  out.first_result = static_cast<ValueId>(function.values.size());
  out.results = 1;
  function.values.push_back(result);
  return out;
}

namespace {

/// The values that a node reads, itself and by its regions.
std::vector<ValueId> reads(const Node& node) {
  std::vector<ValueId> out = node.operands;
  for (const Region& region : node.regions) out.insert(out.end(), region.captures.begin(), region.captures.end());
  return out;
}

}  // namespace

bool is_region_of(const Module& module, const Node& node, std::string_view op) {
  if (node.regions.size() != 1 || !node.regions.front().captures.empty()) return false;
  const Function& region = module.functions[node.regions.front().function];
  if (region.parameters != 2 || region.nodes.size() != 1 || region.results.size() != 1) return false;
  const Node& only = region.nodes.front();
  return only.op->name == op && only.operands[0] + only.operands[1] == 1 && region.results[0] == only.result();
}

bool is_removable(const Node& node) {
  const std::string_view op = node.op->name;
  if (op == "partition_id" || op == "replica_id" || op == "dot_general") return true;
  switch (node.op->group) {
    case Group::kElementwise:
    case Group::kConversion:
    case Group::kCreation:
    case Group::kIndexed:
    case Group::kMovement:
    case Group::kReduction: return true;
    default: return false;
  }
}

ValueId formed(Function& function, ValueId value, const Type& type, std::vector<Node>& made) {
  if (function.type(value).dims != type.dims) {
    made.push_back(plain_node(function, "reshape", {value}, tensor_type(function.type(value).element, type.dims)));
    value = made.back().result();
  }
  if (function.type(value).element == type.element) return value;
  made.push_back(plain_node(function, "convert", {value}, type));
  return made.back().result();
}

void put_in_order(Function& function) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> maker(function.values.size(), kNone);
  for (std::size_t n = 0; n < function.nodes.size(); ++n)
    for (std::uint32_t i = 0; i < function.nodes[n].results; ++i) maker[function.nodes[n].result(i)] = n;
  std::vector<bool> placed(function.nodes.size());
  std::vector<std::size_t> order, stack;
  std::size_t most = function.nodes.size();  // nodes that wait for others, if none waits for itself
  for (const Node& node : function.nodes) most += reads(node).size();
  for (std::size_t n = function.nodes.size(); n-- > 0;) stack.push_back(n);
  while (!stack.empty()) {
    base::ensure(stack.size() <= most, "a rewrite", "a value depends on itself");
    const std::size_t n = stack.back();
    std::vector<std::size_t> first;
    if (!placed[n])
      for (const ValueId v : reads(function.nodes[n]))
        if (maker[v] != kNone && !placed[maker[v]]) first.push_back(maker[v]);
    stack.insert(stack.end(), first.begin(), first.end());
    if (!first.empty()) continue;
    stack.pop_back();
    if (!placed[n]) order.push_back(n);
    placed[n] = true;
  }
  std::vector<Node> nodes;
  for (const std::size_t n : order) nodes.push_back(std::move(function.nodes[n]));
  function.nodes = std::move(nodes);
}

void remove_unread(Function& function) {
  std::vector<bool> read(function.values.size());
  for (const ValueId v : function.results) read[v] = true;
  std::vector<Node> kept;
  for (std::size_t n = function.nodes.size(); n-- > 0;) {
    Node& node = function.nodes[n];
    bool needed = !is_removable(node);
    for (std::uint32_t i = 0; i < node.results; ++i) needed = needed || read[node.result(i)];
    if (!needed) continue;
    for (const ValueId v : reads(node)) read[v] = true;
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  function.nodes = std::move(kept);
}

void replace_reads(Function& function, const std::map<ValueId, ValueId>& by) {
  const auto change = [&](ValueId& v) {
    if (const auto found = by.find(v); found != by.end()) v = found->second;
  };
  for (Node& node : function.nodes) {
    std::ranges::for_each(node.operands, change);
    for (Region& region : node.regions) std::ranges::for_each(region.captures, change);
  }
  std::ranges::for_each(function.results, change);
}

void replace_by(Function& function, const std::vector<Node>& made, const std::map<ValueId, ValueId>& by) {
  function.nodes.insert(function.nodes.end(), made.begin(), made.end());
  replace_reads(function, by);
  put_in_order(function);
}

}  // namespace trnsim::frontend::rewrite
