// A node with the types of its operands, as rules of shapes see it, and the words of their errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {

class Contract {
 public:
  /// `stated`: the results' types as the program has them; empty: it states none.
  Contract(const Module& module, const Function& function, const Node& node, std::vector<Type> stated = {})
      : module_{module}, function_{function}, node_{node}, stated_{std::move(stated)} {}

  const Module& module() const { return module_; }
  const Function& function() const { return function_; }
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  std::size_t operands() const { return node_.operands.size(); }
  const Type& operand(std::size_t i) const { return function_.type(node_.operands[i]); }
  const std::vector<Type>& stated() const { return stated_; }
  /// The function of a region.
  const Function& region(std::size_t i) const { return module_.functions[node_.regions[i].function]; }

  /// Throws when `condition` is false: "FILE:12: transpose: permutation [0, 0] is no permutation (C2)".
  void need(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }
  [[noreturn]] void fail(const std::string& what) const;
  /// The operand must be a tensor, of that rank where one is given.
  const Type& tensor(std::size_t i, std::int64_t rank = -1) const;
  /// The same type for all operands from `first` on.
  void same_operands(std::size_t first = 0) const;
  /// The types of the results that the program states, if it does, must be these.
  void match_stated(const std::vector<Type>& inferred) const;
  /// Each of `dims` is one of 0 ... rank - 1, and none is twice there.
  void distinct(const Ints& dims, std::int64_t rank, std::string_view name) const;

 private:
  const Module& module_;
  const Function& function_;
  const Node& node_;
  std::vector<Type> stated_;
};

}  // namespace trnsim::frontend
