#include <algorithm>
#include <cmath>

#include "hw/timed_block.h"
#include "isa/flops.h"

namespace hw {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool in_hbm(const isa::Tile& tile) { return tile.space == isa::Space::kHbm; }

/// Elements of one descriptor, before it is cut into packets.
std::int64_t piece(const isa::Instr& instr) {
  switch (instr.op) {
    case isa::Opcode::kDmaTranspose: return 1;
    case isa::Opcode::kDmaGather: return std::min(contiguous(instr.dst), instr.a.cols());
    case isa::Opcode::kDmaScatter: return std::min(contiguous(instr.a), instr.dst.cols());
    default: return std::min(contiguous(instr.a), contiguous(instr.dst));
  }
}

}  // namespace

std::int64_t contiguous(const isa::Tile& tile) {
  std::int64_t run = 1;
  for (int d = tile.rank - 1; d >= 0; --d) {
    if (tile.free[d].size == 1) continue;
    if (tile.free[d].step != run) return run;
    run *= tile.free[d].size;
  }
  if (in_hbm(tile) && tile.pstep == run * isa::size_of(tile.dtype)) run *= tile.partitions;
  return run;
}

Transfer plan_transfer(const isa::Instr& instr, const MachineParams& machine) {
  // The rows that move are those of the tile that is not indexed.
  const isa::Tile& moved = instr.op == isa::Opcode::kDmaGather ? instr.dst : instr.a;
  const std::int64_t elements = moved.elements();
  const std::int64_t size = std::max(isa::size_of(instr.a.dtype), isa::size_of(instr.dst.dtype));
  const std::int64_t run = std::min(piece(instr), elements);
  const auto packet = static_cast<std::int64_t>(machine.dma_packet.value);
  const std::int64_t pieces = ceil_div(elements, run);
  const std::int64_t packets = ceil_div(run * size, packet);  // per piece

  Transfer transfer;
  transfer.descriptors = static_cast<std::uint64_t>(pieces * packets);
  constexpr auto kHbm = static_cast<std::size_t>(isa::Space::kHbm);
  transfer.read_bytes = static_cast<std::uint64_t>(isa::bytes_read(instr)[kHbm]);
  transfer.written_bytes = static_cast<std::uint64_t>(isa::bytes_written(instr)[kHbm]);

  // A read-modify-write moves the destination as well.
  const double overhead = machine.dma_descriptor_overhead.value * static_cast<double>(transfer.descriptors);
  const double pass = (static_cast<double>(elements * size) + overhead) / machine.dma_rate.value * 1e15;
  transfer.work = instr.accumulate ? 2 * pass : pass;
  const auto engines = static_cast<std::int64_t>(machine.dma_engines.value);
  const auto share = ceil_div(static_cast<std::int64_t>(transfer.descriptors), engines);  // of the busiest engine
  transfer.width = static_cast<double>(transfer.descriptors) / static_cast<double>(share);
  return transfer;
}

}  // namespace hw
