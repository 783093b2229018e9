// A generation is a job: swept, priced, planned, run and compared by the verbs of any other.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"

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

TEST_F(GenerationVerbs, SweepVariesItsCoresAndItsBatch) {
  const Ran ran = run("sweep --workload " + at("write.toml") +
                      " --set tensor_parallel_size=1,2 --set batch_size=1,4 --format json --output_dir " + at("sweep"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const Json& row : rows) {
    EXPECT_EQ(row["error"], "") << row;
    EXPECT_GT(row["dollars"], 0);
    EXPECT_GT(row["time_to_first_token_seconds"], 0);
    EXPECT_GT(row["time_per_output_token_p50_seconds"], 0);
    EXPECT_LT(row["time_per_output_token_p50_seconds"], row["train_runtime"]);
  }
  EXPECT_GT(rows[1]["tokens_per_second"], 2 * rows[0]["tokens_per_second"].get<double>());  // weights are read once
  EXPECT_LT(rows[2]["hbm_bytes"], rows[0]["hbm_bytes"]);                                    // two cores share them
  const Ran none = run("sweep --workload " + at("write.toml") + " --set temperature=0,1 --output_dir " + at("none"));
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("changes neither time nor cost"));
}

TEST_F(GenerationVerbs, CostPricesItOnEveryInstance) {
  const Ran ran = run("cost " + at("write.toml") + " --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_GT(rows.size(), 3u);
  EXPECT_GT(rows[0]["seconds"], 0) << rows[0];
  EXPECT_GT(rows[0]["on_demand"], 0) << rows[0];
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
  const Ran timed =
      run("generate llama-small --instance_type trn1.2xlarge --prompt_length 16 --max_new_tokens 8 "
          "--format json " +
          rows[0]["flags"].get<std::string>());
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_DOUBLE_EQ(Json::parse(timed.out)["time_per_output_token_p50_seconds"], rows[0]["step_seconds"]);
  EXPECT_EQ(run(plan + "100000").code, 2);  // the model has no such positions
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

}  // namespace
