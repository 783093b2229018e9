// The optimizer's operations and the reduction over ranks, against their references.
#include <gtest/gtest.h>

#include "runtime/ops/optimizer_inputs.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAdamW;
using runtime::kAllReduce;
using runtime::kClipScale;
using runtime::kSumSquares;

Tensor hyper() {
  Tensor h(1, runtime::kOptimizerInputs);
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
  const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decays = true};
  OptimizerAttrs without_decay = attrs;
  without_decay.decays = false;
  for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {1, 30522}, {7, 11}, {130, 2100}}) {
    const Inputs in = adamw_inputs(rows, cols, Dtype::kFp32, Dtype::kFp32);
    const Tolerance within{.ulps = 8, .floor = 0.5};
    expect_reference(kAdamW, in, attrs, {within, within, within});
    expect_reference(kAdamW, in, without_decay, {within, within, within});
  }
}

TEST(AdamW, RoundsToTheTypesOfItsTensors) {
  const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decays = true};
  const Tolerance half{.ulps = 0.55, .floor = 0.5, .dtype = Dtype::kBf16};
  // The update sees the rounded moments: 2^-9 of a hundredth, far below half a step of w.
  expect_reference(kAdamW, adamw_inputs(130, 320, Dtype::kBf16, Dtype::kBf16), attrs, {half, half, half}, "bf16");
  const Tolerance ulps{.ulps = 8, .floor = 0.5};
  expect_reference(kAdamW, adamw_inputs(130, 320, Dtype::kBf16, Dtype::kFp32), attrs, {half, ulps, ulps},
                   "bf16+fp32-optimizer");
}

/// Algorithm 2 of the paper, in double precision and its own words; bias corrections as `hyper()` has them.
std::vector<double> plain_lamb(const Inputs& in, const OptimizerAttrs& attrs, double rate, double decay) {
  const std::size_t n = in[0].value.data.size();
  const double correct_m = in[4].value.at(0, runtime::kRate) / rate;  // 1 / (1 - b1^t)
  const double correct_root = in[4].value.at(0, runtime::kRootScale), clip = in[5].value.at(0, 0);
  std::vector<double> u(n), out(n);
  double w_norm = 0, u_norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = in[0].value.data[i], g = clip * in[1].value.data[i];
    const double m = attrs.beta1 * in[2].value.data[i] + (1 - attrs.beta1) * g;
    const double v = attrs.beta2 * in[3].value.data[i] + (1 - attrs.beta2) * g * g;
    u[i] = m * correct_m / (std::sqrt(v) * correct_root + attrs.eps) + decay * w;
    w_norm += w * w, u_norm += u[i] * u[i];
  }
  const double trust = w_norm > 0 && u_norm > 0 ? std::sqrt(w_norm / u_norm) : 1;
  for (std::size_t i = 0; i < n; ++i) out[i] = in[0].value.data[i] - rate * trust * u[i];
  return out;
}

Inputs lamb_inputs(std::int64_t rows, std::int64_t cols, Dtype weight, Dtype moment, double rate, double decay) {
  Inputs in = adamw_inputs(rows, cols, weight, moment);
  in[4].value.at(0, runtime::kLearningRate) = static_cast<float>(rate);
  in[4].value.at(0, runtime::kDecayedShare) = static_cast<float>(rate * decay);
  return in;
}

Tensor tensor_of(const std::vector<double>& values, std::int64_t rows, std::int64_t cols) {
  return runtime::generate(rows, cols, [&](auto r, auto c) { return values[static_cast<std::size_t>(r * cols + c)]; });
}

// As AdamW; the norms are sums of positive numbers in fp32, some ulps that move an update of a thousandth of w.
TEST(Lamb, UpdatesByTheTrustRatioOfTheWholeTensor) {
  constexpr double kRate = 2e-3, kDecay = 0.01;
  for (const bool decays : {false, true})
    for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {7, 11}, {130, 2100}, {1024, 1100}}) {
      const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .decays = decays};
      const Inputs in = lamb_inputs(rows, cols, Dtype::kFp32, Dtype::kFp32, kRate, kDecay);
      const Tolerance within{.ulps = 8, .floor = 0.5};
      expect_reference(runtime::kLamb, in, attrs, {within, within, within});
      const Tensor want = tensor_of(plain_lamb(in, attrs, kRate, decays ? kDecay : 0), rows, cols);
      EXPECT_TRUE(close(run_on_device(runtime::kLamb, in, attrs)[0], want, within)) << rows << " x " << cols;
    }
}

TEST(Lamb, RoundsToTheTypesOfItsTensors) {
  const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .decays = true};
  const Tolerance half{.ulps = 0.55, .floor = 0.5, .dtype = Dtype::kBf16}, ulps{.ulps = 8, .floor = 0.5};
  const auto in = [](Dtype moment) { return lamb_inputs(130, 320, Dtype::kBf16, moment, 2e-3, 0.01); };
  expect_reference(runtime::kLamb, in(Dtype::kBf16), attrs, {half, half, half}, "bf16");
  expect_reference(runtime::kLamb, in(Dtype::kFp32), attrs, {half, ulps, ulps}, "bf16+fp32-optimizer");
}

// A bias that is 0 still learns, at the ratio 1; without a gradient and decay nothing moves, and nothing is NaN.
TEST(Lamb, RatioIsOneWhereANormIsZero) {
  const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .decays = false};
  Inputs in = lamb_inputs(4, 96, Dtype::kFp32, Dtype::kFp32, 2e-3, 0);
  const Tensor weights = in[0].value;
  for (float& x : in[0].value.data) x = 0;
  const Tensor want = tensor_of(plain_lamb(in, attrs, 2e-3, 0), 4, 96);
  EXPECT_TRUE(close(run_on_device(runtime::kLamb, in, attrs)[0], want, {.ulps = 8, .floor = 1e-4}));
  in[0].value = weights;
  for (const std::size_t i : {1u, 2u})
    for (float& x : in[i].value.data) x = 0;
  EXPECT_TRUE(same(run_on_device(runtime::kLamb, in, attrs)[0], weights));
}

// The two halves on the parts of a tensor are the whole on the tensor.
TEST(Lamb, PartsShareTheRatioOfTheirTensor) {
  const OptimizerAttrs attrs{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .decays = true};
  const Inputs whole = lamb_inputs(64, 96, Dtype::kFp32, Dtype::kFp32, 2e-3, 0.01);
  const auto rows = [](const Tensor& t, std::int64_t first, std::int64_t count) {
    return runtime::generate(count, t.cols, [&](auto r, auto c) { return t.at(first + r, c); });
  };
  Tensor norms(1, 2);
  std::vector<Inputs> parts;
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 23}, {23, 41}}) {
    Inputs& part = parts.emplace_back(whole);
    for (std::size_t i = 0; i < 4; ++i) part[i].value = rows(whole[i].value, first, count);
    const Tolerance within{.ulps = 8, .floor = 0.5};
    expect_reference(runtime::kLambNorms, part, attrs, {within, within, {.ulps = 64, .floor = 1e-6}});
    const auto out = run_on_device(runtime::kLambNorms, part, attrs);
    for (const std::int64_t c : {0, 1}) norms.at(0, c) += out[2].at(0, c);
    part[2].value = out[0], part[3].value = out[1];
  }
  const Tensor want = run_on_device(runtime::kLamb, whole, attrs)[0];
  std::int64_t first = 0;
  for (const Inputs& part : parts) {
    const Inputs in{part[0], part[2], part[3], whole[4], {norms, Dtype::kFp32}};
    expect_reference(runtime::kLambApply, in, attrs, {{.ulps = 8, .floor = 0.5}});
    const Tensor got = run_on_device(runtime::kLambApply, in, attrs)[0];
    EXPECT_TRUE(close(got, rows(want, first, got.rows), {.ulps = 8, .floor = 0.5}));
    first += got.rows;
  }
}

// A few sums and products in fp32; in bf16 also the rounding of the results.
TEST(Momentum, UpdatesInPlace) {
  for (const bool decays : {false, true})
    for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {1, 7919}})
      for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
        Tensor factors = hyper();
        factors.at(0, runtime::kLearningRate) = 1e-2F, factors.at(0, runtime::kWeightDecay) = 0.1F;
        const Inputs in{{random_normal(rows, cols, 1), type},
                        {random_normal(rows, cols, 2), type},
                        {random_normal(rows, cols, 3), type},
                        factors,
                        filled(0.5)};
        const OptimizerAttrs attrs{.beta1 = 0.9, .decays = decays};
        const Tolerance within{.ulps = type == Dtype::kFp32 ? 4 : 0.55, .floor = 0.5, .dtype = type};
        expect_reference(runtime::kMomentum, in, attrs, {within, within});
      }
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

TEST(SumSquares, SumsAllElementsOfAllOperands) {
  const Inputs in{random_normal(130, 192, 1),
                  random_normal(1, 7919, 2),
                  {random_normal(257, 600, 3), Dtype::kBf16},
                  random_normal(1, 1, 4)};
  expect_reference(kSumSquares, in, {}, {{.ulps = 64}});  // partial sums per partition and tile
}

TEST(ClipScale, LimitsTheNorm) {
  const Inputs in{filled(30), filled(3.25), filled(3)};  // norm 6.02
  for (const ClipAttrs& attrs : {ClipAttrs{.max_norm = 1}, ClipAttrs{.max_norm = 100}, ClipAttrs{.max_norm = 0},
                                 ClipAttrs{.max_norm = 1, .scale = 1.0 / 1024}})
    expect_reference(kClipScale, in, attrs, {{.ulps = 8}, {.ulps = 8}});
}

// Operands of odd sizes are side by side in one bucket; the sums are the same on every rank.
TEST(AllReduce, SumsOverRanks) {
  Graph graph{runtime::numerics("fp32")};
  std::vector<ValueId> in;
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{3, 5}, {130, 192}, {1, 1}, {257, 6}};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    in.push_back(graph.tensor(fmt::format("g{}", i), shapes[i].first, shapes[i].second, Dtype::kFp32, Kind::kGradient));
  graph.enter({.name = "reduce"});
  graph.add(kAllReduce, "bucket", in);
  graph.set_replica_groups({{{0, 1, 2}}});
  Running running{std::move(graph), {.name = "reduce", .ranks = 3}};
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

/// w, g, m, v if they are there, and as many factors as the settings take, between 0.1 and 0.9.
Inputs update_inputs(const runtime::UpdateAttrs& a, std::int64_t rows, std::int64_t cols, Dtype type) {
  Inputs in{{random_normal(rows, cols, 1), type}, {random_normal(rows, cols, 2), type}};
  if (a.moment) in.push_back({random_normal(rows, cols, 3), type});
  Tensor v = random_normal(rows, cols, 4);
  for (float& x : v.data) x = x * x + 0.1F;
  if (a.adaptive) in.push_back({v, type});
  const int factors = 2 + (a.moment ? 2 : 0) + (a.adaptive ? 4 : 0) + (a.decays ? 1 : 0) + (a.ahead ? 1 : 0);
  for (int i = 0; i < factors; ++i) in.push_back(filled(0.1 + 0.8 * i / factors));
  return in;
}

// A dozen steps in fp32, each within an ulp of numbers around 1, square root and reciprocal within 4; in bf16 also the
// rounding of the results.
TEST(Update, IsAnyOptimizerOfItsForm) {
  for (const bool moment : {false, true})
    for (const bool adaptive : {false, true})
      for (const bool decays : {false, true})
        for (const std::uint32_t in_place : {0U, 7U})
          for (const auto& [rows, cols] : {std::pair{1, 6}, {192, 320}, {7, 1131}}) {
            const runtime::UpdateAttrs attrs{.moment = moment,
                                             .adaptive = adaptive,
                                             .decays = decays,
                                             .ahead = moment && !adaptive,
                                             .in_place = in_place};
            const Tolerance within{.ulps = 16, .floor = 1};
            const std::size_t results = 1 + (moment ? 1 : 0) + (adaptive ? 1 : 0);
            expect_reference(runtime::kUpdate, update_inputs(attrs, rows, cols, Dtype::kFp32), attrs,
                             std::vector<Tolerance>(results, within));
          }
  const runtime::UpdateAttrs attrs{.moment = true, .adaptive = true, .in_place = 7};
  const Tolerance half{.ulps = 1, .floor = 1, .dtype = Dtype::kBf16};
  expect_reference(runtime::kUpdate, update_inputs(attrs, 130, 320, Dtype::kBf16), attrs, {half, half, half}, "bf16");
}

}  // namespace
