// `trnsim run` from the command line to the folder of the run: its output, files, and resumption.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/interrupted.h"
#include "tests/cli/run_job.h"

namespace {

using cli_test::interrupted;
using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using Json = nlohmann::json;

class RunJob : public cli_test::SmallJob {
 protected:
  std::set<std::string> files(const std::string& out) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_ / out})
      if (entry.is_regular_file()) names.insert(entry.path().lexically_relative(folder_ / out).string());
    return names;
  }
  std::string weights(const std::string& out) const { return slurp(folder_ / out / "model/model.safetensors"); }
  /// Step, loss and gradient norm of each line of steps.jsonl, as printed: equal texts are equal bits.
  std::map<int, std::string> steps(const std::string& out) const {
    std::map<int, std::string> lines;
    std::istringstream text{slurp(folder_ / out / "steps.jsonl")};
    for (std::string line; std::getline(text, line);) {
      const Json step = Json::parse(line);
      lines[step["step"]] = step["loss"].dump() + " " + step["grad_norm"].dump();
    }
    return lines;
  }
};

TEST_F(RunJob, LeavesACompleteFolder) {
  const Ran ran = train("out", "--validation_file " + at("data.csv"), "full");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::set<std::string> names = files("out");
  for (const std::string name : {"result.json", "steps.jsonl", "stats.txt", "machine.toml", "summary.md", "run.sqlite",
                                 "report.html", "model/config.json", "model/model.safetensors", "model/vocab.txt",
                                 "model/trainer_state.json", "checkpoint/shards.json"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const std::string& name : names) EXPECT_GT(std::filesystem::file_size(folder_ / "out" / name), 0u) << name;
  const Json result = Json::parse(slurp(folder_ / "out/result.json"));
  EXPECT_EQ(result["schema_version"], 2);
  EXPECT_EQ(result["metrics"]["steps"], 3);
  EXPECT_EQ(result["metrics"]["numeric_events"],
            (Json{{"overflowed", 0}, {"out_of_range", 0}, {"transposed", 0}, {"flushed", 0}}));
  EXPECT_THAT(slurp(folder_ / "out/report.html"), HasSubstr("Numbers lost without an error: none."));
  EXPECT_GT(result["job"]["step_seconds"], 0);
  EXPECT_GT(result["memory"]["hbm_bytes"], 0);
  EXPECT_EQ(result["workload"]["options"]["per_device_train_batch_size"], 4);
}

// Short and long samples in batches of their own: the same samples, epochs and scores, and bits that come back.
TEST_F(RunJob, PadsToSeveralLengths) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 24; ++i)
    rows += fmt::format("i feel {}{},{}\n", i % 2 ? "fine" : "sad", i < 12 ? "" : " i i i i i i i i i", i % 2);
  write("data.csv", rows);
  const auto padded = [&](const std::string& out, const std::string& buckets, const std::string& mode) {
    return run(flags() + " --dataset_path " + at("data.csv") + " --validation_file " + at("data.csv") +
               " --max_length 32 --num_train_epochs 2 --buckets " + buckets + " --mode " + mode + " --output_dir " +
               at(out));
  };
  const Ran ran = padded("out", "8,16,24", "full");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json result = Json::parse(slurp(folder_ / "out/result.json"));
  ASSERT_EQ(result["lengths"]["of"].size(), 2u);  // no sample needs 24
  EXPECT_EQ(result["lengths"]["of"][0]["length"], 8);
  EXPECT_EQ(result["lengths"]["of"][1]["samples"], 12);
  EXPECT_EQ(result["lengths"]["plans"].size(), 3u);
  EXPECT_EQ(result["metrics"]["steps"], 2 * (3 + 3));
  EXPECT_LT(result["metrics"]["eval_loss"], 1.0);
  EXPECT_THAT(ran.out, HasSubstr("lengths 8, 16"));
  EXPECT_THAT(ran.out, HasSubstr("packed to 32"));
  ASSERT_EQ(padded("again", "8,16,24", "numeric").code, 0);
  EXPECT_EQ(steps("again"), steps("out"));
  EXPECT_EQ(weights("again"), weights("out"));
  expect_refused(padded("none", "16,8", "numeric"), "8 comes after 16", "none");
  expect_refused(padded("none", "8,99", "numeric"), "99 tokens exceed --max_length, 32", "none");
}

TEST_F(RunJob, TheMachineOfARunIsAMachine) {
  ASSERT_EQ(train("out", "--set hbm.bandwidth=2x").code, 0);
  const Ran ran = run("params " + at("out/machine.toml") + " --prefix hbm.bandwidth --format csv");
  EXPECT_THAT(ran.out, HasSubstr("hbm.bandwidth,1.64 TB/s,")) << ran.err;
}

// The block that scripts cut out of the output of transformers' Trainer.
TEST_F(RunJob, EndsWithTheMetricsOfHuggingFacesTrainer) {
  const Ran ran = train("out", "--validation_file " + at("data.csv"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::size_t eval = ran.out.find("***** eval metrics *****\n"),
                    end = ran.out.find("***** train metrics *****\n");
  ASSERT_NE(end, std::string::npos) << ran.out;
  EXPECT_LT(eval, end);
  std::istringstream block{ran.out.substr(end)};
  std::set<std::string> keys;
  std::set<std::size_t> places;  // of the equal signs: they are aligned
  std::string line;
  std::getline(block, line);
  while (std::getline(block, line) && line.starts_with("  ")) {
    places.insert(line.find('='));
    keys.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  EXPECT_EQ(places.size(), 1u);
  for (const std::string key :
       {"epoch", "total_flos", "train_loss", "train_runtime", "train_samples_per_second", "train_steps_per_second"})
    EXPECT_TRUE(keys.contains(key)) << key;
}

// The times of other jobs are not published.
TEST_F(RunJob, PublishedFiguresStandBesideThePublishedJobAlone) {
  const auto published = [&](const std::string& out) {
    return Json::parse(slurp(folder_ / out / "result.json"))["published"].size();
  };
  const Ran ours = train("ours", "", "timed");
  EXPECT_THAT(ours.out, testing::Not(HasSubstr("optimum-neuron")));
  EXPECT_EQ(published("ours"), 0u);
  const std::string timed = "run bert_emotion --mode timed --output_dir ";
  EXPECT_THAT(run(timed + at("tutorial") + " --max_length 512").out, HasSubstr("optimum-neuron"));
  EXPECT_EQ(published("tutorial"), 4u);
  ASSERT_EQ(run(timed + at("shorter") + " --max_steps 10").code, 0);
  EXPECT_EQ(published("shorter"), 0u);
}

TEST_F(RunJob, DataGoesToStdoutAndTheRestToStderr) {
  const Ran ran = train("out", "--format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["metrics"]["steps"], 3);
  EXPECT_THAT(ran.err, HasSubstr("results in "));
}

TEST_F(RunJob, FullModeHasTheBitsOfNumericAndTheClockOfTimed) {
  ASSERT_EQ(train("numeric", "--numerics bf16+sr").code, 0);
  ASSERT_EQ(train("full", "--numerics bf16+sr", "full").code, 0);
  ASSERT_EQ(train("timed", "--numerics bf16+sr", "timed").code, 0);
  EXPECT_EQ(weights("numeric"), weights("full"));
  const auto device = [&](const std::string& out) {
    return Json::parse(slurp(folder_ / out / "result.json"))["job"]["device_step_seconds"];
  };
  EXPECT_EQ(device("full"), device("timed"));
  EXPECT_FALSE(files("timed").contains("model/model.safetensors"));
}

TEST_F(RunJob, TheNumberOfThreadsChangesNoBit) {
  const std::string two = "--nproc_per_node 2 --numerics bf16+sr --logging_steps 1 --host_threads ";
  const auto with = [&](const std::string& out, const std::string& threads) {
    std::string line = flags();
    line.replace(line.find("--nproc_per_node 1"), 18, "");
    return run(line + " --dataset_path " + at("data.csv") + " --max_length 32 --max_steps 3 --mode numeric " +
               "--output_dir " + at(out) + " " + two + threads);
  };
  ASSERT_EQ(with("one", "1").code, 0);
  ASSERT_EQ(with("two", "2").code, 0);
  EXPECT_EQ(weights("one"), weights("two"));
  EXPECT_EQ(steps("one"), steps("two"));
}

// With dropout and stochastic rounding, whose random numbers must go on where they stopped.
TEST_F(RunJob, ARunThatIsStoppedAndResumedHasTheBitsOfOneThatWasNot) {
  edit("bert/config.json", "\"hidden_dropout_prob\": 0.0", "\"hidden_dropout_prob\": 0.1");
  const std::string job = flags() + " --dataset_path " + at("data.csv") +
                          " --max_length 32 --numerics bf16+sr --max_steps " + std::to_string(cli_test::kSteps) +
                          " --mode numeric --logging_steps 1 ";
  ASSERT_EQ(run(job + "--output_dir " + at("whole")).code, 0);
  EXPECT_EQ(interrupted(job + "--output_dir " + at("part"), folder_ / "part"), 130);
  const Json stopped = Json::parse(slurp(folder_ / "part/result.json"));
  EXPECT_TRUE(stopped["metrics"]["interrupted"]);
  const int done = stopped["metrics"]["steps"];
  EXPECT_GE(done, 1);
  EXPECT_LT(done, cli_test::kSteps);
  const Ran rest = run(job + "--overwrite_output_dir --resume_from_checkpoint " + at("part/checkpoint") +
                       " --output_dir " + at("part"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(weights("part"), weights("whole"));
  EXPECT_EQ(steps("part"), steps("whole"));
  EXPECT_EQ(steps("part").size(), static_cast<std::size_t>(cli_test::kSteps));
}

TEST_F(RunJob, ACheckpointOfAnotherRunIsRefused) {
  ASSERT_EQ(train("first").code, 0);
  const std::string resume = "--resume_from_checkpoint " + at("first/checkpoint");
  expect_refused(train("out", resume + " --seed 7"), "seed 7");
  expect_refused(train("out", "--resume_from_checkpoint " + at("bert")), "not a sharded checkpoint");
}

TEST_F(RunJob, ALossThatIsNotFiniteEndsWithFour) {
  std::string line = flags();
  line.replace(line.find("1e-3"), 4, "1e6");
  const Ran diverged = run(line + " --dataset_path " + at("data.csv") + " --max_length 32 --max_steps 40 --numerics " +
                           "fp16 --max_grad_norm 0 --mode numeric --output_dir " + at("out"));
  EXPECT_EQ(diverged.code, 4) << diverged.err;
  EXPECT_THAT(diverged.err, HasSubstr("the loss is "));
}

}  // namespace
