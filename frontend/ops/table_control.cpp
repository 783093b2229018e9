#include "frontend/interpret/control.h"
#include "frontend/interpret/movement.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const Rows kRowsControl = {
    {.name = "while", .hlo = "while", .group = kControl, .regions = 2, .infer = rules::loop,
     .evaluate = evaluate::loop},
    {.name = "if", .group = kControl, .operands = 1, .regions = 2, .infer = rules::branches,
     .evaluate = evaluate::branch},
    {.name = "case", .hlo = "conditional", .group = kControl, .regions = -1, .infer = rules::branches,
     .evaluate = evaluate::branch},
    {.name = "call", .hlo = "call", .group = kControl, .regions = 1, .infer = rules::call,
     .evaluate = evaluate::call},
    {.name = "composite", .group = kControl, .regions = 1, .attributes = {text("name"),
     optional(text("composite_attributes")), optional(integer("version"))}, .infer = rules::call,
     .evaluate = evaluate::call},
    {.name = "custom_call", .hlo = "custom-call", .group = kOther, .regions = -1,
     .attributes = {text("call_target_name"), flag("has_side_effect"), optional(text("backend_config"))},
     .infer = rules::stated, .evaluate = evaluate::custom_call},
    {.name = "async_start", .hlo = "async-start", .group = kControl, .regions = 1, .infer = rules::async_start,
     .evaluate = evaluate::async_start},
    {.name = "async_done", .hlo = "async-done", .group = kControl, .operands = 1, .infer = rules::async_done,
     .evaluate = evaluate::async_done},
    {.name = "tuple", .hlo = "tuple", .group = kTuple, .infer = rules::tuple, .evaluate = evaluate::tuple},
    {.name = "get_tuple_element", .hlo = "get-tuple-element", .group = kTuple, .operands = 1,
     .attributes = {integer("index")}, .infer = rules::get_tuple_element, .evaluate = evaluate::get_tuple_element},
    {.name = "optimization_barrier", .hlo = "opt-barrier", .group = kTuple, .infer = rules::operands,
     .evaluate = evaluate::pass},
    {.name = "after_all", .hlo = "after-all", .group = kTuple, .infer = rules::token, .evaluate = evaluate::token},
    {.name = "create_token", .group = kTuple, .operands = 0, .infer = rules::token, .evaluate = evaluate::token},
    {.name = "rng", .hlo = "rng", .group = kRandom, .attributes = {text("rng_distribution")}, .infer = rules::rng,
     .evaluate = evaluate::rng},
    {.name = "rng_bit_generator", .hlo = "rng-bit-generator", .group = kRandom, .operands = 1,
     .attributes = {text("rng_algorithm")}, .infer = rules::rng_bit_generator,
     .evaluate = evaluate::rng_bit_generator},
    {.name = "infeed", .hlo = "infeed", .group = kTransfer, .operands = 1,
     .attributes = {optional(text("infeed_config"))}, .infer = rules::stated, .evaluate = evaluate::infeed,
     .code = "EVRF001"},
    {.name = "outfeed", .hlo = "outfeed", .group = kTransfer, .attributes = {optional(text("outfeed_config"))},
     .infer = rules::stated, .evaluate = evaluate::outfeed, .code = "EVRF001"},
    {.name = "send", .hlo = "send", .group = kTransfer, .attributes = {optional(integer("channel_id")),
     flag("is_host_transfer")}, .infer = rules::stated, .evaluate = evaluate::send},
    {.name = "recv", .hlo = "recv", .group = kTransfer, .operands = 1, .attributes = {optional(integer("channel_id")),
     flag("is_host_transfer")}, .infer = rules::stated, .evaluate = evaluate::receive},
    {.name = "uniform_quantize", .group = kConversion, .operands = 1, .infer = rules::stated,
     .refusal = "the compiler does not accept quantized types"},
    {.name = "uniform_dequantize", .group = kConversion, .operands = 1, .infer = rules::stated,
     .refusal = "the compiler does not accept quantized types"},
    {.name = "check.expect_eq", .group = kOther, .operands = 2, .infer = rules::stated,
     .evaluate = evaluate::expect_equal},
    {.name = "check.expect_almost_eq", .group = kOther, .operands = 2, .attributes = {optional(real("tolerance"))},
     .infer = rules::stated, .evaluate = evaluate::expect_almost_equal},
    {.name = "check.expect_close", .group = kOther, .operands = 2,
     .attributes = {optional(integer("max_ulp_difference")), optional(integer("min_ulp_difference"))},
     .infer = rules::stated, .evaluate = evaluate::expect_close},
    {.name = "check.expect_eq_const", .group = kOther, .operands = 1, .attributes = {literal("value")},
     .infer = rules::stated, .evaluate = evaluate::expect_equal_constant},
    {.name = "check.expect_almost_eq_const", .group = kOther, .operands = 1, .attributes = {literal("value"),
     optional(real("tolerance"))}, .infer = rules::stated, .evaluate = evaluate::expect_almost_equal_constant},
    {.name = "interpreter.probe", .group = kOther, .operands = 1, .infer = rules::operands,
     .evaluate = evaluate::pass},
    {.name = "interpreter.print", .group = kOther, .operands = 1, .infer = rules::stated,
     .evaluate = evaluate::ignore},
    {.name = "interpreter.run_parallel", .group = kOther, .attributes = {text("programs"), optional(text("infeed"))},
     .infer = rules::stated, .evaluate = evaluate::run_parallel},
};
// clang-format on

}  // namespace

Rows control() { return kRowsControl; }

}  // namespace trnsim::frontend::table
