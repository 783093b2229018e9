// The relatives of Llama: PyTorch's trajectories under every kind of plan, their folders, their presets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/models/decoder/decoder_weights.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/presets.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/training/recipe.h"
#include "workloads/training/verify.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::decoders;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

// Heads wider than the partitions, and heads that are normed as one.
constexpr const char* kOfFewPlans[] = {"gemma_wide_tiny", "olmo2_tiny",      "olmoe_tiny",
                                       "olmo3_tiny",      "olmo3_yarn_tiny", "flex_olmo_tiny"};
constexpr const char* kJointNorms[] = {"olmo2_tiny", "olmoe_tiny", "olmo3_tiny", "olmo3_yarn_tiny", "flex_olmo_tiny"};
// Whose routers have a loss, of all tokens at once: no sum over data-parallel ranks or micro-batches of their own.
constexpr const char* kRouted[] = {"mixtral_tiny", "mixtral_capacity_tiny"};

struct RelativePlan {
  const char* name;
  std::uint32_t data = 1;
  std::int64_t tensor = 1, pipeline = 1, micro = 1;
  bool sequence = false, zero = false;
  runtime::Recompute recompute = runtime::Recompute::kNone;

  friend void PrintTo(const RelativePlan& c, std::ostream* out) { *out << c.name; }
};

class Relatives : public testing::TestWithParam<std::tuple<const char*, RelativePlan>> {};

void expect_pytorch(const char* model, const RelativePlan& plan) {
  runtime::Plan p;
  p.data = plan.data, p.tensor = plan.tensor, p.pipeline = plan.pipeline;
  p.micro_batches = plan.micro, p.sequence = plan.sequence, p.zero1 = plan.zero;
  p.recompute = plan.recompute;
  if (plan.tensor > 1 && read_config(golden(model))->sizes().experts > 0) p.sequence = true;
  workloads_test::expect_pytorch(model, p);
}

TEST_P(Relatives, Fp32FollowsPyTorch) { expect_pytorch(std::get<0>(GetParam()), std::get<1>(GetParam())); }

TEST(Experts, FollowPyTorchWithTheRoutersLoss) {
  expect_pytorch("mixtral_tiny", {.name = "one core"});
  expect_pytorch("mixtral_tiny", {.name = "TP 2", .tensor = 2, .recompute = runtime::Recompute::kSelective});
  expect_pytorch("mixtral_tiny", {.name = "TP 4", .tensor = 4, .recompute = runtime::Recompute::kFull});
  expect_pytorch("mixtral_capacity_tiny", {.name = "one core"});
  // The routers' loss is of all layers, wherever they are.
  expect_pytorch("mixtral_tiny", {.name = "PP 2", .pipeline = 2});
  expect_pytorch("mixtral_tiny", {.name = "TP 2, PP 2", .tensor = 2, .pipeline = 2});
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Relatives,
    testing::Combine(testing::ValuesIn(decoders()),
                     testing::Values(RelativePlan{.name = "one core"}, RelativePlan{.name = "TP 2", .tensor = 2},
                                     RelativePlan{.name = "TP 4, sequence parallel", .tensor = 4, .sequence = true},
                                     RelativePlan{.name = "PP 2", .pipeline = 2, .micro = 2},
                                     RelativePlan{.name = "ZeRO-1 over DP 2, recompute",
                                                  .data = 2,
                                                  .zero = true,
                                                  .recompute = runtime::Recompute::kFull})));

INSTANTIATE_TEST_SUITE_P(Few, Relatives,
                         testing::Combine(testing::ValuesIn(kOfFewPlans),
                                          testing::Values(RelativePlan{.name = "one core"},
                                                          RelativePlan{.name = "PP 2", .pipeline = 2, .micro = 2},
                                                          RelativePlan{.name = "ZeRO-1 over DP 2, recompute",
                                                                       .data = 2,
                                                                       .zero = true,
                                                                       .recompute = runtime::Recompute::kSelective})));

TEST(Gemma, HeadsWiderThanPartitionsAreShared) { expect_pytorch("gemma_wide_tiny", {.name = "TP 2", .tensor = 2}); }

// Heads that are normed as one: ranks add up their squares. At TP 4 two ranks have the same keys and values.
INSTANTIATE_TEST_SUITE_P(
    JointNorms, Relatives,
    testing::Combine(testing::ValuesIn(kJointNorms),
                     testing::Values(RelativePlan{.name = "TP 2", .tensor = 2},
                                     RelativePlan{.name = "TP 4, sequence parallel, recompute",
                                                  .tensor = 4,
                                                  .sequence = true,
                                                  .recompute = runtime::Recompute::kSelective},
                                     RelativePlan{.name = "TP 2, PP 2, recompute",
                                                  .tensor = 2,
                                                  .pipeline = 2,
                                                  .micro = 2,
                                                  .recompute = runtime::Recompute::kFull},
                                     RelativePlan{
                                         .name = "ZeRO-1 over DP 2, TP 2", .data = 2, .tensor = 2, .zero = true})));

// Beyond the original positions every pair has its long factor; cosines and sines grow by sqrt(1 + ln(s) / ln(l)).
TEST(LongRope, FactorsFollowTheLength) {
  const ModelPtr model = read_config(golden("phi3_long_tiny"));
  const DecoderArch arch = decoder_arch(model);
  const double magnitude = std::sqrt(1 + std::log(40.0 / 12) / std::log(12.0));
  EXPECT_DOUBLE_EQ(arch.block.rotary.magnitude, magnitude);
  const std::vector<HostTable> few = rope_tables(arch.block.rotary, 12), many = rope_tables(arch.block.rotary, 13);
  ASSERT_EQ(few.size(), 2);  // cosines and sines
  const double second = std::pow(1e4, -0.5);
  EXPECT_FLOAT_EQ(few[1].values[3], static_cast<float>(magnitude * std::sin(second / 1.5)));
  EXPECT_FLOAT_EQ(many[1].values[3], static_cast<float>(magnitude * std::sin(second / 4)));
  EXPECT_FLOAT_EQ(few[0].values[0], static_cast<float>(magnitude));
  const Scratch s;
  json file = read_json_file(golden("phi3_long_tiny") / "config.json");
  file["rope_scaling"]["long_factor"] = {2.0};
  const auto path = s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(path); }, {"long_factor", "2 numbers"}));
}

TEST(RelativesFolder, NamesAndKeysAreTheFilesBothWays) {
  std::vector<const char*> all = decoders();
  all.insert(all.end(), std::begin(kRouted), std::end(kRouted));
  all.insert(all.end(), std::begin(kOfFewPlans), std::end(kOfFewPlans));
  for (const char* name : all) workloads_test::expect_same_folder(name, {"hidden_act", "rope_scaling"});
}

// Warm-up, cosine, betas, epsilon, decay of matrices alone and clipping: each as the trajectory states it.
TEST(Recipes, EverySettingThatATrajectoryStatesIsRepeated) {
  expect_pytorch("qwen2_recipe_tiny", {.name = "one core"});
  // Parameters of one row that are neither biases nor norms decay as all others.
  expect_pytorch("roberta_recipe_tiny", {.name = "one core"});
  expect_pytorch("roberta_recipe_tiny", {.name = "DP 2", .data = 2});
  // LAMB's ratio is of the checkpoint's tensor, in whatever parts cores have it.
  expect_pytorch("gpt_lamb_tiny", {.name = "one core"});
  expect_pytorch("gpt_lamb_tiny", {.name = "TP 2", .tensor = 2});
  expect_pytorch("gpt_lamb_tiny", {.name = "TP 2, PP 2, micro-batches", .tensor = 2, .pipeline = 2, .micro = 2});
  expect_pytorch("qwen2_recipe_tiny", {.name = "ZeRO-1 over DP 2, TP 2", .data = 2, .tensor = 2, .zero = true});
}

// Experts that a file has as one tensor have one norm; those with a tensor each have one each.
TEST(Recipes, LambTakesExpertsAsAFileHasThem) {
  const auto parts = [](const char* model) {
    runtime::Graph graph{runtime::numerics("fp32")};
    const auto specs = decoder_weights(read_config(golden(model)), Step{});
    std::map<std::string, std::set<std::string>> out;  // by tensors of the file
    const auto values = declare_weights(graph, specs, false);
    const ParameterSets sets = parameter_sets(specs, values);
    for (const WeightSpec& spec : specs)
      if (const auto at = sets.parts.find(values.at(spec.name)); at != sets.parts.end())
        out[at->second].insert(spec.name);
    return out;
  };
  for (const char* name : {"gate_up_proj", "gate_up_proj_bias"})  // gates and ups of eight experts
    EXPECT_EQ(parts("gpt_oss_tiny")[fmt::format("model.layers.1.mlp.experts.{}", name)].size(), 16U);
  EXPECT_EQ(parts("dbrx_tiny")["transformer.blocks.1.ffn.experts.mlp.w2"].size(), 8U);
  EXPECT_EQ(parts("granitemoe_tiny")["model.layers.0.block_sparse_moe.output_linear.weight"].size(), 8U);
  for (const auto& [tensor, members] : parts("mixtral_tiny")) EXPECT_EQ(tensor.find("experts"), tensor.npos) << tensor;
}

TEST(Recipes, UnsupportedSettingsAreRefusedByName) {
  const Scratch s;
  const auto reading = [&](const char* key, const json& value) {
    json file = read_json_file(golden("qwen2_recipe_tiny") / "expected.json");
    file[key] = value;
    return [path = s.write("expected.json", file.dump())] { read_recipe(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("optimizer", "Lion betas 0.9 0.99 weight_decay 0.1"), {"optimizer", "Lion"}));
  EXPECT_TRUE(fails(Fault::kData, reading("optimizer", "AdamW weight_decay 0.1, amsgrad"), {"optimizer", "amsgrad"}));
  EXPECT_TRUE(
      fails(Fault::kData, reading("optimizer", "AdamW momentum 0.9 weight_decay 0.1"), {"optimizer", "factors"}));
  EXPECT_TRUE(
      fails(Fault::kData, reading("optimizer", "SGD betas 0.9 0.99 weight_decay 0.1"), {"optimizer", "factors"}));
  EXPECT_TRUE(fails(Fault::kData, reading("schedule", "one cycle"), {"schedule", "one cycle"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dropout", 0.1), {"dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dtype", "bfloat16"), {"dtype", "bfloat16"}));
  EXPECT_TRUE(fails(Fault::kData, reading("amsgrad", true), {"amsgrad"}));
  EXPECT_TRUE(fails(Fault::kData, reading("loss_per_step_bf16", {1.0}), {"loss_per_step_bf16"}));
  EXPECT_TRUE(fails(Fault::kData, reading("loss_per_step", json::array()), {"loss_per_step", "no step"}));
  const Recipe recipe = read_recipe(golden("qwen2_recipe_tiny") / "expected.json");
  EXPECT_EQ(recipe.schedule, "cosine");
  EXPECT_EQ(recipe.warmup, 2);
  EXPECT_EQ(recipe.smoothing, 0.1);
  EXPECT_EQ(recipe.optimizer, (OptimizerSpec{.beta1 = 0.8,
                                             .beta2 = 0.95,
                                             .epsilon = 1e-6,
                                             .weight_decay = 0.1,
                                             .decay_all = false,
                                             .max_grad_norm = 0.5}));
}

// PyTorch's own losses in bf16 are off by their last bit at least; two ways of rounding may differ by twice that.
TEST(Recipes, Bf16StaysWithinTwicePyTorchsOwnSpread) {
  for (const char* model : decoders()) {
    VerifyOptions options;
    options.target = trn1_target();
    options.plan.numerics = runtime::numerics("bf16");
    options.host_threads = 1;
    const VerifyReport report = verify(golden(model), options);
    ASSERT_TRUE(report.bf16_spread.has_value()) << model;
    EXPECT_GT(*report.bf16_spread, 1e-4) << model;
    EXPECT_LT(*report.bf16_spread, 0.05) << model;
    EXPECT_LE(report.worst_loss(), 2 * *report.bf16_spread) << model;
  }
}

TEST(Experts, RanksMustDivideThemAndHaveTokensOfTheirOwn) {
  const ModelPtr model = read_config(golden("mixtral_tiny"));
  const auto step = [&](const ModelPtr& of, std::int64_t tensor, bool sequence) {
    return [of, tensor, sequence] {
      of->step({.plan = {.tensor = tensor, .sequence = sequence, .micro_batch = 4}, .kind = {.length = 24}});
    };
  };
  EXPECT_TRUE(fails(Fault::kUsage, step(model, 2, false), {"disable_sequence_parallel", "experts"}));
  LlamaConfig six = read_llama_config(golden("mixtral_tiny"));
  six.num_experts = 6;
  EXPECT_TRUE(fails(Fault::kUsage, step(six, 4, true), {"tensor_parallel_size", "6 experts", "1, 2"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model_preset("qwen3-4b")->with_capacity_factor(1); }, {"capacity_factor"}));
}

// A rank computes its experts' slots of every rank: as many FLOPs as the tokens' choices when slots are an even share.
TEST(Experts, FlopsAreThoseOfTheChosen) {
  const ModelPtr model = model_preset("mixtral-small")->with_capacity_factor(1);
  const Step step{.plan = {.tensor = 2, .sequence = true, .micro_batch = 4, .numerics = runtime::numerics("bf16")},
                  .kind = {.length = 128}};
  const runtime::Compiled compiled = runtime::compile(model->step(step).graph, trn1_target(), {.name = "moe"});
  EXPECT_NEAR(2 * compiled.program.model_flops / model->flops(step), 1, 0.05);
}

}  // namespace
}  // namespace workloads
