#include "isa/table.h"

#include "isa/exec.h"

namespace isa {

void execute(const Instr& instr, std::uint32_t index, Context& context) { row(instr.op).exec(instr, index, context); }

}  // namespace isa
