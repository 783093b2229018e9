// The rule column of the instruction table: the relations between an instruction's operands.
#pragma once

#include <string>
#include <string_view>

#include "isa/instr.h"

namespace isa::rule {

/// A broken rule, before the checker has put the place and the instruction's text in front of it.
struct Breach {
  std::string what;
  std::string fix;
};

// Each throws Breach. Spaces, presence of operands and ALU operations are checked before, by the row's Form.
void matmul(const Instr& i);
void pe_transpose(const Instr& i);
void vector_transpose(const Instr& i);
void tensor_tensor(const Instr& i);
void tensor_scalar(const Instr& i);
void tensor_scalar_reduce(const Instr& i);
void scalar_tensor_tensor(const Instr& i);
void scan(const Instr& i);
void tensor_reduce(const Instr& i);
void copy(const Instr& i);
void dynamic_copy(const Instr& i);
void dynamic_copy_dst(const Instr& i);
void cumulative(const Instr& i);
void copy_predicated(const Instr& i);
void select(const Instr& i);
void bn_stats(const Instr& i);
void bn_aggr(const Instr& i);
void unary(const Instr& i);
void dropout(const Instr& i);
void rng(const Instr& i);
void set_rng_seed(const Instr& i);
void stream_shuffle(const Instr& i);
void max8(const Instr& i);
void find_index8(const Instr& i);
void match_replace8(const Instr& i);
void activation(const Instr& i);
void activation_v3(const Instr& i);  // with numbers as bias
void affine_select(const Instr& i);
void local_gather(const Instr& i);
void n_gather(const Instr& i);
void partition_reduce(const Instr& i);
void rand_state(const Instr& i);
void sequence_bounds(const Instr& i);
void dma_copy(const Instr& i);
void dma_gather(const Instr& i);
void dma_scatter(const Instr& i);
void dma_transpose(const Instr& i);
void collective(const Instr& i);
void free(const Instr& i);  // nothing beyond the Form
void range_select(const Instr& i);
void unsupported(const Instr& i);  // of a row that no engine has: the checker gives its note as the reason

}  // namespace isa::rule
