// The optimizer's operations and the reduction over ranks, against their references.
#include <gtest/gtest.h>

#include "runtime/hyper.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAdamW;
using runtime::kAllReduce;
using runtime::kClipScale;
using runtime::kSumSquares;

Tensor hyper() {
  Tensor h(1, runtime::kHyperSize);
  h.at(0, runtime::kRate) = 1e-2F, h.at(0, runtime::kRootScale) = 3.0F, h.at(0, runtime::kDecay) = 0.98F;
  return h;
}

Tensor filled(double value) {
  return runtime::generate(1, 1, [&](auto, auto) { return value; });
}

/// w, g, m, v, hyper, clip.
Inputs adamw_inputs(std::int64_t rows, std::int64_t cols, Dtype weight, Dtype moment) {
  Tensor v = random_normal(rows, cols, 4);
  for (float& x : v.data) x = x * x + 0.1F;  // as after a few steps: no gradient has been nothing but 0
  return {{random_normal(rows, cols, 1), weight},
          {random_normal(rows, cols, 2), weight},
          {random_normal(rows, cols, 3), moment},
          {v, moment},
          hyper(),
          filled(0.5)};
}

// The same steps in fp32, each within an ulp, square root and reciprocal within 4; the update is a hundredth of w.
TEST(AdamW, UpdatesInPlace) {
  const Attrs attrs{.alpha = 0.9, .beta = 0.999, .p = 1, .eps = 1e-8};
  Attrs without_decay = attrs;
  without_decay.p = 0;
  for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {1, 30522}, {7, 11}, {130, 2100}}) {
    const Inputs in = adamw_inputs(rows, cols, Dtype::kFp32, Dtype::kFp32);
    const Tolerance within{.ulps = 8, .floor = 0.5};
    expect_reference(kAdamW, in, attrs, {within, within, within});
    expect_reference(kAdamW, in, without_decay, {within, within, within});
  }
}

TEST(AdamW, RoundsToTheTypesOfItsTensors) {
  const Attrs attrs{.alpha = 0.9, .beta = 0.999, .p = 1, .eps = 1e-8};
  const Tolerance half{.ulps = 0.55, .floor = 0.5, .dtype = Dtype::kBf16};
  // The update sees the rounded moments: 2^-9 of a hundredth, far below half a step of w.
  expect_reference(kAdamW, adamw_inputs(130, 320, Dtype::kBf16, Dtype::kBf16), attrs, {half, half, half}, "bf16");
  const Tolerance ulps{.ulps = 8, .floor = 0.5};
  expect_reference(kAdamW, adamw_inputs(130, 320, Dtype::kBf16, Dtype::kFp32), attrs, {half, ulps, ulps},
                   "bf16+fp32-optimizer");
}

// A product and a sum in fp32; in bf16 also the rounding of the result.
TEST(Sgd, UpdatesInPlace) {
  for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {1, 7919}})
    for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
      const Inputs in{
          {random_normal(rows, cols, 1), type}, {random_normal(rows, cols, 2), type}, {hyper(), Dtype::kFp32}};
      expect_reference(runtime::kSgd, in, {}, {{.ulps = type == Dtype::kFp32 ? 2 : 0.51, .floor = 0.1, .dtype = type}});
    }
}

TEST(SumSquares, OfAllElementsOfAllOperands) {
  const Inputs in{random_normal(130, 192, 1),
                  random_normal(1, 7919, 2),
                  {random_normal(257, 600, 3), Dtype::kBf16},
                  random_normal(1, 1, 4)};
  expect_reference(kSumSquares, in, {}, {{.ulps = 64}});  // partial sums per partition and tile
}

TEST(ClipScale, LimitsTheNorm) {
  const Inputs in{filled(30), filled(3.25), filled(3)};  // norm 6.02
  for (const Attrs& attrs : {Attrs{.alpha = 1, .beta = 1}, Attrs{.alpha = 100, .beta = 1}, Attrs{.alpha = 0, .beta = 1},
                             Attrs{.alpha = 1, .beta = 1.0 / 1024}})
    expect_reference(kClipScale, in, attrs, {{.ulps = 8}, {.ulps = 8}});
}

// Operands of odd sizes lie side by side in one bucket; the sums are the same on every rank.
TEST(AllReduce, SumsOverRanks) {
  Graph graph{runtime::numerics("fp32")};
  std::vector<ValueId> in;
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{3, 5}, {130, 192}, {1, 1}, {257, 6}};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    in.push_back(graph.tensor(fmt::format("g{}", i), shapes[i].first, shapes[i].second, Dtype::kFp32, Kind::kGradient));
  graph.enter({.name = "reduce"});
  graph.add(kAllReduce, "bucket", in);
  Running running{std::move(graph), {.name = "reduce", .ranks = 3, .groups = {{{0, 1, 2}}}}};
  const auto mine = [&](std::size_t i, std::uint32_t rank) {
    return random_normal(shapes[i].first, shapes[i].second, static_cast<std::uint32_t>(10 * i) + rank);
  };
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::uint32_t r = 0; r < 3; ++r) running.write(fmt::format("g{}", i), mine(i, r), r);
  running.run();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tensors parts{mine(i, 0), mine(i, 1), mine(i, 2)};
    Tensor want = parts[0];
    for (std::size_t e = 0; e < want.data.size(); ++e) want.data[e] += parts[1].data[e] + parts[2].data[e];
    for (std::uint32_t r = 0; r < 3; ++r)
      EXPECT_TRUE(close(running.read(fmt::format("g{}", i), r), want, {.ulps = 2, .floor = 1})) << i << " rank " << r;
  }
}

TEST(AllReduce, RefusesABucketOfTwoTypes) {
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [] {
                      run_on_device(kAllReduce, {random_normal(2, 2, 1), {random_normal(2, 2, 1), Dtype::kBf16}});
                    },
                    {"all_reduce", "one type"}));
}

}  // namespace
