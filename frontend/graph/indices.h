// Lists of dimensions and indices, as operators' attributes have them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "frontend/graph/attribute.h"

namespace trnsim::frontend {

/// A dimension or index that is known not to be negative, as a container's index.
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

inline bool holds(const Ints& list, std::int64_t value) { return std::ranges::find(list, value) != list.end(); }

inline Ints joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace trnsim::frontend
