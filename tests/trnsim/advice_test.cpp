#include "trnsim/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trnsim/answer.h"
#include "trnsim/run.h"
#include "workloads/workload.h"

namespace trnsim {
namespace {

using testing::HasSubstr;

struct Asked {
  Settings settings;
  JobOf job_of;
};

Asked workload(const std::string& name) {
  const workloads::Workload w = workloads::load_workload(name);
  Settings settings;
  apply_workload(settings, w, WorkloadPart::kProjected);
  return {settings, [w](const Settings& s) { return trnsim::job_of(w, s); }};
}

/// A small Llama on eight cores that computes much twice.
Asked llama() {
  Settings s;
  s.instance_type = "trn1.32xlarge", s.nproc_per_node = 8, s.tensor_parallel_size = 2, s.recompute = "full";
  s.per_device_train_batch_size = 1, s.gradient_accumulation_steps = 8, s.max_length = 512;
  const workloads::ModelPtr model = load_model_config("llama3.2-1b");
  return {s, [model](const Settings& settings) { return trnsim::job_of(settings, model, 1024); }};
}

class Advice : public testing::TestWithParam<Asked (*)()> {};

TEST_P(Advice, EachChangeGainsWhatItPromises) {
  const Asked asked = GetParam()();
  const Projection now = project(asked.job_of(asked.settings));
  const std::vector<Change> changes = advise(asked.settings, asked.job_of, now);
  ASSERT_FALSE(changes.empty());
  EXPECT_LE(changes.size(), 2u);
  double before = changes.front().speed_up;
  for (const Change& change : changes) {
    const Projection with = project(asked.job_of(changed(asked.settings, change)));
    const double gain = with.samples_per_second() / now.samples_per_second() - 1;
    EXPECT_GT(gain, 0) << settings_text(change);
    EXPECT_NEAR(gain, change.speed_up, 0.03) << settings_text(change);
    EXPECT_LE(*with.dollars / with.samples, 1.01 * *now.dollars / now.samples) << settings_text(change);
    EXPECT_LE(change.speed_up, before) << "the best first";
    before = change.speed_up;
  }
}

template <int kJob>
Asked published() {
  static constexpr const char* kJobs[] = {"bert_emotion",    "bert_imdb",      "bert_tweets",
                                          "llama2_7b_dolly", "llama3_8b_lora", "vit_mnist"};
  return workload(kJobs[kJob]);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Advice,
                         testing::Values(published<0>, published<1>, published<2>, published<3>, published<4>,
                                         published<5>, llama));

TEST(Advice, ChangesThatDoNotFitAreNotNamed) {
  Asked asked = workload("bert_tweets");
  asked.settings.set = {"hbm.bytes=12 GiB"};  // of a chip: the job fits, four times its batch does not
  const Projection now = project(asked.job_of(asked.settings));
  for (const Change& change : advise(asked.settings, asked.job_of, now, 10))
    EXPECT_NO_THROW(project(asked.job_of(changed(asked.settings, change)))) << settings_text(change);
}

TEST(Advice, TheAnswerSaysWhatWasAskedForAlone) {
  const Asked asked = workload("bert_tweets");
  const Job job = asked.job_of(asked.settings);
  const Projection p = project(job);
  EXPECT_TRUE(answer(job, p, {}).changes.empty());
  EXPECT_THAT(answer(job, p, std::vector<Change>{}).changes.at(0), HasSubstr("nothing"));
  const Answer with = answer(
      job, p,
      std::vector<Change>{{.settings = {{"stack", "x"}}, .text = "", .speed_up = 0.5, .seconds = 1, .dollars = {}}});
  EXPECT_THAT(with.changes.at(0), HasSubstr("`stack` x: +50 %"));
  EXPECT_THAT(with.time, HasSubstr(job.stack));
  EXPECT_THAT(with.memory, HasSubstr("fits"));
  EXPECT_THAT(with.bound, HasSubstr("MFU of the job"));
}

}  // namespace
}  // namespace trnsim
