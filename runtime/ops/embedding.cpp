#include <algorithm>

#include "runtime/ops/elementwise.h"
#include "runtime/ops/indexed.h"

namespace runtime {
namespace {

/// y[r] = table[ids[r]]. Shapes: table [V, C], ids [R, 1] int32, and where some rows train nothing a factor of each
/// row's gradient [R, 1] -> y [R, C]. Lowering: a DMA gather per row tile.
std::vector<Shape> embedding_infer(const Contract& c) {
  if (c.in(1).cols != 1) c.need(1, c.in(1).rows, 1, "ids");
  if (c.inputs() > 2) c.need(2, c.in(1).rows, 1, "factor");
  return {{c.in(1).rows, c.in(0).cols, c.result_type()}};
}

Tensors embedding_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(in[1].rows, in[0].cols,
                   [&](auto r, auto c) { return in[0].at(static_cast<std::int64_t>(in[1].at(r, 0)), c); })};
}

void embedding_backward(Backward& b, const Node& node) {
  if (!b.needs(node, 0)) return;
  const EmbeddingGradAttrs attrs{.rows = b.graph().value(node.in[0]).rows,
                                 .dtype = b.graph().numerics().gradient,
                                 .operand = b.graph().numerics().operand};
  ValueId dy = b.grad(node);
  if (node.in.size() > 2) dy = b.op(kMul, node, "trained", {dy, node.in[2]});
  b.add(node, 0, b.op(kEmbeddingGrad, node, "grad", {node.in[1], dy}, attrs));
}

void embedding_lower(RowTiler& r, const Node& node) {
  Emitter& e = r.e();
  const Tile source = table_of(e, node.in[0]);
  e.emit({.op = Opcode::kDmaGather,
          .engine = isa::Engine::kSync,
          .dst = r.out(node, 0),
          .a = source,
          .b = e.hbm(node.in[1], r.first_row(), r.parts())});
}

/// dtable = sum of dy[r] into row ids[r]. Shapes: ids [R, 1] int32, dy [R, C] -> dtable [attrs.rows, C].
/// Lowering: up to 128 rows by a matmul with one-hot rows, exact sums in fp32; more by DMA that adds in HBM, in order.
std::vector<Shape> embedding_grad_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<EmbeddingGradAttrs>();
  c.need(0, c.in(1).rows, 1, "ids");
  return {{a.rows, c.in(1).cols, a.dtype.value_or(c.in(1).dtype)}};
}

Tensors embedding_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  Tensor out(attrs.as<EmbeddingGradAttrs>().rows, in[1].cols);
  for (std::int64_t r = 0; r < in[1].rows; ++r)
    for (std::int64_t c = 0; c < in[1].cols; ++c)
      out.at(static_cast<std::int64_t>(in[0].at(r, 0)), c) += in[1].at(r, c);
  return {out};
}

/// All of a tensor becomes zero.
void clear(Emitter& e, ValueId v) {
  const Value& value = e.value(v);
  const std::int64_t n = value.elements();
  constexpr std::int64_t kCols = 4096;
  for (std::int64_t at = 0; at < n;) {
    const std::int64_t left = n - at;
    const std::int64_t cols = std::min(kCols, left), parts = std::min(kPartitions, left / cols);
    e.store(e.hbm_flat(v, at, parts, cols, cols), partitions(columns(e.zeros(value.dtype, kCols), 0, cols), parts));
    at += parts * cols;
  }
}

void scatter(Emitter& e, const Node& node) {
  const Value& dy = e.value(node.in[1]);
  clear(e, node.out[0]);
  for (std::int64_t r = 0; r < dy.rows; r += kPartitions) {
    const std::int64_t count = std::min(kPartitions, dy.rows - r);
    const Tile rows = e.loaded(dy.dtype, e.hbm(node.in[1], r, count));
    scatter_in_turn(e, table_of(e, node.out[0]), rows, e.hbm(node.in[0], r, count), {.accumulate = true});
  }
}

void one_hot(Emitter& e, const Node& node) {
  const Value& dy = e.value(node.in[1]);
  const Value& out = e.value(node.out[0]);
  const Dtype type = node.attrs.operand().value_or(dy.dtype) == Dtype::kFp32 ? Dtype::kFp32 : dy.dtype;
  std::vector<Tile> sums;
  for (std::int64_t c = 0; c < dy.cols; c += kChunk) sums.push_back(e.psum(out.rows, std::min(kChunk, dy.cols - c)));
  for (std::int64_t r = 0; r < dy.rows; r += kPartitions) {
    const std::int64_t count = std::min(kPartitions, dy.rows - r);
    const Tile ids = e.loaded(Dtype::kInt32, e.hbm(node.in[0], r, count)), id = e.sbuf(Dtype::kFp32, count, 1);
    const Tile hot = e.sbuf(type, count, out.rows), rows = e.loaded(type, e.hbm(node.in[1], r, count));
    e.tensor_scalar(id, ids, Alu::kAdd, 0.0F);
    e.tensor_scalar(hot, partitions(e.ramp(out.rows), count), Alu::kEq, id);
    for (std::size_t c = 0; c < sums.size(); ++c)
      e.matmul(sums[c], hot, columns(rows, static_cast<std::int64_t>(c) * kChunk, sums[c].cols()), r > 0);
  }
  const Tile result = e.sbuf(out.dtype, out.rows, out.cols);
  for (std::size_t c = 0; c < sums.size(); ++c)
    e.copy(columns(result, static_cast<std::int64_t>(c) * kChunk, sums[c].cols()), sums[c]);
  e.store(e.hbm(node.out[0], 0, out.rows), result);
}

/// PSUM has room for the sums of a small table while TensorE does nothing else.
bool is_small(const Value& table) { return table.rows <= kPartitions && table.cols <= 4 * kChunk; }

void embedding_grad_lower(Emitter& e, const Node& node) {
  is_small(e.value(node.out[0])) ? one_hot(e, node) : scatter(e, node);
}

double grad_flops(const Graph& g, const Node& n) {
  const Value& table = g.value(n.out[0]);
  return is_small(table) ? 2.0 * static_cast<double>(g.value(n.in[1]).elements()) * static_cast<double>(table.rows) : 0;
}

// ---- positions

/// y[r] = table[first + r mod seq]. Shapes: table [P, C], P >= attrs.first + attrs.seq -> y [attrs.batch * seq, C].
std::vector<Shape> positions_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<PositionsAttrs>();
  if (a.seq < 1 || a.first + a.seq > c.in(0).rows)
    c.fail("the sequence is longer than the table", "use a shorter sequence");
  return {{a.batch * a.seq, c.in(0).cols, c.result_type()}};
}

Tensors positions_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<PositionsAttrs>();
  return {generate(a.batch * a.seq, in[0].cols, [&](auto r, auto c) { return in[0].at(a.first + r % a.seq, c); })};
}

void positions_backward(Backward& b, const Node& node) {
  const PositionsGradAttrs attrs{.seq = node.attrs.as<PositionsAttrs>().seq,
                                 .rows = b.graph().value(node.in[0]).rows,
                                 .first = node.attrs.as<PositionsAttrs>().first,
                                 .dtype = b.graph().numerics().gradient};
  if (b.needs(node, 0)) b.add(node, 0, b.op(kPositionsGrad, node, "grad", {b.grad(node)}, attrs));
}

void positions_lower(RowTiler& r, const Node& node) {
  const auto& a = node.attrs.as<PositionsAttrs>();
  const std::int64_t seq = a.seq;
  const Tile y = r.out(node, 0);
  for (std::int64_t done = 0; done < r.parts();) {
    const std::int64_t from = (r.first_row() + done) % seq;
    const std::int64_t count = std::min(r.parts() - done, seq - from);
    Tile part = partitions(y, count);
    part.start = static_cast<std::uint8_t>(done);
    r.e().load(part, r.e().hbm(node.in[0], a.first + from, count));
    done += count;
  }
}

/// dtable[first + s] = sum over the batch of dy[b * seq + s], 0 for other rows. Shapes: dy [B * seq, C] -> [rows, C].
/// Lowering: a matmul with the identity adds in PSUM.
std::vector<Shape> positions_grad_infer(const Contract& c) {
  return {{c.node.attrs.as<PositionsGradAttrs>().rows, c.in(0).cols, c.result_type()}};
}

Tensors positions_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<PositionsGradAttrs>();
  Tensor out(a.rows, in[0].cols);
  for (std::int64_t r = 0; r < in[0].rows; ++r)
    for (std::int64_t c = 0; c < in[0].cols; ++c) out.at(a.first + r % a.seq, c) += in[0].at(r, c);
  return {out};
}

void positions_grad_lower(Emitter& e, const Node& node) {
  const Value &dy = e.value(node.in[0]), &out = e.value(node.out[0]);
  const std::int64_t seq = node.attrs.as<PositionsGradAttrs>().seq;
  const std::int64_t before = node.attrs.as<PositionsGradAttrs>().first;
  if (seq < out.rows) clear(e, node.out[0]);
  for (std::int64_t s = 0; s < seq; s += kPartitions) {
    const std::int64_t count = std::min(kPartitions, seq - s);
    const Tile unit = columns(partitions(e.identity(dy.dtype), count), 0, count);
    const Tile result = e.sbuf(out.dtype, count, out.cols);
    for (std::int64_t c = 0; c < out.cols; c += kChunk) {
      const std::int64_t size = std::min(kChunk, out.cols - c);
      const Tile sum = e.psum(count, size);
      for (std::int64_t b = 0; b * seq < dy.rows; ++b)
        e.matmul(sum, unit, e.loaded(dy.dtype, e.hbm(node.in[0], b * seq + s, count, c, size, 1)), b > 0);
      e.copy(columns(result, c, size), sum);
    }
    e.store(e.hbm(node.out[0], before + s, count), result);
  }
}

double positions_grad_flops(const Graph& g, const Node& n) {
  const Value& dy = g.value(n.in[0]);
  const std::int64_t seq = n.attrs.as<PositionsGradAttrs>().seq;
  double rows = 0;  // of the identity that each row meets
  for (std::int64_t s = 0; s < seq; s += kPartitions) {
    const auto count = static_cast<double>(std::min(kPartitions, seq - s));
    rows += count * count;
  }
  return 2.0 * rows * static_cast<double>(dy.rows / seq) * static_cast<double>(dy.cols);
}

// ---- the first row of each sequence

std::int64_t stride_of(const Node& node) { return node.attrs.as<StrideAttrs>().stride; }

std::int64_t first_of(const Node& node) { return node.attrs.as<StrideAttrs>().first; }

/// y[i] = x[first + i * stride]. Shapes: x [R, C], R a multiple of attrs.stride, attrs.first below that -> y [R /
/// stride, C].
std::vector<Shape> take_infer(const Contract& c) {
  const std::int64_t stride = stride_of(c.node);
  if (stride < 1 || c.in(0).rows % stride != 0 || first_of(c.node) < 0 || first_of(c.node) >= stride)
    c.fail("the stride does not divide the rows", "give the length of a sequence");
  return {{c.in(0).rows / stride, c.in(0).cols, c.result_type()}};
}

Tensors take_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<StrideAttrs>();
  return {
      generate(in[0].rows / a.stride, in[0].cols, [&](auto r, auto c) { return in[0].at(a.first + r * a.stride, c); })};
}

void take_backward(Backward& b, const Node& node) {
  b.add(node, 0,
        b.op(kPutRows, node, "grad", {b.grad(node)}, StrideAttrs{.stride = stride_of(node), .first = first_of(node)}));
}

void take_lower(RowTiler& r, const Node& node) {
  const std::int64_t stride = stride_of(node);
  r.e().load(r.out(node, 0), r.e().hbm(node.in[0], first_of(node) + r.first_row() * stride, r.parts(), stride));
}

/// y[first + i * stride] = x[i], 0 elsewhere. Shapes: x [R, C] -> y [R * attrs.stride, C].
std::vector<Shape> put_infer(const Contract& c) {
  return {{c.in(0).rows * stride_of(c.node), c.in(0).cols, c.result_type()}};
}

Tensors put_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<StrideAttrs>();
  return {generate(in[0].rows * a.stride, in[0].cols,
                   [&](auto r, auto c) { return r % a.stride == a.first ? in[0].at(r / a.stride, c) : 0.0F; })};
}

void put_lower(Emitter& e, const Node& node) {
  const Value& x = e.value(node.in[0]);
  const std::int64_t stride = stride_of(node);
  clear(e, node.out[0]);
  for (std::int64_t r = 0; r < x.rows; r += kPartitions) {
    const std::int64_t count = std::min(kPartitions, x.rows - r);
    const Tile rows = e.loaded(e.value(node.out[0]).dtype, e.hbm(node.in[0], r, count));
    e.store(e.hbm(node.out[0], first_of(node) + r * stride, count, stride), rows);
  }
}

}  // namespace

const Op kEmbedding{.name = "embedding",
                    .text = "rows of a table by id",
                    .attrs = ResultAttrs{},
                    .infer = embedding_infer,
                    .forward = embedding_forward,
                    .backward = embedding_backward,
                    .lower_rows = embedding_lower,
                    .not_by_row = Operands::all()};
const Op kEmbeddingGrad{.name = "embedding_grad",
                        .text = "sum of rows by id",
                        .attrs = EmbeddingGradAttrs{},
                        .infer = embedding_grad_infer,
                        .forward = embedding_grad_forward,
                        .lower_whole = embedding_grad_lower,
                        .matmul_flops = grad_flops,
                        .extra_flops = grad_flops};
const Op kPositions{.name = "positions",
                    .text = "rows of a table by place in the sequence",
                    .attrs = PositionsAttrs{},
                    .infer = positions_infer,
                    .forward = positions_forward,
                    .backward = positions_backward,
                    .lower_rows = positions_lower,
                    .not_by_row = Operands::all()};
const Op kPositionsGrad{.name = "positions_grad",
                        .text = "sum over the batch",
                        .attrs = PositionsGradAttrs{},
                        .infer = positions_grad_infer,
                        .forward = positions_grad_forward,
                        .lower_whole = positions_grad_lower,
                        .matmul_flops = positions_grad_flops,
                        .extra_flops = positions_grad_flops};
const Op kTakeRows{.name = "take_rows",
                   .text = "every n-th row",
                   .attrs = StrideAttrs{},
                   .infer = take_infer,
                   .forward = take_forward,
                   .backward = take_backward,
                   .lower_rows = take_lower,
                   .not_by_row = Operands::all()};
const Op kPutRows{.name = "put_rows",
                  .text = "every n-th row, zeros between",
                  .attrs = StrideAttrs{},
                  .infer = put_infer,
                  .forward = put_forward,
                  .lower_whole = put_lower};

}  // namespace runtime
