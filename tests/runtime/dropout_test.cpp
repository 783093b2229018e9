// Dropout depends on the place, not on the caller: forward and backward agree, fused or not.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;

constexpr std::int64_t kRows = 257, kCols = 1100;
constexpr double kP = 0.1;

Tensor ones(std::int64_t rows, std::int64_t cols) {
  return runtime::generate(rows, cols, [](auto, auto) { return 1.0; });
}

/// 1 where the tensor is not 0.
Tensor kept(const Tensor& t) {
  return runtime::generate(t.rows, t.cols, [&](auto r, auto c) { return t.at(r, c) != 0 ? 1 : 0; });
}

/// "behind": dropout behind a matmul in the same scope; "alone": of a tensor of ones in a scope of its own, which
/// draws the numbers of `rng`.
Graph two_dropouts(std::uint32_t rng, std::uint32_t stream) {
  Graph g{runtime::numerics("fp32")};
  const ValueId x = g.tensor("x", kRows, 70, Dtype::kFp32, Kind::kInput);
  const ValueId w = g.tensor("w", 70, kCols, Dtype::kFp32, Kind::kInput);
  const ValueId unit = g.tensor("ones", kRows, kCols, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "forward", .rng = 7});
  const ValueId y = g.add1(runtime::kMatmul, "product", {x, w});
  g.output(g.add1(runtime::kDropout, "drop", {y}, DropoutAttrs{.p = kP, .stream = 3}), "behind");
  g.enter({.name = "backward", .rng = rng});
  g.output(g.add1(runtime::kDropout, "drop", {unit}, DropoutAttrs{.p = kP, .stream = stream}), "alone");
  return g;
}

struct Masks {
  Tensor behind, alone;
};

Masks masks(const char* passes, std::uint32_t rng = 7, std::uint32_t stream = 3, isa::RunOptions options = {}) {
  Running running{two_dropouts(rng, stream), {.name = "dropout", .passes = runtime::parse_passes(passes)}};
  running.write("x", random_normal(kRows, 70, 1));
  running.write("w", random_normal(70, kCols, 2));
  running.write("ones", ones(kRows, kCols));
  running.run(options);
  return {running.read("behind"), running.read("alone")};
}

TEST(Dropout, DropsTheSameInForwardAndBackwardFusedOrNot) {
  const Masks fused = masks(""), unfused = masks("-fusion");
  EXPECT_TRUE(same(kept(fused.behind), kept(fused.alone)));
  EXPECT_TRUE(same(kept(unfused.behind), kept(fused.behind)));
  EXPECT_TRUE(same(unfused.alone, fused.alone));
  EXPECT_TRUE(same(unfused.behind, fused.behind));
}

TEST(Dropout, ScalesKeptElementsAndDropsItsShare) {
  const Tensor y = masks("").alone;
  double dropped = 0;
  for (const float x : y.data) {
    EXPECT_TRUE(x == 0 || x == static_cast<float>(1 / (1 - kP))) << x;
    dropped += x == 0;
  }
  const double n = kRows * kCols;
  EXPECT_NEAR(dropped, n * kP, 4 * std::sqrt(n * kP * (1 - kP)));
  // Neighbours in a row, and the same column of rows in other tiles, drop independently.
  double pairs = 0, tiles = 0;
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kCols; ++c) {
      if (c + 1 < kCols) pairs += y.at(r, c) == 0 && y.at(r, c + 1) == 0;
      if (r + 128 < kRows) tiles += y.at(r, c) == 0 && y.at(r + 128, c) == 0;
    }
  const auto expect_independent = [](double found, double trials) {
    EXPECT_NEAR(found, trials * kP * kP, 4 * std::sqrt(trials * kP * kP));
  };
  expect_independent(pairs, kRows * (kCols - 1));
  expect_independent(tiles, (kRows - 128) * kCols);
}

// Another call, stream, step or seed drops others: two masks agree in p^2 + (1-p)^2 of the places by chance.
TEST(Dropout, DrawsOtherNumbersForOtherPurposes) {
  const Tensor first = kept(masks("").alone);
  const double n = kRows * kCols, chance = kP * kP + (1 - kP) * (1 - kP);
  const isa::RunOptions step{.step = 1}, seed{.seed = 43};
  for (const Tensor& other : {kept(masks("", 8).alone), kept(masks("", 7, 4).alone), kept(masks("", 7, 3, step).alone),
                              kept(masks("", 7, 3, seed).alone)}) {
    double equal = 0;
    for (std::size_t i = 0; i < other.data.size(); ++i) equal += other.data[i] == first.data[i];
    EXPECT_NEAR(equal, n * chance, 4 * std::sqrt(n * chance * (1 - chance)));
  }
}

/// Attention with uniform probabilities 1 / seq whose dropout can be read off: values and gradients are unit vectors
/// of the keys [first, first + size).
struct Uniform {
  std::int64_t seq, first;
  static constexpr std::int64_t kSize = 48, kHeads = 2;
  AttentionAttrs attrs() const {
    return {.scale = 1, .batch = 1, .seq = seq, .heads = kHeads, .kv_heads = kHeads, .p = 0.25, .stream = 5};
  }
  Tensor units() const {
    return runtime::generate(seq, kHeads * kSize, [&](auto r, auto c) { return r - first == c % kSize ? 1 : 0; });
  }
  Tensor probabilities() const {
    return runtime::generate(kHeads * seq, seq, [&](auto, auto) { return 1.0 / static_cast<double>(seq); });
  }
};

class AttentionDropout : public testing::TestWithParam<Uniform> {};

TEST_P(AttentionDropout, IsTheSameInBackward) {
  const Uniform u = GetParam();
  const std::int64_t cols = Uniform::kHeads * Uniform::kSize;
  const Tensor zero(u.seq, cols);
  const Tensor context = run_on_device(runtime::kAttention, {zero, zero, u.units()}, u.attrs())[0];
  double dropped = 0;
  for (const float x : context.data) {
    dropped += x == 0;
    EXPECT_TRUE(x == 0 || std::abs(x * static_cast<float>(u.seq) * 0.75F - 1) < 1e-5) << x;
  }
  const auto n = static_cast<double>(context.data.size());
  EXPECT_NEAR(dropped, n / 4, 4 * std::sqrt(n * 0.25 * 0.75));

  // dv[j, i] = m[i, j] p for unit gradients: the queries and keys of a square that both show.
  const Tensors by_value =
      run_on_device(runtime::kAttentionGrad, {zero, zero, zero, u.probabilities(), u.units(), zero}, u.attrs());
  for (std::int64_t h = 0; h < Uniform::kHeads; ++h)
    for (std::int64_t i = 0; i < Uniform::kSize; ++i)
      for (std::int64_t j = 0; j < Uniform::kSize; ++j)
        EXPECT_EQ(by_value[2].at(u.first + j, h * Uniform::kSize + i) != 0,
                  context.at(u.first + i, h * Uniform::kSize + j) != 0);

  // With do v^T = 1 everywhere, dq[i, j] = p (m[i, j] - mean of m[i]) for unit keys: above 0 where it is kept.
  const Tensor even = runtime::generate(u.seq, cols, [&](auto, auto c) { return c % Uniform::kSize == 0 ? 1 : 0; });
  const Tensor even_context = run_on_device(runtime::kAttention, {zero, zero, even}, u.attrs())[0];
  const Tensors by_score =
      run_on_device(runtime::kAttentionGrad, {zero, u.units(), even, u.probabilities(), even, even_context}, u.attrs());
  EXPECT_TRUE(same(runtime::generate(u.seq, cols, [&](auto r, auto c) { return by_score[0].at(r, c) > 0 ? 1 : 0; }),
                   kept(context)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, AttentionDropout,
                         testing::Values(Uniform{48, 0}, Uniform{130, 82}, Uniform{600, 0}, Uniform{600, 520}),
                         [](const auto& i) { return fmt::format("seq{}from{}", i.param.seq, i.param.first); });

}  // namespace
