#include "frontend/interpret/movement.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const Rows kRowsMovement = {
    {.name = "constant", .hlo = "constant", .group = kCreation, .operands = 0, .attributes = {literal("value")},
     .infer = rules::constant, .evaluate = evaluate::constant},
    {.name = "iota", .hlo = "iota", .group = kCreation, .operands = 0, .attributes = {integer("iota_dimension")},
     .infer = rules::iota, .evaluate = evaluate::iota},
    {.name = "broadcast_in_dim", .hlo = "broadcast", .group = kMovement, .operands = 1,
     .attributes = {ints("broadcast_dimensions")}, .infer = rules::broadcast_in_dim,
     .evaluate = evaluate::broadcast_in_dim},
    {.name = "broadcast", .group = kMovement, .operands = 1, .attributes = {ints("broadcast_sizes")},
     .infer = rules::broadcast, .evaluate = evaluate::broadcast},
    {.name = "reshape", .hlo = "reshape", .group = kMovement, .operands = 1, .infer = rules::reshape,
     .evaluate = evaluate::reshape},
    {.name = "copy", .hlo = "copy", .group = kMovement, .operands = 1, .infer = rules::operands,
     .evaluate = evaluate::pass},
    {.name = "slice", .hlo = "slice", .group = kMovement, .operands = 1, .attributes = {ints("start_indices"),
     ints("limit_indices"), optional(ints("strides"))}, .infer = rules::slice, .evaluate = evaluate::slice},
    {.name = "transpose", .hlo = "transpose", .group = kMovement, .operands = 1, .attributes = {ints("permutation")},
     .infer = rules::transpose, .evaluate = evaluate::transpose},
    {.name = "reverse", .hlo = "reverse", .group = kMovement, .operands = 1, .attributes = {ints("dimensions")},
     .infer = rules::reverse, .evaluate = evaluate::reverse},
    {.name = "concatenate", .hlo = "concatenate", .group = kMovement, .attributes = {integer("dimension")},
     .infer = rules::concatenate, .evaluate = evaluate::concatenate},
    {.name = "pad", .hlo = "pad", .group = kMovement, .operands = 2, .attributes = {ints("edge_padding_low"),
     ints("edge_padding_high"), optional(ints("interior_padding"))}, .infer = rules::pad, .evaluate = evaluate::pad},
    {.name = "dynamic_slice", .hlo = "dynamic-slice", .group = kIndexed, .attributes = {ints("slice_sizes")},
     .infer = rules::dynamic_slice, .evaluate = evaluate::dynamic_slice},
    {.name = "dynamic_update_slice", .hlo = "dynamic-update-slice", .group = kIndexed,
     .infer = rules::dynamic_update_slice, .evaluate = evaluate::dynamic_update_slice},
    {.name = "gather", .hlo = "gather", .group = kIndexed, .operands = 2, .attributes = {optional(ints("offset_dims")),
     optional(ints("collapsed_slice_dims")), optional(ints("operand_batching_dims")),
     optional(ints("start_indices_batching_dims")), optional(ints("start_index_map")),
     optional(integer("index_vector_dim")), ints("slice_sizes"), flag("indices_are_sorted")}, .infer = rules::gather,
     .evaluate = evaluate::gather},
    {.name = "scatter", .hlo = "scatter", .group = kIndexed, .regions = 1,
     .attributes = {optional(ints("update_window_dims")), optional(ints("inserted_window_dims")),
     optional(ints("input_batching_dims")), optional(ints("scatter_indices_batching_dims")),
     optional(ints("scatter_dims_to_operand_dims")), optional(integer("index_vector_dim")), flag("indices_are_sorted"),
     flag("unique_indices")}, .infer = rules::scatter, .evaluate = evaluate::scatter},
    {.name = "torch_index_select", .group = kIndexed, .operands = 2, .attributes = {integer("dim"),
     integer("batch_dims")}, .infer = rules::torch_index_select, .evaluate = evaluate::torch_index_select},
    {.name = "get_dimension_size", .hlo = "get-dimension-size", .group = kOther, .operands = 1,
     .attributes = {integer("dimension")}, .infer = rules::dimension_size, .evaluate = evaluate::dimension_size},
    {.name = "dynamic_broadcast_in_dim", .group = kMovement, .operands = 2,
     .attributes = {ints("broadcast_dimensions"), optional(ints("known_expanding_dimensions")),
     optional(ints("known_nonexpanding_dimensions"))}, .infer = rules::stated_shape,
     .evaluate = evaluate::dynamic_broadcast_in_dim},
    {.name = "dynamic_gather", .group = kIndexed, .operands = 3, .attributes = {optional(ints("offset_dims")),
     optional(ints("collapsed_slice_dims")), optional(ints("start_index_map")), optional(integer("index_vector_dim")),
     flag("indices_are_sorted")}, .infer = rules::stated_shape, .evaluate = evaluate::dynamic_gather},
    {.name = "dynamic_iota", .group = kCreation, .operands = 1, .attributes = {integer("iota_dimension")},
     .infer = rules::stated_shape, .evaluate = evaluate::dynamic_iota},
    {.name = "dynamic_pad", .group = kMovement, .operands = 5, .infer = rules::stated_shape,
     .evaluate = evaluate::dynamic_pad},
    {.name = "dynamic_reshape", .group = kMovement, .operands = 2, .infer = rules::stated_shape,
     .evaluate = evaluate::dynamic_reshape},
    {.name = "real_dynamic_slice", .group = kMovement, .operands = 4, .infer = rules::stated_shape,
     .evaluate = evaluate::real_dynamic_slice},
};
// clang-format on

}  // namespace

Rows movement() { return kRowsMovement; }

}  // namespace trnsim::frontend::table
