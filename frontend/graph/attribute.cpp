#include "frontend/graph/attribute.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"

namespace trnsim::frontend {
namespace {

template <class T>
T value_of(const AttributeValue* value, std::string_view name, const T& otherwise, std::string_view wanted) {
  if (value == nullptr) return otherwise;
  if (const T* got = std::get_if<T>(value)) return *got;
  throw base::Error{base::Fault::kProgram, "attribute " + std::string{name}, fmt::format("is not {}", wanted),
                    "write it as the operator's row in docs/frontend.md says"};
}

void put_bits(std::vector<std::byte>& bytes, std::uint64_t bits, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

}  // namespace

std::uint64_t Literal::bits(std::int64_t i, int part) const {
  const std::size_t whole = stored_bytes(type.element);
  const std::size_t size = is_complex(type.element) ? whole / 2 : whole;
  const std::size_t at = (splat ? 0 : static_cast<std::size_t>(i)) * whole + static_cast<std::size_t>(part) * size;
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data() + at, size);  // both are little-endian
  return out;
}

void Attributes::set(std::string_view name, AttributeValue value) {
  for (Entry& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

const AttributeValue* Attributes::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

bool Attributes::flag(std::string_view name, bool otherwise) const {
  return value_of<bool>(find(name), name, otherwise, "true or false");
}
std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  return value_of<std::int64_t>(find(name), name, otherwise, "an integer");
}
double Attributes::real(std::string_view name, double otherwise) const {
  const AttributeValue* value = find(name);
  if (value != nullptr && std::holds_alternative<std::int64_t>(*value))
    return static_cast<double>(std::get<std::int64_t>(*value));
  return value_of<double>(value, name, otherwise, "a number");
}
std::string Attributes::text(std::string_view name, std::string_view otherwise) const {
  return value_of<std::string>(find(name), name, std::string{otherwise}, "text");
}
Ints Attributes::ints(std::string_view name, const Ints& otherwise) const {
  return value_of<Ints>(find(name), name, otherwise, "a list of integers");
}
IntTable Attributes::table(std::string_view name) const {
  return value_of<IntTable>(find(name), name, {}, "a table of integers");
}
Texts Attributes::texts(std::string_view name) const {
  return value_of<Texts>(find(name), name, {}, "a list of words");
}
LiteralPtr Attributes::literal(std::string_view name) const {
  return value_of<LiteralPtr>(find(name), name, nullptr, "a constant");
}

LiteralPtr literal_of(const Type& type, const std::vector<double>& values) {
  auto literal = std::make_shared<Literal>();
  literal->type = type;
  literal->splat = values.size() == 1;
  const std::size_t size = stored_bytes(real_part(type.element));
  for (const double value : values) {
    const bool real = is_float(type.element) || is_complex(type.element);
    put_bits(literal->bytes,
             real ? encode_float(real_part(type.element), value)
                  : static_cast<std::uint64_t>(wrap_to(type.element, static_cast<std::int64_t>(value))),
             size);
    if (is_complex(type.element)) put_bits(literal->bytes, 0, size);
  }
  return literal;
}

}  // namespace trnsim::frontend
