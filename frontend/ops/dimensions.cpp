#include "frontend/ops/dimensions.h"

namespace trnsim::frontend {
namespace {

Ints ones(std::size_t count) { return Ints(count, 1); }

/// A list of `count` entries of an attribute; one entry stands for all.
Ints each(const Attributes& a, std::string_view name, std::size_t count, std::int64_t otherwise) {
  return a.ints(name, Ints(count, otherwise));
}

void read_padding(const Attributes& a, std::size_t count, WindowDims& out) {
  const IntTable padding = a.table("padding");
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = static_cast<std::int64_t>(i) < padding.rows() && padding.columns == 2;
    out.low.push_back(there ? padding.at(static_cast<std::int64_t>(i), 0) : 0);
    out.high.push_back(there ? padding.at(static_cast<std::int64_t>(i), 1) : 0);
  }
}

}  // namespace

DotDims dot_dims(const Attributes& a) {
  return {a.ints("lhs_batching_dimensions"), a.ints("rhs_batching_dimensions"), a.ints("lhs_contracting_dimensions"),
          a.ints("rhs_contracting_dimensions")};
}

Ints broadcast_places(const Attributes& a, std::int64_t rank, std::int64_t to) {
  Ints last;
  for (std::int64_t d = to - rank; d < to; ++d) last.push_back(d);
  return rank < to ? a.ints("broadcast_dimensions", std::move(last)) : last;
}

WindowDims window_dims(const Attributes& a, std::int64_t rank) {
  const auto count = static_cast<std::size_t>(rank);
  WindowDims out;
  out.size = each(a, "window_dimensions", count, 1);
  out.stride = each(a, "window_strides", count, 1);
  out.base_dilation = each(a, "base_dilations", count, 1);
  out.window_dilation = each(a, "window_dilations", count, 1);
  out.reversed.resize(count);
  read_padding(a, count, out);
  return out;
}

ConvolutionDims convolution_dims(const Attributes& a) {
  ConvolutionDims d;
  d.input_batch = a.integer("input_batch_dimension");
  d.input_feature = a.integer("input_feature_dimension");
  d.kernel_input_feature = a.integer("kernel_input_feature_dimension");
  d.kernel_output_feature = a.integer("kernel_output_feature_dimension");
  d.output_batch = a.integer("output_batch_dimension");
  d.output_feature = a.integer("output_feature_dimension");
  d.feature_groups = a.integer("feature_group_count", 1);
  d.batch_groups = a.integer("batch_group_count", 1);
  d.input_spatial = a.ints("input_spatial_dimensions");
  d.kernel_spatial = a.ints("kernel_spatial_dimensions");
  d.output_spatial = a.ints("output_spatial_dimensions");
  return d;
}

WindowDims convolution_window(const Attributes& a, const Type& kernel) {
  const ConvolutionDims dims = convolution_dims(a);
  const std::size_t count = dims.kernel_spatial.size();
  WindowDims out;
  for (const std::int64_t d : dims.kernel_spatial) out.size.push_back(kernel.dims[static_cast<std::size_t>(d)]);
  out.stride = a.ints("window_strides", ones(count));
  out.base_dilation = a.ints("lhs_dilation", ones(count));
  out.window_dilation = a.ints("rhs_dilation", ones(count));
  const Ints reversed = a.ints("window_reversal", Ints(count, 0));
  for (std::size_t i = 0; i < count; ++i) out.reversed.push_back(i < reversed.size() && reversed[i] != 0);
  read_padding(a, count, out);
  return out;
}

GatherDims gather_dims(const Attributes& a) {
  return {a.ints("offset_dims"),
          a.ints("collapsed_slice_dims"),
          a.ints("operand_batching_dims"),
          a.ints("start_indices_batching_dims"),
          a.ints("start_index_map"),
          a.integer("index_vector_dim"),
          a.ints("slice_sizes")};
}

ScatterDims scatter_dims(const Attributes& a) {
  return {a.ints("update_window_dims"),           a.ints("inserted_window_dims"),
          a.ints("input_batching_dims"),          a.ints("scatter_indices_batching_dims"),
          a.ints("scatter_dims_to_operand_dims"), a.integer("index_vector_dim")};
}

std::int64_t dilated_size(std::int64_t size, std::int64_t dilation) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  std::int64_t grown = 0;
  if (size == 0) return 0;
  return __builtin_mul_overflow(size - 1, dilation, &grown) || grown > kFar ? kFar : grown + 1;
}

std::int64_t window_count(std::int64_t size, const WindowDims& w, std::size_t dim) {
  const std::int64_t padded = w.low[dim] + dilated_size(size, w.base_dilation[dim]) + w.high[dim];
  const std::int64_t window = dilated_size(w.size[dim], w.window_dilation[dim]);
  return padded <= 0 || window > padded ? 0 : (padded - window) / w.stride[dim] + 1;
}

}  // namespace trnsim::frontend
