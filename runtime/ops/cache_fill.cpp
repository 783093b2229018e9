#include "runtime/ops/cached_attention.h"
#include "runtime/ops/cached_sizes.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/slots.h"

namespace runtime {
namespace {

/// Keys or values of a prompt become the first rows of each sequence's part of a cache, as CacheFillAttrs has them.
/// Shapes: rows [batch * seq, W], cache [batch * N, W], N >= seq -> cache in place.
std::vector<Shape> fill_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<CacheFillAttrs>();
  const Value& cache = c.in(1);
  if (a.batch < 1 || cache.rows % a.batch != 0 || a.seq > cache.rows / a.batch)
    c.fail("the prompt is longer than the cache", "make the cache longer");
  c.need(0, a.batch * a.seq, cache.cols, "rows");
  return {{cache.rows, cache.cols, cache.dtype, c.node.in[1]}};
}

Tensors fill_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<CacheFillAttrs>();
  Tensor cache = in[1];
  const std::int64_t length = cache.rows / a.batch;
  const auto row = [&](std::int64_t b, std::int64_t n) { return a.beside ? n * a.batch + b : b * length + n; };
  for (std::int64_t r = 0; r < in[0].rows; ++r)
    for (std::int64_t c = 0; c < cache.cols; ++c) cache.at(row(r / a.seq, r % a.seq), c) = in[0].at(r, c);
  return {cache};
}

void fill_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<CacheFillAttrs>();
  const std::int64_t width = e.value(node.in[0]).cols, length = e.value(node.in[1]).rows / a.batch;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    Tile to = e.hbm_flat(node.out[0], b * (a.beside ? 1 : length) * width, 1, a.seq * width, 0);
    if (a.beside && a.batch > 1) {
      to.rank = 2;
      to.free[0] = cached::dim(a.batch * width, a.seq), to.free[1] = cached::dim(1, width);
    }
    e.store(to, e.hbm_flat(node.in[0], b * a.seq * width, 1, a.seq * width, 0));
  }
}

/// A row of each sequence becomes a row of its part of a cache. Shapes: rows [B, W], B <= 128, cache [B * N, W],
/// positions [B, 1] int32, each below N -> cache in place.
std::vector<Shape> append_infer(const Contract& c) {
  const Value &rows = c.in(0), &cache = c.in(1);
  if (rows.rows > kPartitions || cache.rows % rows.rows != 0)
    c.fail("the cache does not have as many parts", "give each sequence as many rows");
  c.need(1, cache.rows, rows.cols, "cache");
  c.need(2, rows.rows, 1, "positions");
  return {{cache.rows, cache.cols, cache.dtype, c.node.in[1]}};
}

Tensors append_forward(const Attrs&, std::span<const Tensor> in) {
  Tensor cache = in[1];
  const std::int64_t length = cache.rows / in[0].rows;
  for (std::int64_t b = 0; b < in[0].rows; ++b)
    for (std::int64_t c = 0; c < cache.cols; ++c)
      cache.at(b * length + static_cast<std::int64_t>(in[2].at(b, 0)), c) = in[0].at(b, c);
  return {cache};
}

void append_lower(Emitter& e, const Node& node) {
  const std::int64_t batch = e.value(node.in[0]).rows;
  const Value& cache = e.value(node.in[1]);
  const Tile slot = cache_rows(e, node.in[2], batch, cache.rows / batch);
  e.scatter(table_of(e, node.out[0]), e.loaded(cache.dtype, e.hbm(node.in[0], 0, batch)), slot);
}

/// x [P, 1] int32 and, in partition p, p * step more.
Tile with_numbers(Emitter& e, const Tile& x, std::int64_t step) {
  const Tile begin = e.sbuf(Dtype::kInt32, x.partitions, 1), row = e.sbuf(Dtype::kInt32, x.partitions, 1);
  e.emit(
      {.op = Opcode::kIota, .engine = isa::Engine::kGpSimd, .imm1 = static_cast<float>(step), .imm2 = 0, .dst = begin});
  e.emit(
      {.op = Opcode::kTensorTensor, .engine = isa::Engine::kGpSimd, .alu0 = Alu::kAdd, .dst = row, .a = begin, .b = x});
  return row;
}

}  // namespace

Tile cache_rows(Emitter& e, ValueId places, std::int64_t count, std::int64_t length) {
  return with_numbers(e, e.loaded(Dtype::kInt32, e.hbm(places, 0, count)), length);
}

Tile cache_rows_beside(Emitter& e, ValueId places, std::int64_t count) {
  const Tile place = e.loaded(Dtype::kInt32, e.hbm(places, 0, count));
  const Tile scaled = e.sbuf(Dtype::kInt32, count, 1);
  e.tensor_scalar(scaled, place, Alu::kMul, static_cast<float>(count));
  return with_numbers(e, scaled, 1);
}

const Op kCacheAppend{.name = "cache_append",
                      .text = "copies a row of each sequence to its part of a cache",
                      .infer = append_infer,
                      .forward = append_forward,
                      .lower_whole = append_lower};

const Op kCacheFill{.name = "cache_fill",
                    .text = "copies a prompt's keys or values to the first rows of a cache",
                    .attrs = CacheFillAttrs{},
                    .infer = fill_infer,
                    .forward = fill_forward,
                    .lower_whole = fill_lower};

}  // namespace runtime
