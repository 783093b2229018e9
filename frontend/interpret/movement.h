// Elements in other places: each operator says for each element of its result which one of its operand it is.
#pragma once

#include "frontend/interpret/evaluation.h"

namespace trnsim::frontend::evaluate {

void constant(Evaluation& e);
void iota(Evaluation& e);
void ignore(Evaluation& e);
void pass(Evaluation& e);  // the operands, as they are
void broadcast_in_dim(Evaluation& e);
void broadcast(Evaluation& e);
void reshape(Evaluation& e);
void slice(Evaluation& e);
void transpose(Evaluation& e);
void reverse(Evaluation& e);
void concatenate(Evaluation& e);
void pad(Evaluation& e);
void dynamic_pad(Evaluation& e);
void dynamic_iota(Evaluation& e);
void dynamic_reshape(Evaluation& e);
void dynamic_broadcast_in_dim(Evaluation& e);
void real_dynamic_slice(Evaluation& e);
void dimension_size(Evaluation& e);
void constant_like(Evaluation& e);

void dynamic_slice(Evaluation& e);
void dynamic_update_slice(Evaluation& e);
void gather(Evaluation& e);
void dynamic_gather(Evaluation& e);
void scatter(Evaluation& e);
void torch_index_select(Evaluation& e);

void tuple(Evaluation& e);
void get_tuple_element(Evaluation& e);
void token(Evaluation& e);
void async_done(Evaluation& e);

/// result[i] = operand 0 [index of the position of i], the order of the result's elements; below zero `filler`.
template <class F>
void by_position(Evaluation& e, F index_of, const Value* filler = nullptr) {
  const Dims dims = e.result_type().dims;
  require_room(e.result_type());
  std::vector<std::int64_t> index;
  index.reserve(static_cast<std::size_t>(element_count(dims)));
  Ints position(dims.size());
  if (element_count(dims) > 0) do
      index.push_back(index_of(position));
    while (next_position(position, dims));
  e.put(picked(e.operand(0), dims, index, filler));
}

}  // namespace trnsim::frontend::evaluate
