// Convolutions of pictures of which each row's pixels follow each other in memory.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/picture_tiles.h"

namespace runtime {
namespace {

/// y[o, (b, i, j)] = sum of w[o, f, p, q] x[b, f, i * stride + p * dilation - low, the same of j] over features f and
/// places (p, q) of the window. Shapes: w, x -> [outputs, pictures * places of the result], operands at strides.
/// Lowering: features are TensorE's rows, with places of the window beside them where features are few. The kernel is
/// stationary. The picture is in SBUF once and moves through an access pattern that each place of the window shifts, so
/// that nothing is copied for it; the sums over places stay in PSUM.
std::vector<Shape> convolution_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<ConvolutionAttrs>();
  if (last_of_kernel(a) >= c.in(0).elements() || last_element(a.x) >= c.in(1).elements())
    c.fail("reaches beyond its operands", "correct sizes and strides");
  return {{a.outputs, a.x.count * a.x.places(), c.result_type()}};
}

Tensors convolution_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ConvolutionAttrs>();
  const std::int64_t places = a.x.places();
  const auto at = [](const Tensor& t, std::int64_t i) { return t.data[static_cast<std::size_t>(i)]; };
  return {generate(a.outputs, a.x.count * places, [&](auto o, auto column) {
    const std::int64_t i = column % places / a.x.cols.places, j = column % a.x.cols.places;
    const std::int64_t x = a.x.first + column / places * a.x.step, w = a.w_first + o * a.w_output;
    double sum = 0;
    for (std::int64_t p = 0; p < a.x.rows.window; ++p)
      for (std::int64_t q = 0; q < a.x.cols.window; ++q) {
        const auto row = pixel_of(a.x.rows, i, p), col = pixel_of(a.x.cols, j, q);
        if (!row || !col) continue;
        for (std::int64_t f = 0; f < a.x.features; ++f)
          sum += static_cast<double>(
                     at(in[1], x + f * a.x.feature_step + *row * a.x.rows.x_step + *col * a.x.cols.x_step)) *
                 at(in[0], w + f * a.w_feature + a.x.rows.tap(p) + a.x.cols.tap(q));
      }
    return static_cast<float>(sum);
  })};
}

double convolution_flops(const Graph&, const Node& n) {
  const auto& a = n.attrs.as<ConvolutionAttrs>();
  const std::int64_t pairs = pairs_of(a.x.rows, Gaps::kLeftOut) * pairs_of(a.x.cols, Gaps::kLeftOut);
  return 2.0 * static_cast<double>(a.outputs * a.x.count * a.x.features) * static_cast<double>(pairs);
}

using Panels = RowTiler::Panels;

class Convolution {
 public:
  Convolution(RowTiler& r, const Node& node)
      : r_{r},
        e_{r.e()},
        node_{node},
        a_{node.attrs.as<ConvolutionAttrs>()},
        type_{operand_type(e_.graph(), node)},
        packed_{packing(e_, a_.x, a_.outputs, type_)},
        taps_{taps(a_.x, packed_)},
        pictures_{e_, node.in[1], a_.x, {.type = type_, .packed = packed_, .gaps = Gaps::kLeftOut}} {}

  void run() {
    const auto [first, count] = r_.block();
    const PictureBlock whole = whole_of(a_.x);
    Panels& shared = r_.shared(node_);  // pictures, if they stay, then the kernel, if it does
    if (r_.shared_resident() && shared.empty()) shared = pictures_.load(whole);
    std::vector<Panels> kernels;
    for (std::int64_t t = first; t < first + count; ++t) kernels.push_back(kernel(t));
    if (r_.shared_resident()) {
      const auto end = shared.begin() + static_cast<std::ptrdiff_t>(picture_panels());
      return sums(whole, whole, {shared.begin(), end}, kernels);
    }
    for (const PictureBlock& band : bands(a_.x, type_, r_.budgets().resident_weights / 2, Gaps::kLeftOut))
      sums(whole, band, pictures_.load(band), kernels);
  }

 private:
  /// The part `band` of the result, in pieces that a PSUM bank holds.
  void sums(const PictureBlock& whole, const PictureBlock& band, const Panels& pictures,
            const std::vector<Panels>& kernels) {
    const std::int64_t first = r_.block().begin;
    for (const PictureBlock& piece : pieces_of(band, kChunk))
      for (std::size_t t = 0; t < kernels.size(); ++t) {
        r_.at(first + static_cast<std::int64_t>(t));
        e_.label(node_.label);
        const Tile sum = e_.psum(r_.parts(), piece.size());
        add_up(sum, band, piece, pictures, kernels[t]);
        r_.take_chunk(node_, {piece.first_column(whole), piece.size()}, sum, 1);
      }
  }

  /// Where the gaps between pixels are left out, the steps over the window add to different places of the sum.
  void add_up(const Tile& sum, const PictureBlock& band, const PictureBlock& piece, const Panels& pictures,
              const Panels& kernels) {
    std::vector<std::optional<Tile>> parts;  // of the sum, one for each step
    std::set<std::int64_t> begun;            // by the offset of their first place
    std::int64_t places = 0;
    for (const Tap& tap : taps_) {
      const std::optional<Tile>& part = parts.emplace_back(pictures_.reached(sum, piece, tap));
      if (part && begun.insert(part->offset).second) places += part->cols();
    }
    if (places < piece.size()) e_.fill(sum, 0);
    begun.clear();
    std::size_t k = 0;
    for (const Tile& panel : pictures)
      for (std::size_t i = 0; i < taps_.size(); ++i) {
        const Tile& stationary = kernels[k++];
        if (!parts[i]) continue;
        e_.matmul(*parts[i], stationary, pictures_.shifted(panel, band, piece, taps_[i], stationary.partitions),
                  !begun.insert(parts[i]->offset).second);
      }
  }

  /// The stationary operands of row tile t: for each panel of features and each step over the window
  /// [features and places on the partitions, outputs of the tile].
  Panels kernel(std::int64_t t) {
    r_.at(t);
    e_.label(node_.label);
    Panels out;
    if (a_.w_output >= a_.w_feature) {
      by_outputs(out);
      return out;
    }
    for (std::int64_t f = 0; f < a_.x.features; f += kPartitions)
      by_features({f, std::min(kPartitions, a_.x.features - f)}, out);
    return out;
  }

  Tile kernel_in_hbm(std::int64_t features, std::int64_t output) const {
    return e_.hbm_flat(node_.in[0], a_.w_first + features * a_.w_feature + output * a_.w_output, 1, 1, 0);
  }

  std::size_t picture_panels() const {
    if (!r_.shared_resident()) return 0;
    return packed_.count() > 1 ? 1 : static_cast<std::size_t>(ceil_div(a_.x.features, kPartitions));
  }

  /// Outputs follow each other closer than features: DMA brings features to the partitions.
  void by_features(Span features, Panels& out) {
    if (packed_.count() > 1) {
      for (const Tap& tap : taps_) out.push_back(packed_by_features(features, tap));
      return;
    }
    const std::int64_t bytes = ceil_div(a_.x.features, kPartitions) * a_.x.taps() * a_.outputs * isa::size_of(type_);
    const bool stays = bytes <= r_.budgets().resident_weights / 2;
    const Span here{r_.first_row(), r_.parts()};
    const KernelAxes axes{a_, features.size, stays ? a_.outputs : here.size};
    const Tile rows = stays ? kernel_panel(features, axes) : loaded_kernel(features, here.begin, axes);
    for (const Tap& tap : taps_) out.push_back(axes.outputs_of(rows, tap, {stays ? here.begin : 0, here.size}));
  }

  Tile loaded_kernel(Span features, std::int64_t output, const KernelAxes& axes) {
    return e_.loaded(
        type_, axes.in_hbm(kernel_in_hbm(features.begin, output), features.size, a_.w_feature, KernelAxes::kOutputs));
  }

  /// These features of all outputs: in long runs, once for all row tiles.
  Tile kernel_panel(Span features, const KernelAxes& axes) {
    Panels& shared = r_.shared(node_);
    const std::size_t place = picture_panels() + static_cast<std::size_t>(features.begin / kPartitions);
    if (place == shared.size()) shared.push_back(loaded_kernel(features, 0, axes));
    return shared[place];
  }

  Tile packed_by_features(Span features, const Tap& tap) {
    const Tile out = e_.sbuf(type_, tap.count() * features.size, r_.parts());
    std::int64_t start = 0;
    for (std::int64_t p = tap.row; p < tap.row + tap.rows; ++p)
      for (std::int64_t q = tap.col; q < tap.col + tap.cols; ++q, start += features.size) {
        Tile source = kernel_in_hbm(features.begin, r_.first_row());
        const std::int64_t size = isa::size_of(source.dtype);
        source.offset += (a_.x.rows.tap(p) + a_.x.cols.tap(q)) * size;
        source.partitions = static_cast<std::int32_t>(features.size), source.pstep = a_.w_feature * size;
        source.free[0] = {.step = static_cast<std::int32_t>(a_.w_output),
                          .size = static_cast<std::uint32_t>(r_.parts())};
        e_.load(rows_of(out, start, features.size), source);
      }
    return out;
  }

  /// Features follow each other closer than outputs: TensorE brings them to the partitions, from long rows.
  void by_outputs(Panels& out) {
    constexpr std::int64_t kRowBytes = 16 * 1024;  // of a load
    const std::int64_t panel = a_.x.taps() * kPartitions * isa::size_of(type_);
    const std::int64_t wide = std::max<std::int64_t>(kRowBytes / panel, 1) * kPartitions;
    for (std::int64_t f = 0; f < a_.x.features; f += wide) {
      const Span some{f, std::min(wide, a_.x.features - f)};
      const KernelAxes axes{a_, some.size, r_.parts()};
      const Tile rows = e_.loaded(type_, axes.in_hbm(kernel_in_hbm(some.begin, r_.first_row()), r_.parts(), a_.w_output,
                                                     KernelAxes::kFeatures));
      std::vector<Tile> squares;
      for (std::int64_t p = 0; p < some.size; p += kPartitions)
        for (const Tap& tap : taps_)
          squares.push_back(axes.features_of(rows, tap, {p, std::min(kPartitions, some.size - p)}));
      transpose(squares, out);
    }
  }

  /// As many as a PSUM bank holds leave it at once.
  void transpose(const std::vector<Tile>& squares, Panels& out) {
    const std::int64_t parts = r_.parts();
    const auto fits = static_cast<std::size_t>(std::max<std::int64_t>(e_.bank_columns(type_) / parts, 1));
    for (std::size_t first = 0, end = 0; first < squares.size(); first = end) {
      const std::int64_t depth = squares[first].cols();
      while (end < squares.size() && end - first < fits && squares[end].cols() == depth) ++end;
      const auto count = static_cast<std::int64_t>(end - first);
      const Tile bank = e_.psum(depth, count * parts, type_), panel = e_.sbuf(type_, depth, count * parts);
      for (std::int64_t i = 0; i < count; ++i) {
        e_.transpose(columns(bank, i * parts, parts), squares[first + static_cast<std::size_t>(i)]);
        out.push_back(columns(panel, i * parts, parts));
      }
      e_.copy(panel, bank);
    }
  }

  RowTiler& r_;
  Emitter& e_;
  const Node& node_;
  const ConvolutionAttrs& a_;
  const Dtype type_;
  const Packing packed_;
  const std::vector<Tap> taps_;
  PictureTiles pictures_;
};

void convolution_lower(RowTiler& r, const Node& node) { Convolution{r, node}.run(); }

std::int64_t whole_picture_bytes(const Graph& g, const Node& n) {
  const auto& a = n.attrs.as<ConvolutionAttrs>();
  return picture_bytes(a.x, operand_type(g, n), whole_of(a.x), Gaps::kLeftOut);
}

std::int64_t window_panel_bytes(const Graph& g, const Node& n) {
  const auto& a = n.attrs.as<ConvolutionAttrs>();
  return ceil_div(a.x.features, kPartitions) * a.x.taps() * kPartitions * isa::size_of(operand_type(g, n));
}

/// Sums in a PSUM bank.
double convolution_pieces(const Node& node) {
  const auto& a = node.attrs.as<ConvolutionAttrs>();
  return static_cast<double>(ceil_div(a.outputs, kPartitions) * ceil_div(a.x.count * a.x.places(), kChunk));
}

}  // namespace

const Op kConvolution{.name = "convolution",
                      .text = "sums over the features and places of a window that moves over images",
                      .attrs = ConvolutionAttrs{},
                      .infer = convolution_infer,
                      .forward = convolution_forward,
                      .row_product = {.lower = convolution_lower,
                                      .shared_bytes = whole_picture_bytes,
                                      .staged_bytes = window_panel_bytes},
                      .matmul_flops = convolution_flops,
                      .not_by_row = {0, 1},
                      .reads_kept = true,
                      .tensor_operands = {0, 1},
                      .pieces = convolution_pieces};

}  // namespace runtime
