// Collectives in the forms that HLO alone has: of tuples, and in two halves.
#pragma once

#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// The shape of an instruction's result. Collectives that begin may have their operand beside it, and what they wait
/// by; the end takes the result.
const Shape& result_of(const Instruction& instruction);

/// An all-to-all of tuples, whose operand i goes to rank i of the group and whose result i is from there, as that of
/// one tensor which is split and joined in front. Empty: the operands are of several types.
std::vector<ValueId> exchanged_parts(Builder& builder, std::vector<ValueId> operands, const Instruction& instruction);

}  // namespace trnsim::frontend::hlo
