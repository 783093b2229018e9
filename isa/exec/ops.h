// The semantics of every instruction: one function per row of the instruction table.
#pragma once

#include <cstdint>

#include "isa/exec.h"

namespace isa::exec {

// All of them: shapes and meaning as the comments of Opcode (isa/instr.h) say. Elements of operands are paired in flat
// order, so that operands may have differently folded free axes as long as the elements per partition agree.
// Errors: Fault::kProgram when a shape, type or ALU operation does not fit; Fault::kData for an index out of range.

// TensorE
void matmul(const Instr& instr, std::uint32_t index, Context& context);
void pe_transpose(const Instr& instr, std::uint32_t index, Context& context);

// VectorE, ScalarE, GpSimdE: element-wise
void vector_transpose(const Instr& instr, std::uint32_t index, Context& context);
void tensor_tensor(const Instr& instr, std::uint32_t index, Context& context);
void tensor_scalar(const Instr& instr, std::uint32_t index, Context& context);
void tensor_scalar_reduce(const Instr& instr, std::uint32_t index, Context& context);
void scalar_tensor_tensor(const Instr& instr, std::uint32_t index, Context& context);
void tensor_tensor_scan(const Instr& instr, std::uint32_t index, Context& context);
void tensor_reduce(const Instr& instr, std::uint32_t index, Context& context);
void tensor_copy(const Instr& instr, std::uint32_t index, Context& context);
void tensor_copy_dynamic_dst(const Instr& instr, std::uint32_t index, Context& context);
void tensor_scalar_cumulative(const Instr& instr, std::uint32_t index, Context& context);
void set_rng_seed(const Instr& instr, std::uint32_t index, Context& context);
void rand_set_state(const Instr& instr, std::uint32_t index, Context& context);
void rand_get_state(const Instr& instr, std::uint32_t index, Context& context);
void rng_of_lanes(const Instr& instr, Context& context);
void n_gather(const Instr& instr, std::uint32_t index, Context& context);
void tensor_copy_dynamic(const Instr& instr, std::uint32_t index, Context& context);
void copy_predicated(const Instr& instr, std::uint32_t index, Context& context);
void select(const Instr& instr, std::uint32_t index, Context& context);
void select_reduce(const Instr& instr, std::uint32_t index, Context& context);
void bn_stats(const Instr& instr, std::uint32_t index, Context& context);
void bn_aggr(const Instr& instr, std::uint32_t index, Context& context);
void reciprocal(const Instr& instr, std::uint32_t index, Context& context);
void dropout(const Instr& instr, std::uint32_t index, Context& context);
void rng(const Instr& instr, std::uint32_t index, Context& context);
void memset(const Instr& instr, std::uint32_t index, Context& context);
void stream_shuffle(const Instr& instr, std::uint32_t index, Context& context);
void max8(const Instr& instr, std::uint32_t index, Context& context);
void find_index8(const Instr& instr, std::uint32_t index, Context& context);
void match_replace8(const Instr& instr, std::uint32_t index, Context& context);
void activation(const Instr& instr, std::uint32_t index, Context& context);
void activation_reduce(const Instr& instr, std::uint32_t index, Context& context);
void iota(const Instr& instr, std::uint32_t index, Context& context);
void affine_select(const Instr& instr, std::uint32_t index, Context& context);
void local_gather(const Instr& instr, std::uint32_t index, Context& context);
void partition_reduce(const Instr& instr, std::uint32_t index, Context& context);
void sequence_bounds(const Instr& instr, std::uint32_t index, Context& context);

// DMA
void dma_copy(const Instr& instr, std::uint32_t index, Context& context);
void dma_gather(const Instr& instr, std::uint32_t index, Context& context);
void dma_scatter(const Instr& instr, std::uint32_t index, Context& context);
void dma_transpose(const Instr& instr, std::uint32_t index, Context& context);

/// The row of every collective (kAllReduce to kBarrier): it meets other ranks, so it runs by execute_collective only.
/// Errors: always Fault::kInternal.
void collective(const Instr& instr, std::uint32_t index, Context& context);
/// kWait, kCoreBarrier: only the sequencer waits.
void wait(const Instr& instr, std::uint32_t index, Context& context);
/// kRangeSelect, kCustomOp: rows without semantics on this machine. Errors: always Fault::kProgram.
void range_select(const Instr& instr, std::uint32_t index, Context& context);
void unsupported(const Instr& instr, std::uint32_t index, Context& context);

}  // namespace isa::exec
