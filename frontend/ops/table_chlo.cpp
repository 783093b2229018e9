#include <array>

#include "frontend/interpret/elementwise.h"
#include "frontend/interpret/movement.h"
#include "frontend/interpret/reduction.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const std::array kRowsChlo = {
    Operator{.name = "chlo.acos", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::acos},
    Operator{.name = "chlo.acosh", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::acosh},
    Operator{.name = "chlo.asin", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::asin},
    Operator{.name = "chlo.asinh", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::asinh},
    Operator{.name = "chlo.atan", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::atan},
    Operator{.name = "chlo.atanh", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::atanh},
    Operator{.name = "chlo.cosh", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::cosh},
    Operator{.name = "chlo.sinh", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::sinh},
    Operator{.name = "chlo.tan", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF | rules::kC>, .evaluate = evaluate::tan},
    Operator{.name = "chlo.square", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kInt | rules::kF | rules::kC>, .evaluate = evaluate::square},
    Operator{.name = "chlo.erf", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::erf},
    Operator{.name = "chlo.erfc", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::erfc},
    Operator{.name = "chlo.erf_inv", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::erf_inv},
    Operator{.name = "chlo.lgamma", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::lgamma},
    Operator{.name = "chlo.digamma", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::digamma},
    Operator{.name = "chlo.bessel_i1e", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::bessel_i1e},
    Operator{.name = "chlo.next_after", .hlo = "", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::next_after},
    Operator{.name = "chlo.polygamma", .hlo = "", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::polygamma},
    Operator{.name = "chlo.zeta", .hlo = "", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kF>, .evaluate = evaluate::zeta},
    Operator{.name = "chlo.mulhi", .hlo = "", .group = Group::kElementwise, .operands = 2, .infer =
             rules::same<rules::kInt>, .evaluate = evaluate::multiply_high},
    Operator{.name = "chlo.is_inf", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer = rules::predicate,
             .evaluate = evaluate::is_inf},
    Operator{.name = "chlo.is_pos_inf", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::predicate, .evaluate = evaluate::is_pos_inf},
    Operator{.name = "chlo.is_neg_inf", .hlo = "", .group = Group::kElementwise, .operands = 1, .infer =
             rules::predicate, .evaluate = evaluate::is_neg_inf},
    Operator{.name = "chlo.broadcast_add", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::add>},
    Operator{.name = "chlo.broadcast_subtract", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::subtract>},
    Operator{.name = "chlo.broadcast_multiply", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::multiply>},
    Operator{.name = "chlo.broadcast_divide", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::divide>},
    Operator{.name = "chlo.broadcast_maximum", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::maximum>},
    Operator{.name = "chlo.broadcast_minimum", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::minimum>},
    Operator{.name = "chlo.broadcast_power", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::power>},
    Operator{.name = "chlo.broadcast_remainder", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::remainder>},
    Operator{.name = "chlo.broadcast_atan2", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::atan2>},
    Operator{.name = "chlo.broadcast_and", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::bitwise_and>},
    Operator{.name = "chlo.broadcast_or", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::bitwise_or>},
    Operator{.name = "chlo.broadcast_xor", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::bitwise_xor>},
    Operator{.name = "chlo.broadcast_shift_left", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::shift_left>},
    Operator{.name = "chlo.broadcast_shift_right_arithmetic", .hlo = "", .group = Group::kMovement, .operands = 2,
             .infer = rules::implicit_broadcast, .evaluate =
             evaluate::repeated_first<evaluate::shift_right_arithmetic>},
    Operator{.name = "chlo.broadcast_shift_right_logical", .hlo = "", .group = Group::kMovement, .operands = 2, .infer
             = rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::shift_right_logical>},
    Operator{.name = "chlo.broadcast_complex", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::complex>},
    Operator{.name = "chlo.broadcast_next_after", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::next_after>},
    Operator{.name = "chlo.broadcast_polygamma", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::polygamma>},
    Operator{.name = "chlo.broadcast_zeta", .hlo = "", .group = Group::kMovement, .operands = 2, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::zeta>},
    Operator{.name = "chlo.broadcast_compare", .hlo = "", .group = Group::kMovement, .operands = 2, .attributes =
             {text("comparison_direction"), optional(text("compare_type"))}, .infer = rules::implicit_broadcast,
             .evaluate = evaluate::repeated_first<evaluate::compare>},
    Operator{.name = "chlo.broadcast_select", .hlo = "", .group = Group::kMovement, .operands = 3, .infer =
             rules::implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::select>},
    Operator{.name = "chlo.constant", .hlo = "", .group = Group::kCreation, .operands = 0, .attributes =
             {literal("value")}, .infer = rules::constant, .evaluate = evaluate::constant},
    Operator{.name = "chlo.constant_like", .hlo = "", .group = Group::kCreation, .operands = 1, .attributes =
             {literal("value")}, .infer = rules::operands, .evaluate = evaluate::constant_like},
    Operator{.name = "chlo.top_k", .hlo = "topk", .group = Group::kReduction, .operands = 1, .attributes =
             {integer("k")}, .infer = rules::top_k, .evaluate = evaluate::top_k},
    Operator{.name = "chlo.scan", .group = Group::kReduction, .operands = -1, .regions = 1, .attributes =
             {integer("dimension"), optional(integer("inputs")), flag("is_reverse")}, .infer = rules::scan, .evaluate
             = evaluate::scan},
};
// clang-format on

}  // namespace

Rows chlo() { return {kRowsChlo.begin(), kRowsChlo.end()}; }

}  // namespace trnsim::frontend::table
