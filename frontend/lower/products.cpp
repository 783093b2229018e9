// The lowering of dot products and convolutions to matmuls.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "frontend/lower/lowerer.h"
#include "frontend/lower/one_hot.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

/// An operand as batch, kept and summed axes.
struct Operand {
  View view;
  Dims batch, kept, summed;  // dimensions of the view
  Axis rows, depth;
};

Dims others_of(const Type& type, const Dims& batch, const Dims& summed) {
  Dims out;
  for (std::int64_t d = 0; d < type.rank(); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(summed, d) == summed.end()) out.push_back(d);
  return out;
}

/// The dimension with the shortest stride, the longest of those.
std::int64_t fastest(const View& view) {
  std::int64_t best = 0;
  const auto step = [&](std::int64_t d) { return std::abs(view.strides[static_cast<std::size_t>(d)]); };
  const auto size = [&](std::int64_t d) { return view.dims[static_cast<std::size_t>(d)]; };
  for (std::int64_t d = 1; d < static_cast<std::int64_t>(view.dims.size()); ++d) {
    if (size(d) == 1 || step(d) == 0) continue;
    const bool nearer = size(best) == 1 || step(best) == 0 || step(d) < step(best);
    if (nearer || (step(d) == step(best) && size(d) > size(best))) best = d;
  }
  return best;
}

/// Kept and summed dimensions become one axis each: a copy where strides do not allow that, in whose rows the operand's
/// runs are as long as they can be.
void settle(Lowerer& l, Operand& o) {
  if (o.view.is_number()) o.view = dense_view(l.matrix(o.view), o.view.dims, o.view.dtype);
  auto rows = joined_axis(o.view, o.kept), depth = joined_axis(o.view, o.summed);
  if (!rows || !depth || rows->stride < 0 || depth->stride < 0) {
    const std::int64_t last = fastest(o.view);
    const bool kept_last = std::ranges::find(o.kept, last) != o.kept.end();
    const std::array<Dims*, 3> parts{&o.batch, kept_last ? &o.summed : &o.kept, kept_last ? &o.kept : &o.summed};
    Dims order;
    for (const Dims* dims : parts) order.insert(order.end(), dims->begin(), dims->end());
    const View turned = transposed(o.view, order);
    o.view = dense_view(l.matrix(turned), turned.dims, turned.dtype);
    std::int64_t next = 0;
    for (Dims* dims : parts)
      for (std::int64_t& d : *dims) d = next++;
    rows = joined_axis(o.view, o.kept), depth = joined_axis(o.view, o.summed);
  }
  o.rows = *rows, o.depth = *depth;
}

/// [rows, depth] one row behind the other.
bool by_rows(const Operand& o) {
  return (o.depth.stride == 1 || o.depth.size == 1) && (o.rows.stride == o.depth.size || o.rows.size == 1);
}
/// [depth, rows].
bool by_depth(const Operand& o) {
  return (o.rows.stride == 1 || o.rows.size == 1) && (o.depth.stride == o.rows.size || o.depth.size == 1);
}

/// Whether the operands are matrices that the products of matrices take as they are.
bool are_plain(const Operand& x, const Operand& w) {
  return (by_rows(x) && (by_rows(w) || by_depth(w))) || (by_depth(x) && by_depth(w));
}

runtime::ValueId matrix_of(Lowerer& l, const Operand& o, std::int64_t rows, std::int64_t cols) {
  View view = dense_view(o.view.base, {rows, cols}, o.view.dtype);
  view.first = o.view.first;
  return l.matrix(view, rows, cols);
}

runtime::ValueId plain_product(Lowerer& l, const Operand& x, const Operand& w, Dtype dtype) {
  const std::int64_t m = x.rows.size, k = x.depth.size, n = w.rows.size;
  const auto operand = l.options().operand;
  if (!by_rows(x))
    return l.add(runtime::kMatmulTn, {matrix_of(l, x, k, m), matrix_of(l, w, k, n)},
                 runtime::MatmulTnAttrs{.dtype = dtype, .operand = operand});
  const bool turned = !by_depth(w);
  return l.add(runtime::kMatmul, {matrix_of(l, x, m, k), turned ? matrix_of(l, w, n, k) : matrix_of(l, w, k, n)},
               runtime::MatmulAttrs{.trans_b = turned, .dtype = dtype, .operand = operand});
}

Dims strides_of(const Operand& o, bool depth_last) {
  Dims out;
  for (const std::int64_t d : o.batch) out.push_back(o.view.strides[static_cast<std::size_t>(d)]);
  out.push_back(depth_last ? o.rows.stride : o.depth.stride);
  out.push_back(depth_last ? o.depth.stride : o.rows.stride);
  return out;
}

runtime::ValueId batch_product(Lowerer& l, Operand x, Operand w, Dtype dtype) {
  runtime::BatchMatmulAttrs attrs{.m = x.rows.size,
                                  .k = x.depth.size,
                                  .n = w.rows.size,
                                  .x = strides_of(x, true),
                                  .w = strides_of(w, false),
                                  .x_first = x.view.first,
                                  .w_first = w.view.first,
                                  .dtype = dtype,
                                  .operand = l.options().operand};
  for (const std::int64_t d : x.batch) attrs.batch.push_back(x.view.dims[static_cast<std::size_t>(d)]);
  return l.add(runtime::kBatchMatmul, {x.view.base, w.view.base}, attrs);
}

void product(Lowerer& l, const View& lhs, const View& rhs, const DotDims& dims) {
  if (l.type_out().dims.empty() ? false : element_count(l.type_out().dims) == 0)
    return l.set(number_view(0, l.type_out().dims, l.dtype_out()));
  const auto type_of = [](const View& v) { return Type{.dims = v.dims}; };
  Operand x{
      lhs, dims.lhs_batch, others_of(type_of(lhs), dims.lhs_batch, dims.lhs_contracting), dims.lhs_contracting, {}, {}};
  Operand w{
      rhs, dims.rhs_batch, others_of(type_of(rhs), dims.rhs_batch, dims.rhs_contracting), dims.rhs_contracting, {}, {}};
  if (element_count(lhs.dims) == 0 || element_count(rhs.dims) == 0)
    return l.set(number_view(0, l.type_out().dims, l.dtype_out()));
  settle(l, x);
  settle(l, w);
  if (x.depth.size != w.depth.size) l.refuse("sums over axes of different size", "give equal sizes");
  std::int64_t batch = 1;
  for (const std::int64_t d : x.batch) batch *= x.view.dims[static_cast<std::size_t>(d)];
  const bool plain = batch == 1 && are_plain(x, w);
  const Dtype dtype = isa::is_integer(l.dtype_out()) ? Dtype::kFp32 : l.dtype_out();
  const runtime::ValueId y =
      plain ? plain_product(l, x, w, dtype) : batch_product(l, std::move(x), std::move(w), dtype);
  l.set(dense_view(y, l.type_out().dims, dtype));
}

void refuse_integers(Lowerer& l) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!is_float(l.type_in(i).element))
      l.refuse("EVRF035: products of integers", "convert the operands to a floating-point type");
}

void dot_general(Lowerer& l) {
  refuse_integers(l);
  const DotDims dims = dot_dims(l.node().attributes);
  if (!one_hot_product(l, dims)) product(l, l.in(0), l.in(1), dims);
}

void dot(Lowerer& l) {
  refuse_integers(l);
  product(l, l.in(0), l.in(1),
          {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {l.type_in(0).rank() - 1}, .rhs_contracting = {0}});
}

// ---- convolution: patches of the input times the kernel

/// The input padded and dilated, as an owned copy.
View widened(Lowerer& l, const View& given, const ConvolutionDims& c, const WindowDims& w) {
  Dims low(given.dims.size()), high(low.size()), step(low.size(), 1);
  bool same = true;
  for (std::size_t s = 0; s < c.input_spatial.size(); ++s) {
    const auto d = static_cast<std::size_t>(c.input_spatial[s]);
    low[d] = w.low[s], high[d] = w.high[s], step[d] = w.base_dilation[s];
    same = same && w.low[s] <= 0 && w.high[s] <= 0 && w.base_dilation[s] == 1;
  }
  const View input = cut_to(given, low, high, step);
  if (same && !input.is_number()) return input;
  Dims dims = input.dims;
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = dilated_size(dims[d], step[d]) + low[d] + high[d];
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
  const auto at = [](std::int64_t d) { return static_cast<std::size_t>(d); };
  push(input.dims[at(c.input_batch)], input.strides[at(c.input_batch)]);
  for (std::size_t s = 0; s < places.size(); ++s) push(places[s], input.strides[at(c.input_spatial[s])] * w.stride[s]);
  for (std::size_t s = 0; s < places.size(); ++s) {
    const std::int64_t step = input.strides[at(c.input_spatial[s])] * w.window_dilation[s];
    if (w.reversed[s]) out.first += (w.size[s] - 1) * step;
    push(w.size[s], w.reversed[s] ? -step : step);
  }
  push(input.dims[at(c.input_feature)], input.strides[at(c.input_feature)]);
  return out;
}

/// Kernel as [window places..., input features, output features].
View kernel_of(const View& kernel, const ConvolutionDims& c) {
  Dims order = c.kernel_spatial;
  order.push_back(c.kernel_input_feature);
  order.push_back(c.kernel_output_feature);
  return transposed(kernel, order);
}

/// The part of a dimension that group g of several has.
View part_of(const View& view, std::size_t d, std::int64_t g, std::int64_t groups) {
  View out = view;
  out.dims[d] /= groups;
  out.first += g * out.dims[d] * out.strides[d];
  return out;
}

/// As [batch, places..., features]. Places of the window and features are summed in the order of the kernel's memory.
View one_convolution(Lowerer& l, const View& patch, const View& kernel, const Dims& result, bool features_last) {
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
    return transposed(dense_view(plain_product(l, w, x, l.dtype_out()), turned, l.dtype_out()), back);
  }
  const bool plain = are_plain(x, w);
  const runtime::ValueId y = plain ? plain_product(l, x, w, l.dtype_out()) : batch_product(l, x, w, l.dtype_out());
  return dense_view(y, result, l.dtype_out());
}

/// The groups' results side by side: features of one behind those of the other.
View side_by_side(Lowerer& l, const std::vector<View>& parts, const Dims& result) {
  if (parts.size() == 1) return parts.front();
  const auto groups = static_cast<std::int64_t>(parts.size());
  Dims whole = result;
  whole.back() *= groups;
  View out = l.owned_copy(number_view(0, whole, l.dtype_out()));
  for (std::int64_t g = 0; g < groups; ++g)
    out = l.written(out, part_of(out, whole.size() - 1, g, groups), parts[static_cast<std::size_t>(g)]);
  return out;
}

void convolution(Lowerer& l) {
  const ConvolutionDims c = convolution_dims(l.node().attributes);
  const WindowDims w = convolution_window(l.node().attributes, l.type_in(1));
  refuse_integers(l);
  const View input = widened(l, l.in(0), c, w);
  const std::size_t spatial = c.input_spatial.size();
  Dims places;
  for (const std::int64_t d : c.output_spatial) places.push_back(l.type_out().dims[static_cast<std::size_t>(d)]);
  const View all = patches(input, c, w, places);
  View kernel = l.in(1);
  if (kernel.is_number()) kernel = dense_view(l.matrix(kernel), kernel.dims, kernel.dtype);
  kernel = kernel_of(kernel, c);
  // As batch, places, features; then in the order that the result has.
  const std::int64_t groups = c.feature_groups * c.batch_groups;  // one of the two is 1
  Dims result{all.dims[0] / c.batch_groups};
  result.insert(result.end(), places.begin(), places.end());
  result.push_back(kernel.dims.back() / groups);
  std::vector<View> parts;
  const std::size_t parted = c.batch_groups > 1 ? 0 : all.dims.size() - 1;  // the batch, or features
  for (std::int64_t g = 0; g < groups; ++g)
    parts.push_back(one_convolution(l, part_of(all, parted, g, groups),
                                    part_of(kernel, kernel.dims.size() - 1, g, groups), result,
                                    c.output_feature + 1 == l.type_out().rank()));
  const View out = side_by_side(l, parts, result);
  Dims order(result.size());
  order[static_cast<std::size_t>(c.output_batch)] = 0;
  for (std::size_t s = 0; s < spatial; ++s)
    order[static_cast<std::size_t>(c.output_spatial[s])] = static_cast<std::int64_t>(s) + 1;
  order[static_cast<std::size_t>(c.output_feature)] = static_cast<std::int64_t>(spatial) + 1;
  l.set(transposed(out, order));
}

}  // namespace

Rule product_rule(std::string_view op) {
  if (op == "dot_general") return dot_general;
  if (op == "dot") return dot;
  return op == "convolution" ? convolution : nullptr;
}

}  // namespace trnsim::frontend
