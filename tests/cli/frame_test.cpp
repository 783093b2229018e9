// The frame of the binary: help, errors, exit codes, streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

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

/// The examples of a verb's help, without the program's name and without redirections.
std::vector<std::string> examples_of(const std::string& verb) {
  const std::string help = run(verb + " --help").out;
  std::vector<std::string> lines;
  const std::size_t usage = help.find("Usage:");
  for (std::size_t at = help.find("\n  trnsim "); at < usage; at = help.find("\n  trnsim ", at + 1)) {
    const std::size_t begin = at + std::string{"\n  trnsim "}.size();
    const std::string line = help.substr(begin, help.find('\n', begin) - begin);
    lines.push_back(line.substr(0, line.find_first_of("<>")));
  }
  return lines;
}

// Flags are read before anything runs, so an example that goes on to work may be stopped.
TEST(Frame, TheExamplesOfEveryHelpUseFlagsThatExist) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const std::string folder = testing::TempDir() + "/examples_of_help_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  for (const std::string verb : {"run", "compile", "ablate", "estimate", "plan", "verify", "validate", "numerics",
                                 "list", "params", "tokenize", "consolidate", "completion", "version"}) {
    const auto examples = examples_of(verb);
    EXPECT_EQ(examples.size(), 3u) << verb;
    for (const std::string& example : examples) {
      const Ran ran = run(example, "cd '" + folder + "'; timeout 0.4");
      EXPECT_THAT(ran.err, Not(HasSubstr("unknown flag"))) << example;
      EXPECT_THAT(ran.err, Not(HasSubstr("--set"))) << example;
      EXPECT_THAT(ran.err, Not(HasSubstr("unexpected argument"))) << example;
    }
  }
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
  EXPECT_THAT(ran.out, HasSubstr("[env SM_CHANNEL_TRAIN]"));
}

TEST(Frame, NothingToDoIsAUsageError) { expect_usage_error("", "no command given"); }
TEST(Frame, AnUnknownVerbGetsASuggestion) {
  expect_usage_error("valdate", "unknown verb 'valdate'\n  fix: write \"validate\"");
}
TEST(Frame, AnUnknownFlagGetsASuggestion) {
  expect_usage_error("run x --lerning_rate 3", "unknown flag '--lerning_rate'\n  fix: did you mean --learning_rate?");
  expect_usage_error("run x --lerning_rate=3", "did you mean --learning_rate?");
}
TEST(Frame, AnUnknownFlagBeforeTheVerbIsNamed) { expect_usage_error("--foo run x", "unknown flag '--foo'"); }
TEST(Frame, AWordTooManyIsNamed) { expect_usage_error("run x y", "unexpected argument 'y'"); }
TEST(Frame, AMissingArgumentIsNamed) { expect_usage_error("run", "WORKLOAD is required"); }
TEST(Frame, AFlagGivenTwiceIsRefused) { expect_usage_error("run x --seed 1 --seed 2", "--seed"); }

// The library writes `passes` and 'trnsim run' alike in backquotes; only names of settings become flags.
TEST(Frame, ErrorsOfTheLibraryNameFlags) {
  expect_usage_error("run bert_emotion --passes fusoin --mode timed", "--passes: 'fusoin' is not the name of a pass");
  expect_usage_error("params --set hbm.bandwith=2x", "--set hbm.bandwith: ");
  expect_usage_error("params --set hbm", "fix: write it as in --set hbm.bandwidth=1.6TB/s");
  expect_usage_error("params --format yaml", "--format: \"yaml\" is not a format");
  expect_usage_error("sweep --workload bert_emotion --design random --set hbm.bandwidth=1x,2x", "give --samples 100");
  expect_usage_error("sweep --workload bert_emotion --shard 3 --set hbm.bandwidth=1x,2x", "--shard: '3' is not I/N");
}
TEST(Frame, FlagsMayHaveDashes) {
  expect_usage_error("run bert_emotion --trace-until \"2 ms\"", "has no effect without --trace_steps");
}

TEST(Frame, ABatchOfNothingIsRefused) {
  expect_usage_error("run x --per_device_train_batch_size 0", "--per_device_train_batch_size: 0 is out of range");
}
TEST(Frame, NumbersAreChecked) {
  expect_usage_error("run x --seed many", "'many' is not an integer");
  expect_usage_error("run x --seed 1.5", "'1.5' is not an integer");
  expect_usage_error("run x --seed 1Q", "'1Q' is not an integer");
  expect_usage_error("run x --learning_rate nan", "'nan' is not a number");
}
TEST(Frame, ChoicesAreChecked) {
  expect_usage_error("run x --lr_scheduler_type liner",
                     "is not one of linear|constant|cosine\n  fix: write \"linear\"");
  expect_usage_error("run x --numerics bf15", "\n  fix: write \"bf16\"");
  expect_usage_error("run x --mode fast", "timed|numeric|full");
  expect_usage_error("params --format yaml", "format");
}
TEST(Frame, FlagsTakeTrueOrFalse) { expect_usage_error("run x --bf16=maybe", "'maybe' is not true or false"); }
TEST(Frame, ContradictionsAreRefused) {
  expect_usage_error("run x --bf16 --numerics fp32", "contradicts --numerics fp32");
  expect_usage_error("run x --warmup_ratio 0.1 --warmup_steps 3", "together with --warmup_steps");
  expect_usage_error("run x --mode numeric --numerics off", "nothing to compute");
}
TEST(Frame, AMisspeltParameterGetsASuggestion) {
  expect_usage_error("run bert_emotion --set hbm.bandwith=2x", "\n  fix: write \"hbm.bandwidth\"");
}
TEST(Frame, TheEnvironmentIsReadAndChecked) {
  expect_usage_error("run x", "NEURON_RT_NUM_CORES (for --nproc_per_node): 'two' is not an integer",
                     "NEURON_RT_NUM_CORES=two");
}
TEST(Frame, AFlagBeatsTheEnvironment) {
  const Ran ran = run("run x --nproc_per_node 1", "NEURON_RT_NUM_CORES=two");
  EXPECT_THAT(ran.err, Not(HasSubstr("'two'")));
}

TEST(Frame, TheEnvironmentOfOtherVerbsIsNotLookedAt) {
  EXPECT_EQ(run("list machines", "NEURON_RT_NUM_CORES=two").code, 0);
}

TEST(Frame, AClosedPipeEndsSilently) {
  int out[2], err[2];
  ASSERT_EQ(pipe(out), 0);
  ASSERT_EQ(pipe(err), 0);
  close(out[0]);  // no reader is left
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(err[0]);
    execl(TRNSIM_BINARY, TRNSIM_BINARY, "list", "isa", nullptr);
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  char text[200];
  EXPECT_EQ(read(err[0], text, sizeof text), 0);  // the end of stderr, and not a word before it
  close(err[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Frame, AFullDiskIsAnError) {
  const int status = std::system(TRNSIM_BINARY " params >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Frame, SourcesBesideABinaryAreNoPythonModule) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("no_module_" + std::to_string(getpid()));
  fs::create_directories(folder / "build"), fs::create_directories(folder / "python/trnsim/nki");
  fs::copy_file(TRNSIM_BINARY, folder / "build/trnsim");
  std::ofstream{folder / "python/trnsim/nki/__main__.py"} << "\n";
  const std::string command = (folder / "build/trnsim").string() + " nki kernel.py 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out(4096, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 2);
  fs::remove_all(folder);
  EXPECT_THAT(out, testing::HasSubstr("this trnsim was built without its Python module"));
}

TEST(Frame, AFullDiskIsNoMistakeOfAScript) {
  const auto script = std::filesystem::temp_directory_path() / ("full_" + std::to_string(getpid()) + ".py");
  std::ofstream{script} << "import sys\nsys.stdout = open('/dev/full', 'w', buffering=1)\nprint('words')\n";
  const Ran ran = run("nki " + script.string());
  std::filesystem::remove(script);
  EXPECT_EQ(ran.code, 2);
  if (ran.err.find("python3-dev") != std::string::npos) GTEST_SKIP() << ran.err;  // built without its module
  EXPECT_THAT(ran.err, testing::HasSubstr(".py:3: its output cannot be written: No space left"));
  EXPECT_THAT(ran.err, testing::HasSubstr("fix: free space"));
}

TEST(Version, JsonHasVersionAndSchema) {
  const auto json = nlohmann::json::parse(run("version --json").out);
  EXPECT_EQ(json["name"], "trnsim");
  EXPECT_EQ(json["result_schema"], 2);
  EXPECT_EQ(run("--version").out, "trnsim " + json["version"].get<std::string>() + "\n");
}

}  // namespace
