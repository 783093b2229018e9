// The contract and the definition of attention; its lowerings are in attention.cpp and attention_tiles.cpp.
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/ops/attention.h"

namespace runtime {
namespace {

/// The term added to the score of query i of head h and key j of sequence b.
double added(const AttentionAttrs& a, std::span<const Tensor> in, std::int64_t b, std::int64_t h, std::int64_t i,
             std::int64_t j) {
  const double mask = in.size() > (a.term != ScoreTerm::kNone ? 4 : 3) ? in[3].at(b, j) : 0;
  const double slope = a.slopes() ? static_cast<double>(j) * in.back().at(0, h) : 0;
  return mask + slope + (a.biased() ? in.back().at(((b * a.heads + h) * a.seq + i) % in.back().rows, j) : 0) +
         (a.hides(i, j) ? -1e30 : 0);
}

}  // namespace

/// softmax(alpha * q k^T + mask + bias) v for each head, with dropout p on the probabilities.
/// Shapes: q [B*S, H*d], k [B*K, KV*d], v [B*K, KV*e] (KV divides H: grouped queries; K is S with attrs.causal; e is d
/// in all models but those with latents), mask [B, K]
/// added to the scores of each key (left out: nothing is added), with attrs.term a bias of the scores: [S, K] of
/// any head, [H*S, K] of each head in every sequence, or [B*H*S, K] -> context [B*S, H*e], and for the gradient:
/// probabilities [B*H*S, K] before dropout in attrs.softmax's type, as a framework's softmax keeps them, or with
/// attrs.flash (never with a bias) the logarithm of each row's sum of exponentials [B*H*S, 1] fp32. attrs.causal: key j
/// is seen by query i only when j <= i, and i - j < attrs.window if that is not 0; attrs.soft_cap: scores s are
/// soft_cap * tanh(s / soft_cap) before masks are added; tiles of keys that no query sees are left out with attrs.flash
/// only: frameworks add a mask instead. Source: Vaswani et al., arXiv:1706.03762, eq. 1; Dao et al., arXiv:2205.14135,
/// algorithm 2. attrs.kUnfused: product, mask and its constant, selection, maximum, difference, exponentials, sum and
/// division are operations of their own, and so are the broadcasts to the scores' shape between them
/// (transformers-neuronx, layers/attention.py mask() and hlo.py softmax()); when the scores of a sequence's heads are
/// larger than SBUF, each writes its result to HBM, where those that need it read it: 20 ways for a score. attrs.scale
/// 0: alpha is the last operand [1, 1]. Slopes (not with flash or a cap): j times the head's slope, the
/// last operand [1, H], is added to the score of key j. By a query's own number more or less softmax does not change,
/// so that this is the distance (Press et al., arXiv:2108.12409). Slopes have no gradient. Sinks (not with a
/// scale that is data): each head has one more score, of the last operand [1, H], that counts in its
/// maximum and sum and has no value (OpenAI, arXiv:2508.10925, section 2.3); a third result is its share of each
/// query's sum [B*S, H] fp32.
std::vector<Shape> attention_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<AttentionAttrs>();
  const Value& q = c.in(0);
  if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0 || q.cols % a.heads != 0)
    c.fail("the heads do not divide the columns", "make heads a multiple of kv_heads and a divisor of the columns");
  if (q.cols / a.heads > kWidestHead) c.fail("a head is wider than 256", "use more heads");
  if (a.biased() && a.soft_cap > 0) c.fail("capped scores take no bias", "leave out one of them");
  if (a.slopes() && (a.flash || a.soft_cap > 0 || scale_is_data(a)))
    c.fail("slopes cannot be combined with flash, a cap or a scale that is data", "leave out one of them");
  if (a.sinks() && scale_is_data(a)) c.fail("sinks cannot be combined with a scale that is data", "set the scale");
  const std::int64_t kv = q.cols / a.heads * a.kv_heads, batch = std::max<std::int64_t>(1, a.batch);
  const std::int64_t values = c.in(2).cols;
  if (values % a.kv_heads != 0 || values / a.kv_heads > kWidestHead)
    c.fail("its values do not have these heads, or are wider than 256", "make their columns a multiple of kv_heads");
  const std::int64_t keys = a.causal ? a.seq : c.in(1).rows / batch;
  c.need(0, a.batch * a.seq, q.cols, "q");
  c.need(1, a.batch * keys, kv, "k");
  c.need(2, a.batch * keys, values, "v");
  const std::size_t given = operands_of(c.node), masked = given - (a.term != ScoreTerm::kNone ? 1 : 0);
  if (scale_is_data(a) && (a.flash || c.inputs() < 4))
    c.fail("its scale is 0, and no operand gives it", "set the scale");
  if (scale_is_data(a)) c.need(given, 1, 1, "scale");
  if (masked > 3) c.need(3, a.batch, keys, "mask");
  if (a.slopes()) c.need(masked, 1, a.heads, "slopes");
  if (a.sinks()) c.need(masked, 1, a.heads, "sinks");
  const std::int64_t rows = a.batch * a.heads * a.seq;
  if (a.biased()) {
    const std::int64_t given_rows = c.in(masked).rows, each = a.heads * a.seq;
    c.need(masked, given_rows == a.seq || given_rows == rows ? given_rows : each, keys, "bias");
  }
  if (a.tile_keys > 0 && (!a.flash || a.tile_keys % kChunk != 0))
    c.fail("tiles of keys need flash, and whole chunks", "set flash, and tile_keys to a multiple of 512");
  const Shape kept = a.flash ? Shape{rows, 1, Dtype::kFp32} : Shape{rows, keys, a.softmax.value_or(c.result_type())};
  std::vector<Shape> out{{q.rows, values / a.kv_heads * a.heads, c.result_type()}, kept};
  if (a.sinks()) out.push_back({q.rows, a.heads, Dtype::kFp32});
  return out;
}

Tensors attention_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<AttentionAttrs>();
  const Tensor &q = in[0], &k = in[1], &v = in[2];
  const double scale = scale_is_data(a) ? in.back().at(0, 0) : a.scale;
  if (scale_is_data(a)) in = in.first(in.size() - 1);
  const std::int64_t d = q.cols / a.heads, ratio = a.heads / a.kv_heads, keys = k.rows / a.batch;
  const std::int64_t width = v.cols / a.kv_heads;
  Tensor context(q.rows, a.heads * width), p(a.batch * a.heads * a.seq, a.flash ? 1 : keys);
  Tensor shares(a.sinks() ? q.rows : 0, a.heads);
  for (std::int64_t b = 0; b < a.batch; ++b)
    for (std::int64_t h = 0; h < a.heads; ++h)
      for (std::int64_t i = 0; i < a.seq; ++i) {
        std::vector<double> x(static_cast<std::size_t>(keys));
        double most = a.sinks() ? in.back().at(0, h) : -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          double& s = x[static_cast<std::size_t>(j)];
          s = dot(q.row(b * a.seq + i) + h * d, k.row(b * keys + j) + h / ratio * d, d);
          s = soft_capped(scale * s, a.soft_cap) + added(a, in, b, h, i, j);
          most = std::max(most, s);
        }
        if (a.sinks()) sum = std::exp(in.back().at(0, h) - most);
        const double sink = sum;
        for (double& s : x) sum += s = std::exp(s - most);
        if (a.sinks()) shares.at(b * a.seq + i, h) = static_cast<float>(sink / sum);
        const std::int64_t row = (b * a.heads + h) * a.seq + i;
        if (a.flash) p.at(row, 0) = static_cast<float>(most + std::log(sum));
        for (std::int64_t j = 0; j < keys; ++j) {
          const double weight = x[static_cast<std::size_t>(j)] / sum;
          if (!a.flash) p.at(row, j) = static_cast<float>(weight);
          add_scaled(context.row(b * a.seq + i) + h * width, weight, v.row(b * keys + j) + h / ratio * width, width);
        }
      }
  Tensors out{context, p};
  if (a.sinks()) out.push_back(shares);
  return out;
}

}  // namespace runtime
