#include <algorithm>

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

bool sums_rows(const Node& node) { return node.attrs.as<MatmulTnAttrs>().row_sums; }

/// y = alpha * a^T b, and with attrs.row_sums also the sums of b over its rows, or of a where it is given again behind
/// b: the gradients of a weight and of its bias in one pass. Shapes: a [R, M], b [R, N] -> y [M, N] (and [1, N], or
/// [1, M]). Lowering: both operands have the contracted rows on the partitions; PSUM adds up over all rows.
std::vector<Shape> matmul_tn_infer(const Contract& c) {
  const Value &a = c.in(0), &b = c.in(1);
  c.need(1, a.rows, b.cols, "b");
  if (c.inputs() > 2) c.need(2, a.rows, a.cols, "a again");
  std::vector<Shape> out{{a.cols, b.cols, c.result_type()}};
  if (sums_rows(c.node)) out.push_back({1, c.in(c.inputs() - 1).cols, c.result_type()});
  return out;
}

Tensors matmul_tn_forward(const Attrs& settings, std::span<const Tensor> in) {
  const auto& attrs = settings.as<MatmulTnAttrs>();
  const Tensor &a = in[0], &b = in[1];
  Tensors out{generate(a.cols, b.cols, [&](auto r, auto c) {
    return attrs.alpha * dot(a.row(0) + r, b.row(0) + c, a.rows, a.cols, b.cols);
  })};
  if (attrs.row_sums) out.push_back(kColSum.forward(ResultAttrs{}, in.last(1)).front());
  return out;
}

double sums_flops(const Graph& g, const Node& n) {
  return sums_rows(n) ? 2.0 * static_cast<double>(g.value(n.in.back()).elements()) : 0;
}

double matmul_tn_flops(const Graph& g, const Node& n) {
  const Value &a = g.value(n.in[0]), &b = g.value(n.in[1]);
  return 2.0 * static_cast<double>(a.elements()) * static_cast<double>(b.cols) + sums_flops(g, n);
}

bool absorb_row_sums(Node& node, ValueId of) {
  auto& a = node.attrs.as<MatmulTnAttrs>();
  if (a.row_sums) return false;
  if (node.in[1] != of) node.in.push_back(of);  // it is a: another operand it has not
  a.row_sums = true;
  return true;
}

/// One operand: row tiles that stay in SBUF when all of it fits, or only the columns of the present output block.
class Operand {
 public:
  Operand(Emitter& e, ValueId v, Dtype type, bool resident) : e_{e}, v_{v}, type_{type}, resident_{resident} {}

  Tile rows(std::int64_t first, std::int64_t count, std::int64_t col, std::int64_t cols) {
    if (!resident_) return e_.loaded(type_, e_.hbm(v_, first, count, col, cols, 1));
    const auto [place, added] = tiles_.try_emplace(first);
    if (added) place->second = e_.loaded(type_, e_.hbm(v_, first, count));
    return columns(place->second, col, cols);
  }

 private:
  Emitter& e_;
  ValueId v_;
  Dtype type_;
  bool resident_;
  std::map<std::int64_t, Tile> tiles_;
};

/// Which output tiles are summed up at the same time: `down` x 128 rows by `right` x 512 columns.
struct Blocking {
  std::int64_t down = 1, right = 1;
  bool a_resident = false, b_resident = false;
};

/// PSUM banks beyond those for output tiles: eviction of one block overlaps the sums of the next. Only the first block
/// of a column needs banks for the sums over rows, those of a one; it may take all of the rest.
Blocking choose(const isa::Geometry& geometry, std::int64_t rows, std::int64_t m, std::int64_t n, int bytes,
                bool sums) {
  const Budgets budgets{geometry};
  const std::int64_t tiles = ceil_div(rows, kPartitions);
  const auto fits = [&](std::int64_t cols) { return tiles * cols * bytes <= budgets.resident_weights; };
  Blocking blocking{.a_resident = fits(m) && m <= n, .b_resident = fits(n) && n < m};
  double best = 0;
  for (std::int64_t right = 1; right <= ceil_div(n, kChunk); ++right) {
    for (std::int64_t down = 1; down <= ceil_div(m, kPartitions); ++down) {
      if (down * right > budgets.output_banks || down * right + (sums ? right : 0) > geometry.psum_banks()) break;
      // Work done on each element that has to come from HBM.
      const double from_a = blocking.a_resident ? 0 : static_cast<double>(down * kPartitions);
      const double from_b = blocking.b_resident ? 0 : static_cast<double>(std::min(right * kChunk, n));
      const double score = static_cast<double>(down * kPartitions * right * kChunk) / (from_a + from_b + 1);
      if (score > best) best = score, blocking.down = down, blocking.right = right;
    }
  }
  return blocking;
}

class WeightGradient {
 public:
  WeightGradient(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        type_{operand_type(e.graph(), node)},
        rows_{e.value(node.in[0]).rows},
        m_{e.value(node.in[0]).cols},
        n_{e.value(node.in[1]).cols},
        sums_{sums_rows(node)},
        of_a_{node.in.size() > 2},
        blocking_{choose(e.target().geometry, rows_, m_, n_, isa::size_of(type_), sums_)},
        a_{e, node.in[0], type_, blocking_.a_resident},
        b_{e, node.in[1], type_, blocking_.b_resident} {}

  void run() {
    const std::int64_t right = blocking_.right * kChunk, down = blocking_.down * kPartitions;
    const LoopPart part = e_.part_of({.outer = ceil_div(n_, right), .inner = ceil_div(m_, down)});
    for (std::int64_t n = part.outer; n < part.outer + part.outer_count; ++n)
      for (std::int64_t m = part.inner; m < part.inner + part.inner_count; ++m) block(m * down, n * right);
  }

 private:
  void block(std::int64_t m0, std::int64_t n0) {
    const std::int64_t down = std::min(blocking_.down * kPartitions, m_ - m0),
                       right = std::min(blocking_.right * kChunk, n_ - n0);
    std::map<std::pair<std::int64_t, std::int64_t>, Tile> banks;
    for (std::int64_t r = 0; r < rows_; r += kPartitions) {
      const std::int64_t count = std::min(kPartitions, rows_ - r);
      const Tile a = a_.rows(r, count, m0, down), b = b_.rows(r, count, n0, right);
      for (std::int64_t n = 0; n < right; n += kChunk) {
        const Tile moving = columns(b, n, std::min(kChunk, right - n));
        for (std::int64_t m = 0; m < down; m += kPartitions)
          add(banks, {m, n}, columns(a, m, std::min(kPartitions, down - m)), moving, r > 0);
        if (sums_ && !of_a_ && m0 == 0) add(banks, {-1, n}, partitions(e_.ones(type_, 1), count), moving, r > 0);
      }
      if (sums_ && of_a_ && n0 == 0) add_sums(a, count, r > 0);
    }
    if (sums_ && of_a_ && n0 == 0) evict_sums(m0, down);
    for (const auto& [place, bank] : banks) evict(bank, place.first, m0, n0 + place.second);
  }

  void add(std::map<std::pair<std::int64_t, std::int64_t>, Tile>& banks, std::pair<std::int64_t, std::int64_t> place,
           const Tile& stationary, const Tile& moving, bool accumulate) {
    Tile& bank = banks[place];
    if (!accumulate) bank = e_.psum(stationary.cols(), moving.cols());
    e_.matmul(bank, stationary, moving, accumulate);
  }

  /// Sums of a, each on the partition of its column of a: a bank has those of all columns of the block.
  void add_sums(const Tile& a, std::int64_t count, bool accumulate) {
    if (!accumulate) a_sums_ = e_.psum(std::min(kPartitions, a.cols()), ceil_div(a.cols(), kPartitions));
    for (std::int64_t m = 0; m < a.cols(); m += kPartitions) {
      const Tile stationary = columns(a, m, std::min(kPartitions, a.cols() - m));
      e_.matmul(columns(partitions(a_sums_, stationary.cols()), m / kPartitions, 1), stationary,
                partitions(e_.ones(type_, 1), count), accumulate);
    }
  }

  void evict_sums(std::int64_t m0, std::int64_t down) {
    const ValueId v = node_.out[1];
    for (std::int64_t m = 0; m < down; m += kPartitions) {
      const std::int64_t parts = std::min(kPartitions, down - m);
      const Tile out = e_.sbuf(e_.value(v).dtype, parts, 1);
      e_.copy(out, columns(partitions(a_sums_, parts), m / kPartitions, 1));
      e_.store(e_.hbm_flat(v, m0 + m, parts, 1, 1), out);
    }
  }

  void evict(const Tile& bank, std::int64_t m, std::int64_t m0, std::int64_t n) {
    const ValueId v = node_.out[m < 0 ? 1 : 0];
    const Tile out = e_.sbuf(e_.value(v).dtype, bank.partitions, bank.cols());
    e_.copy(out, bank, m < 0 ? 1.0F : static_cast<float>(node_.attrs.as<MatmulTnAttrs>().alpha));
    e_.store(e_.hbm(v, m < 0 ? 0 : m0 + m, bank.partitions, n, bank.cols(), 1), out);
  }

  Emitter& e_;
  const Node& node_;
  const Dtype type_;
  const std::int64_t rows_, m_, n_;
  const bool sums_, of_a_;
  const Blocking blocking_;
  Operand a_, b_;
  Tile a_sums_{};
};

void matmul_tn_lower(Emitter& e, const Node& node) { WeightGradient{e, node}.run(); }

}  // namespace

const Op kMatmulTn{.name = "matmul_tn",
                   .text = "alpha * a^T b, and the sums of a or b over its rows",
                   .attrs = MatmulTnAttrs{},
                   .infer = matmul_tn_infer,
                   .forward = matmul_tn_forward,
                   .lower_whole = matmul_tn_lower,
                   .matmul_flops = matmul_tn_flops,
                   .extra_flops = sums_flops,
                   .tensor_operands = {0, 1, 2},
                   .absorb_row_sums = absorb_row_sums};

}  // namespace runtime
