#include <array>

#include "frontend/interpret/movement.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const std::array kRowsMovement = {
    Operator{.name = "constant", .hlo = "constant", .group = Group::kCreation, .operands = 0, .attributes =
             {literal("value")}, .infer = rules::constant, .evaluate = evaluate::constant},
    Operator{.name = "iota", .hlo = "iota", .group = Group::kCreation, .operands = 0, .attributes =
             {integer("iota_dimension")}, .infer = rules::iota, .evaluate = evaluate::iota},
    Operator{.name = "broadcast_in_dim", .hlo = "broadcast", .group = Group::kMovement, .operands = 1, .attributes =
             {ints("broadcast_dimensions")}, .infer = rules::broadcast_in_dim, .evaluate =
             evaluate::broadcast_in_dim},
    Operator{.name = "broadcast", .hlo = "", .group = Group::kMovement, .operands = 1, .attributes =
             {ints("broadcast_sizes")}, .infer = rules::broadcast, .evaluate = evaluate::broadcast},
    Operator{.name = "reshape", .hlo = "reshape", .group = Group::kMovement, .operands = 1, .infer = rules::reshape,
             .evaluate = evaluate::reshape},
    Operator{.name = "copy", .hlo = "copy", .group = Group::kMovement, .operands = 1, .infer = rules::operands,
             .evaluate = evaluate::pass},
    Operator{.name = "slice", .hlo = "slice", .group = Group::kMovement, .operands = 1, .attributes =
             {ints("start_indices"), ints("limit_indices"), optional(ints("strides"))}, .infer = rules::slice,
             .evaluate = evaluate::slice},
    Operator{.name = "transpose", .hlo = "transpose", .group = Group::kMovement, .operands = 1, .attributes =
             {ints("permutation")}, .infer = rules::transpose, .evaluate = evaluate::transpose},
    Operator{.name = "reverse", .hlo = "reverse", .group = Group::kMovement, .operands = 1, .attributes =
             {ints("dimensions")}, .infer = rules::reverse, .evaluate = evaluate::reverse},
    Operator{.name = "concatenate", .hlo = "concatenate", .group = Group::kMovement, .operands = -1, .attributes =
             {integer("dimension")}, .infer = rules::concatenate, .evaluate = evaluate::concatenate},
    Operator{.name = "pad", .hlo = "pad", .group = Group::kMovement, .operands = 2, .attributes =
             {ints("edge_padding_low"), ints("edge_padding_high"), optional(ints("interior_padding"))}, .infer =
             rules::pad, .evaluate = evaluate::pad},
    Operator{.name = "dynamic_slice", .hlo = "dynamic-slice", .group = Group::kIndexed, .operands = -1, .attributes =
             {ints("slice_sizes")}, .infer = rules::dynamic_slice, .evaluate = evaluate::dynamic_slice},
    Operator{.name = "dynamic_update_slice", .hlo = "dynamic-update-slice", .group = Group::kIndexed, .operands = -1,
             .infer = rules::dynamic_update_slice, .evaluate = evaluate::dynamic_update_slice},
    Operator{.name = "gather", .hlo = "gather", .group = Group::kIndexed, .operands = 2, .attributes =
             {optional(ints("offset_dims")), optional(ints("collapsed_slice_dims")),
             optional(ints("operand_batching_dims")), optional(ints("start_indices_batching_dims")),
             optional(ints("start_index_map")), optional(integer("index_vector_dim")), ints("slice_sizes"),
             flag("indices_are_sorted")}, .infer = rules::gather, .evaluate = evaluate::gather},
    Operator{.name = "scatter", .hlo = "scatter", .group = Group::kIndexed, .operands = -1, .regions = 1, .attributes
             = {optional(ints("update_window_dims")), optional(ints("inserted_window_dims")),
             optional(ints("input_batching_dims")), optional(ints("scatter_indices_batching_dims")),
             optional(ints("scatter_dims_to_operand_dims")), optional(integer("index_vector_dim")),
             flag("indices_are_sorted"), flag("unique_indices")}, .infer = rules::scatter, .evaluate =
             evaluate::scatter},
    Operator{.name = "torch_index_select", .hlo = "", .group = Group::kIndexed, .operands = 2, .attributes =
             {integer("dim"), integer("batch_dims")}, .infer = rules::torch_index_select, .evaluate =
             evaluate::torch_index_select},
    Operator{.name = "get_dimension_size", .hlo = "get-dimension-size", .group = Group::kOther, .operands = 1,
             .attributes = {integer("dimension")}, .infer = rules::dimension_size, .evaluate =
             evaluate::dimension_size},
    Operator{.name = "dynamic_broadcast_in_dim", .hlo = "", .group = Group::kMovement, .operands = 2, .attributes =
             {ints("broadcast_dimensions"), optional(ints("known_expanding_dimensions")),
             optional(ints("known_nonexpanding_dimensions"))}, .infer = rules::stated_shape, .evaluate =
             evaluate::dynamic_broadcast_in_dim},
    Operator{.name = "dynamic_gather", .hlo = "", .group = Group::kIndexed, .operands = 3, .attributes =
             {optional(ints("offset_dims")), optional(ints("collapsed_slice_dims")),
             optional(ints("start_index_map")), optional(integer("index_vector_dim")), flag("indices_are_sorted")},
             .infer = rules::stated_shape, .evaluate = evaluate::dynamic_gather},
    Operator{.name = "dynamic_iota", .hlo = "", .group = Group::kCreation, .operands = 1, .attributes =
             {integer("iota_dimension")}, .infer = rules::stated_shape, .evaluate = evaluate::dynamic_iota},
    Operator{.name = "dynamic_pad", .hlo = "", .group = Group::kMovement, .operands = 5, .infer = rules::stated_shape,
             .evaluate = evaluate::dynamic_pad},
    Operator{.name = "dynamic_reshape", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::stated_shape, .evaluate = evaluate::dynamic_reshape},
    Operator{.name = "real_dynamic_slice", .hlo = "", .group = Group::kMovement, .operands = 4, .infer =
             rules::stated_shape, .evaluate = evaluate::real_dynamic_slice},
};
// clang-format on

}  // namespace

Rows movement() { return {kRowsMovement.begin(), kRowsMovement.end()}; }

}  // namespace trnsim::frontend::table
