// `trnsim validate` on unpublished rows of whole jobs: other models, sizes, plans, stacks and metrics of the
// published kinds are predicted, and an unsupported feature costs its own row alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"
#include "tests/validation/converted.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Rows = std::map<std::string, nlohmann::json>;

/// Predictions of rows in words, as people publish them.
Rows predictions(const std::string& rows) {
  const auto path = std::filesystem::path{testing::TempDir()} / ("training_" + std::to_string(::getpid()) + ".csv");
  std::ofstream{path} << tests::converted(tests::kTrainingHeader + rows);
  const Ran ran = run("validate " + path.string() + " --format json");
  std::filesystem::remove(path);
  EXPECT_EQ(ran.code, 0) << ran.err;
  Rows out;
  for (const auto& row : nlohmann::json::parse(ran.out)) out[row["id"].get<std::string>()] = row;
  return out;
}

const std::string kSmall = ",2,128,2,2,512,1000,64,";  // layers to sequence length
const std::string kChip = "trn1.2xlarge,1,2,2,1,1,no,no,none,4,1,";

TEST(PredictTraining, OtherEncodersAndMetrics) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string hf = "bf16,bf16,adamw,HF Trainer on torch-xla,";
  const Rows rows =
      predictions("roberta,train,roberta-base" + kSmall + kChip + hf + "samples/s,100,100,100,1,-,\n" +  //
                  "tokens,train,bert-base" + kSmall + kChip + hf + "tokens/s,100,100,100,1,-,\n" +       //
                  "steps,train,bert-base" + kSmall + kChip + hf + "ms per step,100,100,100,1,-,\n" +     //
                  "job,train,bert-base" + kSmall + kChip + hf +
                  "minutes for 2 epochs,1,1,1,1,-,\"25,000 reviews\"\n"  //
                  "infer,infer,electra-base" +
                  kSmall + kChip + "bf16,,,torch-xla,ms p50,1,1,1,1,-,\n" +  //
                  "untold,train,bert-base" + kSmall + kChip + hf + "minutes for 2 epochs,1,1,1,1,-,\n");
  for (const char* id : {"roberta", "tokens", "steps", "job", "infer"})
    EXPECT_TRUE(rows.at(id)["predicted"].is_number()) << rows.at(id);
  const double step = rows.at("steps")["predicted"].get<double>() / 1e3;
  EXPECT_NEAR(rows.at("roberta")["predicted"].get<double>() * step, 8, 0.01);
  EXPECT_NEAR(rows.at("tokens")["predicted"].get<double>() * step, 8 * 64, 0.1);
  EXPECT_NE(rows.at("roberta")["assumptions"].dump().find("without the start of the job"), std::string::npos);
  const double job = rows.at("job")["predicted"].get<double>() * 60, steps = 2 * 25000 / 8.0 * step;
  EXPECT_GT(job, steps + 1);  // a job whose size is told has a start
  EXPECT_LT(job, steps + 10);
  EXPECT_TRUE(rows.at("untold")["predicted"].is_null());  // the job's number of samples is not stated
}

TEST(PredictTraining, DecodersByTheirSizes) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string plan = "trn1.32xlarge,1,32,4,8,1,yes,yes,selective,1,4,";
  const std::string sizes = ",2,256,8,8,1024,1024,128,";
  const std::string run = "bf16,fp32 master+moments,adamw,neuronx-distributed,";
  const Rows rows =
      predictions("gptj,train,gpt-j-tiny" + sizes + plan + run + "sequences/s,1,1,1,1,-,\n" +    //
                  "mistral,train,Mistral-tiny" + sizes + plan + run + "tokens/s,1,1,1,1,-,\n" +  //
                  "nemo,train,llama-tiny" + sizes + plan + "bf16+SR,bf16,adamw,NeMo Megatron,steps/s,1,1,1,1,-,\n" +
                  "fp32,train,llama-tiny" + sizes + plan + "fp32,fp32,adamw,torch-xla,s/step,1,1,1,1,-,\n");
  for (const auto& [id, row] : rows) EXPECT_TRUE(row["predicted"].is_number()) << row;
  EXPECT_NE(rows.at("gptj")["assumptions"].dump().find("as a GPT"), std::string::npos);
}

TEST(PredictTraining, ModelsOfImages) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string sizes = ",2,64,4,4,128,10,";
  const std::string fp32 = "fp32,fp32,adamw,torch-xla,";
  const Rows rows = predictions("digits,train,\"vit, image 28 patch 7\"" + sizes +
                                "17,trn1.2xlarge,1,1,1,1,1,no,no,none,8,1," + fp32 + "ms/step,1,1,1,1,-,\n" +  //
                                "summed,train,\"vit, image 28 patch 7\"" + sizes +
                                ",trn1.32xlarge,1,32,32,1,1,no,no,none,8,4,bf16,bf16,lamb,"
                                "torch-xla,images/s,1,1,1,1,-,pre-trained\n"  //
                                "nodes,train,\"ViT, 32x32 pixels, patch 8\"" +
                                sizes + "17,trn1.32xlarge,2,64,64,1,1,no,no,none,8,1," + fp32 +
                                "samples/s,1,1,1,1,-,\n"  //
                                "infer,infer,\"vit, image 28 patch 7\"" +
                                sizes +
                                "17,trn1.2xlarge,1,2,2,1,1,no,no,none,8,,bf16,,,torch-xla,"
                                "inferences/s,1,1,1,1,-,\n"  //
                                "length,train,\"vit, image 28 patch 7\"" +
                                sizes + "128,trn1.2xlarge,1,1,1,1,1,no,no,none,8,1," + fp32 + "ms/step,1,1,1,1,-,\n");
  for (const char* id : {"digits", "summed", "nodes", "infer"})
    EXPECT_TRUE(rows.at(id)["predicted"].is_number()) << rows.at(id);
  EXPECT_NE(rows.at("length")["skip_reason"].dump().find("sequences of 17, not of 128"), std::string::npos);
}

TEST(PredictTraining, AnUnsupportedFeatureSkipsItsRowOnly) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const std::string hf = "bf16,bf16,adamw,HF Trainer on torch-xla,samples/s,100,100,100,1,-,\n";
  const Rows rows = predictions(
      "t5,train,t5-large" + kSmall + kChip + hf + "longformer,train,longformer-base" + kSmall + kChip + hf +
      "heads,train,bert-base,2,130,4,4,512,1000,64," + kChip + hf +  // 130 / 4
      "cores,train,llama-tiny,2,128,2,2,512,1000,64,trn1.2xlarge,1,64,64,1,1,no,no,none,1,1," + hf +
      "gated,train,\"4 decoder blocks h128, SwiGLU\",4,128,2,2,512,0,128,trn1.2xlarge,1,1,1,1,1,no,no,none,1,1,bf16,"
      "none,sgd,torch-xla,steps/s,1,1,1,1,-,\n"
      "good,train,bert-base" +
      kSmall + kChip + hf);
  for (const auto& [id, row] : rows) {
    EXPECT_EQ(row["predicted"].is_number(), id == "good") << row;
    EXPECT_EQ(row["skip_reason"].is_null(), id == "good") << row;
  }
}

}  // namespace
