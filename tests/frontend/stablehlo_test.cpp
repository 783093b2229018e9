// StableHLO's text: both forms, constants, regions with captured values, places in the user's program, and errors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "frontend/ops/operator.h"
#include "tests/cpu_time.h"
#include "tests/frontend/program.h"

namespace trnsim::frontend {
namespace {

using testing::HasSubstr;

TEST(StableHlo, PrettyAndGenericFormsAreTheSame) {
  const Module pretty = read_stablehlo(R"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.add %0, %0 : tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
})",
                                       "a.mlir");
  const Module generic = read_stablehlo(R"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.add"(%0, %0) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  "func.return"(%1) : (tensor<3x2xf32>) -> ()
})",
                                        "b.mlir");
  const Function &a = pretty.entry_function(), &b = generic.entry_function();
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].op, b.nodes[i].op);
    EXPECT_EQ(a.nodes[i].operands, b.nodes[i].operands);
    EXPECT_EQ(a.nodes[i].attributes.ints("permutation"), b.nodes[i].attributes.ints("permutation"));
    EXPECT_EQ(a.nodes[i].line, b.nodes[i].line);
  }
}

TEST(StableHlo, ModulesAndFunctionsInTheGenericForm) {
  const std::string body = R"(
      %0 = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
      %1 = "func.call"(%0) <{callee = @twice}> : (tensor<f32>) -> tensor<f32>
      "check.expect_eq_const"(%1) <{value = dense<4.0> : tensor<f32>}> : (tensor<f32>) -> ()
      "func.return"() : () -> ()
    }))";
  const std::string twice = R"(
    ^bb0(%x: tensor<f32>):
      %0 = "stablehlo.add"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "func.return"(%0) : (tensor<f32>) -> ()
    }))";
  EXPECT_EQ(checks_in(R"("builtin.module"() <{sym_name = "m"}> ({
    "func.func"() <{function_type = () -> (), sym_name = "main"}> ({)" +
                      body + R"( : () -> ()
    "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "twice"}> ({)" +
                      twice + R"( : () -> ()
  }) {mhlo.num_replicas = 1 : i32} : () -> ())"),
            1);
  EXPECT_EQ(checks_in(R"("builtin.module"() ({
    "func.func"() ({)" +
                      twice +
                      R"( {function_type = (tensor<f32>) -> tensor<f32>, sym_name = "twice"} : () -> ()
    "func.func"() ({)" +
                      body +
                      R"( {function_type = () -> (), sym_name = "main"} : () -> ()
  }) : () -> ())"),
            1);
}

TEST(StableHlo, Constants) {
  EXPECT_EQ(checks_in(main_with(R"(
    %bytes = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    check.expect_eq_const %bytes, dense<[1.0, 2.0]> : tensor<2xf32>
    %bits = stablehlo.constant dense<"0x0502"> : tensor<10xi1>
    check.expect_eq_const %bits, dense<[true, false, true, false, false, false, false, false, false, true]>
        : tensor<10xi1>
    %splat = stablehlo.constant dense<-1> : tensor<2x2xui8>
    check.expect_eq_const %splat, dense<255> : tensor<2x2xui8>
    %nested = "stablehlo.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>} : () -> tensor<2x2xi4>
    check.expect_eq_const %nested, dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>
    %pairs = stablehlo.constant dense<[(1.0, 2.0), (-3.0, 0.5)]> : tensor<2xcomplex<f32>>
    %real = stablehlo.real %pairs : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    check.expect_eq_const %real, dense<[1.0, -3.0]> : tensor<2xf32>
    %empty = stablehlo.constant dense<> : tensor<0x3xf32>
    check.expect_eq_const %empty, dense<> : tensor<0x3xf32>
)")),
            6);
}

/// A branch reads values of two functions around it, which its region gets as parameters.
TEST(StableHlo, RegionsCaptureValues) {
  EXPECT_EQ(checks_in(main_with(R"(
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %a = stablehlo.constant dense<2> : tensor<i32>
    %b = stablehlo.constant dense<5> : tensor<i32>
    %r = "stablehlo.if"(%yes) ({
      %c = stablehlo.multiply %a, %b : tensor<i32>
      %s = "stablehlo.if"(%yes) ({
        %d = stablehlo.subtract %c, %a : tensor<i32>
        stablehlo.return %d : tensor<i32>
      }, {
        stablehlo.return %b : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      stablehlo.return %s : tensor<i32>
    }, {
      stablehlo.return %a : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    check.expect_eq_const %r, dense<8> : tensor<i32>
)")),
            1);
}

TEST(StableHlo, PlacesInTheUsersProgram) {
  const Module module = read_stablehlo(R"(
#loc1 = loc("train.py":12:4)
#loc2 = loc("jit(step)/layer_0/add"(#loc1))
func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32> loc(#loc2)
  return %0 : tensor<f32> loc(#loc)
}
#loc = loc(unknown)
)",
                                       "a.mlir");
  const Metadata& at = module.metadata_of(module.entry_function().nodes.front());
  EXPECT_EQ(at.op_name, "jit(step)/layer_0/add");
  EXPECT_EQ(at.source_file, "train.py");
  EXPECT_EQ(at.source_line, 12);
}

TEST(StableHlo, ProgramsOfOneFile) {
  const auto parts = split_programs("a\n// -----\nb\nc\n// -----\nd");
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].text, "b\nc\n");
  EXPECT_EQ(parts[1].line, 3U);
  EXPECT_EQ(parts[2].line, 6U);
}

TEST(StableHlo, ErrorsNameTheLine) {
  const auto with = [](const std::string& line) {
    return complaint_of(main_with("  %a = stablehlo.constant dense<1.0> : tensor<4xf32>\n" + line));
  };
  EXPECT_THAT(with("  %b = stablehlo.transpose %a, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>\n"),
              HasSubstr("test.mlir:3: transpose: permutation (C2) = 1 is not one of 1 dimensions"));
  EXPECT_THAT(with("  %b = stablehlo.add %a, %c : tensor<4xf32>\n"), HasSubstr("test.mlir:3: %c is not defined"));
  EXPECT_THAT(with("  %b = stablehlo.add %a, %a : tensor<5xf32>\n"), HasSubstr("test.mlir:3: add: has results"));
  EXPECT_THAT(with("  %b = stablehlo.ad %a, %a : tensor<4xf32>\n"), HasSubstr("EUOC002: stablehlo.ad"));
  EXPECT_THAT(with("  %b = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n"), HasSubstr("test.mlir:3: a constant"));
  EXPECT_THAT(with("  %b = stablehlo.convert %a : (tensor<4xf32>) -> tensor<?xf64>\n"), HasSubstr("EMOD025"));
  EXPECT_THAT(with("  %b = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"), HasSubstr("@f is called"));
  EXPECT_THAT(with("  %a = stablehlo.constant dense<1.0> : tensor<f32>\n"), HasSubstr("%a is defined twice"));
  EXPECT_THAT(with("  %b = \"stablehlo.cholesky\"(%a) {lowr = true} : (tensor<4xf32>) -> tensor<4xf32>\n"),
              HasSubstr("test.mlir:3: cholesky has no attribute lowr: write lower"));
  EXPECT_THAT(complaint_of("func.func @main() {"), HasSubstr("does not end"));
  EXPECT_THAT(complaint_of(""), HasSubstr("has no function"));
}

/// One error with the line, within a second.
TEST(StableHlo, HardProgramsEndInAnError) {
  const tests::CpuTime took;
  EXPECT_THAT(complaint_of("func.func @f() {\n  func.call @g() : () -> ()\n  return\n}\n"
                           "func.func @g() {\n  func.call @f() : () -> ()\n  return\n}\n"),
              HasSubstr("test.mlir:6: @f calls itself, directly or through others"));
  EXPECT_THAT(complaint_of(main_with("  %a = stablehlo.constant dense<1.0> : tensor<1099511627776xf32>\n")),
              HasSubstr("has more than the"));
  EXPECT_THAT(complaint_of(main_with("  %a = stablehlo.constant dense<1.0> : tensor<99999999999999999999xf32>\n")),
              HasSubstr("test.mlir:2: a size is too large"));
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "\"stablehlo.if\"(%p) ({\n";
  EXPECT_THAT(complaint_of("func.func @main(%p: tensor<i1>) {\n" + deep), HasSubstr("brackets are open"));
  EXPECT_THAT(complaint_of("func.func @main() -> " + std::string(100000, '(')), HasSubstr("test.mlir:1: "));
  EXPECT_LT(took.seconds(), 1);
}

// Shardings leave numbers as they are, of GSPMD and of Shardy; work of a partitioner alone is refused.
TEST(StableHlo, ShardingsAreForAPartitioner) {
  constexpr const char* kHead =
      "module @m attributes {mhlo.num_partitions = 2 : i32} {\n"
      "  sdy.mesh @mesh = <[\"x\"=2]>\n"
      "  func.func public @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> "
      "tensor<8x2xf32> {\n";
  constexpr const char* kTail = "    return %r : tensor<8x2xf32>\n  }\n}\n";
  const auto with = [&](const std::string& line) { return read_stablehlo(kHead + line + kTail, "m.mlir"); };
  EXPECT_FALSE(with("    %r = stablehlo.negate %a : tensor<8x2xf32>\n").undivided);
  for (const char* line :
       {"    %r = sdy.sharding_constraint %a <@mesh, [{\"x\"}, {}]> : tensor<8x2xf32>\n",
        "    %r = \"sdy.reshard\"(%a) <{sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}> : (tensor<8x2xf32>) -> "
        "tensor<8x2xf32>\n",
        "    %r = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8x2xf32>\n"}) {
    const Module module = with(line);
    EXPECT_TRUE(module.undivided) << line;
    EXPECT_TRUE(module.entry_function().nodes.empty()) << line;
    EXPECT_EQ(module.partitions, 2);
  }
  EXPECT_TRUE(with("    %r = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{devices=[2,1]<=[2]}\"} : "
                   "(tensor<8x2xf32>) -> tensor<8x2xf32>\n")
                  .undivided);
  try {
    with("    %r = sdy.all_gather [{}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x2xf32>\n");
    FAIL() << "a partitioner's work is refused";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.mlir:4: sdy.all_gather divides tensors among cores"));
  }
}

std::string nested_loops(int depth) {
  std::string text =
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n  %two = stablehlo.constant dense<2> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n";
  for (int i = 0; i < depth; ++i)
    text += fmt::format(
        "  %r{0} = stablehlo.while(%i{0} = %zero) : tensor<i32> cond {{\n"
        "    %c = stablehlo.compare LT, %i{0}, {1} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>\n  }} do {{\n",
        i, i == depth - 1 ? "%two" : "%one");
  for (int i = depth; i-- > 0;)
    text += fmt::format(
        "    %n{0} = stablehlo.add %i{0}, %one : tensor<i32>\n    stablehlo.return %n{0} : tensor<i32>\n  }}\n", i);
  return main_with(text + "  check.expect_eq_const %r0, dense<1> : tensor<i32>\n");
}

TEST(StableHlo, LoopsNestedFiftyDeep) { EXPECT_EQ(checks_in(nested_loops(50)), 1); }

}  // namespace
}  // namespace trnsim::frontend
