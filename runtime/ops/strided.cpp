#include "runtime/ops/strided.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t product_of(const Ints& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>{});
}

/// Whether a step of each axis is further than all smaller axes reach together: then no two indices meet.
bool is_apart(const Strided& read) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, size
  for (std::size_t d = 0; d < read.sizes.size(); ++d)
    if (read.sizes[d] > 1) axes.emplace_back(read.strides[d], read.sizes[d]);
  std::ranges::sort(axes);
  std::int64_t reached = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reached) return false;
    reached += stride * (size - 1);
  }
  return true;
}

}  // namespace

Ints dense_strides(const Ints& sizes) {
  Ints out(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) out[i - 1] = out[i] * sizes[i];
  return out;
}

void add_strided(Backward& b, const Node& node, std::size_t i, ValueId gradient, Strided read) {
  const Value like = b.graph().value(node.in[i]);
  if (read.sizes.size() > 1 && read.strides[0] == 0 && read.sizes[0] > 1) {
    read.sizes.erase(read.sizes.begin()), read.strides.erase(read.strides.begin());
    const std::int64_t rows = product_of(read.sizes) / b.graph().value(gradient).cols;
    gradient = b.op(kPositionsGrad, node, "sum", {gradient},
                    PositionsGradAttrs{.seq = rows, .rows = rows, .dtype = like.dtype});
  }
  if (!is_apart(read))
    throw base::Error{base::Fault::kProgram, node.label, "has no gradient: it reads an element more than once",
                      "repeat the operand by an operation that has one"};
  const bool all = product_of(read.sizes) == like.elements();
  if (!all || read.strides != dense_strides(read.sizes)) {
    const ValueId to = b.op(all ? kEmpty : kRamp, node, "place", {},
                            RampAttrs{.rows = like.rows, .cols = like.cols, .dtype = like.dtype});
    gradient = b.op(kPlace, node, "grad", {to, gradient},
                    MoveAttrs{.sizes = read.sizes, .strides = read.strides, .first = read.first});
  } else if (const Value& from = b.graph().value(gradient); from.cols != like.cols) {
    gradient = b.op(kView, node, "grad", {gradient}, ViewAttrs{.rows = like.rows, .cols = like.cols});
  }
  b.add(node, i, gradient);
}

}  // namespace runtime
