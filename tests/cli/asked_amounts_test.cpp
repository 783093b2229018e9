// Amounts and prices that the user gives have their effect in every verb that takes them, however they are written.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class AskedAmounts : public cli_test::Runs {
 protected:
  Json told(const std::string& arguments) const {
    const Ran ran = run(arguments + " --format json");
    EXPECT_EQ(ran.code, 0) << arguments << ": " << ran.err;
    return ran.code == 0 ? Json::parse(ran.out) : Json{};
  }
};

TEST_F(AskedAmounts, CountsOfAVerbMayHaveSuffixes) {
  for (const char* verb : {"estimate bert-small --sequences ", "cost bert-small --samples "})
    EXPECT_EQ(told(std::string{verb} + "2k"), told(std::string{verb} + "2000")) << verb;
  EXPECT_EQ(told("plan llama-small --instance_type trn1.2xlarge --max_length 64 --global_batch_size 1K"),
            told("plan llama-small --instance_type trn1.2xlarge --max_length 64 --global_batch_size 1024"));
  EXPECT_EQ(told("plan llama-small --instance_type trn1.2xlarge --max_length 64 --micro_batch_sizes 1 2"),
            told("plan llama-small --instance_type trn1.2xlarge --max_length 64 --micro_batch_sizes 1,2"));
}

/// An encoder's core takes several texts at once, also where a plan is looked for.
TEST_F(AskedAmounts, PlansOfAnEncoderTakeAsManyTextsAtOnceAsEstimate) {
  const std::string model = " bert-small --instance_type trn1.2xlarge";
  const Json plans = told("plan" + model + " --global_batch_size 16");
  const Json one = told("estimate --zero_1" + model);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans[0]["step_seconds"], one["step_seconds"]) << plans[0];
  for (const auto& [batch, sizes] : {std::pair{"4", "2,4,8"}, {"2", "1,2,4,8"}, {"32", "8"}}) {
    const std::string ask = std::string{"plan"} + model + " --global_batch_size " + batch;
    EXPECT_EQ(told(ask), told(ask + " --micro_batch_sizes " + sizes)) << batch;
  }
  EXPECT_EQ(told("plan" + model + " --global_batch_size 16 --per_device_train_batch_size 2"),
            told("plan" + model + " --global_batch_size 16 --micro_batch_sizes 2"));
}

TEST_F(AskedAmounts, TheSoonestBatchIsThatOfTheLeastLatencyInAnyOrder) {
  const std::string asked = "estimate bert-small --task inference --within 1s --batch_size ";
  const Ran rising = run(asked + "1,8"), falling = run(asked + "8,1,8");
  EXPECT_EQ(falling.out, rising.out);
  EXPECT_THAT(rising.out, HasSubstr("soonest    batch 1:")) << rising.out;
  EXPECT_THAT(rising.out, HasSubstr("in 1 s     batch 8:")) << rising.out;
}

TEST_F(AskedAmounts, AJobWithoutBf16KeepsFp32) {
  EXPECT_EQ(told("estimate bert-small --bf16 False"), told("estimate bert-small --numerics fp32"));
  EXPECT_EQ(told("estimate bert-small --bf16 True"), told("estimate bert-small --numerics bf16"));
  std::ofstream{at("settings.toml")} << "numerics = \"bf16\"\nbf16 = false\n";  // as --dump_config writes them
  EXPECT_EQ(told("estimate bert-small --config " + at("settings.toml")), told("estimate bert-small"));
}

TEST_F(AskedAmounts, CostHasThePriceOfTheUser) {
  const std::string job = "bert-small --samples 2000 --instance_type trn1.2xlarge";
  const Json listed = told("cost " + job), own = told("cost " + job + " --set price.on_demand=2x");
  ASSERT_EQ(own.size(), listed.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool simulated = !own[i]["pareto"].is_null();
    EXPECT_EQ(own[i]["on_demand"], listed[i]["on_demand"].get<double>() * (simulated ? 2 : 1)) << own[i];
    EXPECT_EQ(own[i]["spot"], listed[i]["spot"]);
  }
  const Json dollars = told("cost " + job + " --set price.on_demand='$9/h'");
  for (std::size_t i = 1; i < dollars.size(); ++i) {
    const bool own = dollars[i]["instance_type"] == "trn1.2xlarge";
    EXPECT_EQ(dollars[i]["on_demand"] == listed[i]["on_demand"], !own) << dollars[i];
  }
  const std::string priced = " --set price.on_demand='$3/h'";
  EXPECT_EQ(told("cost " + job + priced)[0]["on_demand"], told("estimate " + job + priced)["dollars"]);
}

// Options of cores that share something change nothing on one core, and the answer says so.
TEST_F(AskedAmounts, OptionsOfADegreeOfOneAreTold) {
  const std::string llama =
      "estimate llama-small --max_length 128 --sequences 64 --suggestions 0 --instance_type trn1.2xlarge ";
  const std::string shards =
      "--zero_1 has no effect on one data-parallel core: no other shares the optimizer's state\n";
  const std::string sequence =
      "--disable_sequence_parallel has no effect on one tensor-parallel core: no other shares a sequence\n";
  const auto warned = [&](const std::string& flags) { return run(llama + flags).err; };
  EXPECT_THAT(warned("--nproc_per_node 1 --zero_1"), HasSubstr(shards));
  EXPECT_THAT(warned("--tensor_parallel_size 2 --zero_1"), HasSubstr(shards));
  EXPECT_THAT(warned("--disable_sequence_parallel"), HasSubstr(sequence));
  EXPECT_THAT(warned("--nproc_per_node 1 --zero_1 --disable_sequence_parallel"),
              AllOf(HasSubstr(shards), HasSubstr(sequence)));
  EXPECT_EQ(warned("--zero_1"), "");  // two data-parallel cores
  EXPECT_EQ(warned("--tensor_parallel_size 2 --disable_sequence_parallel"), "");
  const std::string one = "run vit_mnist --mode timed --nproc_per_node 1 --zero_1 --output_dir " + at("one");
  EXPECT_THAT(run(one).err, HasSubstr(shards));
  EXPECT_EQ(run(llama + "--nproc_per_node 1 --zero_1").out.find("ZeRO-1"), std::string::npos);
}

// A price of another way to buy the instances changes nothing, and the answer says so.
TEST_F(AskedAmounts, APriceThatTheJobIsNotBoughtAtIsTold) {
  const std::string bert = "estimate bert-small --samples 2000 --instance_type trn1.2xlarge --suggestions 0 --set ";
  const std::string told =
      "--set price.spot has no effect: its instances are bought at the on demand price; give "
      "--price spot";
  EXPECT_THAT(run(bert + "price.spot=2x").err, HasSubstr(told));
  EXPECT_THAT(run("run vit_mnist --mode timed --set price.spot=2x --output_dir " + at("run")).err, HasSubstr(told));
  for (const char* read : {"price.spot=2x --price spot", "price.on_demand=2x", "hbm.bandwidth=2x"})
    EXPECT_EQ(run(bert + read).err, "") << read;
}

TEST_F(AskedAmounts, CostOfARunHasThePriceOfTheRun) {
  const Ran ran = run("run vit_mnist --mode timed --set price.on_demand='$3/h' --output_dir " + at("run"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(told("cost " + at("run"))[0]["on_demand"], result("run")["cost"]["dollars"]);
}

TEST_F(AskedAmounts, AMachineOfOnesOwnIsInTheCostsWithoutAPriceOrWithItsOwn) {
  std::ofstream{at("mine.toml")} << "name = \"mine\"\ninherits = \"hw/params/trn1.2xlarge.toml\"\n";
  const std::string job = "bert-small --samples 2000 --instance_type " + at("mine.toml");
  const Ran text = run("cost " + job);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("this job: no price, "));
  EXPECT_EQ(told("cost " + job)[0]["on_demand"], nullptr);
  const std::string priced = " --set price.on_demand='$2/h'";
  EXPECT_EQ(told("cost " + job + priced)[0]["on_demand"], told("estimate " + job + priced)["dollars"]);
}

TEST_F(AskedAmounts, AChoiceForAModelAndItsDataIsShownByTheCommandThatItNames) {
  std::ofstream file{at("texts.csv")};
  file << "text,label\n";
  for (int i = 0; i < 64; ++i) file << "a text," << i % 2 << "\n";
  file.close();
  const std::string data = " --max_length 64 --num_train_epochs 3 --dataset_path " + at("texts.csv");
  const Ran chosen = run("choose bert-small --instance_types trn1.2xlarge --micro_batch_sizes 8" + data);
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  const std::size_t begin = chosen.out.find("see: trnsim ") + 12;
  const std::string command = chosen.out.substr(begin, chosen.out.find('\n', begin) - begin);
  EXPECT_THAT(command, HasSubstr("estimate bert-small"));
  EXPECT_EQ(told(command)["samples"], 192) << command;
  EXPECT_EQ(told("estimate bert-small --max_steps 7")["steps"], 7);
}

TEST_F(AskedAmounts, TheRunOfAGenerationHasACost) {
  const Ran ran = run("run llama_small_generate --mode timed --output_dir " + at("run"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(told("cost " + at("run"))[0]["on_demand"], result("run")["cost"]["dollars"]);
}

}  // namespace
