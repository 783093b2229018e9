// The tutorials that come along as workloads: the specialities of each.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_job.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using Json = nlohmann::json;

class Tutorial : public cli_test::SmallJob {
 protected:
  std::string of(const std::string& workload) const {
    return "run " + workload + " --model_id " + at("bert") + " --vocab " + at("vocab.txt") +
           " --per_device_train_batch_size 4 --max_length 32 --max_steps 1 --learning_rate 1e-3 ";
  }
  Json result(const std::string& out) const { return Json::parse(slurp(folder_ / out / "result.json")); }
};

// SageMaker names the data and the folder in the environment; its hour has a price of its own.
TEST_F(Tutorial, ImdbRunsAsSageMakerStartsIt) {
  const Ran ran = run(of("bert_imdb"), "SM_CHANNEL_TRAIN=" + at("data.csv") + " SM_MODEL_DIR=" + at("model"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("price: sagemaker, $1.54"));
  const Json got = result("model");
  EXPECT_EQ(got["cost"]["price_per_hour"], 1.54);
  EXPECT_EQ(got["machine"]["cores"], 2);
  EXPECT_EQ(got["metrics"]["dataset"], at("data.csv"));
  EXPECT_NEAR(got["cost"]["dollars"].get<double>(), got["job"]["train_runtime"].get<double>() * 1.54 / 3600, 1e-9);
}

// A backslash before a quote does not end the field; broken rows are left out and reported.
TEST_F(Tutorial, TweetsReadBackslashesAndCountBadLines) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 24; ++i) rows += i % 2 ? "\"i \\\"feel\\\" fine, happy\",1\n" : "\"i feel sad, sad\",0\n";
  rows += "i feel,happy,fine,2\n\n";
  write("tweets.csv", rows);
  const std::string data = "--dataset_path " + at("tweets.csv") + " --output_dir ";
  const Ran ran = run(of("bert_tweets") + data + at("one"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("skipped 1 of 25 rows"));
  EXPECT_EQ(result("one")["machine"]["cores"], 1);
  EXPECT_EQ(result("one")["workload"]["dataset"]["samples"], 24);
}

TEST_F(Tutorial, TweetsRunOnAllCoresOfALargeInstance) {
  const Ran ran = run(of("bert_tweets") + "--nproc_per_node 32 --instance_type trn1.32xlarge " + "--dataset_path " +
                      at("data.csv") + " --output_dir " + at("all"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(result("all")["machine"]["cores"], 32);
  EXPECT_EQ(result("all")["metrics"]["steps"], 1);
}

TEST_F(Tutorial, TheCompilerIsHeldAgainstAJobWithoutIt) {
  const Ran ran = run(of("bert_training_compiler") + "--mode timed --set hbm.bytes=1.6GB --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"without passes", "with passes, largest batch", "published: up to 50 %"})
    EXPECT_THAT(ran.out, HasSubstr(part));
  EXPECT_THAT(ran.out, testing::ContainsRegex("speed-up [1-9][0-9.]* %"));
}

}  // namespace
