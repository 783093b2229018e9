#include <algorithm>
#include <cmath>

#include "runtime/compiler/emitter.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

/// One AdamW update: m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; w = w (1 - lr wd) - lr m^ / (sqrt(v^) + eps), with g
/// scaled by `clip`. Shapes: w, g, m, v [R, C]; inputs [1, 8] (runtime/ops/optimizer_inputs.h); clip [1, 1] -> w, m, v
/// in place. Settings: OptimizerAttrs; b1 and b2 are its betas. Source: Loshchilov and Hutter, arXiv:1711.05101,
/// algorithm 2, with PyTorch's order of the operations.
Tensors adamw_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<OptimizerAttrs>();
  Tensors out{in[0], in[2], in[3]};
  const Tensor& inputs = in[4];
  for (std::size_t i = 0; i < out[0].data.size(); ++i) {
    const double g = static_cast<double>(in[1].data[i]) * in[5].at(0, 0);
    const double m = a.beta1 * in[2].data[i] + (1 - a.beta1) * g, v = a.beta2 * in[3].data[i] + (1 - a.beta2) * g * g;
    const double decay = a.decays ? inputs.at(0, kDecay) : 1;
    out[0].data[i] = static_cast<float>(in[0].data[i] * decay -
                                        inputs.at(0, kRate) * m / (std::sqrt(v) * inputs.at(0, kRootScale) + a.eps));
    out[1].data[i] = static_cast<float>(m);
    out[2].data[i] = static_cast<float>(v);
  }
  return out;
}

class AdamW : FlatTiles {
 public:
  AdamW(Emitter& e, const Node& node) : FlatTiles{e, node}, a_{node.attrs.as<OptimizerAttrs>()} {
    const std::int64_t parts = flat_.parts;
    const Tile inputs = e.loaded(Dtype::kFp32, e.hbm_row(node.in[4], 0, parts, 0, kOptimizerInputs));
    const Tile clip = e.loaded(Dtype::kFp32, e.hbm_row(node.in[5], 0, parts, 0, 1));
    factors_ = e.sbuf(Dtype::kFp32, parts, 3);
    e.tensor_scalar(grad_m(), clip, Alu::kMul, static_cast<float>(1 - a_.beta1));
    e.tensor_scalar(grad_v(), clip, Alu::kMul, static_cast<float>(std::sqrt(1 - a_.beta2)));
    e.tensor_scalar(rate(), columns(inputs, kRate, 1), Alu::kMul, -1.0F);
    root_ = columns(inputs, kRootScale, 1);
    decay_ = columns(inputs, kDecay, 1);
  }

  void run() {
    for_tiles(flat_, e_.value(node_.in[0]).dtype, [&](std::int64_t c, std::int64_t cols) { tile(c, cols); });
  }

 private:
  Tile grad_m() const { return columns(factors_, 0, 1); }
  Tile grad_v() const { return columns(factors_, 1, 1); }
  Tile rate() const { return columns(factors_, 2, 1); }

  void tile(std::int64_t c, std::int64_t cols) {
    const Tile w = get(0, c, cols), g = get(1, c, cols), m = get(2, c, cols), v = get(3, c, cols);
    // The less a tile takes, the more tiles are under way: results overwrite their operands.
    const Tile step = fp32(cols), root = fp32(cols);
    const auto b1 = static_cast<float>(a_.beta1), b2 = static_cast<float>(a_.beta2);
    e_.tensor_scalar(step, g, Alu::kMul, grad_m());
    e_.scalar_tensor_tensor(m, m, Alu::kMul, b1, Alu::kAdd, step);
    e_.activation(root, Fn::kSquare, g, grad_v());
    e_.scalar_tensor_tensor(v, v, Alu::kMul, b2, Alu::kAdd, root);
    e_.activation(root, Fn::kSqrt, v);
    e_.tensor_scalar(root, root, Alu::kMul, root_, Alu::kAdd, static_cast<float>(a_.eps));
    e_.activation(root, Fn::kReciprocal, root);
    e_.scalar_tensor_tensor(step, m, Alu::kMul, rate(), Alu::kMul, root);
    if (a_.decays)
      e_.scalar_tensor_tensor(w, w, Alu::kMul, decay_, Alu::kAdd, step);
    else
      e_.tensor_tensor(w, w, Alu::kAdd, step);
    e_.store(at(node_.out[0], c, cols), w);
    if (a_.forgets) return;
    e_.store(at(node_.out[1], c, cols), m);
    e_.store(at(node_.out[2], c, cols), v);
  }

  const OptimizerAttrs& a_;
  Tile factors_{}, root_{}, decay_{};
};

void adamw_lower(Emitter& e, const Node& node) { AdamW{e, node}.run(); }

// ---- plain gradient descent

/// w = w - rate * g, without momentum. Shapes: w, g [R, C]; inputs [1, 8] (runtime/ops/optimizer_inputs.h) -> w in
/// place. Lowering: one VectorE pass. Source: Robbins and Monro, 1951; PyTorch, torch.optim.SGD.
std::vector<Shape> sgd_infer(const Contract& c) {
  const Value& w = c.in(0);
  c.need(1, w.rows, w.cols, "gradient");
  c.need(2, 1, kOptimizerInputs, "inputs");
  return {{w.rows, w.cols, w.dtype, c.node.in[0]}};
}

Tensors sgd_forward(const Attrs&, std::span<const Tensor> in) {
  const double rate = in[2].at(0, kRate);
  return {generate(in[0].rows, in[0].cols, [&](auto r, auto c) { return in[0].at(r, c) - rate * in[1].at(r, c); })};
}

void sgd_lower(Emitter& e, const Node& node) {
  const Flat flat{e.value(node.in[0]).elements()};
  const Tile inputs = e.loaded(Dtype::kFp32, e.hbm_row(node.in[2], 0, flat.parts, 0, kOptimizerInputs));
  const Tile rate = e.sbuf(Dtype::kFp32, flat.parts, 1);
  e.tensor_scalar(rate, columns(inputs, kRate, 1), Alu::kMul, -1.0F);
  for_tiles(flat, e.value(node.in[0]).dtype, [&](std::int64_t c, std::int64_t cols) {
    const Tile w = e.loaded(e.value(node.in[0]).dtype, flat.at(e, node.in[0], c, cols));
    const Tile g = e.loaded(e.value(node.in[1]).dtype, flat.at(e, node.in[1], c, cols));
    const Tile out = e.sbuf(w.dtype, flat.parts, cols);
    e.scalar_tensor_tensor(out, g, Alu::kMul, rate, Alu::kAdd, w);
    e.store(flat.at(e, node.out[0], c, cols), out);
  });
}

// ---- the norm of all gradients

/// Sum of the squares of all elements of all operands. Shapes: any -> [1, 1] fp32.
/// Lowering: ScalarE squares and sums by rows, a matmul with ones sums over the partitions.
std::vector<Shape> squares_infer(const Contract&) { return {{1, 1, Dtype::kFp32}}; }

Tensors squares_forward(const Attrs&, std::span<const Tensor> in) {
  double sum = 0;
  for (const Tensor& t : in)
    for (const float x : t.data) sum += static_cast<double>(x) * x;
  return {generate(1, 1, [&](auto, auto) { return sum; })};
}

void squares_lower(Emitter& e, const Node& node) {
  std::int64_t tiles = 0;
  for (const ValueId v : node.in) tiles += ceil_div(Flat{e.value(v).elements()}.cols, tile_cols(e.value(v).dtype));
  const Tile sums = e.sbuf(Dtype::kFp32, kPartitions, tiles);
  e.fill(sums, 0);
  std::int64_t next = 0;
  for (const ValueId v : node.in) {
    const Flat flat{e.value(v).elements()};
    for_tiles(flat, e.value(v).dtype, [&](std::int64_t c, std::int64_t cols) {
      const Tile g = e.loaded(e.value(v).dtype, flat.at(e, v, c, cols));
      const Tile waste = e.sbuf(g.dtype, flat.parts, cols), sum = columns(partitions(sums, flat.parts), next++, 1);
      e.activation(waste, Fn::kSquare, g, 1.0F, 0.0F, &sum);
    });
  }
  const Tile all = e.sbuf(Dtype::kFp32, kPartitions, 1), total = e.psum(1, 1), result = e.sbuf(Dtype::kFp32, 1, 1);
  e.reduce(all, Alu::kAdd, sums);
  e.matmul(total, all, e.ones(Dtype::kFp32, 1), false);
  e.copy(result, total);
  e.store(e.hbm(node.out[0], 0, 1), result);
}

double squares_flops(const Graph&, const Node&) { return 2.0 * kPartitions; }

/// The factor that limits the norm of all gradients. With s the sum of the operands: norm = scale * sqrt(s);
/// clip = scale * min(1, max_norm / (norm + 1e-6)), without a limit when max_norm is 0. Settings: ClipAttrs.
/// Shapes: each [1, 1] -> norm [1, 1], clip [1, 1], fp32. Source: PyTorch, clip_grad_norm_.
std::vector<Shape> clip_infer(const Contract& c) {
  for (std::size_t i = 0; i < c.inputs(); ++i) c.need(i, 1, 1, "sum of squares");
  return {{1, 1, Dtype::kFp32}, {1, 1, Dtype::kFp32}};
}

Tensors clip_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ClipAttrs>();
  double sum = 0;
  for (const Tensor& t : in) sum += t.at(0, 0);
  const double norm = a.scale * std::sqrt(sum), limit = a.max_norm > 0 ? std::min(1.0, a.max_norm / (norm + 1e-6)) : 1;
  return {generate(1, 1, [&](auto, auto) { return norm; }),
          generate(1, 1, [&](auto, auto) { return a.scale * limit; })};
}

void clip_lower(Emitter& e, const Node& node) {
  const auto n = static_cast<std::int64_t>(node.in.size());
  const auto& a = node.attrs.as<ClipAttrs>();
  const auto scale = static_cast<float>(a.scale), most = static_cast<float>(a.max_norm);
  const Tile parts = e.sbuf(Dtype::kFp32, 1, n);
  for (std::int64_t i = 0; i < n; ++i) e.load(columns(parts, i, 1), e.hbm(node.in[static_cast<std::size_t>(i)], 0, 1));
  const auto scalar = [&] { return e.sbuf(Dtype::kFp32, 1, 1); };
  const Tile sum = scalar(), norm = scalar(), clip = scalar(), inverse = scalar();
  e.reduce(sum, Alu::kAdd, parts);
  e.activation(norm, Fn::kSqrt, sum, scale * scale);
  e.store(e.hbm(node.out[0], 0, 1), norm);
  if (most > 0) {
    e.tensor_scalar(inverse, norm, Alu::kAdd, 1e-6F);
    e.emit({.op = Opcode::kReciprocal, .engine = isa::Engine::kVector, .dst = inverse, .a = inverse});
    e.tensor_scalar(inverse, inverse, Alu::kMul, most, Alu::kMin, 1.0F);
    e.tensor_scalar(clip, inverse, Alu::kMul, scale);
  } else {
    e.fill(clip, scale);
  }
  e.store(e.hbm(node.out[1], 0, 1), clip);
}

// ---- gradients of all ranks

/// The tensors of a bucket, operands `first` and on, each in place. Errors: they and operand 0 have several types.
std::vector<Shape> bucket_in_place(const Contract& c, std::size_t first, std::string_view fix) {
  std::vector<Shape> out;
  for (std::size_t i = first; i < c.inputs(); ++i) {
    if (c.in(i).dtype != c.in(0).dtype) c.fail("a bucket has one type", fix);
    out.push_back({c.in(i).rows, c.in(i).cols, c.in(i).dtype, c.node.in[i]});
  }
  return out;
}

/// Each operand becomes its sum over the ranks of attrs.group, in place; they are adjacent in HBM (one bucket).
std::vector<Shape> bucket_sum_infer(const Contract& c) {
  return bucket_in_place(c, 0, "put tensors of other types into another one");
}

Tensors bucket_sum_forward(const Attrs&, std::span<const Tensor> in) { return {in.begin(), in.end()}; }

/// A bucket as one row, from its first tensor on.
Tile whole_bucket(Emitter& e, const std::vector<ValueId>& values, std::int64_t ranks) {
  return e.hbm_flat(values[0], 0, 1, bucket_elements(e.graph(), values, ranks), 0);
}

void reduce_lower(Emitter& e, const Node& node) {
  const Tile all = whole_bucket(e, node.in, 1);
  e.emit({.op = Opcode::kAllReduce,
          .engine = isa::Engine::kSync,
          .alu0 = Alu::kAdd,
          .group = node.attrs.as<CollectiveAttrs>().group,
          .dst = all,
          .a = all});
}

// ---- optimizer state shared by data-parallel ranks (Rajbhandari et al., arXiv:1910.02054, P_os)

/// The sum of a bucket of gradients over the ranks of attrs.group, of which each of the attrs.ranks ranks gets its
/// part. Shapes: any -> [1, bucket / ranks].
std::vector<Shape> bucket_scatter_infer(const Contract& c) {
  for (std::size_t i = 0; i < c.inputs(); ++i)
    if (c.in(i).dtype != c.in(0).dtype) c.fail("a bucket has one type", "put tensors of other types into another one");
  const std::int64_t ranks = c.node.attrs.as<CollectiveAttrs>().ranks;
  return {{1, bucket_elements(c.graph, c.node.in, ranks) / ranks, c.in(0).dtype}};
}

Tensors bucket_scatter_forward(const Attrs& attrs, std::span<const Tensor> in) {
  std::vector<float> all;
  for (const Tensor& t : in) {
    all.insert(all.end(), t.data.begin(), t.data.end());
    all.resize(aligned(all.size()));
  }
  const auto ranks = static_cast<std::size_t>(attrs.as<CollectiveAttrs>().ranks),
             part = aligned(ceil_div(all.size(), ranks));
  Tensor out(1, static_cast<std::int64_t>(part));
  std::copy_n(all.begin(), std::min(part, all.size()), out.data.begin());
  return {out};
}

void bucket_scatter_lower(Emitter& e, const Node& node) {
  e.emit({.op = Opcode::kReduceScatter,
          .engine = isa::Engine::kSync,
          .alu0 = Alu::kAdd,
          .queue = kGradientQueue,
          .group = node.attrs.as<CollectiveAttrs>().group,
          .dst = e.hbm_whole(node.out[0]),
          .a = whole_bucket(e, node.in, node.attrs.as<CollectiveAttrs>().ranks)});
}

/// Each rank's part of a bucket of parameters, put into all of them. Shapes: part [1, bucket / ranks], the parameters
/// -> the parameters, in place.
std::vector<Shape> bucket_gather_infer(const Contract& c) {
  return bucket_in_place(c, 1, "round the part before it is gathered");
}

Tensors bucket_gather_forward(const Attrs&, std::span<const Tensor> in) {
  Tensors out{in.begin() + 1, in.end()};
  std::size_t at = 0;
  for (Tensor& t : out) {
    for (std::size_t i = 0; i < t.data.size() && at + i < in[0].data.size(); ++i) t.data[i] = in[0].data[at + i];
    at += aligned(t.data.size());
  }
  return out;
}

void bucket_gather_lower(Emitter& e, const Node& node) {
  const Tile part = e.hbm_whole(node.in[0]);
  e.emit({.op = Opcode::kAllGather,
          .engine = isa::Engine::kSync,
          .queue = kGradientQueue,
          .group = node.attrs.as<CollectiveAttrs>().group,
          .dst = whole_bucket(e, {node.in.begin() + 1, node.in.end()}, node.attrs.as<CollectiveAttrs>().ranks),
          .a = part});
}

}  // namespace

const Op kAdamW{.name = "adamw",
                .text = "AdamW update of a parameter",
                .attrs = OptimizerAttrs{},
                .infer = moments_infer,
                .forward = adamw_forward,
                .lower_whole = adamw_lower};
const Op kSgd{.name = "sgd",
              .text = "gradient descent without momentum",
              .infer = sgd_infer,
              .forward = sgd_forward,
              .lower_whole = sgd_lower};
const Op kSumSquares{.name = "sum_squares",
                     .text = "sum of squares of all elements",
                     .infer = squares_infer,
                     .forward = squares_forward,
                     .lower_whole = squares_lower,
                     .matmul_flops = squares_flops,
                     .extra_flops = squares_flops};
const Op kClipScale{.name = "clip_scale",
                    .text = "gradient norm and the factor that limits it",
                    .attrs = ClipAttrs{},
                    .infer = clip_infer,
                    .forward = clip_forward,
                    .lower_whole = clip_lower};
const Op kAllReduce{.name = "all_reduce",
                    .text = "sum over ranks, in place",
                    .attrs = CollectiveAttrs{},
                    .infer = bucket_sum_infer,
                    .forward = bucket_sum_forward,
                    .lower_whole = reduce_lower,
                    .collective = Collective::kBeside,
                    .bucket_from = 0};
const Op kBucketScatter{.name = "bucket_scatter",
                        .text = "sum of gradients over ranks, each gets its part",
                        .attrs = CollectiveAttrs{},
                        .infer = bucket_scatter_infer,
                        .forward = bucket_scatter_forward,
                        .lower_whole = bucket_scatter_lower,
                        .collective = Collective::kBeside,
                        .bucket_from = 0};
const Op kBucketGather{.name = "bucket_gather",
                       .text = "parameters put together from the parts of all ranks",
                       .attrs = CollectiveAttrs{},
                       .infer = bucket_gather_infer,
                       .forward = bucket_gather_forward,
                       .lower_whole = bucket_gather_lower,
                       .collective = Collective::kBeside,
                       .bucket_from = 1};

}  // namespace runtime
