// How a collective moves its data: what one rank sends, how long it takes, what HBM and the DMA engines give to it.
#pragma once

#include <cstdint>

#include "hw/params.h"
#include "isa/instr.h"

namespace hw {

/// One rank's part of a collective. First the floor (doorbells, rings set up, ranks meeting), then data for `moving`.
struct CollectivePlan {
  Fs floor = 0;
  Fs moving = 0;
  std::uint64_t bytes = 0;       // of the larger operand, per rank
  std::uint64_t link_bytes = 0;  // that one rank sends
  double hbm_bandwidth = 0;      // B/s of each stack while data moves
  double dma_width = 0;          // DMA engines of each core in use while data moves
};

/// Plans `instr` over `ranks` cores of one chip: a ring, which for two ranks is an exchange of halves. Larger rings
/// plug in here. Errors: Fault::kProgram when more ranks take part than a chip has cores.
CollectivePlan plan_collective(const isa::Instr& instr, std::uint32_t ranks, const MachineParams& machine);

}  // namespace hw
