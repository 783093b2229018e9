#include "workloads/checkpoints/model_files.h"
#include "tests/workloads/models.h"

#include <gtest/gtest.h>

#include "tests/tale.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;

TEST(ModelFiles, EveryFormGivesTheSameModel) {
  const Scratch s;
  const LoadedModel story = load_model(tests::tale(), 1);
  EXPECT_EQ(load_model(tests::tale() / "tale.bin", 1).weights.values, story.weights.values);
  std::filesystem::create_directories(s / "hf");
  write_config(story.config, s / "hf");
  save_weights(s / "hf", story.config, story.weights);
  EXPECT_EQ(load_model(s / "hf", 1).weights.values, story.weights.values);
  const ShardPlan plan{.tensor_parallel_size = 4};
  std::filesystem::create_directories(s / "shards");
  for (std::int64_t tp = 0; tp < 4; ++tp)
    write_shard(s / "shards", story.config, {plan, {.tensor = tp}},
                shard_of(story.weights, story.config, plan, {.tensor = tp}));
  write_shard_index(s / "shards", story.config, {.plan = plan});
  const LoadedModel sharded = load_model(s / "shards", 1);
  EXPECT_EQ(sharded.weights.values, story.weights.values);
  EXPECT_EQ(workloads_test::config_json(sharded.config), workloads_test::config_json(story.config));
}

TEST(ModelFiles, TheHeadOfBertIsTheCallers) {
  const Scratch s;
  BertConfig bert = workloads_test::bert_preset("bert-small");
  bert.vocab_size = 20;
  write_config(bert, s.path());
  save_weights(s.path(), bert, initial_weights(bert, 3));
  EXPECT_TRUE(load_model(s.path(), 1).weights.values.contains("classifier.weight"));
  EXPECT_TRUE(load_model(s.path(), 1, Head::kPretraining).weights.values.contains("cls.predictions.bias"));
}

TEST(ModelFiles, NoModelOrTwoAreRefused) {
  const Scratch s;
  EXPECT_TRUE(fails(Fault::kData, [&] { load_model(s.path(), 1); }, {"holds no model", "config.json"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { load_model(s / "nowhere", 1); }, {"nowhere", "holds no model"}));
  s.write("a.bin", "");
  s.write("b.bin", "");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_model(s.path(), 1); }, {"2 .bin files"}));
}

}  // namespace
}  // namespace workloads
