// `trnsim generate`: text from real weights, and the time of the programs that write it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

#include "tests/tale.h"
#include "tests/validation/converted.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

json generated(const std::string& arguments) {
  const Ran ran = run("generate " + arguments + " --format json");
  EXPECT_EQ(ran.code, 0) << arguments << ran.err;
  return ran.code == 0 ? json::parse(ran.out) : json{};
}

TEST(Generate, TheSameStoryOnOneTwoAndFourCores) {
  if (tests::stories().empty()) GTEST_SKIP() << tests::kNoStories;
  const std::string lily =
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.";
  for (const char* cores : {"1", "2", "4"}) {
    const json result = generated(tests::stories() + " --max_new_tokens 60 --tensor_parallel_size " + cores);
    EXPECT_THAT(result["texts"][0]["text"].get<std::string>(), StartsWith(lily)) << cores;
    EXPECT_EQ(result["texts"][0]["ids"].size(), 61u);
  }
  const Ran people = run("generate " + tests::stories() + " --max_new_tokens 60");
  EXPECT_EQ(people.code, 0) << people.err;
  EXPECT_THAT(people.out, StartsWith(lily));
  for (const char* figure : {"time_to_first_token", "time_per_output_token_p50", "tokens_per_second", "bound by"})
    EXPECT_THAT(people.out, HasSubstr(figure));
}

TEST(Generate, PromptsAreABatchAndDrawsFollowTheSeed) {
  const std::string two = tests::tale().string() + " --prompt \"One day\" --prompt \"Tom\" --max_new_tokens 12 ";
  const json greedy = generated(two);
  ASSERT_EQ(greedy["texts"].size(), 2u);
  EXPECT_THAT(greedy["texts"][0]["text"].get<std::string>(), StartsWith("One day"));
  EXPECT_THAT(greedy["texts"][1]["text"].get<std::string>(), StartsWith("Tom"));
  const std::string alone = tests::tale().string() + " --prompt Tom --max_new_tokens 12";
  EXPECT_EQ(generated(alone)["texts"][0], greedy["texts"][1]);
  const auto drawn = [&](const char* seed) {
    return generated(two + "--temperature 1.5 --top_k 50 --seed " + seed)["texts"];
  };
  EXPECT_EQ(drawn("1"), drawn("1"));
  EXPECT_NE(drawn("1"), drawn("2"));
}

/// A Llama of four layers without weights, wide enough that reading it takes a token's time.
class GenerateTime : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{testing::TempDir()} / ("generate_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream{folder_ / "config.json"} << R"({"model_type": "llama", "hidden_size": 2048,
      "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 5632,
      "vocab_size": 32000, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "hidden_act": "silu",
      "rope_theta": 10000.0, "tie_word_embeddings": false})";
  }
  void TearDown() override { fs::remove_all(folder_); }
  json timed(const std::string& flags) const { return generated(folder_.string() + " --numerics off " + flags); }
  static double token(const json& result) { return result["buckets"].back()["parts"]["device"]; }

  fs::path folder_;
};

// Weights are (2 x 2048 x 2048 + 2 x 2048 x 512 + 3 x 2048 x 5632) x 4 + 2048 x 32000 numbers of 2 bytes.
TEST_F(GenerateTime, ATokenReadsWeightsAndCachesOnce) {
  const json one = timed("--max_new_tokens 8");
  const double weights = 2.0 * (4 * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 5632.0) + 2048 * 32000.0);
  const double cache = 2.0 * 2 * 4 * 256 * 4 * 128;
  const double read = one["buckets"].back()["read_bytes"];
  EXPECT_GE(read, weights + cache);
  EXPECT_LT(read, 1.02 * (weights + cache));
  // A core reaches 273 GB/s.
  EXPECT_GE(token(one), (weights + cache) / 410e9);
  EXPECT_LT(token(one), 1.3 * (weights + cache) / 273e9);
  EXPECT_LT(token(timed("--max_new_tokens 8 --batch_size 8")), 1.3 * token(one));
  EXPECT_GT(token(timed("--max_new_tokens 8 --set dma.rate=0.5x")), 1.7 * token(one));
  const json four = timed("--max_new_tokens 8 --tensor_parallel_size 4");
  const double collectives = four["buckets"].back()["collectives_seconds"];
  EXPECT_GT(collectives, 9 * 15e-6);  // two sums for each layer and one for the embeddings
  EXPECT_LT(token(four) - collectives, 0.5 * token(one));
}

TEST_F(GenerateTime, LongerContextsAreReadInBuckets) {
  const json result = timed("--max_new_tokens 1000 --batch_size 4");
  ASSERT_EQ(result["buckets"].size(),
            4u);  // positions 128 to 1126, each with a row of its own: 256, 512, 1024 and 1152
  double tokens = 0, seconds = result["time_to_first_token_seconds"];
  for (std::size_t i = 0; i < result["buckets"].size(); ++i) {
    const json& bucket = result["buckets"][i];
    tokens += bucket["tokens"].get<double>();
    seconds += bucket["tokens"].get<double>() * bucket["seconds"].get<double>();
    if (i > 0) {
      EXPECT_GT(bucket["read_bytes"], result["buckets"][i - 1]["read_bytes"]);
    }
  }
  EXPECT_EQ(tokens, 999);
  EXPECT_NEAR(result["generate_runtime"], seconds, 1e-9);
  EXPECT_NEAR(result["tokens_per_second"], 4000 / seconds, 1e-6);
}

TEST_F(GenerateTime, APromptTakesTheTimeOfItsBucket) {
  const auto first = [&](const std::string& flags) {
    const json result = timed("--prompt_length 100 --max_new_tokens 40 " + flags);
    return std::pair{result["prompt_bucket"].get<int>(), result["time_to_first_token_seconds"].get<double>()};
  };
  EXPECT_EQ(first(""), first("--prompt_bucket 128"));
  EXPECT_EQ(first("--prompt_bucket 1024").first, 1024);
  EXPECT_GT(first("--prompt_bucket 1024").second, 2 * first("").second);
  EXPECT_EQ(first("--prompt_bucket 1024").second,
            timed("--prompt_length 1024 --max_new_tokens 4")["time_to_first_token_seconds"].get<double>());
  const std::string tale = tests::tale().string() + " --prompt \"One day\" --max_new_tokens 8 ";
  EXPECT_EQ(generated(tale)["texts"], generated(tale + "--prompt_bucket 200")["texts"]);
}

TEST_F(GenerateTime, OneCoreSpeaksForAll) {
  const std::string flags = "--max_new_tokens 4 --tensor_parallel_size 8";
  EXPECT_NEAR(token(timed(flags)) / token(timed(flags + " --exact")), 1, 0.01);
}

TEST_F(GenerateTime, ImpossibleSettingsAreRefusedWithAFix) {
  const auto refused = [&](const std::string& arguments, const std::string& words, int code = 2) {
    const Ran ran = run("generate " + arguments);
    EXPECT_EQ(ran.code, code) << arguments << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(words)) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: "));
    EXPECT_EQ(ran.out, "");
  };
  const std::string model = folder_.string();
  refused(model + " --numerics off --max_new_tokens 4000", "the model has 4096 positions");
  refused(model + " --numerics off --prompt_length 4096", "4096 positions");
  refused(model + " --numerics off --prompt_bucket 100", "--prompt_bucket: a prompt of 128 tokens does not fit in 100");
  refused(model + " --numerics off --prompt_bucket 5000", "--prompt_bucket: the model has only 4096 positions");
  refused(model + " --numerics off --tensor_parallel_size 3", "--tensor_parallel_size");
  refused(model + " --numerics off --tensor_parallel_size 16 --instance_type trn1.2xlarge", "trn1.2xlarge has 2");
  refused(model + " --numerics off --set 'hbm.bytes=1500 MiB'", "use --tensor_parallel_size 8", 3);
  refused(model + " --numerics off --top_k 5", "has no effect");
  refused(model + " --numerics off --top_p 0", "--top_p");
  refused(model + " --numerics off --batch_size 200", "--batch_size");
  refused(model, "model.safetensors");
  refused(model, "add --numerics off for the time alone");
  refused(model + "/nothing", "does not exist");
  refused("llama2-8b", "llama2-7b");
  refused("bert-large", "encoder");
  refused("llama2-7b --prompt hello", "without weights and tokenizer");
  refused(tests::tale().string() + " --max_new_tokens 600", "the model has 512 positions");
  refused(tests::tale().string() + " --prompt a --prompt b --batch_size 3", "2 prompts");
  refused(
      tests::tale().string() + " --vocab " + std::string{TRNSIM_TEST_DIR} + "/workloads/data/tokenizers/llama2.json",
      "the model 512");
}

/// The rows of kind "generate" of the published table, and other rows that people publish: unknown cells, other
/// families, heads that the cores do not divide, weights that are not modelled.
TEST_F(GenerateTime, RowsOfPublishedTablesArePredicted) {
  const std::string tables = std::string{TRNSIM_SOURCE_DIR} + "/validation/tables/training.csv";
  const auto predicted = [](const std::string& file, const std::string& only) {
    const Ran ran = run("validate " + file + " --format json" + only);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out);
  };
  for (const json& row : predicted(tables, " --only gen_llama2_7b,gen_llama2_70b_512"))
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), 25) << row;
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const fs::path file = folder_ / "rows.csv";
  const auto line = [](const std::string& model, const std::string& plan, const std::string& weights,
                       const std::string& notes) {
    return model.substr(0, model.find('-')) + weights + ",generate," + model + ",trn1.32xlarge,1," + plan + "," +
           weights + ",,,transformers-neuronx,output tokens/s,100,100,100,1,here," + notes + "\n";
  };
  std::ofstream{file} << tests::converted(
      tests::kTrainingHeader +
      line("opt-6.7b,32,4096,32,32,16384,50272,2048", "8,1,unknown,1,,no,,16,", "fp16", "\"input 128, output 1920\"") +
      line("llama2-13b,40,5120,40,40,13824,32000,1024", "32,1,32,1,,no,,1,", "bf16", "") +
      line("llama2-7b,32,4096,32,32,11008,32000,1024", "32,1,32,1,,no,,1,", "int8", "") +
      line("llama3-70b,80,8192,64,8,28672,128256,512", "2,1,2,1,,no,,1,", "bf16", ""));
  const json rows = predicted(file.string(), "");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_THAT(rows[0]["assumptions"].dump(), HasSubstr("tensor parallel over 8 cores"));
  EXPECT_GT(rows[0]["predicted"], 0);
  EXPECT_THAT(rows[1]["assumptions"].dump(), HasSubstr("40 heads padded to 64"));
  EXPECT_THAT(rows[1]["assumptions"].dump(), HasSubstr("prompts of 512 tokens"));
  EXPECT_GT(rows[1]["predicted"], 0);
  EXPECT_THAT(rows[2]["skip_reason"].get<std::string>(), HasSubstr("int8"));
  EXPECT_THAT(rows[3]["skip_reason"].get<std::string>(), HasSubstr("of HBM but has 16 GiB"));
}

}  // namespace
