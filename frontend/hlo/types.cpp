#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {
namespace {

// Source: xla_data.proto, PrimitiveType.
constexpr std::array<std::pair<Element, std::int64_t>, 30> kNumbers{{
    {Element::kI1, 1},        {Element::kI2, 26},         {Element::kI4, 21},
    {Element::kI8, 2},        {Element::kI16, 3},         {Element::kI32, 4},
    {Element::kI64, 5},       {Element::kU2, 27},         {Element::kU4, 22},
    {Element::kU8, 6},        {Element::kU16, 7},         {Element::kU32, 8},
    {Element::kU64, 9},       {Element::kF16, 10},        {Element::kF32, 11},
    {Element::kF64, 12},      {Element::kBf16, 16},       {Element::kF8E5M2, 19},
    {Element::kF8E4M3, 28},   {Element::kF8E4M3FN, 20},   {Element::kF8E4M3B11FNUZ, 23},
    {Element::kF8E3M4, 29},   {Element::kF8E5M2FNUZ, 24}, {Element::kF8E4M3FNUZ, 25},
    {Element::kF4E2M1FN, 32}, {Element::kF8E8M0FNU, 33},  {Element::kC64, 15},
    {Element::kC128, 18},     {Element::kTuple, 13},      {Element::kToken, 17},
}};

}  // namespace

std::int64_t number_of(Element element) {
  const auto found = std::ranges::find(kNumbers, element, &std::pair<Element, std::int64_t>::first);
  base::ensure(found != kNumbers.end(), info(element).hlo, "the proto has no such type");
  return found->second;
}

Element element_numbered(std::int64_t number, std::string_view where) {
  const auto found = std::ranges::find(kNumbers, number, &std::pair<Element, std::int64_t>::second);
  if (found != kNumbers.end()) return found->first;
  throw base::Error{base::Fault::kProgram, where, fmt::format("has element type {} of xla_data.proto", number),
                    "use one of the types that docs/frontend.md lists"};
}

std::int64_t elements_of(const Shape& shape, std::string_view where) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t elements = 1;
  for (const std::int64_t dim : shape.dims) {
    if (dim < 0 || (dim > 0 && elements > kMost / dim))
      throw base::Error{base::Fault::kProgram, where, fmt::format("a shape with dimension {} is not possible", dim),
                        "give a shape of fewer than 2^62 elements"};
    elements *= dim;
  }
  return elements;
}

}  // namespace trnsim::frontend::hlo
