// Costs of instructions. Cost functions read the instruction's shape and Timing, never data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "isa/instr.h"

namespace isa {

/// Cycles of the engine that executes the instruction.
struct Cost {
  double occupy = 0;   // until the engine can issue its next instruction
  double latency = 0;  // until the result is visible to others (>= occupy)
};

/// The DMA engines of a core.
struct DmaTiming {
  double start = 0;                // seconds from the issue to the first descriptor
  double wake = 0;                 // seconds from a semaphore to the issue of the waiting instruction
  double engines = 0;              // per core
  double engine_rate = 0;          // bytes per second of one engine, reading or writing
  double setup = 0;                // seconds of a descriptor that no data moves in
  double indexed_setup = 0;        // the same where software makes it: gathers and scatters
  double overlap = 0;              // bytes from which a descriptor is written while it is read
  double completion = 0;           // seconds of the descriptor that raises the semaphore
  double rate = 0;                 // bytes per second of one engine's share of the common path
  double descriptor_overhead = 0;  // time of a descriptor there, in bytes at that rate
  double packet = 0;               // bytes of the longest descriptor
  double transpose = 0;            // rate of a transpose, of that of a copy; 0: it takes descriptors of one element
  bool operator==(const DmaTiming&) const = default;
};

/// Where VectorE takes more than an element in a cycle.
struct VectorModes {
  double wide = 1;              // elements of up to 32 bits that a lane takes from SBUF in a cycle
  double narrow_copy = 1;       // times faster with bf16 and fp16, from SBUF to SBUF
  double narrow_copy_part = 1;  // the same with gaps, or with PSUM on one side
  double narrow_pair = 1;       // the same for two tiles from SBUF
  bool operator==(const VectorModes&) const = default;
};

/// The numbers that cost functions may read; hw/ fills them from the machine's parameter file.
struct Timing {
  double min_interval = 0;                   // MIN_II, cycles of the executing engine
  double semaphore = 0;                      // seconds from a visible result to the waiting engine
  double iteration = 0;                      // seconds between two iterations of a loop of the sequencers
  std::array<double, kEngineCount> fixed{};  // result latency beyond `occupy`, cycles of that engine
  double fp32_passes = 0;                    // TensorE passes for fp32 operands
  double fp32_transpose_passes = 0;          // the same for a transpose
  double load_stationary_speedup = 0;        // fast load: columns per cycle
  double scalar_start = 0;                   // cycles that ScalarE is held before the first element
  double activation_read = 0;                // cycles to read the accumulator of activation_reduce
  double gpsimd_start = 0;                   // cycles before GpSimdE's first element
  double dynamic_min = 0;                    // cycles of a register-addressed copy, at least
  double scalar_function = 0;                // cycles that ScalarE is held besides when it computes a function
  double vector_start = 0;                   // cycles that VectorE is held before the first element
  double operand_read = 0;                   // cycles that VectorE is held to read a number of each partition
  VectorModes vector;
  std::array<double, kEngineCount> clock{};  // Hz
  DmaTiming dma;
  bool operator==(const Timing&) const = default;
};

/// TensorE cycles to load the stationary operand of kMatMul or kPeTranspose (0 for all others). The next stationary
/// loads in the background of the running matmul: it delays the engine only by the time that exceeds it. Source: AWS
/// Neuron docs, NKI architecture guide v2 ("Background LoadStationary", "Fast LoadStationary": up to 4 columns per
/// cycle).
double stationary_load_cycles(const Instr& instr, const Timing& timing);

/// The activation table that an instruction needs in ScalarE: absent for those that only scale, square, compare or
/// copy. Assumed: one table per function; no source says which functions share a table.
std::optional<Fn> activation_table(const Instr& instr);

/// How the DMA engines move an instruction (a DMA). A descriptor holds its engine until it is read; a short one is
/// written only then, which is latency: the engine already reads the next one. All engines of a core together also
/// share a path to memory, which limits them when all are at work.
/// Source: profiles of NeuronCore-v2 (v2_nm297 to v2_nm310), bandwidths of busy queues (hbm_read_1, hbm_read_1k).
struct DmaCost {
  std::int64_t descriptors = 0;  // one per contiguous piece, at most a packet long
  double seconds = 0;            // of one DMA engine, all descriptors together; twice for a read-modify-write
  double width = 0;              // DMA engines that it can keep busy
  double shared = 0;             // seconds on the path that engines share, when it is otherwise idle
  double tail = 0;               // seconds from the end of the last descriptor's reading to the raised semaphore

  /// Seconds without other transfers.
  double alone() const { return std::max(seconds / width + tail, shared); }
};
DmaCost dma_cost(const Instr& instr, const DmaTiming& dma);

/// Elements of `tile` that are contiguous in its memory, from the first one on.
std::int64_t contiguous_run(const Tile& tile);

/// The cost column of the instruction table (isa/table.h), which has the formula of each as text. N: elements per
/// partition of the input, all in cycles of the executing engine. Source: AWS Neuron SDK 2.26.1, nki.isa, unless said.
namespace cost {
Cost matmul(const Instr& i, const Timing& t);
Cost pe_transpose(const Instr& i, const Timing& t);
Cost one_input(const Instr& i, const Timing& t);  // max(MIN_II, N); ScalarE: START + N
Cost tensor_copy(const Instr& i, const Timing& t);
Cost one_input_reduce(const Instr& i, const Timing& t);  // max(MIN_II, N) + MIN_II
Cost activation_reduce(const Instr& i, const Timing& t);
Cost tensor_tensor(const Instr& i, const Timing& t);
Cost tensor_scalar(const Instr& i, const Timing& t);
Cost scalar_tensor_tensor(const Instr& i, const Timing& t);
Cost scan(const Instr& i, const Timing& t);
Cost tensor_reduce(const Instr& i, const Timing& t);
Cost dynamic_copy(const Instr& i, const Timing& t);
Cost dynamic_copy_dst(const Instr& i, const Timing& t);
Cost copy_predicated(const Instr& i, const Timing& t);
Cost select(const Instr& i, const Timing& t);
Cost select_reduce(const Instr& i, const Timing& t);
Cost bn_aggr(const Instr& i, const Timing& t);
Cost reciprocal(const Instr& i, const Timing& t);
Cost generated(const Instr& i, const Timing& t);  // max(MIN_II, N), N of the output: there is no input
Cost memset(const Instr& i, const Timing& t);
Cost gpsimd_pattern(const Instr& i, const Timing& t);  // GPSIMD_START + N of the output
Cost local_gather(const Instr& i, const Timing& t);
Cost n_gather(const Instr& i, const Timing& t);
Cost partition_reduce(const Instr& i, const Timing& t);
Cost sequence_bounds(const Instr& i, const Timing& t);
Cost issued(const Instr& i, const Timing& t);  // MIN_II of the sequencer: the rest happens elsewhere (hw/)
Cost waited(const Instr& i, const Timing& t);  // the same, and the time to the next iteration behind imm0 1
}  // namespace cost

}  // namespace isa
