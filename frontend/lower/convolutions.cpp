// The lowering of convolutions: a window that moves over pictures in SBUF, or patches of the input times the kernel.
#include <algorithm>
#include <functional>
#include <numeric>

#include "frontend/lower/products.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

std::size_t index_of(std::int64_t dim) { return static_cast<std::size_t>(dim); }

/// The input without what negative padding cuts off; `w` has the padding that remains.
View cropped(const View& given, const ConvolutionDims& c, WindowDims& w) {
  Dims low(given.dims.size()), high(low.size()), step(low.size(), 1);
  for (std::size_t s = 0; s < c.input_spatial.size(); ++s) {
    const std::size_t d = index_of(c.input_spatial[s]);
    low[d] = w.low[s], high[d] = w.high[s], step[d] = w.base_dilation[s];
  }
  View out = cut_to(given, low, high, step);
  for (std::size_t s = 0; s < c.input_spatial.size(); ++s) {
    const std::size_t d = index_of(c.input_spatial[s]);
    w.low[s] = low[d], w.high[s] = high[d];
  }
  return out;
}

bool is_wide(const WindowDims& w) {
  const auto is_none = [](std::int64_t n) { return n == 0; };
  return std::ranges::all_of(w.low, is_none) && std::ranges::all_of(w.high, is_none) &&
         std::ranges::all_of(w.base_dilation, [](std::int64_t n) { return n == 1; });
}

/// The input padded and dilated, as an owned copy.
View widened(Lowerer& l, const View& input, const ConvolutionDims& c, const WindowDims& w) {
  if (is_wide(w) && !input.is_number()) return input;
  Dims dims = input.dims, low(dims.size()), step(dims.size(), 1);
  for (std::size_t s = 0; s < c.input_spatial.size(); ++s) {
    const std::size_t d = index_of(c.input_spatial[s]);
    low[d] = w.low[s], step[d] = w.base_dilation[s];
    dims[d] = dilated_size(dims[d], step[d]) + w.low[s] + w.high[s];
  }
  const View out = l.owned_copy(number_view(0, dims, input.dtype));
  return l.written(out, sliced(out, low, input.dims, step), input);
}

/// [batch, output places..., window places..., features]: a view, whose elements overlap. Where the kernel is reversed,
/// the window's places are, so that the kernel can stay.
View patches(const View& input, const ConvolutionDims& c, const WindowDims& w, const Dims& places) {
  View out{.base = input.base, .first = input.first, .dtype = input.dtype};
  const auto push = [&](std::int64_t size, std::int64_t stride) {
    out.dims.push_back(size), out.strides.push_back(stride);
  };
  push(input.dims[index_of(c.input_batch)], input.strides[index_of(c.input_batch)]);
  for (std::size_t s = 0; s < places.size(); ++s)
    push(places[s], input.strides[index_of(c.input_spatial[s])] * w.stride[s]);
  for (std::size_t s = 0; s < places.size(); ++s) {
    const std::int64_t step = input.strides[index_of(c.input_spatial[s])] * w.window_dilation[s];
    if (w.reversed[s]) out.first += (w.size[s] - 1) * step;
    push(w.size[s], w.reversed[s] ? -step : step);
  }
  push(input.dims[index_of(c.input_feature)], input.strides[index_of(c.input_feature)]);
  return out;
}

/// Kernel as [window places..., input features, output features].
View kernel_of(const View& kernel, const ConvolutionDims& c) {
  Dims order = c.kernel_spatial;
  order.push_back(c.kernel_input_feature);
  order.push_back(c.kernel_output_feature);
  return transposed(kernel, order);
}

/// A kernel whose strides are negative is the one in memory with the places of its window reversed: frameworks turn the
/// kernel of a gradient and of a transposed convolution.
View forwards(View kernel, WindowDims& w) {
  for (std::size_t s = 0; s < w.size.size(); ++s) {
    if (kernel.strides[s] >= 0) continue;
    kernel.first += (kernel.dims[s] - 1) * kernel.strides[s];
    kernel.strides[s] = -kernel.strides[s];
    w.reversed[s] = !w.reversed[s];
  }
  return kernel;
}

/// The part of a dimension that group g of several has.
View part_of(const View& view, std::size_t d, std::int64_t g, std::int64_t groups) {
  View out = view;
  out.dims[d] /= groups;
  out.first += g * out.dims[d] * out.strides[d];
  return out;
}

/// Steps over the window and 128 features: so many parts of a kernel stay in SBUF while the pictures pass by.
constexpr std::int64_t kMostSteps = 192;

/// A convolution as it is given: `input` neither padded nor dilated, `kernel` as kernel_of() has it.
struct Given {
  const View& input;
  const View& kernel;
  const ConvolutionDims& dims;
  const WindowDims& window;
  const Dims& places;
};

/// Whether the pixels of a row follow each other in memory, as DMA and TensorE want them, and the kernel's steps are
/// few: else patches are copied.
bool is_picture(const Given& g) {
  const std::size_t spatial = g.places.size();
  if (spatial < 1 || spatial > 2 || g.input.is_number()) return false;
  const auto runs = [](const View& v, std::size_t d) { return v.dims[d] == 1 || v.strides[d] > 0; };
  for (std::size_t d = 0; d < g.input.dims.size(); ++d)
    if (!runs(g.input, d) || !runs(g.kernel, d)) return false;
  const std::size_t last = index_of(g.dims.input_spatial.back());
  if (g.input.dims[last] > 1 && g.input.strides[last] != 1) return false;
  const std::int64_t features = g.kernel.dims[spatial];
  const std::int64_t steps = element_count(g.window.size) * ((features + 127) / 128);
  return features > 0 && steps <= kMostSteps && element_count(g.places) > 0;
}

runtime::WindowAxis axis_of(const Given& g, std::size_t s) {
  const std::size_t d = index_of(g.dims.input_spatial[s]);
  return {.size = g.input.dims[d],
          .places = g.places[s],
          .window = g.window.size[s],
          .stride = g.window.stride[s],
          .dilation = g.window.window_dilation[s],
          .apart = g.window.base_dilation[s],
          .low = g.window.low[s],
          .reversed = g.window.reversed[s],
          .x_step = g.input.strides[d],
          .w_step = g.kernel.strides[s]};
}

runtime::Pictures pictures_of(const Given& g) {
  const std::size_t batch = index_of(g.dims.input_batch), feature = index_of(g.dims.input_feature);
  runtime::Pictures out{.features = g.input.dims[feature],
                        .count = g.input.dims[batch],
                        .cols = axis_of(g, g.places.size() - 1),
                        .step = g.input.strides[batch],
                        .feature_step = g.input.strides[feature],
                        .first = g.input.first};
  if (g.places.size() == 2) out.rows = axis_of(g, 0);
  return out;
}

/// A result's dimensions as its memory has them.
Dims features_first(const Given& g, std::int64_t features) {
  Dims out{features, g.input.dims[index_of(g.dims.input_batch)]};
  out.insert(out.end(), g.places.begin(), g.places.end());
  return out;
}

View features_last(const View& view) {
  Dims order;
  for (std::size_t d = 1; d < view.dims.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(0);
  return transposed(view, order);
}

/// As [batch, places..., features], in the memory [features, batch, places...].
View by_moving_window(Lowerer& l, const Given& g) {
  const std::size_t spatial = g.places.size();
  const runtime::ConvolutionAttrs attrs{.x = pictures_of(g),
                                        .outputs = g.kernel.dims[spatial + 1],
                                        .w_output = g.kernel.strides[spatial + 1],
                                        .w_feature = g.kernel.strides[spatial],
                                        .w_first = g.kernel.first,
                                        .dtype = product_type(l),
                                        .operand = l.options().operand};
  return features_last(dense_view(l.add(runtime::kConvolution, {g.kernel.base, g.input.base}, attrs),
                                  features_first(g, attrs.outputs), product_type(l)));
}

/// As [batch, places..., features]. Places of the window and features are summed in the order of the kernel's memory.
View by_patches(Lowerer& l, const View& patch, const View& kernel, const Dims& result, bool features_last) {
  const auto s = static_cast<std::int64_t>(result.size()) - 2;
  Dims kept(static_cast<std::size_t>(s) + 1), depth(kept.size()), summed;
  std::iota(kept.begin(), kept.end(), 0);
  std::iota(depth.begin(), depth.end(), 0);
  std::ranges::stable_sort(depth, std::greater{}, [&](auto d) { return kernel.strides[static_cast<std::size_t>(d)]; });
  for (const std::int64_t d : depth) summed.push_back(d + s + 1);
  Operand x{patch, {}, kept, summed, {}, {}}, w{kernel, {}, {s + 1}, depth, {}, {}};
  settle(l, x);
  settle(l, w);
  if (are_plain(w, x) && !(features_last && are_plain(x, w))) {
    Dims turned{result.back()}, back;
    turned.insert(turned.end(), result.begin(), result.end() - 1);
    for (std::size_t d = 1; d < turned.size(); ++d) back.push_back(static_cast<std::int64_t>(d));
    back.push_back(0);
    return transposed(dense_view(plain_product(l, w, x, product_type(l)), turned, product_type(l)), back);
  }
  const bool plain = are_plain(x, w);
  const runtime::ValueId y = plain ? plain_product(l, x, w, product_type(l)) : batch_product(l, x, w, product_type(l));
  return dense_view(y, result, product_type(l));
}

/// The groups' results side by side, in the order of their memory: features of one behind those of the other.
View side_by_side(Lowerer& l, const std::vector<View>& parts) {
  if (parts.size() == 1) return parts.front();
  const auto groups = static_cast<std::int64_t>(parts.size());
  Dims whole = parts.front().dims;
  const std::size_t features = whole.size() - 1;
  const bool last = parts.front().strides.back() == 1;
  whole.back() *= groups;
  if (!last) std::rotate(whole.begin(), whole.end() - 1, whole.end());
  View out = l.owned_copy(number_view(0, whole, product_type(l)));
  if (!last) out = features_last(out);
  for (std::int64_t g = 0; g < groups; ++g)
    out = l.written(out, part_of(out, features, g, groups), parts[static_cast<std::size_t>(g)]);
  return out;
}

/// The same where each feature has a group of its own: nothing is summed over features.
View by_window_alone(Lowerer& l, const Given& g) {
  const std::size_t spatial = g.places.size();
  const std::int64_t features = g.dims.feature_groups, outputs = g.kernel.dims[spatial + 1] / features;
  const std::int64_t step = g.kernel.strides[spatial + 1];
  const runtime::WindowAttrs attrs{.x = pictures_of(g),
                                   .weighted = true,
                                   .outputs = outputs,
                                   .w_output = step,
                                   .w_feature = outputs * step,
                                   .w_first = g.kernel.first,
                                   .dtype = product_type(l)};
  return features_last(dense_view(l.add(runtime::kWindow, {g.input.base, g.kernel.base}, attrs),
                                  features_first(g, features * outputs), product_type(l)));
}

/// One part of the result for each group, as [batch, places..., features].
std::vector<View> parts_of(Lowerer& l, const Given& g) {
  const std::size_t spatial = g.places.size();
  const std::int64_t groups = g.dims.feature_groups * g.dims.batch_groups;  // one of the two is 1
  const auto kernel_of_group = [&](std::int64_t i) { return part_of(g.kernel, spatial + 1, i, groups); };
  std::vector<View> parts;
  if (g.dims.batch_groups == 1 && is_picture(g)) {
    if (groups > 1 && g.kernel.dims[spatial] == 1) return {by_window_alone(l, g)};
    for (std::int64_t i = 0; i < groups; ++i) {
      const View input = part_of(g.input, index_of(g.dims.input_feature), i, groups), kernel = kernel_of_group(i);
      parts.push_back(by_moving_window(l, {input, kernel, g.dims, g.window, g.places}));
    }
    return parts;
  }
  const View all = patches(widened(l, g.input, g.dims, g.window), g.dims, g.window, g.places);
  Dims result{all.dims[0] / g.dims.batch_groups};
  result.insert(result.end(), g.places.begin(), g.places.end());
  result.push_back(g.kernel.dims.back() / groups);
  const std::size_t parted = g.dims.batch_groups > 1 ? 0 : all.dims.size() - 1;  // the batch, or features
  for (std::int64_t i = 0; i < groups; ++i)
    parts.push_back(by_patches(l, part_of(all, parted, i, groups), kernel_of_group(i), result,
                               g.dims.output_feature + 1 == l.type_out().rank()));
  return parts;
}

}  // namespace

void convolution(Lowerer& l) {
  if (element_count(l.type_in(0).dims) == 0 || element_count(l.type_in(1).dims) == 0)  // sums of nothing
    return l.set(number_view(0, l.type_out().dims, l.dtype_out()));
  const ConvolutionDims c = convolution_dims(l.node().attributes);
  WindowDims w = convolution_window(l.node().attributes, l.type_in(1));
  const std::vector<View> in =
      factors(l, element_count(l.type_in(1).dims) /
                     std::max<std::int64_t>(l.type_in(1).dims[index_of(c.kernel_output_feature)], 1));
  Dims places;
  for (const std::int64_t d : c.output_spatial) places.push_back(l.type_out().dims[index_of(d)]);
  View kernel = in[1];
  if (kernel.is_number()) kernel = dense_view(l.matrix(kernel), kernel.dims, kernel.dtype);
  kernel = forwards(kernel_of(kernel, c), w);
  const View input = cropped(in[0], c, w);
  const View out = side_by_side(l, parts_of(l, {input, kernel, c, w, places}));
  Dims order(out.dims.size());
  order[index_of(c.output_batch)] = 0;
  for (std::size_t s = 0; s < places.size(); ++s)
    order[index_of(c.output_spatial[s])] = static_cast<std::int64_t>(s) + 1;
  order[index_of(c.output_feature)] = static_cast<std::int64_t>(places.size()) + 1;
  l.set(transposed(in_own_type(l, out), order));
}

}  // namespace trnsim::frontend
