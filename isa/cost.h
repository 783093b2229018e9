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
  double min_interval = 0;                   // MIN_II, cycles of the executing engine
  std::array<double, kEngineCount> fixed{};  // result latency beyond `occupy`, cycles of that engine
  double fp32_passes = 0;                    // TensorE passes for fp32 operands
  double load_stationary_speedup = 0;        // fast load: columns per cycle
  double activation_read = 0;                // cycles to read the accumulator of activation_reduce
  double gpsimd_start = 0;                   // cycles before GpSimdE's first element
  double dynamic_min = 0;                    // cycles of a register-addressed copy, at least
};

/// TensorE cycles to load the stationary operand of kMatMul or kPeTranspose (0 for all others). The next stationary
/// loads in the background of the running matmul: it delays the engine only by what exceeds that one. Source: AWS
/// Neuron docs, NKI architecture guide v2 ("Background LoadStationary", "Fast LoadStationary": up to 4 columns per
/// cycle).
double stationary_load_cycles(const Instr& instr, const Timing& timing);

/// The cost column of the instruction table (isa/table.h), which has the formula of each as text. N: elements per
/// partition of the input, all in cycles of the executing engine. Source: AWS Neuron SDK 2.26.1, nki.isa, unless said.
namespace cost {
Cost matmul(const Instr& i, const Timing& t);
Cost pe_transpose(const Instr& i, const Timing& t);
Cost one_input(const Instr& i, const Timing& t);         // max(MIN_II, N)
Cost one_input_reduce(const Instr& i, const Timing& t);  // max(MIN_II, N) + MIN_II
Cost activation_reduce(const Instr& i, const Timing& t);
Cost tensor_tensor(const Instr& i, const Timing& t);
Cost tensor_scalar(const Instr& i, const Timing& t);
Cost scalar_tensor_tensor(const Instr& i, const Timing& t);
Cost scan(const Instr& i, const Timing& t);
Cost tensor_reduce(const Instr& i, const Timing& t);
Cost dynamic_copy(const Instr& i, const Timing& t);
Cost copy_predicated(const Instr& i, const Timing& t);
Cost select(const Instr& i, const Timing& t);
Cost select_reduce(const Instr& i, const Timing& t);
Cost bn_aggr(const Instr& i, const Timing& t);
Cost reciprocal(const Instr& i, const Timing& t);
Cost generated(const Instr& i, const Timing& t);  // max(MIN_II, N), N of the output: there is no input
Cost memset(const Instr& i, const Timing& t);
Cost gpsimd_pattern(const Instr& i, const Timing& t);  // GPSIMD_START + N of the output
Cost local_gather(const Instr& i, const Timing& t);
Cost partition_reduce(const Instr& i, const Timing& t);
Cost sequence_bounds(const Instr& i, const Timing& t);
Cost issued(const Instr& i, const Timing& t);  // MIN_II of the sequencer: the rest happens elsewhere (hw/)
}  // namespace cost

}  // namespace isa
