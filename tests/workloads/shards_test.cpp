#include "workloads/checkpoints/shards.h"
#include "tests/workloads/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/files.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::fails;
using workloads_test::Scratch;
namespace fs = std::filesystem;

LlamaConfig llama(bool tied = false) {
  LlamaConfig c;
  c.vocab_size = 43;  // no multiple of any degree
  c.hidden_size = 32;
  c.num_hidden_layers = 4;
  c.num_attention_heads = 8;
  c.num_key_value_heads = 2;
  c.head_dim = 4;
  c.intermediate_size = 24;
  c.max_position_embeddings = 32;
  c.tie_word_embeddings = tied;
  return c;
}

PlainConfig gpt() {
  PlainConfig c = blank(gpt_family());
  c.vocab_size = 43;
  c.bos_token_id = c.eos_token_id = 42;
  c.hidden_size = 16;
  c.num_hidden_layers = 4;
  c.num_attention_heads = 4;
  c.intermediate_size = 64;
  c.max_position_embeddings = 16;
  return c;
}

BertConfig bert() {
  BertConfig c = workloads_test::bert_preset("bert-small");
  c.vocab_size = 43;
  c.max_position_embeddings = 16;
  c.head = Head::kPretraining;
  return c;
}

void write_all(const fs::path& folder, const ModelPtr& config, const ShardPlan& plan, const Weights& weights,
               ElementType type = ElementType::kF32) {
  for (std::int64_t pp = 0; pp < plan.pipeline_parallel_size; ++pp)
    for (std::int64_t tp = 0; tp < plan.tensor_parallel_size; ++tp)
      write_shard(folder, config, {plan, {tp, pp}}, shard_of(weights, config, plan, {tp, pp}), type);
  write_shard_index(folder, config, {.plan = plan});
}

TEST(Shards, EveryPlanComesTogetherAgain) {
  struct Case {
    ModelPtr config;
    ShardPlan plan;
  };
  const Case cases[] = {{llama(), {1, 1, 1}},     {llama(), {2, 1, 1}}, {llama(), {8, 1, 1}}, {llama(), {4, 4, 1}},
                        {llama(true), {2, 2, 2}}, {gpt(), {4, 2, 1}},   {bert(), {2, 2, 1}}};
  for (const auto& [config, plan] : cases) {
    const Scratch s;
    const Weights whole = initial_weights(config, 11);
    write_all(s.path(), config, plan, whole);
    EXPECT_EQ(read_shards(s.path()).values, whole.values) << config->family() << plan.tensor_parallel_size;
    fs::create_directory(s / "out");
    consolidate(s.path(), s / "out");
    EXPECT_EQ(load_weights(s / "out", config, 1).values, whole.values);
    EXPECT_EQ(base::read_file(s / "out/config.json"), workloads_test::config_json(config));
  }
}

TEST(Shards, ColumnsRowsAndHeadsGoWhereMegatronPutsThem) {
  const ModelPtr config = llama();
  const ShardPlan plan{.tensor_parallel_size = 4};
  Weights whole;
  for (const WeightSpec& spec : workloads_test::model_weights(config)) {
    auto& values = whole.values[spec.name];
    values.resize(element_count(spec.shape));
    std::iota(values.begin(), values.end(), 0.0f);
  }
  const Weights part = shard_of(whole, config, plan, {.tensor = 1});
  const auto first = [&](const char* name) { return part.values.at(name).front(); };
  const auto size = [&](const char* name) { return part.values.at(name).size(); };
  EXPECT_EQ(first("model.layers.0.self_attn.q_proj.weight"), 8 * 32);  // rows 8..15: heads 2 and 3
  EXPECT_EQ(size("model.layers.0.self_attn.q_proj.weight"), 8u * 32);
  EXPECT_EQ(first("model.layers.0.self_attn.o_proj.weight"), 8);  // columns 8..15
  EXPECT_EQ(part.values.at("model.layers.0.self_attn.o_proj.weight")[8], 32 + 8);
  EXPECT_EQ(first("model.layers.0.self_attn.k_proj.weight"), 0);  // four ranks share two heads: 0, 0, 1, 1
  EXPECT_EQ(size("model.layers.0.self_attn.k_proj.weight"), 4u * 32);
  EXPECT_EQ(shard_of(whole, config, plan, {.tensor = 2}).values.at("model.layers.0.self_attn.v_proj.weight")[0],
            4 * 32);
  EXPECT_EQ(first("model.embed_tokens.weight"), 11 * 32);
  EXPECT_EQ(size("lm_head.weight"), 11u * 32);
  EXPECT_EQ(shard_of(whole, config, plan, {.tensor = 3}).values.at("lm_head.weight").size(), 10u * 32);
  EXPECT_EQ(size("model.norm.weight"), 32u);
  const WeightSpec fused{"c_attn", {2, 12}, Init::kNormal, false, TensorSplit::kFused};
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  EXPECT_EQ(shard_of(fused, values, gpt(), {.tensor_parallel_size = 2}, 1),
            (std::vector<float>{2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}));  // the second halves of q, k and v
}

TEST(Shards, StagesHaveTheirLayers) {
  const auto layers = [](const ShardPlan& plan, std::int64_t stage, const ModelPtr& config) {
    std::set<std::string> names;
    for (const WeightSpec& spec : shard_specs(config, plan, {0, stage})) names.insert(spec.name);
    return names;
  };
  const std::string norm = "model.norm.weight", head = "lm_head.weight", embed = "model.embed_tokens.weight";
  const auto q = [](int layer) { return "model.layers." + std::to_string(layer) + ".self_attn.q_proj.weight"; };
  const auto second = layers({1, 2, 1}, 1, llama());
  EXPECT_TRUE(second.contains(q(2)) && second.contains(q(3)) && second.contains(norm) && second.contains(head));
  EXPECT_FALSE(second.contains(q(0)) || second.contains(embed));
  const auto interleaved = layers({1, 2, 2}, 0, llama());
  EXPECT_TRUE(interleaved.contains(q(0)) && interleaved.contains(q(2)) && interleaved.contains(embed));
  EXPECT_FALSE(interleaved.contains(q(1)) || interleaved.contains(q(3)));
  EXPECT_TRUE(layers({1, 4, 1}, 3, llama(true)).contains(embed));  // the tied head
  EXPECT_FALSE(layers({1, 4, 1}, 2, llama(true)).contains(embed));
}

TEST(Shards, DeviceValuesOfARankGoThroughItsSpecs) {
  const ModelPtr config = llama();
  const ShardPlan plan{.tensor_parallel_size = 2};
  const Weights part = shard_of(initial_weights(config, 3), config, plan, {.tensor = 1});
  Weights back;
  for (const WeightSpec& spec : shard_specs(config, plan, {.tensor = 1}))
    back.set_from_device(spec, part.for_device(spec));
  EXPECT_EQ(back.values, part.values);
}

TEST(Shards, OtherStatesAndTypesLieBesideTheWeights) {
  const Scratch s;
  const ModelPtr config = llama();
  const ShardPlan plan{.tensor_parallel_size = 2};
  const Weights moments = initial_weights(config, 5);
  for (std::int64_t tp = 0; tp < 2; ++tp) {
    write_shard(s.path(), config, {plan, {.tensor = tp}, "exp_avg", 17},
                shard_of(moments, config, plan, {.tensor = tp}));
    write_shard(s.path(), config, {plan, {.tensor = tp}, "model", 17},
                shard_of(initial_weights(config, 6), config, plan, {.tensor = tp}), ElementType::kBf16);
  }
  write_shard_index(s.path(), config, {.plan = plan, .states = {"model", "exp_avg"}, .step = 17});
  EXPECT_EQ(read_shards(s.path(), "exp_avg").values, moments.values);
  EXPECT_EQ(read_shard_index(s.path()).step, 17);
  EXPECT_EQ(read_shard_index(s.path()).plan, plan);
  s.write("tokenizer.json", "{}");
  consolidate(s.path(), s / "merged");
  EXPECT_EQ(SafetensorsFile{s / "merged/model.safetensors"}.tensors()[0].type, ElementType::kBf16);
  EXPECT_TRUE(fs::exists(s / "merged/tokenizer.json"));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { consolidate(s.path(), s / "merged"); }, {"merged", "not empty"}));
  consolidate(s.path(), s / "merged", true);
  EXPECT_TRUE(fails(Fault::kData, [&] { read_shards(s.path(), "master"); }, {"shards.json", "master"}));
}

/// A checkpoint of four ranks that each test breaks.
class BrokenShards : public testing::Test {
 protected:
  BrokenShards() { write_all(s.path(), config, plan, whole); }

  testing::AssertionResult merged(std::initializer_list<std::string_view> words) const {
    const auto result = fails(
        Fault::kData, [&] { consolidate(s.path(), s / "out"); }, words);
    EXPECT_FALSE(fs::exists(s / "out/model.safetensors"));
    return result;
  }

  const Scratch s;
  const ModelPtr config = llama();
  const ShardPlan plan{.tensor_parallel_size = 2, .pipeline_parallel_size = 2};
  const Weights whole = initial_weights(config, 5);
};

TEST_F(BrokenShards, AFileIsMissing) {
  fs::remove(s / "model_tp01_pp01.safetensors");
  EXPECT_TRUE(merged({"model_tp01_pp01.safetensors", "is missing"}));
  fs::remove(s / "shards.json");
  EXPECT_TRUE(merged({"shards.json", "not finished"}));
}

TEST_F(BrokenShards, AFileIsOfAnotherPlan) {
  write_shard(s.path(), config, {{2, 1, 1}, {1, 0}}, shard_of(whole, config, {2, 1, 1}, {1, 0}));
  EXPECT_TRUE(merged({"model_tp01_pp00", "another plan", "pipeline_parallel", "0 of 1", "0 of 2"}));
}

TEST_F(BrokenShards, AFileIsOfAnotherRank) {
  fs::copy_file(s / "model_tp00_pp00.safetensors", s / "model_tp01_pp00.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_TRUE(merged({"model_tp01_pp00", "tensor_parallel", "0 of 2", "1 of 2"}));
}

TEST_F(BrokenShards, AFileIsOfAnotherStep) {
  write_shard(s.path(), config, {plan, {1, 0}, "model", 6}, shard_of(whole, config, plan, {1, 0}));
  EXPECT_TRUE(merged({"model_tp01_pp00", "another step", "its step is 6, but that of shards.json is 0"}));
}

TEST_F(BrokenShards, RanksDisagreeAboutReplicatedTensors) {
  Weights other = shard_of(whole, config, plan, {1, 0});
  other.values["model.layers.0.input_layernorm.weight"][3] = 2;
  write_shard(s.path(), config, {plan, {1, 0}}, other);
  EXPECT_TRUE(merged({"model_tp01_pp00", "input_layernorm", "differs", "model_tp00_pp00"}));
}

TEST_F(BrokenShards, TheConfigurationIsOfAnotherModel) {
  LlamaConfig wider = llama();
  wider.intermediate_size = 48;
  write_config(wider, s.path());
  EXPECT_TRUE(merged({"model_tp00_pp00", "gate_proj", "[12, 32]", "[24, 32]"}));
}

TEST_F(BrokenShards, TheIndexCannotBeRead) {
  json index = read_json_file(s / "shards.json");
  index["step"] = 12345;
  s.write("shards.json", index.dump());
  EXPECT_TRUE(merged({"shards.json", "its checksum does not match"}));
  index.erase("checksum");
  index["version"] = 9;
  s.write("shards.json", index.dump());
  EXPECT_TRUE(merged({"shards.json", "version 9"}));
  index["version"] = 2;
  index["step"] = "x";
  s.write("shards.json", index.dump());
  EXPECT_TRUE(merged({"shards.json", "step"}));
}

TEST(Shards, PlansThatDoNotFitTheModelAreRefusedWithThoseThatDo) {
  const auto checking = [](ShardPlan plan) { return [plan] { check(plan, llama()); }; };
  EXPECT_TRUE(fails(Fault::kUsage, checking({3, 1, 1}), {"`tensor_parallel_size`", "8 attention heads", "1, 2, 4, 8"}));
  EXPECT_TRUE(fails(Fault::kUsage, checking({0, 1, 1}), {"1 or more"}));
  EXPECT_TRUE(fails(Fault::kUsage, checking({1, 3, 1}), {"`pipeline_parallel_size`", "4 layers", "1, 2, 4"}));
  EXPECT_TRUE(fails(Fault::kUsage, checking({1, 4, 2}), {"`pipeline_parallel_size`", "use one of: 1, 2"}));
  EXPECT_TRUE(fails(Fault::kUsage, checking({1, 1, 2}), {"`virtual_pipeline_size`", "`pipeline_parallel_size` 2"}));
  LlamaConfig odd = llama();
  odd.num_attention_heads = 12;
  odd.num_key_value_heads = 6;
  odd.intermediate_size = 36;
  EXPECT_TRUE(fails(Fault::kUsage, [&] { check(ShardPlan{.tensor_parallel_size = 4}, odd); }, {"6 key-value heads"}));
  odd.intermediate_size = 32;
  EXPECT_TRUE(
      fails(Fault::kUsage, [&] { check(ShardPlan{.tensor_parallel_size = 3}, odd); }, {"feed-forward size 32"}));
  odd.vocab_size = 5;
  EXPECT_TRUE(fails(Fault::kUsage, [&] { check(ShardPlan{.tensor_parallel_size = 4}, odd); }, {"neither"}));
  LlamaConfig few = llama();
  few.vocab_size = 9;
  EXPECT_TRUE(fails(Fault::kUsage, [&] { check(ShardPlan{.tensor_parallel_size = 8}, few); }, {"vocabulary of 9"}));
}

}  // namespace
}  // namespace workloads
