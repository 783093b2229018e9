// Values as the interpreter holds them: numbers in the widest type of their kind, each rounded to its element's format.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "frontend/graph/attribute.h"
#include "frontend/graph/type.h"

namespace trnsim::frontend {

using Reals = std::vector<double>;
using Integers = std::vector<std::int64_t>;  // unsigned ones of 64 bits: the same bits
using Complex = std::complex<double>;
using Complexes = std::vector<Complex>;
using Data = std::variant<Reals, Integers, Complexes>;

/// A tensor (row-major), a tuple of values, or a token. Shared, never changed.
struct Value {
  Type type;
  std::shared_ptr<const Data> data = {};
  std::shared_ptr<const std::vector<Value>> parts = {};

  std::int64_t count() const { return element_count(type.dims); }
  const Reals& reals() const { return std::get<Reals>(*data); }
  const Integers& integers() const { return std::get<Integers>(*data); }
  const Complexes& complexes() const { return std::get<Complexes>(*data); }
};

/// Values of numbers that are rounded, or wrapped, to the element of `type` here.
Value value_of(const Type& type, Reals numbers);
Value value_of(const Type& type, Integers numbers);
Value value_of(const Type& type, Complexes numbers);
/// Numbers that fit already.
Value exact_value(const Type& type, Data data);
Value tuple_value(std::vector<Value> parts);
Value token_value();
/// Errors: Fault::kCapacity when it has more elements than the interpreter holds.
Value value_of(const Literal& literal);
LiteralPtr literal_of(const Value& value);

/// result[i] = from[index[i]]; where the index is below zero, the only element of `filler`.
Value picked(const Value& from, const Dims& dims, const std::vector<std::int64_t>& index,
             const Value* filler = nullptr);
/// A scalar repeated.
Value repeated(const Value& scalar, const Dims& dims);
/// Element i as a scalar.
Value element_at(const Value& from, std::int64_t i);
/// Scalars of one type, one behind the other.
Value stacked(const std::vector<Value>& scalars, const Type& scalar);
/// Zeros, or false.
Value zeros(const Type& type);

/// The most elements of a value: 4 GB of memory.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 29;
void require_room(const Type& type);

/// Distances of neighbours in each dimension, in elements.
Ints strides_of(const Dims& dims);
/// Counts through positions, the last dimension fastest. Returns false when it is over.
bool next_position(Ints& position, const Dims& dims);

}  // namespace trnsim::frontend
