// Shared by element-wise ops.
#pragma once

#include "runtime/compiler/row_tiler.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"

namespace runtime {

/// The result has the first operand's shape; the second one has it too, or is one row or one column of it.
inline std::vector<Shape> same_or_broadcast(const Contract& c) {
  const Value& a = c.in(0);
  for (std::size_t i = 1; i < c.inputs(); ++i) {
    const Value& b = c.in(i);
    if ((b.rows != a.rows && b.rows != 1) || (b.cols != a.cols && b.cols != 1)) c.need(i, a.rows, a.cols, "operand");
  }
  return {{a.rows, a.cols, c.result_type()}};
}

template <class F>
Tensors map(std::span<const Tensor> in, const F& f) {
  return {generate(in[0].rows, in[0].cols,
                   [&](auto r, auto c) { return f(in[0].at(r, c), in.size() > 1 ? in[1].broadcast(r, c) : 0.0F); })};
}

/// The eps of a norm: its setting, or operand i where it is data.
inline Scalar eps_of(RowTiler& r, const Node& node, std::size_t i) {
  if (node.in.size() > i) return r.in(node, i);
  return static_cast<float>(node.attrs.as<NormAttrs>().eps);
}

/// An operand [P, 1] as wide as the others.
inline Tile fit(const Tile& tile, std::int64_t cols) { return tile.cols() == cols ? tile : widen(tile, cols); }

}  // namespace runtime
