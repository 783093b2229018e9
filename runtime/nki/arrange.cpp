#include "runtime/nki/arrange.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "isa/flops.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/schedule.h"
#include "runtime/compiler/synchronize.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

/// The same as a mistake in the kernel's line, where no operator's name stands in front.
base::Error at_line(const base::Error& e, const std::string& name) {
  const std::string front = fmt::format("block {}, ", name);
  const std::string_view where = e.where();
  return {base::Fault::kProgram, where.starts_with(front) ? where.substr(front.size()) : where, e.problem(), e.fix()};
}

Allocation placed(VirtualBlock& block, const isa::Target& target, const ArrangeOptions& options) {
  try {
    std::optional<Allocation> found;
    if (!options.as_written) found = schedule(block, target, true, true);
    return found ? *found : allocate(block, target.geometry, true);
  } catch (const base::Error& e) {
    if (e.fault() != base::Fault::kCapacity) throw;
    throw at_line(e, block.name);
  }
}

}  // namespace

Arranged arrange(VirtualBlock block, const isa::Target& target, const ArrangeOptions& options) {
  isa::Target own = target;
  own.geometry.sbuf_partition_bytes -= options.reserved_sbuf;
  Arranged out;
  const auto tensors = block.registers.size();
  if (!options.as_written) {
    out.reused = reuse(block, own.geometry.sbuf_partition_bytes);
    out.reloads = reload(block, own.geometry.sbuf_partition_bytes);
  }
  const Allocation allocation = placed(block, own, options);
  out.spills = allocation.spills, out.spill_bytes = allocation.spill_bytes;
  out.has_spill_area = block.registers.size() > tensors;
  synchronize(block.instrs, target.geometry);
  for (const Instr& i : block.instrs) {
    if (!isa::is_dma(i.op)) continue;
    if (i.dst.space == isa::Space::kHbm && i.dst.reg >= tensors) out.saved_bytes += i.dst.bytes();
    if (i.a.space == isa::Space::kHbm && i.a.reg >= tensors) out.restored_bytes += i.a.bytes();
  }
  out.block = {.name = std::move(block.name),
               .instrs = std::move(block.instrs),
               .registers = static_cast<std::uint32_t>(block.registers.size()),
               .labels = std::move(block.labels),
               .sbuf_bytes = allocation.sbuf_bytes,
               .psum_bytes = allocation.psum_bytes};
  for (const Instr& i : out.block.instrs) out.block.matmul_flops += isa::matmul_flops(i);
  return out;
}

}  // namespace runtime::nki
