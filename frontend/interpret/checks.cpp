// Checks that programs hold their values against: equal, almost equal, close in units of the last place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/interpret/control.h"

namespace trnsim::frontend::evaluate {
namespace {

struct Pair {
  double got, expected;
};

bool both_nan(Pair p) { return std::isnan(p.got) && std::isnan(p.expected); }

/// The parts of all elements, complex ones' both.
std::vector<Pair> pairs_of(const Value& got, const Value& expected) {
  std::vector<Pair> out;
  if (const auto* reals = std::get_if<Reals>(got.data.get())) {
    for (std::size_t i = 0; i < reals->size(); ++i) out.push_back({(*reals)[i], expected.reals()[i]});
  } else if (const auto* complexes = std::get_if<Complexes>(got.data.get())) {
    for (std::size_t i = 0; i < complexes->size(); ++i) {
      const Complex a = (*complexes)[i], b = expected.complexes()[i];
      out.push_back({a.real(), b.real()}), out.push_back({a.imag(), b.imag()});
    }
  }
  return out;
}

void need_same_type(Evaluation& e, const Value& got, const Value& expected) {
  if (!(got.type == expected.type)) e.fail("compares " + mlir_text(got.type) + " with " + mlir_text(expected.type));
}

void compare_equal(Evaluation& e, const Value& got, const Value& expected) {
  need_same_type(e, got, expected);
  e.count_check();
  if (!got.type.is_tensor()) return;
  if (const auto* integers = std::get_if<Integers>(got.data.get())) {
    const auto [a, b] = std::ranges::mismatch(*integers, expected.integers());
    if (a != integers->end()) e.wrong(fmt::format("element {} is {}, expected {}", a - integers->begin(), *a, *b));
    return;
  }
  const std::vector<Pair> pairs = pairs_of(got, expected);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (!(pairs[i].got == pairs[i].expected) && !both_nan(pairs[i]))
      e.wrong(fmt::format("number {} is {:.9g}, expected {:.9g}", i, pairs[i].got, pairs[i].expected));
}

void compare_almost(Evaluation& e, const Value& got, const Value& expected) {
  if (std::holds_alternative<Integers>(*got.data)) return compare_equal(e, got, expected);
  need_same_type(e, got, expected);
  e.count_check();
  const double tolerance = e.attributes().real("tolerance", 1e-4);
  const std::vector<Pair> pairs = pairs_of(got, expected);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [a, b] = pairs[i];
    if (a == b || both_nan(pairs[i]) || std::fabs(a - b) <= tolerance) continue;
    e.wrong(fmt::format("number {} is {:.9g}, expected {:.9g} within {:g}", i, a, b, tolerance));
  }
}

/// How many numbers of the format apart.
double ulps_between(Element element, Pair p) {
  if (p.got == p.expected || both_nan(p)) return 0;
  if (!std::isfinite(p.got) || !std::isfinite(p.expected)) return INFINITY;
  const int bits = info(element).bits;
  const auto place = [&](double x) {
    const std::uint64_t magnitude = encode_float(element, std::fabs(x));
    return std::signbit(x) ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  };
  if (bits == 64 && std::signbit(p.got) == std::signbit(p.expected)) {
    const std::uint64_t a = encode_float(element, p.got), b = encode_float(element, p.expected);
    return static_cast<double>(a > b ? a - b : b - a);
  }
  return std::fabs(place(p.got) - place(p.expected));
}

}  // namespace

void expect_equal(Evaluation& e) { compare_equal(e, e.operand(0), e.operand(1)); }
void expect_equal_constant(Evaluation& e) {
  compare_equal(e, e.operand(0), value_of(*e.attributes().literal("value")));
}
void expect_almost_equal(Evaluation& e) { compare_almost(e, e.operand(0), e.operand(1)); }
void expect_almost_equal_constant(Evaluation& e) {
  compare_almost(e, e.operand(0), value_of(*e.attributes().literal("value")));
}

void expect_close(Evaluation& e) {
  const Value &got = e.operand(0), &expected = e.operand(1);
  if (std::holds_alternative<Integers>(*got.data)) return compare_equal(e, got, expected);
  need_same_type(e, got, expected);
  e.count_check();
  const auto most = static_cast<double>(e.attributes().integer("max_ulp_difference", 3));
  const auto least = static_cast<double>(e.attributes().integer("min_ulp_difference", 0));
  const std::vector<Pair> pairs = pairs_of(got, expected);
  double worst = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double ulps = ulps_between(real_part(got.type.element), pairs[i]);
    worst = std::max(worst, ulps);
    if (!(ulps <= most))
      e.wrong(fmt::format("number {} is {:.9g}, expected {:.9g}: {:g} units of the last place, allowed {:g}", i,
                          pairs[i].got, pairs[i].expected, ulps, most));
  }
  if (worst < least) e.wrong(fmt::format("the largest difference is {:g} units, expected {:g} at least", worst, least));
}

}  // namespace trnsim::frontend::evaluate
