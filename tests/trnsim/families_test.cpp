// Every family answers the same question alike, through every interface: a projection, an estimate, a search of plans,
// a run's price; decoders write text; adapters take less memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/cost/cost.h"
#include "base/error.h"
#include "hw/params.h"
#include "tests/fails.h"
#include "trnsim/project/estimate.h"
#include "trnsim/projection.h"
#include "trnsim/search.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

/// A preset of each family, made small: two layers, the family's traits.
struct Member {
  const char* preset;
  bool tensor = true;  // ranks may share a layer
};
const Member kMembers[] = {{"bert-base-uncased"},
                           {"roberta-base"},
                           {"distilbert-base-uncased"},
                           {"electra-small"},
                           {"albert-base"},
                           {"esm2_t6_8M"},
                           {"all-mpnet-base-v2"},
                           {"modernbert-base"},
                           {"gte-base-en-v1.5"},
                           {"snowflake-arctic-embed-m-v2.0"},
                           {"nomic-embed-text-v1.5"},
                           {"xlm-roberta-xl"},
                           {"megatron-bert-345m"},
                           {"efficient-mlm"},
                           {"data2vec-text-base"},
                           {"rembert"},
                           {"ernie-3.0-base-zh"},
                           {"xlm-mlm-en-2048"},
                           {"flaubert-large-cased"},
                           {"vit-mnist"},
                           {"llama2-7b"},
                           {"mistral-7b"},
                           {"qwen2-0.5b"},
                           {"qwen3-0.6b"},
                           {"gemma-2b"},
                           {"granite-3.0-2b"},
                           {"phi3-mini"},
                           {"phi3.5-mini"},
                           {"mixtral-8x7b"},
                           {"qwen3-30b-a3b"},
                           {"olmo2-1b", false},
                           {"gpt2"},
                           {"t5-small"},
                           {"pythia-410m"},
                           {"opt-125m"},
                           {"xlm-roberta-base"},
                           {"gemma2-2b"},
                           {"gemma3-1b"},
                           {"smollm3-3b"},
                           {"phi-2"},
                           {"opt-350m"},
                           {"biogpt"},
                           {"stablelm-2-1.6b"},
                           {"starcoder2-3b"},
                           {"gpt-neo-125m"},
                           {"starcoderbase-1b", false},
                           {"falcon-7b", false},
                           {"olmoe-1b-7b", false},
                           {"gpt-oss-20b"},
                           {"command-r"},
                           {"command-r7b"},
                           {"glm-4-9b"},
                           {"glm-4-9b-0414"},
                           {"helium-1-2b"},
                           {"ernie-4.5-0.3b"},
                           {"minitron-4b"},
                           {"seed-oss-36b"},
                           {"exaone-4.0-32b"},
                           {"olmo-1b"},
                           {"granite-3.0-1b-a400m"},
                           {"qwen1.5-moe-a2.7b"},
                           {"gpt-j-6b"},
                           {"codegen-350m"},
                           {"bloom-560m"},
                           {"mpt-7b"},
                           {"dbrx", false},
                           {"llama4-scout-17b-16e", false},
                           {"deepseek-moe-16b"},
                           {"persimmon-8b"},
                           {"deepseek-v2-lite"},
                           {"moonlight-16b-a3b"},
                           {"glm-4.5-air"},
                           {"camembert-base"},
                           {"roformer-chinese-small"},
                           {"deberta-base"},
                           {"deberta-v3-small"},
                           {"mt5-small"},
                           {"umt5-small"},
                           {"bart-base", false},
                           {"mbart-large", false},
                           {"opus-mt-en-de", false},
                           {"pegasus-large", false},
                           {"m2m100-418m", false},
                           {"blenderbot-400m-distill", false},
                           {"plbart-base", false},
                           {"whisper-tiny", false},
                           {"deit-tiny-distilled-patch16-224", false},
                           {"clip-vision-base-patch32"},
                           {"mobilebert-uncased", false},
                           {"internlm2-1.8b"},
                           {"internlm3-8b"},
                           {"baichuan2-7b"},
                           {"exaone-3.5-2.4b"},
                           {"chatglm3-6b"},
                           {"qwen-1.8b"},
                           {"minicpm-2b"},
                           {"orion-14b"},
                           {"ernie-4.5-21b-a3b"},
                           {"eurobert-210m"},
                           {"kimi-k2"},
                           {"ministral3-3b"},
                           {"granite-4.0-350m"},
                           {"hunyuan-1.8b"},
                           {"minimax-m2", false},
                           {"apertus-8b"},
                           {"ling-lite"},
                           {"ling-mini-2.0"},
                           {"ettin-decoder-17m"},
                           {"embeddinggemma-300m", false},
                           {"openai-gpt"},
                           {"siglip-base-patch16-224"},
                           {"dinov2-small"},
                           {"dinov2-with-registers-small"},
                           {"dinov3-vits16plus"},
                           {"vit-msn-small"},
                           {"ijepa-vith14"}};

workloads::ModelPtr small(const char* preset) {
  const workloads::ModelPtr model = workloads::model_preset(preset);
  if (model->image()) return model->with_sizes({.layers = 2});
  const workloads::Sizes s = model->sizes();
  // An MLP that is always four times as wide as its layers stays so.
  workloads::Sizes to{.layers = 2, .hidden = 64, .heads = 4, .ffn = s.ffn == 4 * s.hidden ? 256 : 96};
  if (model->task() == workloads::Task::kNextToken) {
    to.kv_heads = s.kv_heads < s.heads ? 2 : 4, to.head = s.head;
    to.vocabulary = 264;
  }
  return model->with_sizes(to)->with_tokens({.vocabulary = 264, .begin = 1, .end = 2});
}

class Families : public testing::TestWithParam<Member> {
 protected:
  void SetUp() override {
    model_ = small(GetParam().preset);
    folder_ = std::filesystem::path{testing::TempDir()} / fmt::format("family-{}-{}", GetParam().preset, getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream{folder_ / "config.json"} << model_->config_json();
    settings_.given = {"instance_type", "per_device_train_batch_size"};
    settings_.training.per_device_train_batch_size = 2, settings_.data.max_length = 64,
    settings_.machine.nproc_per_node = 2;
    settings_.output.suggestions = 0;
    settings_.plan.tensor_parallel_size = GetParam().tensor ? 2 : 1;
    settings_ = estimate_settings(settings_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  bool decodes() const { return model_->task() != workloads::Task::kClassification; }

  workloads::ModelPtr model_;
  std::filesystem::path folder_;
  Settings settings_;
};

TEST_P(Families, EstimateProjectionAndPlansAgree) {
  const Estimate asked = estimate(folder_.string(), settings_, 1000);
  ASSERT_TRUE(asked.fits());
  const Job job = job_of(settings_, load_model_config(folder_.string()), 1000);
  const Projection p = project(job);
  EXPECT_EQ(asked.job, job);
  EXPECT_EQ(asked.projection.time.total, p.time.total);
  EXPECT_EQ(asked.projection.memory.total, p.memory.total);
  ASSERT_TRUE(p.dollars);
  EXPECT_NEAR(*p.dollars, p.time.total / 3600 * *p.price_per_hour, 1e-9);
  const auto json = to_json(asked);
  EXPECT_EQ(json["train_runtime"], p.time.total);
  EXPECT_EQ(json["step_seconds"], p.time.step);
  std::vector<TriedPlan> plans =
      plans_of(job, {.batch = static_cast<std::int64_t>(job.sequences_per_step()), .micro_batches = {2}});
  const auto same = [&](const TriedPlan& plan) {
    Job other = plan.job;
    other.sizes = job.sizes;
    return other == job;
  };
  std::erase_if(plans, [&](const TriedPlan& plan) { return !same(plan); });
  ASSERT_EQ(plans.size(), 1u);
  time_plans(plans);
  EXPECT_EQ(plans.front().refused, "");
  EXPECT_DOUBLE_EQ(plans.front().seconds, p.time.step);
  EXPECT_EQ(plans.front().memory, p.memory.total);
}

TEST_P(Families, AdaptersTakeLessMemoryAndTheSameBase) {
  Settings lora = settings_;
  lora.lora.r = 4;
  const Projection all = project(job_of(settings_, model_, 1000)), adapted = project(job_of(lora, model_, 1000));
  EXPECT_LT(adapted.memory.total, all.memory.total);
  EXPECT_LT(adapted.memory.by_kind.at("optimizer"), all.memory.by_kind.at("optimizer"));
  EXPECT_LT(adapted.model_flops, all.model_flops);
}

TEST_P(Families, DecodersWriteTextAndOthersSayWhyNot) {
  const auto time = [&] {
    Settings given;  // nothing of the training
    given.machine = settings_.machine, given.output = settings_.output;
    given.generation.prompt_length = 8, given.generation.max_new_tokens = 4;
    given.plan.tensor_parallel_size = model_->pairs() ? 1 : settings_.plan.tensor_parallel_size;
    return project(job_of(given, model_, 0));
  };
  if (!decodes()) {
    EXPECT_TRUE(tests::fails(base::Fault::kUsage, time, {"encoder"}));
    return;
  }
  const Projection p = time();
  EXPECT_GT(p.generation->per_token, 0);
  EXPECT_LT(p.generation->per_token, p.time.total);
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(kMembers), [](const auto& info) {
  std::string name = info.param.preset;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

// A row of the test for every family that has presets.
TEST(FamiliesOfTheTest, AreAllThatThereAre) {
  std::vector<std::string_view> tested;
  for (const Member& m : kMembers) tested.push_back(workloads::model_preset(m.preset)->family());
  for (const std::string& name : workloads::model_preset_names())
    EXPECT_NE(std::ranges::find(tested, workloads::model_preset(name)->family()), tested.end()) << name;
}

}  // namespace
}  // namespace trnsim
