// Sizes that are values, futures, channels, composites, tuples: forms that frameworks write seldom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/frontend/program.h"

namespace trnsim::frontend {
namespace {

using testing::HasSubstr;

TEST(Transfers, SizesMayBeValues) {
  const auto with = [](const std::string& size) {
    return main_with("    %n = stablehlo.constant dense<" + size + R"(> : tensor<1xi32>
    %i = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<3xf32>
    check.expect_eq_const %i, dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
)");
  };
  EXPECT_EQ(checks_in(with("3")), 1);
  EXPECT_THAT(complaint_of(with("4")), HasSubstr("gives another shape than its result has"));
}

TEST(Transfers, FuturesHoldWhatWasStarted) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[5, 6, 7]> : tensor<3xi16>
    %f = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<3xi16>):
      %s = stablehlo.slice %y [1:3] : (tensor<3xi16>) -> tensor<2xi16>
      stablehlo.return %s : tensor<2xi16>
    }) : (tensor<3xi16>) -> !stablehlo.future<tensor<2xi16>>
    %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi16>>) -> tensor<2xi16>
    check.expect_eq_const %d, dense<[6, 7]> : tensor<2xi16>
)")),
            1);
}

TEST(Transfers, ChannelsJoinTwoProcesses) {
  EXPECT_EQ(checks_in(R"(
func.func @from(%x: tensor<f32>, %t: !stablehlo.token) -> !stablehlo.token {
  %r = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}
      : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return %r : !stablehlo.token
}
func.func @to(%t: !stablehlo.token) -> tensor<f32> {
  %x, %r = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}
      : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return %x : tensor<f32>
}
func.func @main() {
  %x = stablehlo.constant dense<1.5> : tensor<f32>
  %t = stablehlo.after_all : !stablehlo.token
  %r:2 = "interpreter.run_parallel"(%x, %t, %t) {programs = [[@from], [@to]]}
      : (tensor<f32>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<f32>)
  check.expect_eq_const %r#1, dense<1.5> : tensor<f32>
  return
}
)"),
            1);
}

TEST(Transfers, CompositesAndTuples) {
  EXPECT_EQ(checks_in(R"(
func.func private @half(%x: tensor<2xf32>) -> tensor<2xf32> {
  %h = stablehlo.constant dense<0.5> : tensor<2xf32>
  %r = stablehlo.multiply %x, %h : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @main() {
  %x = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %y = stablehlo.composite "mine.half" %x {decomposition = @half, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[1.0, 2.0]> : tensor<2xf32>
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<2xf32>>
  %z = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  check.expect_eq %z, %y : tensor<2xf32>
  return
}
)"),
            2);
}

/// At 1: half of 1 + erf(1 / sqrt 2) = 0.8413447; 1 / (1 + 1 / e) = 0.7310586.
TEST(Transfers, FunctionsOfTheVendorAreCustomCalls) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<1.0> : tensor<f32>
    %g = stablehlo.custom_call @AwsNeuronGelu(%x) : (tensor<f32>) -> tensor<f32>
    check.expect_almost_eq_const %g, dense<0.8413447> : tensor<f32> {tolerance = 1.0e-6 : f64}
    %t = stablehlo.custom_call @AwsNeuronGeluApprxTanh(%x) : (tensor<f32>) -> tensor<f32>
    check.expect_almost_eq_const %t, dense<0.841192> : tensor<f32> {tolerance = 1.0e-6 : f64}
    %s = stablehlo.custom_call @AwsNeuronSilu(%x) : (tensor<f32>) -> tensor<f32>
    check.expect_almost_eq_const %s, dense<0.7310586> : tensor<f32> {tolerance = 1.0e-6 : f64}
)")),
            3);
}

TEST(Transfers, UnknownCustomCallsAreRefused) {
  EXPECT_THAT(complaint_of(main_with(R"(
    %x = stablehlo.constant dense<2.0> : tensor<f32>
    %y = stablehlo.custom_call @nobody.knows(%x) : (tensor<f32>) -> tensor<f32>
)")),
              HasSubstr("EVRF015: the target @nobody.knows"));
}

}  // namespace
}  // namespace trnsim::frontend
