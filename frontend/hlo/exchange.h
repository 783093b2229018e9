// Collectives in the forms that HLO alone has: of tuples, and in two halves.
#pragma once

#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// The shape of an instruction's result. Operations that begin may have their operands beside it, and what they wait
/// by: an all-gather and a permutation one, any other a tuple of them; the end takes the result.
const Shape& result_of(const Instruction& instruction);

/// An all-to-all of tuples, whose operand i goes to rank i of the group and whose result i is from there, as that of
/// one tensor which is split and joined in front. Empty: the operands are of several types.
std::vector<ValueId> exchanged_parts(Builder& builder, std::vector<ValueId> operands, const Instruction& instruction);

}  // namespace trnsim::frontend::hlo
