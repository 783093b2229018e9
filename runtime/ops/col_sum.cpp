#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

/// y = sum over the rows of x. Shapes: x [R, C] -> y [1, C].
/// Lowering: a matmul with a stationary column of ones; PSUM adds up over all row tiles, SBUF when the row is long.
std::vector<Shape> sum_infer(const Contract& c) { return {{1, c.in(0).cols, c.result_type()}}; }

Tensors sum_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(1, in[0].cols, [&](auto, auto c) {
    double sum = 0;
    for (std::int64_t r = 0; r < in[0].rows; ++r) sum += in[0].at(r, c);
    return sum;
  })};
}

/// More banks than PSUM can spare add up in SBUF, by way of one.
bool is_wide(std::int64_t cols, const Budgets& budgets) { return ceil_div(cols, kChunk) > budgets.sum_banks; }

void sum_lower(RowTiler& r, const Node& node) {
  const Tile x = r.in(node, 0);
  const Tile ones = partitions(r.e().ones(x.dtype, 1), r.parts());
  const std::int64_t cols = x.cols();
  const bool wide = is_wide(cols, r.budgets());
  for (std::int64_t c = 0; c < cols; c += kChunk) {
    const std::int64_t size = std::min(kChunk, cols - c);
    const Tile sum = r.accumulator(node, c / kChunk, 1, size, wide);
    const Tile part = wide ? r.e().psum(1, size) : sum;
    r.e().matmul(part, ones, columns(x, c, size), !wide && !r.first_tile());
    if (wide && r.first_tile()) r.e().copy(sum, part);
    if (wide && !r.first_tile()) r.e().tensor_tensor(sum, part, Alu::kAdd, sum);
    if (!r.last_tile()) continue;
    const Tile row = r.e().sbuf(r.e().value(node.out[0]).dtype, 1, size);
    r.e().copy(row, sum);
    r.e().store(r.e().hbm(node.out[0], 0, 1, c, size, 1), row);
  }
}

RowSums sum_held(const Graph& g, const Node& n, const Budgets& budgets) {
  const std::int64_t cols = g.value(n.in[0]).cols;
  return is_wide(cols, budgets) ? RowSums{.banks = 1, .bytes = cols * 4} : RowSums{.banks = ceil_div(cols, kChunk)};
}

double sum_flops(const Graph& g, const Node& n) { return 2.0 * static_cast<double>(g.value(n.in[0]).elements()); }

/// y = sum over the rows of x, for rows that are too long for all sums to stay on chip at once: the gradient of a bias
/// over a vocabulary. Shapes: x [R, C] -> y [1, C].
/// Lowering: as col_sum, some banks of columns after the other; each reads its columns of all rows.
std::vector<Shape> wide_infer(const Contract& c) { return {{1, c.in(0).cols, c.result_type()}}; }

Tensors wide_forward(const Attrs& a, std::span<const Tensor> in) { return kColSum.forward(a, in); }

void wide_lower(Emitter& e, const Node& node) {
  constexpr std::int64_t kBanks = 2, kCols = kBanks * kChunk;  // two sets of sums take half of PSUM
  const Value& x = e.value(node.in[0]);
  for (std::int64_t c = 0; c < x.cols; c += kCols) {
    const std::int64_t width = std::min(kCols, x.cols - c);
    std::vector<Tile> sums;
    for (std::int64_t b = 0; b < width; b += kChunk) sums.push_back(e.psum(1, std::min(kChunk, width - b)));
    for (std::int64_t r = 0; r < x.rows; r += kPartitions) {
      const std::int64_t count = std::min(kPartitions, x.rows - r);
      const Tile rows = e.loaded(x.dtype, e.hbm(node.in[0], r, count, c, width, 1));
      const Tile ones = partitions(e.ones(x.dtype, 1), count);
      for (std::size_t b = 0; b < sums.size(); ++b)
        e.matmul(sums[b], ones, columns(rows, static_cast<std::int64_t>(b) * kChunk, sums[b].cols()), r > 0);
    }
    const Tile out = e.sbuf(e.value(node.out[0]).dtype, 1, width);
    for (std::size_t b = 0; b < sums.size(); ++b)
      e.copy(columns(out, static_cast<std::int64_t>(b) * kChunk, sums[b].cols()), sums[b]);
    e.store(e.hbm(node.out[0], 0, 1, c, width, 1), out);
  }
}

double wide_flops(const Graph& g, const Node& n) { return 2.0 * static_cast<double>(g.value(n.in[0]).elements()); }

/// sum = sum + x, in place: adds a micro-step's gradients to earlier ones. Shapes: sum, x [R, C] -> sum.
/// Lowering: one VectorE pass.
std::vector<Shape> accumulate_infer(const Contract& c) {
  const Value& sum = c.in(0);
  c.need(1, sum.rows, sum.cols, "summand");
  return {{sum.rows, sum.cols, sum.dtype, c.node.in[0]}};
}

Tensors accumulate_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(in[0].rows, in[0].cols, [&](auto r, auto c) { return in[0].at(r, c) + in[1].at(r, c); })};
}

void accumulate_lower(Emitter& e, const Node& node) {
  const Value &sum = e.value(node.in[0]), &x = e.value(node.in[1]);
  const Flat flat{sum.elements()};
  for_tiles(flat, sum.dtype, [&](std::int64_t c, std::int64_t cols) {
    const Tile old = e.loaded(sum.dtype, flat.at(e, node.in[0], c, cols));
    const Tile more = e.loaded(x.dtype, flat.at(e, node.in[1], c, cols));
    e.tensor_tensor(old, old, Alu::kAdd, more);
    e.store(flat.at(e, node.out[0], c, cols), old);
  });
}

}  // namespace

const Op kColSum{.name = "col_sum",
                 .text = "sum over rows",
                 .attrs = ResultAttrs{},
                 .infer = sum_infer,
                 .forward = sum_forward,
                 .lower_rows = sum_lower,
                 .matmul_flops = sum_flops,
                 .extra_flops = sum_flops,
                 .row_sums = sum_held};
const Op kWideColSum{.name = "wide_col_sum",
                     .text = "sum over rows that are too long for SBUF",
                     .attrs = ResultAttrs{},
                     .infer = wide_infer,
                     .forward = wide_forward,
                     .lower_whole = wide_lower,
                     .matmul_flops = wide_flops,
                     .extra_flops = wide_flops};
const Op kAccumulate{.name = "accumulate",
                     .text = "x + y, in place",
                     .infer = accumulate_infer,
                     .forward = accumulate_forward,
                     .lower_whole = accumulate_lower};

}  // namespace runtime
