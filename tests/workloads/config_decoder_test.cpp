// Configurations of Llama and GPT, and the presets of all families.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/config.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/presets.h"
#include "workloads/models/registry.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using testing::HasSubstr;
using workloads_test::fails;
using workloads_test::Scratch;

json llama_file() { return json::parse(workloads_test::config_json(model_preset("llama3.1-8b"))); }
json gpt_file() { return json::parse(workloads_test::config_json(model_preset("gpt2"))); }

/// Reads `file` with one key changed.
std::function<void()> reading(const Scratch& s, json file, const char* key, const json& value) {
  file[key] = value;
  return [path = s.write("config.json", file.dump())] { read_config(path); };
}

TEST(ConfigDecoder, Llama3RotaryFrequenciesAreTransformers) {
  // numpy, float64: _compute_llama3_parameters for head_dim 128, theta 5e5, factor 8, 1, 4, 8192. Pairs 0 to 28 turn
  // fast and are kept, 29 to 35 are blended, the rest are divided by 8.
  const std::vector<std::pair<std::size_t, double>> want = {
      {0, 1.0},
      {1, 0.8146172338565447},
      {20, 0.016560440080994446},
      {28, 0.0032114459947525913},
      {29, 0.002166570763503359},
      {30, 0.0013718935677611381},
      {31, 0.0008567514129196321},
      {34, 0.00017850781276799638},
      {36, 7.784655273932451e-05},
      {40, 3.428102195952591e-05},
      {63, 3.068925988914511e-07},
  };
  auto c = workloads_test::config_of<LlamaConfig>(model_preset("llama3.1-8b"));
  const std::vector<double> got = rope_frequencies(c);
  ASSERT_EQ(got.size(), 64u);
  for (const auto& [pair, frequency] : want) EXPECT_NEAR(got[pair] / frequency, 1, 1e-13) << pair;
  c.rope_scaling.reset();
  EXPECT_NEAR(rope_frequencies(c)[63], std::pow(5e5, -126.0 / 128), 1e-20);
}

TEST(ConfigDecoder, LlamaIsWrittenAndReadAgain) {
  const Scratch s;
  for (const char* name : {"llama2-70b", "llama3.1-8b", "llama3.2-1b"}) {
    auto c = workloads_test::config_of<LlamaConfig>(model_preset(name));
    c.eos_token_ids.push_back(7);
    write_config(c, s.path());
    const LlamaConfig again = read_llama_config(s.path());
    EXPECT_EQ(workloads_test::config_json(again), workloads_test::config_json(c));
    EXPECT_EQ(again.rope_scaling, c.rope_scaling);
    EXPECT_EQ(again.eos_token_ids, c.eos_token_ids);
    EXPECT_EQ(again.tie_word_embeddings, c.tie_word_embeddings);
    EXPECT_EQ(again.num_key_value_heads, 8);
  }
}

TEST(ConfigDecoder, NewAndOldNamesOfTheRotaryScaling) {
  const Scratch s;
  json file = llama_file();
  file["rope_parameters"] = file["rope_scaling"];
  file["rope_parameters"]["rope_theta"] = 250000.0;
  file.erase("rope_scaling");
  EXPECT_EQ(read_llama_config(s.write("config.json", file.dump())).rope_theta, 250000);
  EXPECT_EQ(read_llama_config(s.path()).rope_scaling, RopeScaling{});
  file["rope_parameters"] = {{"type", "default"}};
  EXPECT_FALSE(read_llama_config(s.write("config.json", file.dump())).rope_scaling);
}

TEST(ConfigDecoder, BadKeysOfLlamaAreNamed) {
  const Scratch s;
  const auto bad = [&](const char* key, const json& value) { return reading(s, llama_file(), key, value); };
  json rope = llama_file()["rope_scaling"];
  EXPECT_TRUE(fails(Fault::kData, bad("rope_scaling", {{"rope_type", "ntk"}, {"factor", 4}}), {"ntk", "llama3"}));
  EXPECT_TRUE(fails(Fault::kData, bad("rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}, {"beta_fast", 0.5}}),
                    {"rope_scaling.beta_fast", "beta_slow"}));
  EXPECT_TRUE(fails(Fault::kData, bad("rope_scaling", "llama3"), {"rope_scaling", "object"}));
  rope["high_freq_factor"] = 0.5;
  EXPECT_TRUE(fails(Fault::kData, bad("rope_scaling", rope), {"high_freq_factor", "low_freq_factor"}));
  rope.erase("high_freq_factor");
  EXPECT_TRUE(fails(Fault::kData, bad("rope_scaling", rope), {"rope_scaling", "has no", "high_freq_factor"}));
  EXPECT_TRUE(fails(Fault::kData, bad("attention_bias", "yes"), {"attention_bias"}));
  EXPECT_TRUE(fails(Fault::kData, bad("hidden_act", "gelu"), {"hidden_act", "silu"}));
  EXPECT_TRUE(fails(Fault::kData, bad("head_dim", 63), {"head_dim"}));
  EXPECT_TRUE(fails(Fault::kData, bad("head_dim", 1'000'000), {"head_dim", "1..4096"}));
  EXPECT_TRUE(fails(Fault::kData, bad("num_attention_heads", 1'000'000), {"num_attention_heads", "1..4096"}));
  EXPECT_TRUE(fails(Fault::kData, bad("intermediate_size", 16'000'000), {"intermediate_size", "1..262144"}));
  EXPECT_TRUE(fails(Fault::kData, bad("vocab_size", 16'000'000), {"vocab_size", "1..1048576"}));
  EXPECT_TRUE(fails(Fault::kData, bad("num_key_value_heads", 5), {"num_key_value_heads", "divide"}));
  EXPECT_TRUE(fails(Fault::kData, bad("eos_token_id", json::array({1, "x"})), {"eos_token_id", "whole number"}));
  EXPECT_TRUE(fails(Fault::kData, bad("bos_token_id", 128256), {"bos_token_id", "0..128255"}));
}

TEST(ConfigDecoder, GptIsReadByItsOwnNames) {
  const Scratch s;
  // The file of openai-community/gpt2 as published, without its task parameters.
  const auto path = s.write("config.json", R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12,
    "n_positions": 1024, "resid_pdrop": 0.1, "summary_type": "cls_index", "vocab_size": 50257})");
  const auto c = workloads_test::config_of<PlainConfig>(read_config(path));
  EXPECT_EQ(workloads_test::config_json(c), workloads_test::config_json(model_preset("gpt2")));
  EXPECT_EQ(c.intermediate_size, 3072);
  EXPECT_TRUE(c.tie_word_embeddings);
  EXPECT_EQ(c.hidden_act, Activation::kGeluTanh);
  EXPECT_TRUE(fails(Fault::kData, [&] { read_llama_config(path); }, {"is a GPT model", "llama"}));
  for (const char* key : {"n_embd", "n_layer", "n_head", "n_positions", "n_inner", "vocab_size"})
    EXPECT_TRUE(fails(Fault::kData, reading(s, gpt_file(), key, 0), {key, "not in 1.."}));
  EXPECT_TRUE(fails(Fault::kData, reading(s, gpt_file(), "n_head", 5), {"n_head", "divide"}));
  EXPECT_TRUE(fails(Fault::kData, reading(s, gpt_file(), "scale_attn_weights", false), {"scale_attn_weights"}));
  EXPECT_TRUE(fails(Fault::kData, reading(s, gpt_file(), "attn_pdrop", 1), {"attn_pdrop"}));
}

TEST(ConfigDecoder, TheHeadOfBertIsTheTasksChoice) {
  BertConfig c = workloads_test::bert_preset("bert-large");
  EXPECT_THAT(workloads_test::config_json(c), HasSubstr("BertForSequenceClassification"));
  c.head = Head::kPretraining;
  EXPECT_THAT(workloads_test::config_json(c), HasSubstr("BertForPreTraining"));
  const Scratch s;
  write_config(c, s.path());
  EXPECT_EQ(read_bert_config(s.path()).head, Head::kClassifier);
}

TEST(ConfigDecoder, EveryPresetIsSoundAndSaysWhereItIsFrom) {
  for (const Preset& preset : model_presets()) {
    preset.model->require_valid(preset.name);
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_TRUE(is_model_preset(preset.name));
  }
  EXPECT_FALSE(is_model_preset("llama2-8b"));
  EXPECT_TRUE(fails(Fault::kUsage, [] { model_preset("lama2-7b"); }, {"lama2-7b", "llama2-7b"}));
}

/// A family's file without a key, as its preset's, and the value that transformers' class has for it.
struct Otherwise {
  const char *preset, *key;
  json value;
};

TEST(ConfigDecoder, KeysThatAFileLeavesOutHaveTheValuesOfTransformersClasses) {
  // transformers, configuration_NAME.py of each family; of Yi and MiniCPM3 their publishers'.
  const std::vector<Otherwise> all = {
      {"mixtral-8x7b", "rope_theta", 1e6},
      {"mixtral-8x7b", "num_key_value_heads", 8},
      {"mistral-7b", "num_key_value_heads", 8},
      {"mistral-7b-v0.3", "sliding_window", 4096},
      {"qwen3-32b", "num_key_value_heads", 32},
      {"gemma2-27b", "num_key_value_heads", 4},
      {"phi3-mini", "rms_norm_eps", 1e-5},
      {"minitron-8b", "initializer_range", 0.0134},
      {"starcoder2-7b", "initializer_range", 0.018042},
      {"deepseek-v2-lite", "q_lora_rank", 1536},
      {"deepseek-v3", "first_k_dense_replace", 3},
      {"deepseek-v3", "n_group", 8},
      {"deepseek-v3", "n_shared_experts", 1},
      {"glm-4.5-air", "n_shared_experts", 1},
      {"glm-4.5", "first_k_dense_replace", 1},
      {"ernie-4.5-21b-a3b", "moe_num_shared_experts", 2},
      {"dinov2-base", "patch_size", 14},
      {"gte-base-en-v1.5", "attention_probs_dropout_prob", 0.0},
  };
  for (const Otherwise& one : all) {
    json file = json::parse(workloads_test::config_json(model_preset(one.preset)));
    ASSERT_EQ(file.erase(one.key), 1u) << one.preset << " " << one.key;
    const json read = json::parse(read_config(Keys{file, "config.json"})->config_json());
    EXPECT_EQ(read.value(one.key, json()), one.value) << one.preset << " " << one.key;
  }
}

}  // namespace
}  // namespace workloads
