// `cost` and the job on another instance have the same time and dollars, to the last digit: `run` for workloads,
// `estimate` for models.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;

struct Question {
  const char *name, *flags;
  int sequences = 0;  // of a model's job; 0: a workload
  const char* price = "on_demand";
  friend void PrintTo(const Question& q, std::ostream* out) { *out << q.name << " " << q.flags; }
};

/// Flags with those of `more` instead of the same ones; each has a value.
std::string with(const std::string& flags, const std::string& more) {
  std::string out = more;
  const std::vector<std::string> words = base::split(flags, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if ((more + " ").find(words[i] + " ") == std::string::npos) out += " " + words[i] + " " + words[i + 1];
  return out;
}

class CostIsRun : public cli_test::Runs, public testing::WithParamInterface<Question> {
 protected:
  /// Its figures with more flags.
  Json there(const std::string& flags) const {
    const Question& q = GetParam();
    const std::string job = std::string{q.name} + " --suggestions 0 --format json " + with(q.flags, flags);
    const Ran ran =
        run(q.sequences > 0 ? "estimate " + job + " --sequences " + std::to_string(q.sequences)
                            : "run " + job + " --mode timed --overwrite_output_dir --output_dir " + at("there"));
    EXPECT_EQ(ran.code, 0) << flags << ": " << ran.err;
    if (ran.code != 0) return {};
    const Json told = Json::parse(ran.out);
    if (q.sequences > 0) return told;
    Json out = told["job"];
    out.update(told["cost"]);
    return out;
  }
};

TEST_P(CostIsRun, OnEveryInstance) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Question& q = GetParam();
  const Ran priced = run("cost " + std::string{q.name} + " " + q.flags + " --format json" +
                         (q.sequences > 0 ? " --samples " + std::to_string(q.sequences) : ""));
  ASSERT_EQ(priced.code, 0) << priced.err;
  int compared = 0;
  for (const Json& row : Json::parse(priced.out)) {
    const bool own = row["basis"] == "the job's own time";
    if (!own && row["basis"] != "simulated there") continue;
    const std::string flags = own ? "" : row["settings"].get<std::string>();
    const Json told = there(flags);
    EXPECT_EQ(row["seconds"], told["train_runtime"]) << row;
    EXPECT_EQ(row[q.price], told.value("dollars", Json{})) << row;
    if (row.contains("interrupted_seconds")) {
      EXPECT_EQ(row["interrupted_seconds"], told["interrupted_runtime"]) << row;
      EXPECT_EQ(row["interrupted_dollars"], told.value("interrupted_dollars", Json{})) << row;
      EXPECT_EQ(row["interrupted_save_steps"], told["interrupted_save_steps"]) << row;
    }
    ++compared;
  }
  EXPECT_GE(compared, q.price == std::string{"sagemaker"} ? 2 : 3) << priced.out;  // SageMaker has fewer
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, CostIsRun,
    testing::Values(Question{"bert_emotion", ""}, Question{"bert_emotion", "--instance_type trn2.3xlarge"},
                    Question{"bert_tweets", ""}, Question{"vit_mnist", ""}, Question{"t5_small_summarize", ""},
                    Question{"bert_tweets", "--set price.on_demand=2x"},
                    Question{"bert_tweets", "--per_device_train_batch_size 4"},
                    Question{"bert_imdb", "", 0, "sagemaker"},
                    Question{"bert_tweets", "--instance_type trn1.2xlarge --interrupted_every 3h"},
                    Question{"llama-small", "--max_length 64 --interrupted_every 2h --save_steps 20", 9000},
                    Question{"llama-small", "--max_length 128 --instance_type trn1.2xlarge", 4000},
                    Question{"gpt-small", "--max_length 128 --gradient_accumulation_steps 4", 20000},
                    Question{"bert-small", "--max_length 64 --instance_type trn1.2xlarge --save_steps 10", 5000},
                    Question{"mixtral-small", "--max_length 64 --lora_r 4 --instance_type trn2.3xlarge", 3000}));

class CostOfOwnFiles : public cli_test::Runs {};

// A run is of its file, whatever name the file gives its job.
TEST_F(CostOfOwnFiles, ARunIsPricedAsTheFileThatItWasOf) {
  std::string text = cli_test::slurp(TRNSIM_SOURCE_DIR "/workloads/jobs/bert_tweets.toml");
  const std::string model = "model = \"bert-base-cased\"";
  ASSERT_NE(text.find(model), std::string::npos);
  text.replace(text.find(model), model.size(), "model = \"bert-small\"");
  std::ofstream{at("mine.toml")} << text;  // whose name is still bert_tweets
  const std::string job = "run " + at("mine.toml") + " --mode timed --format json --output_dir ";
  ASSERT_EQ(run(job + at("mine")).code, 0);
  const Ran priced = run("cost " + at("mine") + " --format json");
  ASSERT_EQ(priced.code, 0) << priced.err;
  const Json rows = Json::parse(priced.out);
  const auto there = std::ranges::find_if(rows, [](const Json& row) { return row["basis"] == "simulated there"; });
  ASSERT_NE(there, rows.end()) << priced.out;
  const Ran elsewhere = run(job + at("there") + " " + there->at("settings").get<std::string>());
  EXPECT_EQ((*there)["seconds"], Json::parse(elsewhere.out)["job"]["train_runtime"]) << elsewhere.err;
  std::ofstream{at("mine.toml"), std::ios::app} << "# changed\n";
  const Ran changed = run("cost " + at("mine") + " --format json");
  EXPECT_EQ(changed.code, 0);
  EXPECT_NE(changed.err.find("mine.toml, which has changed since"), std::string::npos) << changed.err;
}

// A name means the same in every verb, and files of that name are told.
TEST_F(CostOfOwnFiles, ABuiltInNameIsNoFolder) {
  std::filesystem::create_directories(folder_ / "bert_tweets");
  std::filesystem::create_directories(folder_ / "gpt-small");
  const std::string here = "cd " + folder_.string() + " && ";
  for (const char* command :
       {"cost bert_tweets", "check bert_tweets", "run bert_tweets --mode timed --output_dir out",
        "estimate gpt-small --max_length 64", "generate gpt-small --max_new_tokens 2", "cost gpt-small --samples 8"}) {
    const Ran ran = run(command, here);
    EXPECT_EQ(ran.code, 0) << command << ran.err;
    EXPECT_NE(ran.err.find("that is built in; write ./"), std::string::npos) << command << ran.err;
  }
}

}  // namespace
