// Windows that move over pictures feature by feature: pooling, and convolutions without sums over features.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/compiler/budgets.h"
#include "runtime/compiler/emitter.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/picture_tiles.h"

namespace runtime {
namespace {

/// y[f, (b, i, j)]: the largest, the smallest or the sum of x[b, f, ...] over the window; with weights w, y[f * outputs
/// + o] is the sum of w[o, f, p, q] x[b, f, ...]. Shapes: x (w) -> [features * outputs, pictures * places]. Lowering:
/// features are on the partitions, a picture is in SBUF once, and VectorE reads it through an access pattern that each
/// place of the window shifts.
std::vector<Shape> window_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<WindowAttrs>();
  if (last_element(a.x) >= c.in(0).elements() || (a.weighted && last_of_kernel(a) >= c.in(1).elements()))
    c.fail("reaches beyond its operands", "correct sizes and strides");
  return {{a.x.features * a.outputs, a.x.count * a.x.places(), c.result_type()}};
}

double met(isa::Alu alu, double a, double b) {
  if (alu == isa::Alu::kAdd) return a + b;
  return alu == isa::Alu::kMax ? std::max(a, b) : std::min(a, b);
}

Tensors window_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<WindowAttrs>();
  const auto at = [](const Tensor& t, std::int64_t i) {
    return static_cast<double>(t.data[static_cast<std::size_t>(i)]);
  };
  return {generate(a.x.features * a.outputs, a.x.count * a.x.places(), [&](auto row, auto column) {
    const std::int64_t f = row / a.outputs, picture = column / a.x.places(), place = column % a.x.places();
    const std::int64_t x = a.x.first + f * a.x.feature_step + picture * a.x.step;
    const std::int64_t w = a.w_first + f * a.w_feature + row % a.outputs * a.w_output;
    std::optional<double> out;
    for (std::int64_t p = 0; p < a.x.rows.window; ++p)
      for (std::int64_t q = 0; q < a.x.cols.window; ++q) {
        const auto i = pixel_of(a.x.rows, place / a.x.cols.places, p),
                   j = pixel_of(a.x.cols, place % a.x.cols.places, q);
        double here = i && j ? at(in[0], x + *i * a.x.rows.x_step + *j * a.x.cols.x_step) : a.border;
        if (a.weighted) here *= at(in[1], w + a.x.rows.tap(p) + a.x.cols.tap(q));
        out = out ? met(a.alu, *out, here) : here;
      }
    return static_cast<float>(*out);
  })};
}

class Window {
 public:
  Window(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<WindowAttrs>()},
        kernel_{.x = a_.x,
                .outputs = a_.outputs,
                .w_output = a_.w_output,
                .w_feature = a_.w_feature,
                .w_first = a_.w_first},
        taps_{taps(a_.x)},
        pictures_{e, node.in[0], a_.x, {.type = e.value(node.in[0]).dtype, .border = static_cast<float>(a_.border)}} {}

  void run() {
    // Two bands and their results at once, so that loads and stores pass while VectorE works.
    const std::int64_t most = Budgets{e_.target().geometry}.resident_weights / 4;
    const Pictures one = of_one_tile();
    const std::vector<PictureBlock> parts = bands(one, Dtype::kFp32, most);
    const auto count = static_cast<std::int64_t>(parts.size());
    const LoopPart part = e_.part_of({.outer = ceil_div(a_.x.features, kPartitions), .inner = count});
    for (std::int64_t t = part.outer; t < part.outer + part.outer_count; ++t) {
      const Span features{t * kPartitions, std::min(kPartitions, a_.x.features - t * kPartitions)};
      const Tile weights = a_.weighted ? weights_of(features) : Tile{};
      for (std::int64_t b = part.inner; b < part.inner + part.inner_count; ++b)
        band(features, parts[static_cast<std::size_t>(b)], weights);
    }
  }

 private:
  static constexpr std::int64_t kWidest = 4096;  // columns in one instruction

  Pictures of_one_tile() const {
    Pictures out = a_.x;
    out.features = std::min(kPartitions, out.features);
    return out;
  }

  KernelAxes axes(Span features) const { return {kernel_, features.size, a_.outputs}; }

  Tile weights_of(Span features) {
    const Tile first = e_.hbm_flat(node_.in[1], a_.w_first + features.begin * a_.w_feature, 1, 1, 0);
    return e_.loaded(Dtype::kFp32, axes(features).in_hbm(first, features.size, a_.w_feature, KernelAxes::kOutputs));
  }

  void band(Span features, const PictureBlock& band, const Tile& weights) {
    const Tile picture = pictures_.load(band, features);
    for (const PictureBlock& piece : pieces_of(band, kWidest))
      for (std::int64_t o = 0; o < a_.outputs; ++o) {
        const Tile sum = e_.sbuf(Dtype::kFp32, features.size, piece.size());
        bool first = true;
        for (const Tap& tap : taps_) {
          const Tile pixels = pictures_.shifted(picture, band, piece, tap, features.size);
          if (a_.weighted)
            add_product(sum, pixels, axes(features).outputs_of(weights, tap, {o, 1}), first);
          else if (first)
            e_.copy(sum, pixels);
          else
            e_.tensor_tensor(sum, sum, a_.alu, pixels);
          first = false;
        }
        store(features, piece, o, sum);
      }
  }

  void add_product(const Tile& sum, const Tile& pixels, const Tile& weight, bool first) {
    if (first)
      e_.tensor_scalar(sum, pixels, Alu::kMul, weight);
    else
      e_.scalar_tensor_tensor(sum, pixels, Alu::kMul, weight, Alu::kAdd, sum);
  }

  void store(Span features, const PictureBlock& piece, std::int64_t output, const Tile& sum) {
    Tile out = sum;
    if (const Dtype type = e_.value(node_.out[0]).dtype; type != sum.dtype) {
      out = e_.sbuf(type, features.size, piece.size());
      e_.copy(out, sum);
    }
    e_.store(e_.hbm(node_.out[0], features.begin * a_.outputs + output, features.size,
                    piece.first_column(whole_of(a_.x)), piece.size(), a_.outputs),
             out);
  }

  Emitter& e_;
  const Node& node_;
  const WindowAttrs& a_;
  const ConvolutionAttrs kernel_;
  const std::vector<Tap> taps_;
  PictureTiles pictures_;
};

void window_lower(Emitter& e, const Node& node) { Window{e, node}.run(); }

double window_pieces(const Node& node) {
  const auto& a = node.attrs.as<WindowAttrs>();
  return static_cast<double>(ceil_div(a.x.features, kPartitions) * a.outputs);
}

}  // namespace

const Op kWindow{
    .name = "window",
    .text = "sum, largest or smallest of a window that moves over images; with weights, feature by feature",
    .attrs = WindowAttrs{},
    .infer = window_infer,
    .forward = window_forward,
    .lower_whole = window_lower,
    .pieces = window_pieces};

}  // namespace runtime
