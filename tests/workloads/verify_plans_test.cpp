// Parallel plans compute what one core computes: decoders that PyTorch has trained, on up to 32 simulated cores.
#include <gtest/gtest.h>

#include "hw/sim_device.h"
#include "tests/sanitized.h"
#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/training/verify.h"

namespace {

using namespace workloads_test;
using runtime::Recompute;
using workloads::VerifyOptions;
using workloads::VerifyReport;

struct PlanCase {
  const char* name;
  const char* model;
  std::uint32_t data;
  std::int64_t tensor, micro;
  bool sequence, zero;
  Recompute recompute;
  std::int64_t pipeline = 1, chunks = 1;

  friend void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }
};

VerifyOptions options_of(const PlanCase& c, const char* numerics) {
  VerifyOptions options;
  options.target = trn1_target();
  options.plan.numerics = runtime::numerics(numerics);
  options.plan.data = c.data;
  options.plan.tensor = c.tensor;
  options.plan.pipeline = c.pipeline;
  options.plan.chunks = c.chunks;
  options.plan.micro_batches = c.micro;
  options.plan.sequence = c.sequence;
  options.plan.zero1 = c.zero;
  options.plan.recompute = c.recompute;
  options.host_threads = 1;
  return options;
}

class Plans : public testing::TestWithParam<PlanCase> {};

// In fp32 a plan changes the order of sums alone.
TEST_P(Plans, Fp32FollowsPyTorch) {
  const VerifyReport report = workloads::verify(golden(GetParam().model), options_of(GetParam(), "fp32"));
  EXPECT_LE(report.logits.norm, 1e-5);
  EXPECT_LE(report.worst_loss(), 1e-5);
  EXPECT_LE(report.worst_gradient().norm, 1e-4) << report.worst_gradient().name;
  EXPECT_LE(report.worst_weight().norm, 2e-4) << report.worst_weight().name;
  EXPECT_GE(report.losses.size(), 6u);
}

constexpr Recompute kNone = Recompute::kNone, kFull = Recompute::kFull;

INSTANTIATE_TEST_SUITE_P(
    Golden, Plans,
    testing::Values(PlanCase{"one core", "llama_tiny", 1, 1, 1, false, false, kNone},
                    PlanCase{"grouped queries", "llama_gqa", 1, 1, 1, false, false, kNone},
                    PlanCase{"grouped queries, TP 2", "llama_gqa", 1, 2, 1, true, false, kNone},
                    PlanCase{"TP 2", "llama_tiny", 1, 2, 1, false, false, kNone},
                    PlanCase{"TP 8", "llama_tiny", 1, 8, 1, false, false, kNone},
                    PlanCase{"TP 8, sequence parallel", "llama_tiny", 1, 8, 1, true, false, kNone},
                    PlanCase{"DP 2", "llama_tiny", 2, 1, 1, false, false, kNone},
                    PlanCase{"ZeRO-1 over DP 4", "llama_tiny", 4, 1, 1, false, true, kNone},
                    PlanCase{"accumulation 4", "llama_tiny", 1, 1, 4, false, false, kNone},
                    PlanCase{"accumulation 3 of 4 samples", "llama_tiny", 1, 1, 3, false, false, kNone},
                    PlanCase{"recompute full", "llama_tiny", 1, 1, 2, false, false, kFull},
                    PlanCase{"recompute selective", "llama_tiny", 1, 2, 2, true, false, Recompute::kSelective},
                    PlanCase{"32 cores: TP 8, DP 4, all of it", "llama_tiny", 4, 8, 1, true, true, kFull},
                    PlanCase{"TP 2 x DP 2, sequence parallel", "llama_tiny", 2, 2, 1, true, false, kNone},
                    PlanCase{"PP 2", "llama_tiny", 1, 1, 1, false, false, kNone, 2},
                    PlanCase{"PP 2, accumulation 4", "llama_tiny", 1, 1, 4, false, false, kNone, 2},
                    PlanCase{"PP 3, grouped queries", "llama_gqa", 1, 1, 2, false, false, kNone, 3},
                    PlanCase{"PP 2, ZeRO-1 over DP 2, recompute", "llama_tiny", 2, 1, 2, false, true, kFull, 2},
                    PlanCase{"TP 2 x PP 2 x DP 2", "llama_tiny", 2, 2, 2, true, false, kNone, 2},
                    PlanCase{"32 cores: TP 8, PP 2, DP 2", "llama_tiny", 2, 8, 1, true, true, kFull, 2},
                    PlanCase{"GPT on one core", "gpt_tiny", 1, 1, 1, false, false, kNone},
                    PlanCase{"GPT, accumulation 2, recompute", "gpt_tiny", 1, 1, 2, false, false, kFull},
                    PlanCase{"GPT, TP 2", "gpt_tiny", 1, 2, 1, false, false, kNone},
                    PlanCase{"GPT, TP 4, sequence parallel", "gpt_tiny", 1, 4, 1, true, false, kNone},
                    PlanCase{"GPT, ranks share a sequence", "gpt_tiny", 1, 4, 4, true, false, Recompute::kSelective},
                    PlanCase{"GPT, PP 2", "gpt_tiny", 1, 1, 2, false, false, kNone, 2},
                    PlanCase{"GPT, TP 2 x PP 2 x DP 2, ZeRO-1", "gpt_tiny", 2, 2, 2, true, true, kNone, 2},
                    PlanCase{"BERT, ZeRO-1 over DP 2", "bert_tiny", 2, 1, 1, false, true, kNone},
                    PlanCase{"BERT, accumulation 2, recompute", "bert_tiny", 1, 1, 2, false, false, kFull},
                    PlanCase{"ALBERT's shared layers, ZeRO-1, recompute", "albert_tiny", 2, 1, 2, false, true, kFull},
                    PlanCase{"ModernBERT's windows, recompute selective", "modernbert_tiny", 1, 1, 1, false, false,
                             Recompute::kSelective},
                    PlanCase{"norms of heads beside others, ZeRO-1", "qwen3_tiny", 2, 2, 1, false, true, kNone},
                    PlanCase{"BERT, TP 2, whole vocabulary", "bert_tiny", 1, 2, 1, false, false, kNone},
                    PlanCase{"BERT's adapters, TP 2", "bert_lora_tiny", 1, 2, 2, false, false, kFull},
                    PlanCase{"DeiT, TP 4, recompute", "deit_teacher_tiny", 1, 4, 1, false, false, kFull},
                    PlanCase{"ViT, ZeRO-1, recompute", "vit_tiny", 2, 1, 1, false, true, kFull},
                    PlanCase{"ViT, TP 2 x DP 2", "vit_tiny", 2, 2, 1, false, false, kNone},
                    PlanCase{"DINOv3, TP 2, recompute", "dinov3_gated_tiny", 1, 2, 1, false, false, kFull},
                    PlanCase{"DINOv3, TP 4 x DP 2, ZeRO-1", "dinov3_tiny", 2, 4, 1, false, true, kNone}));

// A layer that runs again rounds as before.
TEST(Plans, ARecomputedEncoderHasTheBitsOfTheOther) {
  VerifyOptions options = options_of({"", "bert_tiny", 1, 1, 2, false, false, kNone}, "bf16");
  const std::vector<double> want = workloads::verify(golden("bert_tiny"), options).losses;
  options.plan.recompute = kFull;
  EXPECT_EQ(workloads::verify(golden("bert_tiny"), options).losses, want);
}

// Stochastic rounding, master weights, ZeRO, sequence parallelism: a user's typical run.
TEST(Plans, Bf16WithMasterWeightsStaysNear) {
  VerifyOptions options = options_of({"", "llama_tiny", 2, 4, 2, true, true, kFull}, "bf16+sr");
  options.plan.master_weights = true;
  const VerifyReport report = workloads::verify(golden("llama_tiny"), options);
  EXPECT_LE(report.worst_loss(), 0.08);
  EXPECT_GT(report.worst_loss(), 1e-6) << "nothing was rounded";
}

// With the clock running, no instruction touches what another one is still at work on.
TEST(Plans, NothingRaces) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const hw::MachineParams machine = hw::load_machine("trn1.32xlarge");
  for (const char* model : {"llama_tiny", "gpt_tiny"}) {
    VerifyOptions options = options_of({"", model, 2, 2, 1, true, true, kFull}, "fp32");
    options.make_device = [&machine] { return hw::make_sim_device(machine, {.check_races = true}); };
    options.steps = 2;  // further ones are the same instructions
    const VerifyReport report = workloads::verify(golden(model), options);
    EXPECT_LE(report.worst_loss(), 1e-5) << model;
  }
}

TEST(Plans, IndivisiblePlansAreRefused) {
  const auto verify = [](const PlanCase& c) { workloads::verify(golden(c.model), options_of(c, "fp32")); };
  EXPECT_TRUE(fails(base::Fault::kUsage,
                    [&] {
                      verify({"", "llama_gqa", 1, 8, 1, false, false, kNone});
                    },
                    {"does not divide the 6 attention heads", "1, 2"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [&] { verify({"", "llama_gqa", 1, 6, 1, false, false, kNone}); }, {"divide"}));
  EXPECT_TRUE(fails(base::Fault::kUsage,
                    [&] {
                      verify({"", "bert_tiny", 1, 4, 1, false, false, kNone});
                    },
                    {"does not divide the 2 attention heads", "1, 2"}));
  EXPECT_TRUE(fails(base::Fault::kUsage,
                    [&] {
                      verify({"", "bert_odd", 1, 3, 1, false, false, kNone});
                    },
                    {"does not divide the feed-forward size 320"}));
  EXPECT_TRUE(fails(base::Fault::kUsage,
                    [&] {
                      verify({"", "bert_tiny", 1, 2, 1, true, false, kNone});
                    },
                    {"the tokens of an encoder are not split"}));
}

}  // namespace
