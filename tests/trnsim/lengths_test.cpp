// A job of several lengths is its jobs of one length each, and is compared with one length and with packing.
#include "trnsim/job/lengths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/fails.h"
#include "trnsim/job/data_size.h"
#include "trnsim/projection.h"
#include "workloads/data/lengths.h"

namespace trnsim {
namespace {

Settings settings_of(const char* buckets) {
  Settings given;
  given.training.per_device_train_batch_size = 4, given.machine.nproc_per_node = 2, given.training.num_train_epochs = 2;
  given.data.max_length = 128, given.data.buckets = buckets;
  return given;
}

// 600 samples of 20 tokens, 200 of 50, 200 of 120.
workloads::TokenLengths data() { return {.samples = {{20, 600}, {50, 200}, {120, 200}}, .source = "by hand"}; }

Job job_with(const char* buckets, std::int64_t eval = 0) {
  return job_of(settings_of(buckets), load_model_config("bert-small"), 1000, eval, data());
}

TEST(Lengths, TimeIsThatOfTheirJobs) {
  const Job job = job_with("32,64,128", 100);
  ASSERT_EQ(job.sizes.lengths.size(), 3u);
  EXPECT_EQ(job.step.kind.length, 128);
  EXPECT_DOUBLE_EQ(job.mean_length(), 0.6 * 32 + 0.2 * 64 + 0.2 * 128);
  EXPECT_DOUBLE_EQ(job.steps(), 150 + 50 + 50);  // 8 samples a step, 2 epochs
  const Projection p = project(job);
  double seconds = 0, compile = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Projection one = project(of_length(job, i));
    EXPECT_DOUBLE_EQ(p.lengths[i].device_seconds, one.device_seconds) << i;
    EXPECT_DOUBLE_EQ(p.lengths[i].seconds, one.time.total) << i;
    seconds += one.time.total, compile += one.time.compile;
  }
  EXPECT_NEAR(p.time.total, seconds, 1e-9 * seconds);
  EXPECT_NEAR(p.time.compile, compile, 1e-9 * compile);
  double parts = 0;
  for (const analysis::TimeItem& part : p.time.parts) parts += part.seconds;
  EXPECT_NEAR(parts, p.time.total, 1e-9 * seconds);
  EXPECT_DOUBLE_EQ(p.samples, 2000);
  // The host of another job changes nothing of the device.
  EXPECT_EQ(device_hash(job), device_hash(job_with("32,64,128", 50)));
  EXPECT_NE(device_hash(job), device_hash(job_with("64,128", 100)));
}

TEST(Lengths, AreComparedWithOneLengthAndWithPacking) {
  const Job job = job_with("32,64,128");
  const Projection p = project(job);
  const auto plans = length_plans(job, p);
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].name, "one length of 128");
  EXPECT_EQ(plans[1].name, "lengths 32, 64, 128");
  EXPECT_EQ(plans[2].name, "packed to 128");
  const double tokens = 600 * 20 + 200 * 50 + 200 * 120;
  EXPECT_DOUBLE_EQ(plans[0].tokens, 128000);
  EXPECT_NEAR(plans[0].padding, 1 - tokens / 128000, 1e-12);
  EXPECT_NEAR(plans[1].padding, 1 - tokens / (600 * 32 + 200 * 64 + 200 * 128), 1e-12);
  EXPECT_EQ(plans[2].sequences, std::floor(tokens / 128));
  EXPECT_LT(plans[2].padding, 0.01);
  EXPECT_DOUBLE_EQ(plans[1].programs, 3 * plans[0].programs);
  EXPECT_GT(plans[1].compile_seconds, 2 * plans[0].compile_seconds);
  EXPECT_GT(plans[0].epoch_seconds, plans[1].epoch_seconds * 0.99);
  EXPECT_GT(plans[1].epoch_seconds, plans[2].epoch_seconds);
  // One length is the job without buckets, to the digit.
  Settings plain = settings_of("");
  const Projection one = project(job_of(plain, load_model_config("bert-small"), 1000));
  EXPECT_NEAR(plans[0].epoch_seconds, (one.time.total - one.time.parts.front().seconds) / 2, 1e-9);
}

TEST(Lengths, LongerSamplesAreCutAndLengthsFitTheData) {
  const Job cut = job_with("32,64");
  EXPECT_EQ(cut.step.kind.length, 64);
  EXPECT_EQ(cut.sizes.one_length.length, 128);
  EXPECT_DOUBLE_EQ(cut.sizes.lengths.back().tokens, (200 * 50 + 200 * 64) / 400.0);
  const Job fitted = job_with("auto");
  ASSERT_EQ(fitted.sizes.lengths.size(), 3u);
  EXPECT_EQ(fitted.sizes.lengths[0].length, 32);
  EXPECT_EQ(fitted.sizes.lengths[1].length, 64);
  EXPECT_EQ(fitted.sizes.lengths[2].length, 128);
}

TEST(Lengths, StepsOfAJobAreSharedByItsSamples) {
  Settings given = settings_of("32,64,128");
  given.training.max_steps = 11;
  const Job job = job_of(given, load_model_config("bert-small"), 1000, 0, data());
  EXPECT_DOUBLE_EQ(job.steps(), 11);
  EXPECT_DOUBLE_EQ(project(job).steps, 11);
}

TEST(Lengths, PackedTextsPicturesAndMissingDataAreRefused) {
  using base::Fault;
  const auto job = [](const char* model, Settings s, const workloads::TokenLengths& lengths) {
    return [=] { job_of(s, load_model_config(model), 1000, 0, lengths); };
  };
  EXPECT_TRUE(tests::fails(Fault::kUsage, job("llama-small", settings_of("64,128"), data()),
                           {"`buckets`", "packed texts are cut to one length", "`packing` false"}));
  EXPECT_TRUE(tests::fails(Fault::kUsage, job("vit-mnist", settings_of("64,128"), {}), {"`buckets`", "one length"}));
  EXPECT_TRUE(tests::fails(Fault::kUsage, [] { job_of(settings_of("64,128"), load_model_config("bert-small"), 10); },
                           {"needs data, because lengths come from texts", "`dataset_path`"}));
  Settings above = settings_of("64,1024");
  EXPECT_TRUE(tests::fails(Fault::kUsage, job("bert-small", above, data()), {"exceed the positions", "at most"}));
  above.data.buckets = "64,256", above.given.insert("max_length");
  EXPECT_TRUE(tests::fails(Fault::kUsage, job("bert-small", above, data()), {"exceed `max_length`, 128"}));
  Settings packs = settings_of("");
  packs.given.insert("packing");
  EXPECT_TRUE(tests::fails(Fault::kUsage, job("bert-small", packs, data()), {"`packing`", "is an encoder"}));
}

TEST(Lengths, TextsOfADecoderArePaddedWhenTheyAreNotPacked) {
  Settings given = settings_of("64,128");
  given.data.packing = false;
  const Job job = job_of(given, load_model_config("llama-small"), 1000, 0, data());
  ASSERT_EQ(job.sizes.lengths.size(), 2u);
  given.data.buckets.clear();
  const Job one = job_of(given, load_model_config("llama-small"), 1000, 0, data());
  ASSERT_EQ(one.sizes.lengths.size(), 1u);
  const auto plans = length_plans(one, project(one));
  ASSERT_EQ(plans.size(), 2u);  // one length, and packing
  EXPECT_GT(plans[0].epoch_seconds, plans[1].epoch_seconds);
}

/// Texts whose tokens are assumed from their bytes: 41 sequences of 64 tokens, of which two are held out.
TEST(DataSize, HeldOutSequencesOfADecoderAreEvaluated) {
  const std::filesystem::path file = std::filesystem::path{testing::TempDir()} / "lengths-texts.jsonl";
  {
    std::ofstream out{file};
    for (int i = 0; i < 41; ++i) out << "{\"text\": \"" << std::string(252, 'a') << "\"}\n";  // 63 tokens and an end
  }
  Settings given = settings_of("");
  given.data.dataset_path = file.string(), given.data.max_length = 64;
  const workloads::ModelPtr model = load_model_config("llama-small");
  std::string note;
  const auto size = [&] {
    return data_size(given, model, nullptr, {.workload = nullptr, .note = [&](auto& n) { note = n; }});
  };
  DataSize data = size();
  EXPECT_NE(note.find("assumed"), std::string::npos);
  EXPECT_EQ(data.samples, 39);
  EXPECT_EQ(data.eval_samples, 2);
  given.data.max_eval_samples = 1, given.given.insert("max_eval_samples");
  data = size();
  EXPECT_EQ(data.eval_samples, 1);
  const auto evaluation = [&](const DataSize& d) {
    const Projection p = project(job_of(given, model, d.samples, d.eval_samples, d.lengths));
    for (const analysis::TimeItem& part : p.time.parts)
      if (part.name == "evaluation") return part.seconds;
    return -1.0;
  };
  EXPECT_GT(evaluation(data), 0);
  given.training.eval_strategy = "no";
  EXPECT_EQ(size().samples, 41);
  EXPECT_EQ(evaluation(size()), 0);
  EXPECT_NE(note.find("`max_eval_samples` has no effect"), std::string::npos);
  given.training.eval_strategy = "epoch", given.data.validation_file = file.string(), given.data.max_eval_samples = 10;
  EXPECT_EQ(size().samples, 41);
  EXPECT_EQ(size().eval_samples, 10);
  given.data.packing = false, given.data.buckets = "32,64";
  data = size();
  EXPECT_EQ(data.lengths.samples.at(64), 41);
  EXPECT_EQ(job_of(given, model, data.samples, 0, data.lengths).sizes.lengths.size(), 1u);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace trnsim
