// Adapters beside frozen weights: against PyTorch, as files of PEFT, merged, and refused input.
#include "workloads/models/lora.h"
#include "runtime/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "tests/target.h"
#include "tests/workloads/decoder_training.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/presets.h"
#include "workloads/training/verify.h"

namespace {

using namespace workloads_test;
using base::Fault;
using runtime::Recompute;
using testing::HasSubstr;
using workloads::Lora;
using workloads::ModelPtr;
namespace fs = std::filesystem;

ModelPtr small_lora(Lora lora = {.rank = 4, .alpha = 8}) {
  return workloads::model_preset("llama-small")->with_lora(std::move(lora));
}

struct LoraPlan {
  const char* name;
  std::uint32_t data = 1;
  std::int64_t tensor = 1, micro = 1;
  bool sequence = false, zero = false;
  Recompute recompute = Recompute::kNone;
  std::int64_t pipeline = 1;
};

// Gradients of B, of A, and of factors that ranks split or share; in fp32 a plan changes the order of sums alone.
TEST(LoraGolden, EachPlanFollowsPyTorch) {
  for (const LoraPlan& c :
       {LoraPlan{.name = "one core"}, LoraPlan{.name = "TP 2", .tensor = 2},
        LoraPlan{
            .name = "TP 2, sequence parallel, recompute", .tensor = 2, .sequence = true, .recompute = Recompute::kFull},
        LoraPlan{.name = "TP 4, heads shared", .tensor = 4, .sequence = true},
        LoraPlan{.name = "ZeRO-1 over DP 2", .data = 2, .zero = true},
        LoraPlan{.name = "TP 2 x PP 2 x DP 2, ZeRO-1",
        .data = 2,
        .tensor = 2,
        .micro = 2,
        .sequence = true,
        .zero = true,
        .pipeline = 2}}) {
    SCOPED_TRACE(c.name);
    workloads::VerifyOptions options;
    options.target = trn1_target();
    options.plan.numerics = runtime::numerics("fp32");
    options.plan.data = c.data, options.plan.tensor = c.tensor, options.plan.pipeline = c.pipeline;
    options.plan.micro_batches = c.micro, options.plan.sequence = c.sequence, options.plan.zero1 = c.zero;
    options.plan.recompute = c.recompute;
    options.host_threads = 1;
    const workloads::VerifyReport report = workloads::verify(golden("llama_lora"), options);
    EXPECT_LE(report.logits.norm, 1e-5);
    EXPECT_LE(report.worst_loss(), 1e-5);
    EXPECT_EQ(report.gradients.size(), 20u);  // two factors of five layers in each of two blocks
    EXPECT_LE(report.worst_gradient().norm, 1e-4) << report.worst_gradient().name;
    EXPECT_LE(report.worst_weight().norm, 1e-3) << report.worst_weight().name;
  }
}

// A classifier that is trained as a whole; two stacks; queries, keys and values of one tensor, which share a factor.
TEST(Lora, EveryFamilyFollowsPyTorch) {
  struct Case {
    const char* model;
    std::size_t trained;
    std::uint32_t data;
    std::int64_t tensor;
    Recompute recompute;
  };
  for (const Case& c : {Case{"bert_lora_tiny", 2 * 2 * 2 + 2, 1, 1, Recompute::kNone},
                        Case{"bert_lora_tiny", 2 * 2 * 2 + 2, 2, 1, Recompute::kFull},
                        Case{"t5_lora_tiny", 2 * 3 * 2 + 2 * 5 * 2, 2, 1, Recompute::kSelective},
                        Case{"t5_lora_tiny", 2 * 3 * 2 + 2 * 5 * 2, 1, 2, Recompute::kNone},
                        Case{"gpt_neox_lora_tiny", 2 * (4 + 2), 1, 1, Recompute::kFull},
                        Case{"gpt_neox_lora_tiny", 2 * (4 + 2), 1, 2, Recompute::kNone}}) {
    SCOPED_TRACE(c.model);
    workloads::VerifyOptions options;
    options.target = trn1_target();
    options.plan.numerics = runtime::numerics("fp32");
    options.plan.data = c.data, options.plan.tensor = c.tensor, options.plan.recompute = c.recompute;
    options.plan.zero1 = c.data > 1;
    options.host_threads = 1;
    const workloads::VerifyReport report = workloads::verify(golden(c.model), options);
    EXPECT_LE(report.logits.norm, 1e-5);
    EXPECT_LE(report.worst_loss(), 1e-5);
    EXPECT_EQ(report.gradients.size(), c.trained);
    EXPECT_LE(report.worst_gradient().norm, 1e-4) << report.worst_gradient().name;
    EXPECT_LE(report.worst_weight().norm, 1e-3) << report.worst_weight().name;
  }
}

// The merged weights compute as the base does with its adapters, and PEFT's file has the tensors that were read.
TEST(Lora, AdaptersOfEveryFamilyAreSavedAndMerged) {
  for (const char* model : {"bert_lora_tiny", "t5_lora_tiny", "gpt_neox_lora_tiny"}) {
    SCOPED_TRACE(model);
    const Scratch scratch;
    const workloads::LoadedModel loaded = workloads::load_model(golden(model), 0);
    workloads::save_adapter(scratch / "out", loaded.config, loaded.weights);
    const workloads::Checkpoint was = workloads::Checkpoint::open(golden(model) / "adapter_model.safetensors"),
                                is = workloads::Checkpoint::open(scratch / "out/adapter_model.safetensors");
    ASSERT_EQ(is.names(), was.names());
    for (const std::string& name : was.names()) EXPECT_EQ(is.floats(name), was.floats(name)) << name;
    const workloads::Weights merged = workloads::merged(loaded.config, loaded.weights);
    std::size_t changed = 0;
    for (const workloads::WeightSpec& spec : loaded.config->with_lora(std::nullopt)->weights())
      changed += merged.values.at(spec.name) != loaded.weights.values.at(spec.name) ? 1 : 0;
    EXPECT_EQ(merged.values.size(), loaded.config->with_lora(std::nullopt)->weights().size());
    EXPECT_GE(changed, 4u);
  }
}

TEST(Lora, FrozenWeightsHaveNoGradientAndNoState) {
  workloads::Step step{.plan = {.numerics = runtime::numerics("bf16")}, .kind = {.length = 32}};
  const runtime::Graph graph = small_lora()->step(step).graph;
  for (const char* prefix : {"grad.", "exp_avg.", "exp_avg_sq."}) {
    std::set<std::string> adapters, others;
    for (runtime::ValueId v = 0; v < graph.value_count(); ++v)
      if (const std::string& name = graph.value(v).name; name.starts_with(prefix))
        (workloads::is_adapter(name) ? adapters : others).insert(name);
    EXPECT_EQ(adapters.size(), 28u) << prefix;  // two factors of seven layers in each of two blocks
    EXPECT_THAT(others, testing::IsEmpty()) << prefix;
  }
}

TEST(Lora, FlopsLeaveOutGradientsOfFrozenWeights) {
  const ModelPtr base = workloads::model_preset("llama-small"), lora = small_lora();
  workloads::Step step{.plan = {.numerics = runtime::numerics("bf16")}, .kind = {.length = 32}};
  EXPECT_LT(lora->flops(step), 0.8 * base->flops(step));
  EXPECT_GT(lora->flops(step), 0.65 * base->flops(step));
  EXPECT_EQ(lora->with_lora(std::nullopt)->flops(step), base->flops(step));
  EXPECT_EQ(lora->traced_ops(step).tensors, 28);
}

/// The embedded instructions; the adapters of a small Llama.
class LoraTraining : public DecoderTraining {
 protected:
  LoraTraining() : DecoderTraining{"llama-small"} {
    base_ = job_.config->with_sizes({.hidden = 64, .heads = 4, .kv_heads = 4, .ffn = 96});
    job_.config = base_;
    job_.weights = workloads::initial_weights(base_, 42);
  }
  void adapt() {
    job_.config = base_->with_lora(Lora{.rank = 4, .alpha = 16});
    workloads::draw_adapters(job_.config, job_.weights, 7);
  }
  ModelPtr base_;
};

// The base learns sequences that count upwards in ones; the adapters then learn those that count in threes, with the
// base as it was.
TEST_F(LoraTraining, ALlamaOfOneTaskIsAdaptedToAnother) {
  const auto counting = [&](std::int32_t stride) {
    for (std::size_t i = 0; i < job_.train.ids.size(); ++i)
      job_.train.ids[i] = static_cast<std::int32_t>(stride * static_cast<std::int32_t>(i % 32 + i / 32) % 61 + 1);
  };
  workloads::TrainerOptions o = options(1, 1);
  o.max_steps = 60;
  counting(1);
  workloads::Weights trained;
  const std::vector<double> first = losses(o, &trained);
  EXPECT_LT(first.back(), 0.7 * first.front());
  job_.weights = trained;
  adapt();
  counting(3);
  workloads::Weights adapted;
  const std::vector<double> second = losses(o, &adapted);
  EXPECT_LT(second.back(), 0.7 * second.front());
  for (const auto& [name, values] : trained.values) EXPECT_EQ(adapted.values.at(name), values) << name;
}

TEST_F(LoraTraining, WithoutBTheLossIsTheBasesAndPlansAgree) {
  const double base = losses(options(1, 1)).front();
  adapt();
  const std::vector<double> one = losses(options(1, 1));
  EXPECT_NEAR(one.front(), base, 1e-6);
  workloads::TrainerOptions wide = options(2, 2);
  wide.step.plan.sequence = true, wide.step.plan.zero1 = true, wide.step.plan.recompute = Recompute::kFull;
  const std::vector<double> many = losses(wide);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(many[i] / one[i], 1, 1e-4) << i;
}

TEST_F(LoraTraining, ACheckpointGoesOnAndBecomesAnAdapter) {
  adapt();
  const Scratch scratch;
  workloads::TrainerOptions o = options(1, 2);
  o.step.plan.sequence = true;
  workloads::Weights whole, resumed;
  losses(o, &whole);
  stop_half_way(o, scratch / "checkpoint");
  o.resume = scratch / "checkpoint";
  losses(o, &resumed);
  EXPECT_EQ(resumed.values, whole.values);
  EXPECT_FALSE(workloads::read_shards(scratch / "checkpoint", "exp_avg").values.contains("model.norm.weight"));
  workloads::consolidate(scratch / "checkpoint", scratch / "adapter");
  const workloads::LoadedModel loaded = workloads::load_model(scratch / "adapter", 0);
  EXPECT_EQ(loaded.config->config_json(), job_.config->config_json());
  EXPECT_EQ(loaded.weights.values, workloads::read_shards(scratch / "checkpoint").values);
}

TEST(LoraFiles, PeftsNamesComeBackAndMerge) {
  const Scratch scratch;
  const workloads::LoadedModel golden_model = workloads::load_model(golden("llama_lora"), 0);
  workloads::save_adapter(scratch / "out", golden_model.config, golden_model.weights);
  const auto names = workloads::Checkpoint::open(scratch / "out/adapter_model.safetensors").names();
  EXPECT_EQ(names, workloads::Checkpoint::open(golden("llama_lora") / "adapter_model.safetensors").names());
  EXPECT_EQ(workloads::load_model(scratch / "out", 0).weights.values, golden_model.weights.values);
  const workloads::Weights merged = workloads::merged(golden_model.config, golden_model.weights);
  const std::string q = "model.layers.0.self_attn.q_proj";
  const auto& a = golden_model.weights.values.at(q + ".lora_A.weight");
  const auto& b = golden_model.weights.values.at(q + ".lora_B.weight");
  double low = 0;
  for (std::size_t r = 0; r < 3; ++r) low += static_cast<double>(b[5 * 3 + r]) * a[r * 32 + 7];
  EXPECT_NEAR(merged.values.at(q + ".weight")[5 * 32 + 7],
              golden_model.weights.values.at(q + ".weight")[5 * 32 + 7] + 2 * low, 1e-6);
  EXPECT_EQ(merged.values.size(), golden_model.config->with_lora(std::nullopt)->weights().size());
}

TEST(LoraFiles, AnotherBaseOrRankIsOneError) {
  const Scratch scratch;
  fs::copy(golden("llama_lora"), scratch / "rank");
  const auto replace = [](const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = base::read_file(file);
    text.replace(text.find(from), from.size(), to);
    base::write_file(file, text);
  };
  replace(scratch / "rank/adapter_config.json", "\"r\": 3", "\"r\": 5");
  EXPECT_TRUE(fails(Fault::kData, [&] { workloads::load_model(scratch / "rank", 0); },
                    {"the rank in adapter_config.json it must have [5, 32]"}));
  replace(scratch / "rank/adapter_config.json", "\"r\": 5", "\"use_dora\": true, \"r\": 3");
  EXPECT_TRUE(fails(Fault::kData, [&] { workloads::load_model(scratch / "rank", 0); }, {"use_dora"}));
  replace(scratch / "rank/adapter_config.json", "\"use_dora\": true", "\"exclude_modules\": [\"q_proj\"]");
  EXPECT_TRUE(fails(Fault::kData, [&] { workloads::load_model(scratch / "rank", 0); }, {"exclude_modules"}));
  workloads::Weights other = workloads::initial_weights(workloads::model_preset("llama-small"), 1);
  fs::create_directories(scratch / "other/base");
  workloads::write_config(workloads::model_preset("llama-small"), scratch / "other/base");
  workloads::save_weights(scratch / "other/base", workloads::model_preset("llama-small"), other);
  for (const char* name : {"adapter_config.json", "adapter_model.safetensors"})
    fs::copy(golden("llama_lora") / name, scratch / "other" / name);
  EXPECT_TRUE(fails(Fault::kData, [&] { workloads::load_model(scratch / "other", 0); }, {"but for this base"}));
}

TEST(Lora, UnknownTargetsAreRefused) {
  EXPECT_TRUE(
      fails(Fault::kUsage, [] { small_lora({.rank = 4, .targets = {"c_attn"}}); }, {"no linear layers 'c_attn'"}));
  EXPECT_TRUE(fails(Fault::kUsage, [] { small_lora({.rank = 0}); }, {"lora_r"}));
  EXPECT_TRUE(
      fails(Fault::kUsage,
            [] { workloads::model_preset("bert-base-uncased")->with_lora(Lora{.rank = 4, .targets = {"pooler"}}); },
            {"no linear layers 'pooler'", "query,key,value,dense"}));
}

}  // namespace
