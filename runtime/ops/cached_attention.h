// The contract and the definition of attention to caches; its lowering is in cached_attention.cpp.
#pragma once

#include "runtime/graph/op.h"

namespace runtime {

inline constexpr std::int64_t kMostCacheRows = 65535;  // per sequence: that one indexed transfer reaches

std::vector<Shape> cached_infer(const Contract& c);
Tensors cached_forward(const Attrs& attrs, std::span<const Tensor> in);

}  // namespace runtime
