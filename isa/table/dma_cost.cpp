#include <algorithm>

#include "isa/cost.h"

namespace isa {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Elements of a row that follow one another.
std::int64_t row_run(Tile rows) {
  rows.partitions = 1;
  return contiguous_run(rows);
}

/// Elements of one descriptor, before it is cut into packets.
std::int64_t piece(const Instr& instr, bool by_element) {
  switch (instr.op) {
    case Opcode::kDmaTranspose: return by_element ? 1 : contiguous_run(instr.a);
    case Opcode::kDmaGather: return std::min(contiguous_run(instr.dst), row_run(instr.a));
    case Opcode::kDmaScatter: return std::min(contiguous_run(instr.a), row_run(instr.dst));
    default: return std::min(contiguous_run(instr.a), contiguous_run(instr.dst));
  }
}

}  // namespace

std::int64_t contiguous_run(const Tile& tile) {
  std::int64_t run = 1;
  for (int d = tile.rank - 1; d >= 0; --d) {
    const auto [step, size] = tile.free[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    if (step != run) return run;
    run *= size;
  }
  if (tile.space == Space::kHbm && tile.pstep == run * size_of(tile.dtype)) run *= tile.partitions;
  return run;
}

DmaCost dma_cost(const Instr& instr, const DmaTiming& dma) {
  // The rows that move are those of the tile that is not indexed.
  const Tile& moved = instr.op == Opcode::kDmaGather ? instr.dst : instr.a;
  const std::int64_t elements = moved.elements();
  const std::int64_t size = std::max(size_of(instr.a.dtype), size_of(instr.dst.dtype));
  const std::int64_t run = std::min(piece(instr, dma.transpose == 0), elements);
  const std::int64_t pieces = ceil_div(elements, run);
  const std::int64_t packets = ceil_div(run * size, static_cast<std::int64_t>(dma.packet));  // per piece

  DmaCost cost{.descriptors = pieces * packets};
  // A read-modify-write moves the destination as well.
  const auto count = static_cast<double>(cost.descriptors), bytes = static_cast<double>(elements * size);
  double passes = instr.accumulate ? 2 : 1;
  if (instr.op == Opcode::kDmaTranspose && dma.transpose > 0) passes /= dma.transpose;
  // One number that moves all rows is an address in hardware's descriptors; software makes those of an index per row.
  const bool indexed = (instr.op == Opcode::kDmaGather || instr.op == Opcode::kDmaScatter) && !instr.integers;
  cost.seconds = passes * (bytes / dma.engine_rate + (indexed ? dma.indexed_setup : dma.setup) * count);
  cost.shared = passes * (bytes + dma.descriptor_overhead * count) / (dma.rate * dma.engines);
  const double longest = std::min(static_cast<double>(run * size), dma.packet);
  cost.tail = (longest < dma.overlap ? longest / dma.engine_rate : 0) + dma.completion;
  const std::int64_t share = ceil_div(cost.descriptors, static_cast<std::int64_t>(dma.engines));  // of the busiest
  cost.width = static_cast<double>(cost.descriptors) / static_cast<double>(share);
  return cost;
}

}  // namespace isa
