// Numbers for all elements of a tensor: known ones, and expressions of those that data says.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "frontend/graph/graph.h"

namespace trnsim::frontend::rewrite {

/// A number in Factors.
using FactorId = std::size_t;

/// Expressions of numbers, each once, simplified as they are made.
class Factors {
 public:
  FactorId number(double x) { return one({.op = Op::kNumber, .number = x}); }
  FactorId value(ValueId v) { return one({.op = Op::kValue, .value = v}); }
  FactorId sum(FactorId a, FactorId b);
  FactorId product(FactorId a, FactorId b);
  FactorId quotient(FactorId a, FactorId b);
  FactorId root(FactorId a);

  /// The values of the graph that it is made of, added to `out`.
  void add_values(FactorId a, std::vector<ValueId>& out) const;
  bool is(FactorId a, double x) const { return all_[a].op == Op::kNumber && all_[a].number == x; }
  /// The factor as a value of fp32 without dimensions, by nodes that are added to `made`; each is made once.
  ValueId made(FactorId a, Function& function, std::vector<Node>& made);

 private:
  enum class Op : std::uint8_t { kNumber, kValue, kSum, kProduct, kQuotient, kRoot };
  struct Factor {
    Op op = Op::kNumber;
    double number = 0;
    ValueId value = 0;
    FactorId a = 0, b = 0;
    auto operator<=>(const Factor&) const = default;
  };

  FactorId one(const Factor& factor);
  bool are_numbers(FactorId a, FactorId b) const { return all_[a].op == Op::kNumber && all_[b].op == Op::kNumber; }

  std::vector<Factor> all_;
  std::map<FactorId, ValueId> values_;  // those that were made
};

}  // namespace trnsim::frontend::rewrite
