#include "frontend/graph/type.h"

#include <fmt/format.h>

#include <algorithm>

namespace trnsim::frontend {

const std::vector<Type>& Type::tuple() const {
  static const std::vector<Type> none;
  return parts ? *parts : none;
}

bool Type::operator==(const Type& other) const {
  if (element != other.element || dims != other.dims) return false;
  return parts == other.parts || tuple() == other.tuple();
}

Type tensor_type(Element element, Dims dims) { return {.element = element, .dims = std::move(dims)}; }
Type scalar_type(Element element) { return {.element = element, .dims = {}}; }
Type tuple_type(std::vector<Type> parts) {
  return {.element = Element::kTuple, .dims = {}, .parts = std::make_shared<const std::vector<Type>>(std::move(parts))};
}
Type token_type() { return {.element = Element::kToken, .dims = {}}; }

std::int64_t element_count(const Dims& dims) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (count > kMost / std::max<std::int64_t>(size, 1)) return kMost;
    count *= size;
  }
  return count;
}

std::int64_t byte_count(const Type& type) {
  std::int64_t bytes = 0;
  for (const Type& part : type.tuple()) bytes += byte_count(part);
  if (!type.is_tensor()) return bytes;
  const std::int64_t count = element_count(type.dims), bits = info(type.element).bits;
  return bits >= 8 ? std::min(count, (std::int64_t{1} << 56)) * (bits / 8) : (count + (8 / bits) - 1) / (8 / bits);
}

std::string mlir_text(const Type& type) {
  if (type.is_token()) return std::string{info(type.element).mlir};
  std::string text;
  if (type.is_tuple()) {
    for (const Type& part : type.tuple()) text += (text.empty() ? "" : ", ") + mlir_text(part);
    return "tuple<" + text + ">";
  }
  for (const std::int64_t size : type.dims) text += fmt::format("{}x", size);
  return fmt::format("tensor<{}{}>", text, info(type.element).mlir);
}

std::string hlo_text(const Type& type) {
  std::string text;
  if (type.is_tuple()) {
    for (const Type& part : type.tuple()) text += (text.empty() ? "" : ", ") + hlo_text(part);
    return "(" + text + ")";
  }
  for (const std::int64_t size : type.dims) text += fmt::format("{}{}", text.empty() ? "" : ",", size);
  return fmt::format("{}[{}]", info(type.element).hlo, text);
}

}  // namespace trnsim::frontend
