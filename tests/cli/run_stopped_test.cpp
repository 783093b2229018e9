// Runs that are stopped, started twice, or resume from a foreign checkpoint: nothing is lost, nothing is mixed.
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/interrupted.h"
#include "tests/cli/run_job.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class RunStopped : public cli_test::SmallJob {
 protected:
  std::string job(const std::string& out, int steps, int logging_steps = 1) const {
    return flags() + " --dataset_path " + at("data.csv") + " --validation_file " + at("data.csv") +
           " --max_length 32 --mode numeric --logging_steps " + std::to_string(logging_steps) + " --max_steps " +
           std::to_string(steps) + " --output_dir " + at(out) + " ";
  }
  Json result(const std::string& out) const { return Json::parse(slurp(folder_ / out / "result.json")); }
  Json history(const std::string& out) const {
    return Json::parse(slurp(folder_ / out / "model/trainer_state.json"))["log_history"];
  }
};

TEST_F(RunStopped, InterruptsSaveTheRun) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    const std::string out = "out" + std::to_string(signal);
    EXPECT_EQ(cli_test::interrupted(job(out, 100'000), folder_ / out, signal), 130) << signal;
    EXPECT_TRUE(fs::exists(folder_ / out / "checkpoint/shards.json")) << signal;
    EXPECT_TRUE(result(out)["metrics"]["interrupted"]) << signal;
  }
}

TEST_F(RunStopped, AReaderThatClosesThePipeStopsItAsCtrlCDoes) {
  // An epoch has 6 steps: the first evaluation is printed when the reader is gone.
  const std::string command = std::string{"(" TRNSIM_BINARY " "} + job("out", 100'000) + " 2>" + at("log") +
                              "; echo $? >" + at("code") + ") | true";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(slurp(at("code")), "130\n");
  EXPECT_THAT(slurp(at("log")), HasSubstr("go on with --resume_from_checkpoint"));
  EXPECT_TRUE(fs::exists(folder_ / "out/checkpoint/shards.json"));
}

TEST_F(RunStopped, AFullDiskBehindStdoutStopsItWithAWord) {
  const std::string command =
      std::string{TRNSIM_BINARY " "} + job("out", 100'000) + " >/dev/full 2>" + at("log") + "; echo $? >" + at("code");
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(slurp(at("code")), "2\n");
  EXPECT_THAT(slurp(at("log")), HasSubstr("environment error: stdout: No space left on device"));
  EXPECT_TRUE(fs::exists(folder_ / "out/checkpoint/shards.json"));
}

TEST_F(RunStopped, WithoutStdoutNothingIsPrintedIntoItsFiles) {
  const std::string command = std::string{TRNSIM_BINARY " "} + job("out", 7) + ">&- 2>/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(slurp(at("out/steps.jsonl")).find("*****"), std::string::npos);
}

TEST_F(RunStopped, ARunThatGoesOnHasTheWholeHistory) {
  using cli_test::kSteps;
  ASSERT_EQ(run(job("whole", kSteps, 4)).code, 0);
  ASSERT_EQ(cli_test::interrupted(job("part", kSteps, 4), folder_ / "part"), 130);
  ASSERT_LT(result("part")["metrics"]["steps"], kSteps);
  const Ran rest =
      run(job("part", kSteps, 4) + "--overwrite_output_dir --resume_from_checkpoint " + at("part/checkpoint"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(history("part"), history("whole"));
}

TEST_F(RunStopped, OnlyItsOwnRunGoesOn) {
  ASSERT_EQ(run(job("first", 6)).code, 0);
  const std::string resume = "--resume_from_checkpoint " + at("first/checkpoint");
  expect_refused(run(job("out", 6) + resume + " --adam_beta1 0.5"), "betas 0.5");
  expect_refused(run(job("out", 6) + resume + " --adam_epsilon 1e-3"), "eps 0.001");
  std::string rows = "text,label\n";
  for (int i = 0; i < 24; ++i) rows += i % 2 ? "i feel fine,0\n" : "i feel sad sad,1\n";
  write("data.csv", rows);
  expect_refused(run(job("out", 6) + resume), "belongs to a run with other settings");
}

TEST_F(RunStopped, AFlippedBitOfACheckpointIsSeen) {
  ASSERT_EQ(run(job("first", 6)).code, 0);
  std::string bytes = slurp(at("first/checkpoint/exp_avg_tp00_pp00.safetensors"));
  for (const std::size_t place : {bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 64);
    write("first/checkpoint/exp_avg_tp00_pp00.safetensors", damaged);
    expect_refused(run(job("out", 6) + "--resume_from_checkpoint " + at("first/checkpoint")), "its checksum is not");
  }
}

TEST_F(RunStopped, AFolderInUseIsRefused) {
  std::thread other{[&] { cli_test::stopped(job("out", 100'000), folder_ / "out/late", SIGTERM); }};
  while (!fs::exists(folder_ / "out/steps.jsonl")) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  const Ran ran = run(job("out", 6) + "--overwrite_output_dir");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is in use by another run"));
  write("out/late", "now");
  other.join();
  EXPECT_EQ(result("out")["workload"]["options"]["max_steps"], 100'000);
}

TEST_F(RunStopped, AnOldResultIsGoneBeforeANewRunWrites) {
  ASSERT_EQ(run(job("out", 6)).code, 0);
  write("out/mine.txt", "of the user");
  // Killed, not stopped: nothing of the old run may look like a result of the new one.
  fs::remove(folder_ / "out/steps.jsonl");  // for a sanitizer, the sign that the new one has begun
  EXPECT_EQ(cli_test::interrupted(job("out", 100'000) + "--overwrite_output_dir --seed 7", folder_ / "out", SIGKILL),
            -1);
  EXPECT_FALSE(fs::exists(folder_ / "out/result.json"));
  EXPECT_FALSE(fs::exists(folder_ / "out/checkpoint"));
  EXPECT_FALSE(fs::exists(folder_ / "out/model"));
  EXPECT_EQ(slurp(at("out/mine.txt")), "of the user");
  EXPECT_EQ(run("report " + at("out")).code, 2);
}

TEST_F(RunStopped, AFolderWhoseNameIsNoUtf8HoldsItsResults) {
  const Ran ran = run(job("a\xff", 2));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(fs::exists(folder_ / "a\xff/result.json"));
}

TEST_F(RunStopped, TheResultHasTheSettingsOfTheModelThatWasTrained) {
  const Ran ran = run("run bert_emotion --mode numeric --dataset_path " + at("data.csv") + " --vocab " +
                      at("vocab.txt") + " --max_length 8 --max_steps 1 --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(result("out")["metrics"]["options"]["learning_rate"], 1e-3);  // the projected job's is another one
  EXPECT_EQ(result("out")["metrics"]["options"]["numerics"], result("out")["metrics"]["numerics"]);
  EXPECT_GE(result("out")["machine"]["cores"], 1);
}

}  // namespace
