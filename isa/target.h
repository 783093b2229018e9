// The target of a compilation: the sizes, rates and instructions of one generation of NeuronCores. Compiler, checker
// and machine read the same numbers; hw::MachineParams::target() fills them from a machine file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isa/check/rules.h"
#include "isa/row.h"

namespace isa {

/// Sizes of one core. isa/tile.h has the bounds that hold for every generation: partitions and the PE array are part of
/// the instruction format, memories are not.
struct Geometry {
  std::int64_t partitions = 0;                        // of SBUF and PSUM
  std::int64_t sbuf_partition_bytes = 0;              // bytes of one partition
  std::int64_t psum_partition_bytes = 0;              // the same
  std::int64_t psum_bank_bytes = 0;                   // per partition: the most that a matmul may write
  std::int64_t array_rows = 0, array_columns = 0;     // PE array: contracted axis, columns of the stationary operand
  std::int64_t moving_columns = 0;                    // columns of the moving operand, at most
  std::int64_t dma_rings = 0, collective_queues = 0;  // each in order

  std::int64_t psum_banks() const { return psum_partition_bytes / psum_bank_bytes; }
  bool operator==(const Geometry&) const = default;
};

struct Target {
  int generation = 0;  // of the NeuronCore: 2 on Trainium
  Geometry geometry;
  Timing timing;
  const Row* instructions = nullptr;  // by opcode (isa/table.h); none: no machine is named

  const Row& row(Opcode op) const { return instructions[static_cast<std::size_t>(op)]; }
  /// Seconds of the engine that executes the instruction.
  double seconds(double cycles, Engine engine) const { return cycles / timing.clock[static_cast<std::size_t>(engine)]; }
  bool operator==(const Target& other) const;
};

/// Whether the engine has such instructions on this target.
inline bool runs_on(Engine engine, Opcode op, const Target& target) { return target.row(op).engines.contains(engine); }
/// The cost of an instruction on this target: the cost column of its row.
inline Cost cost_of(const Instr& instr, const Target& target) {
  return target.row(instr.op).cost(instr, target.timing);
}

/// The instructions of a generation of NeuronCores, by opcode; null for one that the tables do not know. Names, formats
/// and semantics are the same in all generations: kTable has them.
const Row* instructions(int generation);

/// Every number of the target. Targets with equal texts are equal: a cache of programs has it in its key.
std::string text_of(const Target& target);

/// The reason why programs cannot be written for the target: it was never filled in, or it exceeds the instruction
/// format or the simulated memory.
std::optional<rule::Breach> problem_of(const Target& target);

}  // namespace isa
