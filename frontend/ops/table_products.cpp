#include "frontend/interpret/product.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

std::vector<AttributeRule> convolution_rules() {
  return {integer("input_batch_dimension"),
          integer("input_feature_dimension"),
          integer("kernel_input_feature_dimension"),
          integer("kernel_output_feature_dimension"),
          integer("output_batch_dimension"),
          integer("output_feature_dimension"),
          ints("input_spatial_dimensions"),
          ints("kernel_spatial_dimensions"),
          ints("output_spatial_dimensions"),
          optional(ints("window_strides")),
          optional(table("padding")),
          optional(ints("lhs_dilation")),
          optional(ints("rhs_dilation")),
          optional(ints("window_reversal")),
          integer("feature_group_count"),
          integer("batch_group_count")};
}

// clang-format off
const Rows kRowsProducts = {
    {.name = "dot_general", .hlo = "dot", .group = kProduct, .operands = 2,
     .attributes = {optional(ints("lhs_batching_dimensions")), optional(ints("rhs_batching_dimensions")),
     optional(ints("lhs_contracting_dimensions")), optional(ints("rhs_contracting_dimensions"))},
     .infer = rules::dot_general, .evaluate = evaluate::dot_general, .product_flops = rules::dot_general_flops},
    {.name = "dot", .group = kProduct, .operands = 2, .infer = rules::dot, .evaluate = evaluate::dot,
     .product_flops = rules::dot_flops},
    {.name = "einsum", .group = kProduct, .operands = 2, .attributes = {text("einsum_config")}, .infer = rules::einsum,
     .evaluate = evaluate::einsum},
    {.name = "unary_einsum", .group = kProduct, .operands = 1, .attributes = {text("einsum_config")},
     .infer = rules::einsum, .evaluate = evaluate::einsum},
    {.name = "convolution", .hlo = "convolution", .group = kProduct, .operands = 2, .attributes = convolution_rules(),
     .infer = rules::convolution, .evaluate = evaluate::convolution, .product_flops = rules::convolution_flops},
    {.name = "dynamic_conv", .group = kProduct, .operands = 3, .attributes = convolution_rules(),
     .infer = rules::stated_shape, .evaluate = evaluate::dynamic_convolution},
    {.name = "fft", .hlo = "fft", .group = kProduct, .operands = 1, .attributes = {text("fft_type"),
     ints("fft_length")}, .infer = rules::fft, .evaluate = evaluate::fft, .code = "EVRF001"},
    {.name = "cholesky", .hlo = "cholesky", .group = kProduct, .operands = 1, .attributes = {flag("lower")},
     .infer = rules::cholesky, .evaluate = evaluate::cholesky, .code = "EVRF001"},
    {.name = "triangular_solve", .hlo = "triangular-solve", .group = kProduct, .operands = 2,
     .attributes = {flag("left_side"), flag("lower"), flag("unit_diagonal"), optional(text("transpose_a"))},
     .infer = rules::triangular_solve, .evaluate = evaluate::triangular_solve, .code = "EVRF001"},
};
// clang-format on

}  // namespace

Rows products() { return kRowsProducts; }

}  // namespace trnsim::frontend::table
