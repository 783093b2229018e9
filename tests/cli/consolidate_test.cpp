// trnsim consolidate: shards in, a Hugging Face model out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/run_binary.h"
#include "tests/workloads/models.h"
#include "workloads/checkpoints/shards.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
namespace fs = std::filesystem;

workloads::LlamaConfig tiny() {
  workloads::LlamaConfig c;
  c.vocab_size = 20;
  c.hidden_size = 8;
  c.num_hidden_layers = 2;
  c.num_attention_heads = c.num_key_value_heads = 2;
  c.head_dim = 4;
  c.intermediate_size = 12;
  c.max_position_embeddings = 16;
  return c;
}

class Consolidate : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{testing::TempDir()} / ("trnsim_consolidate_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "shards");
    const workloads::ShardPlan plan{.tensor_parallel_size = 2, .pipeline_parallel_size = 2};
    for (std::int64_t pp = 0; pp < 2; ++pp)
      for (std::int64_t tp = 0; tp < 2; ++tp)
        workloads::write_shard(folder_ / "shards", tiny(), {plan, {tp, pp}, "model", 5},
                               workloads::shard_of(weights_, tiny(), plan, {tp, pp}));
    workloads::write_shard_index(folder_ / "shards", tiny(), {.plan = plan, .step = 5});
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string verb() const {
    return "consolidate " + (folder_ / "shards").string() + " " + (folder_ / "merged").string();
  }

  const workloads::Weights weights_ = workloads::initial_weights(tiny(), 3);
  fs::path folder_;
};

TEST_F(Consolidate, MergesAndReports) {
  const Ran ran = run(verb());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("21 tensors"));
  EXPECT_THAT(ran.out, HasSubstr("step 5, from 4 shards (tensor parallel 2, pipeline parallel 2)"));
  EXPECT_EQ(workloads::load_weights(folder_ / "merged", tiny(), 1).values, weights_.values);
  EXPECT_EQ(run(verb()).code, 2);  // the folder holds a model now
  EXPECT_EQ(run(verb() + " --overwrite_output_dir").code, 0);
}

// Remnants of a killed process are removed; a name with a slash at its end is the same folder.
TEST_F(Consolidate, TheModelAppearsAsAWhole) {
  fs::create_directories(folder_ / "merged.new");
  std::ofstream{folder_ / "merged.new/config.json"} << "{";
  EXPECT_EQ(run(verb() + "/").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "merged.new"));
  EXPECT_EQ(workloads::load_weights(folder_ / "merged", tiny(), 1).values, weights_.values);
  fs::remove_all(folder_ / "merged");
  fs::resize_file(folder_ / "shards/model_tp01_pp01.safetensors", 200);
  EXPECT_EQ(run(verb()).code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "merged"));
  EXPECT_FALSE(fs::exists(folder_ / "merged.new"));
}

TEST_F(Consolidate, AMissingShardIsOneErrorAndNoModel) {
  fs::remove(folder_ / "shards/model_tp01_pp00.safetensors");
  const Ran ran = run(verb());
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("model_tp01_pp00.safetensors"));
  EXPECT_THAT(ran.err, HasSubstr("fix: "));
  EXPECT_FALSE(fs::exists(folder_ / "merged"));
}

}  // namespace
