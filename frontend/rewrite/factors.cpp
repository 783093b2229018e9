#include "frontend/rewrite/factors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "frontend/rewrite/patterns.h"

namespace trnsim::frontend::rewrite {

FactorId Factors::one(const Factor& factor) {
  const auto found = std::ranges::find(all_, factor);
  if (found != all_.end()) return static_cast<FactorId>(found - all_.begin());
  all_.push_back(factor);
  return all_.size() - 1;
}

FactorId Factors::sum(FactorId a, FactorId b) {
  if (are_numbers(a, b)) return number(all_[a].number + all_[b].number);
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  return one({.op = Op::kSum, .a = std::min(a, b), .b = std::max(a, b)});
}

/// A number comes first.
FactorId Factors::product(FactorId a, FactorId b) {
  if (are_numbers(a, b)) return number(all_[a].number * all_[b].number);
  if (all_[b].op == Op::kNumber) std::swap(a, b);
  if (is(a, 0) || is(b, 1)) return a;
  if (is(a, 1)) return b;
  const Factor first = all_[a], second = all_[b];
  if (first.op == Op::kNumber && second.op == Op::kProduct && all_[second.a].op == Op::kNumber)
    return product(number(first.number * all_[second.a].number), second.b);
  if (first.op != Op::kNumber && second.op == Op::kQuotient && is(second.a, 1)) return quotient(a, second.b);
  return one({.op = Op::kProduct, .a = a, .b = b});
}

FactorId Factors::quotient(FactorId a, FactorId b) {
  if (all_[b].op == Op::kNumber) return product(number(1 / all_[b].number), a);
  if (is(a, 0)) return a;
  if (a == b) return number(1);
  return one({.op = Op::kQuotient, .a = a, .b = b});
}

FactorId Factors::root(FactorId a) {
  if (all_[a].op == Op::kNumber) return number(std::sqrt(all_[a].number));
  return one({.op = Op::kRoot, .a = a});
}

void Factors::add_values(FactorId a, std::vector<ValueId>& out) const {
  const Factor& factor = all_[a];
  if (factor.op == Op::kValue) out.push_back(factor.value);
  if (factor.op == Op::kValue || factor.op == Op::kNumber) return;
  add_values(factor.a, out);
  if (factor.op != Op::kRoot) add_values(factor.b, out);
}

ValueId Factors::made(FactorId a, Function& function, std::vector<Node>& made) {
  if (const auto known = values_.find(a); known != values_.end()) return known->second;
  const Type scalar = scalar_type(Element::kF32);
  const Factor factor = all_[a];
  ValueId out = 0;
  if (factor.op == Op::kValue) {
    out = formed(function, factor.value, scalar, made);
  } else if (factor.op == Op::kNumber) {
    made.push_back(plain_node(function, "constant", {}, scalar));
    made.back().attributes.set("value", literal_of(scalar, {factor.number}));
    out = made.back().result();
  } else {
    constexpr std::array<std::string_view, 6> kOps{"", "", "add", "multiply", "divide", "sqrt"};
    std::vector<ValueId> operands{this->made(factor.a, function, made)};
    if (factor.op != Op::kRoot) operands.push_back(this->made(factor.b, function, made));
    made.push_back(plain_node(function, kOps[static_cast<std::size_t>(factor.op)], std::move(operands), scalar));
    out = made.back().result();
  }
  values_.emplace(a, out);
  return out;
}

}  // namespace trnsim::frontend::rewrite
