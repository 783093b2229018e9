// Sinks of attention: a score of each head that counts in each sum of a softmax and has no value.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAttention;

/// Scores are below 40, whose rounding exp turns into 2^-18. A sink above all scores, one below them, in rows that are
/// whole and in blocks of keys.
TEST(AttentionSinks, CountInEachSum) {
  struct Case {
    std::int64_t seq, window, tile_keys;
    bool masked, flash;
  };
  for (const auto& [seq, window, tile_keys, masked, flash] :
       {Case{5, 0, 0, true, false}, {130, 0, 0, false, true}, {130, 40, 0, true, false}, {640, 200, 512, true, true}}) {
    const AttentionAttrs attrs{.scale = 0.4,
                               .batch = 2,
                               .seq = seq,
                               .heads = 4,
                               .kv_heads = 2,
                               .causal = true,
                               .window = window,
                               .flash = flash,
                               .term = ScoreTerm::kSinks,
                               .tile_keys = tile_keys};
    Inputs in{random_normal(2 * seq, 24, 1), random_normal(2 * seq, 12, 2), random_normal(2 * seq, 12, 3)};
    if (masked)
      in.emplace_back(
          runtime::generate(2, seq, [](auto b, auto k) { return b == 1 && (k == 1 || k == 2) ? -1e9 : 0.0; }));
    in.push_back(runtime::generate(1, 4, [](auto, auto h) { return 20.0 - 12.0 * h; }));
    const Tensors want = kAttention.forward(attrs, values(in));
    const auto near = [](double floor) { return Tolerance{.ulps = 256, .floor = floor}; };
    expect_reference(kAttention, in, attrs,
                     {near(largest(want[0]) / 4), flash ? near(1) : near(largest(want[1]) / 32), near(0.25)});
  }
  const Inputs in{random_normal(8, 6, 1), random_normal(8, 6, 2), random_normal(8, 6, 3), random_normal(1, 3, 4)};
  const auto wrong = [&](const AttentionAttrs& attrs) { return [&] { run_on_device(kAttention, in, attrs); }; };
  AttentionAttrs attrs{.batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kSinks};
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong(attrs), {"sinks", "is [1, 3] but must be [1, 2]"}));
  attrs.scale = 0;
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong(attrs), {"sinks", "scale"}));
}

TEST(AttentionSinks, HaveAGradientOfTerms) {
  const Inputs in{random_normal(140, 24, 1), random_normal(140, 24, 2),
                  runtime::generate(140, 3, [](auto r, auto h) { return (r % 7 + h) / 10.0; })};
  expect_reference(runtime::kSinkTerms, in, {}, {{.ulps = 32, .floor = 1}});
}

}  // namespace
