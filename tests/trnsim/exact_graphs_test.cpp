// Programs with their own checks whose numbers fp32, in which the engines compute, does not have or confuses.
#include "trnsim/graphs/checked_graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "frontend/stablehlo/reader.h"
#include "hw/params.h"

namespace trnsim {
namespace {

std::int64_t met(const std::string& body) {
  return checks_on_core(frontend::read_stablehlo("func.func @main() {\n" + body + "  func.return\n}\n", "m"),
                        hw::load_machine("trn1.2xlarge"));
}

std::string constant(const std::string& name, const std::string& numbers, const std::string& type) {
  return "  %" + name + " = stablehlo.constant dense<" + numbers + "> : tensor<" + type + ">\n";
}

std::string expected(const std::string& name, const std::string& numbers, const std::string& type) {
  return "  check.expect_eq_const %" + name + ", dense<" + numbers + "> : tensor<" + type + ">\n";
}

TEST(ExactGraphs, IntegersOf32BitsAreCompared) {
  const std::string operands = constant("a", "[16777216, 16777217, -5, 2147483647, -2147483648, 7]", "6xi32") +
                               constant("b", "[16777217, 16777216, -4, 2147483646, -2147483647, 7]", "6xi32");
  const auto compare = [&](const std::string& how, const std::string& numbers) {
    return "  %" + how + " = stablehlo.compare " + how +
           ", %a, %b, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n" + expected(how, numbers, "6xi1");
  };
  EXPECT_EQ(met(operands + compare("LT", "[true, false, true, false, true, false]") +
                compare("GE", "[false, true, false, true, false, true]") +
                compare("EQ", "[false, false, false, false, false, true]") +
                compare("NE", "[true, true, true, true, true, false]")),
            4);
  EXPECT_EQ(met(operands + "  %m = stablehlo.maximum %a, %b : tensor<6xi32>\n" +
                expected("m", "[16777217, 16777217, -4, 2147483647, -2147483647, 7]", "6xi32") +
                "  %n = stablehlo.abs %b : tensor<6xi32>\n" +
                expected("n", "[16777217, 16777216, 4, 2147483646, 2147483647, 7]", "6xi32")),
            2);
}

TEST(ExactGraphs, IntegersAreRaised) {
  EXPECT_EQ(met(constant("a", "[3, -2, 7, -1, 1, 5]", "6xi32") + constant("b", "[19, 31, 0, -3, -4, -1]", "6xi32") +
                "  %p = stablehlo.power %a, %b : tensor<6xi32>\n" +
                expected("p", "[1162261467, -2147483648, 1, -1, 1, 0]", "6xi32")),
            1);
}

TEST(ExactGraphs, IntegersAreReduced) {
  const std::string operand = constant("a", "[[16777216, 1, 1], [2147483647, 1, -7]]", "2x3xi32");
  const auto reduce = [](const std::string& op, const std::string& start, const std::string& numbers) {
    return constant("z", start, "i32") + "  %r = stablehlo.reduce(%a init: %z) applies stablehlo." + op +
           " across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>\n" +
           expected("r", numbers, "2xi32");
  };
  EXPECT_EQ(met(operand + reduce("add", "0", "[16777218, 2147483641]")), 1);
  EXPECT_EQ(met(operand + reduce("maximum", "-2147483648", "[16777216, 2147483647]")), 1);
}

TEST(ExactGraphs, RealNumbersHaveATotalOrder) {
  EXPECT_EQ(met(constant("a", "[0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 0.0, -0.0, 1.0]", "7xf32") +
                constant("b", "[0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, -0.0, 0.0, 1.0]", "7xf32") +
                "  %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>\n" +
                expected("c", "[false, true, true, false, false, true, false]", "7xi1")),
            1);
}

TEST(ExactGraphs, PrecisionIsReducedToAnyFormat) {
  const auto reduced = [](const std::string& numbers, const std::string& format, const std::string& want,
                          const std::string& type) {
    const std::string rounds = "  %r = stablehlo.reduce_precision %a, format = ";
    return met(constant("a", numbers, type) + rounds + format + " : tensor<" + type + ">\n" +
               expected("r", want, type));
  };
  EXPECT_EQ(reduced("[1.2006864, 448.0, 1.0e9, 0xFF800000, 0x7FC00000, 1.0e-9, -3.3]", "e4m3",
                    "[1.25, 0x7F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0.0, -3.25]", "7xf32"),
            1);
  EXPECT_EQ(reduced("[1.2006864, 448.0, 1.0e9]", "e8m3", "[1.25, 448.0, 1006632960.0]", "3xf32"), 1);
  EXPECT_EQ(reduced("1.2006864", "e5m10", "1.201171875", "f32"), 1);
}

// Numbers that int32 does not hold have no fraction: 3e9, 2^31, Inf and NaN stay as they are.
TEST(ExactGraphs, LargeNumbersAreRounded) {
  const std::string numbers = "[2.5, 3.5, -0.75, 8388607.5, 3.0e9, -5.0e10, 2147483648.0, 0x7F800000, 0x7FC00000]";
  EXPECT_EQ(
      met(constant("a", numbers, "9xf32") + "  %r = stablehlo.round_nearest_even %a : tensor<9xf32>\n" +
          expected("r", "[2.0, 4.0, -1.0, 8388608.0, 3.0e9, -5.0e10, 2147483648.0, 0x7F800000, 0x7FC00000]", "9xf32")),
      1);
  EXPECT_EQ(
      met(constant("a", "[1.5, -2.5, 1.0e30]", "3xbf16") + "  %r = stablehlo.round_nearest_even %a : tensor<3xbf16>\n" +
          expected("r", "[2.0, -2.0, 1.0e30]", "3xbf16")),
      1);
}

// Where the reciprocal of zero is -inf, the sign of the given number is there.
TEST(ExactGraphs, RoundedNumbersKeepTheirSign) {
  EXPECT_EQ(met(constant("a", "[-0.3, 0.3, -0.0]", "3xf32") +
                "  %r = stablehlo.round_nearest_even %a : tensor<3xf32>\n  %one = stablehlo.constant dense<1.0> : "
                "tensor<3xf32>\n  %q = stablehlo.divide %one, %r : tensor<3xf32>\n" +
                expected("q", "[0xFF800000, 0x7F800000, 0xFF800000]", "3xf32")),
            1);
}

TEST(ExactGraphs, TangentsNearTheirPoles) {
  EXPECT_EQ(met(constant("a", "[1.5707963, -1.5707963]", "2xf32") + "  %t = stablehlo.tan %a : tensor<2xf32>\n" +
                "  check.expect_almost_eq_const %t, dense<[13245402.0, -13245402.0]> : tensor<2xf32>\n"),
            1);
  EXPECT_EQ(met(constant("a", "[0.7, 2.0, 100.0, -2.5]", "4xf32") + "  %t = stablehlo.tan %a : tensor<4xf32>\n" +
                "  check.expect_almost_eq_const %t, dense<[0.84228838, -2.18503986, -0.58721392, 0.74702230]> : "
                "tensor<4xf32>\n"),
            1);
}

// A check that numbers of fp32 do not meet in the reference either is refused, not wrong; another one is wrong.
TEST(ExactGraphs, WhatNeedsF64IsRefused) {
  const auto fault_of = [](const std::string& body) {
    try {
      met(body);
    } catch (const base::Error& error) {
      return error.fault();
    }
    return base::Fault::kUsage;
  };
  const std::string floors = "  %f = stablehlo.floor %a : tensor<2xf64>\n";
  EXPECT_EQ(fault_of(constant("a", "[2.5, 0x8000000000000001]", "2xf64") + floors +
                     "  check.expect_almost_eq_const %f, dense<[2.0, -1.0]> : tensor<2xf64>\n"),
            base::Fault::kProgram);
  EXPECT_EQ(fault_of(constant("a", "[2.5, 3.5]", "2xf64") + floors +
                     "  check.expect_almost_eq_const %f, dense<[2.0, 4.0]> : tensor<2xf64>\n"),
            base::Fault::kCheck);
}

}  // namespace
}  // namespace trnsim
