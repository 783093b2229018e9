// The folders of relatives of Llama and of other decoders: keys that are obeyed or refused, and published sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/config/not_built_in.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/lora.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

struct PublishedSize {
  const char* name;
  double parameters;
};
/// From the model cards; Qwen2's and Qwen3's "non-embedding parameters" leave out token table and head.
constexpr PublishedSize kPublishedSizes[] = {
    {"mistral-7b", 7.242e9},
    {"qwen2-0.5b", 0.494e9},
    {"qwen2-1.5b", 1.544e9},
    {"qwen2-7b", 7.616e9},
    {"qwen2.5-14b", 14.77e9},
    {"qwen3-0.6b", 0.596e9},
    {"qwen3-1.7b", 1.721e9},
    {"qwen3-4b", 4.022e9},
    {"qwen3-8b", 8.191e9},
    {"qwen3-14b", 14.77e9},
    {"qwen3-32b", 32.76e9},
    {"granite-3.0-2b", 2.534e9},
    {"granite-3.0-8b", 8.171e9},
    {"phi3-mini", 3.821e9},
    {"phi3-medium", 13.96e9},
    {"phi-4", 14.66e9},
    {"mixtral-8x7b", 46.70e9},
    {"mixtral-8x22b", 140.6e9},
    {"qwen3-30b-a3b", 30.53e9},
    {"qwen3-235b-a22b", 235.1e9},
    {"gemma-2b", 2.506e9},
    {"gemma-7b", 8.538e9},
    {"olmo2-1b", 1.485e9},
    {"olmo2-7b", 7.299e9},
    {"olmo2-13b", 13.72e9},
    {"phi3.5-mini", 3.821e9},
    {"gemma2-2b", 2.614e9},
    {"gemma2-9b", 9.242e9},
    {"gemma2-27b", 27.23e9},
    {"gemma3-270m", 268.1e6},
    {"gemma3-1b", 999.9e6},
    {"smollm3-3b", 3.075e9},
    {"phi-1.5", 1.418e9},
    {"phi-2", 2.780e9},
    {"pythia-410m", 405.3e6},
    {"gpt-neox-20b", 20.55e9},
    {"opt-125m", 125.2e6},
    {"opt-1.3b", 1.316e9},
    {"opt-350m", 331.2e6},
    {"biogpt", 346.8e6},
    {"stablelm-2-1.6b", 1.6445e9},
    {"stablelm-3b-4e1t", 2.7954e9},
    {"starcoder2-3b", 3.0304e9},
    {"starcoder2-7b", 7.1739e9},
    {"gpt-neo-125m", 125.2e6},
    {"gpt-neo-1.3b", 1.3156e9},
    {"gpt-neo-2.7b", 2.6513e9},
    {"starcoderbase-1b", 1.1372e9},
    {"starcoderbase", 15.517e9},
    {"falcon-7b", 6.9217e9},
    {"falcon-40b", 41.303e9},
    {"olmoe-1b-7b", 6.9192e9},
    {"command-r", 34.98e9},
    {"command-r-08-2024", 32.30e9},
    {"aya-23-8b", 8.028e9},
    {"command-r7b", 8.028e9},
    {"glm-4-9b", 9.400e9},
    {"glm-4-9b-0414", 9.400e9},
    {"glm-4-32b-0414", 32.57e9},
    {"helium-1-2b", 2.173e9},
    {"ernie-4.5-0.3b", 0.3607e9},
    {"minitron-4b", 4.190e9},
    {"minitron-8b", 8.272e9},
    {"seed-oss-36b", 36.15e9},
    {"exaone-4.0-32b", 32.00e9},
    {"olmo-1b", 1.177e9},
    {"olmo-7b", 6.888e9},
    {"granite-3.0-1b-a400m", 1.335e9},
    {"granite-3.0-3b-a800m", 3.299e9},
    {"gpt-j-6b", 6.0509e9},
    {"codegen-350m", 356.7e6},
    {"codegen-2b", 2.7791e9},
    {"codegen-6b", 7.0695e9},
    {"codegen-16b", 16.032e9},
    {"bloom-560m", 559.21e6},
    {"bloom-1b1", 1.0653e9},
    {"bloom-1b7", 1.7224e9},
    {"bloom-3b", 3.0026e9},
    {"bloom-7b1", 7.0690e9},
    {"bloom-176b", 176.25e9},
    {"mpt-7b", 6.6493e9},
    {"mpt-30b", 29.957e9},
    {"dbrx", 131.60e9},
    {"llama4-scout-17b-16e", 107.77e9},
    {"llama4-maverick-17b-128e", 400.71e9},
    {"qwen1.5-moe-a2.7b", 14.316e9},
    {"qwen2-57b-a14b", 57.41e9},
    {"internlm2-1.8b", 1.889e9},
    {"internlm2-7b", 7.738e9},
    {"internlm2-20b", 19.86e9},
    {"internlm3-8b", 8.804e9},
    {"baichuan2-7b", 7.506e9},
    {"baichuan2-13b", 13.90e9},
    {"exaone-3.0-7.8b", 7.818e9},
    {"exaone-3.5-2.4b", 2.405e9},
    {"exaone-3.5-32b", 32.00e9},
    {"chatglm3-6b", 6.244e9},
    {"qwen-1.8b", 1.837e9},
    {"qwen-7b", 7.721e9},
    {"qwen-14b", 14.17e9},
    {"qwen-72b", 72.29e9},
    {"minicpm-2b", 2.725e9},
    {"orion-14b", 14.50e9},
    {"ernie-4.5-21b-a3b", 21.83e9},
};

TEST(RelativesFolder, PresetsHaveTheirPublishedParameters) {
  for (const auto& [name, parameters] : kPublishedSizes) {
    const ModelPtr model = model_preset(name);
    model->require_valid(name);
    EXPECT_NEAR(static_cast<double>(parameter_count(model->weights())) / parameters, 1, 2e-3) << name;
  }
}

// An odd number of layers ends with one that sees everything.
TEST(RelativesFolder, LayersInTurnAreListedForAnyNumber) {
  const Scratch s;
  const ModelPtr five = read_config(golden("gpt_neo_tiny"))->with_sizes({.layers = 5});
  const json file = json::parse(five->config_json());
  EXPECT_EQ(file["attention_types"], json::parse(R"([[["global", "local"], 2], [["global"], 1]])"));
  EXPECT_EQ(read_config(s.write("config.json", file.dump()))->config_json(), five->config_json());
  const AttentionArch attention = decoder_arch(five).block.attention;
  EXPECT_EQ(attention.window.of(0), 0);
  EXPECT_EQ(attention.window.of(3), 7);
  EXPECT_EQ(attention.window.of(4), 0);
}

TEST(RelativesFolder, OneLayerInAnyNumberSeesEverything) {
  const Scratch s;
  json file = read_json_file(golden("gpt_neo_tiny") / "config.json");
  file["num_layers"] = 7;
  file["attention_types"] = json::parse(R"([[["global", "local", "local"], 2], [["global"], 1]])");
  const ModelPtr model = read_config(s.write("config.json", file.dump()));
  EXPECT_EQ(json::parse(model->config_json())["attention_types"], file["attention_types"]);
  for (const std::int64_t layer : {0, 3, 6}) EXPECT_EQ(decoder_arch(model).block.attention.window.of(layer), 0);
  for (const std::int64_t layer : {1, 2, 4, 5}) EXPECT_EQ(decoder_arch(model).block.attention.window.of(layer), 7);
  const ModelPtr two = model->with_sizes({.layers = 2});
  EXPECT_EQ(json::parse(two->config_json())["attention_types"], json::parse(R"([[["global", "local"], 1]])"));
}

// A vocabulary smaller than the published one has not its ids of begin and end: the last one stands for them.
TEST(RelativesFolder, ASmallVocabularyEndsWithItsLastToken) {
  const Scratch s;
  for (const char* name : {"gpt_tiny", "gpt_neo_tiny", "gpt_bigcode_tiny", "falcon_tiny", "starcoder2_tiny"}) {
    json file = read_json_file(golden(name) / "config.json");
    file.erase("bos_token_id"), file.erase("eos_token_id");
    const ModelPtr model = read_config(s.write("config.json", file.dump()));
    EXPECT_LT(json::parse(model->config_json())["eos_token_id"], file["vocab_size"]) << name;
    file["eos_token_id"] = file["vocab_size"];
    EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.write("config.json", file.dump())); }, {"eos_token_id"}));
  }
}

TEST(RelativesFolder, KeysThatChangeTheNumbersAreRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("mistral_tiny", "attention_bias", true), {"attention_bias"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi3_tiny", "resid_pdrop", 0.1), {"resid_pdrop"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_tiny", "attention_dropout", 1.5), {"attention_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gemma2_tiny", "layer_types", {"full_attention", "sliding_attention"}),
                    {"layer_types", "full_attention"}));
  EXPECT_TRUE(fails(Fault::kData, reading("smollm3_tiny", "no_rope_layers", {0, 1}), {"no_rope_layers"}));
  reading("smollm3_tiny", "no_rope_layers", {1, 0})();
  EXPECT_TRUE(fails(Fault::kData, reading("stablelm_tiny", "partial_rotary_factor", 0.1), {"partial_rotary_factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi_tiny", "num_key_value_heads", 2), {"num_key_value_heads"}));
  EXPECT_TRUE(fails(Fault::kData, reading("falcon_40b_tiny", "parallel_attn", false), {"parallel_attn"}));
  EXPECT_TRUE(fails(Fault::kData, reading("falcon_40b_tiny", "num_kv_heads", 3), {"num_kv_heads", "3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("starcoder2_tiny", "use_bias", false), {"use_bias"}));
  EXPECT_TRUE(fails(Fault::kData, reading("starcoder2_tiny", "rope_scaling", {{"type", "linear"}}), {"rope_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_bigcode_tiny", "multi_query", false), {"multi_query"}));
  EXPECT_TRUE(fails(Fault::kData, reading("olmoe_tiny", "clip_qkv", -8.0), {"clip_qkv", "-8"}));
  const json local = json::parse(R"([[["local", "global"], 2]])"), few = json::parse(R"([[["global", "local"], 1]])");
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_neo_tiny", "attention_types", local), {"attention_types", "local"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_neo_tiny", "attention_types", few), {"of 4 layers"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mistral_tiny", "sliding_window", -3), {"sliding_window", "-3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("granite_tiny", "logits_scaling", 0), {"logits_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("llama_linear_tiny", "rope_scaling", {{"type", "linear"}}), {"factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_tiny", "model_type", "mamba"),
                    {"mamba", "trnsim torch", "docs/your_model.md"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mixtral_tiny", "num_experts_per_tok", 5), {"num_experts_per_tok", "5"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mixtral_tiny", "capacity_factor", -1.0), {"capacity_factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi3_tiny", "partial_rotary_factor", 0.1), {"partial_rotary_factor"}));
}

// transformers 5 has the angles in an object, where they differ once for each kind of layer. Their scaling is computed
// for Llama's relatives alone.
TEST(RelativesFolder, AnglesAreReadWhereverTheyAre) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { return decoder_arch(read_config(path)).block.rotary; };
  };
  for (const char* name : {"phi_tiny", "falcon_tiny", "gpt_neox_tiny", "starcoder2_tiny", "gptj_tiny"})
    EXPECT_TRUE(fails(Fault::kData, reading(name, "rope_parameters", {{"rope_type", "linear"}, {"factor", 2.0}}),
                      {"rope_parameters", "rope_type", "linear"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi_tiny", "rope_scaling", {{"type", "linear"}, {"factor", 2.0}}),
                    {"rope_scaling", "linear"}));
  const RotaryArch phi = reading("phi_tiny", "rope_parameters",
                                 {{"rope_type", "default"}, {"rope_theta", 100.0}, {"partial_rotary_factor", 1.0}})();
  EXPECT_EQ(phi.pairs(), 4);
  EXPECT_DOUBLE_EQ(phi.frequencies[2], 0.1);
  const json kinds{{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
                   {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}}};
  const RotaryArch gemma = reading("gemma3_tiny", "rope_parameters", kinds)();
  EXPECT_DOUBLE_EQ(gemma.frequencies[0], 1.0 / 8);
  EXPECT_DOUBLE_EQ(gemma.windowed[2], 0.1);
}

// The text model inside a model of pictures is named, if it is built in; a head of its own for masked tokens is
// refused.
TEST(RelativesFolder, PartsThatAreNotComputedAreNamed) {
  const Scratch s;
  const auto reading = [&](const json& file) {
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading({{"model_type", "llava"}, {"text_config", {{"model_type", "llama"}}}}),
                    {"llava", "trnsim torch", "llama", "get_text_config().save_pretrained(DIR)"}));
  EXPECT_TRUE(fails(Fault::kData, reading({{"model_type", "llava"}, {"text_config", {{"model_type", "mamba"}}}}),
                    {"llava", "names like it: llama; docs/your_model.md"}));
  const auto names = [&](const char* type) {
    try {
      reading({{"model_type", type}})();
    } catch (const base::Error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(names("olmo9"), testing::HasSubstr("like it: olmo, olmo2, olmo3, olmoe; docs/your_model.md"));
  EXPECT_THAT(names("qwen3_next"), testing::HasSubstr("it has layers of gated delta rules"));
  EXPECT_THAT(names("qwen3_next"), testing::HasSubstr("the nearest built-in type is qwen3_moe; docs/your_model.md"));
  EXPECT_LT(names("some_other_type").size(), 400U);
  for (const NotBuiltIn& row : types_not_built_in()) {
    EXPECT_EQ(blank_model(row.type), nullptr) << row.type;
    EXPECT_NE(blank_model(row.near), nullptr) << row.type;
  }
  // Files of Qwen2.5-VL may have the keys of its text model beside the others.
  EXPECT_THAT(names("qwen2_5_vl"), testing::HasSubstr("built-in type qwen2_5_vl_text"));
  json bert = read_json_file(golden("bert_tiny") / "config.json");
  bert["architectures"] = {"BertForMaskedLM"}, bert["tie_word_embeddings"] = false;
  EXPECT_TRUE(fails(Fault::kData, reading(bert), {"tie_word_embeddings"}));
  bert["architectures"] = {"BertForSequenceClassification"};
  reading(bert)();
}

TEST(RelativesFolder, KeysOfDeepSeekThatChangeTheNumbersAreRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  for (const auto& [key, value] : {std::pair<const char*, json>{"scoring_func", "sigmoid"},
                                   {"norm_topk_prob", true},
                                   {"moe_layer_freq", 2},
                                   {"topk_method", "noaux_tc"},
                                   {"v_head_dim", 13},
                                   {"first_k_dense_replace", 2},
                                   {"num_key_value_heads", 2},
                                   {"kv_lora_rank", 0},
                                   {"qk_rope_head_dim", 3},
                                   {"mlp_bias", true}})
    EXPECT_TRUE(fails(Fault::kData, reading("deepseek_v2_tiny", key, value),
                      {std::string{key} == "qk_rope_head_dim" ? "head_dim" : key}));
  EXPECT_TRUE(fails(Fault::kData, reading("deepseek_v2_groups_tiny", "n_group", 3), {"n_group", "3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("deepseek_v2_groups_tiny", "topk_group", 1), {"topk_group", "3 experts"}));
  EXPECT_TRUE(fails(Fault::kData, reading("deepseek_v3_tiny", "scoring_func", "softmax"), {"scoring_func"}));
}

// The head that turns is a part of its own, and the file's tensors are two each on the device.
TEST(RelativesFolder, LaterPresetsHaveAsManyParametersAsPublished) {
  EXPECT_EQ(parameter_count(model_preset("deepseek-v2-lite")->weights()), 15'706'484'224);
  EXPECT_EQ(parameter_count(model_preset("deepseek-moe-16b")->weights()), 16'375'728'128);
  // Without the layer that predicts a second token; with the biases of 58 choices of 256 experts.
  EXPECT_EQ(parameter_count(model_preset("deepseek-v3")->weights()), 671'026'404'352 + 58 * 256);
  EXPECT_EQ(parameter_count(model_preset("deepseek-v2")->weights()), 235'741'434'880);
  EXPECT_EQ(parameter_count(model_preset("falcon-rw-1b")->weights()), 1'311'625'216);
  EXPECT_EQ(parameter_count(model_preset("command-r-plus")->weights()), 103'810'674'688);
}

// The first release of BLOOM has other words for its sizes.
TEST(RelativesFolder, OldWordsOfSizesAreRead) {
  const Scratch s;
  json file = read_json_file(golden("bloom_tiny") / "config.json");
  const ModelPtr model = read_config(golden("bloom_tiny"));
  for (const auto& [now, then] : {std::pair{"hidden_size", "n_embed"}, std::pair{"n_head", "num_attention_heads"}})
    file[then] = file[now], file.erase(now);
  EXPECT_EQ(read_config(s.write("config.json", file.dump()))->config_json(), model->config_json());
}

// Slopes of a number of heads that is no power of two: every other of twice the power below, then those left out.
TEST(Slopes, FallByHeads) {
  const auto slopes = [](std::int64_t heads) {
    return decoder_arch(model_preset("bloom-560m")->with_sizes({.hidden = 64 * heads, .heads = heads}))
        .block.attention.slopes;
  };
  EXPECT_EQ(slopes(4), (std::vector<double>{1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256}));
  EXPECT_EQ(slopes(6), (std::vector<double>{1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256, 1.0 / 2, 1.0 / 8}));
}

// Adapters of a weight whose rows a file has in another order have theirs in that order, too.
TEST(Neighbours, AdaptersAreInTheFilesOrder) {
  const ModelPtr model = read_config(golden("helium_tiny"))->with_lora(Lora{.rank = 2, .targets = {"q_proj"}});
  const auto is_b = [](const WeightSpec& spec) { return spec.name.ends_with("q_proj.lora_B.weight"); };
  const std::vector<WeightSpec> specs = model->weights();
  const std::vector<WeightSpec> one{*std::ranges::find_if(specs, is_b)};
  const WeightSpec& b = one.front();
  ASSERT_EQ(b.pieces.size(), 2 * 4);  // of each head of 8: the first elements of its pairs, and the second ones
  std::vector<float> device(element_count(b.shape));
  for (std::size_t i = 0; i < device.size(); ++i) device[i] = static_cast<float>(i / 2);  // its row
  const auto stored = stored_tensors(one, [](const WeightSpec&) { return ElementType::kF32; });
  ASSERT_EQ(stored.size(), 1);
  EXPECT_EQ(stored[0].name, b.name);
  const std::vector<float> file = stored_values(stored[0], [&](const WeightSpec&) { return device; });
  const std::vector<float> first_head{0, 4, 1, 5, 2, 6, 3, 7};  // the device's row of each row of the file
  for (std::size_t row = 0; row < 8; ++row) EXPECT_EQ(file[2 * row], first_head[row]);
}

// transformers' defaults of keys that a file leaves out, and null where it states their absence.
TEST(RelativesFolder, CapsAndWindowsThatAFileLeavesOut) {
  const Scratch s;
  json file = read_json_file(golden("gemma2_tiny") / "config.json");
  file["attn_logit_softcapping"] = nullptr, file["sliding_window"] = nullptr;
  file.erase("final_logit_softcapping"), file.erase("query_pre_attn_scalar");
  const DecoderArch arch = decoder_arch(read_config(s.write("config.json", file.dump())));
  EXPECT_EQ(arch.block.attention.soft_cap, 0);
  EXPECT_EQ(arch.block.attention.window.tokens, 0);
  EXPECT_EQ(arch.head.soft_cap, 30);
  EXPECT_EQ(arch.block.attention.score_scale(), 1.0 / 16);
}

// A Llama's probabilities are dropped in training as its file says, and nowhere when told so.
TEST(RelativesFolder, DropoutOfAttentionIsTheFiles) {
  LlamaConfig config = read_llama_config(golden("llama_linear_tiny"));
  config.attention_dropout = 0.25;
  EXPECT_EQ(decoder_arch(config).block.attention.dropout, 0.25);
  EXPECT_EQ(decoder_arch(make_model(config)->without_dropout()).block.attention.dropout, 0);
}

// Dynamic scaling changes nothing up to max_position_embeddings; linear slows every pair. Source: transformers,
// modeling_rope_utils.py.
TEST(RelativesFolder, LinearAndDynamicRotaryScaling) {
  const Scratch s;
  json file = read_json_file(golden("llama_linear_tiny") / "config.json");
  const std::vector<double> linear = rope_frequencies(read_llama_config(golden("llama_linear_tiny")));
  file["rope_scaling"] = {{"rope_type", "dynamic"}, {"factor", 2.0}};
  const std::vector<double> dynamic = rope_frequencies(read_llama_config(s.write("config.json", file.dump())));
  EXPECT_EQ(dynamic, (std::vector<double>{1, 0.01}));
  EXPECT_EQ(linear, (std::vector<double>{0.5, 0.005}));
}

}  // namespace
}  // namespace workloads
