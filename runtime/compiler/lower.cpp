#include "runtime/compiler/lower.h"

#include <optional>
#include <utility>

#include "isa/flops.h"
#include "runtime/compiler/schedule.h"
#include "runtime/compiler/spill.h"
#include "runtime/compiler/synchronize.h"

namespace runtime {
namespace {

/// Bytes of a partition that DMA brings, at its peak, between the end of a wait and the end of a transfer: restored
/// buffers need that room to be there in time.
std::int64_t in_flight(const isa::Target& target) {
  const isa::DmaTiming& dma = target.timing.dma;
  const double seconds = target.timing.semaphore + dma.wake + dma.start;
  return static_cast<std::int64_t>(seconds * dma.engines * dma.engine_rate) / target.geometry.partitions;
}

ScheduleOptions schedule_options(const LowerOptions& options, bool rotate) {
  return {.rotate = rotate, .keep_room = options.keep_room, .ahead = options.ahead};
}

/// A schedule in which buffers are saved and restored; restored early, as far as room is left for that. Places that
/// long-lived buffers cut up hold less: where no order fits, more room is left.
std::optional<Allocation> scheduled_with_spills(VirtualBlock& block, const isa::Target& target,
                                                const LowerOptions& options) {
  const std::int64_t sbuf = target.geometry.sbuf_partition_bytes;
  for (std::int64_t room = in_flight(target); 2 * room < sbuf; room *= 2) {
    VirtualBlock spilled = block;
    const Spills spills = spill(spilled, target, sbuf - room);
    if (spilled.instrs.size() == block.instrs.size()) continue;  // these fit, and still there was no order
    std::optional<Allocation> found = schedule(spilled, target, schedule_options(options, options.rotate));
    if (!found) continue;
    found->spill_bytes = spills.bytes, found->spills = spills.saves;
    block = std::move(spilled);
    return found;
  }
  return std::nullopt;
}

std::optional<Allocation> without_spills(VirtualBlock& block, const isa::Target& target, const LowerOptions& options,
                                         bool rotate) {
  if (options.reorder)
    if (auto found = schedule(block, target, schedule_options(options, rotate))) return found;
  if (!options.keep_room) return std::nullopt;
  return allocate_without_spills(block, named_buffers(block), target.geometry, rotate, in_turn());
}

/// Places that are taken in turn let more engines run ahead, but tiles of several sizes cut them up: where they do not
/// hold the tiles even with spills, places are taken from the front on.
Allocation placed(VirtualBlock& block, const isa::Target& target, const LowerOptions& options) {
  std::optional<Allocation> found = without_spills(block, target, options, options.rotate);
  if (!found && options.keep_room) found = scheduled_with_spills(block, target, options);
  if (!found && options.keep_room && options.rotate) found = without_spills(block, target, options, false);
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
