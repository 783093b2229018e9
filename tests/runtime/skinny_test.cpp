// Operators on few rows: matmuls that read each weight once, norms of rows folded over partitions.
#include <gtest/gtest.h>

#include "runtime/ops/skinny_matmul.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kMatmul;
using runtime::kSkinnyActive;
using runtime::kSkinnyLayerNorm;
using runtime::kSkinnyMatmul;
using runtime::kSkinnyRmsNorm;

struct SkinnyCase {
  std::int64_t rows, depth, cols;
  Dtype dtype;
};
class SkinnyProducts : public testing::TestWithParam<SkinnyCase> {};

// Sums of `depth` products in another order; in bf16 the operands are exact, the result is rounded.
TEST_P(SkinnyProducts, ProductsWithSeveralWeightsAndTheSameFromAPlainMatmul) {
  const auto [rows, depth, cols, type] = GetParam();
  const Inputs in =
      in_type(type, {random_normal(rows, depth, 1), random_normal(depth, cols, 2), random_normal(depth, 40, 3)});
  const double scale = std::sqrt(static_cast<double>(depth));
  const bool fp32 = type == Dtype::kFp32;
  const Tolerance within{.ulps = fp32 ? 8 + scale : 1.01, .floor = fp32 ? scale : scale / 8, .dtype = type};
  expect_reference(kSkinnyMatmul, in, {}, {within, within}, fp32 ? "fp32" : "bf16");
  // With a bias, with an activation, and gated.
  const Tensor bias = random_normal(1, cols, 4);
  expect_reference(kSkinnyMatmul, {in[0], in[1], {bias, type}, in[2]}, {}, {within, within}, fp32 ? "fp32" : "bf16");
  const SkinnyAttrs silu{.fn = isa::Fn::kSilu};
  expect_reference(kSkinnyActive, {in[0], in[1], {bias, type}}, silu, {within}, fp32 ? "fp32" : "bf16");
  const Tolerance gated{.ulps = 2 * within.ulps, .floor = within.floor * scale, .dtype = type};
  expect_reference(kSkinnyActive, {in[0], in[1], {random_normal(depth, cols, 5), type}}, silu, {gated},
                   fp32 ? "fp32" : "bf16");
  // Blocked rows are understood by matmul too: prompts read the same weights.
  expect_reference(kMatmul, {in[0], in[1]}, MatmulAttrs{.blocked = true}, {within}, fp32 ? "fp32" : "bf16");
}

INSTANTIATE_TEST_SUITE_P(Sizes, SkinnyProducts,
                         testing::Values(SkinnyCase{1, 128, 8, Dtype::kFp32}, SkinnyCase{8, 344, 300, Dtype::kFp32},
                                         SkinnyCase{3, 64, 172, Dtype::kFp32}, SkinnyCase{128, 640, 513, Dtype::kFp32},
                                         SkinnyCase{4, 1024, 5000, Dtype::kBf16},
                                         SkinnyCase{8, 4096, 128, Dtype::kBf16}));

TEST(SkinnyMatmul, RefusesManyRowsAndWeightsOfAnotherDepth) {
  const auto with = [](std::int64_t rows, std::int64_t depth) {
    return [=] { run_on_device(kSkinnyMatmul, {random_normal(rows, 32, 1), random_normal(depth, 8, 2)}); };
  };
  EXPECT_TRUE(fails(base::Fault::kProgram, with(129, 32), {"skinny_matmul", "more than 128 rows"}));
  EXPECT_TRUE(fails(base::Fault::kProgram, with(4, 33), {"skinny_matmul", "w", "must be [32, 8]"}));
}

struct NormCase {
  std::int64_t rows, cols, parts;
  Dtype dtype;
};
class SkinnyNorms : public testing::TestWithParam<NormCase> {};

// Rows are folded where blocks of 128 columns allow it: 4 x 2048 over 16 partitions each, 100 rows not at all.
TEST_P(SkinnyNorms, RowsAndTheirSumWithOthersAndABias) {
  const auto [rows, cols, parts, type] = GetParam();
  EXPECT_EQ(runtime::skinny_fold(rows, cols), parts);
  const Tensor x = random_normal(rows, cols, 1, 3), y = random_normal(rows, cols, 2), bias = random_normal(1, cols, 3);
  const Tensor gamma = random_normal(1, cols, 4), beta = random_normal(1, cols, 5);
  const bool fp32 = type == Dtype::kFp32;
  // Sums of `cols` numbers in another order; in bf16 the sum of x, y and the bias is rounded, then the result.
  const Tolerance exact{.ulps = fp32 ? 4 + std::sqrt(static_cast<double>(cols)) : 3, .floor = 1, .dtype = type};
  // Sums of three on the way to x' are below 16, where half a step is four of those at 1; there are two roundings.
  const Tolerance sum{.ulps = fp32 ? 8 : 0.6, .floor = 1, .dtype = type};
  const auto check = [&](const Op& op, const Tensors& vectors) {
    Tensors in{x};
    in.insert(in.end(), vectors.begin(), vectors.end());
    NormAttrs attrs{.eps = 1e-5};
    if (&op == &kSkinnyLayerNorm) attrs.vectors = std::ssize(vectors);
    expect_reference(op, in_type(type, in), attrs, {exact}, fp32 ? "fp32" : "bf16");
    in.push_back(y);
    expect_reference(op, in_type(type, in), attrs, {exact, sum}, fp32 ? "fp32" : "bf16");
    in.push_back(bias);
    expect_reference(op, in_type(type, in), attrs, {exact, sum}, fp32 ? "fp32" : "bf16");
  };
  check(kSkinnyRmsNorm, {gamma});
  check(kSkinnyLayerNorm, {gamma, beta});
  check(kSkinnyLayerNorm, {gamma});
  check(kSkinnyLayerNorm, {});
}

INSTANTIATE_TEST_SUITE_P(Sizes, SkinnyNorms,
                         testing::Values(NormCase{1, 64, 1, Dtype::kFp32}, NormCase{1, 256, 2, Dtype::kFp32},
                                         NormCase{4, 2048, 16, Dtype::kFp32}, NormCase{3, 384, 1, Dtype::kFp32},
                                         NormCase{5, 1280, 2, Dtype::kFp32}, NormCase{100, 512, 1, Dtype::kFp32},
                                         NormCase{8, 4096, 16, Dtype::kBf16}, NormCase{4, 8192, 32, Dtype::kBf16}));

// The product finds the norm folded in SBUF, and takes it apart again.
TEST(Skinny, AProductReadsAFoldedNorm) {
  const std::int64_t rows = 4, cols = 2048;
  Graph graph{runtime::numerics("fp32")};
  const auto tensor = [&](const char* name, std::int64_t r, std::int64_t c) {
    return graph.tensor(name, r, c, Dtype::kFp32, Kind::kInput);
  };
  const ValueId x = tensor("x", rows, cols), gamma = tensor("gamma", 1, cols), w = tensor("w", cols, 96);
  graph.enter({.name = "test"});
  const ValueId h = graph.add1(kSkinnyRmsNorm, "norm", {x, gamma}, NormAttrs{.eps = 1e-5});
  graph.output(graph.add1(kSkinnyMatmul, "product", {h, w}), "y");
  Running running{std::move(graph)};
  const Tensors in{random_normal(rows, cols, 1), random_normal(1, cols, 2), random_normal(cols, 96, 3)};
  running.write("x", in[0]), running.write("gamma", in[1]), running.write("w", in[2]);
  running.run();
  const Tensors norm = kSkinnyRmsNorm.forward(NormAttrs{.eps = 1e-5}, std::span{in}.first(2));
  const Tensors product{norm[0], in[2]};
  // 2048 products of numbers of about 1.
  EXPECT_TRUE(close(running.read("y"), kSkinnyMatmul.forward(SkinnyAttrs{}, product)[0], {.ulps = 64, .floor = 45}));
  // Loads of x, gamma and w alone: the norm has no way through HBM.
  for (const isa::Instr& i : running.compiled().program.blocks.front().instrs)
    if (i.dst.space == isa::Space::kHbm) {
      EXPECT_EQ(i.dst.elements(), rows * 96);
    }
}

}  // namespace
