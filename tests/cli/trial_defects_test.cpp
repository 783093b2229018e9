// Defects that a buyer met when trnsim was tried as a new user would: a wrong answer, a misleading one, or none. One
// test each, which the binary of that trial fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/profile/memory_use.h"
#include "analysis/record/record.h"
#include "tests/cli/trial_defects.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::TrialDefects;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTraining = TRNSIM_SOURCE_DIR "/validation/tables/training.csv";

std::string percent_of(double share) { return fmt::format("{:.1f}%", 100 * share); }

// ---- wrong answers

TEST_F(TrialDefects, D1PackedDataHaveAFixedNumberOfTokens) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const char* workload : {"llama2_7b_dolly", "llama3_8b_lora"}) {
    double tokens = 0;
    for (const int length : {1024, 2048, 4096}) {
      const Json job = ran(std::string{workload} + std::to_string(length),
                           std::string{workload} + " --max_length " + std::to_string(length));
      // A last step that is not full counts whole: as many tokens but for that.
      const double now = job["job"]["tokens"];
      EXPECT_NEAR(now, tokens > 0 ? tokens : now, 0.05 * now) << workload << length;
      tokens = now;
    }
  }
}

TEST_F(TrialDefects, D2CheckpointsTakeTheTimeOfTheirBytes) {
  const Json without = ran("without", "bert_emotion"), with = ran("with", "bert_emotion --save_steps 10");
  const double seconds = with["job"]["checkpoints_seconds"],
               count = std::floor(with["job"]["steps"].get<double>() / 10);
  // bf16 weights and two moments, at the rate of the disk that `--save_bandwidth` has by default.
  const double bytes = with["workload"]["model"]["parameters"].get<double>() * 6;
  EXPECT_GE(seconds, count * bytes / (125 * 1024.0 * 1024));
  EXPECT_NEAR(with["job"]["train_runtime"].get<double>() - without["job"]["train_runtime"].get<double>(), seconds,
              0.01 * seconds);
}

TEST_F(TrialDefects, D3LongSequencesHaveAPlan) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Json told = json_of(
      "estimate llama3.1-8b --max_length 32768 --tensor_parallel_size 32 --zero_1 --recompute full --suggestions 0");
  EXPECT_LT(told["memory"]["hbm_bytes"].get<double>(), told["memory"]["hbm_capacity_bytes"].get<double>());
  // Attention's part grows with the square of the length.
  const Json half = json_of(
      "estimate llama3.1-8b --max_length 16384 --tensor_parallel_size 32 --zero_1 --recompute full --suggestions 0");
  EXPECT_GT(told["device_step_seconds"].get<double>(), 2 * half["device_step_seconds"].get<double>());
}

TEST_F(TrialDefects, D4CostIsWhatARunThereSays) {
  int compared = 0;
  for (const Json& row : json_of("cost bert_emotion")) {
    if (row["basis"] != "simulated there" || row["instance_type"] != "trn1.32xlarge") continue;
    const Json there = ran("there", "bert_emotion --overwrite_output_dir " + row["settings"].get<std::string>());
    EXPECT_EQ(row["seconds"], there["job"]["train_runtime"]);
    EXPECT_EQ(row["on_demand"], there["cost"]["dollars"]);
    ++compared;
  }
  EXPECT_EQ(compared, 2);  // with its batch of each core, and with its optimizer's
}

/// The report drew two cores of a trn1.32xlarge, whose price is that of 32: `cost` has all of them at work.
TEST_F(TrialDefects, D4AReportDrawsNoInstanceWhoseCoresAreIdle) {
  ran("two", "bert_emotion");
  const std::string two = cli_test::slurp(folder_ / "two/report.html");
  EXPECT_THAT(two, HasSubstr("1 x trn1.2xlarge"));
  EXPECT_THAT(two, Not(HasSubstr("1 x trn1.32xlarge")));
  EXPECT_THAT(two, HasSubstr("trnsim cost"));
  ran("all", "bert_emotion --instance_type trn1.32xlarge --nproc_per_node 32");
  const std::string all = cli_test::slurp(folder_ / "all/report.html");
  EXPECT_THAT(all, HasSubstr("1 x trn1n.32xlarge")) << "whose cores are the same, and as many";
}

TEST_F(TrialDefects, D5APublishedRowHasTheSettingsOfItsWorkload) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Json row = json_of(std::string{"validate "} + kTraining + " --only lora_llama3.1_8b_2k").at(0);
  const Json job = ran("a", "llama3_8b_lora");
  const double rate = job["job"]["tokens"].get<double>() / job["job"]["train_runtime"].get<double>();
  EXPECT_NEAR(row["predicted"].get<double>(), rate, 5e-3 * rate);
}

TEST_F(TrialDefects, D6AClusterThatCannotBeJoinedHasNoPrice) {
  for (const Json& row : json_of("cost bert_tweets --instances 1,4"))
    EXPECT_FALSE(row["instance_type"] == "trn1.2xlarge" && row["instances"] == 4) << row;
}

TEST_F(TrialDefects, D7WhatBindsIsOneAnswer) {
  const Json slow = ran("slow", "bert_emotion --set hbm.bandwidth=0.5x");
  EXPECT_EQ(slow["answer"]["binds"], "host");
  ASSERT_EQ(run("sweep --workload bert_emotion --set hbm.bandwidth=0.5x --output_dir " + at("points")).code, 0);
  const std::string points = cli_test::slurp(folder_ / "points/results.csv");
  EXPECT_THAT(points, HasSubstr("host"));
  EXPECT_THAT(cli_test::slurp(folder_ / "slow/report.html"), HasSubstr("host, "));
}

TEST_F(TrialDefects, D8WeightsOfFewerBitsAreRefused) {
  std::filesystem::create_directories(folder_ / "gptq");
  std::ofstream{folder_ / "gptq/config.json"} << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 2, "num_attention_heads": 8,
    "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": false,
    "quantization_config": {"bits": 4, "quant_method": "gptq"}})";
  const Ran told = run("estimate " + at("gptq"));
  EXPECT_EQ(told.code, 2);
  EXPECT_THAT(told.err, HasSubstr("for its time alone, a config.json without \"quantization_config\" is enough"));
}

// ---- misleading answers

TEST_F(TrialDefects, D9ARangeSaysHowManyJobsLayInIt) {
  const Json job = ran("a", "llama2_7b_dolly");
  const std::string range = job["answer"]["sure"];
  EXPECT_THAT(range, Not(HasSubstr("sure")));
  EXPECT_TRUE(std::regex_search(range, std::regex{"^likely .* to .*: \\d+ of \\d+ published jobs"})) << range;
}

TEST_F(TrialDefects, D10AGpuHasAHostOfItsOwn) {
  double gpu = 0, own = 0;
  for (const Json& row : json_of("cost bert_emotion")) {
    if (row["instance_type"] == "p5.48xlarge") gpu = row["seconds"];
    if (row["basis"] == "the job's own time") own = row["seconds"];
  }
  ASSERT_GT(gpu, 0);
  ASSERT_GT(own, 0);
  EXPECT_LT(gpu, own / 5) << "eight H100 do not trace as a Trn1's host does";
}

TEST_F(TrialDefects, D11ASuggestionIsInTheUnitsOfItsHeadline) {
  const Ran told = run("estimate bert-base-uncased --max_length 128 --suggestions 1");
  const std::regex priced{"\\$[0-9.]+ for a thousand samples"};
  EXPECT_EQ(std::distance(std::sregex_iterator{told.out.begin(), told.out.end(), priced}, std::sregex_iterator{}), 2)
      << told.out;
}

TEST_F(TrialDefects, D12TheHeadlinesPartsAreTheWhole) {
  const Json told = json_of(
      "estimate llama-small --lora_r 4 --sequences 5000 --max_length 128 --instance_type trn1.2xlarge --suggestions 0");
  double parts = told["steps"].get<double>() * told["step_seconds"].get<double>() +
                 told["start_seconds"].get<double>() + told["evaluations_seconds"].get<double>() +
                 told["read_backs_seconds"].get<double>() + told["checkpoints_seconds"].get<double>();
  EXPECT_NEAR(parts, told["train_runtime"].get<double>(), 1e-3 * parts);
}

TEST_F(TrialDefects, D13TheFixOfARunInFp32Works) {
  ASSERT_EQ(run(small("bf16")).code, 0);
  ASSERT_EQ(run(small("cast", "--numerics fp32")).code, 0);
  const Ran told = run("numerics " + at("bf16") + " " + at("cast"));
  EXPECT_EQ(told.code, 2);
  EXPECT_THAT(told.err, HasSubstr("--auto_cast none"));
  ASSERT_EQ(run(small("fp32", "--numerics fp32 --auto_cast none")).code, 0);
  EXPECT_EQ(run("numerics " + at("bf16") + " " + at("fp32")).code, 0);
}

TEST_F(TrialDefects, D14TheLaunchOfAKernelHasALineOfItsOwn) {
  const std::string script = doubled("doubled(np.ones((128, 64), dtype=np.float32))\n");
  if (!std::filesystem::exists(std::filesystem::path{TRNSIM_BINARY}.parent_path() / "python/trnsim/nki/__main__.py"))
    GTEST_SKIP() << "built without the Python module";
  const Ran told = run("nki --time " + script);
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("launch"));
}

TEST_F(TrialDefects, D15MemoryOfACoreIsOneNumber) {
  for (const std::string job : {"bert_tweets", "vit_mnist"}) {
    const double told = ran(job, job)["memory"]["hbm_bytes"];
    const analysis::Record record = analysis::read_record(folder_ / job);
    double regions = 0;
    for (const analysis::RegionUse& use : record.regions) regions += static_cast<double>(use.region.bytes);
    EXPECT_EQ(regions, told) << job;
    EXPECT_EQ(analysis::memory_use(record).peak, told) << job;
    const Json monitor = Json::parse(run("monitor " + at(job)).out);
    double used = 0;
    const Json core = monitor["neuron_runtime_data"][0]["report"]["memory_used"]["neuron_runtime_used_bytes"]
                             ["usage_breakdown"]["neuroncore_memory_usage"]["0"];
    for (const auto& [name, bytes] : core.items()) used += bytes.get<double>();
    EXPECT_EQ(used, told) << job;
    const std::string share = percent_of(told / static_cast<double>(record.info.hbm_bytes_per_core));
    EXPECT_THAT(run("top --once " + at(job)).out, HasSubstr(share)) << job;
    EXPECT_THAT(cli_test::slurp(folder_ / job / "report.html"), Not(HasSubstr("without the software's share")));
  }
}

TEST_F(TrialDefects, D16ASuggestionSaysWhatItAsksOfTheUser) {
  const Ran told = run("run bert_emotion --mode timed --suggestions 1 --output_dir " + at("a"));
  EXPECT_THAT(told.out, HasSubstr("needs SDK 2.26"));
  EXPECT_THAT(run("list stacks").out, HasSubstr("Hugging Face's Trainer"));
}

TEST_F(TrialDefects, D17TheTitleIsThatOfTheJobAskedFor) {
  const Ran told = run("run bert_emotion --mode timed --max_length 128 --num_train_epochs 1 --output_dir " + at("a"));
  const std::string title = told.out.substr(0, told.out.find("\n\n"));
  EXPECT_THAT(title, HasSubstr("--max_length 128"));
  EXPECT_THAT(title, HasSubstr("--num_train_epochs 1"));
}

TEST_F(TrialDefects, D18OneStepHasOneTime) {
  const Json row = json_of(std::string{"validate "} + kTraining + " --only vit_mnist").at(0);
  std::smatch step;
  const std::string text = row.dump();
  ASSERT_TRUE(std::regex_search(text, step, std::regex{"of a step of ([0-9.]+) ms"})) << text;
  EXPECT_NEAR(std::stod(step.str(1)), row["predicted"].get<double>(), 0.06) << text;
}

TEST_F(TrialDefects, D19AnEstimateHasTheBatchThatItsHelpNames) {
  EXPECT_EQ(run("estimate gpt2 --suggestions 0").code, 0) << "its own default is legal";
  const std::string help = run("estimate --help").out;
  std::smatch batch;
  ASSERT_TRUE(std::regex_search(help, batch, std::regex{"--per_device_train_batch_size VALUE=([0-9]+)"})) << help;
  EXPECT_THAT(run("estimate bert-large-uncased --suggestions 0").out,
              HasSubstr("1 micro-batch of " + batch.str(1) + " x 128"));
}

TEST_F(TrialDefects, D20AJobOfTheHostIsNotCalledBoundByAnEngine) {
  ran("a", "llama2_7b_dolly");
  const std::string page = cli_test::slurp(folder_ / "a/report.html");
  EXPECT_THAT(page, Not(HasSubstr("binds: tensor")));
  EXPECT_THAT(result("a")["answer"]["bound_by"].get<std::string>(), testing::StartsWith("the host"));
}

// ---- missing answers

TEST_F(TrialDefects, D21UsualFamiliesAreAccepted) {
  const std::string encoder = R"("hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 1000, "max_position_embeddings": 514, "type_vocab_size": 1,
    "layer_norm_eps": 1e-5, "hidden_act": "gelu", "pad_token_id": 1)";
  const std::filesystem::path folder = folder_ / "xlm-roberta";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "config.json"}
      << R"({"architectures": ["XLMRobertaForMaskedLM"], "model_type": "xlm-roberta", )" << encoder << "}";
  const Ran told = run("estimate " + at("xlm-roberta") + " --max_length 128 --suggestions 0");
  EXPECT_EQ(told.code, 0) << told.err;
  const Ran families = run("list models");
  for (const char* family : {"XLM-RoBERTa", "Gemma 2", "Gemma 3"}) EXPECT_THAT(families.out, HasSubstr(family));
}

TEST_F(TrialDefects, D22RequestsHaveLatencyRateAndPrice) {
  for (const std::string model : {"bert-base-uncased", "vit-base-patch16-224", "llama-small"}) {
    const Json told = json_of("estimate " + model + " --task inference --batch_size 1..4 --instance_type trn1.2xlarge");
    ASSERT_EQ(told["batches"].size(), 3u) << model;
    double before = 0;
    for (const Json& row : told["batches"]) {
      // Copies on both cores, one batch after the other.
      const double price = 1.34375 / 3600;
      EXPECT_GT(row["requests_per_second"].get<double>(), 0) << row;
      EXPECT_NEAR(row["dollars_per_million_requests"].get<double>() * row["requests_per_second"].get<double>() / 1e6,
                  price, 0.01 * price)
          << row;
      EXPECT_GE(row["latency_seconds"].get<double>(), before) << "more at once are not answered sooner";
      before = row["latency_seconds"];
    }
  }
  const Json soon = json_of("estimate bert-base-uncased --task inference --batch_size 1..8 --within \"1 us\"");
  EXPECT_TRUE(soon["best_batch_size"].is_null());
  const Json some = json_of("estimate bert-base-uncased --task inference --batch_size 1..8 --within \"1 h\"");
  EXPECT_TRUE(some["best_batch_size"].is_number());
  EXPECT_EQ(run("estimate bert-base-uncased --within \"1 h\"").code, 2) << "a training has no latency";
}

TEST_F(TrialDefects, D22CostPricesRequestsOnInf2) {
  const std::string question = "bert-base-uncased --task inference --instance_type trn1.2xlarge --batch_size ";
  const Json one = json_of("estimate " + question + "8")["batches"][0];
  bool inf2 = false;
  for (const Json& row : json_of("cost " + question + "8 --samples 1000000")) {
    inf2 |= row["instance_type"].get<std::string>().starts_with("inf2");
    const double dollars = one["dollars_per_million_requests"];
    if (row["basis"] == "the job's own time") {
      EXPECT_NEAR(row["on_demand"].get<double>(), dollars, 1e-4 * dollars);
    }
  }
  EXPECT_TRUE(inf2);
}

TEST_F(TrialDefects, D23TrainingsAreReportedAndCompared) {
  ASSERT_EQ(run(small("a")).code, 0);
  ASSERT_EQ(run(small("b", "--learning_rate 1e-3")).code, 0);
  EXPECT_THAT(cli_test::slurp(folder_ / "a/report.html"), HasSubstr("loss by step"));
  const Ran page = run("report " + at("a") + " " + at("b") + " --output " + at("both.html"));
  EXPECT_EQ(page.code, 0) << page.err;
  const Ran told = run("compare " + at("a") + " " + at("b"));
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("loss of step 4"));
  EXPECT_THAT(told.out, HasSubstr("eval_accuracy"));
  EXPECT_EQ(run("compare " + at("a") + " " + at("b") + " --fail_above 5%").code, 2);
}

TEST_F(TrialDefects, D23OneCommandTrainsSeveralSeeds) {
  const std::string question =
      "numerics bert_emotion --max_steps 2 --max_train_samples 64 --max_eval_samples 32 --formats fp32,bf16 --seeds 2 "
      "--output_dir " +
      at("study");
  const Ran told = run(question + " --format json");
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(Json::parse(told.out)["runs"].size(), 4u);
  EXPECT_EQ(run(question).code, 2) << "the folder is in use";
  EXPECT_EQ(run("numerics bert_emotion").code, 2);
  EXPECT_EQ(run("numerics " + at("study/bf16-42") + " --max_steps 3").code, 2) << "it was trained already";
}

TEST_F(TrialDefects, D23ARunGoesOnForMoreSteps) {
  ASSERT_EQ(run(small("a")).code, 0);
  const Ran more = run(small("b", "--max_steps 6 --resume_from_checkpoint " + at("a/checkpoint")));
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(result("b")["metrics"]["steps"], 6);
  const Ran fewer = run(small("c", "--max_steps 3 --resume_from_checkpoint " + at("a/checkpoint")));
  EXPECT_EQ(fewer.code, 2);
  EXPECT_THAT(fewer.err, HasSubstr("--max_steps 5 or more"));
  EXPECT_EQ(run(small("d", "--max_steps 6 --seed 1 --resume_from_checkpoint " + at("a/checkpoint"))).code, 2);
}

}  // namespace
