#include <cstdlib>
#include <limits>
#include <tuple>

#include "base/text.h"
#include "isa/check/breach.h"
#include "isa/names.h"
#include "isa/table.h"

namespace isa::detail {
namespace {

/// Engines read and write through an access pattern; DMA and collectives by descriptors, which have none of its limits.
/// A barrier moves nothing.
bool by_engine(const Instr& instr) {
  return !is_dma(instr.op) && !is_collective(instr.op) && instr.op != Opcode::kCoreBarrier;
}

void check_engine(const Instr& instr, const Row& row, int generation) {
  if (row.engines.bits == 0) breach(row.note, "{} cannot run on NeuronCore-v{}", row.name, generation);
  if (row.engines.contains(instr.engine)) return;
  std::string names;
  for (int e = 0; e < kEngineCount; ++e)
    if (row.engines.contains(static_cast<Engine>(e)))
      names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(static_cast<Engine>(e)));
  breach(fmt::format("issue it on {}", names), "the {} engine cannot run {}", name_of(instr.engine), row.name);
}

void check_alu(std::string_view which, Alu alu, AluSet allowed, const Row& row) {
  if (allowed.contains(alu)) return;
  std::string names;
  for (std::size_t a = 0; a < kAluCount; ++a)
    if (allowed.contains(static_cast<Alu>(a))) names += fmt::format(" {}", name_of(static_cast<Alu>(a)));
  breach(fmt::format("choose from:{}", names), "{} of {} cannot be {}", which, row.name, name_of(alu));
}

void check_command(const Instr& instr, const Row& row) {
  if (static_cast<std::size_t>(instr.registers) >= kRegistersCount)
    breach("name a command of isa/instr.h", "register command {} does not exist", static_cast<int>(instr.registers));
  if (instr.registers != Registers::kDefault && !row.form.registers)
    breach("leave it out", "{} has no accumulator registers", row.name);
  const bool loads = instr.op == Opcode::kTensorScalarCumulative || instr.op == Opcode::kTensorScalarReduce;
  if (instr.registers == Registers::kLoadReduce && !loads)
    breach("use reset_reduce", "{} cannot load its registers", row.name);
}

/// Source: nki.isa.nc_matmul: rows and columns in halves or quarters of the array, never both in quarters on
/// NeuronCore-v2, at a multiple of their size, and with room for the stationary tile.
void check_pe(const Instr& instr, const Row& row, const Target& target) {
  const PeTile& pe = instr.pe;
  if (pe == PeTile{}) return;
  if (!row.form.tiled) breach("leave it out", "{} does not take a tile of the PE array", row.name);
  for (const auto& [what, begin, size, of] :
       {std::tuple{"row", pe.row, pe.rows, target.geometry.array_rows},
        std::tuple{"column", pe.column, pe.columns, target.geometry.array_columns}}) {
    if (size != of && size != of / 2 && size != of / 4)
      breach(fmt::format("use {}, {} or {}", of / 4, of / 2, of), "a PE tile of {} {}s does not exist", size, what);
    if (begin % size != 0 || begin + size > of)
      breach(fmt::format("begin at a multiple of {} below {}", size, of), "the PE tile begins at {} {}", what, begin);
  }
  if (target.generation == 2 && pe.rows == target.geometry.array_rows / 4 && pe.columns == pe.rows)
    breach("make one of them larger", "PE tiles of {} x {} exist from NeuronCore-v3 on", pe.rows, pe.columns);
  if (instr.a.partitions > pe.rows || instr.a.cols() > pe.columns)
    breach("make the PE tile larger", "the stationary a is {} x {}, its PE tile {} x {}", instr.a.partitions,
           instr.a.cols(), pe.rows, pe.columns);
}

void check_flags(const Instr& instr, const Row& row, const Geometry& geometry) {
  check_alu("alu0", instr.alu0, row.form.alu0, row);
  check_alu("alu1", instr.alu1, row.form.alu1, row);
  if (instr.accumulate && !row.form.accumulate) breach("clear accumulate", "{} cannot accumulate", row.name);
  if ((instr.reverse0 || instr.reverse1) && !row.form.reverse)
    breach("clear reverse0 and reverse1", "{} cannot exchange the operands of its ALU", row.name);
  if (instr.negate && !row.form.negate) breach("clear negate", "{} cannot negate", row.name);
  if (instr.skip && !row.form.skip) breach("clear skip", "{} cannot skip rows", row.name);
  if (instr.integers && !row.form.integers) breach("write floats", "the immediates of {} cannot be integers", row.name);
  if (instr.onezero && !row.form.tiled) breach("clear onezero", "{} knows no operand of ones and zeros", row.name);
  if (instr.bitwise && !row.form.bitwise) breach("clear bitwise", "{} computes with numbers", row.name);
  if (has_steps(instr) && !row.form.steps) breach("clear them", "{} has no steps", row.name);
  check_command(instr, row);
  const std::int64_t queues = is_dma(instr.op)          ? geometry.dma_rings
                              : is_collective(instr.op) ? geometry.collective_queues
                                                        : 1;
  if (instr.queue >= queues)
    breach(fmt::format("choose a queue below {}", queues), "queue {} does not exist for {}", instr.queue, row.name);
  if (static_cast<std::size_t>(instr.fn) >= kFnCount)
    breach("name a function of isa/instr.h", "function number {} does not exist", static_cast<int>(instr.fn));
}

void check_wait_fields(const Instr& instr) {
  if (instr.wait_count > kMaxWaits)
    breach("put wait instructions before it", "it has {}, but at most {} fit", base::counted(instr.wait_count, "wait"),
           kMaxWaits);
  if (instr.op == Opcode::kWait && instr.wait_count == 0 && !instr.signal && instr.imm0 == 0)
    breach("remove it, or give it a wait or a signal", "it does nothing");
  for (int w = 0; w < instr.wait_count; ++w) {
    const Wait& wait = instr.waits[static_cast<std::size_t>(w)];
    if (wait.sem >= kSemaphores)
      breach(fmt::format("choose one below {}", kSemaphores), "semaphore {} does not exist", wait.sem);
    if (wait.count == 0) breach("remove the wait", "it waits for {}>=0, which always holds", semaphore_name(wait.sem));
  }
}

/// Source: NKI architecture guide v2: more than 64 partitions start at 0, more than 32 at 0 or 64, others at 0, 32,
/// 64, 96.
void check_partitions(std::string_view name, const Tile& tile, bool by_engine) {
  if (tile.partitions == 0) breach("give it at least one", "{} has no partition", name);
  if (tile.space == Space::kHbm) {
    if (tile.start != 0) breach("add it to the offset", "{} is in HBM and begins at partition {}", name, tile.start);
    return;
  }
  if (tile.partitions > kPartitions)
    breach("split it", "{} has {} partitions, but there are only {}", name, tile.partitions, kPartitions);
  if (tile.start + tile.partitions > kPartitions)
    breach("begin earlier, or use fewer", "{} reaches beyond partition {}", name, kPartitions);
  const int grid = tile.partitions > 64 ? kPartitions : tile.partitions > 32 ? 64 : 32;
  if (by_engine && tile.start % grid != 0)
    breach(grid == kPartitions ? "begin at 0"
           : grid == 64        ? "begin at 0 or 64"
                               : "begin at 0, 32, 64 or 96",
           "{} has {} partitions and begins at partition {}", name, tile.partitions, tile.start);
}

/// Source: NKI architecture guide v2: up to four axes of uint16 sizes and int16 steps, in elements.
void check_pattern(std::string_view name, const Tile& tile, bool limited) {
  if (tile.rank < 1 || tile.rank > 4) breach("use 1 to 4", "{} has {} free axes", name, tile.rank);
  for (int d = 0; d < tile.rank; ++d) {
    const auto [step, size] = tile.free[static_cast<std::size_t>(d)];
    if (size == 0) breach("remove the instruction, or give it elements", "axis {} of {} is empty", d, name);
    if (limited && size > std::numeric_limits<std::uint16_t>::max())
      breach("split the axis", "axis {} of {} has {} elements, but a size has 16 bits", d, name, size);
    if (limited && size > 1 &&
        (step < std::numeric_limits<std::int16_t>::min() || step > std::numeric_limits<std::int16_t>::max()))
      breach("place the tile more densely", "axis {} of {} steps {} elements, but a step has 16 bits with a sign", d,
             name, step);
  }
}

void check_on_chip(std::string_view name, const Tile& tile, const Geometry& geometry, bool limited) {
  const bool sbuf = tile.space == Space::kSbuf;
  const std::int64_t bytes = sbuf ? geometry.sbuf_partition_bytes : geometry.psum_partition_bytes;
  const std::int64_t most = sbuf ? 65536 : 4096;  // elements per partition; nki.language.tile_size
  if (tile.reg != 0) breach("allocate it first", "{} is still virtual buffer {}", name, tile.reg);
  if (tile.pstep != 0) breach("set pstep to 0", "{} is on chip and has a partition step", name);
  if (tile.offset % size_of(tile.dtype) != 0)
    breach("align it to its elements", "{} begins at byte {}, in the middle of an element", name, tile.offset);
  if (limited && tile.cols() > most)
    breach("split it", "{} has {} elements per partition, but at most {} fit", name, tile.cols(), most);
  const Extent reach = extent(tile);
  if (tile.offset + reach.low < 0 || tile.offset + reach.high > bytes)
    breach("move it, or make it smaller", "{} covers bytes {} to {}, but a partition of {} has {}", name,
           tile.offset + reach.low, tile.offset + reach.high, name_of(tile.space), bytes);
}

/// A sum of TensorE fits in one bank.
void check_one_bank(const Tile& dst, std::int64_t bank) {
  const Extent reach = extent(dst);
  const std::int64_t first = (dst.offset + reach.low) / bank, last = (dst.offset + reach.high - 1) / bank;
  if (first != last)
    breach(fmt::format("place it in one bank of {} bytes", bank),
           "dst covers PSUM banks {} to {}, but TensorE writes only one", first, last);
}

void check_tile(std::string_view name, const Tile& tile, const Instr& instr, const Target& target, SpaceSet spaces) {
  const Row& row = target.row(instr.op);
  if (!spaces.contains(tile.space)) {
    if (!tile) breach(fmt::format("name {}", name), "{} needs the operand {}", row.name, name);
    if (spaces == set_of(Space::kNone)) breach("remove it", "{} has no operand {}", row.name, name);
    std::string names;
    for (const Space space : {Space::kSbuf, Space::kPsum, Space::kHbm})
      if (spaces.contains(space)) names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(space));
    breach(fmt::format("move it to {}", names), "{} cannot have {} in {}", row.name, name, name_of(tile.space));
  }
  if (!tile) return;
  if (instr.engine == Engine::kGpSimd && tile.space == Space::kPsum && by_engine(instr))
    breach("copy it to SBUF first, or use another engine", "{} is in PSUM, which GpSimdE cannot reach", name);
  if (static_cast<std::size_t>(tile.dtype) >= kDtypeCount)
    breach("name a type of isa/dtype.h", "{} has data type number {}", name, static_cast<int>(tile.dtype));
  const bool limited = by_engine(instr);
  check_partitions(name, tile, limited);
  check_pattern(name, tile, limited && tile.space != Space::kHbm);
  if (tile.space != Space::kHbm) check_on_chip(name, tile, target.geometry, limited);
}

}  // namespace

Extent extent(const Tile& tile) {
  Extent reach{0, size_of(tile.dtype)};
  const auto add = [&reach](std::int64_t span) { (span < 0 ? reach.low : reach.high) += span; };
  for (int d = 0; d < tile.rank; ++d) {
    const auto [step, size] = tile.free[static_cast<std::size_t>(d)];
    add(std::int64_t{step} * (std::int64_t{size} - 1) * size_of(tile.dtype));
  }
  if (tile.space == Space::kHbm) add(tile.pstep * (tile.partitions - 1));
  return reach;
}

void check_form(const Instr& instr, const Target& target) {
  if (static_cast<std::size_t>(instr.op) >= kOpcodeCount)
    breach("name an instruction of the table (trnsim list isa)", "opcode {} does not exist",
           static_cast<int>(instr.op));
  const Row& row = target.row(instr.op);
  check_engine(instr, row, target.generation);
  check_flags(instr, row, target.geometry);
  check_wait_fields(instr);
  check_tile("dst", instr.dst, instr, target, row.form.dst);
  check_tile("dst2", instr.dst2, instr, target, row.form.dst2);
  check_tile("a", instr.a, instr, target, row.form.a);
  check_tile("b", instr.b, instr, target, row.form.b);
  check_tile("c", instr.c, instr, target, row.form.c);
  check_pe(instr, row, target);
  if (instr.op == Opcode::kMatMul || instr.op == Opcode::kPeTranspose)
    check_one_bank(instr.dst, target.geometry.psum_bank_bytes);
}

}  // namespace isa::detail
