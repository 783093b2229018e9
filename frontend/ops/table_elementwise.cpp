// The operators that work element by element.
#include <array>

#include "frontend/interpret/elementwise.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const std::array kRowsElementwise = {
    Operator{.name = "abs", .hlo = "abs", .group = Group::kElementwise, .operands = 1, .infer = rules::absolute,
             .evaluate = evaluate::abs},
    Operator{.name = "cbrt", .hlo = "cbrt", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::cbrt},
    Operator{.name = "ceil", .hlo = "ceil", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::ceil},
    Operator{.name = "cosine", .hlo = "cosine", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::cosine},
    Operator{.name = "count_leading_zeros", .hlo = "count-leading-zeros", .group = Group::kElementwise, .operands = 1,
             .infer = rules::same<rules::kInt>, .evaluate = evaluate::count_leading_zeros},
    Operator{.name = "exponential", .hlo = "exponential", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::exponential},
    Operator{.name = "exponential_minus_one", .hlo = "exponential-minus-one", .group = Group::kElementwise, .operands
             = 1, .infer = rules::same<rules::kF | rules::kC>, .evaluate = evaluate::exponential_minus_one},
    Operator{.name = "floor", .hlo = "floor", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::floor},
    Operator{.name = "log", .hlo = "log", .group = Group::kElementwise, .operands = 1, .infer = rules::same<rules::kF
             | rules::kC>, .evaluate = evaluate::log},
    Operator{.name = "log_plus_one", .hlo = "log-plus-one", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::log_plus_one},
    Operator{.name = "logistic", .hlo = "logistic", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::logistic},
    Operator{.name = "negate", .hlo = "negate", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::negate},
    Operator{.name = "not", .hlo = "not", .group = Group::kElementwise, .operands = 1, .infer = rules::same<rules::kB
             | rules::kInt>, .evaluate = evaluate::bitwise_not},
    Operator{.name = "popcnt", .hlo = "popcnt", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kInt>, .evaluate = evaluate::popcnt},
    Operator{.name = "round_nearest_afz", .hlo = "round-nearest-afz", .group = Group::kElementwise, .operands = 1,
             .infer = rules::same<rules::kF>, .evaluate = evaluate::round_afz},
    Operator{.name = "round_nearest_even", .hlo = "round-nearest-even", .group = Group::kElementwise, .operands = 1,
             .infer = rules::same<rules::kF>, .evaluate = evaluate::round_even},
    Operator{.name = "rsqrt", .hlo = "rsqrt", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::rsqrt},
    Operator{.name = "sign", .hlo = "sign", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kS | rules::kF | rules::kC>, .evaluate = evaluate::sign},
    Operator{.name = "sine", .hlo = "sine", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::sine},
    Operator{.name = "sqrt", .hlo = "sqrt", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::sqrt},
    Operator{.name = "tan", .hlo = "tan", .group = Group::kElementwise, .operands = 1, .infer = rules::same<rules::kF
             | rules::kC>, .evaluate = evaluate::tan},
    Operator{.name = "tanh", .hlo = "tanh", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::tanh},
    Operator{.name = "erf", .hlo = "erf", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::erf},
    Operator{.name = "add", .hlo = "add", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kAny>, .evaluate = evaluate::add},
    Operator{.name = "and", .hlo = "and", .group = Group::kElementwise, .operands = 2, .infer = rules::same<rules::kB
             | rules::kInt>, .evaluate = evaluate::bitwise_and},
    Operator{.name = "atan2", .hlo = "atan2", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::atan2},
    Operator{.name = "divide", .hlo = "divide", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::divide},
    Operator{.name = "maximum", .hlo = "maximum", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kAny>, .evaluate = evaluate::maximum},
    Operator{.name = "minimum", .hlo = "minimum", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kAny>, .evaluate = evaluate::minimum},
    Operator{.name = "multiply", .hlo = "multiply", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kAny>, .evaluate = evaluate::multiply},
    Operator{.name = "or", .hlo = "or", .group = Group::kElementwise, .operands = 2, .infer = rules::same<rules::kB |
             rules::kInt>, .evaluate = evaluate::bitwise_or},
    Operator{.name = "power", .hlo = "power", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::power},
    Operator{.name = "remainder", .hlo = "remainder", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::remainder},
    Operator{.name = "shift_left", .hlo = "shift-left", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt>, .evaluate = evaluate::shift_left},
    Operator{.name = "shift_right_arithmetic", .hlo = "shift-right-arithmetic", .group = Group::kElementwise,
             .operands = 2, .infer = rules::same<rules::kInt>, .evaluate = evaluate::shift_right_arithmetic},
    Operator{.name = "shift_right_logical", .hlo = "shift-right-logical", .group = Group::kElementwise, .operands = 2,
             .infer = rules::same<rules::kInt>, .evaluate = evaluate::shift_right_logical},
    Operator{.name = "subtract", .hlo = "subtract", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::subtract},
    Operator{.name = "xor", .hlo = "xor", .group = Group::kElementwise, .operands = 2, .infer = rules::same<rules::kB
             | rules::kInt>, .evaluate = evaluate::bitwise_xor},
    Operator{.name = "compare", .hlo = "compare", .group = Group::kElementwise, .operands = 2, .attributes =
             {text("comparison_direction"), optional(text("compare_type"))}, .infer = rules::compare, .evaluate =
             evaluate::compare},
    Operator{.name = "select", .hlo = "select", .group = Group::kElementwise, .operands = 3, .infer = rules::select,
             .evaluate = evaluate::select},
    Operator{.name = "clamp", .hlo = "clamp", .group = Group::kElementwise, .operands = 3, .infer = rules::clamp,
             .evaluate = evaluate::clamp},
    Operator{.name = "complex", .hlo = "complex", .group = Group::kConversion, .operands = 2, .infer = rules::complex,
             .evaluate = evaluate::complex},
    Operator{.name = "real", .hlo = "real", .group = Group::kConversion, .operands = 1, .infer = rules::part,
             .evaluate = evaluate::real},
    Operator{.name = "imag", .hlo = "imag", .group = Group::kConversion, .operands = 1, .infer = rules::part,
             .evaluate = evaluate::imag},
    Operator{.name = "is_finite", .hlo = "is-finite", .group = Group::kElementwise, .operands = 1, .infer =
             rules::predicate, .evaluate = evaluate::is_finite},
    Operator{.name = "reduce_precision", .hlo = "reduce-precision", .group = Group::kConversion, .operands = 1,
             .attributes = {integer("exponent_bits"), integer("mantissa_bits")}, .infer = rules::reduce_precision,
             .evaluate = evaluate::reduce_precision},
    Operator{.name = "convert", .hlo = "convert", .group = Group::kConversion, .operands = 1, .infer = rules::convert,
             .evaluate = evaluate::convert},
    Operator{.name = "bitcast_convert", .hlo = "bitcast-convert", .group = Group::kConversion, .operands = 1, .infer =
             rules::bitcast_convert, .evaluate = evaluate::bitcast_convert},
};
// clang-format on

}  // namespace

Rows elementwise() { return {kRowsElementwise.begin(), kRowsElementwise.end()}; }

}  // namespace trnsim::frontend::table
