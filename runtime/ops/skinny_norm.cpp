#include <cmath>

#include "runtime/ops/skinny_matmul.h"

namespace runtime {
namespace {

/// Norms of few rows, each row folded over several partitions: with x' = x, or x + y (+ bias) when y (and bias) are
/// given, skinny_rmsnorm gives x' / sqrt(mean(x'^2) + eps) * gamma, skinny_layernorm (x' - mean) / sqrt(var + eps) *
/// gamma + beta, of which attrs.vectors are there. Shapes: x [R, C], R <= 128, gamma (and beta) [1, C], y [R, C], bias
/// [1, C] -> the norm [R, C], and x' [R, C] if there is a y. Units: none; statistics fp32. Errors: Fault::kProgram for
/// other shapes. Source: Zhang and Sennrich, arXiv:1910.07467, eq. 4; Ba et al., arXiv:1607.06450, eq. 4.
std::vector<Shape> skinny_norm_infer(const Contract& c, std::size_t vectors) {
  const Value& x = c.in(0);
  if (x.rows > kPartitions) c.fail("more than 128 rows", "use rmsnorm or layernorm");
  for (std::size_t i = 1; i <= vectors; ++i) c.need(i, 1, x.cols, i == 1 ? "gamma" : "beta");
  if (c.inputs() > vectors + 1) c.need(vectors + 1, x.rows, x.cols, "y");
  if (c.inputs() > vectors + 2) c.need(vectors + 2, 1, x.cols, "bias");
  std::vector<Shape> out{{x.rows, x.cols, c.result_type()}};
  if (c.inputs() > vectors + 1) out.push_back(out.front());
  return out;
}

std::vector<Shape> skinny_rms_infer(const Contract& c) { return skinny_norm_infer(c, 1); }
std::vector<Shape> layer_infer(const Contract& c) { return skinny_norm_infer(c, c.node.attrs.as<NormAttrs>().vectors); }

Tensor summed(std::span<const Tensor> in, std::size_t vectors) {
  return generate(in[0].rows, in[0].cols, [&](auto r, auto c) {
    float x = in[0].at(r, c);
    if (in.size() > vectors + 1) x += in[vectors + 1].at(r, c);
    if (in.size() > vectors + 2) x += in[vectors + 2].at(0, c);
    return x;
  });
}

Tensors skinny_norm_forward(const Attrs& attrs, std::span<const Tensor> in, std::size_t vectors, bool centres) {
  const double eps = attrs.as<NormAttrs>().eps;
  const Tensor x = summed(in, vectors);
  Tensor y(x.rows, x.cols);
  const auto cols = static_cast<double>(x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double mean = 0, squares = 0;
    for (std::int64_t c = 0; c < x.cols && centres; ++c) mean += x.at(r, c) / cols;
    for (std::int64_t c = 0; c < x.cols; ++c) squares += (x.at(r, c) - mean) * (x.at(r, c) - mean);
    const double scale = 1 / std::sqrt(squares / cols + eps);
    for (std::int64_t c = 0; c < x.cols; ++c)
      y.at(r, c) = static_cast<float>((x.at(r, c) - mean) * scale * (vectors > 0 ? in[1].at(0, c) : 1.0F) +
                                      (vectors > 1 ? in[2].at(0, c) : 0));
  }
  return in.size() > vectors + 1 ? Tensors{y, x} : Tensors{y};
}
Tensors skinny_rms_forward(const Attrs& a, std::span<const Tensor> in) { return skinny_norm_forward(a, in, 1, false); }
Tensors layer_forward(const Attrs& a, std::span<const Tensor> in) {
  return skinny_norm_forward(a, in, a.as<NormAttrs>().vectors, true);
}

/// Row r is in partitions [r * parts, (r + 1) * parts), a stretch of its columns in each.
class SkinnyNorm {
 public:
  SkinnyNorm(Emitter& e, const Node& node, std::size_t vectors, bool centres)
      : e_{e},
        node_{node},
        vectors_{vectors},
        centres_{centres},
        rows_{e.value(node.in[0]).rows},
        cols_{e.value(node.in[0]).cols},
        parts_{skinny_fold(rows_, cols_)},
        width_{cols_ / parts_} {}

  void run() {
    const Tile x = operand();
    const Tile gamma = vectors_ > 0 ? vector(node_.in[1]) : Tile{};
    const ValueId out = node_.out[0];
    const Tile y = e_.sbuf(e_.value(out).dtype, x.partitions, width_);
    const auto mean = static_cast<float>(1.0 / static_cast<double>(cols_));
    if (!centres_) {
      e_.scalar_tensor_tensor(y, x, Alu::kMul, inverse_root(x, mean), Alu::kMul, gamma);
    } else {
      const Tile least = column(), centred = e_.sbuf(Dtype::kFp32, x.partitions, width_);
      e_.tensor_scalar(least, total(x, Fn::kCopy), Alu::kMul, -mean);
      e_.tensor_scalar(centred, x, Alu::kAdd, least);
      scale(y, centred, inverse_root(centred, mean), gamma);
    }
    e_.store(flat(out), y);
    if (parts_ == 1)
      e_.keep(out, 0, y);
    else
      e_.keep_folded(out, y);
  }

 private:
  /// y = centred * root, times gamma, plus beta, if they are there.
  void scale(const Tile& y, const Tile& centred, const Tile& root, const Tile& gamma) {
    if (vectors_ == 0) return e_.tensor_scalar(y, centred, Alu::kMul, root);
    const Tile scaled = vectors_ == 1 ? y : e_.sbuf(Dtype::kFp32, y.partitions, width_);
    e_.scalar_tensor_tensor(scaled, centred, Alu::kMul, root, Alu::kMul, gamma);
    if (vectors_ == 2) e_.tensor_tensor(y, scaled, Alu::kAdd, vector(node_.in[2]));
  }

  Tile flat(ValueId v) { return e_.hbm_flat(v, 0, rows_ * parts_, width_, width_); }
  Tile column() { return e_.sbuf(Dtype::kFp32, rows_ * parts_, 1); }

  Tile operand() {
    Tile x = e_.loaded(e_.value(node_.in[0]).dtype, flat(node_.in[0]));
    if (node_.in.size() == vectors_ + 1) return x;
    const ValueId v = node_.in[vectors_ + 1];
    const Tile y = e_.loaded(e_.value(v).dtype, flat(v));
    Tile sum = e_.sbuf(e_.value(node_.out[1]).dtype, x.partitions, width_);
    if (node_.in.size() > vectors_ + 2) {
      const Tile part = e_.sbuf(Dtype::kFp32, x.partitions, width_);
      e_.tensor_tensor(part, y, Alu::kAdd, vector(node_.in[vectors_ + 2]));
      e_.tensor_tensor(sum, x, Alu::kAdd, part);
    } else {
      e_.tensor_tensor(sum, x, Alu::kAdd, y);
    }
    e_.store(flat(node_.out[1]), sum);
    return sum;
  }

  /// A vector over the columns, for each row: a matmul with a unit matrix for each row repeats it, which is exact.
  Tile vector(ValueId v) {
    if (parts_ == 1) return e_.broadcast(v, rows_, 0, cols_);
    const Dtype type = e_.value(v).dtype;
    const Tile pieces = e_.loaded(type, e_.hbm_flat(v, 0, parts_, width_, width_));
    const Tile units = e_.sbuf(type, parts_, rows_ * parts_), out = e_.sbuf(type, rows_ * parts_, width_);
    Tile unit = partitions(e_.identity(type), parts_);
    unit.rank = 2;
    unit.free[0] = {.step = 0, .size = static_cast<std::uint32_t>(rows_)};
    unit.free[1] = {.step = 1, .size = static_cast<std::uint32_t>(parts_)};
    e_.copy(units, unit);
    for (std::int64_t c = 0; c < width_; c += kChunk) {
      const std::int64_t size = std::min(kChunk, width_ - c);
      const Tile bank = e_.psum(rows_ * parts_, size);
      e_.move(bank, units, columns(pieces, c, size));
      e_.copy(columns(out, c, size), bank);
    }
    return out;
  }

  /// 1 where both partitions are of one row: a product with it sums over a row's partitions.
  Tile same_row_matrix() {
    if (same_row_) return same_row_;
    const std::int64_t all = rows_ * parts_;
    const Tile members = e_.sbuf(Dtype::kFp32, rows_, all), bank = e_.psum(all, all);
    e_.fill(members, 1);
    const auto parts = static_cast<float>(parts_);
    e_.affine_select(members, 0, -parts, 1, 0);
    e_.affine_select(members, parts - 1, parts, -1, 0);
    e_.move(bank, members, members);
    same_row_ = e_.sbuf(Dtype::kFp32, all, all);
    e_.copy(same_row_, bank);
    return same_row_;
  }

  /// The sum over each row of fn(x), in all of its partitions.
  Tile total(const Tile& x, Fn fn) {
    const Tile waste = e_.sbuf(x.dtype, x.partitions, width_), sum = column();
    e_.activation(waste, fn, x, 1.0F, 0.0F, &sum);
    if (parts_ == 1) return sum;
    const Tile all = e_.psum(x.partitions, 1);
    e_.move(all, same_row_matrix(), sum);
    return all;
  }

  Tile inverse_root(const Tile& x, float mean) {
    const Tile root = column();
    e_.activation(root, Fn::kRsqrt, total(x, Fn::kSquare), mean, static_cast<float>(node_.attrs.as<NormAttrs>().eps));
    return root;
  }

  Emitter& e_;
  const Node& node_;
  const std::size_t vectors_;
  const bool centres_;  // takes the mean away
  const std::int64_t rows_, cols_, parts_, width_;
  Tile same_row_{};
};

void skinny_rms_lower(Emitter& e, const Node& node) { SkinnyNorm{e, node, 1, false}.run(); }
void layer_lower(Emitter& e, const Node& node) { SkinnyNorm{e, node, node.attrs.as<NormAttrs>().vectors, true}.run(); }

}  // namespace

const Op kSkinnyRmsNorm{.name = "skinny_rmsnorm",
                        .text = "rmsnorm of few rows, or of their sum with others",
                        .attrs = NormAttrs{},
                        .infer = skinny_rms_infer,
                        .forward = skinny_rms_forward,
                        .lower_whole = skinny_rms_lower};
const Op kSkinnyLayerNorm{.name = "skinny_layernorm",
                          .text = "layernorm of few rows, or of their sum with others",
                          .attrs = NormAttrs{},
                          .infer = layer_infer,
                          .forward = layer_forward,
                          .lower_whole = layer_lower};

}  // namespace runtime
