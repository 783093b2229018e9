// Trajectories that PyTorch has gone before, step by step on simulated cores.
#include "workloads/training/verify.h"

#include <gtest/gtest.h>

#include "tests/target.h"
#include "tests/workloads/support.h"

namespace {

using namespace workloads_test;
using workloads::VerifyOptions;
using workloads::VerifyReport;

struct Case {
  const char* model;
  std::uint32_t ranks;
  const char* passes;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " on " << c.ranks << " " << c.passes; }
};

VerifyReport verify(const Case& c, const char* numerics) {
  VerifyOptions options;
  options.target = trn1_target();
  options.plan.numerics = runtime::numerics(numerics);
  options.plan.data = c.ranks;
  options.passes = runtime::parse_passes(c.passes);
  options.host_threads = 1;
  return workloads::verify(golden(c.model), options);
}

class Verify : public testing::TestWithParam<Case> {};

// Both compute in fp32 and differ in the order of sums alone, about 1e-6. Values that are zero in theory are rounding
// errors, 2e-5 relative to kSmallest.
TEST_P(Verify, Fp32FollowsPyTorch) {
  const VerifyReport report = verify(GetParam(), "fp32");
  EXPECT_LE(report.logits.norm, 1e-5);
  EXPECT_LE(report.worst_loss(), 1e-5);
  EXPECT_LE(report.worst_gradient().norm, 1e-4) << report.worst_gradient().name;
  EXPECT_LE(report.worst_weight().norm, 1e-4) << report.worst_weight().name;
  EXPECT_GT(report.matmul_flops, 0);
  EXPECT_EQ(report.losses.size(), report.expected_losses.size());
  EXPECT_GE(report.losses.size(), 6u);
}

// bf16 has 8 bits: each step adds its rounding to the weights, and the learned weights stay.
TEST_P(Verify, Bf16StaysNear) {
  for (const char* numerics : {"bf16", "bf16+sr"}) {
    const VerifyReport report = verify(GetParam(), numerics);
    EXPECT_LE(report.worst_loss(), 0.08) << numerics;
    EXPECT_LE(report.logits.norm, 0.05) << numerics;
    for (const workloads::TensorError& g : report.gradients) {
      if (g.name.ends_with("key.bias")) continue;  // nothing but rounding
      EXPECT_LE(g.norm, 0.06) << numerics << " " << g.name;
    }
    EXPECT_GT(report.worst_loss(), 1e-6) << "nothing was rounded";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Verify,
    testing::Values(Case{"bert_tiny", 1, ""}, Case{"bert_tiny", 2, ""}, Case{"bert_odd", 1, ""},
                    Case{"bert_odd", 2, ""}, Case{"bert_odd", 1, "-fusion"}, Case{"vit_tiny", 1, ""},
                    Case{"vit_tiny", 2, ""}, Case{"vit_tiny", 1, "-fusion"}, Case{"deit_tiny", 1, ""},
                    Case{"deit_teacher_tiny", 1, ""}, Case{"deit_teacher_tiny", 2, ""}, Case{"clip_tiny", 1, ""},
                    Case{"clip_tiny", 2, ""}, Case{"siglip_tiny", 1, ""}, Case{"siglip_tiny", 2, ""},
                    Case{"dinov2_tiny", 1, ""}, Case{"dinov2_tiny", 2, ""}, Case{"dinov2_gated_tiny", 1, ""},
                    Case{"dinov2_gated_tiny", 2, ""}, Case{"dinov2_with_registers_tiny", 1, ""},
                    Case{"dinov2_with_registers_tiny", 2, ""}, Case{"vit_msn_tiny", 1, ""}, Case{"vit_msn_tiny", 2, ""},
                    Case{"ijepa_tiny", 1, ""}, Case{"ijepa_tiny", 2, ""}, Case{"dinov3_tiny", 1, ""},
                    Case{"dinov3_tiny", 2, ""}, Case{"dinov3_tiny", 1, "-fusion"}, Case{"dinov3_gated_tiny", 1, ""},
                    Case{"dinov3_gated_tiny", 2, ""},
                    // A sample each: gradients of one row are their parameters' own.
                    Case{"deit_teacher_tiny", 6, ""}, Case{"vit_tiny", 6, ""}));

TEST(VerifyFails, OnAWrongExpectation) {
  const Scratch scratch;
  std::filesystem::copy(golden("bert_tiny"), scratch.path(), std::filesystem::copy_options::recursive);
  VerifyOptions options;
  options.target = trn1_target();
  options.plan.numerics = runtime::numerics("fp32");
  scratch.write("expected.json", R"({"loss_per_step": [3.0], "lr": 0.001, "optimizer": "AdamW weight_decay 0.01"})");
  EXPECT_GT(workloads::verify(scratch.path(), options).worst_loss(), 0.3);
  scratch.write("expected.json", R"({"loss_per_step": [3.0], "lr": 0.001, "optimizer": "AdamW"})");
  EXPECT_TRUE(fails(base::Fault::kData, [&] { workloads::verify(scratch.path(), options); },
                    {"expected.json", "weight_decay"}));
  scratch.write("expected.json", R"({"loss_per_step": [3.0]})");
  EXPECT_TRUE(fails(base::Fault::kData, [&] { workloads::verify(scratch.path(), options); }, {"expected.json", "lr"}));
}

}  // namespace
