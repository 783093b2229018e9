#include "trnsim/plans/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/sanitized.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/ablate.h"
#include "trnsim/plans/answer.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/estimate.h"
#include "trnsim/run/run.h"
#include "workloads/jobs/workload.h"

namespace trnsim {
namespace {

using testing::HasSubstr;

struct Request {
  Settings settings;
  JobOf job_of;
};

Request workload(const std::string& name) {
  const workloads::Workload w = workloads::load_workload(name);
  Settings settings;
  apply_workload(settings, w, WorkloadPart::kProjected);
  return {settings, [w](const Settings& s) { return trnsim::job_of(w, s); }};
}

/// A small Llama on eight cores that computes much twice.
Request llama() {
  Settings s;
  s.machine.instance_type = "trn1.32xlarge", s.machine.nproc_per_node = 8, s.plan.tensor_parallel_size = 2,
  s.plan.recompute = "full";
  s.training.per_device_train_batch_size = 1, s.training.gradient_accumulation_steps = 8, s.data.max_length = 512;
  const workloads::ModelPtr model = load_model_config("llama3.2-1b");
  return {s, [model](const Settings& settings) { return trnsim::job_of(settings, model, 1024); }};
}

/// The model of a Hugging Face folder with this config.json.
workloads::ModelPtr folder_of(const std::string& config) {
  std::string pattern = (std::filesystem::temp_directory_path() / "trnsim_advice_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  base::write_file(folder / "config.json", config);
  workloads::ModelPtr model = load_model_config(folder.string());
  std::filesystem::remove_all(folder);
  return model;
}

Request llama_folder() {
  Settings s;
  s.machine.instance_type = "trn1.32xlarge", s.machine.nproc_per_node = 8, s.plan.tensor_parallel_size = 4,
  s.training.per_device_train_batch_size = 1;
  s.training.gradient_accumulation_steps = 4, s.data.max_length = 1024, s.plan.zero_1 = true,
  s.plan.recompute = "selective";
  const workloads::ModelPtr model = folder_of(
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "vocab_size": 32000,
  "intermediate_size": 2816, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8,
  "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0})");
  return {s, [model](const Settings& settings) { return trnsim::job_of(settings, model, 4096); }};
}

Request roberta_folder() {
  Settings s;
  s.machine.instance_type = "trn1.2xlarge", s.machine.nproc_per_node = 2, s.training.per_device_train_batch_size = 4,
  s.data.max_length = 256;
  const workloads::ModelPtr model = folder_of(
      R"({"architectures": ["RobertaForSequenceClassification"], "model_type": "roberta", "hidden_size": 512,
  "intermediate_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 50265,
  "max_position_embeddings": 514, "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5,
  "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1})");
  return {s, [model](const Settings& settings) { return trnsim::job_of(settings, model, 8000, 1000); }};
}

/// The compiler's last case, from which a run looks for changes.
Request compiler() {
  const workloads::Workload w = workloads::load_workload("bert_training_compiler");
  Request request = workload(w.name);
  const Job job = request.job_of(request.settings);
  const CompilerGain gain = compiler_gain(job, request.settings.training.learning_rate, {}, w.most_batch);
  request.job_of = at_largest_batch(request.job_of, gain.cases.back().job, w.most_batch);
  return request;
}

class Advice : public testing::TestWithParam<Request (*)()> {};

TEST_P(Advice, EachChangeGainsAsPromised) {
  const Request request = GetParam()();
  const Projection now = project(request.job_of(request.settings));
  const std::vector<Change> changes = advise(request.settings, request.job_of, now);
  ASSERT_FALSE(changes.empty());
  EXPECT_LE(changes.size(), 2u);
  double before = std::max(changes.front().speed_up, changes.front().saving);
  for (const Change& change : changes) {
    const Projection with = project(request.job_of(changed(request.settings, change)));
    const double gain = with.samples_per_second() / now.samples_per_second() - 1;
    EXPECT_GT(std::max(gain, change.saving), 0) << settings_text(change);
    EXPECT_NEAR(gain, change.speed_up, 0.03) << settings_text(change);
    EXPECT_LE(*with.dollars / with.samples, 1.01 * *now.dollars / now.samples) << settings_text(change);
    EXPECT_LE(std::max(change.speed_up, change.saving), before) << "the best first";
    before = std::max(change.speed_up, change.saving);
  }
}

template <int kJob>
Request published() {
  static constexpr const char* kJobs[] = {"bert_emotion",    "bert_imdb",      "bert_tweets",
                                          "llama2_7b_dolly", "llama3_8b_lora", "vit_mnist"};
  return workload(kJobs[kJob]);
}

/// The largest last.
std::vector<Request (*)()> jobs() {
  std::vector<Request (*)()> all{published<0>, published<1>, published<2>, published<5>, llama_folder, roberta_folder};
  if (!without_slow()) all.insert(all.end(), {published<3>, published<4>, compiler, llama});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Jobs, Advice, testing::ValuesIn(jobs()));

/// A Llama-2-7B that is not shared, and batches of BERT that are too large.
Request whole_llama() {
  Settings s = estimate_settings({});
  const workloads::ModelPtr model = load_model_config("llama2-7b");
  return {s, [model](const Settings& settings) { return trnsim::job_of(settings, model, 0); }};
}
Request large_batch() {
  Request request = workload("bert_emotion");
  request.settings.training.per_device_train_batch_size = 201;  // no power of two divides it
  request.settings.given = {"per_device_train_batch_size"};
  return request;
}

class FittingChange : public testing::TestWithParam<Request (*)()> {};

TEST_P(FittingChange, FitsAndTakesThePromisedTime) {
  const Request request = GetParam()();
  const Job before = request.job_of(request.settings);
  KnownBlocks known;
  const SharedBlocks& blocks = known.of(before.machine);
  ASSERT_FALSE(project_if_it_fits(before, {.shared = &known.of(before.machine)}).memory.fits());
  const std::size_t found = blocks.compiled.found();
  const std::optional<Change> change = fitting_change(request.settings, request.job_of, &known);
  ASSERT_TRUE(change);
  EXPECT_GT(blocks.compiled.found(), found);  // no plan's blocks are compiled twice
  const Job with = request.job_of(changed(request.settings, *change));
  const Projection p = project(with);
  EXPECT_TRUE(p.memory.fits()) << settings_text(*change);
  EXPECT_NEAR(change->seconds, p.time.total, 0.03 * p.time.total) << settings_text(*change);
  EXPECT_EQ(change->dollars, p.dollars);
  EXPECT_EQ(with.sequences_per_step(), before.sequences_per_step()) << settings_text(*change);
  EXPECT_THAT(fix_text(change), HasSubstr("this fits: `"));
}

INSTANTIATE_TEST_SUITE_P(Jobs, FittingChange, testing::Values(whole_llama, large_batch));

// The search asks about the jobs that it would offer: with the batch of the job that does not fit, not with 128
// micro-batches on each of 2048 cores. These took 25 s.
TEST(FittingChanges, AreSoonFoundForALargeMixture) {
  Settings s = estimate_settings({});
  const workloads::ModelPtr model = load_model_config("glm-4.5");
  const JobOf job_of_model = [model](const Settings& settings) { return trnsim::job_of(settings, model, 0); };
  const std::clock_t begin = std::clock();
  const std::optional<Change> change = fitting_change(s, job_of_model);
  EXPECT_LT(std::clock() - begin, (without_slow() ? 100 : 10) * CLOCKS_PER_SEC);
  ASSERT_TRUE(change);
  const Job offered = job_of_model(changed(s, *change));
  EXPECT_EQ(offered.step.plan.micro_batches, offered.step.plan.pipeline);
  EXPECT_TRUE(possible(offered) == std::nullopt);
}

// A few micro-batches keep no more at once than many, so a plan that they show to be too large is refused by them.
TEST(FittingChanges, AFewMicroBatchesRefuseNoJobThatFits) {
  Settings s = estimate_settings({});
  s.plan.tensor_parallel_size = 8;
  const workloads::ModelPtr model = load_model_config("llama-small");
  for (const std::int64_t stages : {1, 2})
    for (const std::int64_t micro_batches : {5, 9}) {
      s.plan.pipeline_parallel_size = stages, s.training.gradient_accumulation_steps = micro_batches;
      const Job job = trnsim::job_of(s, model, 0);
      SharedBlocks shared{job.machine.target()};
      const std::uint64_t whole = compile_stages(job, shared).memory.total;
      EXPECT_EQ(compile_stages(job, shared, {.give_up_at = whole}).memory.total, whole) << stages;
      EXPECT_FALSE(compile_stages(job, shared, {.give_up_at = whole}).stages.empty()) << stages;
      const CompiledStages refused = compile_stages(job, shared, {.give_up_at = whole / 2});
      EXPECT_TRUE(refused.stages.empty()) << stages;
      EXPECT_GT(refused.memory.total, whole / 2) << stages;
      EXPECT_LE(refused.memory.total, whole) << stages;
    }
}

TEST(FittingChanges, NoneExistsForASampleThatNoCoreHolds) {
  Request request = workload("bert_emotion");
  request.settings.machine.set = {"hbm.bytes=1 GiB"};
  EXPECT_FALSE(fitting_change(request.settings, request.job_of));
  EXPECT_EQ(fix_text({}), "");
}

// One of 32 cores works, and the whole instance is paid.
TEST(Advice, CoresThatArePaidAndIdleAreNamedAndSoIsAnInstanceWithout) {
  const Request request = workload("bert_tweets");
  const Projection now = project(request.job_of(request.settings));
  const std::vector<Change> changes = advise(request.settings, request.job_of, now);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_THAT(settings_text(changes[0]) + settings_text(changes[1]),
              testing::AllOf(HasSubstr("`nproc_per_node` 32"), HasSubstr("`instance_type` trn1.2xlarge")));
  for (const Change& change : changes) {
    const Projection with = project(request.job_of(changed(request.settings, change)));
    EXPECT_NEAR((*now.dollars / now.samples) / (*with.dollars / with.samples) - 1, change.saving, 0.03);
    EXPECT_GT(std::max(change.speed_up, change.saving), 5);
  }
}

// Other loops take no compilation: all of them are looked at, also for a model that no two cores share.
TEST(Advice, TheStackThatIsNamedIsTheBestOfThoseForTheModel) {
  const Request request = workload("bert_emotion");
  const Projection now = project(request.job_of(request.settings));
  double best = 0;
  for (const Change& change : advise(request.settings, request.job_of, now, 10))
    if (change.settings.front().first == "stack") best = change.speed_up;
  for (const char* name : {"torch-xla", "torch-xla-2025", "optimum-neuron"}) {
    const Projection other =
        project(request.job_of(changed(request.settings, {.settings = {{"stack", name}}, .text = ""})));
    EXPECT_GE(best, other.samples_per_second() / now.samples_per_second() - 1) << name;
  }
  EXPECT_GT(best, 0.02);
}

TEST(Advice, ACommandWithAChangeHasItsSettingsOnce) {
  const Change change{.settings = {{"per_device_train_batch_size", "32"}, {"passes", "-flash_attention"}}, .text = ""};
  const std::vector<std::string> typed{"trnsim",
                                       "run",
                                       "--zero_1",
                                       "bert_emotion",
                                       "--passes=-fusion",
                                       "--set",
                                       "hbm.bytes=1 GiB",
                                       "--output_dir",
                                       "first",
                                       "--per_device_train_batch_size",
                                       "8"};
  EXPECT_TRUE(replaces(typed, change));
  EXPECT_EQ(command_with(typed, change, FolderIs::kTaken),
            "trnsim run --zero_1 bert_emotion --set 'hbm.bytes=1 GiB' --per_device_train_batch_size 32 "
            "--passes=-flash_attention");
  EXPECT_THAT(command_with(typed, change, FolderIs::kFree), HasSubstr("--output_dir first"));
  EXPECT_FALSE(replaces({"trnsim", "run", "bert_emotion"}, change));
  EXPECT_EQ(command_with({}, change, FolderIs::kFree), "");
}

/// Two physical cores in a logical one are for chips of eight: other machines are then no alternative, and no error.
TEST(Advice, MachinesThatASettingDoesNotSuitAreLeftOut) {
  const std::vector<std::string> two{"chip.logical=2"}, wrong{"chip.logic=2"};
  EXPECT_FALSE(machine_with("inf2.xlarge", two));
  ASSERT_TRUE(machine_with("trn2.3xlarge", two));
  EXPECT_EQ(machine_with("trn2.3xlarge", two)->instance_cores(), 4);
  EXPECT_THROW(machine_with("trn2.3xlarge", wrong), base::Error);
  Request request = llama();
  request.settings.machine.instance_type = "trn2.3xlarge", request.settings.machine.nproc_per_node = 4;
  request.settings.plan.tensor_parallel_size = 2, request.settings.machine.set = two;
  const Projection now = project(request.job_of(request.settings));
  EXPECT_NO_THROW(advise(request.settings, request.job_of, now));
}

TEST(Advice, ChangesThatDoNotFitAreNotNamed) {
  Request request = workload("bert_tweets");
  request.settings.machine.set = {"hbm.bytes=12 GiB"};  // of a chip: the job fits, four times its batch does not
  const Projection now = project(request.job_of(request.settings));
  for (const Change& change : advise(request.settings, request.job_of, now, 10))
    EXPECT_NO_THROW(project(request.job_of(changed(request.settings, change)))) << settings_text(change);
}

TEST(Advice, TheAnswerCoversTheRequestAlone) {
  const Request request = workload("bert_tweets");
  const Job job = request.job_of(request.settings);
  const Projection p = project(job);
  EXPECT_TRUE(answer(job, p, {}).changes.empty());
  EXPECT_THAT(answer(job, p, std::vector<Change>{}).changes.at(0).text, HasSubstr("nothing"));
  const Answer with = answer(
      job, p,
      std::vector<Change>{{.settings = {{"stack", "x"}}, .text = "", .speed_up = 0.5, .seconds = 1, .dollars = {}}});
  EXPECT_THAT(with.changes.at(0).text, HasSubstr("`stack` x: +50 %"));
  EXPECT_THAT(with.time, HasSubstr("samples/s"));
  EXPECT_THAT(with.memory, HasSubstr("fits"));
  EXPECT_THAT(with.bound, HasSubstr("MFU of the job"));
}

// A generation is advised like a training: weights read for one sequence serve several.
TEST(Advice, MoreSequencesSideBySideAreCheaper) {
  Settings given = generation_settings();
  given.machine.instance_type = "trn1.2xlarge", given.data.max_length = 64;
  given.generation.prompt_length = 16, given.generation.max_new_tokens = 8;
  const workloads::ModelPtr model = load_model_config("llama-small");
  const auto job = [&](const Settings& s) { return job_of(s, model, 0); };
  const std::vector<trnsim::Change> changes = advise(given, job, project(job(given)));
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes.front().settings.front().first, "batch_size");
  EXPECT_GT(changes.front().saving, 0.5);
  EXPECT_FALSE(possible(job(given)));
  given.plan.tensor_parallel_size = 64;
  const auto problem = possible(job(given));
  ASSERT_TRUE(problem);
  EXPECT_FALSE(problem->too_large);
  EXPECT_THAT(problem->text, testing::HasSubstr("`tensor_parallel_size`"));
}

}  // namespace
}  // namespace trnsim
