// The contract and the definition of attention to caches; its lowering is in cached_attention.cpp.
#pragma once

#include "runtime/graph/op.h"
#include "runtime/ops/indexed.h"

namespace runtime {

std::vector<Shape> cached_infer(const Contract& c);
Tensors cached_forward(const Attrs& attrs, std::span<const Tensor> in);

/// The rows of a cache that `count` sequences write, [count, 1] int32; each sequence's part has `length` rows.
/// `places`: the row of each sequence within its part.
Tile cache_rows(Emitter& e, ValueId places, std::int64_t count, std::int64_t length);
/// The same where the rows of all `count` sequences at a place are side by side.
Tile cache_rows_beside(Emitter& e, ValueId places, std::int64_t count);

}  // namespace runtime
