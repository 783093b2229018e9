// `trnsim run llama2_7b_dolly`: a Llama that learns on simulated cores, on the user's data and weights.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/interrupted.h"
#include "tests/cli/run_job.h"

#include "tests/tale.h"

namespace {

using cli_test::interrupted;
using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class RunDecoder : public cli_test::SmallJob {
 protected:
  void SetUp() override {
    SmallJob::SetUp();
    std::string rows;
    for (int i = 0; i < 60; ++i)
      rows += R"({"question": "What comes after )" + std::to_string(i) + R"(?", "answer": ")" + std::to_string(i + 1) +
              "\"}\n";
    write("own.jsonl", rows);
  }
  /// The fixture's trained model on the test's own questions.
  std::string own() const {
    return "run llama2_7b_dolly --model_id " + tests::tale().string() + " --dataset_path " + at("own.jsonl") +
           " --max_length 32 --per_device_train_batch_size 2 --learning_rate 1e-3 ";
  }
  Json result(const std::string& out) const { return Json::parse(slurp(folder_ / out / "result.json")); }
  std::string weights(const std::string& out) const { return slurp(folder_ / out / "model/model.safetensors"); }
};

TEST_F(RunDecoder, TheTutorialTrainsASmallLlamaForReal) {
  const Ran ran =
      run("run llama2_7b_dolly --mode numeric --max_train_samples 100 --max_eval_samples 20 --max_steps 3 " +
          ("--output_dir " + at("out")));
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* words : {"trained llama-small, from scratch", "synthetic instructions", "TP 2, PP 1, DP 2",
                            "DP 2, sequence parallel, ZeRO-1", "***** eval metrics *****", "eval_perplexity",
                            "***** train metrics *****", "train_samples_per_second"})
    EXPECT_THAT(ran.out, HasSubstr(words));
  for (const char* file : {"model/config.json", "model/tokenizer.json", "model/trainer_state.json", "steps.jsonl",
                           "summary.md", "checkpoint/shards.json", "checkpoint/exp_avg_tp01_pp00.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / file)) << file;
  EXPECT_EQ(result("out")["metrics"]["steps"], 3);
  EXPECT_TRUE(result("out")["metrics"]["synthetic"]);
  ASSERT_EQ(run("consolidate " + at("out/checkpoint") + " " + at("merged")).code, 0);
  EXPECT_EQ(slurp(folder_ / "merged/model.safetensors"), weights("out"));
}

TEST_F(RunDecoder, OwnDataAndWeightsAreProjectedAndTrained) {
  const Ran ran = run(own() + "--num_train_epochs 2 --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("31:46")));  // that is another job's
  EXPECT_THAT(ran.out, HasSubstr("cores                        4"));
  const Json metrics = result("out")["metrics"];
  ASSERT_EQ(metrics["epochs"].size(), 3u);  // before the first step, and after each epoch
  EXPECT_EQ(metrics["epochs"][0]["epoch"], 0.0);
  EXPECT_LT(metrics["epochs"][2]["loss"], metrics["epochs"][0]["loss"]);
  EXPECT_EQ(metrics["dataset"], at("own.jsonl"));
  EXPECT_EQ(result("out")["published"].size(), 0u);
  EXPECT_EQ(result("out")["workload"]["model"]["layers"], 5);
}

TEST_F(RunDecoder, AStoppedRunGoesOnToTheSameBitsAndUnderAnotherPlan) {
  const std::string job = own() + "--mode numeric --max_steps 14 --eval_strategy no --logging_steps 1 ";
  ASSERT_EQ(run(job + "--output_dir " + at("whole")).code, 0);
  EXPECT_EQ(interrupted(job + "--output_dir " + at("part"), folder_ / "part"), 130);
  const std::string resume = "--resume_from_checkpoint " + at("part/checkpoint") + " --output_dir ";
  const Ran rest = run(job + resume + at("rest"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(weights("rest"), weights("whole"));
  // Sixteen sequences a step on one core as on four; bf16 rounds sums in another order.
  const Ran other =
      run(job + "--nproc_per_node 1 --tensor_parallel_size 1 --gradient_accumulation_steps 4 " + resume + at("other"));
  ASSERT_EQ(other.code, 0) << other.err;
  const double here = result("other")["metrics"]["train_loss"], there = result("whole")["metrics"]["train_loss"];
  EXPECT_NEAR(here / there, 1, 0.01);
}

TEST_F(RunDecoder, APipelineTrainsForRealAsOneCoreDoes) {
  const std::string job =
      "run llama2_7b_dolly --mode numeric --numerics fp32 --auto_cast none --max_length 64 --max_train_samples 60 "
      "--max_eval_samples 20 "
      "--logging_steps 1 --gradient_accumulation_steps 2 --max_steps ";
  const std::string plan = " --pipeline_parallel_size 2 --tensor_parallel_size 2 --nproc_per_node 4 --output_dir ";
  const Ran ran = run(job + "4" + plan + at("stages"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("TP 2, PP 2, DP 1"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "stages/checkpoint/exp_avg_sq_tp01_pp01.safetensors"));
  ASSERT_EQ(run(job + "4 --nproc_per_node 1 --tensor_parallel_size 1 --output_dir " + at("one")).code, 0);
  for (const char* loss : {"train_loss", "eval_loss"}) {
    const double here = result("stages")["metrics"][loss], there = result("one")["metrics"][loss];
    EXPECT_NEAR(here / there, 1, 1e-4) << loss;
  }
  ASSERT_EQ(run("consolidate " + at("stages/checkpoint") + " " + at("merged")).code, 0);
  EXPECT_EQ(slurp(folder_ / "merged/model.safetensors"), weights("stages"));
  // A shard of an earlier save in its place.
  const std::string shard = "/checkpoint/model_tp01_pp01.safetensors";
  ASSERT_EQ(run(job + "3" + plan + at("stages2")).code, 0);
  std::filesystem::copy(at("stages2") + shard, at("stages") + shard, std::filesystem::copy_options::overwrite_existing);
  expect_refused(run(job + "4 --nproc_per_node 1 --tensor_parallel_size 1 --resume_from_checkpoint " +
                     at("stages/checkpoint") + " --output_dir " + at("out")),
                 "belongs to another step: its step is 3, but that of shards.json is 4");
}

TEST_F(RunDecoder, RefusesBeforeItWrites) {
  const std::string train = own() + "--mode numeric --max_steps 2 --output_dir " + at("out") + " ";
  expect_refused(run(train + "--tensor_parallel_size 16 --nproc_per_node 16"), "does not divide the 8 attention heads");
  expect_refused(run(train + "--tensor_parallel_size 3"), "does not divide 32 cores");
  expect_refused(run(train + "--pipeline_parallel_size 5 --tensor_parallel_size 1 --nproc_per_node 5"),
                 "cannot form the replica group 0 1 2 3 4");
  expect_refused(run(train + "--virtual_pipeline_size 2 --nproc_per_node 2 --tensor_parallel_size 1"),
                 "use --pipeline_parallel_size 2 or more");
  const std::string chunks = "--virtual_pipeline_size 2 --pipeline_parallel_size 2 --nproc_per_node 2 ";
  expect_refused(run(train + chunks + "--tensor_parallel_size 1"),
                 "the 5 layers cannot be divided into 2 stages of 2 chunks");
  std::string longer = train;
  longer.replace(longer.find("--max_length 32"), 15, "--max_length 1024");
  expect_refused(run(longer), "longer than the model's 512 positions");
  expect_refused(run(train + "--resume_from_checkpoint " + at("bert")), "not a sharded checkpoint");
  write("own.jsonl", "{\"question\": \"a\", \"answer\": \"b\"}\n");
  expect_refused(run(train), "too few for a sequence of 32");
  write("own.jsonl", "{\"query\": \"a\", \"answer\": \"b\"}\n");
  expect_refused(run(train), "which match no known format");
  write("own.jsonl", "{\"question\": \"\xff\", \"answer\": \"b\"}\n");
  expect_refused(run(train), "not valid UTF-8");
}

TEST_F(RunDecoder, AModelThatThisHostCannotHoldIsProjectedOnly) {
  std::filesystem::create_directories(folder_ / "large");
  write("large/config.json", R"({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 400,
    "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 53248, "vocab_size": 32000,
    "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0,
    "tie_word_embeddings": false})");
  const Ran ran = run("run llama2_7b_dolly --mode numeric --model_id " + at("large") + " --output_dir " + at("out"));
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("of host memory, but this host has"));
  EXPECT_THAT(ran.err, HasSubstr("use --numerics off"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
