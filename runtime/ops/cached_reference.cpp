// The reference of attention to caches.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/ops/attention.h"
#include "runtime/ops/cached_attention.h"

namespace runtime {

/// Attention of one new token per sequence to the tokens before it and to itself: with p = positions[b], head h of
/// sequence b sees rows [0, p) of its part of the caches and the new key and value, which then become row p.
/// Shapes: q [B, H * d], k [B, G * d], v [B, G * e], caches [B * N, G * d] and [B * N, G * e], positions [B, 1] int32;
/// B = attrs.batch <= 128, H = attrs.heads, G = attrs.kv_heads -> context [B, H * e], both caches in place, whose rows
/// are in the order that attrs.beside says. Only the first attrs.seq rows of each sequence are read: at most 128 or a
/// multiple of it, and p <= attrs.seq. With attrs.window > 0 a sequence sees so many tokens, the new one among them,
/// its part of a cache is a ring of N >= window rows, which the token at p enters at slots[b] = p mod N, one more
/// operand [B, 1] int32; p has no limit then where all N rows are read. Errors: Fault::kProgram for sizes that do not
/// fit this; on a device, Fault::kData for p
/// >= N without a window. Source: Vaswani et al., arXiv:1706.03762, eq. 1; Shazeer, arXiv:1911.02150, for the caches;
/// for rings NxD Inference, modules/kvcache/kv_cache_manager.py, whose layers with a window keep sliding_window rows.
/// With slopes, not with a window, the last operand is slopes [1, H] fp32, with sinks it is sinks [1, H],
/// as attention has them. Lowering: keys are on the partitions, so that scores of all heads and sequences are side by
/// side and softmax takes a few wide instructions; key j is in partition j mod 128, as compilers cut a loop over keys,
/// so that a descriptor reads one row: of one sequence, or with attrs.beside of all.
std::vector<Shape> cached_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<CachedAttentionAttrs>();
  const Value& q = c.in(0);
  if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0 || q.cols % a.heads != 0)
    c.fail("the heads do not divide the columns", "make heads a multiple of kv_heads and a divisor of the columns");
  if (q.cols / a.heads > kWidestHead || a.heads > kPartitions)
    c.fail("a head is wider than 256, or there are more than 128", "use more ranks");
  if (a.batch < 1 || a.batch > kPartitions) c.fail("more than 128 sequences", "use a smaller batch");
  if (a.seq < 1 || (a.seq > kPartitions && a.seq % kPartitions != 0))
    c.fail("the rows that are read are not a multiple of 128", "round them up");
  const std::int64_t rows = c.in(3).rows / a.batch;
  if (rows < a.seq) c.fail("the cache is shorter than the rows to read", "keep more rows");
  const std::int64_t kv = q.cols / a.heads * a.kv_heads, values = c.in(2).cols;
  if (values % a.kv_heads != 0 || values / a.kv_heads > kWidestHead)
    c.fail("its values do not have these heads, or are wider than 256", "make their columns a multiple of kv_heads");
  c.need(0, a.batch, q.cols, "q");
  c.need(1, a.batch, kv, "k");
  c.need(2, a.batch, values, "v");
  c.need(3, a.batch * rows, kv, "keys");
  c.need(4, a.batch * rows, values, "values");
  c.need(5, a.batch, 1, "positions");
  if (a.window > rows) c.fail("the cache is shorter than the window", "keep as many rows as the window has tokens");
  if (a.window > 0) c.need(6, a.batch, 1, "slots");
  if (a.slopes() && (a.window > 0 || a.soft_cap > 0))
    c.fail("slopes cannot be combined with a window or a cap", "leave out one of them");
  if (a.slopes()) c.need(6, 1, a.heads, "slopes");
  if (a.sinks()) c.need(a.window > 0 ? 7 : 6, 1, a.heads, "sinks");
  const auto in_place = [&](std::size_t i) { return Shape{c.in(i).rows, c.in(i).cols, c.in(i).dtype, c.node.in[i]}; };
  return {{a.batch, values / a.kv_heads * a.heads, c.result_type()}, in_place(3), in_place(4)};
}

Tensors cached_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<CachedAttentionAttrs>();
  const Tensor& q = in[0];
  const std::int64_t d = q.cols / a.heads, ratio = a.heads / a.kv_heads, width = in[2].cols / a.kv_heads;
  Tensor context(q.rows, a.heads * width), keys = in[3], values = in[4];
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const std::int64_t length = keys.rows / a.batch, first = a.beside ? b : b * length, step = a.beside ? a.batch : 1;
    const auto place = static_cast<std::int64_t>(in[5].at(b, 0));
    const std::int64_t begin = a.window > 0 ? std::max<std::int64_t>(0, place - a.window + 1) : 0;
    const auto row = [&](std::int64_t token) { return first + (a.window > 0 ? token % length : token) * step; };
    for (std::int64_t c = 0; c < keys.cols; ++c) keys.at(row(place), c) = in[1].at(b, c);
    for (std::int64_t c = 0; c < values.cols; ++c) values.at(row(place), c) = in[2].at(b, c);
    for (std::int64_t h = 0; h < a.heads; ++h) {
      std::vector<double> x(static_cast<std::size_t>(place + 1), 0);
      double most = a.sinks() ? in.back().at(0, h) : -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t j = begin; j <= place; ++j) {
        double& s = x[static_cast<std::size_t>(j)];
        s = dot(q.row(b) + h * d, keys.row(row(j)) + h / ratio * d, d);
        s = soft_capped(a.scale * s, a.soft_cap);
        if (a.slopes()) s += static_cast<double>(j) * in[6].at(0, h);
        most = std::max(most, s);
      }
      if (a.sinks()) sum = std::exp(in.back().at(0, h) - most);
      for (double& s : std::span{x}.subspan(static_cast<std::size_t>(begin))) sum += s = std::exp(s - most);
      for (std::int64_t c = 0; c < width; ++c) {
        double y = 0;
        for (std::int64_t j = begin; j <= place; ++j)
          y += x[static_cast<std::size_t>(j)] * values.at(row(j), h / ratio * width + c);
        context.at(b, h * width + c) = static_cast<float>(y / sum);
      }
    }
  }
  return {context, keys, values};
}

}  // namespace runtime
