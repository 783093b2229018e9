#include <array>

#include "frontend/interpret/reduction.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const std::array kRowsReductions = {
    Operator{.name = "reduce", .hlo = "reduce", .group = Group::kReduction, .operands = -1, .regions = 1, .attributes
             = {ints("dimensions")}, .infer = rules::reduce, .evaluate = evaluate::reduce},
    Operator{.name = "reduce_window", .hlo = "reduce-window", .group = Group::kReduction, .operands = -1, .regions =
             1, .attributes = {ints("window_dimensions"), optional(ints("window_strides")),
             optional(ints("base_dilations")), optional(ints("window_dilations")), optional(table("padding"))}, .infer
             = rules::reduce_window, .evaluate = evaluate::reduce_window},
    Operator{.name = "select_and_scatter", .hlo = "select-and-scatter", .group = Group::kReduction, .operands = 3,
             .regions = 2, .attributes = {optional(ints("window_dimensions")), optional(ints("window_strides")),
             optional(table("padding"))}, .infer = rules::select_and_scatter, .evaluate =
             evaluate::select_and_scatter},
    Operator{.name = "sort", .hlo = "sort", .group = Group::kReduction, .operands = -1, .regions = 1, .attributes =
             {optional(integer("dimension")), flag("is_stable")}, .infer = rules::sort, .evaluate = evaluate::sort},
    Operator{.name = "map", .hlo = "map", .group = Group::kReduction, .operands = -1, .regions = 1, .attributes =
             {optional(ints("dimensions"))}, .infer = rules::map, .evaluate = evaluate::map},
    Operator{.name = "batch_norm_training", .hlo = "batch-norm-training", .group = Group::kReduction, .operands = 3,
             .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_training, .evaluate
             = evaluate::batch_norm_training},
    Operator{.name = "batch_norm_inference", .hlo = "batch-norm-inference", .group = Group::kReduction, .operands = 5,
             .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_inference,
             .evaluate = evaluate::batch_norm_inference},
    Operator{.name = "batch_norm_grad", .hlo = "batch-norm-grad", .group = Group::kReduction, .operands = 5,
             .attributes = {real("epsilon"), integer("feature_index")}, .infer = rules::batch_norm_grad, .evaluate =
             evaluate::batch_norm_grad},
};
// clang-format on

}  // namespace

Rows reductions() { return {kRowsReductions.begin(), kRowsReductions.end()}; }

}  // namespace trnsim::frontend::table
