// Graphs lowered to matrices: the nodes that they become, and refusals.
#include "frontend/lower/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "frontend/lower/view.h"
#include "runtime/graph/op.h"

namespace trnsim::frontend {
namespace {

Module module_of(const std::string& lines, const std::string& before = "") {
  return hlo::graph_of(hlo::read_text("HloModule m\n" + before + "ENTRY main {\n" + lines + "\n}\n", "m"), "m");
}

std::vector<std::string> ops_of(const LoweredGraph& lowered) {
  std::vector<std::string> out;
  for (std::size_t n = 0; n < lowered.graph.node_count(); ++n) out.emplace_back(lowered.graph.node(n).op->name);
  return out;
}

std::string refusal(const std::string& lines, const std::string& before = "") {
  try {
    lower(module_of(lines, before));
  } catch (const base::Error& error) {
    return std::string{error.reason()};
  }
  return "";
}

constexpr const char* kSumText =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";

/// They are refused before they are read.
TEST(Lower, MoreValuesThanAnyCoreIsGiven) {
  std::string lines = "x = f32[4] parameter(0)\n";
  for (int i = 0; i < 500'000; ++i) lines += "y = f32[4] negate(x)\n";
  EXPECT_THAT(refusal(lines), testing::HasSubstr("is one of more than 500000 values"));
  EXPECT_THAT(refusal(lines), testing::HasSubstr("m:500003"));
}

TEST(View, ReshapedJoinsAndSplitsWhereStridesAllow) {
  const View view = dense_view(0, {4, 6}, Dtype::kFp32);
  EXPECT_EQ(reshaped(view, {2, 12})->strides, (Dims{12, 1}));
  EXPECT_EQ(reshaped(transposed(view, {1, 0}), {6, 2, 2})->strides, (Dims{1, 12, 6}));
  EXPECT_FALSE(reshaped(transposed(view, {1, 0}), {24}));
  EXPECT_EQ(reshaped(view, {4, 1, 6, 1})->strides[2], 1);
}

TEST(View, SpreadOfBroadcasts) {
  const View row = dense_view(0, {8}, Dtype::kFp32), middle = broadcast(row, {4, 8, 2}, {1});
  EXPECT_EQ(spread_at(broadcast(row, {4, 8}, {1}), 1), Spread::kRow);
  EXPECT_EQ(spread_at(broadcast(row, {8, 4}, {0}), 1), Spread::kColumn);
  EXPECT_EQ(spread_at(middle, 2), Spread::kColumn);
  EXPECT_EQ(spread_at(middle, 1), Spread::kRow);
  EXPECT_EQ(spread_at(dense_view(0, {4, 6}, Dtype::kFp32), 1), Spread::kWhole);
  EXPECT_EQ(spread_at(broadcast(dense_view(0, {}, Dtype::kFp32), {4, 8}, {}), 1), Spread::kOne);
}

/// Elements that moves of the lowered program copy, by node.
std::vector<std::int64_t> moved_in(const LoweredGraph& lowered) {
  std::vector<std::int64_t> out;
  for (std::size_t n = 0; n < lowered.graph.node_count(); ++n)
    if (const auto& node = lowered.graph.node(n); node.op->name == std::string_view{"move"})
      out.push_back(lowered.graph.value(node.out[0]).elements());
  return out;
}

/// Statistics of a channel are a column of the matrix whose rows are channels: they are not spread over the picture.
TEST(Lower, ChannelsOfPicturesAreColumns) {
  const auto moved = [](const std::string& batch) {
    return moved_in(
        lower(module_of("x = f32[" + batch + ",8,6,6] parameter(0)\nm = f32[8] parameter(1)\nw = f32[" + batch +
                        ",8,6,6] broadcast(m), dimensions={1}\nROOT y = f32[" + batch + ",8,6,6] subtract(x, w)")));
  };
  EXPECT_EQ(moved("1"), (std::vector<std::int64_t>{}));
  EXPECT_EQ(moved("3"), (std::vector<std::int64_t>{24}));  // a column for each picture's channels
}

/// The window moves over pictures that are where they were. The result alone is copied: its features come first.
TEST(Lower, ConvolutionsCopyNoPatches) {
  const auto moved = [](const std::string& window, const std::string& kernel, const std::string& out) {
    return moved_in(
        lower(module_of("x = f32[2,8,6,6] parameter(0)\nk = f32[" + kernel + "] parameter(1)\nROOT y = f32[" + out +
                        "] convolution(x, k), window={" + window + "}, dim_labels=bf01_oi01->bf01")));
  };
  EXPECT_EQ(moved("size=3x3", "16,8,3,3", "2,16,4,4"), (std::vector<std::int64_t>{2 * 16 * 16}));
  EXPECT_EQ(moved("size=3x3 rhs_reversal=1x1", "16,8,3,3", "2,16,4,4"), (std::vector<std::int64_t>{2 * 16 * 16}));
  EXPECT_EQ(moved("size=1x1", "16,8,1,1", "2,16,6,6"), (std::vector<std::int64_t>{2 * 16 * 36}));
}

TEST(Lower, WindowsAreOneOperationWherePixelsFollowEachOther) {
  const auto ops = [](const std::string& x, const std::string& rest) {
    return ops_of(lower(module_of("x = f32[" + x + "] parameter(0)\n" + rest, kSumText)));
  };
  const std::string pool =
      "z = f32[] constant(0)\nROOT y = f32[1,8,3,3] reduce-window(x, z), "
      "window={size=1x1x2x2 stride=1x1x2x2}, to_apply=sum";
  EXPECT_THAT(ops("1,8,6,6", pool), testing::Contains("window"));
  const std::string depthwise =
      "k = f32[8,1,3,3] parameter(1)\nROOT y = f32[1,8,4,4] convolution(x, k), "
      "window={size=3x3}, dim_labels=bf01_oi01->bf01, feature_group_count=8";
  EXPECT_THAT(ops("1,8,6,6", depthwise), testing::Contains("window"));
  const std::string features_last =
      "k = f32[3,3,8,16] parameter(1)\nROOT y = f32[1,4,4,16] convolution(x, k), "
      "window={size=3x3}, dim_labels=b01f_01io->b01f";
  EXPECT_THAT(ops("1,6,6,8", features_last), testing::Not(testing::Contains("convolution")));
}

/// Elements that follow each other in another order are read in it: a copy is made for no product with a column.
TEST(Lower, ElementWiseOperationsFollowTheOrderOfMemory) {
  const auto moved = moved_in(
      lower(module_of("x = f32[2,8,6,6] parameter(0)\nk = f32[16,8,3,3] parameter(1)\nb = f32[16] parameter(2)\n"
                      "y = f32[2,16,4,4] convolution(x, k), window={size=3x3}, dim_labels=bf01_oi01->bf01\n"
                      "w = f32[2,16,4,4] broadcast(b), dimensions={1}\nROOT z = f32[2,16,4,4] add(y, w)")));
  EXPECT_EQ(moved, (std::vector<std::int64_t>{2 * 16 * 16}));  // the result
}

/// Halves of heads in front of their tokens, turned as rotary positions turn them: they are columns of the tokens'
/// rows.
TEST(Lower, HalvesOfHeadsArePickedFromRows) {
  const LoweredGraph lowered =
      lower(module_of("x = f32[2,32,256] parameter(0)\nr = f32[2,32,4,64] reshape(x)\n"
                      "t = f32[2,4,32,64] transpose(r), dimensions={0,2,1,3}\n"
                      "a = f32[2,4,32,32] slice(t), slice={[0:2],[0:4],[0:32],[0:32]}\n"
                      "b = f32[2,4,32,32] slice(t), slice={[0:2],[0:4],[0:32],[32:64]}\nn = f32[2,4,32,32] negate(b)\n"
                      "c = f32[2,4,32,64] concatenate(n, a), dimensions={3}\ny = f32[2,4,32,64] add(c, t)\n"
                      "ROOT o = f32[2,32,4,64] transpose(y), dimensions={0,2,1,3}"));
  EXPECT_TRUE(moved_in(lowered).empty());
}

/// A table of sums that takes a donated parameter's memory is added up there: the gradient of an embedding.
TEST(Lower, WhatIsWrittenInPlaceIsMadeWhereItStays) {
  Module module = module_of(
      "old = f32[300,64] parameter(0)\nids = s32[9,1] parameter(1)\nx = f32[9,64] parameter(2)\n"
      "zero = f32[] constant(0)\nz = f32[300,64] broadcast(zero), dimensions={}\n"
      "ROOT y = f32[300,64] scatter(z, ids, x), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
      kSumText);
  module.aliases = {{.output_index = {}, .parameter = 0, .parameter_index = {}}};
  EXPECT_THAT(ops_of(lower(module)), testing::Not(testing::Contains("assign")));
  module.aliases.clear();
  EXPECT_EQ(lower(module).outputs.at(0).name, "output.0");
}

TEST(Lower, ConstantsThatTensorEAloneReadsAreMarked) {
  Module module = module_of(
      "x = f32[4,8] parameter(0)\nw = f32[8,16] parameter(1)\nROOT y = f32[4,16] dot(x, w), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  module.extras["trnsim.constants"] = "1";
  const LoweredGraph lowered = lower(module);
  EXPECT_TRUE(lowered.graph.value(lowered.graph.find("parameter.1")).constant);
  EXPECT_FALSE(lowered.graph.value(lowered.graph.find("parameter.0")).constant);
  module.extras["trnsim.constants"] = "2";
  EXPECT_THROW(lower(module), base::Error);
}

TEST(Lower, MovementIsFreeUntilItIsNot) {
  // A transpose that a product reads is a matter of strides.
  const LoweredGraph lowered =
      lower(module_of("x = f32[4,8] parameter(0)\nw = f32[16,8] parameter(1)\n"
                      "t = f32[8,16] transpose(w), dimensions={1,0}\n"
                      "ROOT y = f32[4,16] dot(x, t), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}"));
  EXPECT_EQ(ops_of(lowered), (std::vector<std::string>{"matmul"}));
  EXPECT_DOUBLE_EQ(lowered.flops, 2.0 * 4 * 8 * 16);
}

TEST(Lower, LoopsUnfoldWithTheirCounterKnown) {
  const std::string body =
      "body {\n s = (s32[], f32[3,4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " x = f32[3,4] get-tuple-element(s), index=1\n one = s32[] constant(1)\n n = s32[] add(i, one)\n"
      " z = s32[] constant(0)\n p = f32[1,4] dynamic-slice(x, i, z), dynamic_slice_sizes={1,4}\n"
      " q = f32[1,4] exponential(p)\n y = f32[3,4] dynamic-update-slice(x, q, i, z)\n"
      " ROOT t = (s32[], f32[3,4]) tuple(n, y)\n}\n"
      "cond {\n s = (s32[], f32[3,4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " n = s32[] constant(3)\n ROOT l = pred[] compare(i, n), direction=LT\n}\n";
  const LoweredGraph lowered =
      lower(module_of("x = f32[3,4] parameter(0)\nz = s32[] constant(0)\nt = (s32[], f32[3,4]) tuple(z, x)\n"
                      "w = (s32[], f32[3,4]) while(t), condition=cond, body=body\n"
                      "ROOT y = f32[3,4] get-tuple-element(w), index=1",
                      body));
  const auto ops = ops_of(lowered);
  EXPECT_EQ(std::ranges::count(ops, "element"), 3 + 1);  // an exponential for each trip, and the result
  EXPECT_TRUE(lowered.timed_only.empty());
}

TEST(Lower, RefusalsNameTheNodeAndTheLine) {
  EXPECT_EQ(refusal("x = s64[4,4] parameter(0)\nROOT y = s64[4,4] dot(x, x), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}"),
            "m:4: dot_general: EVRF035: products of 64-bit integers");
  EXPECT_EQ(refusal("x = f32[4] parameter(0)\nROOT y = f32[4] custom-call(x), custom_call_target=\"mine\""),
            "m:4: custom_call: EVRF015: the custom call mine is not known here");
  EXPECT_EQ(refusal("ROOT x = c64[4] parameter(0)"), "m, parameter 0: EVRF004: the device has no c64");
}

TEST(Lower, ReductionsByRowsAndByColumns) {
  const std::string head = "x = f32[256,64] parameter(0)\nz = f32[] constant(0)\n";
  EXPECT_EQ(ops_of(lower(module_of(head + "ROOT y = f32[256] reduce(x, z), dimensions={1}, to_apply=sum", kSumText))),
            (std::vector<std::string>{"row_reduce", "view", "element"}));
  EXPECT_EQ(ops_of(lower(module_of(head + "ROOT y = f32[64] reduce(x, z), dimensions={0}, to_apply=sum", kSumText))),
            (std::vector<std::string>{"col_sum"}));
}

}  // namespace
}  // namespace trnsim::frontend
