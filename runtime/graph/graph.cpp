#include "runtime/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "isa/names.h"
#include "runtime/graph/op.h"

namespace runtime {

using base::Error;
using base::Fault;

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 7> kNames{"activations", "weights", "optimizer", "gradients",
                                                   "inputs",      "outputs", "cache"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Contract::need(std::size_t i, std::int64_t rows, std::int64_t cols, std::string_view what) const {
  if (i < inputs() && in(i).rows == rows && in(i).cols == cols) return;
  const std::string is = i < inputs() ? fmt::format("is [{}, {}]", in(i).rows, in(i).cols) : "is missing";
  throw Error{Fault::kProgram, fmt::format("{} {}: {}", node.op->name, node.label, what),
              fmt::format("{} but must be [{}, {}]", is, rows, cols), "correct the model builder"};
}

void Contract::fail(std::string_view what, std::string_view fix) const {
  throw Error{Fault::kProgram, fmt::format("{} {}", node.op->name, node.label), std::string{what}, std::string{fix}};
}

void require_shape(std::string_view where, const Tensor& t, std::int64_t rows, std::int64_t cols) {
  if (t.rows == rows && t.cols == cols) return;
  throw Error{Fault::kProgram, where, fmt::format("is [{}, {}] but must be [{}, {}]", t.rows, t.cols, rows, cols),
              "correct the tensor's shape"};
}

std::string_view form_of(const Op& op) {
  if (op.lower_columns) return "elements";
  return op.lower_whole ? "whole" : "rows";
}

Dtype operand_type(const Graph& graph, const Node& node) {
  return node.attrs.operand().value_or(graph.value(node.in[0]).dtype);
}

ValueId Graph::tensor(std::string name, std::int64_t rows, std::int64_t cols, Dtype dtype, Kind kind) {
  if (rows < 1 || cols < 1)
    throw Error{Fault::kProgram, "tensor " + name, fmt::format("is [{}, {}]", rows, cols),
                "give it a size of 1 or more"};
  if (find(name) != kNoValue) throw Error{Fault::kProgram, "tensor " + name, "exists already", "choose another name"};
  add_value({.name = std::move(name), .rows = rows, .cols = cols, .dtype = dtype, .kind = kind});
  return static_cast<ValueId>(values_.size() - 1);
}

std::vector<ValueId> Graph::add(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs) {
  if (attrs.empty()) attrs = op.attrs;
  if (!attrs.same_type(op.attrs))
    base::ensure(false, label, fmt::format("has attributes that {} does not take", op.name));
  const NodeId id = nodes_.size();
  nodes_.push_back({.op = &op,
                    .attrs = std::move(attrs),
                    .in = std::move(in),
                    .out = {},
                    .scope = scope_,
                    .label = std::move(label)});
  Node& node = nodes_.back();
  const std::vector<Shape> shapes = op.infer({*this, node});
  for (const ValueId v : node.in) add_user(v, id);
  for (const Shape& shape : shapes) append_result(id, shape);
  return node.out;
}

ValueId Graph::append_result(NodeId id, const Shape& shape) {
  Node& node = nodes_[id];
  const bool in_place = shape.alias != kNoValue;
  const auto value = static_cast<ValueId>(values_.size());
  add_value({.name = node.label + "." + std::to_string(id) + "." + std::to_string(node.out.size()),
             .rows = shape.rows,
             .cols = shape.cols,
             .dtype = shape.dtype,
             .kind = in_place ? values_[shape.alias].kind : Kind::kActivation,
             .producer = id,
             .alias = shape.alias,
             .first = shape.first});
  node.out.push_back(value);
  return value;
}

ValueId Graph::add1(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs) {
  const auto out = add(op, std::move(label), std::move(in), std::move(attrs));
  base::ensure(out.size() == 1, op.name, "has more than one result");
  return out.front();
}

void Graph::enter(Scope scope) {
  std::vector<std::uint32_t>& like_it = by_instance_[scope.instance];
  const auto found = std::ranges::find_if(like_it, [&](std::uint32_t s) { return scopes_[s] == scope; });
  if (found != like_it.end()) {
    scope_ = *found;
    return;
  }
  scope_ = static_cast<std::uint32_t>(scopes_.size());
  like_it.push_back(scope_);
  scopes_.push_back(std::move(scope));
}

void Graph::output(ValueId value, std::string name) {
  values_[value].kind = Kind::kOutput;
  rename(value, std::move(name));
}

void Graph::rename(ValueId value, std::string name) {
  Value& v = values_[value];
  if (v.producer == kNoNode) {
    outside_.erase(v.name);
    outside_.emplace(name, value);
  }
  v.name = std::move(name);
}

ValueId Graph::root(ValueId id) const {
  while (values_[id].alias != kNoValue) id = values_[id].alias;
  return id;
}

ValueId Graph::base(ValueId id) const {
  while (values_[id].alias != kNoValue && values_[id].first == 0) id = values_[id].alias;
  return id;
}

std::vector<ValueId> Graph::at_base(ValueId id) const {
  std::vector<ValueId> out{id};
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const auto found = lodgers_.find(out[i]); found != lodgers_.end())
      std::ranges::copy_if(found->second, std::back_inserter(out), [&](ValueId v) { return values_[v].first == 0; });
  return out;
}

void Graph::set_alias(ValueId value, ValueId into) {
  if (const ValueId before = values_[value].alias; before != kNoValue) std::erase(lodgers_[before], value);
  values_[value].alias = into;
  if (into != kNoValue) lodgers_[into].push_back(value);
}

std::uint64_t Graph::begin(ValueId id) const {
  std::uint64_t bytes = 0;
  for (; values_[id].alias != kNoValue; id = values_[id].alias)
    bytes += static_cast<std::uint64_t>(values_[id].first * isa::size_of(values_[values_[id].alias].dtype));
  return bytes;
}

void Graph::add_value(Value value) {
  const auto id = static_cast<ValueId>(values_.size());
  if (value.producer == kNoNode) outside_.emplace(value.name, id);
  if (value.alias != kNoValue) lodgers_[value.alias].push_back(id);
  values_.push_back(std::move(value));
  users_.emplace_back();
}

void Graph::add_user(ValueId value, NodeId node) {
  std::vector<NodeId>& users = users_[value];
  const auto place = std::ranges::lower_bound(users, node);
  if (place == users.end() || *place != node) users.insert(place, node);
}

ValueId Graph::find(std::string_view name) const {
  const auto found = outside_.find(std::string{name});
  return found == outside_.end() ? kNoValue : found->second;
}

void Graph::replace(ValueId from, ValueId to) {
  for (const NodeId n : std::exchange(users_[from], {})) {
    std::ranges::replace(nodes_[n].in, from, to);
    add_user(to, n);
    for (const ValueId out : nodes_[n].out)  // values in its memory move along
      if (values_[out].alias == from) set_alias(out, to);
  }
}

void Graph::remove(NodeId id) {
  for (const ValueId v : nodes_[id].in) {
    std::vector<NodeId>& users = users_[v];
    const auto place = std::ranges::lower_bound(users, id);
    if (place != users.end() && *place == id) users.erase(place);
  }
  nodes_[id].op = nullptr;
}

void Graph::set_shape(ValueId value, const Shape& shape) {
  Value& v = values_[value];
  v.rows = shape.rows, v.cols = shape.cols, v.dtype = shape.dtype;
}

void Graph::append_operand(NodeId node, ValueId value) {
  nodes_[node].in.push_back(value);
  add_user(value, node);
}

void Graph::adopt(NodeId id, ValueId value) {
  remove(values_[value].producer);
  values_[value].producer = id;
  nodes_[id].out.push_back(value);
}

namespace {

/// Whether each value is needed, as far as walks over the nodes have found out.
class Needed {
 public:
  explicit Needed(const Graph& graph) : graph_{graph}, needed_(graph.value_count()) {
    for (ValueId v = 0; v < graph.value_count(); ++v) needed_[v] = graph.value(v).kind != Kind::kActivation ? 1 : 0;
  }

  /// From the last node to the first: those that stay need what they read. Returns the others, in that order.
  std::vector<NodeId> walk() {
    std::vector<int> memory(graph_.value_count(), 0);  // of roots that later nodes read
    std::vector<NodeId> dead;
    for (ValueId v = 0; v < graph_.value_count(); ++v)
      if (graph_.value(v).kind != Kind::kActivation) memory[graph_.root(v)] = 1;
    // A part of a tensor may be written under a name of its own, and the tensor be read.
    const auto writes = [&](const Node& node, ValueId v) {
      return !node.op->looks_on && graph_.value(v).alias != kNoValue && memory[graph_.root(v)] != 0;
    };
    found_ = false;
    for (NodeId n = graph_.node_count(); n-- > 0;) {
      const Node& node = graph_.node(n);
      if (!node.op) continue;
      if (!node.op->reaches_out &&
          std::ranges::none_of(node.out, [&](ValueId v) { return needed_[v] != 0 || writes(node, v); })) {
        dead.push_back(n);
        continue;
      }
      for (const ValueId v : node.in) found_ = found_ || needed_[v] == 0, needed_[v] = 1, memory[graph_.root(v)] = 1;
    }
    return dead;
  }
  /// Whether the last walk found any.
  bool found() const { return found_; }

 private:
  const Graph& graph_;
  std::vector<int> needed_;
  bool found_ = false;
};

}  // namespace

/// A node that has adopted a result may come behind those that read it: one walk does not always see them.
std::size_t Graph::remove_dead() {
  Needed needed{*this};
  std::vector<NodeId> dead = needed.walk();
  while (needed.found()) dead = needed.walk();
  for (const NodeId n : dead) remove(n);
  return dead.size();
}

}  // namespace runtime
