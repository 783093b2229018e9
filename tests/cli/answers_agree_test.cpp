// One question, one answer, from every verb; and the pitfalls of newcomers about money, memory
// and pictures (tests/cli/first_sight_test.cpp has the rest).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/error.h"
#include "cli/add_option.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace {

namespace fs = std::filesystem;
using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class AnswersAgree : public cli_test::Runs {
 protected:
  /// result.json of `trnsim run ARGUMENTS`.
  Json ran(const std::string& name, const std::string& arguments) const {
    const Ran ran = run("run " + arguments + " --mode timed --output_dir " + at(name));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return result(name);
  }
  Json json_of(const std::string& arguments) const {
    const Ran ran = run(arguments + " --format json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  }
};

TEST_F(AnswersAgree, RunAndEstimateOfOnePlan) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Json job = ran("a", "llama2_7b_dolly");
  const std::string plan =
      "estimate llama2-7b --tensor_parallel_size 8 --zero_1 --gradient_accumulation_steps 16 --recompute full ";
  const Json same = json_of(plan + "--stack hf-trainer");
  EXPECT_EQ(job["job"]["step_seconds"], same["step_seconds"]);
  EXPECT_EQ(job["job"]["device_step_seconds"], same["device_step_seconds"]);
  EXPECT_EQ(job["memory"]["hbm_bytes"], same["memory"]["hbm_bytes"]);
  EXPECT_EQ(job["memory"]["compiler"], same["memory"]["compiler"]);
  EXPECT_EQ(job["job"]["job_mfu_percent"], same["job_mfu_percent"]);
  // Without a word the stack is another one: both say which.
  EXPECT_THAT(run(plan).out, HasSubstr("stack torch-xla"));
  EXPECT_THAT(run("run llama2_7b_dolly --mode timed --output_dir " + at("b")).out, HasSubstr("stack hf-trainer"));
}

// The job's FLOPs are a formula's, a program's are counted from its graph; neither counts what only adds.
TEST_F(AnswersAgree, AJobsDeviceMfuIsThatOfItsProgram) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const std::string name : {"bert_emotion", "llama2_7b_dolly", "t5_small_summarize", "llama3_8b_lora"}) {
    const Ran ran = run("run " + name + " --mode timed --suggestions 0 --output_dir " + at(name));
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::smatch job, program;
    ASSERT_TRUE(std::regex_search(ran.out, job, std::regex{"device_mfu_percent +([0-9.]+)"})) << ran.out;
    ASSERT_TRUE(std::regex_search(ran.out, program, std::regex{"core's program: MFU ([0-9.]+) %"})) << ran.out;
    // The program's time begins some 17 us earlier, with the device's lead-in.
    EXPECT_NEAR(std::stod(job.str(1)), std::stod(program.str(1)), 0.1 + 1e-9) << name;
  }
}

// Texts of some 20 tokens, padded to 512: lengths near their own gain, and as much as was promised.
TEST_F(AnswersAgree, LengthsAreNamedForTextsThatAreMostlyPadding) {
  std::ofstream{at("vocab.txt")} << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ni\nfeel\nfine\n";
  std::ofstream rows{at("data.csv")};
  rows << "text,label\n";
  for (int i = 0; i < 3000; ++i) {
    for (int words = 0; words <= i % 30; ++words) rows << "i feel ";
    rows << "fine," << i % 2 << "\n";
  }
  rows.close();
  const std::string job = "bert_emotion --dataset_path " + at("data.csv") + " --vocab " + at("vocab.txt");
  const Json plain = ran("plain", job + " --suggestions 9");
  const Json changes = plain["answer"]["changes"];
  const auto lengths =
      std::ranges::find_if(changes, [](const Json& change) { return change["settings"].contains("buckets"); });
  ASSERT_NE(lengths, changes.end()) << changes;
  const double gain = 100 * (ran("own", job + " --buckets auto")["job"]["train_samples_per_second"].get<double>() /
                                 plain["job"]["train_samples_per_second"].get<double>() -
                             1);
  EXPECT_GT(gain, 10);
  EXPECT_NEAR((*lengths)["speed_up_percent"].get<double>(), gain, 3);
}

// The published rate is that of the whole job, with its evaluations: so is ours, from every verb.
TEST_F(AnswersAgree, RunAndValidateOfThePublishedJob) {
  const Json row = json_of("validate " TRNSIM_SOURCE_DIR "/validation/tables/training.csv --only emotion_512").at(0);
  const double rate = ran("a", "bert_emotion")["job"]["train_samples_per_second"];
  EXPECT_NEAR(row["predicted"].get<double>(), rate, 1e-3 * rate);
  EXPECT_THAT(row.dump(), HasSubstr("counts an evaluation of 2000 samples after each epoch, in batches of 8"));
}

TEST_F(AnswersAgree, ABatchOfNoRequestsIsRefusedByEveryVerb) {
  for (const char* verb : {"estimate", "choose", "cost"}) {
    const Ran ran = run(std::string{verb} + " llama-small --task inference --batch_size 0");
    EXPECT_EQ(ran.code, 2) << verb;
    EXPECT_THAT(ran.err, HasSubstr("--batch_size")) << verb;
  }
}

TEST_F(AnswersAgree, ADecoderThatIsAskedForIsNotToldOfAnotherVerb) {
  const Ran ran = run("cost llama2-70b --task inference --instance_type inf2.xlarge");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("generation: does not fit"));
  EXPECT_THAT(ran.err, Not(HasSubstr("trnsim generate")));
}

TEST_F(AnswersAgree, CostOfAWorkloadIsThatOfItsRun) {
  ran("a", "bert_emotion");
  EXPECT_EQ(json_of("cost bert_emotion --instances 1,2"), json_of("cost " + at("a") + " --instances 1,2"));
  const Ran wrong = run("cost bert_emotoin");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("neither the folder of a run nor a workload nor a model"));
  EXPECT_THAT(wrong.err, HasSubstr("write \"bert_emotion\""));
}

/// The flags of a row of cost.
std::string settings_of(const Json& row) { return row["settings"].is_null() ? "" : row["settings"].get<std::string>(); }

// Where a job is simulated elsewhere, cost says what a run with the row's settings says, to the last digit.
TEST_F(AnswersAgree, CostOnAnotherInstanceEqualsARunThere) {
  int compared = 0;
  for (const Json& row : json_of("cost bert_tweets --instances 1,2")) {
    const std::string basis = row["basis"];
    EXPECT_THAT(basis, Not(HasSubstr("scaled")));
    if (basis != "simulated there") continue;
    const Json there = ran("there", "bert_tweets --overwrite_output_dir " + settings_of(row));
    EXPECT_EQ(row["seconds"], there["job"]["train_runtime"]) << row;
    EXPECT_EQ(row["on_demand"], there["cost"]["dollars"]) << row;
    EXPECT_EQ(row["sequences_per_step"], there["job"]["sequences_per_step"]) << row;
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

// More cores take fewer steps for the same samples, or share the optimizer's batch: cost knows both.
TEST_F(AnswersAgree, CostHasTheSameBatchAndTheLargerOne) {
  std::set<std::int64_t> batches;
  for (const Json& row : json_of("cost llama3_8b_lora"))
    if (row["instance_type"] == "trn1.32xlarge") batches.insert(row["sequences_per_step"].get<std::int64_t>());
  EXPECT_TRUE(batches.contains(8));    // 16 cores, one micro-batch
  EXPECT_TRUE(batches.contains(128));  // 32 cores, eight each
}

// Instances without EFA cannot be joined; a plan says so, and cost leaves them out.
TEST_F(AnswersAgree, CostHoldsJobsThatFitAgainstEachOther) {
  for (const Json& row : json_of("cost llama2_7b_dolly --instances 1,2,4"))
    EXPECT_FALSE(row["instance_type"] == "trn1.2xlarge" && row["instances"] != 1) << row;
  EXPECT_THAT(run("cost llama2_7b_dolly --instances 2").err, HasSubstr("left out: 2 x trn1.2xlarge"));
}

// The flags of a choice, given to estimate, are the choice.
TEST_F(AnswersAgree, AChoiceIsWhatEstimateSaysOfIt) {
  const std::string job = " --max_length 128 --lora_r 4";
  const std::string question =
      "choose llama-small --samples 3000 --instance_types trn1.2xlarge --global_batch_size 8" + job;
  const Json front = json_of(question);
  ASSERT_GE(front.size(), 1u);
  for (const Json& choice : front) {
    const Json told = json_of("estimate llama-small --sequences 3000" + job + " " + choice["flags"].get<std::string>());
    EXPECT_EQ(choice["seconds"], told["train_runtime"]) << choice;
    EXPECT_EQ(choice["dollars"], told["dollars"]) << choice;
  }
  const Ran people = run(question);
  for (const char* line :
       {"cheapest: ", "fastest: ", "why the cheapest: ", "see: ", "torchrun --nproc_per_node 2", "--lora_alpha 32"})
    EXPECT_THAT(people.out, HasSubstr(line));
  EXPECT_EQ(run(question + " --within \"1 ms\"").code, 3);
  EXPECT_EQ(run("choose llama-small").code, 2);
}

/// `run` answers for the largest batch with all passes, which a point of a sweep does not have.
TEST_F(AnswersAgree, AWorkloadOfTwoBatchesIsNotSwept) {
  const Ran ran = run("sweep --workload bert_training_compiler --set hbm.bandwidth=1x --output_dir " + at("points"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("compares two batches"));
}

TEST_F(AnswersAgree, ALaunchNamesTheModelOfAWorkload) {
  const Ran ran = run("choose bert_tweets --instance_types trn1.2xlarge --micro_batch_sizes 8");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("--model_name_or_path bert-base-cased"));
  EXPECT_THAT(ran.out, HasSubstr("--max_length 512"));
  const Ran pictures = run("choose vit_mnist --instance_types trn1.2xlarge --micro_batch_sizes 8");
  ASSERT_EQ(pictures.code, 0) << pictures.err;
  EXPECT_THAT(pictures.out, testing::Not(HasSubstr("--max_length")));  // pictures have none
  const Json cost = json_of("cost bert_tweets");
  EXPECT_THAT(ran.out, HasSubstr(cost[0]["sequences_per_step"].dump() + " sequences a step"));
}

TEST_F(AnswersAgree, CostOfAModelNeedsAnAmountOfData) {
  const Json rows = json_of("cost llama-small --samples 1000 --max_length 128 --nproc_per_node 8");
  const Json estimated = json_of("estimate llama-small --sequences 1000 --max_length 128 --nproc_per_node 8");
  EXPECT_EQ(rows[0]["seconds"], estimated["train_runtime"]);
  const Ran none = run("cost llama-small");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--samples"));
}

// The line that the terminal calls "cut off".
TEST_F(AnswersAgree, TheExpectedTimeOnSpotIsInTheReportAndTheJson) {
  const Json job = ran("a", "bert_tweets --interrupted_every 6h --suggestions 0");
  EXPECT_THAT(job["answer"]["interrupted"].get<std::string>(), HasSubstr("every 6:00:00 on average"));
  EXPECT_THAT(cli_test::slurp(folder_ / "a/report.html"), HasSubstr("every 6:00:00 on average"));
}

TEST_F(AnswersAgree, TheReportShowsPublishedFiguresAndAdvice) {
  ran("a", "bert_emotion --suggestions 1");
  const std::string page = cli_test::slurp(folder_ / "a/report.html");
  EXPECT_THAT(page, HasSubstr("HF optimum-neuron tutorial fine_tune_bert"));
  EXPECT_THAT(page, Not(HasSubstr("darker: busier")));  // in dark mode it was the other way round
  const std::size_t change = page.find("% samples/s");  // the most helpful
  EXPECT_LT(change, page.find("<table")) << "the answer is above the tables";
}

// ---- what does not fit

/// The flags of the fix "this fits: FLAGS: its needs".
std::string fix_in(const std::string& error) {
  const std::string mark = "fix: this fits: ";
  const std::size_t at = error.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + mark.size();
  return error.substr(begin, error.find(": ", begin) - begin);
}

TEST_F(AnswersAgree, AJobThatDoesNotFitIsOfferedOneThatDoesWithItsCost) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const std::string job = "run bert_emotion --mode timed --per_device_train_batch_size 128 ";
  const Ran large = run(job + "--output_dir " + at("a"));
  EXPECT_EQ(large.code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  const std::string flags = fix_in(large.err);
  ASSERT_THAT(flags, HasSubstr("--gradient_accumulation_steps 4 --per_device_train_batch_size 32")) << large.err;
  // Its batch is given already: the whole command is pasted.
  const std::string mark = "in full: " TRNSIM_BINARY " ";
  const std::size_t begin = large.err.find(mark);
  ASSERT_NE(begin, std::string::npos) << large.err;
  const std::string command = large.err.substr(begin + mark.size());
  ASSERT_EQ(run(command.substr(0, command.find('\n'))).code, 0) << command;
  const Json fits = result("a");
  std::smatch promised;
  ASSERT_TRUE(std::regex_search(large.err, promised, std::regex{"([0-9.]+) (m?)s a step"})) << large.err;
  const double step = fits["job"]["step_seconds"].get<double>();
  EXPECT_NEAR(std::stod(promised[1]) * (promised[2] == "m" ? 1e-3 : 1), step, 1e-3 * step);
}

TEST_F(AnswersAgree, AModelTooLargeForAnInstanceNamesTheNumberOfInstances) {
  const Ran large = run("estimate llama2-13b --instance_type trn1.2xlarge");
  EXPECT_EQ(large.code, 3);
  const std::string flags = fix_in(large.err);
  EXPECT_THAT(flags, HasSubstr("--instance_type trn1.32xlarge")) << large.err;
  EXPECT_EQ(run("estimate llama2-13b " + flags).code, 0);
}

// ---- flags

TEST_F(AnswersAgree, PlacesToReportToAreKnownOrRefused) {
  const Ran wrong = run("run bert_tweets --mode timed --report_to wandbx --output_dir " + at("a"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--report_to: 'wandbx' is not a place to report to\n  fix: write \"wandb\""));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  const Ran second_run = run("run bert_tweets --mode timed --report_to wandb,jsonl --output_dir " + at("b"));
  EXPECT_EQ(second_run.code, 0);
  EXPECT_THAT(second_run.err, HasSubstr("--report_to wandb: nothing is sent there"));
  EXPECT_TRUE(fs::exists(folder_ / "b/mlperf.jsonl"));
}

// Other tools' words, a flag before an argument that is missing, and numbers without a bound.
TEST_F(AnswersAgree, MistypedFlagsGetASuggestion) {
  const auto told = [](const std::string& arguments) { return run(arguments).err; };
  EXPECT_THAT(told("run --hlep"), HasSubstr("unknown flag '--hlep'"));
  EXPECT_THAT(told("run bert_tweets --per_device_batch_size 8"),
              HasSubstr("did you mean --per_device_train_batch_size?"));
  EXPECT_THAT(told("run bert_tweets --fp16"), HasSubstr("did you mean --numerics fp16?"));
  EXPECT_THAT(told("run bert_tweets --lr=1"), HasSubstr("did you mean --learning_rate?"));
  EXPECT_THAT(told("estimate llama2-7b --tensor_parallel 2"), HasSubstr("did you mean --tensor_parallel_size?"));
  EXPECT_EQ(told("estimate llama2-7b --tp-degree 2"), told("estimate llama2-7b --tensor_parallel_size 2"));
  EXPECT_THAT(told("estimate llama2-7b --sequences 0"), HasSubstr("--sequences: 0 is out of range\n"));
  EXPECT_THAT(told("estimate bert_tweets"), HasSubstr("trnsim run bert_tweets with --mode timed"));
  EXPECT_THAT(told("run bert_tweets --optim adafactor"), HasSubstr("only AdamW is available"));
  EXPECT_EQ(run("run bert_tweets --mode timed --optim adamw_torch --output_dir " + at("a")).code, 0);
  EXPECT_EQ(run("help ls").out, run("ls --help").out);
  EXPECT_EQ(run("help").out, run("--help").out);
}

struct Choice {
  std::string kind;
};

// A binary that was copied alone has no stacks, and help all the same.
TEST(Help, DoesNotWantTheFolderOfData) {
  trnsim::OptionRow<Choice> row{"kind", trnsim::at<&Choice::kind>, {}, "group", "verb", "help"};
  row.registry = []() -> std::string {
    throw base::Error{base::Fault::kEnvironment, "stacks", "is in no folder", "set TRNSIM_HOME"};
  };
  EXPECT_EQ(cli::shown_choices(row), "");
  Choice choice;
  EXPECT_THROW(trnsim::set_option(choice, row, "x"), base::Error);
}

TEST_F(AnswersAgree, NeuronLsShowsRunningProcesses) {
  ran("a", "bert_tweets --nproc_per_node 4");
  for (const char* flags : {" -a", " -w", " --show-all-procs --wide"}) {
    const Ran ls = run("ls " + at("a") + flags);
    EXPECT_EQ(ls.code, 0) << ls.err;
    EXPECT_THAT(ls.out, testing::ContainsRegex("\\| 3   \\| trnsim run bert_tweets --nproc_per_no[^|]*\\| trnsim "));
  }
  const Json chips = Json::parse(run("ls " + at("a") + " -j").out);
  EXPECT_EQ(chips[0]["neuron_processes"].size(), 2u);
  EXPECT_EQ(chips[1]["neuron_processes"][0]["pid"], 2);
  EXPECT_TRUE(chips[2]["neuron_processes"].empty());
}

// Physical cores where the run had such, the runtime's logical ones of two where nothing is said.
TEST_F(AnswersAgree, NeuronLsShowsTheCoresThatTheRunHad) {
  ran("a", "bert_tweets --instance_type trn2.3xlarge --set chip.logical=1 --nproc_per_node 8");
  const Json chip = Json::parse(run("ls " + at("a") + " -j").out)[0];
  EXPECT_EQ(chip["nc_count"], 8);
  EXPECT_EQ(chip["neuron_processes"].size(), 8u);
  EXPECT_EQ(Json::parse(run("ls trn2.3xlarge -j").out)[0]["nc_count"], 4);
}

// The fields that its exporters index, by name.
TEST_F(AnswersAgree, NeuronMonitorSaysWhichInstanceItIs) {
  ran("a", "bert_tweets");
  const Json report = Json::parse(run("monitor " + at("a")).out);
  const Json& instance = report["instance_info"];
  EXPECT_EQ(instance["instance_type"], "trn1.32xlarge");
  for (const char* key : {"instance_name", "instance_id", "instance_availability_zone", "instance_availability_zone_id",
                          "instance_region", "ami_id", "subnet_id", "error"})
    EXPECT_TRUE(instance.at(key).is_string()) << key;
}

}  // namespace
