// A job is a value: every field that decides time, memory or price tells two jobs apart, and its settings give it back.
#include "trnsim/job/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "base/error.h"
#include "runtime/graph/numerics.h"
#include "trnsim/job/listing.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/project.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Change {
  const char* name;
  std::function<void(Job&)> make;
};

const Change kChanges[] = {
    {"machine", [](Job& j) { j.machine = load_machine("trn1.32xlarge", {"hbm.bandwidth=0.5x"}, 1); }},
    {"instances", [](Job& j) { j.machine = load_machine("trn1.32xlarge", {}, 2); }},
    {"model", [](Job& j) { j.model = load_model_config("llama2-13b"); }},
    {"micro_batch", [](Job& j) { j.step.plan.micro_batch = 2; }},
    {"micro_batches", [](Job& j) { ++j.step.plan.micro_batches; }},
    {"tensor", [](Job& j) { j.step.plan.tensor = 4; }},
    {"pipeline", [](Job& j) { j.step.plan.pipeline = 2; }},
    {"data", [](Job& j) { j.step.plan.data = 8; }},
    {"chunks", [](Job& j) { j.step.plan.chunks = 2; }},
    {"zero1", [](Job& j) { j.step.plan.zero1 = !j.step.plan.zero1; }},
    {"sequence", [](Job& j) { j.step.plan.sequence = !j.step.plan.sequence; }},
    {"master_weights", [](Job& j) { j.step.plan.master_weights = !j.step.plan.master_weights; }},
    {"numerics", [](Job& j) { j.step.plan.numerics = runtime::numerics("fp32+sr"); }},
    {"length", [](Job& j) { j.step.kind.length = 64; }},
    {"target_length", [](Job& j) { j.step.kind.target_length = 64; }},
    {"max_grad_norm", [](Job& j) { j.step.optimizer.max_grad_norm = 0; }},
    {"weight_decay", [](Job& j) { j.step.optimizer.weight_decay = 0.5; }},
    {"samples", [](Job& j) { j.sizes.samples += 1000; }},
    {"eval_samples", [](Job& j) { j.sizes.eval_samples += 1000; }},
    {"eval_batch", [](Job& j) { j.sizes.eval_batch += 1; }},
    {"epochs", [](Job& j) { j.sizes.epochs += 1; }},
    {"max_steps", [](Job& j) { j.sizes.max_steps = 7; }},
    {"log_every", [](Job& j) { j.sizes.log_every = 7; }},
    {"stack", [](Job& j) { j.stack = "none"; }},
    {"passes", [](Job& j) { j.passes.fusion = !j.passes.fusion; }},
    {"purchase", [](Job& j) { j.purchase = analysis::Purchase::kSpot; }},
    {"price", [](Job& j) { j.price_per_hour = 1; }},
};

class JobField : public testing::TestWithParam<Change> {};

TEST_P(JobField, MakesAnotherJob) {
  static const Job job = load_job("llama2_7b_dolly");
  Job other = job;
  EXPECT_EQ(hash_of(other), hash_of(job));
  EXPECT_TRUE(other == job);
  GetParam().make(other);
  EXPECT_NE(hash_of(other), hash_of(job));
  EXPECT_FALSE(other == job);
}
INSTANTIATE_TEST_SUITE_P(All, JobField, testing::ValuesIn(kChanges), [](const auto& info) { return info.param.name; });

TEST(Job, FieldsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto& [name, text] : fields_of(load_job("bert_emotion"))) EXPECT_TRUE(names.insert(name).second) << name;
  EXPECT_GT(names.size(), 20u);
}

// What describes a plan to the user makes it again.
TEST(Job, PlanSettingsGiveThePlanBack) {
  Settings given;
  given.instance_type = "trn1.32xlarge", given.tensor_parallel_size = 4, given.pipeline_parallel_size = 2;
  given.virtual_pipeline_size = 2, given.zero_1 = true, given.recompute = "full";
  given.gradient_accumulation_steps = 8, given.per_device_train_batch_size = 2, given.max_length = 256;
  const Job job = job_of(given, load_model_config("llama2-7b"), 0);
  EXPECT_EQ(job.cores(), 32);
  Settings again;
  again.instance_type = "trn1.32xlarge", again.max_length = 256;
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : plan_settings(job)) values[name] = value.empty() ? "true" : value;
  apply_defaults(again, values, "test");
  const Job same = job_of(again, load_model_config("llama2-7b"), 0);
  EXPECT_EQ(describe(same), describe(job));
  EXPECT_EQ(hash_of(same), hash_of(job));
}

TEST(Job, EveryWorkloadAndModelOfTheRegistryMakesOne) {
  for (const std::string& name : workloads::workload_names()) {
    const Job job = load_job(name);
    EXPECT_GT(job.steps(), 0) << name;
    EXPECT_GT(job.samples(), 0) << name;
    EXPECT_TRUE(job.price_per_hour) << name;
  }
  for (const Listing& listing : listings()) EXPECT_GT(listing.make().rows(), 0u) << listing.name;
}

/// A user's mistake, and the word of the answer that matters.
struct Mistake {
  const char* name;
  std::function<void(Settings&)> make;
  const char* where;
};

const Mistake kMistakes[] = {
    {"MoreCoresThanThereAre", [](Settings& s) { s.nproc_per_node = 64; }, "`nproc_per_node`"},
    {"DegreesThatDoNotDivide", [](Settings& s) { s.tensor_parallel_size = 3; }, "`tensor_parallel_size`"},
    {"UnknownMachine", [](Settings& s) { s.instance_type = "trn1.2xlrge"; }, "trn1.2xlarge"},
    {"UnknownParameter", [](Settings& s) { s.set = {"hbm.bandwith=2x"}; }, "hbm.bandwidth"},
    {"ValueWithoutUnit", [](Settings& s) { s.set = {"hbm.bandwidth=2"}; }, "hbm.bandwidth"},
    {"UnknownStack", [](Settings& s) { s.stack = "pytorch"; }, "stack"},
    {"NoLayersOfTheName", [](Settings& s) { s.lora_r = 16, s.lora_target_modules = "q_proj,qproj"; }, "'qproj'"},
    {"AlphaWithoutARank", [](Settings& s) { s.lora_alpha = 16; }, "`lora_alpha`"},
    {"ATextOfItsOwn", [](Settings& s) { s.max_target_length = 64; }, "`max_target_length`"},
    {"UnknownPurchase", [](Settings& s) { s.price = "monthly"; }, "`price`"},
};

// 8.03e9 weights in bf16 on two cores; of the 41.9e6 that are trained, gradients and two fp32 moments.
TEST(Job, FrozenWeightsNeedNeitherGradientsNorMoments) {
  Settings given;
  given.nproc_per_node = 2, given.tensor_parallel_size = 2, given.recompute = "full";
  given.numerics = "bf16+fp32-optimizer";
  const workloads::ModelPtr model = load_model_config("llama3.1-8b");
  EXPECT_FALSE(least_memory(job_of(given, model, 0)).fits());
  given.lora_r = 16;
  const Job job = job_of(given, model, 0);
  EXPECT_EQ(workloads::trained_count(job.model->weights()), 41'943'040u);  // as PEFT counts them
  const Memory memory = least_memory(job);
  EXPECT_TRUE(memory.fits());
  EXPECT_LT(memory.by_kind.at("optimizer"), 8 * 41'943'040u);
  EXPECT_GT(memory.by_kind.at("weights"), 8'030'000'000u);
}

TEST(Job, AnEncoderTakesNoAdapters) {
  Settings given;
  given.lora_r = 16;
  try {
    job_of(given, load_model_config("bert-base-uncased"), 0);
    FAIL() << "nothing was refused";
  } catch (const base::Error& error) {
    EXPECT_THAT(std::string{error.what()}, HasSubstr("BERT models take no adapters"));
  }
}

TEST(Job, ATextThatIsWrittenHasALengthOfItsOwn) {
  const Job job = load_job("t5_small_summarize");
  EXPECT_THAT(describe(job), HasSubstr("1 micro-batch of 4 x 1024 to 128"));
  EXPECT_EQ(least_memory(job).by_kind.at("weights"), 2 * 60'506'624u);  // of the model card, in bf16
  Settings given;
  given.max_length = 128, given.max_target_length = 32;
  const Job small = job_of(given, load_model_config("t5-tiny"), 0);
  const Projection p = project(small);
  EXPECT_GE(p.memory.total, least_memory(small).total);
  EXPECT_LT(p.mfu, 0.5);
  given.max_target_length = 96;
  EXPECT_GT(project(job_of(given, load_model_config("t5-tiny"), 0)).device_seconds, p.device_seconds);
}

class JobMistake : public testing::TestWithParam<Mistake> {};

// One error with where, what and how to mend it, in the library's words: it knows no flags.
TEST_P(JobMistake, IsRefusedWithAFix) {
  Settings given;
  given.instance_type = "trn1.32xlarge", given.tensor_parallel_size = 8, given.max_length = 256;
  GetParam().make(given);
  try {
    job_of(given, load_model_config("llama2-7b"), 0);
    FAIL() << "nothing was refused";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kUsage);
    EXPECT_THAT(std::string{error.what()}, HasSubstr(GetParam().where));
    EXPECT_THAT(std::string{error.what()}, HasSubstr("\n  fix: "));
    EXPECT_THAT(std::string{error.what()}, Not(HasSubstr("--")));
  }
}
INSTANTIATE_TEST_SUITE_P(All, JobMistake, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string{info.param.name}; });

}  // namespace
}  // namespace trnsim
