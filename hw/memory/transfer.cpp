#include "hw/timed_block.h"
#include "isa/flops.h"

namespace hw {

Transfer plan_transfer(const isa::Instr& instr, const isa::DmaTiming& dma) {
  constexpr auto kHbm = static_cast<std::size_t>(isa::Space::kHbm);
  const isa::DmaCost cost = isa::dma_cost(instr, dma);
  return {.work = cost.seconds * 1e15,
          .width = cost.width,
          .shared = cost.shared * 1e15,
          .tail = fs_of(cost.tail),
          .descriptors = static_cast<std::uint64_t>(cost.descriptors),
          .read_bytes = static_cast<std::uint64_t>(isa::bytes_read(instr)[kHbm]),
          .written_bytes = static_cast<std::uint64_t>(isa::bytes_written(instr)[kHbm])};
}

}  // namespace hw
