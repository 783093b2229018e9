#include "runtime/emitter.h"
#include "runtime/ops.h"

namespace runtime {
namespace {

/// Keys or values of a prompt become the first rows of each sequence's part of a cache.
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
  for (std::int64_t r = 0; r < in[0].rows; ++r)
    for (std::int64_t c = 0; c < cache.cols; ++c) cache.at(r / a.seq * length + r % a.seq, c) = in[0].at(r, c);
  return {cache};
}

void fill_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<CacheFillAttrs>();
  const std::int64_t width = e.value(node.in[0]).cols, length = e.value(node.in[1]).rows / a.batch;
  for (std::int64_t b = 0; b < a.batch; ++b)
    e.store(e.hbm_flat(node.out[0], b * length * width, 1, a.seq * width, 0),
            e.hbm_flat(node.in[0], b * a.seq * width, 1, a.seq * width, 0));
}

}  // namespace

const Op kCacheFill{.name = "cache_fill",
                    .text = "a prompt's keys or values become the first rows of a cache",
                    .attrs = CacheFillAttrs{},
                    .infer = fill_infer,
                    .forward = fill_forward,
                    .lower_whole = fill_lower};

}  // namespace runtime
