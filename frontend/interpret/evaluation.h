// A node with the values of its operands, as the interpreter's functions see it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/interpret/value.h"

namespace trnsim::frontend {

class Interpreter;
class Process;

class Evaluation {
 public:
  /// `lanes` below zero: the node as it is. Otherwise all its values are scalars, and as many of each are computed at
  /// once, in tensors [lanes].
  Evaluation(Interpreter& interpreter, const Function& function, const Node& node, std::vector<Value> operands,
             std::int64_t lanes = -1)
      : interpreter_{interpreter}, function_{function}, node_{node}, operands_{std::move(operands)}, lanes_{lanes} {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  const Module& module() const;
  /// The process that runs the program.
  Process& process() const;
  std::size_t operands() const { return operands_.size(); }
  const Value& operand(std::size_t i) const { return operands_[i]; }
  std::vector<Value> all_operands() const { return operands_; }
  void replace_operands(std::vector<Value> operands) { operands_ = std::move(operands); }
  std::int64_t lanes() const { return lanes_; }
  Type result_type(std::size_t i = 0) const;

  /// The next result.
  void put(Value value) { results_.push_back(std::move(value)); }
  std::vector<Value> take() { return std::move(results_); }

  /// Calls the region's function, with the values that it captures.
  std::vector<Value> call(std::size_t region, std::vector<Value> arguments) const;
  /// A function of scalars for many at once: arguments and results are tensors [n].
  std::vector<Value> call_lanes(std::size_t region, std::vector<Value> arguments) const;
  /// Calls a function of the module by its name, with as many arguments as it has parameters.
  std::vector<Value> call_named(const std::string& name, std::vector<Value> arguments) const;

  /// Computes the node as another operator, with attributes that were values: a form whose sizes are operands is
  /// checked and computed as the form whose sizes are attributes.
  void as_static(std::string_view op, Attributes attributes, std::size_t operands);
  /// The numbers of an operand as sizes and places. Errors: it has none.
  Ints ints(std::size_t i) const;
  void require_stated(const std::vector<Value>& results) const;
  /// Errors: Fault::kCapacity beyond an hour's work.
  void require_work(double multiplications) const;

  [[noreturn]] void fail(const std::string& what) const;
  /// The program itself says that a value is wrong: Fault::kCheck.
  [[noreturn]] void wrong(const std::string& what) const;

  void count_check() const;

  /// The values that the node's regions capture; the interpreter sets them.
  std::vector<std::vector<Value>> captured;

 private:
  Interpreter& interpreter_;
  const Function& function_;
  const Node& node_;
  std::vector<Value> operands_, results_;
  std::int64_t lanes_;
};

}  // namespace trnsim::frontend
