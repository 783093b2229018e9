// The type of a value: an element and dimensions, or a tuple of types, or a token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/element.h"

namespace trnsim::frontend {

using Dims = std::vector<std::int64_t>;

struct Type {
  Element element = Element::kF32;
  Dims dims;                                            // sizes are known: readers refuse others
  std::shared_ptr<const std::vector<Type>> parts = {};  // of a tuple; empty pointer: none
  Dims layout = {};  // dimensions from the fastest to the slowest; empty: the last first

  std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  bool is_tuple() const { return element == Element::kTuple; }
  bool is_token() const { return element == Element::kToken; }
  bool is_tensor() const { return !is_tuple() && !is_token(); }
  const std::vector<Type>& tuple() const;
  /// The same whatever the layout.
  bool operator==(const Type& other) const;
};

Type tensor_type(Element element, Dims dims);
Type scalar_type(Element element);
Type tuple_type(std::vector<Type> parts);
Type token_type();

/// The product of the sizes; it saturates at 2^62, so that absurd shapes can be compared.
std::int64_t element_count(const Dims& dims);
/// Bytes of a tensor whose elements are stored without gaps (packed below eight bits), of a tuple all of its parts.
std::int64_t byte_count(const Type& type);

std::string mlir_text(const Type& type);  // "tensor<2x3xf32>", "tuple<tensor<f32>, !stablehlo.token>"
std::string hlo_text(const Type& type);   // "f32[2,3]", "(f32[], token[])"

}  // namespace trnsim::frontend
