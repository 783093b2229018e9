// Training of a small Llama on simulated cores: it learns, its checkpoints go on, and the plan does not matter.
#include "workloads/training/trainer.h"
#include "tests/workloads/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/files.h"
#include "tests/tale.h"
#include "tests/target.h"
#include "tests/workloads/decoder_training.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/checkpoints/shards.h"

namespace workloads {
namespace {

using base::Fault;
using testing::HasSubstr;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;

/// A Llama of two layers and 64 numbers a token, on the embedded instructions.
class CausalTraining : public workloads_test::DecoderTraining {
 protected:
  CausalTraining() : DecoderTraining{"llama-small"} {
    job_.config = job_.config->with_sizes({.hidden = 64, .heads = 4, .kv_heads = 4, .ffn = 96});
    job_.weights = initial_weights(job_.config, 42);
  }

  /// The loss of a model for which all tokens are equally likely.
  double even() const { return std::log(static_cast<double>(job_.config->sizes().vocabulary)); }
};

// Sums over ranks have another order: fp32 rounding, which six steps of AdamW carry on.
void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / want[i], 1, 1e-4) << "step " << i;
}

TEST_F(CausalTraining, LosesAndDoesNotDependOnThePlan) {
  const std::vector<double> one = losses(options(1, 1));
  EXPECT_NEAR(one.front(), even(), 0.1);
  EXPECT_LT(one.back(), one.front() - 0.5);
  TrainerOptions tokens = options(2, 2);
  tokens.step.plan.sequence = true;
  expect_near(losses(tokens), one);
  TrainerOptions zero = options(2, 2);
  zero.step.plan.zero1 = true;
  zero.step.plan.recompute = Recompute::kFull;
  expect_near(losses(zero), one);
  zero.step.plan.sequence = true;
  expect_near(losses(zero), one);
  expect_near(losses(options(1, 4, 2)), one);
}

TEST_F(CausalTraining, StagesOfAPipelineChangeNothing) {
  const std::vector<double> one = losses(options(1, 1));
  expect_near(losses(options(1, 1, 4, 2)), one);
  expect_near(losses(options(1, 2, 2, 2)), one);
  TrainerOptions zero = options(2, 1, 2, 2);
  zero.step.plan.zero1 = true;
  expect_near(losses(zero), one);
  zero.step.plan.recompute = Recompute::kFull;
  zero.step.plan.tensor = 2;
  zero.step.plan.sequence = true;
  expect_near(losses(zero), one);
}

TEST_F(CausalTraining, InterleavedStagesChangeNothingAndEvaluate) {
  job_.config = job_.config->with_sizes({.layers = 4, .hidden = 32, .ffn = 48});
  job_.weights = initial_weights(job_.config, 42);
  TrainerOptions o = options(1, 1, 4, 2);
  o.step.plan.chunks = 2;
  o.max_steps = 3;
  const auto train = [&](const TrainerOptions& plan) {
    const SamplesPtr same = job_.data().train;
    Trainer trainer{job_.config, job_.weights, {.train = same, .validation = same}, plan};
    const TrainOutcome out = trainer.run();
    return std::vector<double>{out.train_loss, trainer.evaluate(Split::kValidation).loss};
  };
  const std::vector<double> interleaved = train(o);
  o = options(1, 1);
  o.max_steps = 3;
  expect_near(interleaved, train(o));
}

// An epoch whose last step has fewer sequences than rows: filler rows count nothing.
TEST_F(CausalTraining, FillerRowsCountNothing) {
  job_.train.ids.resize(5 * 32);
  std::vector<double> one = losses(options(1, 1));
  expect_near(losses(options(4, 1)), one);
  EXPECT_NEAR(one.front(), even(), 0.1);
}

TEST_F(CausalTraining, ACheckpointGoesOnToTheSameBits) {
  const Scratch s;
  for (const bool master : {false, true}) {
    TrainerOptions o = options(2, 2);
    o.step.plan.zero1 = true;
    o.step.plan.master_weights = master;
    o.step.plan.numerics = runtime::numerics(master ? "bf16+fp32-optimizer+sr" : "bf16+sr");
    Weights whole, resumed;
    const std::vector<double> all = losses(o, &whole);
    stop_half_way(o, s / "checkpoint");
    o.resume = s / "checkpoint";
    const std::vector<double> rest = losses(o, &resumed);
    EXPECT_EQ(rest, std::vector<double>(all.begin() + 3, all.end()));
    EXPECT_EQ(resumed.values, whole.values);
  }
}

// Stochastic rounding must not drive embeddings apart that are the head too: the first stage has them, and the last.
TEST_F(CausalTraining, ACheckpointOfAPipelineGoesOnToTheSameBits) {
  const Scratch s;
  workloads_test::edit<LlamaConfig>(job_.config, [](LlamaConfig& c) { c.tie_word_embeddings = true; });
  job_.weights = initial_weights(job_.config, 42);
  for (const bool zero : {false, true}) {
    TrainerOptions o = options(2, 1, 2, 2);
    o.step.plan.zero1 = o.step.plan.master_weights = zero;
    o.step.plan.numerics = runtime::numerics(zero ? "bf16+fp32-optimizer+sr" : "bf16+sr");
    Weights whole, resumed;
    const std::vector<double> all = losses(o, &whole);
    stop_half_way(o, s / "checkpoint");
    o.resume = s / "checkpoint";
    EXPECT_EQ(losses(o, &resumed), std::vector<double>(all.begin() + 3, all.end()));
    EXPECT_EQ(resumed.values, whole.values);
    consolidate(s / "checkpoint", s / "model", true);
  }
}

TEST_F(CausalTraining, PipelinesAndOneCoreGoOnFromEachOther) {
  const Scratch s;
  TrainerOptions one = options(1, 1), stages = options(1, 2, 2, 2);
  const std::vector<double> all = losses(one), rest(all.begin() + 3, all.end());
  stop_half_way(one, s / "one");
  stages.resume = s / "one";
  expect_near(losses(stages), rest);
  stages.resume.clear();
  stop_half_way(stages, s / "stages");
  EXPECT_EQ(read_shard_index(s / "stages").plan.pipeline_parallel_size, 2);
  one.resume = s / "stages";
  expect_near(losses(one), rest);
}

TEST_F(CausalTraining, AnotherPlanGoesOnWithTheWholeState) {
  const Scratch s;
  TrainerOptions from = options(2, 2);
  from.step.plan.zero1 = true;
  const std::vector<double> all = losses(from), rest(all.begin() + 3, all.end());
  stop_half_way(from, s / "checkpoint");
  for (TrainerOptions to : {options(1, 1), options(4, 1), options(1, 4, 2)}) {
    to.step.plan.zero1 = to.step.plan.data > 1;
    to.resume = s / "checkpoint";
    expect_near(losses(to), rest);
  }
}

TEST_F(CausalTraining, ShardsBecomeOneModel) {
  const Scratch s;
  TrainerOptions o = options(1, 4);
  o.checkpoint = s / "checkpoint";
  o.max_steps = 2;
  Weights trained;
  losses(o, &trained);
  EXPECT_EQ(read_shard_index(s / "checkpoint").plan.tensor_parallel_size, 4);
  consolidate(s / "checkpoint", s / "model");
  EXPECT_EQ(load_model(s / "model", 1).weights.values, trained.values);
  EXPECT_EQ(load_tokenizer(s / "model")->tokenize("Who has the ball?", "t"),
            job_.tokenizer->tokenize("Who has the ball?", "t"));
}

TEST_F(CausalTraining, RefusesForeignCheckpoints) {
  const Scratch s;
  TrainerOptions o = options(2, 2);
  o.checkpoint = s / "checkpoint";
  o.max_steps = 1;
  losses(o);
  const auto refused = [&](const std::string& words) {
    TrainerOptions to = o;
    to.checkpoint.clear();
    to.resume = s / "checkpoint";
    EXPECT_TRUE(fails(Fault::kData, [&] { losses(to); }, {words})) << words;
  };
  o.learning_rate = 1e-3;
  refused("belongs to a run with other settings");
  o.learning_rate = 5e-3;
  std::filesystem::rename(s / "checkpoint/exp_avg_tp01_pp00.safetensors", s / "exp_avg");
  refused("exp_avg_tp01_pp00.safetensors: is missing");
  std::filesystem::copy(s / "checkpoint/exp_avg_tp00_pp00.safetensors", s / "checkpoint/exp_avg_tp01_pp00.safetensors");
  refused("belongs to another plan: its tensor_parallel is 0 of 2");
  o.max_steps = 2;
  o.checkpoint = s / "later";
  losses(o);
  o.max_steps = 1;
  for (const char* name : {"exp_avg_tp01_pp00.safetensors", "model_tp00_pp00.safetensors"}) {
    std::filesystem::copy(s / "later" / name, s / "checkpoint" / name,
                          std::filesystem::copy_options::overwrite_existing);
    refused(name + std::string{": belongs to another step: its step is 2, but that of shards.json is 1"});
  }
  std::filesystem::remove(s / "checkpoint/shards.json");
  refused("not a sharded checkpoint, or one that was not finished");
}

TEST_F(CausalTraining, RefusesPlansThatTheModelDoesNotAllow) {
  EXPECT_TRUE(fails(Fault::kUsage, [&] { losses(options(1, 3)); }, {"does not divide the 4 attention heads"}));
  TrainerOptions longer = options(1, 1);
  longer.step.kind.length = 4096;
  EXPECT_TRUE(fails(Fault::kUsage, [&] { losses(longer); }, {"longer than the model's 2048 positions"}));
}

// A model from a folder learns a text.
TEST(CausalStories, TwoEpochsLowerTheLoss) {
  const Scratch s;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "Ben had a small robot. The robot could count: " + std::to_string(i) + ", " + std::to_string(i + 1) +
            ". Ben was proud of it.\n<|endoftext|>\n";
  const LanguageModelling job = load_language_modelling(
      {.model_folder = tests::tale(), .dataset_path = s.write("train.txt", text), .length = 32});
  ASSERT_TRUE(job.validation);
  TrainerOptions o;
  o.target = trn1_target();
  o.step.kind.length = 32, o.step.plan.micro_batch = 4, o.step.plan.data = 2;
  o.step.plan.numerics = runtime::numerics("bf16");
  o.epochs = 2, o.learning_rate = 1e-3;
  Trainer trainer{job.config, job.weights, job.data(), o};
  const EvalRecord before = trainer.evaluate(Split::kValidation);
  const TrainOutcome out = trainer.run();
  ASSERT_EQ(out.evaluations.size(), 2u);
  EXPECT_LT(out.evaluations[1].loss, out.evaluations[0].loss);
  EXPECT_LT(out.evaluations[0].loss, before.loss - 0.5);
  EXPECT_EQ(std::get<double>(before.scores.at(0).second), std::exp(before.loss));
}

}  // namespace
}  // namespace workloads
