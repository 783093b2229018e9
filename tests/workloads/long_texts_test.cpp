// Texts whose attention takes keys in blocks, since no row of scores fits in SBUF: trained as PyTorch trains them.
#include <gtest/gtest.h>

#include "runtime/ops/ops.h"
#include "tests/sanitized.h"
#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/training/verify.h"

namespace {

using namespace workloads_test;
using runtime::Dtype;

constexpr std::int64_t kTokens = 32768, kHeads = 2, kSize = 4;  // of the trained model below

/// Whether the compiler takes the keys of that model's attention in blocks, for a text of `tokens`.
bool is_in_blocks(std::int64_t tokens) {
  runtime::Graph graph{runtime::numerics("fp32")};
  std::vector<runtime::ValueId> in;
  for (const std::int64_t heads : {kHeads, std::int64_t{1}, std::int64_t{1}})
    in.push_back(
        graph.tensor("in" + std::to_string(in.size()), tokens, heads * kSize, Dtype::kFp32, runtime::Kind::kInput));
  graph.enter({.name = "test"});
  graph.add(
      runtime::kAttention, "attention", in,
      runtime::AttentionAttrs{.scale = 0.5, .batch = 1, .seq = tokens, .heads = kHeads, .kv_heads = 1, .causal = true});
  return runtime::kAttention.tile_long_rows(graph, 0, trn1_target().geometry);
}

TEST(LongTexts, AttentionInBlocksFollowsPyTorch) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  ASSERT_TRUE(is_in_blocks(kTokens));
  ASSERT_FALSE(is_in_blocks(kTokens / 16));
  workloads::VerifyOptions options;
  options.target = trn1_target();
  options.plan.numerics = runtime::numerics("fp32");
  const workloads::VerifyReport report = workloads::verify(golden("llama_long_tiny"), options);
  EXPECT_EQ(report.losses.size(), 2u);
  // Sums of up to 32,768 terms in fp32, beside PyTorch's in fp64: 4e-7 where it was measured.
  EXPECT_LE(report.logits.norm, 1e-6);
  EXPECT_LE(report.worst_loss(), 1e-7);
  EXPECT_LE(report.worst_gradient().norm, 5e-6) << report.worst_gradient().name;
  EXPECT_LE(report.worst_weight().norm, 5e-6) << report.worst_weight().name;
}

}  // namespace
