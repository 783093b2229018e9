// How much work and how much data an instruction is. Nothing here knows of time.
#pragma once

#include <array>
#include <cstdint>

#include "isa/operands.h"

namespace isa {

/// Multiply-accumulates of a kMatMul, 0 for all others.
constexpr double matmul_macs(const Instr& instr) {
  if (instr.op != Opcode::kMatMul) return 0;
  return static_cast<double>(instr.a.partitions) * static_cast<double>(instr.a.cols()) *
         static_cast<double>(instr.b.cols());
}
/// 2 x MACs: what counts as model FLOPs on TensorE.
constexpr double matmul_flops(const Instr& instr) { return 2 * matmul_macs(instr); }

/// FLOPs that TensorE spends on a kPeTranspose (an identity matmul): work of the array, but none of the model's.
constexpr double transpose_flops(const Instr& instr) {
  if (instr.op != Opcode::kPeTranspose) return 0;
  const auto partitions = static_cast<double>(instr.a.partitions);
  return 2 * partitions * partitions * static_cast<double>(instr.a.cols());
}

/// Arithmetic of VectorE, ScalarE and GpSimdE, by the flops column of the table; moves and selections count 0.
double elementwise_flops(const Instr& instr);

/// Bytes per memory, indexed by Space (kNone stays 0).
using Traffic = std::array<std::int64_t, 4>;

/// The bytes that the instruction reads. A gather counts the rows that it fetches, not the table; a collective's
/// operand is counted once (its wire traffic belongs to hw/). A broadcast axis or partition counts as often as it is
/// delivered.
constexpr Traffic bytes_read(const Instr& instr) {
  Traffic out{};
  const bool gather = instr.op == Opcode::kDmaGather;
  if (instr.a)
    out[static_cast<std::size_t>(instr.a.space)] +=
        gather ? instr.dst.elements() * size_of(instr.a.dtype) : instr.a.bytes();
  for (const Tile* tile : {&instr.b, &instr.c})
    if (*tile) out[static_cast<std::size_t>(tile->space)] += tile->bytes();
  if (instr.accumulate && instr.dst) {
    const bool scatter = instr.op == Opcode::kDmaScatter;
    out[static_cast<std::size_t>(instr.dst.space)] +=
        scatter ? instr.a.elements() * size_of(instr.dst.dtype) : instr.dst.bytes();
  }
  return out;
}

/// The bytes that the instruction writes. A scatter counts the rows that it stores, not the table.
constexpr Traffic bytes_written(const Instr& instr) {
  Traffic out{};
  if (instr.dst) {
    const bool scatter = instr.op == Opcode::kDmaScatter;
    out[static_cast<std::size_t>(instr.dst.space)] +=
        scatter ? instr.a.elements() * size_of(instr.dst.dtype) : instr.dst.bytes();
  }
  if (instr.dst2) out[static_cast<std::size_t>(instr.dst2.space)] += instr.dst2.bytes();
  return out;
}

}  // namespace isa
