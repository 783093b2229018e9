// Elements of a row in other places of the row, for graphs of any kind: engines read and write SBUF at strides, so that
// row tiles take such operations along without a way through HBM.
#include "runtime/compiler/row_tiler.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMostAxes = 4;            // of an instruction's operand
constexpr std::int64_t kMostColumns = 4 * 1024;  // in one instruction

std::int64_t columns_named(const Ints& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

/// Part of a row: at element `first`, axes with these strides.
Tile strided(const Tile& row, std::int64_t first, const Ints& sizes, const Ints& strides) {
  Tile out = columns(row, first, 1);
  out.rank = static_cast<std::uint8_t>(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d)
    out.free[d] = {.step = static_cast<std::int32_t>(strides[d]), .size = static_cast<std::uint32_t>(sizes[d])};
  return out;
}

/// Copies part of a row, in pieces of its outermost axis that an instruction takes.
struct RowCopy {
  Ints sizes, from, to;  // sizes, and strides on both sides

  void run(RowTiler& r, const Tile& source, std::int64_t source_first, const Tile& target,
           std::int64_t target_first) const {
    const std::int64_t inner = columns_named(sizes) / sizes[0];
    const std::int64_t step = std::max<std::int64_t>(1, kMostColumns / std::max<std::int64_t>(inner, 1));
    for (std::int64_t i = 0; i < sizes[0]; i += step) {
      Ints part = sizes;
      part[0] = std::min(step, sizes[0] - i);
      r.e().copy(strided(target, target_first + i * to[0], part, to),
                 strided(source, source_first + i * from[0], part, from));
    }
  }
};

Ints dense_steps(const Ints& sizes) {
  Ints out(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) out[i - 1] = out[i] * sizes[i];
  return out;
}

/// y[r] = the elements of row r that attrs name, in their order. Shapes: x [R, C] -> [R, elements that are named].
/// Lowering: one copy from SBUF to SBUF, at strides.
std::vector<Shape> take_columns_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<ColumnsAttrs>();
  std::int64_t last = a.first;
  for (std::size_t d = 0; d < a.sizes.size() && d < a.strides.size(); ++d) last += (a.sizes[d] - 1) * a.strides[d];
  if (a.sizes.size() != a.strides.size() || a.sizes.empty() || std::ssize(a.sizes) > kMostAxes)
    c.fail("has no sizes and strides of one to four axes", "give them");
  if (a.first < 0 || last >= c.in(0).cols) c.fail("reaches beyond its row", "correct sizes and strides");
  return {{c.in(0).rows, columns_named(a.sizes), c.result_type()}};
}

Tensors take_columns_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ColumnsAttrs>();
  const Ints steps = dense_steps(a.sizes);
  return {generate(in[0].rows, columns_named(a.sizes), [&](auto r, auto c) {
    std::int64_t at = a.first;
    for (std::size_t d = 0; d < a.sizes.size(); ++d) at += c / steps[d] % a.sizes[d] * a.strides[d];
    return in[0].at(r, at);
  })};
}

/// For blocks of neighbours at one stride: the gradient of a block that all rows' blocks repeat is their sum; between
/// blocks that are apart there are zeros. Errors: Fault::kProgram for others, whose gradient no model needs.
void take_columns_backward(Backward& b, const Node& node) {
  const auto& a = node.attrs.as<ColumnsAttrs>();
  const std::int64_t cols = b.graph().value(node.in[0]).cols, size = a.sizes.back();
  const bool blocks = a.sizes.size() == 2 && a.strides[1] == 1;
  if (blocks && a.strides[0] == 0 && a.first == 0 && size == cols)
    return b.add(node, 0, b.op(kHeadSum, node, "grad", {b.grad(node)}, StrideAttrs{.stride = size}));
  if (!blocks || a.first + size > a.strides[0] || a.sizes[0] * a.strides[0] != cols)
    Contract{b.graph(), node}.fail("needs a gradient of columns that are not blocks", "take one part of each block");
  std::vector<ValueId> parts;
  const auto zeros = [&](std::int64_t each) {
    if (each == 0) return;
    parts.push_back(b.op(
        kRamp, node, "zeros", {},
        RampAttrs{.rows = 1, .cols = a.sizes[0] * each, .start = 0, .dtype = b.graph().value(b.grad(node)).dtype}));
  };
  zeros(a.first);
  parts.push_back(b.grad(node));
  zeros(a.strides[0] - a.first - size);
  b.add(node, 0, b.op(kJoinColumns, node, "grad", parts, JoinAttrs{.blocks = a.sizes[0]}));
}

void take_columns_lower(RowTiler& r, const Node& node) {
  const auto& a = node.attrs.as<ColumnsAttrs>();
  RowCopy{a.sizes, a.strides, dense_steps(a.sizes)}.run(r, r.in(node, 0), a.first, r.out(node, 0), 0);
}

/// Each row's block b is block b of all operands, one behind the other. Shapes: attrs.blocks * n_i columns of R rows,
/// or of one row that all rows have -> [R, the sum of the operands' columns]. Lowering: a copy for each operand.
std::vector<Shape> join_columns_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<JoinAttrs>();
  std::int64_t rows = 1, cols = 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    rows = std::max(rows, c.in(i).rows), cols += c.in(i).cols;
    if (a.blocks < 1 || c.in(i).cols % a.blocks != 0) c.fail("its operands have no such blocks", "correct the blocks");
  }
  for (std::size_t i = 0; i < c.inputs(); ++i)
    if (c.in(i).rows != 1) c.need(i, rows, c.in(i).cols, "operand");
  return {{rows, cols, c.result_type()}};
}

Tensors join_columns_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const std::int64_t blocks = attrs.as<JoinAttrs>().blocks;
  std::int64_t rows = 1, cols = 0;
  for (const Tensor& t : in) rows = std::max(rows, t.rows), cols += t.cols;
  return {generate(rows, cols, [&](auto r, auto c) {
    const std::int64_t block = c / (cols / blocks);
    std::int64_t at = c % (cols / blocks);
    std::size_t i = 0;
    while (at >= in[i].cols / blocks) at -= in[i++].cols / blocks;
    return in[i].broadcast(r, block * (in[i].cols / blocks) + at);
  })};
}

void join_columns_backward(Backward& b, const Node& node) {
  const std::int64_t blocks = node.attrs.as<JoinAttrs>().blocks, wide = b.graph().value(node.out[0]).cols / blocks;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    const std::int64_t own = b.graph().value(node.in[i]).cols / blocks;
    if (b.needs(node, i))
      b.add(node, i,
            b.op(kTakeColumns, node, "grad", {b.grad(node)},
                 ColumnsAttrs{.sizes = {blocks, own}, .strides = {wide, 1}, .first = at}));
    at += own;
  }
}

void join_columns_lower(RowTiler& r, const Node& node) {
  const std::int64_t blocks = node.attrs.as<JoinAttrs>().blocks;
  const Tile y = r.out(node, 0);
  const std::int64_t wide = y.cols() / blocks;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    const std::int64_t own = r.cols_of(node.in[i]) / blocks;
    RowCopy{{blocks, own}, {own, 1}, {wide, 1}}.run(r, r.in(node, i), 0, y, at);
    at += own;
  }
}

}  // namespace

const Op kTakeColumns{.name = "take_columns",
                      .text = "elements of each row, at strides",
                      .attrs = ColumnsAttrs{},
                      .infer = take_columns_infer,
                      .forward = take_columns_forward,
                      .backward = take_columns_backward,
                      .lower_rows = take_columns_lower};
const Op kJoinColumns{.name = "join_columns",
                      .text = "rows' blocks of several operands side by side",
                      .attrs = JoinAttrs{},
                      .infer = join_columns_infer,
                      .forward = join_columns_forward,
                      .backward = join_columns_backward,
                      .lower_rows = join_columns_lower};

}  // namespace runtime
