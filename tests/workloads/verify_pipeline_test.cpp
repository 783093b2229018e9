// Stages of a pipeline: their turns, their joint results, and that it is the same bits however they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "hw/sim_device.h"
#include "tests/sanitized.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/weights.h"
#include "workloads/step/pipeline.h"
#include "workloads/training/verify.h"

namespace {

using namespace workloads_test;
using runtime::Recompute;
using workloads::pipeline_turns;
using workloads::Turn;
using workloads::VerifyOptions;

VerifyOptions plan(std::int64_t stages, std::int64_t micro, std::int64_t chunks = 1) {
  VerifyOptions options;
  options.target = trn1_target();
  options.plan.numerics = runtime::numerics("fp32");
  options.plan.pipeline = stages;
  options.plan.chunks = chunks;
  options.plan.micro_batches = micro;
  options.host_threads = 1;
  return options;
}

/// Takes turns stage by stage, each when its operands are there. Returns the most micro-batches that a stage keeps.
std::int64_t follow(std::int64_t stages, std::int64_t chunks, std::int64_t micro) {
  std::vector<std::vector<Turn>> turns;
  for (std::int64_t s = 0; s < stages; ++s) turns.push_back(pipeline_turns(stages, s, chunks, micro));
  std::vector<std::size_t> at(turns.size());
  std::set<std::tuple<bool, std::int64_t, std::int64_t>> done;  // forward, place of the chunk in the model, micro-batch
  const std::int64_t last = stages * chunks - 1;
  std::int64_t most = 0;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t s = 0; s < turns.size(); ++s)
      for (; at[s] < turns[s].size(); ++at[s], any = true) {
        const Turn& t = turns[s][at[s]];
        const std::int64_t place = t.chunk * stages + static_cast<std::int64_t>(s);
        const bool ready = t.forward ? place == 0 || done.contains({true, place - 1, t.micro_batch})
                                     : done.contains({true, place, t.micro_batch}) &&
                                           (place == last || done.contains({false, place + 1, t.micro_batch}));
        if (!ready) break;
        EXPECT_TRUE(done.insert({t.forward, place, t.micro_batch}).second) << "twice";
        std::int64_t kept = 0;
        for (std::size_t i = 0; i <= at[s]; ++i) kept += turns[s][i].forward ? 1 : -1;
        most = std::max(most, kept);
      }
  }
  EXPECT_EQ(done.size(), static_cast<std::size_t>(2 * stages * chunks * micro)) << "a stage waits for ever";
  return most;
}

TEST(Pipeline, EveryTurnComesOnceWithoutDeadlock) {
  for (const std::int64_t stages : {1, 2, 3, 4, 8})
    for (const std::int64_t micro : {1, 2, 3, 8, 17}) {
      EXPECT_EQ(follow(stages, 1, micro), std::min(stages, micro));
      if (stages > 1) follow(stages, 3, micro * stages);
    }
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { pipeline_turns(4, 0, 2, 6); },
                    {"6 micro-batches are not a multiple", "multiple of 4"}));
}

TEST(Pipeline, OneForwardOneBackward) {
  const auto names = [](std::int64_t stage) {
    std::string out;
    for (const Turn& t : pipeline_turns(2, stage, 1, 3)) out += (t.forward ? "F" : "B") + std::to_string(t.micro_batch);
    return out;
  };
  EXPECT_EQ(names(0), "F0F1B0F2B1B2");
  EXPECT_EQ(names(1), "F0B0F1B1F2B2");
}

/// A model that PyTorch has not trained: four layers, the embeddings also the head. One core's result is the
/// reference; expected.safetensors has the right shapes alone.
class TiedModel : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(golden("llama_tiny") / "batches.safetensors", scratch.path());
    write_model(4);
  }
  void write_model(int key_value_heads) const {
    scratch.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 264,
      "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
      "tie_word_embeddings": true, "num_key_value_heads": )" +
                                     std::to_string(key_value_heads) + "}");
    const workloads::ModelPtr config = workloads::read_config(scratch.path());
    workloads::save_weights(scratch.path(), config, workloads::initial_weights(config, 3));
    scratch.write("expected.json",
                  R"({"loss_per_step": [1, 1, 1, 1], "lr": 0.003, "optimizer": "AdamW weight_decay 0.01"})");
    std::vector<workloads::NewTensor> expected;
    const auto zeros = [&](std::string name, workloads::Shape shape) {
      std::vector<float> values(workloads::element_count(shape));
      expected.push_back(workloads::float_tensor(std::move(name), std::move(shape), std::move(values)));
    };
    zeros("step0.logits", {4, 128, 264});
    for (const workloads::WeightSpec& w : workloads_test::model_weights(config)) {
      zeros("step0.grad." + w.name, w.shape);
      zeros("final." + w.name, w.shape);
    }
    workloads::write_safetensors(scratch / "expected.safetensors", std::move(expected));
  }
  /// Losses of four steps: each depends on all gradients of those before.
  std::vector<double> losses(const VerifyOptions& options) const {
    return workloads::verify(scratch.path(), options).losses;
  }
  void expect_near(const std::vector<double>& got, const std::vector<double>& want) const {
    ASSERT_EQ(got.size(), 4u);
    EXPECT_LT(want[3], want[0]);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5 * want[i]) << i;
  }
  Scratch scratch;
};

TEST_F(TiedModel, EmbeddingsOnBothEndsStayTheSame) {
  const std::vector<double> want = losses(plan(1, 1));
  expect_near(losses(plan(2, 1)), want);
  expect_near(losses(plan(4, 4)), want);
  VerifyOptions wide = plan(2, 2);
  wide.plan.data = wide.plan.tensor = 2;
  wide.plan.zero1 = wide.plan.sequence = true;
  wide.plan.recompute = Recompute::kSelective;
  expect_near(losses(wide), want);
}

// The norm is that of all stages, and counts what two of them have once.
TEST_F(TiedModel, GradientsAreClippedByTheNormOfAllStages) {
  const auto clipped = [&](std::int64_t stages, std::uint32_t data, std::int64_t tensor) {
    VerifyOptions options = plan(stages, 1);
    options.plan.data = data;
    options.plan.zero1 = data > 1;
    options.plan.tensor = tensor;
    options.plan.sequence = tensor > 1;
    options.max_grad_norm = 1e-6;  // gradients below AdamW's epsilon: the update is off by the error of the norm
    return losses(options);
  };
  const std::vector<double> want = clipped(1, 1, 1);
  expect_near(clipped(2, 1, 1), want);
  expect_near(clipped(2, 2, 1), want);
  expect_near(clipped(2, 4, 2), want);
}

// Two ranks have each key-value head, and half of its queries each.
TEST_F(TiedModel, RanksThatShareAHeadAddTheirGradientsUp) {
  write_model(2);
  VerifyOptions options = plan(1, 1);
  options.max_grad_norm = 1e-6;
  const std::vector<double> want = losses(options);
  options.plan.tensor = 4;
  expect_near(losses(options), want);
  options.plan.sequence = options.plan.zero1 = true;
  options.plan.data = options.plan.pipeline = 2;
  expect_near(losses(options), want);
}

TEST_F(TiedModel, InterleavedStagesComputeTheSame) { expect_near(losses(plan(2, 4, 2)), losses(plan(1, 4))); }

// Rounding stochastically: random bits depend on rank, call and element, not on the order of threads.
TEST_F(TiedModel, TheBitsAreThoseOfAnyNumberOfHostThreads) {
  VerifyOptions options = plan(2, 4);
  options.plan.numerics = runtime::numerics("bf16+sr");
  const std::vector<double> want = losses(options);
  EXPECT_EQ(losses(options), want);
  options.host_threads = 2;
  EXPECT_EQ(losses(options), want);
  options.host_threads = 3;
  options.seed = 43;
  EXPECT_NE(losses(options), want);
}

// With the clock running: the bits of host threads, and no instruction touches what another one is still at work on.
TEST(Pipeline, TheClockChangesNoBitAndNothingRaces) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  VerifyOptions options = plan(2, 2);
  options.steps = 2;  // further ones are the same instructions
  const std::vector<double> want = workloads::verify(golden("llama_tiny"), options).losses;
  const hw::MachineParams machine = hw::load_machine("trn1.32xlarge");
  options.make_device = [&machine] { return hw::make_sim_device(machine, {.check_races = true}); };
  EXPECT_EQ(workloads::verify(golden("llama_tiny"), options).losses, want);
}

TEST(Pipeline, IndivisiblePlansAreRefused) {
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { workloads::verify(golden("llama_gqa"), plan(2, 1)); },
                    {"`pipeline_parallel_size`", "the 3 layers cannot be divided into", "1, 3"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { workloads::verify(golden("llama_tiny"), plan(2, 2, 2)); },
                    {"the 2 layers cannot be divided into 2 stages of 2 chunks"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { workloads::verify(golden("bert_tiny"), plan(2, 1)); },
                    {"an encoder's layers are not cut into stages"}));
}

}  // namespace
