#include "frontend/interpret/elementwise.h"
#include "frontend/interpret/movement.h"
#include "frontend/interpret/reduction.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

using namespace rules;

/// The row of an operator of two operands that are repeated to one shape first.
template <void (*kEvaluate)(Evaluation&)>
Operator broadcasting(std::string_view name) {
  return {.name = name,
          .group = kMovement,
          .operands = 2,
          .attributes = {optional(ints("broadcast_dimensions"))},
          .infer = implicit_broadcast,
          .evaluate = evaluate::repeated_first<kEvaluate>};
}

// clang-format off
const Rows kRowsChlo = {
    per_element("chlo.acos", "", 1, same<kF | kC>, evaluate::acos),
    per_element("chlo.acosh", "", 1, same<kF | kC>, evaluate::acosh),
    per_element("chlo.asin", "", 1, same<kF | kC>, evaluate::asin),
    per_element("chlo.asinh", "", 1, same<kF | kC>, evaluate::asinh),
    per_element("chlo.atan", "", 1, same<kF | kC>, evaluate::atan),
    per_element("chlo.atanh", "", 1, same<kF | kC>, evaluate::atanh),
    per_element("chlo.cosh", "", 1, same<kF | kC>, evaluate::cosh),
    per_element("chlo.sinh", "", 1, same<kF | kC>, evaluate::sinh),
    per_element("chlo.tan", "", 1, same<kF | kC>, evaluate::tan),
    per_element("chlo.square", "", 1, same<kInt | kF | kC>, evaluate::square),
    per_element("chlo.erf", "", 1, same<kF>, evaluate::erf),
    per_element("chlo.erfc", "", 1, same<kF>, evaluate::erfc),
    per_element("chlo.erf_inv", "", 1, same<kF>, evaluate::erf_inv),
    per_element("chlo.lgamma", "", 1, same<kF>, evaluate::lgamma),
    per_element("chlo.digamma", "", 1, same<kF>, evaluate::digamma),
    per_element("chlo.bessel_i1e", "", 1, same<kF>, evaluate::bessel_i1e),
    per_element("chlo.next_after", "", 2, same<kF>, evaluate::next_after),
    per_element("chlo.polygamma", "", 2, same<kF>, evaluate::polygamma),
    per_element("chlo.zeta", "", 2, same<kF>, evaluate::zeta),
    per_element("chlo.mulhi", "", 2, same<kInt>, evaluate::multiply_high),
    per_element("chlo.is_inf", "", 1, predicate, evaluate::is_inf),
    per_element("chlo.is_pos_inf", "", 1, predicate, evaluate::is_pos_inf),
    per_element("chlo.is_neg_inf", "", 1, predicate, evaluate::is_neg_inf),
    broadcasting<evaluate::add>("chlo.broadcast_add"),
    broadcasting<evaluate::subtract>("chlo.broadcast_subtract"),
    broadcasting<evaluate::multiply>("chlo.broadcast_multiply"),
    broadcasting<evaluate::divide>("chlo.broadcast_divide"),
    broadcasting<evaluate::maximum>("chlo.broadcast_maximum"),
    broadcasting<evaluate::minimum>("chlo.broadcast_minimum"),
    broadcasting<evaluate::power>("chlo.broadcast_power"),
    broadcasting<evaluate::remainder>("chlo.broadcast_remainder"),
    broadcasting<evaluate::atan2>("chlo.broadcast_atan2"),
    broadcasting<evaluate::bitwise_and>("chlo.broadcast_and"),
    broadcasting<evaluate::bitwise_or>("chlo.broadcast_or"),
    broadcasting<evaluate::bitwise_xor>("chlo.broadcast_xor"),
    broadcasting<evaluate::shift_left>("chlo.broadcast_shift_left"),
    broadcasting<evaluate::shift_right_arithmetic>("chlo.broadcast_shift_right_arithmetic"),
    broadcasting<evaluate::shift_right_logical>("chlo.broadcast_shift_right_logical"),
    broadcasting<evaluate::complex>("chlo.broadcast_complex"),
    broadcasting<evaluate::next_after>("chlo.broadcast_next_after"),
    broadcasting<evaluate::polygamma>("chlo.broadcast_polygamma"),
    broadcasting<evaluate::zeta>("chlo.broadcast_zeta"),
    {.name = "chlo.broadcast_compare", .group = kMovement, .operands = 2, .attributes =
     {optional(ints("broadcast_dimensions")), text("comparison_direction"), optional(text("compare_type"))},
     .infer = implicit_broadcast, .evaluate = evaluate::repeated_first<evaluate::compare>},
    {.name = "chlo.broadcast_select", .group = kMovement, .operands = 3, .infer = implicit_broadcast,
     .evaluate = evaluate::repeated_first<evaluate::select>},
    {.name = "chlo.constant", .group = kCreation, .operands = 0, .attributes = {literal("value")},
     .infer = constant, .evaluate = evaluate::constant},
    {.name = "chlo.constant_like", .group = kCreation, .operands = 1, .attributes = {literal("value")},
     .infer = operands, .evaluate = evaluate::constant_like},
    {.name = "chlo.top_k", .hlo = "topk", .group = kReduction, .operands = 1, .attributes = {integer("k")},
     .infer = top_k, .evaluate = evaluate::top_k},
    {.name = "chlo.scan", .group = kReduction, .regions = 1, .attributes = {integer("dimension"),
     optional(integer("inputs")), flag("is_reverse")}, .infer = scan, .evaluate = evaluate::scan},
};
// clang-format on

}  // namespace

Rows chlo() { return kRowsChlo; }

}  // namespace trnsim::frontend::table
