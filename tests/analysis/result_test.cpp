#include "analysis/record/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace {

using Ordered = nlohmann::ordered_json;
using analysis::StepLog;
using analysis::write_machine;
using analysis::write_result;
using testing::HasSubstr;

analysis::StepFigures step(std::int64_t number, double loss) {
  analysis::StepFigures out;
  out.step = number, out.loss = loss;
  return out;
}

class RunFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path{testing::TempDir()} / ("trnsim_result_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string error_of(const auto& act) {
    try {
      act();
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder_;
};

TEST_F(RunFolder, AResultReadsBack) {
  write_result(folder_, Ordered{{"job", {{"train_runtime", 510.5}}}, {"seed", 42}});
  const analysis::Figures result = analysis::read_result(folder_);
  EXPECT_EQ(result.time.train_runtime, 510.5);
  EXPECT_EQ(result.seed, 42);
  EXPECT_EQ(to_json(analysis::read_result(folder_ / "result.json")), to_json(result));
}

TEST_F(RunFolder, TheSchemaVersionComesFirst) {
  write_result(folder_, Ordered{{"a", 1}});
  EXPECT_TRUE(base::read_file(folder_ / "result.json").starts_with("{\n  \"schema_version\": 2,"));
}

TEST_F(RunFolder, ANewerSchemaIsRefused) {
  base::write_file(folder_ / "result.json", "{\"schema_version\": 99}");
  EXPECT_THAT(error_of([&] { analysis::read_result(folder_); }), HasSubstr("has schema 99"));
}

TEST_F(RunFolder, AFileThatIsNoResultIsRefused) {
  for (const std::string text : {"", "[]", "{", "{}", "{\"schema_version\": \"1\"}", "{\"schema_version\": 0}"}) {
    base::write_file(folder_ / "result.json", text);
    EXPECT_THAT(error_of([&] { analysis::read_result(folder_); }), HasSubstr("data error")) << text;
  }
}

TEST_F(RunFolder, StatsAreNameValueUnitAndText) {
  const std::vector<analysis::Stat> stats = {{"total_time", 0.25, "s", "simulated"}, {"count", 3, "1", "of them"}};
  write_stats(folder_, stats);
  const std::string text = base::read_file(folder_ / "stats.txt");
  EXPECT_THAT(text, testing::ContainsRegex("total_time +0.25 s +# simulated\n"));
  EXPECT_THAT(text, testing::ContainsRegex("count +3 1 +# of them\n"));
}

TEST_F(RunFolder, AStatisticNeedsANameOfItsOwn) {
  EXPECT_THROW(analysis::stats_text(std::vector<analysis::Stat>{{"two words", 1, "s", ""}}), base::Error);
  EXPECT_THROW(analysis::stats_text(std::vector<analysis::Stat>{{"a", 1, "s", ""}, {"a", 2, "s", ""}}), base::Error);
}

TEST_F(RunFolder, StepsAreThereLineByLine) {
  StepLog log{folder_};
  log.append(step(1, 1.5));
  log.append(step(2, std::nan("")));
  const auto lines = analysis::read_steps(folder_);  // while the log is open: each line was handed over
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].loss, 1.5);
  EXPECT_TRUE(!lines[1].loss);
}

TEST_F(RunFolder, AResumedRunDropsTheStepsAfterItsCheckpoint) {
  {
    StepLog log{folder_};
    for (int i = 1; i <= 5; ++i) log.append(step(i, 1));
  }
  {
    StepLog log{folder_, 3};
    log.append(step(4, 2));
  }
  const auto lines = analysis::read_steps(folder_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[3].loss, 2);
  EXPECT_EQ(lines[2].loss, 1);
}

TEST_F(RunFolder, AFreshRunStartsAnEmptyLog) {
  { StepLog{folder_}.append(step(1, 1)); }
  StepLog log{folder_};
  EXPECT_TRUE(analysis::read_steps(folder_).empty());
}

TEST_F(RunFolder, ABrokenStepLineIsNamed) {
  base::write_file(folder_ / "steps.jsonl", "{\"step\": 1}\n{\"loss\": 1}\n");
  EXPECT_THAT(error_of([&] { analysis::read_steps(folder_); }), HasSubstr("steps.jsonl:2"));
}

TEST_F(RunFolder, ALineThatWasCutIsDroppedAndTheRunGoesOn) {
  base::write_file(folder_ / "steps.jsonl", "{\"step\": 1}\n{\"step\": 2, \"lo");
  EXPECT_EQ(analysis::read_steps(folder_).size(), 1u);
  StepLog log{folder_, 1};
  log.append(step(2, 0.5));
  EXPECT_EQ(log.steps().size(), 2u);
  EXPECT_EQ(analysis::read_steps(folder_).size(), 2u);
}

TEST_F(RunFolder, ADiskThatIsFullLeavesWholeLines) {
  StepLog log{folder_};
  log.append(step(1, 1));
  const std::string before = base::read_file(folder_ / "steps.jsonl");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  rlimit full = usual;
  full.rlim_cur = before.size() + 5;  // five bytes more fit
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string error = error_of([&] { log.append(step(2, 1)); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  EXPECT_THAT(error, HasSubstr("free space on the disk, then resume the run"));
  EXPECT_EQ(base::read_file(folder_ / "steps.jsonl"), before);
}

TEST_F(RunFolder, DeepJsonIsRefused) {
  base::write_file(folder_ / "result.json", std::string(100'000, '['));
  EXPECT_THAT(error_of([&] { analysis::read_result(folder_); }), HasSubstr("more than 200 levels"));
}

TEST_F(RunFolder, APathThatIsNoUtf8LosesNoResult) {
  write_result(folder_, Ordered{{"command", "a\xff"}});
  EXPECT_EQ(analysis::read_result(folder_).command, "a\xEF\xBF\xBD");
}

TEST_F(RunFolder, TheMachineReadsBack) {
  const std::string text = "name = \"m\"\n[hbm]\nbandwidth = { value = \"410 GB/s\", source = \"doc\" }\n";
  auto machine = base::ParamFile::parse(text, "m.toml");
  machine.set("hbm.bandwidth=2x");
  write_machine(folder_, machine);
  EXPECT_EQ(base::ParamFile::load(folder_ / "machine.toml").hash(), machine.hash());
}

TEST_F(RunFolder, TheSummaryIsATablePerSection) {
  const std::vector<analysis::Section> sections = {{"Job", {{"time", "8:30"}, {"why", "a|b"}}}};
  write_summary(folder_, "bert_emotion", sections);
  const std::string text = base::read_file(folder_ / "summary.md");
  EXPECT_THAT(text, HasSubstr("# bert_emotion\n\n## Job\n"));
  EXPECT_THAT(text, HasSubstr("| why | a\\|b |"));
}

TEST_F(RunFolder, AFolderThatIsNotThereIsAnEnvironmentError) {
  EXPECT_THAT(error_of([&] { write_result(folder_ / "missing", Ordered::object()); }), HasSubstr("environment error"));
}

TEST(NumericEvents, AreReadAsASentence) {
  EXPECT_EQ(analysis::numeric_events_text(isa::NumericEvents{}), "none");
  EXPECT_EQ(analysis::numeric_events_text(isa::NumericEvents{.overflowed = 3, .flushed = 120}),
            "3 casts overflowed, 120 subnormal operands of TensorE taken for zero");
}

}  // namespace
