#include "runtime/graph/passes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/graph/op.h"

namespace runtime {

Passes parse_passes(std::string_view text, const std::vector<std::string>& others) {
  Passes passes;
  std::vector<std::string> names = others;
  for (const PassInfo& info : kPasses) names.emplace_back(info.name);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const bool switched = item.starts_with('+') || item.starts_with('-');
    const std::string_view name = switched ? item.substr(1) : item;
    const PassInfo* found = nullptr;
    for (const PassInfo& info : kPasses)
      if (info.name == name) found = &info;
    if (!found || !switched)
      throw base::Error{
          base::Fault::kUsage, "`passes`",
          fmt::format("'{}' {}", item, found ? "switches no pass on or off" : "is not the name of a pass"),
          found ? fmt::format("write +{} or -{}", name, name) : base::suggest_fix(name, names)};
    passes.*(found->flag) = item[0] == '+';
  }
  return passes;
}

namespace {

/// Whether a node writes to the value's memory.
bool is_written(const Graph& graph, ValueId v) {
  for (const NodeId n : graph.users(v))
    for (const ValueId out : graph.node(n).out)
      if (graph.value(out).alias == v && (!graph.node(n).op->looks_on || is_written(graph, out))) return true;
  return false;
}

}  // namespace

std::size_t eliminate_common_subexpressions(Graph& graph) {
  std::size_t removed = 0;
  std::vector<std::vector<NodeId>> by_scope(graph.scopes().size());
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!node.op || node.op->reaches_out) continue;
    bool same = false;
    for (const NodeId m : by_scope[node.scope]) {
      const Node& other = graph.node(m);
      if (other.op != node.op || other.in != node.in || !(other.attrs == node.attrs)) continue;
      bool plain = true;  // values that the host sees or that are updated in place stay
      for (const ValueId v : node.out)
        plain = plain && graph.value(v).kind == Kind::kActivation && graph.value(v).alias == kNoValue;
      for (const std::vector<ValueId>* out : {&node.out, &other.out})
        for (const ValueId v : *out) plain = plain && !is_written(graph, v);
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

namespace {

/// Whether node `m` may need a result of one of `readers`, which read node `n`: nodes keep an order in which they run.
bool may_follow(const Graph& graph, NodeId m, NodeId n, const std::vector<NodeId>& readers) {
  return std::ranges::any_of(readers, [&](NodeId reader) { return reader < m; }) &&
         std::ranges::any_of(graph.node(m).in, [&](ValueId v) {
           const NodeId from = graph.value(v).producer;
           return from != kNoNode && from > n;
         });
}

}  // namespace

std::size_t join_bias_gradients(Graph& graph) {
  std::size_t joined = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& sum = graph.node(n);
    if (!sum.op || !sum.op->row_sums) continue;
    for (const NodeId m : graph.users(sum.in[0])) {
      Node& product = graph.node(m);
      const bool in_time = !may_follow(graph, m, n, graph.users(sum.out[0]));
      const bool fits = in_time && product.op && product.op->absorb_row_sums && product.scope == sum.scope &&
                        graph.value(product.out[0]).dtype == graph.value(sum.out[0]).dtype;
      if (!fits || !product.op->absorb_row_sums(product, sum.in[0])) continue;
      graph.adopt(m, sum.out[0]);
      ++joined;
      break;
    }
  }
  return joined;
}

namespace {

bool is_dual_alu(isa::Alu alu) {
  return alu == isa::Alu::kAdd || alu == isa::Alu::kSub || alu == isa::Alu::kMul || alu == isa::Alu::kMax ||
         alu == isa::Alu::kMin;
}

/// An operation on a matrix and, as its second operand, on a value of `rows` rows, in fp32: between two of them nothing
/// is rounded that one instruction would not round.
bool is_pair(const Graph& graph, const Node& node) {
  if (!node.op || node.in.size() != 2 || !std::holds_alternative<ElementAttrs>(node.attrs.held())) return false;
  const auto& a = node.attrs.as<ElementAttrs>();
  const Value& out = graph.value(node.out[0]);
  return a.form == ElementForm::kPair && is_dual_alu(a.alu) && out.dtype == Dtype::kFp32 && out.cols > 1 &&
         graph.value(node.in[0]).rows == out.rows && graph.value(node.in[0]).cols == out.cols;
}

bool is_column(const Graph& graph, ValueId v, std::int64_t rows) {
  const Value& value = graph.value(v);
  return value.cols == 1 && value.rows == rows && value.dtype == Dtype::kFp32;
}

/// Whether the value can be read later than it is: nothing overwrites its memory.
bool lasts(const Graph& graph, ValueId v) { return !is_written(graph, graph.root(v)); }

}  // namespace

std::size_t join_dual_operations(Graph& graph) {
  std::size_t joined = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (!is_pair(graph, graph.node(n))) continue;
    const ValueId between = graph.node(n).in[0], other = graph.node(n).in[1];
    const Value& value = graph.value(between);
    if (value.producer == kNoNode || value.kind != Kind::kActivation || graph.users(between).size() != 1) continue;
    const Node first = graph.node(value.producer);
    if (!is_pair(graph, first) || first.scope != graph.node(n).scope || other == between) continue;
    const Value& second = graph.value(other);
    const bool fits = second.rows == value.rows && (second.cols == 1 || second.cols == value.cols);
    if (!fits || !is_column(graph, first.in[1], value.rows) || !lasts(graph, first.in[0]) || !lasts(graph, first.in[1]))
      continue;
    if (second.cols == 1 && !is_column(graph, other, value.rows)) continue;
    ElementAttrs attrs = graph.node(n).attrs.as<ElementAttrs>();
    attrs.then = attrs.alu, attrs.alu = first.attrs.as<ElementAttrs>().alu, attrs.form = ElementForm::kDual;
    graph.node(n).attrs = attrs;
    const NodeId gone = value.producer;
    graph.replace(between, first.in[0]);
    graph.append_operand(n, first.in[1]);
    graph.remove(gone);
    ++joined;
  }
  return joined;
}

namespace {

/// The node that computed the same before `again`, which repeats it for a backward: a user of the same operands.
NodeId first_of(const Graph& graph, NodeId again) {
  const Node& node = graph.node(again);
  NodeId first = again;
  for (const NodeId n : graph.users(node.in[0])) {
    const Node& other = graph.node(n);
    if (n < first && other.op == node.op && other.in == node.in && other.attrs == node.attrs) first = n;
  }
  return first;
}

/// A node that was recomputed for its probabilities alone is not: the backward pass recomputes them itself.
void use_first(Graph& graph, NodeId n) {
  const NodeId first = first_of(graph, n);
  if (first == n) return;
  for (std::size_t o = 0; o < graph.node(n).out.size(); ++o)
    graph.replace(graph.node(n).out[o], graph.node(first).out[o]);
}

/// Calls `rewrite` for each node that is left. Returns how many it changed.
template <class Rewrite>
std::size_t rewrite_nodes(Graph& graph, const Rewrite& rewrite) {
  std::size_t count = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Op* op = graph.node(n).op;
    if (!op || !rewrite(*op, n)) continue;
    ++count;
    use_first(graph, n);
  }
  return count;
}

}  // namespace

std::size_t use_flash_attention(Graph& graph) {
  return rewrite_nodes(graph, [&](const Op& op, NodeId n) { return op.use_flash && op.use_flash(graph, n); });
}

std::size_t tile_long_rows(Graph& graph, const isa::Geometry& geometry) {
  return rewrite_nodes(
      graph, [&](const Op& op, NodeId n) { return op.tile_long_rows && op.tile_long_rows(graph, n, geometry); });
}

namespace {

/// The type in which `node` uses operand i: its own, or that of TensorE when nothing else looks at it.
Dtype used_as(const Graph& graph, const Node& node, std::size_t i) {
  const Value& value = graph.value(node.in[i]);
  // DMA converts a constant's pieces on their way to TensorE: it may as well be stored so.
  const bool loaded = value.constant && node.op->row_product && i == 1;
  return loaded || node.op->tensor_operands.contains(i) ? node.attrs.operand().value_or(value.dtype) : value.dtype;
}

/// The type in which all users use the value, if it is one and narrower.
std::optional<Dtype> narrower(const Graph& graph, ValueId v) {
  const Value& value = graph.value(v);
  std::optional<Dtype> type;
  for (const NodeId u : graph.users(v))
    for (std::size_t i = 0; i < graph.node(u).in.size(); ++i) {
      if (graph.node(u).in[i] != v) continue;
      const Dtype use = used_as(graph, graph.node(u), i);
      if (type && *type != use) return {};
      type = use;
    }
  if (!type || isa::size_of(*type) >= isa::size_of(value.dtype)) return {};
  return type;
}

}  // namespace

std::size_t narrow_operands(Graph& graph) {
  std::size_t narrowed = 0;
  const auto narrow = [&](ValueId v) {
    const std::optional<Dtype> type = narrower(graph, v);
    if (!type) return;
    graph.set_dtype(v, *type);
    ++narrowed;
  };
  for (ValueId v = 0; v < graph.value_count(); ++v)
    if (graph.value(v).constant && graph.value(v).producer == kNoNode) narrow(v);
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    // A received value has the type in which the other rank sends it.
    const Op* op = graph.node(n).op;
    if (!op || op->reaches_out || op->collective != Collective::kNone) continue;
    for (const ValueId v : graph.node(n).out) {
      const Value& value = graph.value(v);
      if (value.kind == Kind::kActivation && value.alias == kNoValue) narrow(v);
    }
  }
  return narrowed;
}

}  // namespace runtime
