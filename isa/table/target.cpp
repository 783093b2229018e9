#include "isa/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace isa {

bool Target::operator==(const Target& other) const {
  return generation == other.generation && geometry == other.geometry && timing == other.timing &&
         instructions == other.instructions;
}

// A member that is added must be named here: the bindings would no longer compile.
std::string text_of(const Target& target) {
  const auto& [partitions, sbuf, psum, bank, rows, columns, moving, rings, queues] = target.geometry;
  const auto& [min_interval, semaphore, iteration, fixed, passes, transposed, load, scalar, read, gpsimd, dynamic,
               function, vector, operand, modes, clock, dma] = target.timing;
  const auto& [wide, copy, part, pair] = modes;
  const auto& [start, wake, engines, engine_rate, setup, indexed, overlap, completion, rate, overhead, packet,
               transpose] = dma;
  return fmt::format(
      "v{} {} {} {} {} {} {} {} {} {} | {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} | "
      "{} {} {} {} {} {} {} {} {} {} {} {}",
      target.generation, partitions, sbuf, psum, bank, rows, columns, moving, rings, queues, min_interval, semaphore,
      iteration, fixed, passes, transposed, load, scalar, read, gpsimd, dynamic, function, vector, operand, wide, copy,
      part, pair, clock, start, wake, engines, engine_rate, setup, indexed, overlap, completion, rate, overhead, packet,
      transpose);
}

std::optional<rule::Breach> problem_of(const Target& target) {
  const Geometry& g = target.geometry;
  if (target.instructions == nullptr)
    return rule::Breach{"the program does not name the machine that it is for", "pass hw::load_machine(...).target()"};
  if (g.partitions != kPartitions || g.array_rows != kPartitions || g.array_columns != kPartitions ||
      g.moving_columns != kMovingColumns)
    return rule::Breach{
        fmt::format("has {} partitions and a PE array of {} x {} with {} moving columns", g.partitions, g.array_rows,
                    g.array_columns, g.moving_columns),
        fmt::format("instructions know {0} partitions, {0} x {0} and {1}", kPartitions, kMovingColumns)};
  if (g.sbuf_partition_bytes > kMostSbufPartitionBytes || g.psum_partition_bytes > kMostPsumPartitionBytes)
    return rule::Breach{
        fmt::format("a partition has {} bytes of SBUF and {} of PSUM, the simulated memory {} and {}",
                    g.sbuf_partition_bytes, g.psum_partition_bytes, kMostSbufPartitionBytes, kMostPsumPartitionBytes),
        "raise its bounds in isa/tile.h"};
  if (g.psum_bank_bytes < 4 * kMovingColumns || g.psum_partition_bytes % g.psum_bank_bytes != 0)
    return rule::Breach{
        fmt::format("banks of {} bytes do not hold a sum, or do not divide the {} of a PSUM partition",
                    g.psum_bank_bytes, g.psum_partition_bytes),
        fmt::format("make banks of {} bytes or more, and psum.partition a multiple of them", 4 * kMovingColumns)};
  if (g.dma_rings < 2 || g.dma_rings > kDmaQueues || g.collective_queues != kCcQueues)
    return rule::Breach{fmt::format("has {} DMA rings and {} collective queues", g.dma_rings, g.collective_queues),
                        fmt::format("programs use 2 to {} rings and {} queues", kDmaQueues, kCcQueues)};
  return std::nullopt;
}

}  // namespace isa
