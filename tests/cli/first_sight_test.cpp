// What misled people who tried trnsim for the first time, one test each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

namespace {

namespace fs = std::filesystem;
using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class FirstSight : public testing::Test {
 protected:
  FirstSight() {
    std::string pattern = (fs::temp_directory_path() / "trnsim_first_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FirstSight() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  Json result(const std::string& name) const { return Json::parse(cli_test::slurp(folder_ / name / "result.json")); }

  fs::path folder_;
};

TEST_F(FirstSight, TheAnswerComesFirstAndItsChangesArePasted) {
  const Ran ran = run("run bert_tweets --mode timed --output_dir " + at("a"), "TRNSIM_SUGGESTIONS=1");
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* line : {"\ntime     ", "\ndollars  ", "\nmemory   fits", "\nbound by ", "\ntry      --"})
    EXPECT_THAT(ran.out.substr(0, ran.out.find("figure ")), HasSubstr(line));
  const Json change = result("a")["answer"]["changes"][0];
  std::string flags;
  for (const auto& [name, value] : change["settings"].items()) flags += " --" + name + " " + value.get<std::string>();
  ASSERT_EQ(run("run bert_tweets --mode timed --output_dir " + at("b") + flags).code, 0);
  const auto rate = [&](const char* name) { return result(name)["job"]["train_samples_per_second"].get<double>(); };
  EXPECT_NEAR(100 * (rate("b") / rate("a") - 1), change["speed_up_percent"].get<double>(), 3);
}

TEST_F(FirstSight, TwoInstancesArePricedAsTwo) {
  ASSERT_EQ(run("run bert_emotion --mode timed --instance_type trn1.32xlarge --nnodes 2 --output_dir " + at("a")).code,
            0);
  const Json job = result("a");
  EXPECT_EQ(job["machine"]["instances"], 2);
  const double hours = job["job"]["train_runtime"].get<double>() / 3600;
  EXPECT_NEAR(job["cost"]["run"].get<double>(), 2 * hours * job["cost"]["price_per_hour"].get<double>(), 1e-9);
}

TEST_F(FirstSight, AGateOfFiveIsNotOneOfFiveHundredPerCent) {
  ASSERT_EQ(run("run bert_tweets --mode timed --output_dir " + at("a")).code, 0);
  const std::string compare = "compare " + at("a") + " " + at("a") + " --fail_above ";
  const Ran ran = run(compare + "5");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("write 5%"));
  EXPECT_EQ(ran.out, "") << "the limit is looked at before the work";
  for (const char* good : {"5%", "0.05", "500%"}) EXPECT_EQ(run(compare + good).code, 0) << good;
}

TEST_F(FirstSight, ScoresOfTheTestSplitAreNotCalledEval) {
  const Ran ran =
      run("run bert_emotion --mode numeric --max_steps 4 --max_train_samples 64 --max_eval_samples 32 "
          "--output_dir " +
          at("a"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json metrics = result("a")["metrics"];
  ASSERT_TRUE(metrics.contains("eval_loss") && metrics.contains("test_loss")) << metrics.dump();
  std::map<std::string, Json> last;
  for (const Json& epoch : metrics["epochs"]) last[epoch["split"]] = epoch["loss"];
  for (const auto& [split, loss] : last) EXPECT_EQ(metrics[split + "_loss"], loss) << split;
  EXPECT_NE(last["eval"], last["test"]);
}

TEST_F(FirstSight, LayersAndPhasesAddUpToTheStep) {
  ASSERT_EQ(run("run llama2_7b_dolly --mode timed --output_dir " + at("a")).code, 0);
  const double step = result("a")["job"]["device_step_seconds"];
  for (const char* by : {"phase", "layer", "block"}) {
    const Ran ran = run("stats " + at("a") + " --by " + by + " --format json");
    ASSERT_EQ(ran.code, 0) << ran.err;
    double sum = 0;
    for (const Json& row : Json::parse(ran.out)) sum += row["seconds"].get<double>();
    EXPECT_NEAR(sum, step, 1e-3 * step) << by;
    EXPECT_THAT(ran.out, HasSubstr("exposed collectives"));
  }
}

TEST_F(FirstSight, TheMfuOfTheJobIsNotThatOfTheDevice) {
  const Ran ran = run("run bert_emotion --mode timed --output_dir " + at("a"));
  const Json job = result("a");
  EXPECT_LT(job["job"]["mfu_percent"].get<double>(), job["utilisation"]["mfu"].get<double>() / 2);
  EXPECT_THAT(ran.out, HasSubstr("MFU of the job"));
  EXPECT_THAT(cli_test::slurp(folder_ / "a" / "report.html"), HasSubstr("<dt>MFU of the job</dt>"));
}

TEST_F(FirstSight, CommandLinesOfTrainersArePasted) {
  const Ran ran =
      run("run bert_tweets --mode timed --bf16 True --do_train --report_to none --save-strategy no "
          "--output-dir " +
          at("a"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("left out: --do_train --report_to --save-strategy"));
  EXPECT_EQ(result("a")["workload"]["options"]["bf16"], true);
  const Ran llama =
      run("run llama2_7b_dolly --mode timed --zero_1 False --gradient_checkpointing True --output_dir " + at("b"));
  EXPECT_EQ(llama.code, 0) << llama.err;
  EXPECT_THAT(llama.out, Not(HasSubstr("ZeRO-1, rec")));
  EXPECT_THAT(llama.out, HasSubstr("recompute full"));
  EXPECT_EQ(run("run bert_tweets --mode timed --do_trian --output_dir " + at("c")).code, 2);
}

}  // namespace
