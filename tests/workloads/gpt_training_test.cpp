// Training of a small GPT on simulated cores: learned positions, LayerNorm, GELU, query, key and value in one tensor of
// the file.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/decoder_training.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/models/decoder/decoder_weights.h"

namespace workloads {
namespace {

using workloads_test::Scratch;

class GptTraining : public workloads_test::DecoderTraining {
 protected:
  GptTraining() : DecoderTraining{"gpt-small"} {
    job_.config = job_.config->with_sizes({.hidden = 64, .heads = 4, .ffn = 96});
    set_dropout(0);
  }
  void set_dropout(double p) {
    workloads_test::edit<PlainConfig>(
        job_.config, [p](PlainConfig& c) { c.dropout = c.attention_dropout = c.embedding_dropout = p; });
    job_.weights = initial_weights(job_.config, 42);
  }

  static TrainerOptions gpt_options(std::uint32_t data, std::int64_t tensor, std::int64_t micro_batches,
                                    std::int64_t stages) {
    TrainerOptions o = options(data, tensor, micro_batches, stages);
    o.step.plan.sequence = tensor > 1;
    return o;
  }
};

TEST_F(GptTraining, LearnsFromScratchUnderEveryPlan) {
  const std::vector<double> one = losses(gpt_options(1, 1, 1, 1));
  EXPECT_NEAR(one.front(), std::log(static_cast<double>(job_.config->sizes().vocabulary)), 0.1);
  EXPECT_LT(one.back(), one.front() - 0.5);
  TrainerOptions all = gpt_options(2, 2, 2, 2);
  all.step.plan.zero1 = true;
  all.step.plan.recompute = Recompute::kFull;
  for (const TrainerOptions& plan : {gpt_options(1, 4, 1, 1), gpt_options(1, 4, 4, 2), all}) {
    const std::vector<double> got = losses(plan);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(got[i] / one[i], 1, 1e-4) << "step " << i;
  }
}

// Dropout depends on seed, step and rank: a resumed run drops the same elements.
TEST_F(GptTraining, ACheckpointGoesOnToTheSameBits) {
  const Scratch s;
  set_dropout(0.1);
  TrainerOptions o = gpt_options(2, 2, 2, 2);
  o.step.plan.zero1 = true;
  o.step.plan.numerics = runtime::numerics("bf16+sr");
  Weights whole, resumed;
  const std::vector<double> all = losses(o, &whole);
  EXPECT_LT(all.back(), all.front());
  stop_half_way(o, s / "checkpoint");
  o.resume = s / "checkpoint";
  EXPECT_EQ(losses(o, &resumed), std::vector<double>(all.begin() + 3, all.end()));
  EXPECT_EQ(resumed.values, whole.values);
  consolidate(s / "checkpoint", s / "model");
  const LoadedModel model = load_model(s / "model", 1);
  EXPECT_EQ(model.config->sizes().heads, 4);
  EXPECT_EQ(model.weights.values.at("transformer.h.0.attn.c_attn.weight").size(), 64u * 3 * 64);
}

// Ranks that hold copies of a value drop the same elements of it, those that one core drops.
TEST_F(GptTraining, RanksThatShareNoTokensDropAsOneCore) {
  const auto drops_outside_attention = [](PlainConfig& c) { c.dropout = c.embedding_dropout = 0.2; };
  workloads_test::edit<PlainConfig>(job_.config, drops_outside_attention);
  TrainerOptions o = gpt_options(2, 2, 1, 1);
  o.step.plan.sequence = false;
  const std::vector<double> one = losses(gpt_options(2, 1, 1, 1)), two = losses(o);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(two[i] / one[i], 1, 1e-4) << "step " << i;
  TrainerOptions tokens = o;
  tokens.step.plan.sequence = true;
  EXPECT_GT(std::abs(losses(tokens).back() / one.back() - 1), 1e-4) << "nothing was dropped";
}

// The file's [in, 3 out] is cut by columns, a rank's part of it as the file is.
TEST(DecoderWeights, ThirdsGoThereAndBack) {
  const WeightSpec fused{"h.0.attn.c_attn.weight", {2, 6}, Init::kNormal, false, TensorSplit::kFused};
  const std::vector<WeightSpec> parts = device_parts(fused);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].name, "h.0.attn.c_attn.k.weight");
  EXPECT_EQ(parts[1].in_file(), fused.name);
  Weights shard, back;
  shard.values[fused.name] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(device_values(shard, parts[1]), (std::vector<float>{2, 3, 8, 9}));
  for (const WeightSpec& part : parts) put_device_values(back, part, device_values(shard, part));
  EXPECT_EQ(back.values, shard.values);
}

// There are hundreds of experts: copies of all tensors of the file for each would take gigabytes.
TEST(DecoderWeights, AnExpertHasItsOwnTensorOfTheFile) {
  WeightSpec stacked{"mlp.experts.up.weight", {6, 4}};
  stacked.stack = 2;
  for (const char* name : {"mlp.experts.0.up.weight", "mlp.experts.1.up.weight", "mlp.experts.2.up.weight"})
    stacked.pieces.push_back({name, {2, 4}, 0, 2});
  for (const WeightSpec& part : device_parts(stacked)) {
    ASSERT_EQ(part.pieces.size(), 1u) << part.name;
    EXPECT_EQ(part.pieces.front().name, part.name);
  }
  stacked.pieces.resize(1);  // one tensor of the file has all: each part's place is in it
  for (const WeightSpec& part : device_parts(stacked)) EXPECT_EQ(part.pieces.size(), 1u) << part.name;
}

}  // namespace
}  // namespace workloads
