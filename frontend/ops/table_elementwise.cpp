// The operators that work element by element.
#include "frontend/interpret/elementwise.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

using namespace rules;

// clang-format off
const Rows kRowsElementwise = {
    per_element("abs", "abs", 1, absolute, evaluate::abs),
    per_element("cbrt", "cbrt", 1, same<kF | kC>, evaluate::cbrt),
    per_element("ceil", "ceil", 1, same<kF>, evaluate::ceil),
    per_element("cosine", "cosine", 1, same<kF | kC>, evaluate::cosine),
    per_element("count_leading_zeros", "count-leading-zeros", 1, same<kInt>, evaluate::count_leading_zeros),
    per_element("exponential", "exponential", 1, same<kF | kC>, evaluate::exponential),
    per_element("exponential_minus_one", "exponential-minus-one", 1, same<kF | kC>, evaluate::exponential_minus_one),
    per_element("floor", "floor", 1, same<kF>, evaluate::floor),
    per_element("log", "log", 1, same<kF | kC>, evaluate::log),
    per_element("log_plus_one", "log-plus-one", 1, same<kF | kC>, evaluate::log_plus_one),
    per_element("logistic", "logistic", 1, same<kF | kC>, evaluate::logistic),
    per_element("negate", "negate", 1, same<kInt | kF | kC>, evaluate::negate),
    per_element("not", "not", 1, same<kB | kInt>, evaluate::bitwise_not),
    per_element("popcnt", "popcnt", 1, same<kInt>, evaluate::popcnt),
    per_element("round_nearest_afz", "round-nearest-afz", 1, same<kF>, evaluate::round_afz),
    per_element("round_nearest_even", "round-nearest-even", 1, same<kF>, evaluate::round_even),
    per_element("rsqrt", "rsqrt", 1, same<kF | kC>, evaluate::rsqrt),
    per_element("sign", "sign", 1, same<kS | kF | kC>, evaluate::sign),
    per_element("sine", "sine", 1, same<kF | kC>, evaluate::sine),
    per_element("sqrt", "sqrt", 1, same<kF | kC>, evaluate::sqrt),
    per_element("tan", "tan", 1, same<kF | kC>, evaluate::tan),
    per_element("tanh", "tanh", 1, same<kF | kC>, evaluate::tanh),
    per_element("erf", "erf", 1, same<kF>, evaluate::erf),
    per_element("add", "add", 2, same<kAny>, evaluate::add),
    per_element("and", "and", 2, same<kB | kInt>, evaluate::bitwise_and),
    per_element("atan2", "atan2", 2, same<kF | kC>, evaluate::atan2),
    per_element("divide", "divide", 2, same<kInt | kF | kC>, evaluate::divide),
    per_element("maximum", "maximum", 2, same<kAny>, evaluate::maximum),
    per_element("minimum", "minimum", 2, same<kAny>, evaluate::minimum),
    per_element("multiply", "multiply", 2, same<kAny>, evaluate::multiply),
    per_element("or", "or", 2, same<kB | kInt>, evaluate::bitwise_or),
    per_element("power", "power", 2, same<kInt | kF | kC>, evaluate::power),
    per_element("remainder", "remainder", 2, same<kInt | kF | kC>, evaluate::remainder),
    per_element("shift_left", "shift-left", 2, same<kInt>, evaluate::shift_left),
    per_element("shift_right_arithmetic", "shift-right-arithmetic", 2, same<kInt>, evaluate::shift_right_arithmetic),
    per_element("shift_right_logical", "shift-right-logical", 2, same<kInt>, evaluate::shift_right_logical),
    per_element("subtract", "subtract", 2, same<kInt | kF | kC>, evaluate::subtract),
    per_element("xor", "xor", 2, same<kB | kInt>, evaluate::bitwise_xor),
    {.name = "compare", .hlo = "compare", .operands = 2, .attributes = {text("comparison_direction"),
     optional(text("compare_type"))}, .infer = compare, .evaluate = evaluate::compare},
    per_element("select", "select", 3, select, evaluate::select),
    per_element("clamp", "clamp", 3, clamp, evaluate::clamp),
    {.name = "complex", .hlo = "complex", .group = kConversion, .operands = 2, .infer = complex,
     .evaluate = evaluate::complex},
    {.name = "real", .hlo = "real", .group = kConversion, .operands = 1, .infer = part,
     .evaluate = evaluate::real},
    {.name = "imag", .hlo = "imag", .group = kConversion, .operands = 1, .infer = part,
     .evaluate = evaluate::imag},
    per_element("is_finite", "is-finite", 1, predicate, evaluate::is_finite),
    {.name = "reduce_precision", .hlo = "reduce-precision", .group = kConversion, .operands = 1,
     .attributes = {integer("exponent_bits"), integer("mantissa_bits")}, .infer = reduce_precision,
     .evaluate = evaluate::reduce_precision},
    {.name = "convert", .hlo = "convert", .group = kConversion, .operands = 1, .infer = convert,
     .evaluate = evaluate::convert},
    {.name = "bitcast_convert", .hlo = "bitcast-convert", .group = kConversion, .operands = 1,
     .infer = bitcast_convert, .evaluate = evaluate::bitcast_convert},
};
// clang-format on

}  // namespace

Rows elementwise() { return kRowsElementwise; }

}  // namespace trnsim::frontend::table
