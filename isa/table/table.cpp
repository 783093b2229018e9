#include "isa/table.h"

#include "isa/exec.h"

namespace isa {

std::span<const Row> instructions(int generation) {
  if (generation == 2) return kTable;
  if (generation == 3) return columns::kV3Rows;
  return {};
}

void execute(const Instr& instr, std::uint32_t index, Context& context) { row(instr.op).exec(instr, index, context); }

}  // namespace isa
