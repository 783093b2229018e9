// Slices at computed places, gather, scatter. Starts beyond the operand are moved so far that the slice fits; updates
// that do not fit are left out.
#include <algorithm>

#include "frontend/graph/indices.h"
#include "frontend/interpret/movement.h"
#include "frontend/ops/dimensions.h"

namespace trnsim::frontend::evaluate {
namespace {

/// An index as a number that can be compared: unsigned ones of 64 bits above all signed ones saturate.
std::int64_t index_at(const Value& indices, std::int64_t i) {
  const std::int64_t value = indices.integers()[at(i)];
  return indices.type.element == Element::kU64 && value < 0 ? std::int64_t{1} << 62 : value;
}

Ints starts_of(const Evaluation& e, std::size_t first, const Dims& size) {
  const Dims dims = e.operand(0).type.dims;
  Ints start;
  for (std::size_t d = 0; d < dims.size(); ++d)
    start.push_back(std::clamp<std::int64_t>(index_at(e.operand(first + d), 0), 0, dims[d] - size[d]));
  return start;
}

/// Where the indices of gather and scatter point to.
struct Pointer {
  const Value& indices;
  const Ints &map, &batching, &index_batching;
  std::int64_t vector_dim;

  /// The start in each dimension of an operand of `rank`, for a position of the batch (the indices' dimensions without
  /// that of their vectors).
  Ints start(const Ints& batch, std::size_t rank) const {
    const Ints strides = strides_of(indices.type.dims);
    std::int64_t base = 0, step = 0;
    Ints full;
    std::size_t next = 0;
    for (std::int64_t d = 0; d < indices.type.rank(); ++d) {
      full.push_back(d == vector_dim ? 0 : batch[next++]);
      base += full.back() * strides[at(d)];
      if (d == vector_dim) step = strides[at(d)];
    }
    Ints out(rank);
    for (std::size_t i = 0; i < map.size(); ++i)
      out[at(map[i])] = index_at(indices, base + static_cast<std::int64_t>(i) * step);
    for (std::size_t i = 0; i < batching.size(); ++i) out[at(batching[i])] = full[at(index_batching[i])];
    return out;
  }
};

/// A position split into that of the window, in the operand's dimensions that are not `gone`, and that of the batch.
struct Split {
  Ints window, batch;  // window: one entry for each dimension of the operand
};
Split split_of(const Ints& position, const Ints& window_dims, const Ints& gone, std::size_t rank) {
  Split out;
  out.window.resize(rank);
  Ints offsets;
  for (std::size_t d = 0; d < position.size(); ++d)
    (holds(window_dims, static_cast<std::int64_t>(d)) ? offsets : out.batch).push_back(position[d]);
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d)
    if (!holds(gone, static_cast<std::int64_t>(d))) out.window[d] = offsets[next++];
  return out;
}

void gather_by(Evaluation& e, const GatherDims& d) {
  const Dims dims = e.operand(0).type.dims;
  const Ints strides = strides_of(dims), gone = joined(d.collapsed_slice_dims, d.operand_batching_dims);
  const Pointer pointer{e.operand(1), d.start_index_map, d.operand_batching_dims, d.start_indices_batching_dims,
                        d.index_vector_dim};
  by_position(e, [&](const Ints& position) {
    const Split split = split_of(position, d.offset_dims, gone, dims.size());
    const Ints start = pointer.start(split.batch, dims.size());
    std::int64_t index = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool batch = holds(d.operand_batching_dims, static_cast<std::int64_t>(i));
      const std::int64_t first = batch ? start[i] : std::clamp<std::int64_t>(start[i], 0, dims[i] - d.slice_sizes[i]);
      index += (first + split.window[i]) * strides[i];
    }
    return index;
  });
}

/// For each element of the updates the element of the input that it goes to; -1: none.
std::vector<std::int64_t> targets_of(const Evaluation& e, const ScatterDims& d, std::size_t n) {
  const Dims dims = e.operand(0).type.dims, updates = e.operand(n + 1).type.dims;
  const Ints strides = strides_of(dims), gone = joined(d.inserted_window_dims, d.input_batching_dims);
  const Pointer pointer{e.operand(n), d.scatter_dims_to_operand_dims, d.input_batching_dims,
                        d.scatter_indices_batching_dims, d.index_vector_dim};
  std::vector<std::int64_t> out;
  Ints position(updates.size());
  if (element_count(updates) == 0) return out;
  do {
    const Split split = split_of(position, d.update_window_dims, gone, dims.size());
    const Ints start = pointer.start(split.batch, dims.size());
    std::int64_t index = 0;
    for (std::size_t i = 0; i < dims.size() && index >= 0; ++i) {
      const std::int64_t place = start[i] + split.window[i];
      index = place < 0 || place >= dims[i] ? -1 : index + place * strides[i];
    }
    out.push_back(index);
  } while (next_position(position, updates));
  return out;
}

/// The elements at some places, as lanes.
Value lanes_at(const Data& from, Element element, const std::vector<std::int64_t>& places) {
  const auto pick = [&](const auto& numbers) -> Data {
    std::decay_t<decltype(numbers)> out;
    for (const std::int64_t place : places) out.push_back(numbers[at(place)]);
    return out;
  };
  return exact_value(tensor_type(element, {static_cast<std::int64_t>(places.size())}), std::visit(pick, from));
}

void store(Data& into, const std::vector<std::int64_t>& places, const Value& numbers) {
  std::visit(
      [&](auto& out) {
        const auto& from = std::get<std::decay_t<decltype(out)>>(*numbers.data);
        for (std::size_t i = 0; i < places.size(); ++i) out[at(places[i])] = from[i];
      },
      into);
}

}  // namespace

void dynamic_slice(Evaluation& e) {
  const Ints start = starts_of(e, 1, e.result_type().dims), strides = strides_of(e.operand(0).type.dims);
  by_position(e, [&](const Ints& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < position.size(); ++d) index += (start[d] + position[d]) * strides[d];
    return index;
  });
}

void dynamic_update_slice(Evaluation& e) {
  const Dims update = e.operand(1).type.dims;
  const Ints start = starts_of(e, 2, update), strides = strides_of(e.operand(0).type.dims);
  std::vector<std::int64_t> places;
  Ints position(update.size());
  if (element_count(update) > 0) do {
      std::int64_t index = 0;
      for (std::size_t d = 0; d < position.size(); ++d) index += (start[d] + position[d]) * strides[d];
      places.push_back(index);
    } while (next_position(position, update));
  Data out = *e.operand(0).data;
  store(out, places, e.operand(1));
  e.put(exact_value(e.result_type(), std::move(out)));
}

void gather(Evaluation& e) { gather_by(e, gather_dims(e.attributes())); }
void dynamic_gather(Evaluation& e) {
  Attributes attributes = e.attributes();
  attributes.set("slice_sizes", e.ints(2));
  e.as_static("gather", std::move(attributes), 2);
}

void torch_index_select(Evaluation& e) {
  const std::int64_t dim = e.attributes().integer("dim"), batch = e.attributes().integer("batch_dims");
  const Dims dims = e.operand(0).type.dims, index_dims = e.operand(1).type.dims;
  const Ints strides = strides_of(dims), index_strides = strides_of(index_dims);
  by_position(e, [&](const Ints& position) {
    std::int64_t which = 0, index = 0;
    const auto own = static_cast<std::int64_t>(index_dims.size()) - batch;
    for (std::int64_t d = 0; d < batch; ++d) which += position[at(d)] * index_strides[at(d)];
    for (std::int64_t d = 0; d < own; ++d) which += position[at(dim + d)] * index_strides[at(batch + d)];
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(dims.size()); ++d) {
      const std::int64_t place = d < dim   ? position[at(d)]
                                 : d > dim ? position[at(d + own - 1)]
                                           : index_at(e.operand(1), which);
      index += std::clamp<std::int64_t>(place, 0, dims[at(d)] - 1) * strides[at(d)];
    }
    return index;
  });
}

/// Updates are applied one after the other; those of one window, which have different places, at once.
void scatter(Evaluation& e) {
  const std::size_t n = e.operands() / 2;
  const ScatterDims d = scatter_dims(e.attributes());
  const std::vector<std::int64_t> targets = targets_of(e, d, n);
  std::vector<Data> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(*e.operand(i).data);
  std::vector<std::int64_t> places, sources;
  std::vector<bool> taken(at(e.operand(0).count()));
  const auto flush = [&] {
    if (places.empty()) return;
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < n; ++i) arguments.push_back(lanes_at(out[i], e.result_type(i).element, places));
    for (std::size_t i = 0; i < n; ++i)
      arguments.push_back(lanes_at(*e.operand(n + 1 + i).data, e.result_type(i).element, sources));
    const std::vector<Value> results = e.call_lanes(0, std::move(arguments));
    for (std::size_t i = 0; i < n; ++i) store(out[i], places, results[i]);
    for (const std::int64_t place : places) taken[at(place)] = false;
    places.clear(), sources.clear();
  };
  for (std::size_t u = 0; u < targets.size(); ++u) {
    if (targets[u] < 0) continue;
    if (taken[at(targets[u])]) flush();
    taken[at(targets[u])] = true;
    places.push_back(targets[u]), sources.push_back(static_cast<std::int64_t>(u));
  }
  flush();
  for (std::size_t i = 0; i < n; ++i) e.put(exact_value(e.result_type(i), std::move(out[i])));
}

}  // namespace trnsim::frontend::evaluate
