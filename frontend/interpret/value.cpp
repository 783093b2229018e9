#include "frontend/interpret/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trnsim::frontend {
namespace {

std::shared_ptr<const Data> shared(Data data) { return std::make_shared<const Data>(std::move(data)); }

Data read_literal(const Literal& literal) {
  const Element element = literal.type.element;
  const std::int64_t count = literal.splat ? 1 : literal.count();
  if (is_complex(element)) {
    const Element part = real_part(element);
    Complexes out;
    for (std::int64_t i = 0; i < count; ++i)
      out.emplace_back(decode_float(part, literal.bits(i, 0)), decode_float(part, literal.bits(i, 1)));
    return out;
  }
  if (is_float(element)) {
    Reals out(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = decode_float(element, literal.bits(i));
    return out;
  }
  Integers out(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    out[static_cast<std::size_t>(i)] = wrap_to(element, static_cast<std::int64_t>(literal.bits(i)));
  return out;
}

void put(std::vector<std::byte>& bytes, std::uint64_t bits, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

}  // namespace

Value exact_value(const Type& type, Data data) { return {.type = type, .data = shared(std::move(data))}; }

Value value_of(const Type& type, Reals numbers) {
  const Element element = type.element;
  if (element == Element::kF32)
    for (double& x : numbers) x = static_cast<float>(x);
  else if (element != Element::kF64)
    for (double& x : numbers) x = round_to(element, x);
  return exact_value(type, std::move(numbers));
}

Value value_of(const Type& type, Integers numbers) {
  if (info(type.element).bits < 64)
    for (std::int64_t& x : numbers) x = wrap_to(type.element, x);
  return exact_value(type, std::move(numbers));
}

Value value_of(const Type& type, Complexes numbers) {
  if (type.element == Element::kC64)
    for (Complex& x : numbers) x = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  return exact_value(type, std::move(numbers));
}

Value tuple_value(std::vector<Value> parts) {
  std::vector<Type> types;
  for (const Value& part : parts) types.push_back(part.type);
  return {.type = tuple_type(std::move(types)),
          .data = {},
          .parts = std::make_shared<const std::vector<Value>>(std::move(parts))};
}

Value token_value() { return {.type = token_type()}; }

void require_room(const Type& type) {
  if (element_count(type.dims) <= kMostElements) return;
  throw base::Error{base::Fault::kCapacity, mlir_text(type),
                    fmt::format("has more than the {} elements that the interpreter holds", kMostElements),
                    "interpret a smaller shape of the program"};
}

Value value_of(const Literal& literal) {
  if (literal.type.is_tuple()) {
    std::vector<Value> parts;
    for (const LiteralPtr& part : literal.parts) parts.push_back(value_of(*part));
    return tuple_value(std::move(parts));
  }
  require_room(literal.type);
  const Type plain = tensor_type(literal.type.element, literal.type.dims);
  if (!literal.splat) return exact_value(plain, read_literal(literal));
  return repeated(exact_value(scalar_type(plain.element), read_literal(literal)), plain.dims);
}

LiteralPtr literal_of(const Value& value) {
  auto out = std::make_shared<Literal>();
  out->type = value.type;
  if (value.type.is_tuple()) {
    for (const Value& part : *value.parts) out->parts.push_back(literal_of(part));
    return out;
  }
  const Element part = real_part(value.type.element);
  const std::size_t size = stored_bytes(part);
  if (const auto* reals = std::get_if<Reals>(value.data.get()))
    for (const double x : *reals) put(out->bytes, encode_float(part, x), size);
  else if (const auto* integers = std::get_if<Integers>(value.data.get()))
    for (const std::int64_t x : *integers) put(out->bytes, static_cast<std::uint64_t>(x), size);
  else
    for (const Complex& x : value.complexes())
      put(out->bytes, encode_float(part, x.real()), size), put(out->bytes, encode_float(part, x.imag()), size);
  return out;
}

Value picked(const Value& from, const Dims& dims, const std::vector<std::int64_t>& index, const Value* filler) {
  const auto pick = [&](const auto& numbers) -> Data {
    using Numbers = std::decay_t<decltype(numbers)>;
    typename Numbers::value_type other{};
    if (filler != nullptr) other = std::get<Numbers>(*filler->data).front();
    Numbers out(index.size());
    base::ensure(index.empty() || *std::ranges::max_element(index) < static_cast<std::int64_t>(numbers.size()),
                 mlir_text(from.type), "is read beyond its end");
    for (std::size_t i = 0; i < index.size(); ++i)
      out[i] = index[i] < 0 ? other : numbers[static_cast<std::size_t>(index[i])];
    return out;
  };
  return exact_value(tensor_type(from.type.element, dims), std::visit(pick, *from.data));
}

Value repeated(const Value& scalar, const Dims& dims) {
  const Type type = tensor_type(scalar.type.element, dims);
  require_room(type);
  const auto count = static_cast<std::size_t>(element_count(dims));
  return exact_value(
      type,
      std::visit([&](const auto& numbers) -> Data { return std::decay_t<decltype(numbers)>(count, numbers.front()); },
                 *scalar.data));
}

Value element_at(const Value& from, std::int64_t i) { return picked(from, {}, {i}); }

Value stacked(const std::vector<Value>& scalars, const Type& scalar) {
  const Value empty = zeros(tensor_type(scalar.element, {0}));
  Data all = std::visit(
      [&](const auto& numbers) -> Data {
        using Numbers = std::decay_t<decltype(numbers)>;
        Numbers out;
        for (const Value& value : scalars) out.push_back(std::get<Numbers>(*value.data).front());
        return out;
      },
      *empty.data);
  return exact_value(tensor_type(scalar.element, {static_cast<std::int64_t>(scalars.size())}), std::move(all));
}

Value zeros(const Type& type) {
  require_room(type);
  const auto count = static_cast<std::size_t>(element_count(type.dims));
  if (is_complex(type.element)) return exact_value(type, Complexes(count));
  if (is_float(type.element)) return value_of(type, Reals(count));
  return exact_value(type, Integers(count));
}

Ints strides_of(const Dims& dims) {
  Ints strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

bool next_position(Ints& position, const Dims& dims) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (++position[i] < dims[i]) return true;
    position[i] = 0;
  }
  return false;
}

}  // namespace trnsim::frontend
