#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/graph/indices.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

const Type& stated_tensor(const Contract& c) {
  c.need(c.stated().size() == 1 && c.stated().front().is_tensor(), "needs the type of its one result, a tensor");
  return c.stated().front();
}

void need_length(const Contract& c, const Ints& list, std::int64_t rank, std::string_view name) {
  c.need(static_cast<std::int64_t>(list.size()) == rank,
         fmt::format("{} has {} entries for {} dimensions", name, list.size(), rank));
}

}  // namespace

Types constant(const Contract& c) {
  const LiteralPtr value = c.attributes().literal("value");
  c.need(value != nullptr, "has no value");
  return {value->type};
}

Types iota(const Contract& c) {
  const Type& to = stated_tensor(c);
  c.distinct({c.attributes().integer("iota_dimension")}, to.rank(), "iota_dimension");
  c.need(to.element != Element::kI1, "is not for i1");
  return {tensor_type(to.element, to.dims)};
}

Types broadcast_in_dim(const Contract& c) {
  const Type &from = c.tensor(0), to = stated_tensor(c);
  const Ints dims = c.attributes().ints("broadcast_dimensions");
  need_length(c, dims, from.rank(), "broadcast_dimensions (C2)");
  c.distinct(dims, to.rank(), "broadcast_dimensions");
  for (std::size_t i = 0; i < dims.size(); ++i)
    c.need(from.dims[i] == 1 || from.dims[i] == to.dims[at(dims[i])],
           fmt::format("dimension {} of {} does not become dimension {} of {} (C5)", i, mlir_text(from), dims[i],
                       mlir_text(to)));
  return {tensor_type(from.element, to.dims)};
}

Types broadcast(const Contract& c) {
  Dims dims = c.attributes().ints("broadcast_sizes");
  const Type& from = c.tensor(0);
  dims.insert(dims.end(), from.dims.begin(), from.dims.end());
  return {tensor_type(from.element, dims)};
}

Types implicit_broadcast(const Contract& c) {
  const Type& to = stated_tensor(c);
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const Type& from = c.tensor(i);
    c.need(from.rank() <= to.rank(), fmt::format("operand {} has more dimensions than the result", i));
    const Ints places = broadcast_places(c.attributes(), from.rank(), to.rank());
    need_length(c, places, from.rank(), "broadcast_dimensions");
    c.distinct(places, to.rank(), "broadcast_dimensions");
    for (std::int64_t d = 0; d < from.rank(); ++d)
      c.need(from.dims[at(d)] == 1 || from.dims[at(d)] == to.dims[at(places[at(d)])],
             fmt::format("operand {} of type {} does not become {}", i, mlir_text(from), mlir_text(to)));
  }
  return {tensor_type(to.element, to.dims)};
}

Types reshape(const Contract& c) {
  const Type &from = c.tensor(0), to = stated_tensor(c);
  c.need(element_count(from.dims) == element_count(to.dims),
         fmt::format("{} and {} have different numbers of elements (C2)", mlir_text(from), mlir_text(to)));
  return {tensor_type(from.element, to.dims)};
}

Types slice(const Contract& c) {
  const Type& from = c.tensor(0);
  const Ints start = c.attributes().ints("start_indices"), limit = c.attributes().ints("limit_indices"),
             stride = c.attributes().ints("strides", Ints(from.dims.size(), 1));
  for (const Ints* list : {&start, &limit, &stride}) need_length(c, *list, from.rank(), "a list of indices (C2)");
  Dims dims;
  for (std::size_t i = 0; i < start.size(); ++i) {
    c.need(0 <= start[i] && start[i] <= limit[i] && limit[i] <= from.dims[i],
           fmt::format("[{}:{}] is not in dimension {} of {} (C3)", start[i], limit[i], i, mlir_text(from)));
    c.need(stride[i] > 0, "strides must be positive (C4)");
    dims.push_back((limit[i] - start[i] + stride[i] - 1) / stride[i]);
  }
  return {tensor_type(from.element, dims)};
}

Types transpose(const Contract& c) {
  const Type& from = c.tensor(0);
  const Ints order = c.attributes().ints("permutation");
  need_length(c, order, from.rank(), "permutation (C2)");
  c.distinct(order, from.rank(), "permutation (C2)");
  Dims dims;
  for (const std::int64_t d : order) dims.push_back(from.dims[at(d)]);
  return {tensor_type(from.element, dims)};
}

Types reverse(const Contract& c) {
  const Type& from = c.tensor(0);
  c.distinct(c.attributes().ints("dimensions"), from.rank(), "dimensions");
  return {tensor_type(from.element, from.dims)};
}

Types concatenate(const Contract& c) {
  Dims dims = c.tensor(0).dims;
  const std::int64_t along = c.attributes().integer("dimension");
  c.distinct({along}, c.operand(0).rank(), "dimension");
  dims[at(along)] = 0;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    Dims other = c.tensor(i, c.operand(0).rank()).dims;
    const std::int64_t size = std::exchange(other[at(along)], dims[at(along)]);
    c.need(other == dims && c.operand(i).element == c.operand(0).element,
           fmt::format("operands 0 and {} do not fit: {} and {} (C1, C2)", i, mlir_text(c.operand(0)),
                       mlir_text(c.operand(i))));
    dims[at(along)] += size;
  }
  return {tensor_type(c.operand(0).element, dims)};
}

Types pad(const Contract& c) {
  const Type& from = c.tensor(0);
  c.need(c.tensor(1, 0).element == from.element, "the padding must be a scalar of the operand's type");
  const Ints low = c.attributes().ints("edge_padding_low"), high = c.attributes().ints("edge_padding_high"),
             interior = c.attributes().ints("interior_padding", Ints(from.dims.size(), 0));
  for (const Ints* list : {&low, &high, &interior}) need_length(c, *list, from.rank(), "a list of paddings (C2)");
  Dims dims;
  for (std::size_t i = 0; i < low.size(); ++i) {
    c.need(interior[i] >= 0, "interior_padding must not be negative (C3)");
    dims.push_back(low[i] + dilated_size(from.dims[i], interior[i] + 1) + high[i]);
    c.need(dims.back() >= 0, fmt::format("dimension {} would have {} elements", i, dims.back()));
  }
  return {tensor_type(from.element, dims)};
}

Types rng(const Contract& c) {
  c.need(c.tensor(0, 0).element == c.tensor(1, 0).element, "bounds must have one type (C1)");
  const std::string kind = c.attributes().text("rng_distribution");
  c.need(!is_complex(c.operand(0).element), "is not for complex numbers");
  c.need(kind == "UNIFORM" || kind == "NORMAL", fmt::format("rng_distribution \"{}\" is not known", kind));
  return {tensor_type(c.operand(0).element, stated_tensor(c).dims)};
}

Types rng_bit_generator(const Contract& c) {
  c.need(c.stated().size() == 2 && c.stated()[1].is_tensor(), "needs the types of its two results");
  c.need(is_unsigned_integer(c.tensor(0, 1).element), "its state must be unsigned integers (I2)");
  c.need(!is_complex(c.stated()[1].element) && !is_bool(c.stated()[1].element), "is for integers and real numbers");
  return {c.tensor(0, 1), c.stated()[1]};
}

}  // namespace trnsim::frontend::rules
