#include "isa/check.h"

#include "base/error.h"
#include "isa/asm.h"
#include "isa/check/breach.h"
#include "isa/table.h"

namespace isa {
namespace detail {

void check_instr(const Instr& instr, const Target& target) {
  check_form(instr, target);
  target.row(instr.op).rule(instr);
}

void refuse(const rule::Breach& breach, std::string_view program, const Block& block, std::size_t index) {
  const std::string lead = program.empty() ? "" : fmt::format("program \"{}\" ", program);
  const std::string where =
      fmt::format("{}block \"{}\" #{}: {}", lead, block.name, index, print(block.instrs.at(index), block));
  throw base::Error{base::Fault::kProgram, where, breach.what, breach.fix};
}

namespace {

void check_registers(const Instr& instr, const Block& block) {
  for (const Tile* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (tile->space == Space::kHbm && tile->reg >= block.registers)
      breach("raise the block's number of registers, or name one that it has",
             "it uses HBM register r{}, but the block has {}", tile->reg, block.registers);
}

void check_label(const Instr& instr, const Block& block) {
  if (instr.label < block.labels.size() || (instr.label == 0 && block.labels.empty())) return;
  breach("add the label to the block", "its label is number {}, but the block has {}", instr.label,
         block.labels.size());
}

void check_footprint(const Block& block, const Geometry& geometry, std::string_view program) {
  const auto too_large = [&](std::string_view memory, std::int64_t bytes, std::int64_t limit) {
    if (bytes >= 0 && bytes <= limit) return;
    throw base::Error{base::Fault::kProgram, fmt::format("program \"{}\" block \"{}\"", program, block.name),
                      fmt::format("it uses {} bytes of {} per partition, but there are only {}", bytes, memory, limit),
                      "use smaller tiles, or reuse them"};
  };
  too_large("SBUF", block.sbuf_bytes, geometry.sbuf_partition_bytes);
  too_large("PSUM", block.psum_bytes, geometry.psum_partition_bytes);
}

}  // namespace

void check_block(const Block& block, const Target& target, std::string_view program) {
  check_footprint(block, target.geometry, program);
  for (std::size_t i = 0; i < block.instrs.size(); ++i) {
    const Instr& instr = block.instrs[i];
    try {
      check_instr(instr, target);
      check_registers(instr, block);
      check_label(instr, block);
    } catch (const rule::Breach& breach) {
      refuse(breach, program, block, i);
    }
  }
  check_waits(block, program);
}

}  // namespace detail

void check(const Instr& instr, const Target& target) {
  try {
    detail::check_instr(instr, target);
  } catch (const rule::Breach& breach) {
    throw base::Error{base::Fault::kProgram, print(instr), breach.what, breach.fix};
  }
}

void check(const Block& block, const Target& target) { detail::check_block(block, target, ""); }

}  // namespace isa
