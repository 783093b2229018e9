#include "workloads/tasks/metrics.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/sanitized.h"
#include "tests/workloads/support.h"
#include "workloads/training/batches.h"
#include "workloads/training/trainer_state.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;

// Wanted values by hand: label 0: 2 of 3 right, label 1: 1 of 2, label 2 never occurs but is predicted once.
TEST(Metrics, ScoresByHand) {
  Confusion c{4};
  for (const auto& [label, predicted] : {std::pair{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 2}}) c.add(label, predicted);
  EXPECT_DOUBLE_EQ(c.accuracy(), 3.0 / 5);
  EXPECT_DOUBLE_EQ(c.precision(0), 1);
  EXPECT_DOUBLE_EQ(c.recall(0), 2.0 / 3);
  EXPECT_DOUBLE_EQ(c.f1(0), 0.8);
  EXPECT_DOUBLE_EQ(c.f1(1), 0.5);
  EXPECT_DOUBLE_EQ(c.f1(2), 0);
  EXPECT_DOUBLE_EQ(c.macro_f1(), (0.8 + 0.5 + 0) / 3);  // label 3 plays no part
  EXPECT_DOUBLE_EQ(c.weighted_f1(), (3 * 0.8 + 2 * 0.5) / 5);
  EXPECT_EQ(Confusion{2}.accuracy(), 0);
  EXPECT_EQ(Confusion{2}.macro_f1(), 0);
}

TEST(Metrics, LogitsArePredictionsAndFillerIsIgnored) {
  Confusion c{3};
  c.add(std::vector<float>{0, 2, 1, 5, 5, 1, 0, 0, 9}, std::vector<std::int32_t>{1, 0, Batch::kIgnoredLabel});
  EXPECT_EQ(c.samples(), 2u);
  EXPECT_EQ(c.accuracy(), 1);
  EXPECT_TRUE(fails(Fault::kNumerics,
                    [&] {
                      c.add(std::vector<float>{0, NAN, 1}, std::vector<std::int32_t>{0});
                    },
                    {"NaN"}));
}

// The blocks that transformers 4.x prints for these values.
TEST(Metrics, ClosingBlockIsTrainers) {
  EXPECT_EQ(metrics_block("train", {{"train_loss", 0.28694999999},
                                    {"epoch", 3.0},
                                    {"total_flos", 1.2629784231936e16},
                                    {"train_runtime", 510.2376},
                                    {"train_samples_per_second", 94.075},
                                    {"train_steps_per_second", 2.94}}),
            "***** train metrics *****\n"
            "  epoch                    =        3.0\n"
            "  total_flos               = 11762403GF\n"
            "  train_loss               =     0.2869\n"
            "  train_runtime            = 0:08:30.23\n"
            "  train_samples_per_second =     94.075\n"
            "  train_steps_per_second   =       2.94\n");
  EXPECT_EQ(metrics_block("eval", {{"eval_samples", std::int64_t{2000}},
                                   {"eval_runtime", 90061.5},
                                   {"eval_accuracy", 1.0},
                                   {"eval_tiny", 0.00001}}),
            "***** eval metrics *****\n"
            "  eval_accuracy =               1.0\n"
            "  eval_runtime  = 1 day, 1:01:01.50\n"
            "  eval_samples  =              2000\n"
            "  eval_tiny     =               0.0\n");
}

TEST(Metrics, NumbersLookLikePythons) {
  EXPECT_EQ(python_repr(3), "3.0");
  EXPECT_EQ(python_repr(1e-05), "1e-05");
  EXPECT_EQ(python_repr(0.1), "0.1");
  EXPECT_EQ(python_repr(1e16), "1e+16");
  EXPECT_EQ(python_repr(123456789012.0), "123456789012.0");
  EXPECT_EQ(python_repr(NAN), "nan");
  EXPECT_EQ(python_repr(-INFINITY), "-inf");
}

TEST(Metrics, SpeedIsRoundedAsThere) {
  const Metrics m = speed_metrics("train", 498.24999, 48000, 1500);
  EXPECT_EQ(m[0], (std::pair<std::string, MetricValue>{"train_runtime", 498.25}));
  EXPECT_EQ(m[1], (std::pair<std::string, MetricValue>{"train_samples_per_second", 96.337}));
  EXPECT_EQ(m[2], (std::pair<std::string, MetricValue>{"train_steps_per_second", 3.011}));
}

TEST(TrainerState, IsReadAgainAndHasTheKeysThatScriptsRead) {
  TrainerState state{.epoch = 1.5, .global_step = 750, .max_steps = 1500, .num_train_epochs = 3, .total_flos = 1e12};
  state.log_history = {{0.5, 250, {{"learning_rate", 1e-3}, {"loss", 1.25}}},
                       {1.0, 500, {{"eval_samples", std::int64_t{7}}}}};
  const std::string text = trainer_state_json(state);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("log_history").at(0).at("loss"), 1.25);
  EXPECT_EQ(json.at("log_history").at(0).at("step"), 250);
  EXPECT_TRUE(json.at("best_metric").is_null());
  EXPECT_EQ(trainer_state_json(trainer_state_of(text, "t.json")), text);
  EXPECT_TRUE(fails(Fault::kData, [&] { trainer_state_of("{\"epoch\": 1}", "t.json"); }, {"t.json", "global_step"}));
}

std::uint64_t most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(TrainerState, ALongLogTakesTheMemoryOfItsText) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory is not ours";
  TrainerState state;
  for (int i = 0; i < 100'000; ++i)
    state.log_history.push_back({i * 0.125, i, {{"loss", 1.0 / (i + 3)}, {"learning_rate", 1e-3 / (i + 7)}}});
  const std::uint64_t before = most_memory();
  const std::string text = trainer_state_json(state);
  EXPECT_LT(most_memory() - before, 4 * text.size());
  EXPECT_EQ(nlohmann::json::parse(text).dump(2) + "\n", text);
  const std::string dense = trainer_state_json(state, TrainerStateForm::kDense);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(dense));
}

}  // namespace
}  // namespace workloads
