#include <fmt/format.h>

#include <algorithm>

#include "frontend/graph/indices.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

void need_integer(const Contract& c, std::size_t i) {
  c.need(is_integer(c.tensor(i).element), fmt::format("operand {} must be of an integer type", i));
}

/// Scalars from `first` on, one for each dimension.
void need_starts(const Contract& c, std::size_t first, std::int64_t rank) {
  c.need(static_cast<std::int64_t>(c.operands() - first) == rank,
         fmt::format("has {} start indices for {} dimensions", c.operands() - first, rank));
  for (std::size_t i = first; i < c.operands(); ++i) {
    c.tensor(i, 0);
    need_integer(c, i);
  }
}

/// How the indices of gather and scatter map to dimensions of the operand.
struct IndexMap {
  const Ints &map, &batching, &index_batching;
  std::int64_t vector_dim;
};

/// The sizes of the indices without the dimension of their vectors.
Dims check_indices(const Contract& c, const Type& operand, const Type& indices, const IndexMap& m) {
  c.need(is_integer(indices.element), "indices must be of an integer type");
  c.need(m.vector_dim >= 0 && m.vector_dim <= indices.rank(),
         fmt::format("index_vector_dim {} is not in {}", m.vector_dim, mlir_text(indices)));
  const std::int64_t length = m.vector_dim < indices.rank() ? indices.dims[at(m.vector_dim)] : 1;
  c.need(static_cast<std::int64_t>(m.map.size()) == length,
         fmt::format("indices have {} entries, the map to dimensions {}", length, m.map.size()));
  c.distinct(joined(m.map, m.batching), operand.rank(), "the dimensions of indices");
  c.distinct(m.index_batching, indices.rank(), "the batching dimensions of indices");
  c.need(!holds(m.index_batching, m.vector_dim), "index_vector_dim is a batching dimension");
  c.need(m.batching.size() == m.index_batching.size(), "the numbers of batching dimensions differ");
  for (std::size_t i = 0; i < m.batching.size(); ++i)
    c.need(operand.dims[at(m.batching[i])] == indices.dims[at(m.index_batching[i])],
           "sizes of batching dimensions differ");
  Dims dims = indices.dims;
  if (m.vector_dim < indices.rank()) dims.erase(dims.begin() + m.vector_dim);
  return dims;
}

}  // namespace

Types dynamic_slice(const Contract& c) {
  const Type& from = c.tensor(0);
  need_starts(c, 1, from.rank());
  const Ints sizes = c.attributes().ints("slice_sizes");
  c.need(sizes.size() == from.dims.size(), "slice_sizes must have an entry for each dimension (C2)");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    c.need(sizes[i] >= 0 && sizes[i] <= from.dims[i],
           fmt::format("slice_sizes {} is more than dimension {} of {} (C4)", sizes[i], i, mlir_text(from)));
  return {tensor_type(from.element, sizes)};
}

Types dynamic_update_slice(const Contract& c) {
  const Type &from = c.tensor(0), update = c.tensor(1, from.rank());
  need_starts(c, 2, from.rank());
  c.need(update.element == from.element, "operand and update must have one element type (C2)");
  for (std::size_t i = 0; i < from.dims.size(); ++i)
    c.need(update.dims[i] <= from.dims[i],
           fmt::format("update {} does not fit into {} (C6)", mlir_text(update), mlir_text(from)));
  return {tensor_type(from.element, from.dims)};
}

Types gather(const Contract& c) {
  const Type &from = c.tensor(0), indices = c.tensor(1);
  const GatherDims d = gather_dims(c.attributes());
  const Dims batch =
      check_indices(c, from, indices,
                    {d.start_index_map, d.operand_batching_dims, d.start_indices_batching_dims, d.index_vector_dim});
  const Ints gone = joined(d.collapsed_slice_dims, d.operand_batching_dims);
  c.distinct(gone, from.rank(), "collapsed_slice_dims and operand_batching_dims (C6)");
  c.need(from.rank() == static_cast<std::int64_t>(d.offset_dims.size() + gone.size()),
         "offset, collapsed and batching dimensions are not as many as the operand's (C1)");
  c.need(d.slice_sizes.size() == from.dims.size(), "slice_sizes must have an entry for each dimension (C20)");
  Dims offsets;
  bool is_empty = false;  // a slice, by a dimension that the result does not have
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    c.need(d.slice_sizes[i] >= 0 && d.slice_sizes[i] <= from.dims[i], "slice_sizes is more than the operand (C21)");
    if (!holds(gone, static_cast<std::int64_t>(i)))
      offsets.push_back(d.slice_sizes[i]);
    else
      c.need(d.slice_sizes[i] <= 1, "slice_sizes of a collapsed dimension must be 1 (C9, C12)"),
          is_empty |= d.slice_sizes[i] == 0;
  }
  const auto rank = static_cast<std::int64_t>(batch.size() + offsets.size());
  c.distinct(d.offset_dims, rank, "offset_dims (C4, C5)");
  c.need(std::ranges::is_sorted(d.offset_dims), "offset_dims must be sorted (C4)");
  Dims dims;
  std::size_t next_offset = 0, next_batch = 0;
  for (std::int64_t i = 0; i < rank; ++i)
    dims.push_back(holds(d.offset_dims, i) ? offsets[next_offset++] : batch[next_batch++]);
  c.need(!is_empty || element_count(dims) == 0, "slice_sizes has a 0 where the result needs an element");
  return {tensor_type(from.element, dims)};
}

Types scatter(const Contract& c) {
  c.need(c.operands() >= 3 && c.operands() % 2 == 1, "needs inputs, indices and as many updates as inputs (C5)");
  const std::size_t n = c.operands() / 2;
  const Type &into = c.tensor(0), indices = c.tensor(n), update = c.tensor(n + 1);
  const ScatterDims d = scatter_dims(c.attributes());
  const Dims batch = check_indices(
      c, into, indices,
      {d.scatter_dims_to_operand_dims, d.input_batching_dims, d.scatter_indices_batching_dims, d.index_vector_dim});
  const Ints gone = joined(d.inserted_window_dims, d.input_batching_dims);
  c.distinct(gone, into.rank(), "inserted_window_dims and input_batching_dims (C9)");
  c.need(into.rank() == static_cast<std::int64_t>(d.update_window_dims.size() + gone.size()),
         "window, inserted and batching dimensions are not as many as the input's (C2)");
  c.distinct(d.update_window_dims, update.rank(), "update_window_dims (C7, C8)");
  c.need(std::ranges::is_sorted(d.update_window_dims), "update_window_dims must be sorted (C7)");
  Dims window;
  for (std::int64_t i = 0; i < into.rank(); ++i)
    if (!holds(gone, i)) window.push_back(into.dims[at(i)]);
  c.need(update.rank() == static_cast<std::int64_t>(batch.size() + window.size()), "updates have the wrong rank (C4)");
  std::size_t next_window = 0, next_batch = 0;
  for (std::int64_t i = 0; i < update.rank(); ++i) {
    const bool fits = holds(d.update_window_dims, i) ? update.dims[at(i)] <= window[next_window++]
                                                     : update.dims[at(i)] == batch[next_batch++];
    c.need(fits, fmt::format("dimension {} of updates {} does not fit (C4)", i, mlir_text(update)));
  }
  Types inputs;
  for (std::size_t i = 0; i < n; ++i) {
    c.need(c.tensor(i).dims == into.dims && c.tensor(n + 1 + i).dims == update.dims &&
               c.operand(n + 1 + i).element == c.operand(i).element,
           "inputs and updates do not fit each other (C1, C3, C6)");
    inputs.push_back(c.operand(i));
  }
  Types out;
  for (const Type& scalar : reducer_results(c, 0, inputs)) out.push_back(tensor_type(scalar.element, into.dims));
  return out;
}

Types torch_index_select(const Contract& c) {
  const Type &from = c.tensor(0), indices = c.tensor(1);
  need_integer(c, 1);
  const std::int64_t dim = c.attributes().integer("dim"), batch = c.attributes().integer("batch_dims");
  c.need(dim >= batch && dim < from.rank() && batch <= indices.rank() && batch >= 0, "dim and batch_dims do not fit");
  Dims dims{from.dims.begin(), from.dims.begin() + dim};
  dims.insert(dims.end(), indices.dims.begin() + batch, indices.dims.end());
  dims.insert(dims.end(), from.dims.begin() + dim + 1, from.dims.end());
  return {tensor_type(from.element, dims)};
}

}  // namespace trnsim::frontend::rules
