#include <array>

#include "frontend/interpret/control.h"
#include "frontend/interpret/movement.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const std::array kRowsControl = {
    Operator{.name = "while", .hlo = "while", .group = Group::kControl, .operands = -1, .regions = 2, .infer =
             rules::loop, .evaluate = evaluate::loop},
    Operator{.name = "if", .hlo = "", .group = Group::kControl, .operands = 1, .regions = 2, .infer = rules::branches,
             .evaluate = evaluate::branch},
    Operator{.name = "case", .hlo = "conditional", .group = Group::kControl, .operands = -1, .regions = -1, .infer =
             rules::branches, .evaluate = evaluate::branch},
    Operator{.name = "call", .hlo = "call", .group = Group::kControl, .operands = -1, .regions = 1, .infer =
             rules::call, .evaluate = evaluate::call},
    Operator{.name = "composite", .hlo = "", .group = Group::kControl, .operands = -1, .regions = 1, .attributes =
             {text("name"), optional(text("composite_attributes")), optional(integer("version"))}, .infer =
             rules::call, .evaluate = evaluate::call},
    Operator{.name = "custom_call", .hlo = "custom-call", .group = Group::kOther, .operands = -1, .regions = -1,
             .attributes = {text("call_target_name"), flag("has_side_effect"), optional(text("backend_config"))},
             .infer = rules::stated, .evaluate = evaluate::custom_call},
    Operator{.name = "async_start", .hlo = "async-start", .group = Group::kControl, .operands = -1, .regions = 1,
             .infer = rules::async_start, .evaluate = evaluate::async_start},
    Operator{.name = "async_done", .hlo = "async-done", .group = Group::kControl, .operands = 1, .infer =
             rules::async_done, .evaluate = evaluate::async_done},
    Operator{.name = "tuple", .hlo = "tuple", .group = Group::kTuple, .operands = -1, .infer = rules::tuple, .evaluate
             = evaluate::tuple},
    Operator{.name = "get_tuple_element", .hlo = "get-tuple-element", .group = Group::kTuple, .operands = 1,
             .attributes = {integer("index")}, .infer = rules::get_tuple_element, .evaluate =
             evaluate::get_tuple_element},
    Operator{.name = "optimization_barrier", .hlo = "opt-barrier", .group = Group::kTuple, .operands = -1, .infer =
             rules::operands, .evaluate = evaluate::pass},
    Operator{.name = "after_all", .hlo = "after-all", .group = Group::kTuple, .operands = -1, .infer = rules::token,
             .evaluate = evaluate::token},
    Operator{.name = "create_token", .hlo = "", .group = Group::kTuple, .operands = 0, .infer = rules::token,
             .evaluate = evaluate::token},
    Operator{.name = "rng", .hlo = "rng", .group = Group::kRandom, .operands = -1, .attributes =
             {text("rng_distribution")}, .infer = rules::rng, .evaluate = evaluate::rng},
    Operator{.name = "rng_bit_generator", .hlo = "rng-bit-generator", .group = Group::kRandom, .operands = 1,
             .attributes = {text("rng_algorithm")}, .infer = rules::rng_bit_generator, .evaluate =
             evaluate::rng_bit_generator},
    Operator{.name = "infeed", .hlo = "infeed", .group = Group::kTransfer, .operands = 1, .attributes =
             {optional(text("infeed_config"))}, .infer = rules::stated, .evaluate = evaluate::infeed,
             .code = "EVRF001"},
    Operator{.name = "outfeed", .hlo = "outfeed", .group = Group::kTransfer, .operands = -1, .attributes =
             {optional(text("outfeed_config"))}, .infer = rules::stated, .evaluate = evaluate::outfeed,
             .code = "EVRF001"},
    Operator{.name = "send", .hlo = "send", .group = Group::kTransfer, .operands = -1, .attributes =
             {optional(integer("channel_id")), flag("is_host_transfer")}, .infer = rules::stated, .evaluate =
             evaluate::send},
    Operator{.name = "recv", .hlo = "recv", .group = Group::kTransfer, .operands = 1, .attributes =
             {optional(integer("channel_id")), flag("is_host_transfer")}, .infer = rules::stated, .evaluate =
             evaluate::receive},
    Operator{.name = "uniform_quantize", .hlo = "", .group = Group::kConversion, .operands = 1, .infer =
             rules::stated, .refusal = "the compiler does not accept quantized types"},
    Operator{.name = "uniform_dequantize", .hlo = "", .group = Group::kConversion, .operands = 1, .infer =
             rules::stated, .refusal = "the compiler does not accept quantized types"},
    Operator{.name = "check.expect_eq", .hlo = "", .group = Group::kOther, .operands = 2, .infer = rules::stated,
             .evaluate = evaluate::expect_equal},
    Operator{.name = "check.expect_almost_eq", .hlo = "", .group = Group::kOther, .operands = 2, .attributes =
             {optional(real("tolerance"))}, .infer = rules::stated, .evaluate = evaluate::expect_almost_equal},
    Operator{.name = "check.expect_close", .hlo = "", .group = Group::kOther, .operands = 2, .attributes =
             {optional(integer("max_ulp_difference")), optional(integer("min_ulp_difference"))}, .infer =
             rules::stated, .evaluate = evaluate::expect_close},
    Operator{.name = "check.expect_eq_const", .hlo = "", .group = Group::kOther, .operands = 1, .attributes =
             {literal("value")}, .infer = rules::stated, .evaluate = evaluate::expect_equal_constant},
    Operator{.name = "check.expect_almost_eq_const", .hlo = "", .group = Group::kOther, .operands = 1, .attributes =
             {literal("value"), optional(real("tolerance"))}, .infer = rules::stated, .evaluate =
             evaluate::expect_almost_equal_constant},
    Operator{.name = "interpreter.probe", .group = Group::kOther, .operands = 1, .infer = rules::operands,
             .evaluate = evaluate::pass},
    Operator{.name = "interpreter.print", .group = Group::kOther, .operands = 1, .infer = rules::stated,
             .evaluate = evaluate::ignore},
    Operator{.name = "interpreter.run_parallel", .hlo = "", .group = Group::kOther, .operands = -1, .attributes =
             {text("programs"), optional(text("infeed"))}, .infer = rules::stated, .evaluate =
             evaluate::run_parallel},
};
// clang-format on

}  // namespace

Rows control() { return {kRowsControl.begin(), kRowsControl.end()}; }

}  // namespace trnsim::frontend::table
