#include "frontend/interpret/reduction.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const Rows kRowsReductions = {
    {.name = "reduce", .hlo = "reduce", .group = kReduction, .regions = 1, .attributes = {ints("dimensions")},
     .infer = rules::reduce, .evaluate = evaluate::reduce},
    {.name = "reduce_window", .hlo = "reduce-window", .group = kReduction, .regions = 1,
     .attributes = {ints("window_dimensions"), optional(ints("window_strides")), optional(ints("base_dilations")),
     optional(ints("window_dilations")), optional(table("padding"))}, .infer = rules::reduce_window,
     .evaluate = evaluate::reduce_window},
    {.name = "select_and_scatter", .hlo = "select-and-scatter", .group = kReduction, .operands = 3, .regions = 2,
     .attributes = {optional(ints("window_dimensions")), optional(ints("window_strides")), optional(table("padding"))},
     .infer = rules::select_and_scatter, .evaluate = evaluate::select_and_scatter},
    {.name = "sort", .hlo = "sort", .group = kReduction, .regions = 1, .attributes = {optional(integer("dimension")),
     flag("is_stable")}, .infer = rules::sort, .evaluate = evaluate::sort},
    {.name = "map", .hlo = "map", .group = kReduction, .regions = 1, .attributes = {optional(ints("dimensions"))},
     .infer = rules::map, .evaluate = evaluate::map},
    {.name = "batch_norm_training", .hlo = "batch-norm-training", .group = kReduction, .operands = 3,
     .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_training,
     .evaluate = evaluate::batch_norm_training},
    {.name = "batch_norm_inference", .hlo = "batch-norm-inference", .group = kReduction, .operands = 5,
     .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_inference,
     .evaluate = evaluate::batch_norm_inference},
    {.name = "batch_norm_grad", .hlo = "batch-norm-grad", .group = kReduction, .operands = 5,
     .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_grad,
     .evaluate = evaluate::batch_norm_grad},
};
// clang-format on

}  // namespace

Rows reductions() { return kRowsReductions; }

}  // namespace trnsim::frontend::table
