#include "frontend/interpret/movement.h"
#include "frontend/graph/indices.h"

#include <algorithm>

namespace trnsim::frontend::evaluate {
namespace {

/// Padding with edges below zero, which cut off.
void pad_by(Evaluation& e, const Ints& low, const Ints& interior) {
  const Dims from = e.operand(0).type.dims;
  const Ints strides = strides_of(from);
  by_position(
      e,
      [&](const Ints& position) {
        std::int64_t index = 0;
        for (std::size_t d = 0; d < from.size(); ++d) {
          const std::int64_t shifted = position[d] - low[d], step = interior[d] + 1;
          if (shifted < 0 || shifted % step != 0 || shifted / step >= from[d]) return std::int64_t{-1};
          index += shifted / step * strides[d];
        }
        return index;
      },
      &e.operand(1));
}

void broadcast_by(Evaluation& e, const Ints& dims) {
  const Dims from = e.operand(0).type.dims;
  const Ints strides = strides_of(from);
  by_position(e, [&](const Ints& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < from.size(); ++d)
      if (from[d] != 1) index += position[at(dims[d])] * strides[d];
    return index;
  });
}

void iota_along(Evaluation& e, std::int64_t along) {
  const Type type = e.result_type();
  require_room(type);
  const std::int64_t stride = strides_of(type.dims)[at(along)], size = type.dims[at(along)];
  const auto count = at(element_count(type.dims));
  Integers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i) / stride % size;
  if (!is_float(type.element) && !is_complex(type.element)) return e.put(value_of(type, std::move(numbers)));
  if (is_float(type.element)) return e.put(value_of(type, Reals(numbers.begin(), numbers.end())));
  Complexes complexes;
  for (const std::int64_t x : numbers) complexes.emplace_back(static_cast<double>(x), 0);
  e.put(value_of(type, std::move(complexes)));
}

void slice_by(Evaluation& e, const Ints& start, const Ints& stride) {
  const Ints strides = strides_of(e.operand(0).type.dims);
  by_position(e, [&](const Ints& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < position.size(); ++d) index += (start[d] + position[d] * stride[d]) * strides[d];
    return index;
  });
}

}  // namespace

void constant(Evaluation& e) {
  const Value value = value_of(*e.attributes().literal("value"));
  e.put(e.lanes() >= 0 ? repeated(value, {e.lanes()}) : value);
}

void iota(Evaluation& e) { iota_along(e, e.attributes().integer("iota_dimension")); }
void dynamic_iota(Evaluation& e) {
  if (e.ints(0) != e.result_type().dims) e.fail("gives another shape than its result has");
  e.as_static("iota", e.attributes(), 0);
}

void ignore(Evaluation&) {}
void pass(Evaluation& e) {
  for (const Value& value : e.all_operands()) e.put(value);
}

void broadcast_in_dim(Evaluation& e) { broadcast_by(e, e.attributes().ints("broadcast_dimensions")); }
void dynamic_broadcast_in_dim(Evaluation& e) {
  if (e.ints(1) != e.result_type().dims) e.fail("gives another shape than its result has");
  e.as_static("broadcast_in_dim", e.attributes(), 1);
}
void broadcast(Evaluation& e) {
  Ints dims;
  const std::int64_t added = e.result_type().rank() - e.operand(0).type.rank();
  for (std::int64_t d = 0; d < e.operand(0).type.rank(); ++d) dims.push_back(added + d);
  broadcast_by(e, dims);
}

void reshape(Evaluation& e) {
  Value out = e.operand(0);
  out.type = e.result_type();
  e.put(std::move(out));
}
void dynamic_reshape(Evaluation& e) {
  if (e.ints(1) != e.result_type().dims) e.fail("gives another shape than its result has");
  e.as_static("reshape", {}, 1);
}

void slice(Evaluation& e) {
  const Ints start = e.attributes().ints("start_indices");
  slice_by(e, start, e.attributes().ints("strides", Ints(start.size(), 1)));
}
void real_dynamic_slice(Evaluation& e) {
  Attributes attributes;
  attributes.set("start_indices", e.ints(1));
  attributes.set("limit_indices", e.ints(2));
  attributes.set("strides", e.ints(3));
  e.as_static("slice", std::move(attributes), 1);
}

void transpose(Evaluation& e) {
  const Ints strides = strides_of(e.operand(0).type.dims), order = e.attributes().ints("permutation");
  by_position(e, [&](const Ints& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < order.size(); ++d) index += position[d] * strides[at(order[d])];
    return index;
  });
}

void reverse(Evaluation& e) {
  const Dims dims = e.operand(0).type.dims;
  const Ints strides = strides_of(dims), reversed = e.attributes().ints("dimensions");
  by_position(e, [&](const Ints& position) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool back = std::ranges::find(reversed, static_cast<std::int64_t>(d)) != reversed.end();
      index += (back ? dims[d] - 1 - position[d] : position[d]) * strides[d];
    }
    return index;
  });
}

void concatenate(Evaluation& e) {
  const std::size_t along = at(e.attributes().integer("dimension"));
  const Dims dims = e.result_type().dims;
  require_room(e.result_type());
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) (d < along ? outer : inner) *= d == along ? 1 : dims[d];
  const auto join = [&](const auto& first) -> Data {
    using Numbers = std::decay_t<decltype(first)>;
    Numbers out;
    out.reserve(at(element_count(dims)));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < e.operands(); ++i) {
        const auto& from = std::get<Numbers>(*e.operand(i).data);
        const std::int64_t run = e.operand(i).type.dims[along] * inner;
        out.insert(out.end(), from.begin() + o * run, from.begin() + (o + 1) * run);
      }
    return out;
  };
  e.put(exact_value(e.result_type(), std::visit(join, *e.operand(0).data)));
}

void pad(Evaluation& e) {
  const Ints low = e.attributes().ints("edge_padding_low");
  pad_by(e, low, e.attributes().ints("interior_padding", Ints(low.size(), 0)));
}
void dynamic_pad(Evaluation& e) {
  Attributes attributes;
  attributes.set("edge_padding_low", e.ints(2));
  attributes.set("edge_padding_high", e.ints(3));
  attributes.set("interior_padding", e.ints(4));
  e.as_static("pad", std::move(attributes), 2);
}

void dimension_size(Evaluation& e) {
  e.put(value_of(e.result_type(), Integers{e.operand(0).type.dims[at(e.attributes().integer("dimension"))]}));
}

void constant_like(Evaluation& e) { e.put(repeated(value_of(*e.attributes().literal("value")), e.result_type().dims)); }

void tuple(Evaluation& e) { e.put(tuple_value(e.all_operands())); }
void get_tuple_element(Evaluation& e) { e.put((*e.operand(0).parts)[at(e.attributes().integer("index"))]); }
void token(Evaluation& e) { e.put(token_value()); }
void async_done(Evaluation& e) {
  if (!e.operand(0).type.is_tuple()) return e.put(e.operand(0));
  for (const Value& part : *e.operand(0).parts) e.put(part);
}

}  // namespace trnsim::frontend::evaluate
