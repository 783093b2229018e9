// The frame of the binary: help, errors, exit codes, streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
using testing::Not;

/// A user's mistake: exit 2, one error with a fix on stderr, nothing on stdout.
void expect_usage_error(const std::string& arguments, const std::string& message, const std::string& before = "") {
  const Ran ran = run(arguments, before);
  EXPECT_EQ(ran.code, 2) << arguments;
  EXPECT_EQ(ran.out, "") << arguments;
  EXPECT_THAT(ran.err, HasSubstr(message)) << arguments;
  EXPECT_THAT(ran.err, HasSubstr("\n  fix: ")) << arguments;
}

TEST(Frame, HelpGoesToStdoutWithThreeExamplesFirst) {
  const Ran ran = run("run --help");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  const std::size_t examples = ran.out.find("Examples:"), usage = ran.out.find("Usage:");
  ASSERT_NE(examples, std::string::npos);
  EXPECT_LT(examples, usage);
  int lines = 0;
  for (std::size_t at = ran.out.find("\n  trnsim "); at < usage; at = ran.out.find("\n  trnsim ", at + 1)) ++lines;
  EXPECT_EQ(lines, 3);
}

TEST(Frame, TheListOfVerbsHasOneLineEach) {
  const Ran ran = run("--help");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("  validate     predict published measurements and print the error of each\n"));
}

TEST(Frame, HelpShowsDefaultsChoicesAndEnvironment) {
  const Ran ran = run("run --help");
  EXPECT_THAT(ran.out, HasSubstr("--learning_rate VALUE=5e-05"));
  EXPECT_THAT(ran.out, HasSubstr("--lr_scheduler_type linear|constant|cosine=linear"));
  EXPECT_THAT(ran.out, HasSubstr("(Env:SM_CHANNEL_TRAIN)"));
}

TEST(Frame, NothingToDoIsAUsageError) { expect_usage_error("", "what should be done?"); }
TEST(Frame, AnUnknownVerbGetsASuggestion) { expect_usage_error("lst", "unknown verb 'lst'\n  fix: write \"list\""); }
TEST(Frame, AnUnknownFlagGetsASuggestion) {
  expect_usage_error("run x --lerning_rate 3", "unknown flag '--lerning_rate'\n  fix: did you mean --learning_rate?");
  expect_usage_error("run x --lerning_rate=3", "did you mean --learning_rate?");
}
TEST(Frame, AnUnknownFlagBeforeTheVerbIsNamed) { expect_usage_error("--foo run x", "unknown flag '--foo'"); }
TEST(Frame, AWordTooManyIsNamed) { expect_usage_error("run x y", "unexpected argument 'y'"); }
TEST(Frame, AMissingArgumentIsNamed) { expect_usage_error("run", "WORKLOAD is required"); }
TEST(Frame, AFlagGivenTwiceIsRefused) { expect_usage_error("run x --seed 1 --seed 2", "--seed"); }

TEST(Frame, ABatchOfNothingIsRefused) {
  expect_usage_error("run x --per_device_train_batch_size 0", "--per_device_train_batch_size: 0 is out of range");
}
TEST(Frame, NumbersAreChecked) {
  expect_usage_error("run x --seed many", "'many' is no whole number");
  expect_usage_error("run x --seed 1.5", "'1.5' is no whole number");
  expect_usage_error("run x --seed 1Q", "'1Q' is no whole number");
  expect_usage_error("run x --learning_rate nan", "'nan' is no number");
}
TEST(Frame, ChoicesAreChecked) {
  expect_usage_error("run x --lr_scheduler_type liner", "is not one of linear|constant|cosine\n  fix: write \"linear\"");
  expect_usage_error("run x --numerics bf15", "\n  fix: write \"bf16\"");
  expect_usage_error("run x --mode fast", "timed|numeric|full");
  expect_usage_error("params --format yaml", "format");
}
TEST(Frame, FlagsTakeTrueOrFalse) { expect_usage_error("run x --bf16=maybe", "'maybe' is neither true nor false"); }
TEST(Frame, ContradictionsAreRefused) {
  expect_usage_error("run x --bf16 --numerics fp32", "contradicts --numerics fp32");
  expect_usage_error("run x --warmup_ratio 0.1 --warmup_steps 3", "together with --warmup_steps");
  expect_usage_error("run x --mode numeric --numerics off", "nothing to compute");
}
TEST(Frame, AMisspeltParameterGetsASuggestion) {
  expect_usage_error("run x --set hbm.bandwith=2x", "\n  fix: write \"hbm.bandwidth\"");
}
TEST(Frame, TheEnvironmentIsReadAndChecked) {
  expect_usage_error("run x", "--nproc_per_node: 'two' is no whole number", "NEURON_RT_NUM_CORES=two");
}
TEST(Frame, AFlagBeatsTheEnvironment) {
  const Ran ran = run("run x --nproc_per_node 1", "NEURON_RT_NUM_CORES=two");
  EXPECT_THAT(ran.err, Not(HasSubstr("'two'")));
}

TEST(Frame, AClosedPipeEndsSilently) {
  const Ran ran = run("params | head -1 && exit ${PIPESTATUS[0]}");
  EXPECT_EQ(ran.err, "");
}

TEST(Frame, AFullDiskIsAnError) {
  const int status = std::system(TRNSIM_BINARY " params >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Version, JsonHasVersionAndSchema) {
  const auto json = nlohmann::json::parse(run("version --json").out);
  EXPECT_EQ(json["name"], "trnsim");
  EXPECT_EQ(json["result_schema"], 1);
  EXPECT_EQ(run("--version").out, "trnsim " + json["version"].get<std::string>() + "\n");
}

}  // namespace
