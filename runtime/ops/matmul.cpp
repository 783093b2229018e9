#include <algorithm>

#include "base/error.h"
#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// y = alpha * x w, or alpha * x w^T with trans_b. Shapes: x [R, K], w [K, N] (trans_b: [N, K]) -> y [R, N].
/// Operands enter TensorE as attrs.operand (default: x's type), sums are fp32.
/// With attrs.blocked the rows of w are in the order of blocked_row(); then it has no gradient.
/// Lowering: x is stationary after a transpose on TensorE, w moves. A w that fits in SBUF stays there for all row
/// tiles; of another one each piece is used by several.
std::vector<Shape> matmul_infer(const Contract& c) {
  const Value &x = c.in(0), &w = c.in(1);
  const auto& a = c.node.attrs.as<MatmulAttrs>();
  const bool t = a.trans_b;
  if (t && a.blocked) c.fail("a blocked weight cannot be read transposed", "store it as [in, out]");
  c.need(1, t ? w.rows : x.cols, t ? x.cols : w.cols, "w");
  return {{x.rows, t ? w.rows : w.cols, c.result_type()}};
}

Tensors matmul_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<MatmulAttrs>();
  const Tensor &x = in[0], &w = in[1];
  return {generate(x.rows, a.trans_b ? w.rows : w.cols, [&](auto r, auto c) {
    if (a.trans_b) return a.alpha * dot(x.row(r), w.row(c), x.cols);
    if (!a.blocked) return a.alpha * dot(x.row(r), w.row(0) + c, x.cols, 1, w.cols);
    double sum = 0;
    for (std::int64_t k = 0; k < x.cols; ++k) sum += static_cast<double>(x.at(r, k)) * w.at(blocked_row(k, w.rows), c);
    return a.alpha * sum;
  })};
}

void matmul_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node), x = node.in[0], w = node.in[1];
  const auto& a = node.attrs.as<MatmulAttrs>();
  base::ensure(!a.blocked, node.label, "a blocked weight has no gradient");
  MatmulAttrs dx{.alpha = a.alpha, .trans_b = !a.trans_b, .operand = a.operand};
  if (b.graph().value(x).kind == Kind::kWeight) dx.dtype = b.graph().numerics().gradient;
  if (b.needs(node, 0)) b.add(node, 0, b.op(kMatmul, node, "grad", {dy, w}, dx));
  const MatmulTnAttrs dw{.alpha = a.alpha, .dtype = b.graph().numerics().gradient, .operand = a.operand};
  if (b.needs(node, 1))
    b.add(node, 1,
          b.ops(kMatmulTn, node, "weight_grad", a.trans_b ? std::vector{dy, x} : std::vector{x, dy}, dw).front());
}

double matmul_flops(const Graph& g, const Node& n) {
  return 2.0 * static_cast<double>(g.value(n.in[0]).elements()) * static_cast<double>(g.value(n.out[0]).cols);
}

// ---- lowering: both operands have the contracted axis on the partitions

using Panels = RowTiler::Panels;

std::int64_t shared_bytes(const Graph& g, const Node& n) {
  return ceil_div(g.value(n.in[0]).cols, kPartitions) * g.value(n.out[0]).cols * isa::size_of(operand_type(g, n));
}

/// Operands so deep that a row tile of them would not fit are staged in segments of that many columns, and the sums of
/// segments add up in SBUF, for so many columns of the result at a time.
constexpr std::int64_t kDeepBytes = 256 * kChunk, kSegment = 32 * kChunk, kDeepColumns = 16 * kChunk;

bool is_deep(std::int64_t depth, Dtype type) { return depth * isa::size_of(type) > kDeepBytes; }

std::int64_t staged_bytes(const Graph& g, const Node& n) {
  const std::int64_t depth = g.value(n.in[0]).cols, size = isa::size_of(operand_type(g, n));
  if (!is_deep(depth, operand_type(g, n))) return ceil_div(depth, kPartitions) * kPartitions * size;
  return kSegment * size + std::min(g.value(n.out[0]).cols, kDeepColumns) * isa::size_of(Dtype::kFp32);
}

class Matmul {
 public:
  Matmul(RowTiler& r, const Node& node)
      : r_{r},
        e_{r.e()},
        node_{node},
        a_{node.attrs.as<MatmulAttrs>()},
        type_{operand_type(e_.graph(), node)},
        depth_{r.cols_of(node.in[0])},
        cols_{r.cols_of(node.out[0])} {}

  void run() {
    if (!is_deep(depth_, type_)) return r_.shared_resident() ? run_resident() : run_streamed();
    for (std::int64_t c = 0; c < cols_; c += kDeepColumns) run_deep({c, std::min(kDeepColumns, cols_ - c)});
  }

 private:
  void run_resident() {
    Panels& weights = r_.shared(node_);
    if (weights.empty()) weights = load_weights({0, cols_}, {0, depth_});
    const auto [first, count] = r_.block();
    for (std::int64_t t = first; t < first + count; ++t) {
      r_.at(t);
      e_.label(node_.label);
      const Panels& stationary = transposed();
      for (std::int64_t c = 0; c < cols_; c += kChunk) {
        const Span span{c, std::min(kChunk, cols_ - c)};
        e_.label(node_.label);
        const Tile sum = e_.psum(r_.parts(), span.size);
        for (std::size_t k = 0; k < weights.size(); ++k)
          e_.matmul(sum, stationary[k], columns(weights[k], c, span.size), k > 0);
        take(span, sum);
      }
    }
  }

  /// Weights that do not fit pass by, one piece of K after the other: each is used by all row tiles of the block, whose
  /// sums are side by side in PSUM. The tiles' transposed operands stay.
  void run_streamed() {
    const std::int64_t step = a_.trans_b ? kChunk : kPartitions;  // a transpose fills whole PSUM banks
    const auto [first, count] = r_.block();
    for (std::int64_t c = 0; c < cols_; c += kChunk) {
      const Span span{c, std::min(kChunk, cols_ - c)};
      e_.label(node_.label);
      std::vector<Tile> sums;
      for (std::int64_t row = 0; row < depth_; row += step) {
        const Panels panels = load_weights(span, {row, std::min(step, depth_ - row)});
        for (std::int64_t t = first; t < first + count; ++t) {
          r_.at(t);
          const Panels& stationary = transposed();
          if (row == 0) sums.push_back(e_.psum(r_.parts(), span.size));
          for (std::size_t p = 0; p < panels.size(); ++p)
            e_.matmul(sums[static_cast<std::size_t>(t - first)],
                      stationary[static_cast<std::size_t>(row / kPartitions) + p], panels[p], row > 0 || p > 0);
        }
      }
      for (std::int64_t t = first; t < first + count; ++t) {
        r_.at(t);
        take(span, sums[static_cast<std::size_t>(t - first)]);
      }
    }
  }

  /// The columns `out` of the result for the row tiles of the block.
  void run_deep(Span out) {
    const auto [first, count] = r_.block();
    std::vector<std::vector<Tile>> sums(static_cast<std::size_t>(count));  // of each row tile, by chunks of `out`
    for (std::int64_t begin = 0; begin < depth_; begin += kSegment) {
      const Span depth{begin, std::min(kSegment, depth_ - begin)};
      std::vector<Panels> stationary(static_cast<std::size_t>(count));
      for (std::int64_t t = 0; t < count; ++t) {
        r_.at(first + t);
        e_.label(node_.label);
        stage(depth, stationary[static_cast<std::size_t>(t)]);
      }
      for (std::int64_t c = 0; c < out.size; c += kChunk)
        add_segment({out.begin + c, std::min(kChunk, out.size - c)}, depth, stationary, sums);
    }
    for (std::int64_t c = 0; c < out.size; c += kChunk)
      for (std::int64_t t = 0; t < count; ++t) {
        r_.at(first + t);
        take({out.begin + c, std::min(kChunk, out.size - c)},
             sums[static_cast<std::size_t>(t)][static_cast<std::size_t>(c / kChunk)]);
      }
  }

  /// One segment of the contracted axis, for one chunk of columns: the first one makes the sums that others add to.
  void add_segment(Span span, Span depth, const std::vector<Panels>& stationary, std::vector<std::vector<Tile>>& sums) {
    const std::int64_t step = a_.trans_b ? kChunk : kPartitions, first = r_.block().begin;
    std::vector<Tile> banks;
    for (std::int64_t row = 0; row < depth.size; row += step) {
      const Panels panels = load_weights(span, {depth.begin + row, std::min(step, depth.size - row)});
      for (std::size_t t = 0; t < stationary.size(); ++t) {
        r_.at(first + static_cast<std::int64_t>(t));
        if (row == 0) banks.push_back(e_.psum(r_.parts(), span.size));
        for (std::size_t p = 0; p < panels.size(); ++p)
          e_.matmul(banks[t], stationary[t][static_cast<std::size_t>(row / kPartitions) + p], panels[p],
                    row > 0 || p > 0);
      }
    }
    for (std::size_t t = 0; t < stationary.size(); ++t) {
      if (depth.begin == 0) {
        sums[t].push_back(e_.sbuf(Dtype::kFp32, banks[t].partitions, span.size));
        e_.copy(sums[t].back(), banks[t]);
        continue;
      }
      const Tile& sum = sums[t][static_cast<std::size_t>((span.begin % kDeepColumns) / kChunk)];
      e_.tensor_tensor(sum, sum, Alu::kAdd, banks[t]);
    }
  }

  void take(Span span, const Tile& sum) { r_.take_chunk(node_, span, sum, static_cast<float>(a_.alpha)); }

  /// Columns `span` of the weight, rows `depth` of the contracted axis, in K tiles.
  Panels load_weights(Span span, Span depth) {
    return a_.trans_b ? transposed_weights(span, depth) : natural_weights(span, depth);
  }

  /// w [K, N]: rows are the contracted axis, in blocks of 128. DMA converts when the type differs.
  Panels natural_weights(Span span, Span depth) {
    Panels panels;
    const std::int64_t all = e_.value(node_.in[1]).rows;
    for (std::int64_t row = 0; row < depth.size; row += kPartitions) {
      const std::int64_t first = depth.begin + row, count = std::min(kPartitions, depth.size - row);
      const bool blocked = a_.blocked && count == kPartitions;
      const std::int64_t at = blocked ? blocked_row(first, all) : first, stride = blocked ? all / kPartitions : 1;
      panels.push_back(e_.loaded(type_, e_.hbm(node_.in[1], at, count, span.begin, span.size, stride)));
    }
    return panels;
  }

  /// w [N, K]: TensorE transposes it, 128 x 128 at a time; four such squares fill a PSUM bank and are moved at once.
  Panels transposed_weights(Span span, Span depth) {
    Panels panels;
    for (std::int64_t row = 0; row < depth.size; row += kPartitions)
      panels.push_back(e_.sbuf(type_, std::min(kPartitions, depth.size - row), span.size));
    for (std::int64_t n = 0; n < span.size; n += kChunk) {
      const std::int64_t width = std::min(kChunk, span.size - n);
      std::vector<Tile> rows;
      for (std::int64_t s = 0; s < width; s += kPartitions)
        rows.push_back(e_.loaded(type_, e_.hbm(node_.in[1], span.begin + n + s, std::min(kPartitions, width - s),
                                               depth.begin, depth.size, 1)));
      for (std::size_t p = 0; p < panels.size(); ++p) {
        const Tile bank = e_.psum(panels[p].partitions, width, type_);
        for (std::size_t s = 0; s < rows.size(); ++s)
          e_.transpose(columns(bank, static_cast<std::int64_t>(s) * kPartitions, rows[s].partitions),
                       columns(rows[s], static_cast<std::int64_t>(p) * kPartitions, panels[p].partitions));
        e_.copy(columns(panels[p], n, width), bank);
      }
    }
    return panels;
  }

  /// Columns of the first operand, natural, in a type that TensorE can transpose.
  Tile operand_piece(Span span) {
    const Tile rows = r_.piece(node_, 0, span);
    if (rows.dtype == type_ || isa::size_of(type_) != 1) return rows;
    const Tile cast = r_.scratch(type_, span.size);  // fp8 is rounded before, as the array would get it
    e_.copy(cast, rows);
    return cast;
  }

  /// Appends the transposed 128-column squares of [rows, up to 512].
  void transpose_bank(const Tile& rows, Panels& panels) {
    const std::int64_t k = rows.cols(), pieces = ceil_div(k, kPartitions), depth = std::min(kPartitions, k);
    const std::int64_t parts = r_.parts();
    const Tile bank = e_.psum(depth, pieces * parts, rows.dtype);
    const Tile panel = e_.sbuf(type_, depth, pieces * parts);
    std::int64_t moved = 0;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const std::int64_t here = std::min(kPartitions, k - p * kPartitions);
      e_.transpose(columns(partitions(bank, here), p * parts, parts), columns(rows, p * kPartitions, here));
      if (here == depth) moved = (p + 1) * parts;
      panels.push_back(columns(partitions(panel, here), p * parts, parts));
    }
    e_.copy(columns(panel, 0, moved), columns(bank, 0, moved));
    if (moved == pieces * parts) return;
    const std::int64_t here = k - (pieces - 1) * kPartitions;  // a last piece that is not as deep
    e_.copy(columns(partitions(panel, here), moved, parts), columns(partitions(bank, here), moved, parts));
  }

  /// The first operand of the current tile, [K, rows of the tile] in K tiles; shared by all matmuls that read it.
  const Panels& transposed() {
    Panels& panels = r_.staged(node_.in[0], type_);
    if (panels.empty()) stage({0, depth_}, panels);
    return panels;
  }

  void stage(Span depth, Panels& panels) {
    constexpr std::int64_t kBank = kChunk;                                // columns whose squares fill a PSUM bank
    const std::int64_t wide = r_.shared_resident() ? depth_ : 4 * kBank;  // columns in one load
    for (std::int64_t begin = 0; begin < depth.size; begin += wide) {
      const Tile rows = operand_piece({depth.begin + begin, std::min(wide, depth.size - begin)});
      for (std::int64_t first = 0; first < rows.cols(); first += kBank)
        transpose_bank(columns(rows, first, std::min(kBank, rows.cols() - first)), panels);
    }
  }

  RowTiler& r_;
  Emitter& e_;
  const Node& node_;
  const MatmulAttrs& a_;
  const Dtype type_;
  const std::int64_t depth_, cols_;
};

void matmul_lower(RowTiler& r, const Node& node) { Matmul{r, node}.run(); }

}  // namespace

const Op kMatmul{.name = "matmul",
                 .text = "alpha * x w, or x w^T",
                 .attrs = MatmulAttrs{},
                 .infer = matmul_infer,
                 .forward = matmul_forward,
                 .backward = matmul_backward,
                 .row_product = {.lower = matmul_lower, .shared_bytes = shared_bytes, .staged_bytes = staged_bytes},
                 .matmul_flops = matmul_flops,
                 .not_by_row = {1},
                 .tensor_operands = {0}};
}  // namespace runtime
