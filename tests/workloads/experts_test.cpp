// A mixture of experts that is trained: all are used, and it learns as a dense model of the same active size.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/step/session.h"
#include "tests/sanitized.h"
#include "tests/workloads/decoder_training.h"
#include "tests/workloads/models.h"
#include "workloads/models/presets.h"
#include "workloads/training/host_io.h"

namespace workloads {
namespace {

/// Four experts of 128, two of them for each token.
class ExpertTraining : public workloads_test::DecoderTraining {
 protected:
  ExpertTraining() : DecoderTraining{"mixtral-small"} {}

  static TrainerOptions longer(std::int64_t tensor) {
    TrainerOptions o = options(1, tensor);
    o.step.plan.sequence = tensor > 1;
    o.max_steps = 40, o.learning_rate = 3e-3;
    return o;
  }

  /// Tokens that chose each expert of each layer, of the first eight sequences.
  std::vector<std::vector<float>> loads(const Weights& weights) const {
    const Step step{.plan = {.micro_batch = 8, .numerics = runtime::numerics("fp32")},
                    .kind = {.length = 32, .training = false, .keep_logits = true}};
    runtime::Compiled compiled = runtime::compile(job_.config->step(step).graph, trn1_target(), {.name = "loads"});
    const auto device = isa::make_numeric_device();
    device->load(compiled.program);
    runtime::Session session{*device, compiled.program};
    const HostIo io{job_.config, step};
    io.write_weights(session, weights), io.write_tables(session);
    Batch batch;
    batch.input_ids.assign(job_.train.ids.begin(), job_.train.ids.begin() + 256);
    io.write_batch(session, 0, 0, batch);
    device->run({.seed = 1, .step = 0, .host_threads = 1});
    return {session.read(0, "expert_load.0.0"), session.read(0, "expert_load.1.0")};
  }
};

double late(const std::vector<double>& losses) { return std::accumulate(losses.end() - 5, losses.end(), 0.0) / 5; }

TEST_F(ExpertTraining, AllExpertsAreUsedAndTheLossFallsAsADenseModels) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  Weights end;
  const std::vector<double> sparse = losses(longer(2), &end);
  for (const std::vector<float>& load : loads(end)) {
    EXPECT_EQ(std::accumulate(load.begin(), load.end(), 0.0F), 512) << "two choices of each token";
    for (const float tokens : load) {
      EXPECT_LT(tokens, 2 * 128.0F);
      EXPECT_GT(tokens, 128.0F / 2);
    }
  }
  job_.config = model_preset("llama-small")->with_sizes({.ffn = 256, .vocabulary = job_.config->sizes().vocabulary});
  job_.weights = initial_weights(job_.config, 42);
  const std::vector<double> dense = losses(longer(1));
  EXPECT_NEAR(sparse.front() / dense.front(), 1, 0.02);
  EXPECT_LT(late(sparse), sparse.front() - 1);
  EXPECT_NEAR(late(sparse) / late(dense), 1, 0.1);
}

// Ranks route tokens of their own, so a capacity is each rank's; without one the plan changes nothing. The router's
// loss sees the load of a rank's own micro-batches.
TEST_F(ExpertTraining, DoNotDependOnThePlan) {
  LlamaConfig plain = workloads_test::config_of<LlamaConfig>(job_.config);
  plain.output_router_logits = false;
  job_.config = plain;
  const auto expect_near = [](const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / want[i], 1, 1e-4) << "step " << i;
  };
  const std::vector<double> one = losses(options(1, 1));
  TrainerOptions ranks = options(2, 4);
  ranks.step.plan.sequence = ranks.step.plan.zero1 = true;
  expect_near(losses(ranks), one);
  TrainerOptions stages = options(1, 2, 2, 2);
  stages.step.plan.sequence = true;
  expect_near(losses(stages), one);
}

}  // namespace
}  // namespace workloads
