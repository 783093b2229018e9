// Functions of the reference against the standard library's, and factorizations against products by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/frontend/program.h"

namespace trnsim::frontend {
namespace {

struct OneArgument {
  const char* name;
  double x, result;
  friend void PrintTo(const OneArgument& f, std::ostream* out) { *out << f.name << '(' << f.x << ')'; }
};

class FunctionOf : public testing::TestWithParam<OneArgument> {};

TEST_P(FunctionOf, AreThoseOfTheStandardLibrary) {
  const auto& [name, x, result] = GetParam();
  EXPECT_EQ(checks_in(main_with(fmt::format(R"(
    %x = stablehlo.constant dense<{}> : tensor<f32>
    %y = {} %x : tensor<f32> -> tensor<f32>
    %z = stablehlo.constant dense<{}> : tensor<f32>
    check.expect_close %y, %z : tensor<f32>, tensor<f32>
)",
                                            x, name, result))),
            1);
}

const OneArgument kFunctions[] = {
    {"chlo.acos", 0.5, std::acos(0.5)},
    {"chlo.acosh", 1.5, std::acosh(1.5)},
    {"chlo.asin", -0.25, std::asin(-0.25)},
    {"chlo.asinh", 3.0, std::asinh(3.0)},
    {"chlo.atan", 2.0, std::atan(2.0)},
    {"chlo.atanh", 0.5, std::atanh(0.5)},
    {"chlo.cosh", 1.25, std::cosh(1.25)},
    {"chlo.sinh", -1.25, std::sinh(-1.25)},
    {"chlo.tan", 0.75, std::tan(0.75)},
    {"chlo.square", -1.5, 2.25},
    {"chlo.erf", 0.5, std::erf(0.5)},
    {"chlo.erfc", 1.5, std::erfc(1.5)},
    {"chlo.erf_inv", 0.5204998778130465, 0.5},  // erf(0.5)
    {"chlo.lgamma", 4.5, std::lgamma(4.5)},
    {"chlo.digamma", 1.0, -0.57721566490153286},    // minus Euler's constant
    {"chlo.bessel_i1e", 1.0, 0.20791041534970845},  // Abramowitz and Stegun, table 9.8
};
INSTANTIATE_TEST_SUITE_P(OneNumber, FunctionOf, testing::ValuesIn(kFunctions));

TEST(Functions, OfInfinitiesAndOfTwoNumbers) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
    %a = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
    check.expect_eq_const %a, dense<[false, true, true, false]> : tensor<4xi1>
    %b = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
    check.expect_eq_const %b, dense<[false, true, false, false]> : tensor<4xi1>
    %c = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
    check.expect_eq_const %c, dense<[false, false, true, false]> : tensor<4xi1>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %z = chlo.zeta %two, %one : tensor<f32>, tensor<f32> -> tensor<f32>
    %sixth = stablehlo.constant dense<1.6449340668482264> : tensor<f32>
    check.expect_close %z, %sixth : tensor<f32>, tensor<f32>
    %p = chlo.polygamma %one, %one : tensor<f32>, tensor<f32> -> tensor<f32>
    check.expect_close %p, %sixth : tensor<f32>, tensor<f32>
)")),
            5);
}

// L of [[4, 2], [2, 5]] is [[2, 0], [1, 2]]; L y = [2, 5] for y = [1, 2].
TEST(Functions, TrianglesAndTheirSolutions) {
  EXPECT_EQ(checks_in(main_with(R"(
    %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
    %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
    %t = stablehlo.slice %l [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    check.expect_eq_const %t, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
    %b = stablehlo.constant dense<[[2.0], [5.0]]> : tensor<2x1xf32>
    %y = "stablehlo.triangular_solve"(%l, %b) {left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    check.expect_eq_const %y, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
)")),
            2);
}

}  // namespace
}  // namespace trnsim::frontend
