// Which operands an instruction reads and writes, and which ports of which memory that takes.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instr.h"

namespace isa {

/// Up to five operands of one instruction; points into the instruction, which must outlive it.
class Operands {
 public:
  constexpr void add(const Tile& tile) {
    if (tile) tiles_[static_cast<std::size_t>(size_++)] = &tile;
  }
  constexpr const Tile* const* begin() const { return tiles_.data(); }
  constexpr const Tile* const* end() const { return tiles_.data() + size_; }
  constexpr int size() const { return size_; }

 private:
  std::array<const Tile*, 5> tiles_{};
  int size_ = 0;
};

/// The operands whose bytes the result depends on: a, b, c, and dst where the instruction adds to it or leaves part of
/// it unchanged.
constexpr Operands reads(const Instr& instr) {
  Operands out;
  out.add(instr.a);
  out.add(instr.b);
  out.add(instr.c);
  const bool keeps = instr.op == Opcode::kCopyPredicated || instr.op == Opcode::kStreamShuffle ||
                     instr.op == Opcode::kTensorCopyDynamicDst || instr.skip;
  if (instr.accumulate || keeps) out.add(instr.dst);
  return out;
}

constexpr Operands writes(const Instr& instr) {
  Operands out;
  out.add(instr.dst);
  out.add(instr.dst2);
  return out;
}

/// The command to the engine's accumulator registers.
constexpr Registers command_of(const Instr& instr) {
  if (instr.registers != Registers::kDefault) return instr.registers;
  const bool reduces = instr.dst2 && instr.op != Opcode::kMatchReplace8;
  const bool always = instr.op == Opcode::kTensorScalarCumulative || instr.op == Opcode::kTensorScalarReduce;
  return reduces || always ? Registers::kResetReduce : Registers::kIdle;
}

constexpr bool uses(const Instr& instr, Space space) {
  return instr.dst.space == space || instr.dst2.space == space || instr.a.space == space || instr.b.space == space ||
         instr.c.space == space;
}
/// On NeuronCore-v2 VectorE and GpSimdE exclude each other on SBUF, VectorE and ScalarE on PSUM. Source: NKI
/// architecture guide v2.
constexpr bool uses_sbuf(const Instr& instr) { return uses(instr, Space::kSbuf); }
constexpr bool uses_psum(const Instr& instr) { return uses(instr, Space::kPsum); }

/// Bytes from one element to the next along the innermost axis that has more than one, 0 for a single element.
constexpr std::int64_t inner_stride_bytes(const Tile& tile) {
  for (int d = tile.rank - 1; d >= 0; --d) {
    if (tile.free[static_cast<std::size_t>(d)].size <= 1) continue;
    const std::int64_t step = tile.free[static_cast<std::size_t>(d)].step;
    return (step < 0 ? -step : step) * size_of(tile.dtype);
  }
  return 0;
}

/// 2 when an on-chip operand strides 16 bytes or more, which halves its port; otherwise 1. DMA has no such port: 1.
/// Source: NKI architecture guide v2 (full rate below 16 bytes, half above; exactly 16 is counted as half).
constexpr int port_slowdown(const Instr& instr) {
  if (is_dma(instr.op) || is_collective(instr.op)) return 1;
  constexpr std::int64_t kFullRateBytes = 16;
  for (const Tile* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (*tile && tile->space != Space::kHbm && inner_stride_bytes(*tile) >= kFullRateBytes) return 2;
  return 1;
}

}  // namespace isa
