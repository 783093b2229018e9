#include "runtime/compiler/engine_books.h"

#include <utility>

#include "isa/operands.h"

namespace runtime {
namespace {

using isa::Alu;
using isa::Engine;
using isa::Instr;
using isa::Opcode;
using isa::Space;
using isa::Tile;

constexpr float kNoBias = -0.0f;  // added to a number, it changes none; +0 would make +0 of -0

/// A tensor_scalar as factor and bias: x * imm0 or b, + imm1 or c. Nothing for other operations.
std::optional<Instr> as_factor_and_bias(const Instr& instr, Instr out, const EngineBooks::NumberTile& number_tile) {
  if (isa::is_integer(instr.a.dtype) || isa::is_integer(instr.dst.dtype)) return std::nullopt;
  const bool adds = instr.alu0 == Alu::kAdd || (instr.alu0 == Alu::kSub && !instr.reverse0 && !instr.b);
  if (adds && instr.alu1 == Alu::kNone) {
    out.b = Tile{}, out.imm0 = 1;
    out.c = instr.b, out.imm1 = instr.alu0 == Alu::kSub ? -instr.imm0 : instr.imm0;
  } else if (!(instr.alu0 == Alu::kMul && (instr.alu1 == Alu::kNone || instr.alu1 == Alu::kAdd))) {
    return std::nullopt;
  } else if (instr.alu1 == Alu::kNone) {
    out.c = Tile{}, out.imm1 = kNoBias;
  }
  if (out.b && out.b.dtype != isa::Dtype::kFp32) return std::nullopt;
  if (out.c && isa::is_integer(out.c.dtype)) return std::nullopt;
  if (!out.c && out.imm1 != 0) {  // a bias is a tile
    if (!number_tile) return std::nullopt;
    out.c = number_tile(out.imm1, out.a), out.imm1 = 0;
  }
  return out;
}

/// The same on ScalarE: its function takes a factor and a bias for each partition. Nothing when it cannot.
std::optional<Instr> on_scalar(const Instr& instr, const EngineBooks::NumberTile& number_tile) {
  Instr out = instr;
  out.engine = Engine::kScalar;
  if (instr.op == Opcode::kTensorCopy) return out;
  out.op = Opcode::kActivation;
  out.fn = isa::Fn::kCopy;
  out.alu0 = out.alu1 = Alu::kNone;
  out.reverse0 = out.reverse1 = false;
  if (instr.op == Opcode::kTensorScalar) return as_factor_and_bias(instr, out, number_tile);
  if (instr.op != Opcode::kReciprocal) return std::nullopt;
  out.fn = isa::Fn::kReciprocal, out.imm0 = 1, out.imm1 = kNoBias;
  return out;
}

/// The larger of a number and 0 as ScalarE's function; nothing for other operations.
std::optional<Instr> as_relu(const Instr& instr) {
  const bool relu = instr.op == Opcode::kTensorScalar && instr.alu0 == Alu::kMax && instr.alu1 == Alu::kNone &&
                    !instr.b && instr.imm0 == 0;
  if (!relu || isa::is_integer(instr.a.dtype) || isa::is_integer(instr.dst.dtype)) return std::nullopt;
  Instr out = instr;
  out.engine = Engine::kScalar, out.op = Opcode::kActivation, out.fn = isa::Fn::kRelu;
  out.alu0 = Alu::kNone, out.imm0 = 1;
  return out;
}

}  // namespace

double EngineBooks::done_after(const Instr& instr) const {
  const double cycles = isa::cost_of(instr, target_).occupy * isa::port_slowdown(instr);
  return busy_[static_cast<std::size_t>(instr.engine)] + target_.seconds(cycles, instr.engine);
}

void EngineBooks::add(const Instr& instr) {
  const bool chosen_among = instr.engine == Engine::kVector || instr.engine == Engine::kScalar ||
                            instr.engine == Engine::kGpSimd;  // no other engine could do TensorE's work
  if (chosen_among && !isa::is_dma(instr.op) && !isa::is_collective(instr.op))
    busy_[static_cast<std::size_t>(instr.engine)] = done_after(instr);
}

Instr EngineBooks::choose(Instr instr, const NumberTile& number_tile) const {
  const bool psum = instr.dst.space == Space::kPsum || instr.a.space == Space::kPsum;
  const bool wide_integers = isa::is_integer(instr.a.dtype) && isa::size_of(instr.a.dtype) > 2;  // fp32 has 24 bits
  instr.engine = Engine::kVector;
  if (instr.op == Opcode::kMemset) {
    Instr other = instr;
    other.engine = Engine::kGpSimd;  // it does not reach PSUM
    return !psum && (policy_.sbuf_fills_on_gpsimd || done_after(other) < done_after(instr)) ? other : instr;
  }
  if (wide_integers) return instr;
  auto other = on_scalar(instr, number_tile);
  if (!other && !policy_.tensor_scalars_on_scalar) other = as_relu(instr);
  if (!other) return instr;
  const bool always = (instr.op == Opcode::kTensorCopy && psum && policy_.psum_copies_on_scalar) ||
                      (instr.op == Opcode::kTensorScalar && policy_.tensor_scalars_on_scalar);
  return always || done_after(*other) < done_after(instr) ? *other : instr;
}

// Loads and stores have rings of their own, and different sequencers issue them: a store that waits for its result must
// not hold back the loads of the next tiles.
Instr EngineBooks::load(Instr dma) {
  const auto loads = static_cast<int>(target_.geometry.dma_rings / 2);
  dma.engine = Engine::kSync;
  dma.queue = static_cast<std::uint8_t>(std::exchange(next_ring_[0], (next_ring_[0] + 1) % loads));
  return dma;
}

Instr EngineBooks::store(Instr dma) {
  const auto rings = static_cast<int>(target_.geometry.dma_rings), loads = rings / 2;
  dma.engine = Engine::kGpSimd;
  dma.queue = static_cast<std::uint8_t>(loads + std::exchange(next_ring_[1], (next_ring_[1] + 1) % (rings - loads)));
  return dma;
}

}  // namespace runtime
