#include "runtime/ops/skinny_matmul.h"

#include <algorithm>
#include <vector>

namespace runtime {
namespace {

constexpr std::int64_t kPieceBytes = 8 * 1024;  // of a weight in each partition: two DMA packets, several under way
constexpr std::int64_t kWideCols = 4 * kChunk;  // columns whose sums are side by side in PSUM: half of it
constexpr std::int64_t kWholeRow = 32 * 1024;   // bytes of a result's row up to which it stays in one piece

/// y_i = x w_i (+ b_i) for few rows x, so that reading the weights is the work: each passes by once, in long
/// descriptors. Shapes: x [R, K], R <= 128, then any number of w_i [K, N_i], rows as blocked_row() says, each perhaps
/// followed by its bias [1, N_i] (K > 1) -> y_i [R, N_i]. Operands enter TensorE as attrs.operand (default: x's type),
/// sums are fp32. Errors: Fault::kProgram for more than 128 rows, or a weight of another depth.
struct Product {
  std::size_t weight = 0, bias = 0;  // operands; 0: no bias
};
template <class RowsOf>
std::vector<Product> products(std::size_t inputs, std::int64_t depth, const RowsOf& rows_of) {
  std::vector<Product> out;
  for (std::size_t i = 1; i < inputs; ++i) {
    out.push_back({i, 0});
    if (depth > 1 && i + 1 < inputs && rows_of(i + 1) == 1) out.back().bias = ++i;
  }
  return out;
}
std::vector<Product> products_of(const Graph& g, const Node& n) {
  return products(n.in.size(), g.value(n.in[0]).cols, [&](std::size_t i) { return g.value(n.in[i]).rows; });
}

std::vector<Shape> skinny_infer(const Contract& c) {
  const Value& x = c.in(0);
  if (x.rows > kPartitions) c.fail("more than 128 rows", "use matmul");
  if (c.inputs() < 2) c.fail("there is no weight", "give at least one");
  std::vector<Shape> out;
  for (const Product& p : products_of(c.graph, c.node)) {
    c.need(p.weight, x.cols, c.in(p.weight).cols, "w");
    if (p.bias) c.need(p.bias, 1, c.in(p.weight).cols, "bias");
    out.push_back({x.rows, c.in(p.weight).cols, c.result_type()});
  }
  return out;
}

Tensors skinny_forward(const Attrs&, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  Tensors out;
  for (const Product& p : products(in.size(), x.cols, [&](std::size_t i) { return in[i].rows; })) {
    const Tensor& w = in[p.weight];
    out.push_back(generate(x.rows, w.cols, [&](auto r, auto c) {
      double sum = p.bias ? in[p.bias].at(0, c) : 0;
      for (std::int64_t k = 0; k < x.cols; ++k)
        sum += static_cast<double>(x.at(r, k)) * w.at(blocked_row(k, w.rows), c);
      return sum;
    }));
  }
  return out;
}

/// y = fn(y_1), or fn(y_1) * y_2 when there are two, of the products above. Shapes: y_1, y_2 [R, N] -> y [R, N].
std::vector<Shape> active_infer(const Contract& c) {
  const std::vector<Shape> all = skinny_infer(c);
  if (all.size() > 2 || all.front().cols != all.back().cols) c.fail("not one or two products of one width", "give two");
  return {all.front()};
}

Tensors active_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const Tensors all = skinny_forward(attrs, in);
  Tensor y = kActivate.forward(ActivationAttrs{.fn = attrs.as<SkinnyAttrs>().fn}, std::span{all}.first(1))[0];
  if (all.size() == 2)
    for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] *= all[1].data[i];
  return {y};
}

class SkinnyProduct {
 public:
  SkinnyProduct(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        type_{operand_type(e.graph(), node)},
        rows_{e.value(node.in[0]).rows},
        depth_{e.value(node.in[0]).cols} {}

  void run() {
    begin();
    for (std::size_t i = 0; i < products_.size(); ++i)
      result(node_.out[i], [&](std::int64_t c, const Tile& y) {
        if (!products_[i].bias) return sums(node_.in[products_[i].weight], c, y.cols(), y);
        const Tile sum = product(i, c, y.cols());
        e_.tensor_tensor(y, sum, Alu::kAdd, columns(biases_[i], c, y.cols()));
      });
  }

  void run_active() {
    begin();
    const Fn fn = node_.attrs.as<SkinnyAttrs>().fn;
    result(node_.out[0], [&](std::int64_t c, const Tile& y) {
      const Tile gate = biased(0, c, y.cols());
      if (products_.size() == 1) return e_.activation(y, fn, gate);
      const Tile active = e_.sbuf(Dtype::kFp32, rows_, y.cols());
      e_.activation(active, fn, gate);
      e_.tensor_tensor(y, active, Alu::kMul, biased(1, c, y.cols()));
    });
  }

 private:
  void begin() {
    products_ = products_of(e_.graph(), node_);
    for (const Product& p : products_)
      biases_.push_back(p.bias ? e_.broadcast(node_.in[p.bias], rows_, 0, e_.value(node_.in[p.bias]).cols) : Tile{});
    turn_operand();
  }

  /// Columns [c, c + width) of product i in fp32.
  Tile product(std::size_t i, std::int64_t c, std::int64_t width) {
    const Tile sum = e_.sbuf(Dtype::kFp32, rows_, width);
    sums(node_.in[products_[i].weight], c, width, sum);
    return sum;
  }
  Tile biased(std::size_t i, std::int64_t c, std::int64_t width) {
    const Tile sum = product(i, c, width);
    if (products_[i].bias) e_.tensor_tensor(sum, sum, Alu::kAdd, columns(biases_[i], c, width));
    return sum;
  }

  /// x^T in panels of 128 of its columns: four or more transposed squares leave a PSUM bank at once.
  void turn_operand() {
    const ValueId v = node_.in[0];
    if (const Tile* folded = e_.kept_folded(v)) return turn_folded(*folded);
    const Tile* kept = e_.kept(v, 0, rows_);
    const Tile x = kept ? *kept : e_.loaded(e_.value(v).dtype, e_.hbm(v, 0, rows_));
    const std::int64_t per_bank = std::max<std::int64_t>(1, e_.bank_columns(x.dtype) / rows_);
    const std::int64_t blocks = depth_ / kPartitions;
    for (std::int64_t first = 0; first < blocks; first += per_bank) {
      const std::int64_t count = std::min(per_bank, blocks - first);
      const Tile bank = e_.psum(kPartitions, count * rows_, x.dtype),
                 panel = e_.sbuf(type_, kPartitions, count * rows_);
      for (std::int64_t i = 0; i < count; ++i) {
        e_.transpose(columns(bank, i * rows_, rows_), columns(x, (first + i) * kPartitions, kPartitions));
        panels_.push_back(columns(panel, i * rows_, rows_));
      }
      e_.copy(panel, bank);
    }
    if (const std::int64_t rest = depth_ % kPartitions; rest > 0) {
      const Tile bank = e_.psum(rest, rows_, x.dtype), panel = e_.sbuf(type_, rest, rows_);
      e_.transpose(bank, columns(x, blocks * kPartitions, rest));
      e_.copy(panel, bank);
      panels_.push_back(panel);
    }
  }

  /// The same for rows that are folded over partitions: a square holds blocks of several parts of each row.
  void turn_folded(const Tile& x) {
    const std::int64_t parts = x.partitions / rows_, blocks = x.cols() / kPartitions;
    panels_.resize(static_cast<std::size_t>(depth_ / kPartitions));
    for (std::int64_t i = 0; i < blocks; ++i) {
      const Tile square = e_.psum(kPartitions, x.partitions, x.dtype),
                 panel = e_.sbuf(type_, kPartitions, x.partitions);
      e_.transpose(square, columns(x, i * kPartitions, kPartitions));
      Tile by_part = square;
      by_part.rank = 2;
      by_part.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(parts)};
      by_part.free[1] = {.step = static_cast<std::int32_t>(parts), .size = static_cast<std::uint32_t>(rows_)};
      e_.copy(panel, by_part);
      for (std::int64_t s = 0; s < parts; ++s)
        panels_[static_cast<std::size_t>(s * blocks + i)] = columns(panel, s * rows_, rows_);
    }
  }

  /// Fills a result in pieces of columns, and hands it to its next reader.
  template <class Fill>
  void result(ValueId y, const Fill& fill) {
    const Value& out = e_.value(y);
    const bool whole = out.cols * isa::size_of(out.dtype) <= kWholeRow;
    const Tile row = whole ? e_.sbuf(out.dtype, rows_, out.cols) : Tile{};
    for (std::int64_t c = 0; c < out.cols; c += kWideCols) {
      const std::int64_t width = std::min(kWideCols, out.cols - c);
      const Tile piece = whole ? columns(row, c, width) : e_.sbuf(out.dtype, rows_, width);
      fill(c, piece);
      if (!whole) e_.store(e_.hbm(y, 0, rows_, c, width, 1), piece);
    }
    if (!whole) return;
    e_.store(e_.hbm(y, 0, rows_), row);
    e_.keep(y, 0, row, kWholeRow);
  }

  /// Columns [c, c + width) of the product.
  void sums(ValueId w, std::int64_t c, std::int64_t width, const Tile& result) {
    std::vector<Tile> banks;
    for (std::int64_t at = 0; at < width; at += kChunk) banks.push_back(e_.psum(rows_, std::min(kChunk, width - at)));
    const std::int64_t blocks = depth_ / kPartitions, rest = depth_ % kPartitions;
    const std::int64_t most = std::max<std::int64_t>(1, kPieceBytes / (width * isa::size_of(e_.value(w).dtype)));
    // Pieces of one size, so that none is much shorter than the others.
    const std::int64_t pieces = ceil_div(blocks, most), step = pieces > 0 ? ceil_div(blocks, pieces) : 0;
    for (std::int64_t first = 0; first < blocks; first += step) {
      const std::int64_t count = std::min(step, blocks - first);
      const Tile piece = load(w, first, count, c, width);
      for (std::int64_t i = 0; i < count; ++i) multiply(banks, first + i, piece, i * width);
    }
    if (rest > 0) multiply(banks, blocks, e_.loaded(type_, e_.hbm(w, blocks * kPartitions, rest, c, width, 1)), 0);
    for (std::size_t b = 0; b < banks.size(); ++b)
      e_.copy(columns(result, static_cast<std::int64_t>(b) * kChunk, banks[b].cols()), banks[b]);
  }

  /// Blocks [first, first + count) of a weight, columns [c, c + width): in each partition one row after the other.
  Tile load(ValueId w, std::int64_t first, std::int64_t count, std::int64_t c, std::int64_t width) {
    const Value& value = e_.value(w);
    Tile from = e_.hbm(w, first, kPartitions, c, width, depth_ / kPartitions);
    from.rank = 2;
    from.free[1] = from.free[0];
    from.free[0] = {.step = static_cast<std::int32_t>(value.cols), .size = static_cast<std::uint32_t>(count)};
    const Tile to = e_.sbuf(type_, kPartitions, count * width);
    e_.load(to, from);
    return to;
  }

  void multiply(const std::vector<Tile>& banks, std::int64_t block, const Tile& piece, std::int64_t at) {
    const Tile& stationary = panels_[static_cast<std::size_t>(block)];
    for (const Tile& bank : banks) {
      e_.matmul(bank, stationary, columns(piece, at, bank.cols()), block > 0);
      at += bank.cols();
    }
  }

  Emitter& e_;
  const Node& node_;
  const Dtype type_;
  const std::int64_t rows_, depth_;
  std::vector<Tile> panels_, biases_;
  std::vector<Product> products_;
};

void skinny_lower(Emitter& e, const Node& node) { SkinnyProduct{e, node}.run(); }
void active_lower(Emitter& e, const Node& node) { SkinnyProduct{e, node}.run_active(); }

double skinny_flops(const Graph& g, const Node& n) {
  double cols = 0;
  for (const Product& p : products_of(g, n)) cols += static_cast<double>(g.value(n.in[p.weight]).cols);
  return 2.0 * static_cast<double>(g.value(n.in[0]).elements()) * cols;
}

}  // namespace

const Op kSkinnyMatmul{.name = "skinny_matmul",
                       .text = "x w for few rows: weights are read once, in long descriptors",
                       .attrs = SkinnyAttrs{},
                       .infer = skinny_infer,
                       .forward = skinny_forward,
                       .lower_whole = skinny_lower,
                       .matmul_flops = skinny_flops};

const Op kSkinnyActive{.name = "skinny_active",
                       .text = "fn(x w), or fn(x w) * (x v), for few rows",
                       .attrs = SkinnyAttrs{},
                       .infer = active_infer,
                       .forward = active_forward,
                       .lower_whole = active_lower,
                       .matmul_flops = skinny_flops};

}  // namespace runtime
