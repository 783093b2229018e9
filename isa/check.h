// Refuses programs that a machine could not run, before anything runs them.
#pragma once

#include "isa/program.h"
#include "isa/target.h"

namespace isa {

/// Each throws Fault::kProgram at the first broken rule. `where` names the program, block, index and the instruction's
/// text; then the rule that is broken, and how to mend it. Source of the rules: AWS Neuron SDK 2.26.1, nki.isa and
/// NKI architecture guide v2; the table's limits column (isa/table.h) has them per instruction.
void check(const Instr& instr, const Target& target);

/// Also registers, labels, and waits: each must be fulfilled by what comes earlier in program order. A wait that never
/// ends is told apart from a deadlock, for which the error says who waits for what.
void check(const Block& block, const Target& target);

/// Also calls, replica groups, element counts of collectives, regions, and that no HBM operand of any call leaves the
/// program's HBM.
void check(const Program& program, const Target& target);

}  // namespace isa
