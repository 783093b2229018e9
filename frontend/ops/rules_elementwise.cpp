#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

unsigned class_bit(Element element) { return 1U << static_cast<unsigned>(info(element).kind); }

Type like(const Type& type, Element element) { return tensor_type(element, type.dims); }

void need_class(const Contract& c, std::size_t i, unsigned classes) {
  const Type& type = c.tensor(i);
  c.need((class_bit(type.element) & classes) != 0,
         fmt::format("operand {} is {}, a type that the operator does not take", i, mlir_text(type)));
}

const Type& only_stated(const Contract& c) {
  c.need(c.stated().size() == 1, "needs the type of its one result");
  return c.stated().front();
}

}  // namespace

Types same_as_operands(const Contract& c, unsigned classes) {
  need_class(c, 0, classes);
  c.same_operands();
  return {like(c.operand(0), c.operand(0).element)};
}

Types absolute(const Contract& c) {
  need_class(c, 0, kS | kU | kF | kC);
  return {like(c.operand(0), real_part(c.operand(0).element))};
}

Types compare(const Contract& c) {
  need_class(c, 0, kAny);
  c.same_operands();
  const std::string direction = c.attributes().text("comparison_direction");
  static constexpr std::array kDirections = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  c.need(std::ranges::find(kDirections, direction) != kDirections.end(),
         fmt::format("comparison_direction \"{}\" is not one of EQ, NE, GE, GT, LE, LT", direction));
  const bool ordered = direction != "EQ" && direction != "NE";
  c.need(!ordered || !is_complex(c.operand(0).element), "complex numbers have no order");
  const std::string kind = c.attributes().text("compare_type");
  const bool real = is_float(c.operand(0).element) || is_complex(c.operand(0).element);
  c.need(kind.empty() || (real == (kind == "FLOAT" || kind == "TOTALORDER")),
         fmt::format("compare_type {} does not fit {} (C3)", kind, mlir_text(c.operand(0))));
  return {like(c.operand(0), Element::kI1)};
}

Types complex(const Contract& c) {
  c.same_operands();
  const Element part = c.tensor(0).element;
  c.need(part == Element::kF32 || part == Element::kF64, "operands must be f32 or f64");
  return {like(c.operand(0), complex_of(part))};
}

Types part(const Contract& c) {
  need_class(c, 0, kF | kC);
  return {like(c.operand(0), real_part(c.operand(0).element))};
}

Types predicate(const Contract& c) {
  need_class(c, 0, kF);
  return {like(c.operand(0), Element::kI1)};
}

Types select(const Contract& c) {
  const Type& choice = c.tensor(0);
  c.need(choice.element == Element::kI1, "operand 0 must be of i1");
  c.same_operands(1);
  const Type& value = c.tensor(1);
  c.need(choice.rank() == 0 || choice.dims == value.dims,
         fmt::format("operand 0 is {}, the others are {} (C1)", mlir_text(choice), mlir_text(value)));
  return {like(value, value.element)};
}

Types clamp(const Contract& c) {
  const Type& value = c.tensor(1);
  for (const std::size_t i : {0, 2}) {
    const Type& bound = c.tensor(i);
    c.need(bound.element == value.element && (bound.rank() == 0 || bound.dims == value.dims),
           fmt::format("operand {} is {}, the clamped one is {} (C1, C2)", i, mlir_text(bound), mlir_text(value)));
  }
  return {like(value, value.element)};
}

Types reduce_precision(const Contract& c) {
  need_class(c, 0, kF);
  c.need(c.attributes().integer("exponent_bits") >= 1, "exponent_bits must be at least 1 (C2)");
  c.need(c.attributes().integer("mantissa_bits") >= 0, "mantissa_bits must not be negative (C3)");
  return {like(c.operand(0), c.operand(0).element)};
}

Types convert(const Contract& c) {
  need_class(c, 0, kAny);
  const Type& to = only_stated(c);
  c.need(to.is_tensor(), "the result must be a tensor");
  return {like(c.operand(0), to.element)};
}

Types bitcast_convert(const Contract& c) {
  need_class(c, 0, kAny);
  const Type &from = c.operand(0), to = only_stated(c);
  c.need(to.is_tensor(), "the result must be a tensor");
  const int narrow = info(from.element).bits, wide = info(to.element).bits;
  Dims dims = from.dims;
  if (wide < narrow) dims.push_back(narrow / wide);
  if (wide > narrow) {
    c.need(!dims.empty() && dims.back() == wide / narrow,
           fmt::format("the last dimension of {} must have {} elements (C1)", mlir_text(from), wide / narrow));
    dims.pop_back();
  }
  c.need(is_complex(from.element) == is_complex(to.element), "both types are complex, or none (C2)");
  return {tensor_type(to.element, dims)};
}

Types stated(const Contract& c) { return c.stated(); }

Types stated_shape(const Contract& c) {
  const Type& to = only_stated(c);
  c.need(to.is_tensor(), "the result must be a tensor");
  return {to};
}

Types operands(const Contract& c) {
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) out.push_back(c.operand(i));
  return out;
}

Types tuple(const Contract& c) { return {tuple_type(operands(c))}; }

Types get_tuple_element(const Contract& c) {
  const std::int64_t i = c.attributes().integer("index");
  c.need(c.operands() == 1 && c.operand(0).is_tuple(), "the operand must be a tuple");
  const std::vector<Type>& parts = c.operand(0).tuple();
  c.need(i >= 0 && i < static_cast<std::int64_t>(parts.size()),
         fmt::format("index {} is not in a tuple of {} (C1)", i, parts.size()));
  return {parts[static_cast<std::size_t>(i)]};
}

Types token(const Contract&) { return {token_type()}; }

Types dimension_size(const Contract& c) {
  c.distinct({c.attributes().integer("dimension")}, c.tensor(0).rank(), "dimension");
  return {scalar_type(Element::kI32)};
}

Types async_done(const Contract& c) {
  c.need(c.operands() == 1, "needs one operand");
  return c.operand(0).is_tuple() ? Types{c.operand(0).tuple()} : Types{c.operand(0)};
}

}  // namespace trnsim::frontend::rules
