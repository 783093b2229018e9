// The relatives of Llama: PyTorch's trajectories under every kind of plan, their folders, their presets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/presets.h"
#include "workloads/training/recipe.h"
#include "workloads/training/verify.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::decoders;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

// Heads wider than the partitions, and heads that are normed as one.
constexpr const char* kOfFewPlans[] = {"gemma_wide_tiny", "olmo2_tiny", "olmoe_tiny", "olmo3_tiny"};
// Whose routers have a loss, of all tokens at once: no sum over data-parallel ranks or micro-batches of their own.
constexpr const char* kRouted[] = {"mixtral_tiny", "mixtral_capacity_tiny"};

struct RelativePlan {
  const char* name;
  std::uint32_t data = 1;
  std::int64_t tensor = 1, pipeline = 1, micro = 1;
  bool sequence = false, zero = false;
  runtime::Recompute recompute = runtime::Recompute::kNone;

  friend void PrintTo(const RelativePlan& c, std::ostream* out) { *out << c.name; }
};

class Relatives : public testing::TestWithParam<std::tuple<const char*, RelativePlan>> {};

void expect_pytorch(const char* model, const RelativePlan& plan) {
  runtime::Plan p;
  p.data = plan.data, p.tensor = plan.tensor, p.pipeline = plan.pipeline;
  p.micro_batches = plan.micro, p.sequence = plan.sequence, p.zero1 = plan.zero;
  p.recompute = plan.recompute;
  if (plan.tensor > 1 && read_config(golden(model))->sizes().experts > 0) p.sequence = true;
  workloads_test::expect_pytorch(model, p);
}

TEST_P(Relatives, Fp32FollowsPyTorch) { expect_pytorch(std::get<0>(GetParam()), std::get<1>(GetParam())); }

TEST(Experts, FollowPyTorchWithTheRoutersLoss) {
  expect_pytorch("mixtral_tiny", {.name = "one core"});
  expect_pytorch("mixtral_tiny", {.name = "TP 2", .tensor = 2, .recompute = runtime::Recompute::kSelective});
  expect_pytorch("mixtral_tiny", {.name = "TP 4", .tensor = 4, .recompute = runtime::Recompute::kFull});
  expect_pytorch("mixtral_capacity_tiny", {.name = "one core"});
  // The routers' loss is of all layers, wherever they are.
  expect_pytorch("mixtral_tiny", {.name = "PP 2", .pipeline = 2});
  expect_pytorch("mixtral_tiny", {.name = "TP 2, PP 2", .tensor = 2, .pipeline = 2});
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Relatives,
    testing::Combine(testing::ValuesIn(decoders()),
                     testing::Values(RelativePlan{.name = "one core"}, RelativePlan{.name = "TP 2", .tensor = 2},
                                     RelativePlan{.name = "TP 4, sequence parallel", .tensor = 4, .sequence = true},
                                     RelativePlan{.name = "PP 2", .pipeline = 2, .micro = 2},
                                     RelativePlan{.name = "ZeRO-1 over DP 2, recompute",
                                                  .data = 2,
                                                  .zero = true,
                                                  .recompute = runtime::Recompute::kFull})));

INSTANTIATE_TEST_SUITE_P(Few, Relatives,
                         testing::Combine(testing::ValuesIn(kOfFewPlans),
                                          testing::Values(RelativePlan{.name = "one core"},
                                                          RelativePlan{.name = "PP 2", .pipeline = 2, .micro = 2},
                                                          RelativePlan{.name = "ZeRO-1 over DP 2, recompute",
                                                                       .data = 2,
                                                                       .zero = true,
                                                                       .recompute = runtime::Recompute::kSelective})));

TEST(Olmo2, HeadsThatAreNormedAsOneStayTogether) {
  expect_pytorch("gemma_wide_tiny", {.name = "TP 2", .tensor = 2});
  const ModelPtr model = read_config(golden("olmo2_tiny"));
  const runtime::Plan two{.tensor = 2};
  ASSERT_TRUE(model->refuses(two).has_value());
  EXPECT_NE(model->refuses(two)->what.find("one norm spans"), std::string::npos);
  EXPECT_NE(model->refuses(two)->fix.find("use one of: 1"), std::string::npos);
}

// Beyond the original positions every pair has its long factor; cosines and sines grow by sqrt(1 + ln(s) / ln(l)).
TEST(LongRope, FactorsFollowTheLength) {
  const ModelPtr model = read_config(golden("phi3_long_tiny"));
  const DecoderArch arch = decoder_arch(model);
  const double magnitude = std::sqrt(1 + std::log(40.0 / 12) / std::log(12.0));
  EXPECT_DOUBLE_EQ(arch.block.rotary.magnitude, magnitude);
  const std::vector<HostTable> few = rope_tables(arch.block.rotary, 12), many = rope_tables(arch.block.rotary, 13);
  ASSERT_EQ(few.size(), 2);  // cosines and sines
  const double second = std::pow(1e4, -0.5);
  EXPECT_FLOAT_EQ(few[1].values[3], static_cast<float>(magnitude * std::sin(second / 1.5)));
  EXPECT_FLOAT_EQ(many[1].values[3], static_cast<float>(magnitude * std::sin(second / 4)));
  EXPECT_FLOAT_EQ(few[0].values[0], static_cast<float>(magnitude));
  const Scratch s;
  json file = read_json_file(golden("phi3_long_tiny") / "config.json");
  file["rope_scaling"]["long_factor"] = {2.0};
  const auto path = s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(path); }, {"long_factor", "2 numbers"}));
}

TEST(RelativesFolder, NamesAndKeysAreTheFilesBothWays) {
  std::vector<const char*> all = decoders();
  all.insert(all.end(), std::begin(kRouted), std::end(kRouted));
  all.insert(all.end(), std::begin(kOfFewPlans), std::end(kOfFewPlans));
  for (const char* name : all) workloads_test::expect_same_folder(name, {"hidden_act", "rope_scaling"});
}

TEST(RelativesFolder, PresetsHaveTheirPublishedParameters) {
  // From the model cards; Qwen2's and Qwen3's "non-embedding parameters" leave out token table and head.
  const std::vector<std::pair<const char*, double>> want = {{"mistral-7b", 7.242e9},
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
                                                            {"qwen1.5-moe-a2.7b", 14.316e9},
                                                            {"qwen2-57b-a14b", 57.41e9}};
  for (const auto& [name, parameters] : want) {
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
  EXPECT_EQ(attention.window_of(0), 0);
  EXPECT_EQ(attention.window_of(3), 7);
  EXPECT_EQ(attention.window_of(4), 0);
}

TEST(RelativesFolder, OneLayerInAnyNumberSeesEverything) {
  const Scratch s;
  json file = read_json_file(golden("gpt_neo_tiny") / "config.json");
  file["num_layers"] = 7;
  file["attention_types"] = json::parse(R"([[["global", "local", "local"], 2], [["global"], 1]])");
  const ModelPtr model = read_config(s.write("config.json", file.dump()));
  EXPECT_EQ(json::parse(model->config_json())["attention_types"], file["attention_types"]);
  for (const std::int64_t layer : {0, 3, 6}) EXPECT_EQ(decoder_arch(model).block.attention.window_of(layer), 0);
  for (const std::int64_t layer : {1, 2, 4, 5}) EXPECT_EQ(decoder_arch(model).block.attention.window_of(layer), 7);
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
  EXPECT_TRUE(fails(Fault::kData, reading("qwen2_tiny", "use_sliding_window", true), {"use_sliding_window"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mistral_tiny", "attention_bias", true), {"attention_bias"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi3_tiny", "resid_pdrop", 0.1), {"resid_pdrop"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_tiny", "attention_dropout", 1.5), {"attention_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gemma2_tiny", "layer_types", {"full_attention", "sliding_attention"}),
                    {"layer_types", "full_attention"}));
  EXPECT_TRUE(fails(Fault::kData, reading("smollm3_tiny", "no_rope_layers", {0, 1}), {"no_rope_layers"}));
  reading("smollm3_tiny", "no_rope_layers", {1, 0})();
  EXPECT_TRUE(fails(Fault::kData, reading("phi_tiny", "qk_layernorm", true), {"qk_layernorm"}));
  EXPECT_TRUE(fails(Fault::kData, reading("stablelm_tiny", "partial_rotary_factor", 0.1), {"partial_rotary_factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi_tiny", "num_key_value_heads", 2), {"num_key_value_heads"}));
  EXPECT_TRUE(fails(Fault::kData, reading("falcon_tiny", "alibi", true), {"alibi"}));
  EXPECT_TRUE(fails(Fault::kData, reading("falcon_40b_tiny", "num_kv_heads", 3), {"num_kv_heads", "3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("starcoder2_tiny", "use_bias", false), {"use_bias"}));
  EXPECT_TRUE(fails(Fault::kData, reading("starcoder2_tiny", "rope_scaling", {{"type", "linear"}}), {"rope_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_bigcode_tiny", "multi_query", false), {"multi_query"}));
  EXPECT_TRUE(fails(Fault::kData, reading("olmoe_tiny", "clip_qkv", 8.0), {"clip_qkv", "null"}));
  const json local = json::parse(R"([[["local", "global"], 2]])"), few = json::parse(R"([[["global", "local"], 1]])");
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_neo_tiny", "attention_types", local), {"attention_types", "local"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gpt_neo_tiny", "attention_types", few), {"of 4 layers"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mistral_tiny", "sliding_window", -3), {"sliding_window", "-3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("granite_tiny", "logits_scaling", 0), {"logits_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("llama_linear_tiny", "rope_scaling", {{"type", "linear"}}), {"factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_tiny", "model_type", "mamba"),
                    {"mamba", "trnsim torch", "bert", "mistral", "qwen2", "qwen3", "gemma", "granite", "phi3",
                     "mixtral", "qwen3_moe"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mixtral_tiny", "num_experts_per_tok", 5), {"num_experts_per_tok", "5"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mixtral_tiny", "capacity_factor", -1.0), {"capacity_factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "mlp_only_layers", {1}), {"mlp_only_layers"}));
  EXPECT_TRUE(fails(Fault::kData, reading("phi3_tiny", "partial_rotary_factor", 0.1), {"partial_rotary_factor"}));
}

TEST(RelativesFolder, KeysOfLaterFamiliesThatChangeTheNumbersAreRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("cohere_tiny", "use_qk_norm", true), {"use_qk_norm"}));
  EXPECT_TRUE(fails(Fault::kData, reading("cohere2_tiny", "sliding_window", nullptr), {"sliding_window"}));
  EXPECT_TRUE(fails(Fault::kData, reading("cohere2_tiny", "layer_types", {"full_attention", "sliding_attention"}),
                    {"layer_types"}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone4_tiny", "sliding_window_pattern", "LGL"), {"LGL"}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone4_tiny", "sliding_window_pattern", "LLLG"), {"layer_types"}));
  reading("exaone4_tiny", "sliding_window_pattern", "LG")();
  EXPECT_TRUE(fails(Fault::kData, reading("olmo3_tiny", "rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}),
                    {"rope_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("olmo_tiny", "clip_qkv", 8.0), {"clip_qkv"}));
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_tiny", "attention_dropout", 0.1), {"attention_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("nemotron_tiny", "hidden_act", "silu"), {"hidden_act", "relu2"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gptj_tiny", "rotary_dim", nullptr), {"rotary_dim"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gptj_tiny", "rotary_dim", 10), {"n_head"}));
  EXPECT_TRUE(fails(Fault::kData, reading("codegen_tiny", "n_head", 2), {"n_head", "4 groups"}));
  EXPECT_TRUE(fails(Fault::kData, reading("bloom_tiny", "n_inner", 5), {"n_inner"}));
  EXPECT_TRUE(fails(Fault::kData, reading("bloom_tiny", "apply_residual_connection_post_layernorm", true),
                    {"apply_residual_connection_post_layernorm"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mpt_tiny", "no_bias", false), {"no_bias"}));
  for (const auto& [key, value] : {std::pair<const char*, json>{"alibi", false}, {"clip_qkv", 6}, {"qk_ln", true}})
    EXPECT_TRUE(fails(Fault::kData, reading("mpt_tiny", "attn_config", {{key, value}}), {"attn_config", key}));
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

// Warm-up, cosine, betas, epsilon, decay of matrices alone and clipping: each as the trajectory states it.
TEST(Recipes, EverySettingThatATrajectoryStatesIsRepeated) {
  expect_pytorch("qwen2_recipe_tiny", {.name = "one core"});
  // Parameters of one row that are neither biases nor norms decay as all others.
  expect_pytorch("roberta_recipe_tiny", {.name = "one core"});
  expect_pytorch("roberta_recipe_tiny", {.name = "DP 2", .data = 2});
  // LAMB's ratio is of the checkpoint's tensor, in whatever parts cores have it.
  expect_pytorch("gpt_lamb_tiny", {.name = "one core"});
  expect_pytorch("gpt_lamb_tiny", {.name = "TP 2", .tensor = 2});
  expect_pytorch("gpt_lamb_tiny", {.name = "TP 2, PP 2, micro-batches", .tensor = 2, .pipeline = 2, .micro = 2});
  expect_pytorch("qwen2_recipe_tiny", {.name = "ZeRO-1 over DP 2, TP 2", .data = 2, .tensor = 2, .zero = true});
}

TEST(Recipes, UnsupportedSettingsAreRefusedByName) {
  const Scratch s;
  const auto reading = [&](const char* key, const json& value) {
    json file = read_json_file(golden("qwen2_recipe_tiny") / "expected.json");
    file[key] = value;
    return [path = s.write("expected.json", file.dump())] { read_recipe(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("optimizer", "Lion betas 0.9 0.99 weight_decay 0.1"), {"optimizer", "Lion"}));
  EXPECT_TRUE(fails(Fault::kData, reading("optimizer", "AdamW weight_decay 0.1, amsgrad"), {"optimizer", "amsgrad"}));
  EXPECT_TRUE(
      fails(Fault::kData, reading("optimizer", "AdamW momentum 0.9 weight_decay 0.1"), {"optimizer", "factors"}));
  EXPECT_TRUE(
      fails(Fault::kData, reading("optimizer", "SGD betas 0.9 0.99 weight_decay 0.1"), {"optimizer", "factors"}));
  EXPECT_TRUE(fails(Fault::kData, reading("schedule", "one cycle"), {"schedule", "one cycle"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dropout", 0.1), {"dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dtype", "bfloat16"), {"dtype", "bfloat16"}));
  EXPECT_TRUE(fails(Fault::kData, reading("amsgrad", true), {"amsgrad"}));
  EXPECT_TRUE(fails(Fault::kData, reading("loss_per_step_bf16", {1.0}), {"loss_per_step_bf16"}));
  EXPECT_TRUE(fails(Fault::kData, reading("loss_per_step", json::array()), {"loss_per_step", "no step"}));
  const Recipe recipe = read_recipe(golden("qwen2_recipe_tiny") / "expected.json");
  EXPECT_EQ(recipe.schedule, "cosine");
  EXPECT_EQ(recipe.warmup, 2);
  EXPECT_EQ(recipe.smoothing, 0.1);
  EXPECT_EQ(recipe.optimizer, (OptimizerSpec{.beta1 = 0.8,
                                             .beta2 = 0.95,
                                             .epsilon = 1e-6,
                                             .weight_decay = 0.1,
                                             .decay_all = false,
                                             .max_grad_norm = 0.5}));
}

// PyTorch's own losses in bf16 are off by their last bit at least; two ways of rounding may differ by twice that.
TEST(Recipes, Bf16StaysWithinTwicePyTorchsOwnSpread) {
  for (const char* model : decoders()) {
    VerifyOptions options;
    options.target = trn1_target();
    options.plan.numerics = runtime::numerics("bf16");
    options.host_threads = 1;
    const VerifyReport report = verify(golden(model), options);
    ASSERT_TRUE(report.bf16_spread.has_value()) << model;
    EXPECT_GT(*report.bf16_spread, 1e-4) << model;
    EXPECT_LT(*report.bf16_spread, 0.05) << model;
    EXPECT_LE(report.worst_loss(), 2 * *report.bf16_spread) << model;
  }
}

TEST(Experts, RanksMustDivideThemAndHaveTokensOfTheirOwn) {
  const ModelPtr model = read_config(golden("mixtral_tiny"));
  const auto step = [&](const ModelPtr& of, std::int64_t tensor, bool sequence) {
    return [of, tensor, sequence] {
      of->step({.plan = {.tensor = tensor, .sequence = sequence, .micro_batch = 4}, .kind = {.length = 24}});
    };
  };
  EXPECT_TRUE(fails(Fault::kUsage, step(model, 2, false), {"disable_sequence_parallel", "experts"}));
  LlamaConfig six = read_llama_config(golden("mixtral_tiny"));
  six.num_experts = 6;
  EXPECT_TRUE(fails(Fault::kUsage, step(six, 4, true), {"tensor_parallel_size", "6 experts", "1, 2"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model_preset("qwen3-4b")->with_capacity_factor(1); }, {"capacity_factor"}));
}

// A rank computes its experts' slots of every rank: as many FLOPs as the tokens' choices when slots are an even share.
TEST(Experts, FlopsAreThoseOfTheChosen) {
  const ModelPtr model = model_preset("mixtral-small")->with_capacity_factor(1);
  const Step step{.plan = {.tensor = 2, .sequence = true, .micro_batch = 4, .numerics = runtime::numerics("bf16")},
                  .kind = {.length = 128}};
  const runtime::Compiled compiled = runtime::compile(model->step(step).graph, trn1_target(), {.name = "moe"});
  EXPECT_NEAR(2 * compiled.program.model_flops / model->flops(step), 1, 0.05);
}

// transformers' defaults of keys that a file leaves out, and null where it states their absence.
TEST(RelativesFolder, CapsAndWindowsThatAFileLeavesOut) {
  const Scratch s;
  json file = read_json_file(golden("gemma2_tiny") / "config.json");
  file["attn_logit_softcapping"] = nullptr, file["sliding_window"] = nullptr;
  file.erase("final_logit_softcapping"), file.erase("query_pre_attn_scalar");
  const DecoderArch arch = decoder_arch(read_config(s.write("config.json", file.dump())));
  EXPECT_EQ(arch.block.attention.soft_cap, 0);
  EXPECT_EQ(arch.block.attention.window, 0);
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
