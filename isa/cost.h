// What an instruction costs. Cost functions read the instruction's shape and Timing, never data.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instr.h"

namespace isa {

/// Cycles of the engine that executes the instruction.
struct Cost {
  double occupy = 0;   // until the engine can issue its next instruction
  double latency = 0;  // until the result is visible to others (>= occupy)
};

/// The numbers that cost functions may read; hw/ fills them from the machine's parameter file.
struct Timing {
  double min_interval = 0;                      // MIN_II, cycles of the executing engine
  std::array<double, kEngineCount> fixed{};     // result latency beyond `occupy`, cycles of that engine
  double fp32_passes = 0;                       // TensorE passes for fp32 operands
  double load_stationary_speedup = 0;           // fast load: columns per cycle
  double activation_read = 0;                   // cycles to read the accumulator of activation_reduce
  double gpsimd_start = 0;                      // cycles before GpSimdE's first element
  double dynamic_min = 0;                       // cycles of a register-addressed copy, at least
};

}  // namespace isa
