// Rules of shapes, one for each form of operator: they check the specification's constraints and give the results'
// types.
#pragma once

#include <vector>

#include "frontend/ops/contract.h"

namespace trnsim::frontend::rules {

using Types = std::vector<Type>;

/// Classes of elements that an operator takes, as bits.
inline constexpr unsigned kB = 1, kS = 2, kU = 4, kF = 8, kC = 16, kInt = kS | kU, kAny = 31;
/// All operands, of those classes, have the same type, and the result has it too.
Types same_as_operands(const Contract& c, unsigned classes);
template <unsigned kClasses>
Types same(const Contract& c) {
  return same_as_operands(c, kClasses);
}
Types absolute(const Contract& c);
Types compare(const Contract& c);
Types complex(const Contract& c);
Types part(const Contract& c);       // real, imag
Types predicate(const Contract& c);  // is_finite and its kin
Types select(const Contract& c);
Types clamp(const Contract& c);
Types reduce_precision(const Contract& c);

Types convert(const Contract& c);
Types bitcast_convert(const Contract& c);

Types constant(const Contract& c);
Types iota(const Contract& c);
Types broadcast_in_dim(const Contract& c);
Types broadcast(const Contract& c);
Types implicit_broadcast(const Contract& c);  // chlo.broadcast_*
Types reshape(const Contract& c);
Types slice(const Contract& c);
Types transpose(const Contract& c);
Types reverse(const Contract& c);
Types concatenate(const Contract& c);
Types pad(const Contract& c);
Types stated_shape(const Contract& c);  // dynamic forms whose result has known sizes

Types dynamic_slice(const Contract& c);
Types dynamic_update_slice(const Contract& c);
Types gather(const Contract& c);
Types scatter(const Contract& c);
Types torch_index_select(const Contract& c);

Types reduce(const Contract& c);
Types reduce_window(const Contract& c);
Types select_and_scatter(const Contract& c);
Types sort(const Contract& c);
Types map(const Contract& c);
Types scan(const Contract& c);
Types top_k(const Contract& c);
Types batch_norm_training(const Contract& c);
Types batch_norm_inference(const Contract& c);
Types batch_norm_grad(const Contract& c);

Types dot(const Contract& c);
Types dot_general(const Contract& c);
Types einsum(const Contract& c);
Types convolution(const Contract& c);
Types fft(const Contract& c);
Types cholesky(const Contract& c);
Types triangular_solve(const Contract& c);

Types loop(const Contract& c);
Types branches(const Contract& c);
Types call(const Contract& c);
Types async_start(const Contract& c);
Types stated(const Contract& c);    // as the program says: custom calls, transfers
Types operands(const Contract& c);  // those of the operands: optimization_barrier
Types tuple(const Contract& c);
Types get_tuple_element(const Contract& c);
Types token(const Contract& c);
Types dimension_size(const Contract& c);
Types async_done(const Contract& c);

Types rng(const Contract& c);
Types rng_bit_generator(const Contract& c);

Types all_gather(const Contract& c);
Types all_reduce(const Contract& c);
Types all_to_all(const Contract& c);
Types reduce_scatter(const Contract& c);
Types collective_permute(const Contract& c);
Types collective_rooted(const Contract& c);  // collective_broadcast, collective_reduce
Types process_id(const Contract& c);

double dot_flops(const Contract& c);
double dot_general_flops(const Contract& c);
double convolution_flops(const Contract& c);

/// The region has those parameters, before its captures, and as many results.
const Function& region_of(const Contract& c, std::size_t i, const Types& parameters, std::size_t results);
/// The scalar types of the results of a reducer of `n` operands; its parameters are two scalars for each of them.
Types reducer_results(const Contract& c, std::size_t region, const Types& operands);
/// The size of a process group; 0: unknown.
std::int64_t group_size(const Attributes& attributes);

}  // namespace trnsim::frontend::rules
