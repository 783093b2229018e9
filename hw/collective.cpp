#include "hw/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "isa/table.h"

namespace hw {
namespace {

/// What one rank of a ring does per byte of the larger operand.
struct Ring {
  double sent;     // over the link
  double read;     // of its own stack's bytes, by itself or by its neighbour
  double written;  // to its own stack
};

Ring ring_of(isa::Opcode op, double ranks) {
  const double others = (ranks - 1) / ranks;
  switch (op) {
    // Reduce-scatter: send a part, add the one received to one's own. All-gather: send a part, store the one received.
    case isa::Opcode::kAllReduce: return {.sent = 2 * others, .read = 3 * others, .written = 2 * others};
    case isa::Opcode::kReduceScatter: return {.sent = others, .read = 2 * others, .written = others};
    case isa::Opcode::kAllGather:
    case isa::Opcode::kAllToAll: return {.sent = others, .read = 1, .written = 1};
    case isa::Opcode::kBroadcast:
    case isa::Opcode::kSend:
    case isa::Opcode::kRecv: return {.sent = 1, .read = 1, .written = 1};
    case isa::Opcode::kBarrier: return {.sent = 0, .read = 0, .written = 0};
    default: break;
  }
  throw base::Error{base::Fault::kInternal, isa::row(op).name, "is no collective", "please report this"};
}

Fs to_fs(double time) { return static_cast<Fs>(std::llround(time * 1e15)); }

}  // namespace

CollectivePlan plan_collective(const isa::Instr& instr, std::uint32_t ranks, const MachineParams& machine) {
  if (ranks > static_cast<std::uint32_t>(machine.cores.value))
    throw base::Error{base::Fault::kProgram, isa::row(instr.op).name,
                      fmt::format("{} ranks take part, but only the {:.0f} cores of one chip are modelled", ranks,
                                  machine.cores.value),
                      "use groups of cores of the same chip"};
  CollectivePlan plan;
  if (instr.op == isa::Opcode::kBarrier) {
    plan.floor = to_fs(machine.cc_barrier.value);
    return plan;
  }
  plan.floor = to_fs(machine.cc_floor.value);
  plan.bytes = static_cast<std::uint64_t>(std::max(instr.a.bytes(), instr.dst.bytes()));
  const Ring ring = ring_of(instr.op, ranks);
  const double sent = ring.sent * static_cast<double>(plan.bytes);
  plan.link_bytes = static_cast<std::uint64_t>(std::llround(sent));
  if (ring.sent == 0) return plan;  // alone in its group: nothing moves
  const double bandwidth = machine.cc_bandwidth.value;
  plan.moving = to_fs(sent / bandwidth);
  plan.hbm_bandwidth = (ring.read + ring.written) / ring.sent * bandwidth;
  // Every byte read passes a DMA engine, in descriptors of a collective's packet.
  const double efficiency = machine.cc_packet.value / (machine.cc_packet.value + machine.dma_descriptor_overhead.value);
  plan.dma_width = std::min(machine.dma_engines.value,
                            ring.read / ring.sent * bandwidth / (machine.dma_read_rate.value * efficiency));
  return plan;
}

}  // namespace hw
