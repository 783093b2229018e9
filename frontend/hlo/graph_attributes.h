// HLO's attributes under the names that the operators of the graph have for them.
#pragma once

#include <string_view>

#include "frontend/graph/attribute.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// Sets the attributes of the node that `instruction` becomes. `operand`: the shape of its first operand, if it has
/// one.
void set_attributes(const Instruction& instruction, const Shape* operand, Attributes& out);
/// An opcode without "-start".
std::string_view begun_opcode(std::string_view opcode);
/// The name of the operator of an opcode, where it is not the table's row of that opcode; empty: that row.
std::string_view operator_of(std::string_view opcode);
/// The ranks of the groups of a collective, a group in each row; empty: all ranks in one.
IntTable groups_of(const Instruction& instruction);
/// Whether `instruction`, a set-dimension-size, sets the size that the dimension has.
bool keeps_size(const Computation& computation, const Instruction& instruction);

}  // namespace trnsim::frontend::hlo
