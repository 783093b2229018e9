// The accumulator registers of ScalarE and VectorE. For isa/exec_*.cpp only.
#pragma once

#include "isa/exec/operand.h"
#include "isa/operands.h"

namespace isa::exec {

/// The register of row p of `instr`: one per partition of its engine.
inline float& register_of(const Instr& instr, std::int64_t p, Context& context) {
  EngineState& state = context.memory.engines();
  const auto lane = static_cast<std::size_t>(instr.a.start + p);
  return instr.engine == Engine::kScalar ? state.scalar.at(lane) : state.vector.at(lane);
}

/// Row p's register after its elements gave `result` by `op`. Sums start at 0, maxima at -infinity.
inline float accumulate(const Instr& instr, Alu op, std::int64_t p, float result, Context& context) {
  float& value = register_of(instr, p, context);
  switch (command_of(instr)) {
    case Registers::kReset: value = identity_of(op); break;
    case Registers::kLoadReduce:  // the instruction has set it
    case Registers::kReduce: combine(instr, {op, false}, &value, {nullptr, result}, &value, 1); break;
    case Registers::kResetReduce: value = result; break;
    default: break;
  }
  return value;
}

}  // namespace isa::exec
