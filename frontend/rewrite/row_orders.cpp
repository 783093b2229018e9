// Rows that a program turns around products: [tokens, sequences, elements] where memory has sequences outermost, as
// PyTorch's own attention takes them. Work that is done row by row does not depend on the order of rows, so it is
// done in that of memory, and the transposes in front of it and behind it meet.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/placed.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

/// A value as rows: `order` are the rows' axes in the order of the value, strides counted in rows of the memory's
/// order.
struct Rows {
  ValueId root = 0;
  DimAxes rows{}, cols{};  // of the root's memory
  DimAxes order{};

  std::int64_t count() const { return size_of_axes(order); }
  bool same_order(const DimAxes& other) const {
    const auto a = cut_axes(order, cuts_of(other)), b = cut_axes(other, cuts_of(order));
    return a && b && std::ranges::equal(*a, *b, [](const Axis& x, const Axis& y) {
             return x.size == y.size && x.stride == y.stride;
           });
  }
};

class RowOrders {
 public:
  explicit RowOrders(Function& function) : function_{function}, producers_{function} {}

  std::size_t run() {
    const std::vector<Node> nodes = function_.nodes;  // values are added to the function on the way
    for (const Node& node : nodes)
      if (node.results == 1) turn(node);
    const std::map<ValueId, std::int64_t> copies = copied();
    std::map<ValueId, ValueId> replaced;
    std::vector<Node> made;
    for (auto& [v, own] : own_) {
      if (const auto copied = copies.find(first_of(v)); copied == copies.end() || copied->second >= 0) continue;
      made.insert(made.end(), own.begin(), own.end());
      const auto whole = arranged(function_, known_.at(v).root, known_.at(v).dims, made);
      replaced[v] = formed(function_, *whole, function_.type(v), made);
    }
    if (!replaced.empty()) replace_by(function_, made, replaced);
    return replaced.size();
  }

 private:
  /// Where a value is in memory, through those that were computed in another order.
  Placed form(ValueId value) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    const Node* node = producers_.of(value);
    const bool one = node && node->operands.size() == 1 && node->results == 1;
    if (one)
      if (const std::string_view op = node->op->name;
          op == "copy" || op == "reshape" || op == "transpose" || op == "broadcast_in_dim")
        if (auto found = placed_by(function_, *node, form(node->operands[0]))) return *found;
    Placed out{.root = value};
    const Dims& dims = function_.type(value).dims;
    const Dims strides = dense_strides(dims);
    for (std::size_t d = 0; d < dims.size(); ++d) out.dims.push_back({Axis{dims[d], strides[d]}});
    return out;
  }

  /// The rows of a value whose memory has them in another order.
  std::optional<Rows> turned(ValueId value) {
    const Dims& dims = function_.type(value).dims;
    if (dims.size() < 2 || !is_float(function_.type(value).element)) return {};
    const Placed place = form(value);
    Rows out{.root = place.root, .cols = place.dims.back()};
    for (std::size_t d = 0; d + 1 < place.dims.size(); ++d)
      for (const Axis& axis : place.dims[d])
        if (axis.size > 1) out.rows.push_back(axis);
    if (std::ranges::any_of(out.rows, [](const Axis& axis) { return axis.stride <= 0; })) return {};
    std::vector<std::size_t> by_memory(out.rows.size());
    std::iota(by_memory.begin(), by_memory.end(), 0);
    std::ranges::stable_sort(by_memory, std::greater{}, [&](std::size_t i) { return out.rows[i].stride; });
    if (std::ranges::is_sorted(by_memory)) return {};
    out.order = out.rows;
    DimAxes sorted;
    std::int64_t step = 1;
    for (std::size_t i = by_memory.size(); i-- > 0;) {
      out.order[by_memory[i]].stride = step;
      step *= out.rows[by_memory[i]].size;
    }
    for (const std::size_t i : by_memory) sorted.push_back(out.rows[i]);
    out.rows = std::move(sorted);
    return out;
  }

  /// [rows, columns] in the order of memory; none: they are not all of it.
  std::optional<ValueId> matrix(const Rows& rows, std::vector<Node>& made) {
    return arranged(function_, rows.root, {rows.rows, rows.cols}, made);
  }

  void turn(const Node& node) {
    const std::string_view op = node.op->name;
    if (op == "dot_general") return turn_product(node);
    if (op == "slice") return turn_slice(node);
    const bool elementwise = node.op->group == Group::kElementwise || op == "convert";
    if (elementwise && !node.operands.empty()) turn_elements(node);
  }

  /// Rows times a matrix.
  void turn_product(const Node& node) {
    const DotDims dims = dot_dims(node.attributes);
    const Type x = function_.type(node.operands[0]), w = function_.type(node.operands[1]);  // values are added
    if (!dims.lhs_batch.empty() || dims.lhs_contracting != Ints{x.rank() - 1} || w.rank() != 2) return;
    const auto rows = turned(node.operands[0]);
    std::vector<Node> made;
    const auto in = rows ? matrix(*rows, made) : std::nullopt;
    if (!in) return;
    const std::int64_t cols = w.dims[dims.rhs_contracting == Ints{0} ? 1 : 0];
    Node out = copy_of(node, {*in, node.operands[1]}, {rows->count(), cols});
    out.attributes.set("lhs_contracting_dimensions", Ints{1});
    know(node, *rows, std::move(out), std::move(made), {node.operands[0]});
  }

  /// Columns of all rows.
  void turn_slice(const Node& node) {
    const Dims from = function_.type(node.operands[0]).dims, to = function_.type(node.result()).dims;
    if (from.size() < 2 || !std::equal(from.begin(), from.end() - 1, to.begin())) return;
    const auto rows = turned(node.operands[0]);
    std::vector<Node> made;
    const auto in = rows ? matrix(*rows, made) : std::nullopt;
    if (!in) return;
    Node out = copy_of(node, {*in}, {rows->count(), to.back()});
    const auto last = [&](const char* name) { return node.attributes.ints(name).back(); };
    out.attributes.set("start_indices", Ints{0, last("start_indices")});
    out.attributes.set("limit_indices", Ints{rows->count(), last("limit_indices")});
    if (!node.attributes.ints("strides").empty()) out.attributes.set("strides", Ints{1, last("strides")});
    know(node, *rows, std::move(out), std::move(made), {node.operands[0]});
  }

  void turn_elements(const Node& node) {
    const Dims dims = function_.type(node.result()).dims;
    std::optional<Rows> rows;
    std::vector<std::optional<Rows>> all;
    for (const ValueId v : node.operands) {
      if (function_.type(v).dims != dims) return;
      all.push_back(turned(v));
      if (all.back() && !rows) rows = all.back();
    }
    if (!rows) return;
    std::vector<Node> made;
    std::vector<ValueId> in, from;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ValueId v = node.operands[i];
      if (all[i] && !all[i]->same_order(rows->order)) return;
      const auto one = all[i] ? matrix(*all[i], made) : row_of(v, rows->count(), made);
      if (!one) return;
      if (all[i]) from.push_back(v);
      in.push_back(*one);
    }
    know(node, *rows, copy_of(node, std::move(in), {rows->count(), dims.back()}), std::move(made), from);
  }

  /// A value that is the same in all rows, for so many of them.
  std::optional<ValueId> row_of(ValueId value, std::int64_t count, std::vector<Node>& made) {
    const Type type = tensor_type(function_.type(value).element, {count, function_.type(value).dims.back()});
    if (const auto number = number_of(function_, producers_, value)) {
      made.push_back(plain_node(function_, "constant", {}, type));
      made.back().attributes.set("value", literal_of(type, {*number}));
      return made.back().result();
    }
    const Placed place = form(value);
    if (origin(value)) return {};
    for (std::size_t d = 0; d + 1 < place.dims.size(); ++d)
      if (std::ranges::any_of(place.dims[d], [](const Axis& axis) { return axis.size > 1 && axis.stride != 0; }))
        return {};
    const bool one = element_count(function_.type(place.root).dims) == 1;
    const auto row = one ? std::optional{place.root} : arranged(function_, place.root, {place.dims.back()}, made);
    if (!row) return {};
    const Element element = function_.type(place.root).element;
    const ValueId flat = formed(function_, *row, tensor_type(element, one ? Dims{} : Dims{type.dims.back()}), made);
    made.push_back(plain_node(function_, "broadcast_in_dim", {flat}, type));
    made.back().attributes.set("broadcast_dimensions", one ? Ints{} : Ints{1});
    return made.back().result();
  }

  Node copy_of(const Node& node, std::vector<ValueId> operands, const Dims& dims) {
    Node out = node;
    out.operands = std::move(operands);
    out.first_result = static_cast<ValueId>(function_.values.size());
    function_.values.push_back(tensor_type(function_.type(node.result()).element, dims));
    return out;
  }

  void know(const Node& node, const Rows& rows, Node out, std::vector<Node> made, const std::vector<ValueId>& from) {
    const std::int64_t cols = function_.type(out.result()).dims.back();
    DimAxes flat = rows.order;
    for (Axis& axis : flat) axis.stride *= cols;
    flat.push_back({cols, 1});
    auto dims = regrouped({flat}, function_.type(node.result()).dims);
    if (!dims) return;
    known_[node.result()] = {.root = out.result(), .dims = std::move(*dims)};
    made.push_back(std::move(out));
    own_[node.result()] = std::move(made);
    from_[node.result()] = from;
  }

  /// The value that changes of form lead back to, where that was computed in another order.
  std::optional<ValueId> origin(ValueId value) const {
    while (!known_.contains(value)) {
      const Node* node = producers_.of(value);
      if (!node || !(changes_form(*node) || node->op->name == "broadcast_in_dim")) return {};
      value = node->operands[0];
    }
    return value;
  }

  /// The first of the values that depend on each other's order.
  ValueId first_of(ValueId v) {
    while (first_.at(v) != v) v = first_[v] = first_.at(first_.at(v));
    return v;
  }

  /// Elements that are copied because their operands are turned, less those that were: by the first of a group.
  std::map<ValueId, std::int64_t> copied() {
    for (const auto& [v, from] : from_) first_[v] = v;
    std::map<ValueId, ValueId> readers;  // of a value whose copy they share
    for (const auto& [v, from] : from_)
      for (const ValueId operand : from) {
        const auto before = origin(operand);
        first_[first_of(v)] = first_of(before ? *before : readers.try_emplace(form(operand).root, v).first->second);
      }
    std::map<ValueId, std::int64_t> out;
    std::set<ValueId> roots, counted;
    const auto count = [&](ValueId v) { return element_count(function_.type(v).dims); };
    for (const auto& [v, from] : from_)
      for (const ValueId operand : from)
        if (!origin(operand) && roots.insert(form(operand).root).second) out[first_of(v)] -= count(operand);
    const auto escapes = [&](ValueId v) {
      const auto of = origin(v);
      if (of && turned(v) && counted.insert(v).second) out[first_of(*of)] += count(v);
    };
    for (const Node& node : function_.nodes) {
      if (changes_form(node) || (node.results == 1 && known_.contains(node.result()))) continue;
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        if (!reads_in_place(node, i)) escapes(node.operands[i]);
    }
    for (const ValueId v : function_.results) escapes(v);
    return out;
  }

  static bool changes_form(const Node& node) {
    return node.op->name == "reshape" || node.op->name == "transpose" || node.op->name == "copy";
  }

  /// Products by heads read elements wherever they are, if tokens and elements are one step apart each.
  bool reads_in_place(const Node& node, std::size_t side) {
    if (node.op->name != "dot_general" || dot_dims(node.attributes).lhs_batch.empty()) return false;
    const DotDims dims = dot_dims(node.attributes);
    const Ints& batch = side == 0 ? dims.lhs_batch : dims.rhs_batch;
    const Placed place = form(node.operands[side]);
    for (std::size_t d = 0; d < place.dims.size(); ++d) {
      if (std::ranges::find(batch, static_cast<std::int64_t>(d)) != batch.end()) continue;
      const Axis* before = nullptr;
      for (const Axis& axis : place.dims[d]) {
        if (axis.size == 1) continue;
        if (before && before->stride != axis.stride * axis.size) return false;
        before = &axis;
      }
    }
    return true;
  }

  Function& function_;
  const Producers producers_;
  std::map<ValueId, Placed> known_;               // values that are computed in another order, there
  std::map<ValueId, std::vector<Node>> own_;      // by these nodes
  std::map<ValueId, std::vector<ValueId>> from_;  // of these operands
  std::map<ValueId, ValueId> first_;              // another one of its group, nearer to the first
};

/// A transpose that leaves dimensions of more than one element in their order is a change of form, as PyTorch's einsum
/// writes many, and changes of form behind each other are one. Returns how many transposes there were.
std::size_t plain_forms(Function& function) {
  std::size_t count = 0;
  std::map<ValueId, ValueId> behind;  // changes of form: their operands
  for (Node& node : function.nodes) {
    if (node.op->name == "transpose") {
      const Dims& from = function.type(node.operands[0]).dims;
      std::int64_t last = -1;
      const bool in_order = std::ranges::all_of(node.attributes.ints("permutation"), [&](std::int64_t d) {
        if (from[static_cast<std::size_t>(d)] == 1) return true;
        return d > std::exchange(last, d);
      });
      if (!in_order) continue;
      node.op = &operator_named("reshape");
      node.attributes = {};
      ++count;
    }
    if (node.op->name != "reshape") continue;
    if (const auto found = behind.find(node.operands[0]); found != behind.end()) node.operands[0] = found->second;
    behind[node.result()] = node.operands[0];
  }
  return count;
}

/// Whether all elements of a value's root are there in their order.
bool is_in_order(const Function& function, const Placed& place) {
  std::int64_t step = 1;
  for (std::size_t d = place.dims.size(); d-- > 0;)
    for (std::size_t i = place.dims[d].size(); i-- > 0;) {
      const Axis& axis = place.dims[d][i];
      if (axis.size == 1) continue;
      if (axis.stride != step) return false;
      step *= axis.size;
    }
  return step == element_count(function.type(place.root).dims);
}

/// Transposes that undo each other, with changes of form between them that would be copies, are one change of form.
std::size_t undone_forms(Function& function) {
  const Producers producers{function};
  std::size_t count = 0;
  for (Node& node : function.nodes) {
    if (node.op->name != "transpose" && node.op->name != "reshape") continue;
    const Placed place = placed(function, producers, node.result());
    if (place.root == node.result() || place.root == node.operands[0] || !is_in_order(function, place)) continue;
    node.op = &operator_named("reshape");
    node.attributes = {};
    node.operands = {place.root};
    ++count;
  }
  return count;
}

}  // namespace

std::size_t row_orders(Module&, Function& function) {
  const std::size_t plain = plain_forms(function);
  const bool any = std::ranges::any_of(function.nodes, [](const Node& node) { return node.op->name == "transpose"; });
  if (!any) return plain;
  const std::size_t turned = RowOrders{function}.run();
  return plain + turned + undone_forms(function);
}

}  // namespace trnsim::frontend::rewrite
