// One graph for any program of machine learning, from whichever dialect it was read: a module of functions, each a
// list of nodes in an order in which they can be computed. A node's operator is a row of one table (frontend/ops).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/attribute.h"
#include "frontend/graph/type.h"

namespace trnsim::frontend {

struct Operator;

/// A value of a function: a parameter, or a result of one of its nodes.
using ValueId = std::uint32_t;
/// A function of a module.
using FunctionId = std::uint32_t;

inline constexpr FunctionId kNoFunction = ~FunctionId{0};

/// Where a node comes from in the user's program, as frameworks write it down.
struct Metadata {
  std::string op_name;      // "jit(step)/transformer/layer_3/attn/dot_general"
  std::string op_type;      // "dot_general"
  std::string source_file;  // "train.py"
  int source_line = 0;

  auto operator<=>(const Metadata&) const = default;
};

/// A function that a node calls, once or many times: the body of a loop, a reducer, a branch, a callee. Its parameters
/// are those that the operator gives it, and behind them the captured values of the function around it, so that a
/// function never reads values of another one.
struct Region {
  FunctionId function = kNoFunction;
  std::vector<ValueId> captures;
};

/// One operation. Results have consecutive ids from `first_result`.
struct Node {
  const Operator* op = nullptr;
  std::vector<ValueId> operands;
  ValueId first_result = 0;
  std::uint32_t results = 0;
  std::vector<Region> regions;
  Attributes attributes;
  std::uint32_t line = 0;      // of the text that was read, from 1; 0: none (a proto)
  std::uint32_t metadata = 0;  // in Module::metadata; entry 0 is empty
  std::string name;            // without %: "fusion.3", "12"
  bool apart = false;          // its lowering begins a call: layers' calls are alike without it

  ValueId result(std::uint32_t i = 0) const { return first_result + i; }
};

/// Values, nodes and results. `values` has the type of each, parameters first.
struct Function {
  std::string name;
  std::vector<Type> values;
  std::uint32_t parameters = 0;
  std::vector<Node> nodes;
  std::vector<ValueId> results;
  std::uint32_t line = 0;
  bool is_region = false;                             // part of a node; others are called by name
  std::vector<Attributes> parameter_attributes = {};  // empty, or one each: sharding, donation, names
  std::vector<Attributes> result_attributes = {};

  const Type& type(ValueId value) const { return values[value]; }
  std::vector<Type> result_types() const;
  std::vector<Type> parameter_types() const;
};

/// An output that may use the memory of a parameter (donated buffers, HLO's input_output_alias).
struct Alias {
  Ints output_index;  // of tuples within tuples; empty: the only output
  std::int64_t parameter = 0;
  Ints parameter_index;

  bool operator==(const Alias&) const = default;
};

/// A program. Functions keep their addresses while others are added.
struct Module {
  std::string name;
  std::string file;  // it was read from; begins each error
  std::deque<Function> functions;
  FunctionId entry = kNoFunction;
  std::int64_t replicas = 1, partitions = 1;
  bool undivided = false;  // its shardings are still for a partitioner to apply: tensors are whole
  std::vector<Alias> aliases;
  std::vector<Metadata> metadata = {Metadata{}};
  std::map<std::string, std::string> extras = {};  // attributes of the module that nothing here reads, as written

  const Function& entry_function() const { return functions[entry]; }
  FunctionId find(std::string_view function) const;  // kNoFunction: none
  const Metadata& metadata_of(const Node& node) const { return metadata[node.metadata]; }
  /// "FILE:12" or "FILE, node dot.3": the `where` of errors.
  std::string where(const Node& node) const;
  std::string where(const Function& function) const;
  std::size_t node_count() const;
};

/// Adds nodes to a function of a module; shapes are inferred and checked when a node is added. Readers of files,
/// rewrites and tests build graphs with it.
class Builder {
 public:
  Builder(Module& module, FunctionId function) : module_{module}, function_{function} {}

  FunctionId id() const { return function_; }
  Module& module() { return module_; }
  Function& function() { return module_.functions[function_]; }

  /// Parameters come before nodes.
  ValueId parameter(Type type);
  /// Adds the node, without its results, with those that its operator infers. Errors: Fault::kProgram with the line.
  const Node& add(Node node);
  /// The same with results as they were written, which are held against the inferred ones; the types of results that
  /// nothing implies (custom calls, constants, conversions) are taken as they are.
  const Node& add(Node node, const std::vector<Type>& results);
  /// The common case: one result. `op` is the operator's name in the table.
  ValueId op(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {},
             std::vector<Type> results = {});
  ValueId constant(LiteralPtr literal);
  void returns(std::vector<ValueId> results);

 private:
  Module& module_;
  FunctionId function_;
};

/// Adds an empty function. The first that is no region becomes the entry.
FunctionId add_function(Module& module, std::string name, bool is_region = false);

/// Checks a whole module, as readers do at their end: that calls name functions, that no function calls itself in a
/// circle, that each value is computed before it is read, that regions have the types which their operators need.
/// Errors: Fault::kProgram with the line.
void verify(const Module& module);

}  // namespace trnsim::frontend
