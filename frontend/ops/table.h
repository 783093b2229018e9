// The parts of the table of operators: one file for each group.
#pragma once

#include <vector>

#include "frontend/ops/operator.h"

namespace trnsim::frontend::table {

using Rows = std::vector<Operator>;
using enum Group;

Rows elementwise();
Rows movement();
Rows reductions();
Rows products();
Rows control();
Rows collectives();
Rows chlo();

inline AttributeRule flag(std::string_view name) { return {name, AttributeKind::kFlag, false}; }
inline AttributeRule integer(std::string_view name) { return {name, AttributeKind::kInteger, true}; }
inline AttributeRule ints(std::string_view name) { return {name, AttributeKind::kInts, true}; }
inline AttributeRule table(std::string_view name) { return {name, AttributeKind::kTable, true}; }
inline AttributeRule text(std::string_view name) { return {name, AttributeKind::kText, true}; }
inline AttributeRule literal(std::string_view name) { return {name, AttributeKind::kLiteral, true}; }
inline AttributeRule real(std::string_view name) { return {name, AttributeKind::kReal, true}; }
inline AttributeRule optional(AttributeRule rule) {
  rule.required = false;
  return rule;
}

/// The row of an operator that computes each element of its result from the operands' elements in its place.
inline Operator per_element(std::string_view name, std::string_view hlo, int operands, decltype(Operator::infer) infer,
                            decltype(Operator::evaluate) evaluate) {
  return {.name = name, .hlo = hlo, .operands = operands, .infer = infer, .evaluate = evaluate};
}

}  // namespace trnsim::frontend::table
