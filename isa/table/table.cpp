#include "isa/table.h"

#include "isa/exec.h"
#include "isa/flops.h"
#include "isa/names.h"
#include "isa/target.h"

namespace isa {

const Row* instructions(int generation) {
  if (generation == 2) return kTable.data();
  if (generation == 3) return columns::kV3Rows.data();
  return nullptr;
}

std::string_view name_of(Opcode op) {
  const auto i = static_cast<std::size_t>(op);
  return i < kOpcodeCount ? kTable[i].name : "?";
}

std::optional<Opcode> opcode_from(std::string_view name) {
  const Row* row = find_row(name);
  return row ? std::optional{row->op} : std::nullopt;
}

double elementwise_flops(const Instr& instr) {
  const int column = row(instr.op).flops;
  const int steps = (instr.alu0 != Alu::kNone) + (instr.alu1 != Alu::kNone);
  return static_cast<double>(instr.a.elements()) * (column == kPerAlu ? steps : column);
}

void execute(const Instr& instr, std::uint32_t index, Context& context) {
  row(instr.op).exec(instr, instr.rng != 0 ? instr.rng : index, context);
}

}  // namespace isa
