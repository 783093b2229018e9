#include <array>
#include <cmath>

#include "runtime/compiler/emitter.h"
#include "runtime/ops/flat.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

/// Factors of an update, in the order of their operands; each but the weight's own two is there with its setting alone.
enum Factor : std::size_t { kDecays, kMKept, kMNew, kVKept, kVNew, kRoot, kEps, kWKept, kWStep, kWGradient, kFactors };

/// Which of them are operands.
std::array<bool, kFactors> factors_of(const UpdateAttrs& a) {
  return {a.decays, a.moment, a.moment, a.adaptive, a.adaptive, a.adaptive, a.adaptive, true, true, a.ahead};
}

/// The numbers of the operands; a moment that is not there has the gradient's.
struct Places {
  std::size_t m = 1, v = 1, first = 0;  // first: of the factors
  explicit Places(const UpdateAttrs& a) {
    std::size_t next = 2;
    if (a.moment) m = next++;
    if (a.adaptive) v = next++;
    first = next;
  }
};

/// One update of a parameter by a gradient g, whose factors are data: of any optimizer of this form, however its
/// program has put it. With `decays` g' = g + d w, else g' = g; with `moment` m = a m + b g', else m = g'; with
/// `adaptive` v = c v + e g'^2 and u = m / (r sqrt(v) + eps), else u = m; w = h w + s u, with `ahead` + t g'.
/// Shapes: w, g [R, C], and m and v if they are there; the factors [1, 1] in the order of Factor -> w, m, v, each in
/// its operand's memory where `in_place` says so. Settings: UpdateAttrs. Lowering: one walk over the tensors, in fp32.
/// Source: AdamW, Loshchilov and Hutter, arXiv:1711.05101; SGD with momentum, Sutskever et al., ICML 2013.
std::vector<Shape> update_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<UpdateAttrs>();
  const Places at{a};
  const Value& w = c.in(0);
  for (std::size_t i = 1; i < at.first; ++i) c.need(i, w.rows, w.cols, "gradient or moment");
  for (std::size_t i = at.first; i < c.inputs(); ++i) c.need(i, 1, 1, "factor");
  std::vector<Shape> out;
  std::uint32_t bit = 1;
  for (const std::size_t i : {std::size_t{0}, at.m, at.v}) {
    if (i == 1) continue;
    const bool stays = (a.in_place & bit) != 0;
    out.push_back({w.rows, w.cols, c.in(i).dtype, stays ? c.node.in[i] : kNoValue});
    bit <<= 1;
  }
  return out;
}

Tensors update_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<UpdateAttrs>();
  const Places at{a};
  std::array<double, kFactors> f{};
  std::size_t next = at.first;
  for (std::size_t i = 0; i < kFactors; ++i)
    if (factors_of(a)[i]) f[i] = in[next++].at(0, 0);
  Tensor w = in[0], m = in[at.m], v = in[at.v];
  for (std::size_t i = 0; i < w.data.size(); ++i) {
    const double g = in[1].data[i] + f[kDecays] * w.data[i];
    const double moment = a.moment ? f[kMKept] * m.data[i] + f[kMNew] * g : g;
    const double square = f[kVKept] * v.data[i] + f[kVNew] * g * g;
    const double step = a.adaptive ? moment / (f[kRoot] * std::sqrt(square) + f[kEps]) : moment;
    w.data[i] = static_cast<float>(f[kWKept] * w.data[i] + f[kWStep] * step + f[kWGradient] * g);
    m.data[i] = static_cast<float>(moment), v.data[i] = static_cast<float>(square);
  }
  Tensors out{std::move(w)};
  if (a.moment) out.push_back(std::move(m));
  if (a.adaptive) out.push_back(std::move(v));
  return out;
}

class Update : FlatTiles {
 public:
  Update(Emitter& e, const Node& node) : FlatTiles{e, node}, a_{node.attrs.as<UpdateAttrs>()}, at_{a_} {
    const auto there = factors_of(a_);
    std::vector<ValueId> values;
    std::size_t next = at_.first;
    for (const bool one : there) values.push_back(one ? node.in[next++] : kNoValue);
    Tile& shared = e.made_of(values);
    if (!shared) shared = rows_of(values);
    factors_ = partitions(shared, flat_.parts);
  }

  void run() {
    for_tiles(flat_, e_.value(node_.in[0]).dtype, [&](std::int64_t c, std::int64_t cols) { tile(c, cols); });
  }

 private:
  /// Factors as columns of all partitions, for all updates of the block that have them.
  Tile rows_of(const std::vector<ValueId>& values) {
    const Tile row = e_.sbuf(Dtype::kFp32, 1, kFactors);
    for (std::size_t i = 0; i < kFactors; ++i)
      if (const Tile to = columns(row, static_cast<std::int64_t>(i), 1); values[i] == kNoValue)
        e_.fill(to, 0);
      else
        e_.load(to, e_.hbm(values[i], 0, 1));
    return e_.spread(row, kPartitions);
  }

  Tile factor(Factor i) const { return columns(factors_, static_cast<std::int64_t>(i), 1); }

  /// The moments are written where they were read.
  void tile(std::int64_t c, std::int64_t cols) {
    const Tile w = get(0, c, cols);
    Tile g = get(1, c, cols);
    if (a_.decays) {
      const Tile both = fp32(cols);
      e_.scalar_tensor_tensor(both, w, Alu::kMul, factor(kDecays), Alu::kAdd, g);
      g = both;
    }
    const Tile m = a_.moment ? moment(at_.m, g, c, cols) : g;
    const Tile step = fp32(cols);
    if (a_.adaptive)
      e_.scalar_tensor_tensor(step, m, Alu::kMul, factor(kWStep), Alu::kMul, inverse_root(g, c, cols));
    else
      e_.tensor_scalar(step, m, Alu::kMul, factor(kWStep));
    if (a_.ahead) e_.scalar_tensor_tensor(step, g, Alu::kMul, factor(kWGradient), Alu::kAdd, step);
    e_.scalar_tensor_tensor(w, w, Alu::kMul, factor(kWKept), Alu::kAdd, step);
    e_.store(at(node_.out[0], c, cols), w);
  }

  Tile moment(std::size_t i, const Tile& g, std::int64_t c, std::int64_t cols) {
    const Tile m = get(i, c, cols), part = fp32(cols);
    e_.tensor_scalar_anywhere(part, g, Alu::kMul, factor(kMNew));
    e_.scalar_tensor_tensor(m, m, Alu::kMul, factor(kMKept), Alu::kAdd, part);
    e_.store(at(node_.out[1], c, cols), m);
    return m;
  }

  Tile inverse_root(const Tile& g, std::int64_t c, std::int64_t cols) {
    const Tile v = get(at_.v, c, cols), root = fp32(cols);
    e_.scalar_tensor_tensor(root, g, Alu::kMul, factor(kVNew), Alu::kMul, g);
    e_.scalar_tensor_tensor(v, v, Alu::kMul, factor(kVKept), Alu::kAdd, root);
    e_.store(at(node_.out.back(), c, cols), v);
    e_.activation(root, Fn::kSqrt, v);
    e_.tensor_scalar_anywhere(root, root, Alu::kMul, factor(kRoot), Alu::kAdd, factor(kEps));
    e_.activation(root, Fn::kReciprocal, root);
    return root;
  }

  const UpdateAttrs& a_;
  const Places at_;
  Tile factors_{};
};

void update_lower(Emitter& e, const Node& node) { Update{e, node}.run(); }

}  // namespace

const Op kUpdate{.name = "update",
                 .text = "update of a parameter and its moments whose factors are data",
                 .attrs = UpdateAttrs{},
                 .infer = update_infer,
                 .forward = update_forward,
                 .lower_whole = update_lower};

}  // namespace runtime
