#include "runtime/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "isa/names.h"
#include "runtime/op.h"

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
  values_.push_back({.name = std::move(name), .rows = rows, .cols = cols, .dtype = dtype, .kind = kind});
  return static_cast<ValueId>(values_.size() - 1);
}

std::vector<ValueId> Graph::add(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs) {
  if (attrs.empty()) attrs = op.attrs;
  base::ensure(attrs.same_type(op.attrs), label, fmt::format("has attributes that {} does not take", op.name));
  const NodeId id = boost::add_vertex(boost_);
  Node& node = boost_[id];
  node = {
      .op = &op, .attrs = std::move(attrs), .in = std::move(in), .out = {}, .scope = scope_, .label = std::move(label)};
  const std::vector<Shape> shapes = op.infer({*this, node});
  for (const ValueId v : node.in)
    if (values_[v].producer != kNoNode) boost::add_edge(values_[v].producer, id, boost_);
  for (std::size_t o = 0; o < shapes.size(); ++o) {
    const Shape& s = shapes[o];
    const bool in_place = s.alias != kNoValue;
    values_.push_back({.name = fmt::format("{}.{}.{}", node.label, id, o),
                       .rows = s.rows,
                       .cols = s.cols,
                       .dtype = s.dtype,
                       .kind = in_place ? values_[s.alias].kind : Kind::kActivation,
                       .producer = id,
                       .alias = s.alias});
    boost_[id].out.push_back(static_cast<ValueId>(values_.size() - 1));
  }
  return boost_[id].out;
}

ValueId Graph::add1(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs) {
  const auto out = add(op, std::move(label), std::move(in), std::move(attrs));
  base::ensure(out.size() == 1, op.name, "has more than one result");
  return out.front();
}

void Graph::enter(Scope scope) {
  const auto found = std::find(scopes_.rbegin(), scopes_.rend(), scope);  // the last ones are entered again and again
  scope_ = static_cast<std::uint32_t>(found == scopes_.rend() ? scopes_.size() : scopes_.rend() - found - 1);
  if (found == scopes_.rend()) scopes_.push_back(std::move(scope));
}

void Graph::output(ValueId value, std::string name) {
  values_[value].kind = Kind::kOutput;
  values_[value].name = std::move(name);
}

ValueId Graph::root(ValueId id) const {
  while (values_[id].alias != kNoValue) id = values_[id].alias;
  return id;
}

std::vector<NodeId> Graph::users(ValueId id) const {
  std::vector<NodeId> out;
  const auto collect = [&](NodeId n) {
    if (node(n).op && std::ranges::find(node(n).in, id) != node(n).in.end()) out.push_back(n);
  };
  if (const NodeId from = values_[id].producer; from != kNoNode) {
    const auto [begin, end] = boost::out_edges(from, boost_);
    for (auto e = begin; e != end; ++e) collect(boost::target(*e, boost_));
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
  } else {
    for (NodeId n = 0; n < node_count(); ++n) collect(n);
  }
  return out;
}

ValueId Graph::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(values_, [&](const Value& v) { return v.producer == kNoNode && v.name == name; });
  return found == values_.end() ? kNoValue : static_cast<ValueId>(found - values_.begin());
}

void Graph::replace(ValueId from, ValueId to) {
  for (const NodeId n : users(from)) {
    std::ranges::replace(boost_[n].in, from, to);
    if (values_[to].producer != kNoNode) boost::add_edge(values_[to].producer, n, boost_);
  }
}

void Graph::remove(NodeId id) {
  boost::clear_vertex(id, boost_);
  boost_[id].op = nullptr;
}

void Graph::set_shape(ValueId value, const Shape& shape) {
  Value& v = values_[value];
  v.rows = shape.rows, v.cols = shape.cols, v.dtype = shape.dtype;
}

void Graph::append_operand(NodeId node, ValueId value) {
  boost_[node].in.push_back(value);
  if (values_[value].producer != kNoNode) boost::add_edge(values_[value].producer, node, boost_);
}

void Graph::adopt(NodeId id, ValueId value) {
  const NodeId before = values_[value].producer;
  const auto readers = users(value);
  remove(before);
  values_[value].producer = id;
  boost_[id].out.push_back(value);
  for (const NodeId n : readers) boost::add_edge(id, n, boost_);
}

std::size_t Graph::remove_dead() {
  std::vector<int> needed(value_count(), 0);
  for (ValueId v = 0; v < value_count(); ++v) needed[v] = values_[v].kind != Kind::kActivation;
  std::size_t removed = 0;
  for (NodeId n = node_count(); n-- > 0;) {
    const Node& node = boost_[n];
    if (!node.op) continue;
    if (!node.op->reaches_out && std::ranges::none_of(node.out, [&](ValueId v) { return needed[v]; })) {
      remove(n);
      ++removed;
    } else {
      for (const ValueId v : node.in) needed[v] = 1;
    }
  }
  return removed;
}

}  // namespace runtime
