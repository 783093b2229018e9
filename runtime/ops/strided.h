// The gradient of an operand that is read at strides.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/autodiff.h"

namespace runtime {

/// The steps of axes of these sizes, the last the fastest, without gaps.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes);

/// Elements at `first` + the sum of index * stride, for all indices below `sizes`.
struct Strided {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t first = 0;
};

/// Adds the gradient of operand `i` of `node`, which was read as `read`; `gradient` has its elements in the order of
/// the indices. Elements that no index reaches have none; an outermost axis of stride 0 is summed.
/// Errors: Fault::kProgram where an element is read more than once otherwise.
void add_strided(Backward& b, const Node& node, std::size_t i, ValueId gradient, Strided read);

}  // namespace runtime
