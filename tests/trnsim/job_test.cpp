// A job is a value: every field that decides time, memory or price tells two jobs apart, and its settings give it back.
#include "trnsim/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "hw/params.h"
#include "runtime/compiler/program_cache.h"
#include "runtime/graph/numerics.h"
#include "tests/cpu_time.h"
#include "trnsim/job/listing.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/memory.h"
#include "trnsim/projection.h"
#include "workloads/jobs/workload.h"
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
    {"adapters", [](Job& j) { j.model = j.model->with_lora(workloads::Lora{.rank = 8, .targets = {"q_proj"}}); }},
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

/// Another value of a number, a text, a list.
void change(bool& x) { x = !x; }
void change(std::string& x) { x += "x"; }
void change(std::optional<double>& x) { x = x.value_or(0) + 1; }
template <class T>
requires std::is_arithmetic_v<T>
void change(T& x) { x += 1; }
template <class T>
requires std::is_enum_v<T>
void change(T& x) { x = static_cast<T>(static_cast<int>(x) + 1); }
template <class T>
void change(std::vector<T>& x) {
  x.emplace_back();
}

/// Calls f with every value that x is made of. Members with an identity of their own are left to JobField.
template <class T>
void each_value(T& x, const auto& f) {
  if constexpr (std::is_same_v<T, hw::MachineParams> || std::is_same_v<T, workloads::ModelPtr> ||
                std::is_same_v<T, std::shared_ptr<runtime::ProgramCache>>)
    return;
  else if constexpr (requires { change(x); })
    f([&x] { change(x); });
  else if constexpr (requires { x.emplace(); })
    f([&x] { x.emplace(); }), each_value(*x, f);
  else
    std::apply([&](auto&... member) { (each_value(member, f), ...); }, base::fields(x));
}

TEST(Job, EveryValueOfItAndOfItsPartsMakesAnotherJob) {
  const Job job = load_job("llama2_7b_dolly");
  std::set<std::uint64_t> hashes{hash_of(job)};
  Job other = job;
  std::size_t values = 0;
  each_value(other, [&](const auto& change_it) {
    change_it(), ++values;
    EXPECT_FALSE(other == job) << "value " << values;
    EXPECT_TRUE(hashes.insert(hash_of(other)).second) << "value " << values;
  });
  EXPECT_GT(values, 60u);
}

// A list that fills a screen is not read: each of the settings' groups is one.
template <class... Group>
constexpr bool kShort = ((base::kFieldCount<Group> <= 20) && ...);
static_assert(kShort<Settings, DataSettings, TrainingSettings, NumericsSettings, PlanSettings, LoraSettings,
                     GenerationSettings, MachineSettings, OutputSettings>);

/// Values of a setting to try: its choices, or a few of its type. None for a text without choices.
std::vector<std::string> values_of(const Setting& setting) {
  std::vector<std::string> out;
  const std::string legal = setting.legal();
  for (std::size_t begin = 0; begin < legal.size();) {
    const std::size_t end = std::min(legal.find('|', begin), legal.size());
    out.push_back(legal.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!out.empty() || setting.is<std::string>() || setting.is<std::vector<std::string>>()) return out;
  return setting.is<bool>() ? std::vector<std::string>{"true", "false"}
                            : std::vector<std::string>{"0", "0.5", "1", "2", "64"};
}

/// Whether a value of the setting makes another job of the workload.
bool changes_job(const char* workload, const Setting& setting) {
  const std::uint64_t before = hash_of(load_job(workload));
  return std::ranges::any_of(values_of(setting), [&](const std::string& value) {
    Settings given;
    try {
      apply_defaults(given, {{std::string{setting.name()}, value}}, "test");
      given.given.emplace(setting.name());
      return hash_of(load_job(workload, given)) != before;
    } catch (const base::Error&) {
      return false;  // not with this workload
    }
  });
}

TEST(Job, TheSettingsTableSaysWhichSettingsAreAPartOfIt) {
  for (const Setting& setting : settings_table()) {
    const bool changes = changes_job("bert_emotion", setting) || changes_job("llama2_7b_dolly", setting) ||
                         changes_job("t5_small_summarize", setting);
    EXPECT_TRUE(!changes || setting.effect.job) << setting.name();
    // Adapters need a rank too, experts a mixture of them, samples and lengths data, a cast fp32 weights.
    const std::set<std::string_view> need_more{
        "lora_alpha",   "lora_dropout",      "capacity_factor",  "virtual_pipeline_size",
        "packing",      "max_train_samples", "max_eval_samples", "bf16",
        "auto_cast",    "auto_cast_type",    "batch_size",       "prompt_length",
        "prompt_bucket"};
    const bool tried = !values_of(setting).empty() && !need_more.contains(setting.name());
    EXPECT_TRUE(changes || !tried || !setting.effect.job) << setting.name();
  }
}

/// The job of a model by itself; none: refused, with the setting at fault.
std::optional<std::uint64_t> estimated(const char* model, const Settings& settings) {
  try {
    const Settings given = estimate_settings(settings);
    return hash_of(jobs_of_model(model, given, 0, {})(given));
  } catch (const base::Error&) {
    return {};
  }
}

// A model without data, trained or asked: each setting that is given changes the job, or is refused.
TEST(Job, WhatNothingReadsIsRefused) {
  // The first two are for texts and shared layers; the last is a model's default in other words.
  const std::set<std::string_view> of_others{"packing", "disable_sequence_parallel", "bf16"};
  for (const char* model : {"bert-base-uncased", "llama-small"})
    for (const char* task : {"", "inference"}) {
      Settings none;
      none.data.task = task;
      const auto before = estimated(model, none);
      ASSERT_TRUE(before);
      for (const Setting& setting : settings_table()) {
        if (!setting.effect.job || setting.verbs.find("estimate") == setting.verbs.npos ||
            of_others.contains(setting.name()))
          continue;
        bool read = values_of(setting).empty();
        for (const std::string& value : values_of(setting)) {
          Settings given = none;
          try {
            set_option<Settings>(given, setting, value);
          } catch (const base::Error&) {
            continue;  // no value of it
          }
          given.given.emplace(setting.name());
          read = read || estimated(model, given) != before;
        }
        EXPECT_TRUE(read) << model << " " << task << ": " << setting.name();
      }
    }
}

TEST(Job, AnEvaluationBeforeTheFirstStepIsOneMore) {
  Settings first;
  first.training.eval_on_start = true;
  EXPECT_EQ(load_job("bert_emotion", first).evaluations(), load_job("bert_emotion").evaluations() + 1);
}

// Each epoch ends with a step of its own, as it does in the trainer: 62.5 steps are 63, three times.
TEST(Job, StepsAreWholeInEachEpoch) {
  Settings given;
  given.training.per_device_train_batch_size = 8, given.machine.nproc_per_node = 2;
  given.machine.instance_type = "trn1.2xlarge";
  const auto steps = [&](double epochs, double samples = 1000) {
    given.training.num_train_epochs = epochs;
    return job_of(given, load_model_config("bert-small"), samples, 100).steps();
  };
  EXPECT_EQ(steps(1), 63);
  EXPECT_EQ(steps(3), 189);
  EXPECT_EQ(steps(2.5), 158);  // 157.5
  EXPECT_EQ(steps(0.5), 32);
  EXPECT_EQ(steps(3, 992), 186);
  EXPECT_EQ(steps(3, 1), 3);
  given.training.max_steps = 126;
  EXPECT_EQ(job_of(given, load_model_config("bert-small"), 1000, 100).evaluations(), 2);
}

// The 63 micro-batches of a rank are 15 steps of four: a classifier's trainer leaves three of them out, one that deals
// whole steps does not, nor does one that deals steps of each length.
TEST(Job, MicroBatchesThatFillNoStepAreLeftOutAsTheTrainerDoes) {
  Settings given;
  given.training.per_device_train_batch_size = 8, given.machine.nproc_per_node = 2;
  given.training.gradient_accumulation_steps = 4, given.training.num_train_epochs = 3;
  given.machine.instance_type = "trn1.2xlarge";
  const auto steps = [&](const char* model, double samples) {
    return job_of(given, load_model_config(model), samples, 100).steps();
  };
  EXPECT_EQ(steps("bert-small", 1000), 45);
  EXPECT_EQ(steps("bert-small", 1024), 48);
  EXPECT_EQ(steps("bert-small", 20), 3);
  EXPECT_EQ(steps("gpt2", 1000), 48);
  Job job = job_of(given, load_model_config("bert-small"), 1000, 100);
  job.sizes.lengths = {{.length = 64, .share = 0.5}, {.length = 128, .share = 0.5}};
  EXPECT_EQ(job.steps(), 2 * 24);
}

// The description of a plan for the user reproduces it.
TEST(Job, PlanSettingsGiveThePlanBack) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.plan.tensor_parallel_size = 4,
  given.plan.pipeline_parallel_size = 2;
  given.plan.virtual_pipeline_size = 2, given.plan.zero_1 = true, given.plan.recompute = "full";
  given.training.gradient_accumulation_steps = 8, given.training.per_device_train_batch_size = 2,
  given.data.max_length = 256;
  const Job job = job_of(given, load_model_config("llama2-7b"), 0);
  EXPECT_EQ(job.cores(), 32);
  Settings again;
  again.machine.instance_type = "trn1.32xlarge", again.data.max_length = 256;
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
    {"MoreCoresThanThereAre", [](Settings& s) { s.machine.nproc_per_node = 64; }, "`nproc_per_node`"},
    {"DegreesThatDoNotDivide", [](Settings& s) { s.plan.tensor_parallel_size = 3; }, "`tensor_parallel_size`"},
    {"UnknownMachine", [](Settings& s) { s.machine.instance_type = "trn1.2xlrge"; }, "trn1.2xlarge"},
    {"UnknownParameter", [](Settings& s) { s.machine.set = {"hbm.bandwith=2x"}; }, "hbm.bandwidth"},
    {"ValueWithoutUnit", [](Settings& s) { s.machine.set = {"hbm.bandwidth=2"}; }, "hbm.bandwidth"},
    {"UnknownStack", [](Settings& s) { s.machine.stack = "pytorch"; }, "stack"},
    {"NoLayersOfTheName", [](Settings& s) { s.lora.r = 16, s.lora.target_modules = "q_proj,qproj"; }, "'qproj'"},
    {"AlphaWithoutARank", [](Settings& s) { s.lora.alpha = 16; }, "`lora_alpha`"},
    {"ATextOfItsOwn", [](Settings& s) { s.data.max_target_length = 64; }, "`max_target_length`"},
    {"UnknownPurchase", [](Settings& s) { s.machine.price = "monthly"; }, "`price`"},
};

// 8.03e9 weights in bf16 on two cores; of the 41.9e6 that are trained, gradients and two fp32 moments.
TEST(Job, FrozenWeightsNeedNeitherGradientsNorMoments) {
  Settings given;
  given.machine.nproc_per_node = 2, given.plan.tensor_parallel_size = 2, given.plan.recompute = "full";
  given.numerics.name = "bf16+fp32-optimizer";
  const workloads::ModelPtr model = load_model_config("llama3.1-8b");
  EXPECT_FALSE(least_memory(job_of(given, model, 0)).fits());
  given.lora.r = 16;
  const Job job = job_of(given, model, 0);
  EXPECT_EQ(workloads::trained_count(job.model->weights()), 41'943'040u);  // as PEFT counts them
  const Memory memory = least_memory(job);
  EXPECT_TRUE(memory.fits());
  EXPECT_LT(memory.by_kind.at("optimizer"), 8 * 41'943'040u);
  EXPECT_GT(memory.by_kind.at("weights"), 8'030'000'000u);
}

// A search asks hundreds of times what the least is: a stranger's 10,000 layers must not cost half a minute.
TEST(Job, TheLeastMemoryOfADeepModelIsKnownAtOnce) {
  Settings given;
  given.numerics.name = "bf16";
  const workloads::ModelPtr model = load_model_config("llama-small")->with_sizes({.layers = 9'600});
  const Job job = job_of(given, model, 0);
  EXPECT_EQ(least_memory(job).by_kind.at("weights"), 2 * workloads::parameter_count(model->weights()));
  const tests::CpuTime took;
  for (int i = 0; i < 200; ++i) least_memory(job);
  EXPECT_LT(took.seconds(), 3);
}

TEST(Job, ATextThatIsWrittenHasALengthOfItsOwn) {
  const Job job = load_job("t5_small_summarize");
  EXPECT_THAT(describe(job), HasSubstr("1 micro-batch of 4 x 1024 to 128"));
  EXPECT_EQ(least_memory(job).by_kind.at("weights"), 2 * 60'506'624u);  // of the model card, in bf16
  Settings given;
  given.data.max_length = 128, given.data.max_target_length = 32;
  const Job small = job_of(given, load_model_config("t5-tiny"), 0);
  const Projection p = project(small);
  EXPECT_GE(p.memory.total, least_memory(small).total);
  EXPECT_LT(p.mfu, 0.5);
  given.data.max_target_length = 96;
  EXPECT_GT(project(job_of(given, load_model_config("t5-tiny"), 0)).device_seconds, p.device_seconds);
}

class JobMistake : public testing::TestWithParam<Mistake> {};

// One error with place, problem and fix, in the library's words: it knows no flags.
TEST_P(JobMistake, IsRefusedWithAFix) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.plan.tensor_parallel_size = 8, given.data.max_length = 256;
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

TEST(Job, MasterWeightsMakeAFormatOnceAndNoOtherOne) {
  const auto format = [](const char* numerics) {
    Settings given;
    given.machine.instance_type = "trn1.32xlarge", given.numerics.name = numerics;
    given.plan.tensor_parallel_size = 8, given.plan.optimizer_use_master_weights = true, given.data.max_length = 256;
    return job_of(given, load_model_config("llama2-7b"), 0).step.plan.numerics.name;
  };
  EXPECT_EQ(format("bf16"), "bf16+fp32-optimizer");
  EXPECT_EQ(format("bf16+sr"), "bf16+fp32-optimizer+sr");
  EXPECT_EQ(format("bf16+fp32-optimizer"), "bf16+fp32-optimizer");
  EXPECT_EQ(format("fp32"), "fp32");
  EXPECT_THROW(format("bf16+fp32-softmax"), base::Error);
}

TEST(Job, WeightsOfFp32HaveNoMasterCopies) {
  const auto job = [](bool copies) {
    Settings given;
    given.machine.instance_type = "trn1.32xlarge", given.numerics.name = "fp32";
    given.plan.optimizer_use_master_weights = copies, given.data.max_length = 64;
    return job_of(given, load_model_config("llama-small"), 0);
  };
  EXPECT_EQ(least_memory(job(true)).total, least_memory(job(false)).total);
  EXPECT_EQ(hash_of(job(true)), hash_of(job(false)));
}

}  // namespace
}  // namespace trnsim
