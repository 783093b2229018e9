#include "frontend/interpret/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontend/graph/indices.h"
#include "frontend/interpret/elementwise.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend::evaluate {
namespace {

using Index = std::vector<std::int64_t>;

/// The offsets of all positions in some of the dimensions.
Index offsets_of(const Dims& dims, const Ints& chosen) {
  const Ints strides = strides_of(dims);
  Dims sizes;
  for (const std::int64_t d : chosen) sizes.push_back(dims[at(d)]);
  Index out;
  Ints position(sizes.size());
  if (element_count(sizes) == 0) return out;
  do {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) offset += position[i] * strides[at(chosen[i])];
    out.push_back(offset);
  } while (next_position(position, sizes));
  return out;
}

/// The number in another format, as reducers take it.
Value in_type(const Value& value, Element element) {
  if (value.type.element == element) return value;
  return std::visit([&](const auto& numbers) { return value_of(tensor_type(element, value.type.dims), numbers); },
                    *value.data);
}

Value shaped(Value value, const Type& type) {
  value.type = type;
  return value;
}

/// One step of a reduction: accumulators and numbers, both in lanes.
std::vector<Value> step(const Evaluation& e, std::vector<Value> sums, const std::vector<Value>& numbers) {
  sums.insert(sums.end(), numbers.begin(), numbers.end());
  return e.call_lanes(0, std::move(sums));
}

std::vector<Value> start(const Evaluation& e, std::size_t n, std::int64_t lanes) {
  std::vector<Value> sums;
  for (std::size_t i = 0; i < n; ++i)
    sums.push_back(repeated(in_type(e.operand(n + i), e.result_type(i).element), {lanes}));
  return sums;
}

void finish(Evaluation& e, const std::vector<Value>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) e.put(shaped(sums[i], e.result_type(i)));
}

/// The inputs at base[lane] + offset, or a filler below zero.
std::vector<Value> numbers_at(const Evaluation& e, std::size_t n, const Index& index) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < n; ++i) {
    const Value& filler = e.operand(n + i);
    out.push_back(in_type(picked(e.operand(i), {static_cast<std::int64_t>(index.size())}, index, &filler),
                          e.result_type(i).element));
  }
  return out;
}

/// The place in the input, or -1 in the padding and between dilated elements.
std::int64_t window_place(const Dims& dims, const WindowDims& w, const Ints& window, const Ints& inside) {
  const Ints strides = strides_of(dims);
  std::int64_t place = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t dilated = window[d] * w.stride[d] + inside[d] * w.window_dilation[d] - w.low[d];
    if (dilated < 0 || dilated % w.base_dilation[d] != 0 || dilated / w.base_dilation[d] >= dims[d]) return -1;
    place += dilated / w.base_dilation[d] * strides[d];
  }
  return place;
}

/// For each window, the place of its element `inside`.
Index places_of(const Dims& dims, const WindowDims& w, const Dims& windows, const Ints& inside) {
  Index out;
  Ints window(windows.size());
  if (element_count(windows) > 0) do
      out.push_back(window_place(dims, w, window, inside));
    while (next_position(window, windows));
  return out;
}

/// Whether the region is a sum in fp32, whose order the specification leaves open.
bool is_sum(const Evaluation& e) {
  const Function& f = e.module().functions[e.node().regions[0].function];
  return f.nodes.size() == 1 && f.nodes[0].op->name == "add" && f.nodes[0].operands == std::vector<ValueId>{0, 1} &&
         f.results == std::vector<ValueId>{f.nodes[0].result()} && e.result_type().element == Element::kF32;
}

/// Rounded once, so that a long sum is not held against the error of another order.
void sum(Evaluation& e, const Index& base, const Index& offsets) {
  const Reals& numbers = e.operand(0).reals();
  Reals sums(base.size(), e.operand(1).reals()[0]);
  for (const std::int64_t offset : offsets)
    for (std::size_t i = 0; i < base.size(); ++i) sums[i] += numbers[at(base[i] + offset)];
  e.put(value_of(e.result_type(), std::move(sums)));
}

}  // namespace

void reduce(Evaluation& e) {
  const std::size_t n = e.operands() / 2;
  const Dims dims = e.operand(0).type.dims;
  const Ints along = e.attributes().ints("dimensions");
  Ints kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(dims.size()); ++d)
    if (std::ranges::find(along, d) == along.end()) kept.push_back(d);
  Ints ordered = along;
  std::ranges::sort(ordered);
  const Index base = offsets_of(dims, kept), offsets = offsets_of(dims, ordered);
  if (n == 1 && is_sum(e)) return sum(e, base, offsets);
  std::vector<Value> sums = start(e, n, static_cast<std::int64_t>(base.size()));
  for (const std::int64_t offset : offsets) {
    Index index = base;
    for (std::int64_t& i : index) i += offset;
    sums = step(e, std::move(sums), numbers_at(e, n, index));
  }
  finish(e, sums);
}

void reduce_window(Evaluation& e) {
  const std::size_t n = e.operands() / 2;
  const Dims dims = e.operand(0).type.dims, windows = e.result_type().dims;
  const WindowDims w = window_dims(e.attributes(), static_cast<std::int64_t>(dims.size()));
  std::vector<Value> sums = start(e, n, element_count(windows));
  Ints inside(dims.size());
  do sums = step(e, std::move(sums), numbers_at(e, n, places_of(dims, w, windows, inside)));
  while (next_position(inside, w.size));
  finish(e, sums);
}

void map(Evaluation& e) {
  std::vector<Value> lanes;
  for (const Value& value : e.all_operands())
    lanes.push_back(shaped(value, tensor_type(value.type.element, {value.count()})));
  const std::vector<Value> results = e.call_lanes(0, std::move(lanes));
  e.put(shaped(results.front(), e.result_type()));
}

Value reduced_by(const Evaluation& e, std::size_t region, const std::vector<Value>& parts, const Type& result) {
  const Type lanes = tensor_type(result.element, {element_count(parts.front().type.dims)});
  const auto flat = [&](const Value& part) { return shaped(in_type(part, result.element), lanes); };
  Value sum = flat(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) sum = e.call_lanes(region, {sum, flat(parts[i])}).front();
  return shaped(sum, tensor_type(result.element, parts.front().type.dims));
}

/// The region sees an element (or a slice) of each input and the carries; it returns outputs and carries.
void scan(Evaluation& e) {
  const std::size_t n = at(e.attributes().integer("inputs", 1)), carries = e.operands() - n;
  const std::int64_t along = e.attributes().integer("dimension");
  const Dims dims = e.operand(0).type.dims;
  const std::int64_t size = dims[at(along)];
  const bool backwards = e.attributes().flag("is_reverse");
  std::vector<Value> state;
  for (std::size_t i = 0; i < carries; ++i) state.push_back(e.operand(n + i));
  std::vector<Value> outputs;
  for (std::size_t i = 0; i + carries < e.node().results; ++i) outputs.push_back(zeros(e.result_type(i)));
  std::vector<Data> numbers;
  for (const Value& output : outputs) numbers.push_back(*output.data);
  Ints kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(dims.size()); ++d)
    if (d != along) kept.push_back(d);
  Dims sliced;
  for (const std::int64_t d : kept) sliced.push_back(dims[at(d)]);
  const Index base = offsets_of(dims, kept);
  for (std::int64_t k = 0; k < size; ++k) {
    Index index = base;
    for (std::int64_t& i : index) i += (backwards ? size - 1 - k : k) * strides_of(dims)[at(along)];
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < n; ++i) arguments.push_back(picked(e.operand(i), sliced, index));
    arguments.insert(arguments.end(), state.begin(), state.end());
    const std::vector<Value> results = e.call(0, std::move(arguments));
    for (std::size_t o = 0; o < outputs.size(); ++o)
      std::visit(
          [&](auto& out) {
            const auto& from = std::get<std::decay_t<decltype(out)>>(*results[o].data);
            for (std::size_t i = 0; i < index.size(); ++i) out[at(index[i])] = from[i];
          },
          numbers[o]);
    state.assign(results.begin() + static_cast<std::ptrdiff_t>(outputs.size()), results.end());
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) e.put(exact_value(e.result_type(o), std::move(numbers[o])));
  for (const Value& value : state) e.put(value);
}

/// In each window the element that `select` prefers to all before it gets the source's number.
void select_and_scatter(Evaluation& e) {
  const Value &from = e.operand(0), source = e.operand(1);
  const Dims dims = from.type.dims, windows = source.type.dims;
  const WindowDims w = window_dims(e.attributes(), static_cast<std::int64_t>(dims.size()));
  Index chosen(at(source.count()), -1);
  Ints inside(dims.size());
  do {
    const Index places = places_of(dims, w, windows, inside);
    Index before, now, windows_of;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      if (chosen[i] < 0) {
        chosen[i] = places[i];
      } else {
        before.push_back(chosen[i]), now.push_back(places[i]), windows_of.push_back(static_cast<std::int64_t>(i));
      }
    }
    if (now.empty()) continue;
    const Dims lanes = {static_cast<std::int64_t>(now.size())};
    const Value keep = e.call_lanes(0, {picked(from, lanes, before), picked(from, lanes, now)}).front();
    for (std::size_t k = 0; k < now.size(); ++k)
      if (keep.integers()[k] == 0) chosen[at(windows_of[k])] = now[k];
  } while (next_position(inside, w.size));
  std::vector<Value> sums(at(element_count(dims)), in_type(e.operand(2), e.result_type().element));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0) continue;
    const Value number = in_type(element_at(source, static_cast<std::int64_t>(i)), e.result_type().element);
    sums[at(chosen[i])] = e.call(1, {sums[at(chosen[i])], number}).front();
  }
  e.put(shaped(stacked(sums, scalar_type(e.result_type().element)), e.result_type()));
}

}  // namespace trnsim::frontend::evaluate
