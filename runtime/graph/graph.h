// The graph that is compiled: matrices and the operations between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/program.h"
#include "runtime/graph/attributes.h"
#include "runtime/graph/numerics.h"

namespace runtime {

struct Op;

using ValueId = std::uint32_t;
using NodeId = std::size_t;
inline constexpr ValueId kNoValue = ~ValueId{0};
inline constexpr NodeId kNoNode = ~NodeId{0};

/// The purpose of a tensor decides its memory region and lifetime.
enum class Kind : std::uint8_t { kActivation, kWeight, kOptimizer, kGradient, kInput, kOutput, kCache };
std::string_view name_of(Kind kind);

/// A matrix [rows, cols], row by row in HBM. Vectors over features are [1, cols], over rows [rows, 1].
struct Value {
  std::string name;
  std::int64_t rows = 0, cols = 0;
  Dtype dtype = Dtype::kFp32;
  Kind kind = Kind::kActivation;
  NodeId producer = kNoNode;
  ValueId alias = kNoValue;  // lives in that value's memory: an update in place
  std::int64_t first = 0;    // where it begins there, in elements
  bool frozen = false;       // a weight that is not trained: it has no gradient
  bool constant = false;     // no run changes it: it may be stored as its readers take it

  std::int64_t elements() const { return rows * cols; }
  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(elements()) * static_cast<std::uint64_t>(isa::size_of(dtype));
  }
};

struct Shape;

/// The place of a node in the program: nodes of one scope and instance make one call of a block.
struct Scope {
  std::string name;            // "layer", "layer.bwd", "optimizer"
  std::int32_t instance = -1;  // which of several like it; -1: the only one
  isa::Phase phase = isa::Phase::kOther;
  std::uint32_t rng = 0;    // random streams of the call: backward repeats the dropout of its forward
  bool recomputed = false;  // a forward node run again for a backward pass that did not keep its results
  std::int32_t layer = -1;  // of the model, in any micro-batch and pass; -1: outside of its layers
  bool operator==(const Scope&) const = default;
};

struct Node {
  const Op* op = nullptr;  // null: removed by a pass
  Attrs attrs;
  std::vector<ValueId> in, out;
  std::uint32_t scope = 0;
  std::string label;  // "attention.query": shown to people
};

/// Nodes are added in an order in which they can run; node numbers keep that order.
class Graph {
 public:
  explicit Graph(Numerics numerics) : numerics_{std::move(numerics)} {}

  const Numerics& numerics() const { return numerics_; }

  /// The replica groups, indexed by the group in a node's attributes.
  void set_replica_groups(isa::GroupTables groups) { replica_groups_ = std::move(groups); }
  const isa::GroupTables& replica_groups() const { return replica_groups_; }

  /// A tensor from outside. Errors: Fault::kProgram for a size below 1 or a name that is taken.
  ValueId tensor(std::string name, std::int64_t rows, std::int64_t cols, Dtype dtype, Kind kind);
  /// Adds a node in the current scope. Without `attrs` it has the op's defaults. Errors: Fault::kProgram from the op's
  /// contract, naming the node; Fault::kInternal for attributes of another op.
  std::vector<ValueId> add(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs = {});
  /// As above, for ops with one result.
  ValueId add1(const Op& op, std::string label, std::vector<ValueId> in, Attrs attrs = {});

  void enter(Scope scope);
  const Scope& scope_of(const Node& node) const { return scopes_[node.scope]; }
  const std::vector<Scope>& scopes() const { return scopes_; }
  std::uint32_t current_scope() const { return scope_; }
  void return_to(std::uint32_t scope) { scope_ = scope; }

  /// Makes `value` readable by the host after a run, under `name`.
  void output(ValueId value, std::string name);
  /// Puts `value`, which a node makes, into the memory of `into`, which nothing reads from that node's call on.
  void live_in(ValueId value, ValueId into) {
    set_alias(value, into);
    values_[value].kind = values_[into].kind;
  }
  /// Makes `value` the gradient of a parameter: it stays in HBM.
  void set_kind(ValueId value, Kind kind) { values_[value].kind = kind; }
  /// Makes `value` a weight without a gradient.
  void freeze(ValueId value) { values_[value].frozen = true; }
  /// Says that no run changes `value`, which is from outside.
  void hold_constant(ValueId value) { values_[value].constant = true; }
  void set_dtype(ValueId value, Dtype dtype) { values_[value].dtype = dtype; }
  void rename(ValueId value, std::string name);

  std::size_t node_count() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  Node& node(NodeId id) { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  std::size_t value_count() const { return values_.size(); }
  /// The value whose memory `id` lives in.
  ValueId root(ValueId id) const;
  /// The value that a block addresses for `id`: the root, or a value between them that begins elsewhere.
  ValueId base(ValueId id) const;
  /// The values that a block addresses as `id`: those with this base(). In no order.
  std::vector<ValueId> at_base(ValueId id) const;
  /// Where base(id) begins in root(id), bytes.
  std::uint64_t begin(ValueId id) const;
  /// Nodes that read it, in their order. The reference holds until the graph changes.
  const std::vector<NodeId>& users(ValueId id) const { return users_[id]; }
  /// The value of that name that no node computes, or kNoValue.
  ValueId find(std::string_view name) const;

  void set_shape(ValueId value, const Shape& shape);
  /// Adds an operand to `node`.
  void append_operand(NodeId node, ValueId value);
  /// Adds a result to `node`.
  ValueId append_result(NodeId node, const Shape& shape);
  /// Redirects all users of `from` to `to`.
  void replace(ValueId from, ValueId to);
  void remove(NodeId id);
  /// Makes `value` a further result of `node`, and removes the node that computed it before.
  void adopt(NodeId node, ValueId value);
  /// Removes nodes whose results are not needed. Returns their number.
  std::size_t remove_dead();

 private:
  void add_value(Value value);
  void set_alias(ValueId value, ValueId into);
  void add_user(ValueId value, NodeId node);

  Numerics numerics_;
  isa::GroupTables replica_groups_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::unordered_map<std::string, ValueId> outside_;           // by name: those that no node computes
  std::vector<std::vector<NodeId>> users_;                     // per value: the edges from its producer
  std::unordered_map<ValueId, std::vector<ValueId>> lodgers_;  // per value: those whose alias it is
  std::vector<Scope> scopes_{Scope{}};
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> by_instance_{{Scope{}.instance, {0}}};  // of scopes_
  std::uint32_t scope_ = 0;
};

}  // namespace runtime
