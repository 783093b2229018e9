// Training tasks from the command line: one workload, other labels.
#include <nlohmann/json.hpp>

#include "tests/cli/run_job.h"

namespace {

using Json = nlohmann::json;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;

class RunTask : public cli_test::SmallJob {
 protected:
  Json metrics(const std::string& out) const { return Json::parse(slurp(folder_ / out / "result.json"))["metrics"]; }
};

// The workload's own words tell of its task.
TEST_F(RunTask, AnotherTaskIsNotToldAsTheWorkloads) {
  const std::string timed = "run bert_emotion --mode timed --suggestions 1 --output_dir ";
  const auto own = run(timed + at("own")), other = run(timed + at("other") + " --task pretraining"),
             asked = run(timed + at("asked") + " --task inference");
  ASSERT_EQ(own.code + other.code + asked.code, 0) << other.err << asked.err;
  EXPECT_THAT(own.out, HasSubstr("6 emotions"));
  EXPECT_THAT(other.out, testing::Not(HasSubstr("emotions")));
  EXPECT_THAT(other.out, HasSubstr("bert-base-uncased on the workload's data; changed: --task pretraining"));
  EXPECT_THAT(asked.out, HasSubstr("requests to bert-base-uncased; changed: --task inference"));
  EXPECT_THAT(asked.out, HasSubstr("for a million requests ("));  // a change has the unit of the answer
  EXPECT_THAT(asked.out, testing::Not(HasSubstr("million tokens (")));
}

TEST_F(RunTask, AnEncoderLearnsHiddenTokensOfAPlainText) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += i % 2 ? "i feel fine today\n<|endoftext|>\n" : "i feel sad sad\n<|endoftext|>\n";
  write("train.txt", text);
  const std::string job = "run bert_emotion --task fill-mask --dataset_path " + at("train.txt") +
                          " --max_length 16 --max_steps 40 --nproc_per_node 2 --per_device_train_batch_size 4 "
                          "--eval_strategy epoch -q ";
  const auto ran = run(job + "--mode numeric --learning_rate 3e-3 --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json evaluations = metrics("out")["epochs"];
  ASSERT_GE(evaluations.size(), 2U);
  EXPECT_LT(evaluations.back()["loss"], evaluations.front()["loss"].get<double>() - 1);
  EXPECT_TRUE(evaluations.back().contains("perplexity"));
  EXPECT_THAT(slurp(at("out/model/config.json")), HasSubstr("BertForMaskedLM"));
  const auto merged = run("consolidate " + at("out/checkpoint") + " " + at("merged"));
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(slurp(at("merged/config.json")), slurp(at("out/model/config.json")));
  // Its model goes on as a classifier.
  const auto next =
      run("run bert_emotion --task sequence-classification --model_id " + at("out/model") + " --dataset_path " +
          at("data.csv") + " --max_length 16 --max_steps 2 --mode numeric --nproc_per_node 1 -q --output_dir " +
          at("next"));
  EXPECT_EQ(next.code, 0) << next.err;
  const auto timed = run(job + "--mode timed --suggestions 0 --output_dir " + at("timed"));
  EXPECT_EQ(timed.code, 0) << timed.err;
}

TEST_F(RunTask, ADecoderClassifiesTexts) {
  const auto ran = run("run llama2_7b_dolly --task sequence-classification --dataset_path " + at("data.csv") +
                       " --max_length 16 --max_steps 20 --learning_rate 3e-3 --eval_strategy epoch -q --mode numeric "
                       "--output_dir " +
                       at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(slurp(at("out/model/config.json")), HasSubstr("LlamaForSequenceClassification"));
  EXPECT_LT(metrics("out")["train_loss"].get<double>(), 0.5);
  const auto generated = run("generate " + at("out/model") + " --prompt hi");
  EXPECT_EQ(generated.code, 2);
  EXPECT_THAT(generated.err, HasSubstr("classifies texts"));
}

TEST_F(RunTask, ATaskThatAModelHasNoHeadForIsRefused) {
  expect_refused(run("run vit_mnist --task fill-mask --output_dir " + at("out")), "has no head for fill-mask");
  expect_refused(run("run llama2_7b_dolly --task token-classification --output_dir " + at("out")),
                 "has no head for token-classification");
  expect_refused(
      run(flags() + " --task fill-mask --buckets 8,16 --dataset_path " + at("data.csv") + " --output_dir " + at("out")),
      "have one length");
}

}  // namespace
