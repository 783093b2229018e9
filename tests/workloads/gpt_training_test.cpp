// Training of a small GPT on simulated cores: learned positions, LayerNorm, GELU, query, key and value in one tensor of
// the file.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/support.h"
#include "workloads/causal_trainer.h"
#include "workloads/decoder_weights.h"
#include "workloads/language_modelling.h"
#include "workloads/model_files.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::Scratch;

class GptTraining : public testing::Test {
 protected:
  GptTraining() {
    job_ = load_language_modelling({.preset = "gpt-small", .length = 32, .max_train_samples = 60});
    config().hidden_size = 64, config().intermediate_size = 96, config().num_attention_heads = 4;
    set_dropout(0);
  }
  GptConfig& config() { return std::get<GptConfig>(job_.config); }
  void set_dropout(double p) {
    config().embd_pdrop = config().resid_pdrop = config().attn_pdrop = p;
    job_.weights = initial_weights(job_.config, 42);
  }

  /// Eight sequences a step, however the ranks share them.
  static TrainerOptions gpt_options(std::uint32_t data, std::int64_t tensor, std::int64_t micro_batches,
                                    std::int64_t stages) {
    TrainerOptions o;
    o.step.length = 32;
    o.step.batch = 8 / (data * micro_batches);
    o.step.micro_batches = micro_batches;
    o.step.ranks = data;
    o.step.tensor_parallel = tensor;
    o.step.pipeline_parallel = stages;
    o.step.sequence_parallel = tensor > 1;
    o.step.numerics = runtime::numerics("fp32");
    o.step.max_grad_norm = 1;
    o.max_steps = 6;
    o.learning_rate = 5e-3;
    o.warmup_steps = 1;
    o.eval_each_epoch = false;
    return o;
  }

  std::vector<double> losses(const TrainerOptions& options, Weights* end = nullptr) const {
    CausalTrainer trainer{job_.config, job_.weights, {job_.tokenizer.get(), &job_.train}, options};
    std::vector<double> out;
    trainer.on_step = [&](const StepRecord& r) { out.push_back(r.loss); };
    trainer.run();
    if (end) *end = trainer.read_weights();
    return out;
  }

  LanguageModelling job_;
};

TEST_F(GptTraining, LearnsFromScratchUnderEveryPlan) {
  const std::vector<double> one = losses(gpt_options(1, 1, 1, 1));
  EXPECT_NEAR(one.front(), std::log(static_cast<double>(config().vocab_size)), 0.1);
  EXPECT_LT(one.back(), one.front() - 0.5);
  TrainerOptions all = gpt_options(2, 2, 2, 2);
  all.step.zero1 = true;
  all.step.recompute = Recompute::kFull;
  for (const TrainerOptions& plan : {gpt_options(1, 4, 1, 1), gpt_options(1, 4, 4, 2), all}) {
    const std::vector<double> got = losses(plan);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(got[i] / one[i], 1, 1e-4) << "step " << i;
  }
}

// What is dropped depends on seed, step and rank: a resumed run drops the same.
TEST_F(GptTraining, ACheckpointGoesOnToTheSameBits) {
  const Scratch s;
  set_dropout(0.1);
  TrainerOptions o = gpt_options(2, 2, 2, 2);
  o.step.zero1 = true;
  o.step.numerics = runtime::numerics("bf16+sr");
  Weights whole, resumed;
  const std::vector<double> all = losses(o, &whole);
  EXPECT_LT(all.back(), all.front());
  TrainerOptions half = o;
  half.checkpoint = s / "checkpoint";
  half.save_steps = 3;
  struct Stop {};
  CausalTrainer trainer{job_.config, job_.weights, {job_.tokenizer.get(), &job_.train}, half};
  trainer.on_step = [](const StepRecord& r) {
    if (r.step == 4) throw Stop{};
  };
  EXPECT_THROW(trainer.run(), Stop);
  o.resume = s / "checkpoint";
  EXPECT_EQ(losses(o, &resumed), std::vector<double>(all.begin() + 3, all.end()));
  EXPECT_EQ(resumed.values, whole.values);
  consolidate(s / "checkpoint", s / "model");
  const Model model = load_model(s / "model", 1);
  EXPECT_EQ(std::get<GptConfig>(model.config).num_attention_heads, 4);
  EXPECT_EQ(model.weights.values.at("transformer.h.0.attn.c_attn.weight").size(), 64u * 3 * 64);
}

TEST_F(GptTraining, RanksMayNotDropDifferentlyWhatAllOfThemHave) {
  TrainerOptions o = gpt_options(1, 2, 1, 1);
  o.step.sequence_parallel = false;
  EXPECT_EQ(losses(o).size(), 6u);
  set_dropout(0.1);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { losses(o); }, {"--disable_sequence_parallel", "drop other elements"}));
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

}  // namespace
}  // namespace workloads
