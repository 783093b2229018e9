// A Llama that classifies texts: PyTorch's trajectories on any plan, its folder, and learning.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/tasks/classification.h"
#include "workloads/training/trainer.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

struct ClassifierPlan {
  const char* name;
  runtime::Plan plan;

  friend void PrintTo(const ClassifierPlan& c, std::ostream* out) { *out << c.name; }
};

class TextClassifier : public testing::TestWithParam<std::tuple<const char*, ClassifierPlan>> {};

TEST_P(TextClassifier, Fp32FollowsPyTorch) {
  workloads_test::expect_pytorch(std::get<0>(GetParam()), std::get<1>(GetParam()).plan);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, TextClassifier,
    testing::Combine(
        testing::Values("llama_classifier_tiny", "qwen2_classifier_tiny"),
        testing::Values(ClassifierPlan{"one core", {}}, ClassifierPlan{"DP 2 x 2", {.data = 2, .micro_batches = 2}},
                        ClassifierPlan{"TP 2", {.tensor = 2}},
                        ClassifierPlan{"TP 2, sequence parallel", {.tensor = 2, .sequence = true}},
                        ClassifierPlan{"PP 2", {.pipeline = 2, .micro_batches = 2}},
                        ClassifierPlan{"TP 2 x PP 2 x DP 2, ZeRO-1",
                                       {.tensor = 2, .pipeline = 2, .data = 2, .sequence = true, .zero1 = true}})));

TEST(TextClassifierFolder, NamesAndKeysAreTheFilesBothWays) {
  for (const char* name : {"llama_classifier_tiny", "qwen2_classifier_tiny"}) {
    workloads_test::expect_same_folder(name, {});
    const ModelPtr model = read_config(golden(name));
    EXPECT_EQ(model->task(), Task::kClassification);
    EXPECT_EQ(model->label_names().size(), 3u);
  }
}

// The head is drawn for a model that was saved from predicting tokens, whose own is left out.
TEST(TextClassifierFolder, TheHeadIsTheTasks) {
  const ModelPtr predicts = read_config(golden("llama_tiny"));
  EXPECT_EQ(predicts->task(), Task::kNextToken);
  const ModelPtr classifies = predicts->with_head(Head::kClassifier)->with_labels({"a", "b", "c"});
  const Weights weights = load_weights(golden("llama_tiny"), classifies, 1);
  EXPECT_EQ(weights.values.at("score.weight").size(), 3u * 128);
  EXPECT_FALSE(weights.values.contains("lm_head.weight"));
  EXPECT_EQ(weights.notes.size(), 2u);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { require_generator(classifies); }, {"classifies texts"}));
  for (const WeightSpec& w : classifies->with_lora(Lora{.rank = 2, .targets = {"q_proj"}})->weights())
    EXPECT_EQ(w.frozen, !is_adapter(w.name) && w.name != "score.weight") << w.name;  // no base has that head
}

// As the mathematics of the graph: the compiler counts what TensorE does.
TEST(TextClassifierFolder, FlopsAreThoseOfTheGraph) {
  const ModelPtr model = read_config(golden("llama_classifier_tiny"));
  const Step step{.plan = {.micro_batch = 4, .numerics = runtime::numerics("bf16")}, .kind = {.length = 24}};
  const double got = runtime::compile(model->step(step).graph, trn1_target(), {.name = "flops"}).program.model_flops;
  EXPECT_NEAR(got / model->flops(step), 1, 1e-9);
}

TEST(TextClassifierTraining, LearnsTopics) {
  const Scratch s;
  std::string rows = "text,label\n";
  for (int i = 0; i < 240; ++i)
    rows += fmt::format("{} the {} was {} again,{}\n", i % 3 ? "today" : "at last", i % 5 ? "soup" : "film",
                        i % 2 ? "good" : "bad", i % 2 ? "praise" : "blame");
  DataOptions o{.preset = "llama-small",
                .dataset_path = s.write("train.csv", rows).string(),
                .head = Head::kClassifier,
                .length = 12};
  Classification c = load_classification(o);
  c.validation = c.train;
  EXPECT_EQ(c.config->family(), "Llama");
  EXPECT_THAT(c.config->config_json(), testing::HasSubstr("pad_token_id"));
  TrainerOptions t;
  t.target = trn1_target();
  t.step = {.plan = {.tensor = 2, .data = 2, .sequence = true, .micro_batch = 8, .numerics = runtime::numerics("fp32")},
            .kind = {.length = 12},
            .optimizer = {.max_grad_norm = 1}};
  t.eval_batch = 8, t.max_steps = 30, t.learning_rate = 2e-3, t.eval_each_epoch = false;
  t.checkpoint = s / "checkpoint";
  Trainer trainer{c.config, c.weights, c.data(), t};
  EXPECT_NEAR(trainer.evaluate(Split::kValidation).loss, std::log(2), 0.2);
  trainer.run();
  const EvalRecord after = trainer.evaluate(Split::kValidation);
  EXPECT_LT(after.loss, 0.1);
  EXPECT_GT(std::get<double>(after.scores.at(0).second), 0.99);
  const LoadedModel saved = load_model(s / "checkpoint", 1);
  EXPECT_EQ(saved.config->label_names(), (std::vector<std::string>{"blame", "praise"}));
  EXPECT_EQ(saved.weights.values, trainer.read_weights().values);
}

}  // namespace
}  // namespace workloads
