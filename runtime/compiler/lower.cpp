#include "runtime/compiler/lower.h"

#include <optional>
#include <utility>

#include "isa/flops.h"
#include "runtime/compiler/schedule.h"
#include "runtime/compiler/synchronize.h"

namespace runtime {
namespace {

Allocation placed(VirtualBlock& block, const isa::Target& target, const LowerOptions& options) {
  std::optional<Allocation> found;
  if (options.reorder) found = schedule(block, target, options.rotate, options.keep_room);
  return found ? *found : allocate(block, target.geometry, options.rotate);
}

}  // namespace

Lowered lower(VirtualBlock block, const isa::Target& target, const LowerOptions& options) {
  isa::Target own = target;
  own.geometry.sbuf_partition_bytes -= options.reserved_sbuf;
  Lowered out;
  out.allocation = placed(block, own, options);
  out.waits = synchronize(block.instrs, target.geometry);
  out.block = {.name = std::move(block.name),
               .instrs = std::move(block.instrs),
               .registers = static_cast<std::uint32_t>(block.registers.size()),
               .labels = std::move(block.labels),
               .sbuf_bytes = out.allocation.sbuf_bytes,
               .psum_bytes = out.allocation.psum_bytes};
  for (const Instr& i : out.block.instrs) out.block.matmul_flops += isa::matmul_flops(i);
  out.block.matmul_flops -= block.movement_flops;
  out.registers = std::move(block.registers);
  return out;
}

}  // namespace runtime
