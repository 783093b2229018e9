// A generation is a job: swept, priced, planned, run and compared by the verbs of any other.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"
#include "tests/tale.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kWorkload = R"(name = "write"
text = "a small Llama writes eight tokens behind a prompt of sixteen"
model = "llama-small"
small_model = "llama-small"
samples = { value = 0, source = "a generation trains on nothing" }
eval_samples = { value = 0, source = "a generation trains on nothing" }
labels = { value = 0, source = "a decoder has none" }
[options]
max_new_tokens = "8"
prompt_length = "16"
tensor_parallel_size = "2"
numerics = "bf16"
)";

class GenerationVerbs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream{folder_ / "write.toml"} << kWorkload;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path folder_ = recorded::folder() / "generation";
};

TEST_F(GenerationVerbs, RequestsTakeNothingOfATraining) {
  const std::string llama = "estimate llama-small --task inference ",
                    bert = "estimate bert-base-uncased --task inference ";
  for (const std::string flag : {"--lora_r 4", "--gradient_accumulation_steps 2", "--recompute full", "--packing"})
    for (const std::string& job : {llama, bert, "cost " + at("write.toml") + " "}) {
      const Ran ran = run(job + flag);
      EXPECT_EQ(ran.code, 2) << job << flag;
      EXPECT_THAT(ran.err, HasSubstr("applies to training")) << job << flag;
    }
  EXPECT_THAT(run(llama + "--passes=-fusion").err, HasSubstr("generation is always compiled with all passes"));
  EXPECT_NE(run(bert + "--format json --passes=-fusion").out, run(bert + "--format json").out);
}

// Cores that do not divide the heads change the sizes, and so the time and the memory.
TEST_F(GenerationVerbs, PaddingIsTold) {
  const std::string phi = "phi-4 --instance_type trn1.32xlarge --tensor_parallel_size 8 --max_new_tokens 2 ";
  for (const std::string& job :
       {"generate --numerics off " + phi, "estimate " + phi + "--task inference --batch_size 1"})
    for (const std::string form : {"table", "json"})
      EXPECT_THAT(run(job + " --format " + form).out, HasSubstr("10 key-value heads copied for 40 heads")) << job;
  EXPECT_THAT(run("estimate llama-small --task inference --batch_size 1 --format json").out,
              testing::Not(HasSubstr("padding")));
  const std::string requests = "estimate llama-small --task inference --batch_size 1 --prompt_length 100 --format ";
  EXPECT_THAT(run(requests + "table").out, HasSubstr("100 tokens read (padded to 128)"));
  EXPECT_EQ(nlohmann::json::parse(run(requests + "json").out)["prompt_bucket"], 128);
}

// A sound has one length, which no flag sets; it is no prompt.
TEST_F(GenerationVerbs, SoundsAreNoPrompts) {
  const std::string requests = "estimate whisper-tiny --task inference --batch_size 1 --max_new_tokens 2";
  EXPECT_THAT(run(requests).out, HasSubstr("a sound of 1500 tokens read and 2 written"));
  EXPECT_THAT(run("plan whisper-tiny --max_new_tokens 2").out, HasSubstr("1500 tokens of a sound and 2 new ones"));
  for (const std::string& job : {requests, std::string{"generate whisper-tiny"}})
    EXPECT_THAT(run(job + " --max_length 100").err, HasSubstr("fix: leave it out: --max_new_tokens is the length"));
  EXPECT_THAT(run("estimate whisper-tiny --max_length 448").err,
              HasSubstr("fix: leave it out: --max_target_length is the length"));
  EXPECT_THAT(run("generate whisper-large-v3 --instance_type inf2.xlarge --batch_size 128").err,
              HasSubstr("use a smaller --batch_size, or a larger --instance_type"));
  EXPECT_THAT(run("generate kimi-k2 --tensor_parallel_size 64 --instance_type trn2.48xlarge").err,
              HasSubstr("the weights alone are too large: use an --instance_type with more memory for each core"));
  const std::string two = " --instance_type trn1.2xlarge --nproc_per_node 2 --global_batch_size 4";
  EXPECT_THAT(run("plan whisper-tiny" + two).out, testing::Not(HasSubstr("--max_length")));
}

TEST_F(GenerationVerbs, SweepVariesItsCoresAndItsBatch) {
  const Ran ran = run("sweep --workload " + at("write.toml") +
                      " --set tensor_parallel_size=1,2 --set batch_size=1,4 --format json --output_dir " + at("sweep"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const Json& row : rows) {
    EXPECT_EQ(row["error"], "") << row;
    EXPECT_GT(row["dollars"], 0);
    EXPECT_FALSE(row.contains("train_runtime") && !row["train_runtime"].is_null()) << row;
    EXPECT_GT(row["time_to_first_token_seconds"], 0);
    EXPECT_GT(row["time_per_output_token_p50_seconds"], 0);
    EXPECT_LT(row["time_per_output_token_p50_seconds"], row["generate_runtime"]);
  }
  EXPECT_GT(rows[1]["tokens_per_second"], 2 * rows[0]["tokens_per_second"].get<double>());  // weights are read once
  EXPECT_LT(rows[2]["hbm_bytes"], rows[0]["hbm_bytes"]);                                    // two cores share them
  const Ran none = run("sweep --workload " + at("write.toml") + " --set temperature=0,1 --output_dir " + at("none"));
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("changes neither time nor cost"));
}

// One name for one figure, in every output.
TEST_F(GenerationVerbs, RunSweepAndGenerateSayTheSameUnderTheSameNames) {
  const std::string flags =
      " --prompt_length 16 --max_new_tokens 8 --tensor_parallel_size 2 --numerics bf16 --instance_type trn1.2xlarge";
  const Ran generated = run("generate llama-small --format json" + flags),
            ran = run("run " + at("write.toml") + " --mode timed --format json --output_dir " + at("run")),
            swept = run("sweep --workload " + at("write.toml") + " --set batch_size=1 --format json --output_dir " +
                        at("sweep"));
  ASSERT_EQ(generated.code + ran.code + swept.code, 0) << generated.err << ran.err << swept.err;
  const Json a = Json::parse(generated.out), b = Json::parse(ran.out), c = Json::parse(swept.out).at(0);
  for (const char* name : {"generate_runtime", "time_to_first_token_seconds", "time_per_output_token_p50_seconds",
                           "tokens_per_second", "instance_tokens_per_second", "device_step_seconds"}) {
    EXPECT_DOUBLE_EQ(a.at(name), b.at("job").at(name)) << name;
    EXPECT_DOUBLE_EQ(a.at(name), c.at(name)) << name;
  }
  EXPECT_EQ(a.at("memory").at("hbm_bytes"), b.at("memory").at("hbm_bytes"));
  EXPECT_NEAR(a.at("tokens_per_second").get<double>() * a.at("generate_runtime").get<double>(), 8, 1e-9);
  for (const Json* one : {&a, &b.at("job"), &c})
    for (const char* other : {"train_runtime", "train_samples_per_second", "train_steps_per_second", "total_seconds"})
      EXPECT_FALSE(one->contains(other)) << other;
  EXPECT_FALSE(a.at("memory").contains("total"));
}

// The text of a run is that of `generate` with the same settings.
TEST_F(GenerationVerbs, RunWritesTheTextThatGenerateWrites) {
  const std::string tale = tests::tale().string(), prompt = " --prompt \"One day\" --max_new_tokens 12 ";
  const Ran generated = run("generate " + tale + prompt + "--tensor_parallel_size 2 --numerics bf16 --format json");
  ASSERT_EQ(generated.code, 0) << generated.err;
  const Json want = Json::parse(generated.out).at("texts");
  for (const std::string mode : {"--mode numeric", ""}) {
    const std::string folder = at("text" + std::to_string(mode.size()));
    const Ran ran = run("run " + at("write.toml") + " --model_id " + tale + prompt + mode + " --output_dir " + folder +
                        " --format json");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json result = Json::parse(ran.out);
    EXPECT_EQ(result.at("texts"), want);
    EXPECT_EQ(result.contains("job"), mode.empty());
    EXPECT_TRUE(std::filesystem::exists(folder + "/result.json"));
  }
  const Ran people =
      run("run " + at("write.toml") + " --model_id " + tale + prompt + "--mode numeric --output_dir " + at("people"));
  EXPECT_THAT(people.out, HasSubstr(want.at(0).at("text").get<std::string>()));
}

TEST_F(GenerationVerbs, RunRefusesAModeThatAGenerationDoesNotHave) {
  const auto refused = [&](const std::string& flags, const char* text) {
    const Ran ran = run("run " + flags + " --output_dir " + at("none"));
    EXPECT_EQ(ran.code, 2) << flags;
    EXPECT_THAT(ran.err, HasSubstr(text)) << flags;
    EXPECT_FALSE(std::filesystem::exists(at("none"))) << flags;
  };
  refused(at("write.toml") + " --mode numeric", "without weights");
  refused(at("write.toml") + " --mode numeric --model_id llama-small", "without weights");
  refused(at("write.toml") + " --mode full", "--mode full");
  refused("bert_emotion --mode timed --prompt Tom", "--max_new_tokens");
}

TEST_F(GenerationVerbs, BundledOnesAreJobsOfEveryVerb) {
  const Ran ran = run("run llama_small_generate --format json --output_dir " + at("bundled"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json job = Json::parse(ran.out).at("job");
  EXPECT_GT(job.at("generate_runtime"), 0);
  const Ran cost = run("cost llama_small_generate --format json");
  ASSERT_EQ(cost.code, 0) << cost.err;
  EXPECT_DOUBLE_EQ(Json::parse(cost.out)[0]["seconds"], job.at("generate_runtime"));
  const Ran large =
      run("run llama3_8b_generate --mode timed --suggestions 0 --format json --output_dir " + at("large"));
  ASSERT_EQ(large.code, 0) << large.err;
  const Json figures = Json::parse(large.out);
  // 16.06 GB of bf16 weights without the embeddings, over 32 cores of 410 GB/s at the most.
  EXPECT_GT(figures.at("job").at("time_per_output_token_p50_seconds"), 15e9 / 32 / 410e9);
  EXPECT_EQ(figures.at("machine").at("cores"), 32);
  ASSERT_EQ(figures.at("published").size(), 2u);  // in the worst case of docs/accuracy.md's regime "generation"
  for (const Json& one : figures.at("published")) EXPECT_LT(std::abs(one.at("error_percent").get<double>()), 29) << one;
}

TEST_F(GenerationVerbs, CostPricesItOnEveryInstance) {
  const Ran ran = run("cost " + at("write.toml") + " --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_GT(rows.size(), 3u);
  EXPECT_GT(rows[0]["seconds"], 0) << rows[0];
  EXPECT_GT(rows[0]["on_demand"], 0) << rows[0];
  for (const Json& row : rows) EXPECT_TRUE(row["per_epoch"].is_null()) << row;  // a generation has none
}

TEST_F(GenerationVerbs, PlanRanksTheDegreesOfTensorParallelism) {
  const std::string plan = "plan llama-small --instance_type trn1.2xlarge --prompt_length 16 --max_new_tokens ";
  const Ran ran = run(plan + "8 --micro_batch_sizes 1,4 --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_GE(rows[i]["step_seconds"], rows[i - 1]["step_seconds"]);
  EXPECT_THAT(rows[0]["flags"].get<std::string>(), HasSubstr("--tensor_parallel_size"));
  EXPECT_THAT(rows[0]["flags"].get<std::string>(), HasSubstr("--batch_size"));
  const Ran timed = run("generate llama-small --format json " + rows[0]["flags"].get<std::string>());
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_DOUBLE_EQ(Json::parse(timed.out)["time_per_output_token_p50_seconds"], rows[0]["step_seconds"]);
  EXPECT_EQ(run(plan + "100000").code, 2);  // the model has no such positions
}

// A million tokens have one price: that of an instance which is full of copies, where a copy does not need it all.
TEST_F(GenerationVerbs, EveryVerbPricesTokensOfAFullInstance) {
  const std::string job =
      "llama-small --instance_type trn1.2xlarge --prompt_length 16 --max_new_tokens 8 --format json ";
  const Ran planned = run("plan " + job);
  ASSERT_EQ(planned.code, 0) << planned.err;
  double of_one_core = 0;
  for (const Json& row : Json::parse(planned.out)) {
    const double want = row.at("dollars_per_million_tokens"), rate = row.at("instance_tokens_per_second");
    EXPECT_NEAR(want * rate, 1.34375 / 3600 * 1e6, 1e-6) << row;  // the instance's price
    const bool half = row.at("plan").get<std::string>().starts_with("TP 1");
    const std::string flags = std::string{" --batch_size 1 --tensor_parallel_size "} + (half ? "1" : "2");
    const Ran estimated = run("estimate --task inference " + job + flags), generated = run("generate " + job + flags),
              swept = run("sweep --workload " + at("write.toml") + " --format json --set tensor_parallel_size=" +
                          (half ? "1" : "2") + " --output_dir " + at("priced" + std::to_string(half)));
    ASSERT_EQ(estimated.code + generated.code + swept.code, 0) << estimated.err << generated.err << swept.err;
    const Json served = Json::parse(estimated.out).at("batches").at(0);
    EXPECT_NEAR(served.at("dollars_per_million_tokens"), want, 1e-9 * want);
    EXPECT_NEAR(served.at("instance_tokens_per_second"), rate, 1e-9 * rate);
    const Json written = Json::parse(generated.out);
    EXPECT_NEAR(written.at("dollars_per_million_tokens"), want, 1e-9 * want);
    EXPECT_NEAR(written.at("dollars"), want * 8e-6, 1e-12);
    EXPECT_NEAR(Json::parse(swept.out).at(0).at("dollars_per_million_tokens"), want, 1e-9 * want);
    for (const Json& one : {written, Json::parse(swept.out).at(0)}) {  // of this copy, and of all on the instance
      EXPECT_NEAR(one.at("instance_tokens_per_second"), rate, 1e-9 * rate);
      EXPECT_NEAR(one.at("tokens_per_second"), half ? rate / 2 : rate, 1e-9 * rate);
    }
    for (const Json& one : {served, row}) EXPECT_FALSE(one.contains("tokens_per_second")) << one;
    if (!half) continue;
    of_one_core = want;
    EXPECT_EQ(written.at("copies_per_instance"), 2);
  }
  EXPECT_GT(of_one_core, 0);
}

TEST_F(GenerationVerbs, TokensThatAreReadHaveOnePrice) {
  const std::string job = "bert-small --task inference --batch_size 4 --max_length 128 --instance_type inf2.xlarge ";
  const Ran estimated = run("estimate " + job + "--format json"), priced = run("cost " + job + "--format json");
  ASSERT_EQ(estimated.code + priced.code, 0) << estimated.err << priced.err;
  const double want = Json::parse(estimated.out).at("batches").at(0).at("dollars_per_million_tokens");
  EXPECT_NEAR(Json::parse(priced.out).at(0).at("per_million_tokens"), want, 1e-9 * want);
}

// --price is of every verb that has dollars.
TEST_F(GenerationVerbs, CostChooseAndGenerateKnowHowInstancesAreBought) {
  const std::string job =
      "llama-small --instance_type trn1.2xlarge --prompt_length 16 --max_new_tokens 8 --batch_size "
      "1 --tensor_parallel_size 1 --price spot --format json";
  const Ran generated = run("generate " + job), estimated = run("estimate --task inference " + job),
            priced = run("cost --task inference " + job);
  ASSERT_EQ(generated.code + estimated.code + priced.code, 0) << generated.err << estimated.err << priced.err;
  const double want = Json::parse(estimated.out).at("batches").at(0).at("dollars_per_million_tokens");
  EXPECT_NEAR(Json::parse(generated.out).at("dollars_per_million_tokens"), want, 1e-9 * want);
  EXPECT_NEAR(Json::parse(priced.out).at(0).at("per_million_tokens"), want, 1e-9 * want);
}

TEST_F(GenerationVerbs, CompareShowsTheExtraTimeOfALaterRun) {
  const std::string timed = "run " + at("write.toml") + " --mode timed --output_dir ";
  const Ran first = run(timed + at("before")), second = run(timed + at("after") + " --set collective.floor=2x");
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(second.code, 0) << second.err;
  const Ran same = run("compare " + at("before") + " " + at("before") + " --fail_above 1%");
  EXPECT_EQ(same.code, 0) << same.err;
  const Ran slower = run("compare " + at("before") + " " + at("after") + " --fail_above 1%");
  EXPECT_EQ(slower.code, 1) << slower.out;
}

/// A workload that writes text is requests to its model: instance, cores of a copy and texts at once are chosen.
TEST(Choose, AWorkloadThatWritesTextIsRequestsToItsModel) {
  const Ran workload = run("choose llama_small_generate --format json"),
            model =
                run("choose llama-small --task inference --prompt_length 16 --max_new_tokens 32 --stack "
                    "transformers-neuronx --format json");
  ASSERT_EQ(workload.code, 0) << workload.err;
  EXPECT_EQ(workload.out, model.out);
  EXPECT_EQ(run("choose llama_small_generate --global_batch_size 8").code, 2) << "a training's";
}

}  // namespace
