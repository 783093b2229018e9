// The reference by its definition: each operator on small numbers whose result follows by hand from the specification.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/frontend/program.h"

namespace trnsim::frontend {
namespace {

using testing::HasSubstr;

TEST(Interpreter, RoundsEachResultOnce) {
  // bf16 has 8 bits: 256 + 1 is a tie that goes to the even 256; in fp32 it is exact.
  EXPECT_EQ(checks_in(main_with(R"(
    %a = stablehlo.constant dense<256.0> : tensor<bf16>
    %one = stablehlo.constant dense<1.0> : tensor<bf16>
    %s = stablehlo.add %a, %one : tensor<bf16>
    check.expect_eq_const %s, dense<256.0> : tensor<bf16>
    %w = stablehlo.convert %a : (tensor<bf16>) -> tensor<f32>
    %v = stablehlo.constant dense<1.0> : tensor<f32>
    %t = stablehlo.add %w, %v : tensor<f32>
    check.expect_eq_const %t, dense<257.0> : tensor<f32>
    %big = stablehlo.constant dense<9007199254740993> : tensor<i64>
    %f = stablehlo.convert %big : (tensor<i64>) -> tensor<f32>
    check.expect_eq_const %f, dense<9007199254740992.0> : tensor<f32>
    %n = stablehlo.constant dense<[300.7, -5.9, 0x7FC00000]> : tensor<3xf32>
    %i = stablehlo.convert %n : (tensor<3xf32>) -> tensor<3xi8>
    check.expect_eq_const %i, dense<[127, -5, 0]> : tensor<3xi8>
)")),
            4);
}

TEST(Interpreter, IntegersWrapAndDivideAsXlaDoes) {
  EXPECT_EQ(checks_in(main_with(R"(
    %a = stablehlo.constant dense<[-128, 7, -7, 5]> : tensor<4xi8>
    %b = stablehlo.constant dense<[-1, -2, 2, 0]> : tensor<4xi8>
    %q = stablehlo.divide %a, %b : tensor<4xi8>
    check.expect_eq_const %q, dense<[-128, -3, -3, -1]> : tensor<4xi8>
    %r = stablehlo.remainder %a, %b : tensor<4xi8>
    check.expect_eq_const %r, dense<[0, 1, -1, 5]> : tensor<4xi8>
    %u = stablehlo.constant dense<[18446744073709551615, 2]> : tensor<2xui64>
    %w = stablehlo.constant dense<[2, 3]> : tensor<2xui64>
    %x = stablehlo.maximum %u, %w : tensor<2xui64>
    check.expect_eq_const %x, dense<[18446744073709551615, 3]> : tensor<2xui64>
    %y = stablehlo.divide %u, %w : tensor<2xui64>
    check.expect_eq_const %y, dense<[9223372036854775807, 0]> : tensor<2xui64>
    %p = stablehlo.power %a, %b : tensor<4xi8>
    check.expect_eq_const %p, dense<[0, 0, 49, 1]> : tensor<4xi8>
    %n = stablehlo.constant dense<[1, 9, -1, 3]> : tensor<4xi8>
    %s = stablehlo.shift_left %a, %n : tensor<4xi8>
    check.expect_eq_const %s, dense<[0, 0, 0, 40]> : tensor<4xi8>
    %t = stablehlo.shift_right_arithmetic %a, %n : tensor<4xi8>
    check.expect_eq_const %t, dense<[-64, 0, -1, 0]> : tensor<4xi8>
)")),
            7);
}

TEST(Interpreter, MovesElements) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %t, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
    %p = stablehlo.pad %x, %zero, low = [0, -1], high = [1, 0], interior = [0, 1] : (tensor<2x3xi32>,
        tensor<i32>) -> tensor<3x4xi32>
    check.expect_eq_const %p, dense<[[0, 2, 0, 3], [0, 5, 0, 6], [0, 0, 0, 0]]> : tensor<3x4xi32>
    %r = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>
    check.expect_eq_const %r, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
    %s = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %s, dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>
    %c = stablehlo.concatenate %x, %r, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
    check.expect_eq_const %c, dense<[[1, 2, 3, 3, 2, 1], [4, 5, 6, 6, 5, 4]]> : tensor<2x6xi32>
    %far = stablehlo.constant dense<9> : tensor<i32>
    %d = stablehlo.dynamic_slice %x, %far, %far, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i32>, tensor<i32>)
        -> tensor<1x2xi32>
    check.expect_eq_const %d, dense<[[5, 6]]> : tensor<1x2xi32>
    %u = stablehlo.dynamic_update_slice %x, %d, %zero, %zero : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i32>,
        tensor<i32>) -> tensor<2x3xi32>
    check.expect_eq_const %u, dense<[[5, 6, 3], [4, 5, 6]]> : tensor<2x3xi32>
)")),
            7);
}

TEST(Interpreter, GatherAndScatter) {
  // Rows 2 and 0 of three; the update of row 7 is outside and left out, two updates of row 1 add up.
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
    %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1,
        2>}> : (tensor<3x2xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %g, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
    %j = stablehlo.constant dense<[[1], [7], [1]]> : tensor<3x1xi32>
    %u = stablehlo.constant dense<[[10, 20], [30, 40], [50, 60]]> : tensor<3x2xi32>
    %s = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<3x2xi32>, tensor<3x1xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %s, dense<[[1, 2], [63, 84], [5, 6]]> : tensor<3x2xi32>
)")),
            2);
}

TEST(Interpreter, ReducesSortsAndScans) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[[3, 1, 2], [9, 7, 8]]> : tensor<2x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>,
        tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %r, dense<[6, 24]> : tensor<2xi32>
    %w = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>,
        window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    check.expect_eq_const %w, dense<[[3, 3, 2], [9, 9, 8]]> : tensor<2x3xi32>
    %n = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %s:2 = "stablehlo.sort"(%x, %n) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %e = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %e : tensor<i1>
    }) : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
    check.expect_eq_const %s#0, dense<[[1, 2, 3], [7, 8, 9]]> : tensor<2x3xi32>
    check.expect_eq_const %s#1, dense<[[1, 2, 0], [1, 2, 0]]> : tensor<2x3xi32>
)")),
            4);
}

/// A reducer that is no single operator, with a value of the function around it.
TEST(Interpreter, ReducersMayBeAnything) {
  EXPECT_EQ(checks_in(main_with(R"(
    %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
     reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %c = stablehlo.multiply %b, %three : tensor<i32>
      %d = stablehlo.add %a, %c : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }
    check.expect_eq_const %r, dense<30> : tensor<i32>
)")),
            1);
}

TEST(Interpreter, ProductsAndConvolutions) {
  EXPECT_EQ(checks_in(main_with(R"(
    %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
    %m = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>)
        -> tensor<2x2xf32>
    check.expect_eq_const %m, dense<[[19.0, 22.0], [43.0, 50.0]]> : tensor<2x2xf32>
    %v = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2xf32>,
        tensor<2x2xf32>) -> tensor<2xf32>
    check.expect_eq_const %v, dense<[17.0, 53.0]> : tensor<2xf32>
    %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
    %k = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
    %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2],
        pad = [[1, 1]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
    check.expect_eq_const %c, dense<[[[20.0], [42.0]]]> : tensor<1x2x1xf32>
    %e = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,kj->ik"} : (tensor<2x2xf32>, tensor<2x2xf32>)
        -> tensor<2x2xf32>
    check.expect_eq_const %e, dense<[[17.0, 23.0], [39.0, 53.0]]> : tensor<2x2xf32>
)")),
            4);
}

std::string collective(const std::string& op, const std::string& out, const std::string& expected) {
  return fmt::format(R"(
func.func @one(%x: tensor<2xi32>) -> tensor<{1}xi32> {{
  {0}
  return %r : tensor<{1}xi32>
}}
func.func @main() {{
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[30, 40]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%a, %b) {{programs = [[@one], [@one]]}} : (tensor<2xi32>, tensor<2xi32>)
      -> (tensor<{1}xi32>, tensor<{1}xi32>)
  %both = stablehlo.concatenate %r#0, %r#1, dim = 0 : (tensor<{1}xi32>, tensor<{1}xi32>) -> tensor<{2}xi32>
  check.expect_eq_const %both, dense<{3}> : tensor<{2}xi32>
  return
}}
)",
                     op, out, 2 * std::stoi(out), expected);
}

constexpr const char* kSum = R"(({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) )";

TEST(Interpreter, CollectivesOfTwoProcesses) {
  const std::string groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
  EXPECT_EQ(checks_in(collective("%r = \"stablehlo.all_reduce\"(%x) " + std::string{kSum} + "{" + groups +
                                     "} : (tensor<2xi32>) -> tensor<2xi32>",
                                 "2", "[31, 42, 31, 42]")),
            1);
  EXPECT_EQ(checks_in(collective("%r = \"stablehlo.all_gather\"(%x) {all_gather_dim = 0 : i64, " + groups +
                                     "} : (tensor<2xi32>) -> tensor<4xi32>",
                                 "4", "[1, 2, 30, 40, 1, 2, 30, 40]")),
            1);
  EXPECT_EQ(
      checks_in(collective("%r = \"stablehlo.reduce_scatter\"(%x) " + std::string{kSum} +
                               "{scatter_dimension = 0 : i64, " + groups + "} : (tensor<2xi32>) " + "-> tensor<1xi32>",
                           "1", "[31, 42]")),
      1);
  EXPECT_EQ(
      checks_in(collective("%r = \"stablehlo.all_to_all\"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, "
                           "split_count = 2 : i64, " +
                               groups + "} : (tensor<2xi32>) -> tensor<2xi32>",
                           "2", "[1, 30, 2, 40]")),
      1);
  EXPECT_EQ(checks_in(collective("%r = \"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[[0, 1]]> "
                                 ": tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>",
                                 "2", "[0, 0, 1, 2]")),
            1);
}

/// One process waits in a collective that the other one never reaches.
TEST(Interpreter, CollectivesThatCannotMeetEnd) {
  const std::string text = R"(
func.func @meets(%x: tensor<2xi32>) -> tensor<4xi32> {
  %r = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func @ends(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@meets], [@ends]]} : (tensor<2xi32>, tensor<2xi32>)
      -> (tensor<4xi32>, tensor<2xi32>)
  return
}
)";
  EXPECT_THAT(complaint_of(text), HasSubstr("waits for others that never arrive"));
}

/// The words of the specification's example of ThreeFry.
TEST(Interpreter, RandomBitsAreXlas) {
  EXPECT_EQ(checks_in(main_with(R"(
    %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>,
        tensor<2x2xui64>)
    check.expect_eq_const %next, dense<[1, 6]> : tensor<2xui64>
    check.expect_eq_const %bits, dense<[[9236835810183407956, 16087790271692313299], [18212823393184779219,
        2658481902456610144]]> : tensor<2x2xui64>
)")),
            2);
}

TEST(Interpreter, EndlessLoopsEnd) {
  const Module module = read_stablehlo(main_with(R"(
    %x = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.while(%i = %x) : tensor<i32> cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %i : tensor<i32>
    }
)"),
                                       "test.mlir");
  Interpreter interpreter{module, {}, {.nodes = 1000}};
  EXPECT_THROW(interpreter.run(module.entry, {}), base::Error);
}

TEST(Interpreter, ChecksFail) {
  const std::string constant = "  %a = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>\n";
  EXPECT_THAT(complaint_of(main_with(constant + "  check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>\n")),
              HasSubstr("test.mlir:3: check.expect_eq_const: number 1 is 2.5, expected 2"));
  EXPECT_THAT(complaint_of(main_with(constant + "  %b = stablehlo.constant dense<[1.0, 2.500001]> : tensor<2xf32>\n"
                                                "  check.expect_close %a, %b : tensor<2xf32>, tensor<2xf32>\n")),
              HasSubstr("4 units of the last place, allowed 3"));
}

}  // namespace
}  // namespace trnsim::frontend
