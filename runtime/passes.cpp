#include "runtime/passes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/ops.h"

namespace runtime {

Passes parse_passes(std::string_view text) {
  Passes passes;
  std::vector<std::string> names;
  for (const PassInfo& info : kPasses) names.emplace_back(info.name);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::string_view name = item.empty() ? item : item.substr(1);
    const PassInfo* found = nullptr;
    for (const PassInfo& info : kPasses)
      if (info.name == name) found = &info;
    if (!found || (item[0] != '+' && item[0] != '-'))
      throw base::Error{base::Fault::kUsage, "--passes", fmt::format("'{}' names no pass", item),
                        found ? fmt::format("write +{} or -{}", name, name)
                              : base::suggest_fix(name, names)};
    passes.*(found->flag) = item[0] == '+';
  }
  return passes;
}

std::size_t eliminate_common_subexpressions(Graph& graph) {
  std::size_t removed = 0;
  std::vector<std::vector<NodeId>> by_scope(graph.scopes().size());
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!node.op) continue;
    bool same = false;
    for (const NodeId m : by_scope[node.scope]) {
      const Node& other = graph.node(m);
      if (other.op != node.op || other.in != node.in || !(other.attrs == node.attrs)) continue;
      bool plain = true;  // what the host sees, or what is updated in place, stays
      for (const ValueId v : node.out)
        plain = plain && graph.value(v).kind == Kind::kActivation && graph.value(v).alias == kNoValue;
      if (!plain) continue;
      for (std::size_t o = 0; o < node.out.size(); ++o) graph.replace(node.out[o], other.out[o]);
      same = true;
      break;
    }
    if (same) {
      graph.remove(n);
      ++removed;
    } else {
      by_scope[node.scope].push_back(n);
    }
  }
  return removed;
}

std::size_t join_bias_gradients(Graph& graph) {
  std::size_t joined = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& sum = graph.node(n);
    if (sum.op != &kColSum) continue;
    for (const NodeId m : graph.users(sum.in[0])) {
      Node& product = graph.node(m);
      const bool fits = product.op == &kMatmulTn && product.in[1] == sum.in[0] && product.attrs.rows == 0 &&
                        product.scope == sum.scope &&
                        graph.value(product.out[0]).dtype == graph.value(sum.out[0]).dtype;
      if (!fits) continue;
      product.attrs.rows = 1;
      graph.adopt(m, sum.out[0]);
      ++joined;
      break;
    }
  }
  return joined;
}

}  // namespace runtime
