// Attributes of operators as structs, with the defaults for attributes that a program leaves out.
#pragma once

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// dot_general.
struct DotDims {
  Ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};
DotDims dot_dims(const Attributes& attributes);

/// chlo.broadcast_*: the dimensions of the result that those of an operand become: the last ones, or for an operand of
/// fewer dimensions those that `broadcast_dimensions` names, if it is there.
Ints broadcast_places(const Attributes& attributes, std::int64_t rank, std::int64_t to);

/// reduce_window, select_and_scatter, convolution: one entry for each dimension of the window.
struct WindowDims {
  Ints size, stride, low, high, base_dilation, window_dilation;
  std::vector<bool> reversed;  // convolution only
};
/// For reduce_window and select_and_scatter; `rank` of the operand.
WindowDims window_dims(const Attributes& attributes, std::int64_t rank);

struct ConvolutionDims {
  std::int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0,
               output_batch = 0, output_feature = 0, feature_groups = 1, batch_groups = 1;
  Ints input_spatial, kernel_spatial, output_spatial;
};
ConvolutionDims convolution_dims(const Attributes& attributes);
/// The window of a convolution; sizes are those of the kernel's spatial dimensions.
WindowDims convolution_window(const Attributes& attributes, const Type& kernel);

struct GatherDims {
  Ints offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map;
  std::int64_t index_vector_dim = 0;
  Ints slice_sizes;
};
GatherDims gather_dims(const Attributes& attributes);

struct ScatterDims {
  Ints update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
      scatter_dims_to_operand_dims;
  std::int64_t index_vector_dim = 0;
};
ScatterDims scatter_dims(const Attributes& attributes);

/// The size of a dimension under a window: dilated, padded, and how many windows fit.
std::int64_t dilated_size(std::int64_t size, std::int64_t dilation);
std::int64_t window_count(std::int64_t size, const WindowDims& window, std::size_t dim);

}  // namespace trnsim::frontend
