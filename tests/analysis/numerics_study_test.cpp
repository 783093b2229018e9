// The same training in several number formats: tables, and the answer.
#include "analysis/numerics/numerics_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "base/error.h"

namespace {

using analysis::answers;
using analysis::TrainedRun;
using analysis::Verdict;
using testing::HasSubstr;
using Ordered = nlohmann::ordered_json;

TrainedRun run_of(std::string numerics, std::uint64_t seed, double accuracy) {
  return {.numerics = std::move(numerics),
          .model = "small",
          .dataset = "emotion/train.txt",
          .split = "test",
          .seed = seed,
          .steps = 1500,
          .evaluated = 2000,
          .epochs = 3,
          .train_loss = 0.5,
          .eval_loss = 0.3,
          .accuracy = accuracy,
          .f1_macro = accuracy - 0.05};
}

/// fp32 90, 91, 92 %; the format differs from it by these, per cent.
std::vector<TrainedRun> runs_with(std::array<double, 3> differences) {
  std::vector<TrainedRun> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(run_of("fp32", 1 + i, 0.90 + 0.01 * i));
  for (int i = 0; i < 3; ++i) runs.push_back(run_of("bf16", 1 + i, 0.90 + 0.01 * i + differences[i] / 100));
  return runs;
}

TEST(NumericsStudy, TheIntervalIsStudentsOverTheDifferencesOfPairs) {
  const auto answer = answers(runs_with({-1, 0, 1})).front();
  EXPECT_NEAR(answer.difference.mean, 0, 1e-12);
  EXPECT_NEAR(answer.difference.deviation, 0.01, 1e-12);
  EXPECT_NEAR(answer.half_width.value(), 4.303 * 0.01 / std::sqrt(3.0), 1e-9);
}

TEST(NumericsStudy, ALossThatNoSpreadExplainsIsANo) {
  const auto runs = runs_with({-2.0, -2.1, -1.9});
  EXPECT_EQ(answers(runs).front().verdict, Verdict::kWorse);
  EXPECT_THAT(numerics_text(runs, "md"), HasSubstr("Can I leave bf16 on? No: accuracy changes by -2.00 points"));
  EXPECT_EQ(answers(runs_with({2.0, 2.1, 1.9})).front().verdict, Verdict::kBetter);
}

TEST(NumericsStudy, AYesExcludesALossOfAPoint) {
  // Mean -0.1, deviation 0.1: half a width of 0.248 points.
  EXPECT_THAT(numerics_text(runs_with({-0.2, -0.1, 0}), "table"),
              HasSubstr("Yes: accuracy changes by -0.10 points on average over 3 seeds (95 % interval -0.35 to +0.15; "
                        "seeds alone spread by 1.00 in fp32). A loss of one point is excluded."));
}

TEST(NumericsStudy, DifferencesWithinSeedNoiseAreNotCalledAYes) {
  EXPECT_EQ(answers(runs_with({-1, 0, 1})).front().verdict, Verdict::kUnsettled);
  EXPECT_THAT(numerics_text(runs_with({-1, 0, 1}), "table"), HasSubstr("whether up to 2.48 points are lost"));
}

TEST(NumericsStudy, SeedsThatAgreeOnFewSamplesExcludeNothing) {
  std::vector<TrainedRun> runs;
  for (const char* numerics : {"fp32", "bf16"})
    for (const std::uint64_t seed : {1, 2}) runs.push_back(run_of(numerics, seed, 0.5));
  for (TrainedRun& run : runs) run.evaluated = 32;
  const auto few = answers(runs).front();
  EXPECT_EQ(few.verdict, Verdict::kUnsettled);
  EXPECT_NEAR(few.half_width.value(), 12.706 / 32 / std::sqrt(2.0), 1e-9);
  EXPECT_THAT(numerics_text(runs, "table"), HasSubstr("whether up to 28.08 points are lost"));
  for (TrainedRun& run : runs) run.evaluated = 2000;
  EXPECT_EQ(answers(runs).front().verdict, Verdict::kSame) << "a sample of many is no point";
}

TEST(NumericsStudy, SeedsOfOneFormatAloneTellNothing) {
  const std::vector<TrainedRun> runs{run_of("fp32", 1, 0.9), run_of("bf16", 2, 0.8), run_of("bf16", 3, 0.8)};
  EXPECT_EQ(answers(runs).front().verdict, Verdict::kUnknown);
  EXPECT_THAT(numerics_text(runs, "table"), HasSubstr("Too few seeds"));
}

TEST(NumericsStudy, TablesHaveMeansAndSpread) {
  const std::string text = numerics_text(runs_with({0, 0, 0}), "md");
  EXPECT_THAT(text, HasSubstr("| fp32 | 3 | 0.9100 +- 0.0100 |"));
  EXPECT_THAT(text, HasSubstr("| bf16 | 2 | 0.9100 |"));
  const Ordered json = Ordered::parse(numerics_text(runs_with({0, 0, 0}), "json"));
  EXPECT_EQ(json["runs"].size(), 6u);
  EXPECT_EQ(json["answers"][0]["verdict"], "same");
}

TEST(NumericsStudy, RunsThatDifferInMoreThanFormatAndSeedAreRefused) {
  auto runs = runs_with({0, 0, 0});
  runs.back().steps = 1000;
  EXPECT_THROW(numerics_text(runs, "md"), base::Error);
  runs = runs_with({0, 0, 0});
  runs.back().seed = 1;
  EXPECT_THROW(numerics_text(runs, "md"), base::Error);
  runs = runs_with({0, 0, 0});
  runs.erase(runs.begin(), runs.begin() + 3);
  EXPECT_THROW(numerics_text(runs, "md"), base::Error);
  EXPECT_THROW(numerics_text(runs_with({0, 0, 0}), "csv"), base::Error);
}

class TrainedFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(bool interrupted) const {
    const auto evaluation = [](const char* split, double epoch, double accuracy, int samples) {
      return Ordered{{"split", split},       {"epoch", epoch},  {"loss", 0.3},
                     {"accuracy", accuracy}, {"f1_macro", 0.8}, {"samples", samples}};
    };
    const Ordered epochs{evaluation("eval", 2.0, 0.5, 1000), evaluation("eval", 3.0, 0.86, 1000),
                         evaluation("test", 3.0, 0.9, 3000)};
    analysis::write_result(folder_, {{"seed", 7},
                                     {"metrics",
                                      {{"model", "small"},
                                       {"numerics", "bf16"},
                                       {"dataset", "/data/of/emotion/train.txt"},
                                       {"synthetic", false},
                                       {"steps", 1500},
                                       {"interrupted", interrupted},
                                       {"train_loss", 0.5},
                                       {"eval_loss", 0.3},
                                       {"eval_accuracy", 0.9},
                                       {"eval_f1_macro", 0.85},
                                       {"epochs", epochs}}}});
  }
  const std::filesystem::path folder_ =
      std::filesystem::path{testing::TempDir()} / ("trained_run_" + std::to_string(getpid()));
};

TEST_F(TrainedFolder, IsReadFromItsResult) {
  write(false);
  const TrainedRun run = analysis::read_trained_run(folder_);
  EXPECT_EQ(run.seed, 7u);
  EXPECT_EQ(run.dataset, "emotion/train.txt");  // not its place on this host
  EXPECT_EQ(run.split, "eval + test");
  EXPECT_EQ(run.evaluated, 4000);
  EXPECT_NEAR(run.accuracy, 0.89, 1e-12);  // after the last step, by samples
}

TEST_F(TrainedFolder, AnUnfinishedOrUntrainedRunIsRefused) {
  write(true);
  EXPECT_THROW(analysis::read_trained_run(folder_), base::Error);
  analysis::write_result(folder_, {{"seed", 7}, {"metrics", nullptr}});
  EXPECT_THROW(analysis::read_trained_run(folder_), base::Error);
}

}  // namespace
