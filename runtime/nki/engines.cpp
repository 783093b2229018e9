// Which engine runs an instruction that several can run: the one that is done first with what it was given so far.
#include <array>

#include "runtime/nki/trace.h"

namespace runtime::nki {

using isa::Alu;
using isa::Engine;
using isa::Opcode;
using isa::Space;

/// The same on ScalarE: its function takes a factor and a bias for each partition. Nothing when it cannot.
std::optional<isa::Instr> Trace::on_scalar(const isa::Instr& instr) {
  isa::Instr out = instr;
  out.engine = Engine::kScalar;
  if (instr.op == Opcode::kTensorCopy) return out;
  out.op = Opcode::kActivation;
  out.fn = isa::Fn::kCopy;
  out.alu0 = out.alu1 = Alu::kNone;
  out.reverse0 = out.reverse1 = false;
  if (instr.op == Opcode::kReciprocal) {
    out.fn = isa::Fn::kReciprocal, out.imm0 = 1;
    return out;
  }
  if (instr.op != Opcode::kTensorScalar || isa::is_integer(instr.a.dtype) || isa::is_integer(instr.dst.dtype))
    return std::nullopt;
  const bool adds = instr.alu0 == Alu::kAdd || (instr.alu0 == Alu::kSub && !instr.reverse0 && !instr.b);
  if (adds && instr.alu1 == Alu::kNone) {
    out.b = Tile{}, out.imm0 = 1;
    out.c = instr.b, out.imm1 = instr.alu0 == Alu::kSub ? -instr.imm0 : instr.imm0;
  } else if (!(instr.alu0 == Alu::kMul && (instr.alu1 == Alu::kNone || instr.alu1 == Alu::kAdd))) {
    return std::nullopt;
  } else if (instr.alu1 == Alu::kNone) {
    out.c = Tile{}, out.imm1 = 0;
  }
  if (out.b && out.b.dtype != isa::Dtype::kFp32) return std::nullopt;
  if (out.c && isa::is_integer(out.c.dtype)) return std::nullopt;
  if (!out.c && out.imm1 != 0) {  // a bias is a tile
    out.c = read_tile(cut(constant(out.imm1), 0, 0, out.a.partitions));
    if (out.c.start != out.a.start) out.c = instr.c;
    out.imm1 = 0;
  }
  return out;
}

void Trace::choose_engine(isa::Instr& instr) {
  const bool psum = instr.dst.space == Space::kPsum || instr.a.space == Space::kPsum;
  const bool whole_numbers = isa::is_integer(instr.a.dtype) && isa::size_of(instr.a.dtype) > 2;
  // Source: profiles of kernels on Trn1 (nkibench): copies from PSUM run on ScalarE, beside matmuls and VectorE.
  if (instr.op == Opcode::kTensorCopy && psum && !whole_numbers) {
    instr.engine = Engine::kScalar;
    return;
  }
  instr.engine = Engine::kVector;
  if (instr.op == Opcode::kMemset) {
    isa::Instr other = instr;
    other.engine = Engine::kGpSimd;
    if (!psum && done_after(other) < done_after(instr)) instr = other;
    return;
  }
  if (whole_numbers) return;
  // Source: the same profiles (adamw, silu, rmsnorm_matmul): busy shares have every tensor_scalar on ScalarE, also
  // where VectorE has less to do.
  const bool scalars = instr.op == Opcode::kTensorScalar;
  if (const auto other = on_scalar(instr); other && (scalars || done_after(*other) < done_after(instr))) instr = *other;
}

}  // namespace runtime::nki
