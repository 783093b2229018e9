// Keys of families of their own that would make another model: refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

class LaterFamilies : public testing::Test {
 protected:
  /// Reads a golden model's file with one key changed.
  auto reading(const char* name, const char* key, const json& value) const {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s_.write("config.json", file.dump())] { read_config(path); };
  }

  const Scratch s_;
};

TEST_F(LaterFamilies, KeysThatChangeTheNumbersAreRefused) {
  EXPECT_TRUE(fails(Fault::kData, reading("cohere2_tiny", "use_qk_norm", true), {"use_qk_norm"}));
  EXPECT_TRUE(fails(Fault::kData, reading("cohere2_tiny", "sliding_window", nullptr), {"sliding_window"}));
  EXPECT_TRUE(fails(Fault::kData, reading("cohere2_tiny", "layer_types", {"full_attention", "sliding_attention"}),
                    {"layer_types"}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone4_tiny", "sliding_window_pattern", "LGL"), {"LGL"}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone4_tiny", "sliding_window_pattern", "LLLG"), {"layer_types"}));
  reading("exaone4_tiny", "sliding_window_pattern", "LG")();
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_tiny", "attention_dropout", 0.1), {"attention_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("nemotron_tiny", "hidden_act", "silu"), {"hidden_act", "relu2"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gptj_tiny", "rotary_dim", nullptr), {"rotary_dim"}));
  EXPECT_TRUE(fails(Fault::kData, reading("gptj_tiny", "rotary_dim", 10), {"n_head"}));
  EXPECT_TRUE(fails(Fault::kData, reading("codegen_tiny", "n_head", 2), {"n_head", "4 groups"}));
  EXPECT_TRUE(fails(Fault::kData, reading("bloom_tiny", "n_inner", 5), {"n_inner"}));
  EXPECT_TRUE(fails(Fault::kData, reading("bloom_tiny", "apply_residual_connection_post_layernorm", true),
                    {"apply_residual_connection_post_layernorm"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mpt_tiny", "no_bias", false), {"no_bias"}));
  for (const auto& [key, value] :
       {std::pair<const char*, json>{"alibi", false}, {"clip_qkv", -6}, {"qk_ln", true}, {"rope", true}})
    EXPECT_TRUE(fails(Fault::kData, reading("mpt_tiny", "attn_config", {{key, value}}), {"attn_config", key}));
}

// Their publishers' classes have heads of 128 elements where a file says nothing.
TEST_F(LaterFamilies, AFileWithoutASizeOfHeadsHasItsPublishers) {
  for (const char* name : {"chatglm_tiny", "qwen_tiny"}) {
    json file = read_json_file(golden(name) / "config.json");
    file.erase("kv_channels");
    EXPECT_EQ(read_config(s_.write("config.json", file.dump()))->sizes().head, 128) << name;
  }
}

// An embedding model's own code may let tokens see later ones.
TEST_F(LaterFamilies, ADecoderThatIsNotCausalIsRefused) {
  for (const char* name : {"qwen2_tiny", "mistral_tiny", "llama_tiny"})
    EXPECT_TRUE(fails(Fault::kData, reading(name, "is_causal", false), {"is_causal"})) << name;
  EXPECT_NO_THROW(reading("qwen2_tiny", "is_causal", true)());
}

// Errors name keys as the file has them.
TEST_F(LaterFamilies, KeysHaveTheWordsOfTheirFile) {
  EXPECT_TRUE(fails(Fault::kData, reading("exaone_tiny", "num_layers", nullptr), {"has no", "\"num_layers\""}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone_tiny", "num_layers", 0), {"\"num_layers\"", "not in 1.."}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone_tiny", "activation_function", "relu"), {"activation_function"}));
  EXPECT_TRUE(fails(Fault::kData, reading("exaone_tiny", "embed_dropout", 0.1), {"embed_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", "multi_query_group_num", 3), {"multi_query_group_num", "3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", "ffn_hidden_size", "wide"), {"ffn_hidden_size", "whole"}));
  for (const char* key : {"add_bias_linear", "apply_residual_connection_post_layernorm"})
    EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", key, true), {key}));
  EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", "rope_ratio", -2), {"rope_ratio", "-2"}));
  for (const char* key : {"rmsnorm", "post_layer_norm"})
    EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", key, false), {key}));
  EXPECT_TRUE(fails(Fault::kData, reading("chatglm_tiny", "position_encoding_2d", true), {"first ChatGLM"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen_tiny", "no_bias", false), {"no_bias"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen_tiny", "intermediate_size", 47), {"intermediate_size", "odd"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen_tiny", "rotary_pct", 0.5), {"rotary_pct"}));
  EXPECT_TRUE(fails(Fault::kData, reading("baichuan_tiny", "z_loss_weight", 0.1), {"z_loss_weight"}));
  EXPECT_TRUE(fails(Fault::kData, reading("minicpm_tiny", "num_experts", 8), {"num_experts"}));
  EXPECT_TRUE(fails(Fault::kData, reading("minicpm_tiny", "scale_depth", -1.4), {"scale_depth"}));
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_moe_tiny", "moe_k", 9), {"moe_k", "9"}));
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_moe_tiny", "moe_num_shared_experts", -1), {"moe_num_shared"}));
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_moe_tiny", "moe_layer_end_index", 0), {"moe_layer_end_index"}));
  reading("ernie4_5_moe_tiny", "moe_layer_end_index", 1)();
  EXPECT_TRUE(fails(Fault::kData, reading("ernie4_5_moe_tiny", "moe_layer_interval", 2), {"moe_layer_interval"}));
  EXPECT_TRUE(fails(Fault::kData, reading("internlm_tiny", "rotary", {{"type", "dynamic"}, {"base", "x"}}), {"base"}));
}

TEST_F(LaterFamilies, MobileBertsOfOtherPartsAreRefused) {
  for (const auto& [key, value] : {std::pair<const char*, json>{"normalization_type", "layer_norm"},
                                   {"use_bottleneck", false},
                                   {"use_bottleneck_attention", true},
                                   {"trigram_input", false},
                                   {"num_attention_heads", 3},
                                   {"num_feedforward_networks", 0},
                                   {"hidden_act", "silu"}})
    EXPECT_TRUE(fails(Fault::kData, reading("mobilebert_tiny", key, value), {key}));
  const ModelPtr model = read_config(golden("mobilebert_tiny"));
  EXPECT_EQ(model->with_head(Head::kTokens)->head(), Head::kTokens);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->with_head(Head::kMaskedTokens); }, {"MobileBERT", "hidden tokens"}));
}

// Granite 4 is built in where all layers attend, Hunyuan with norms of queries and keys.
TEST_F(LaterFamilies, PartsOfGranite4AndHunyuanThatAreNotBuiltInAreRefused) {
  EXPECT_TRUE(fails(Fault::kData, reading("granitemoehybrid_tiny", "layer_types", {"attention", "mamba"}),
                    {"layer_types", "Mamba", "granite-4.0-micro"}));
  EXPECT_TRUE(fails(Fault::kData, reading("granitemoehybrid_tiny", "layer_types", nullptr), {"layer_types", "Mamba"}));
  EXPECT_TRUE(fails(Fault::kData, reading("granitemoehybrid_tiny", "num_local_experts", 8), {"num_local_experts"}));
  EXPECT_TRUE(fails(Fault::kData, reading("granitemoehybrid_tiny", "shared_intermediate_size", 0),
                    {"shared_intermediate_size"}));
  EXPECT_TRUE(fails(Fault::kData, reading("hunyuan_v1_dense_tiny", "use_qk_norm", false), {"use_qk_norm"}));
  EXPECT_TRUE(fails(
      Fault::kData,
      reading("kimi_k2_tiny", "rope_scaling", {{"type", "yarn"}, {"factor", 4}, {"beta_fast", 1}, {"beta_slow", 2}}),
      {"beta_fast", "beta_slow"}));
  EXPECT_TRUE(fails(Fault::kData, reading("eurobert_tiny", "clf_pooling", "max"), {"clf_pooling", "bos"}));
  EXPECT_TRUE(fails(Fault::kData, reading("eurobert_tiny", "num_key_value_heads", 3), {"num_key_value_heads"}));
  EXPECT_TRUE(fails(Fault::kData, reading("eurobert_tiny", "rope_scaling", {{"type", "linear"}}), {"rope_scaling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dinov2_tiny", "drop_path_rate", 0.1), {"drop_path_rate"}));
  EXPECT_TRUE(fails(Fault::kData, reading("dinov2_tiny", "mlp_ratio", -1), {"mlp_ratio"}));
}

// Published counts of parameters, in billions: of Apertus 70.6, of Ettin's decoders 0.017, 0.068,
// 0.15 and 1.0, of Ling 16.8, 16.26 and 102.9; of Ministral 3
// without its encoder of pictures 3.4, 8.4 and 13.5; of Granite 4 3.4, 1.6 and 0.35; of EuroBERT 0.21, 0.61 and 2.1; of
// Kimi K2 1,026 (Kimi Team, arXiv:2507.20534); of MiniMax-M2 230; of GPT-1 0.117; of EmbeddingGemma 0.308, of which
// 0.005 are the layers behind it.
TEST_F(LaterFamilies, PresetsHaveThePublishedSizes) {
  for (const auto& [name, billions] : {std::pair{"ministral3-3b", 3.43},
                                       {"ministral3-8b", 8.49},
                                       {"ministral3-14b", 13.51},
                                       {"granite-4.0-micro", 3.40},
                                       {"granite-4.0-1b", 1.63},
                                       {"granite-4.0-350m", 0.352},
                                       {"hunyuan-7b", 7.50},
                                       {"hunyuan-1.8b", 1.79},
                                       {"hunyuan-4b", 4.22},
                                       {"eurobert-210m", 0.212},
                                       {"eurobert-610m", 0.608},
                                       {"eurobert-2.1b", 2.11},
                                       {"kimi-k2", 1026.4},
                                       {"minimax-m2", 228.7},
                                       {"embeddinggemma-300m", 0.3029},
                                       {"apertus-70b", 70.60},
                                       {"ettin-decoder-17m", 0.0169},
                                       {"ettin-decoder-68m", 0.0684},
                                       {"ettin-decoder-150m", 0.1497},
                                       {"ettin-decoder-1b", 1.031},
                                       {"ling-lite", 16.80},
                                       {"ling-mini-2.0", 16.26},
                                       {"ling-flash-2.0", 102.9},
                                       {"openai-gpt", 0.1165}})
    EXPECT_NEAR(static_cast<double>(parameter_count(model_preset(name)->weights())) * 1e-9 / billions, 1, 0.005)
        << name;
}

// The buffers beside the two numbers of each layer are no parameters. Source: model card of swiss-ai/Apertus-8B-2509.
TEST_F(LaterFamilies, ApertusHasTwoNumbersInEachLayer) {
  EXPECT_EQ(parameter_count(model_preset("apertus-8b")->weights()), 8'053'338'176U);
  for (const auto& [key, value] : {std::pair<const char*, json>{"hidden_act", "silu"},
                                   {"mlp_bias", true},
                                   {"qk_norm", false},
                                   {"post_norm", true},
                                   {"hidden_dropout", 0.1}})
    EXPECT_TRUE(fails(Fault::kData, reading("apertus_tiny", key, value), {key}));
  json file = read_json_file(golden("apertus_tiny") / "config.json");
  file.erase("rope_scaling"), file.erase("rope_theta");  // as transformers' class has them
  const DecoderArch arch = decoder_arch(read_config(s_.write("config.json", file.dump())));
  file["rope_theta"] = 12e6;
  file["rope_scaling"] = {{"rope_type", "llama3"},
                          {"factor", 8.0},
                          {"low_freq_factor", 1.0},
                          {"high_freq_factor", 4.0},
                          {"original_max_position_embeddings", 8192}};
  EXPECT_EQ(arch.block.rotary.frequencies,
            decoder_arch(read_config(s_.write("config.json", file.dump()))).block.rotary.frequencies);
}

// A slope or an eps of its own would be another function; a file may lack both.
TEST_F(LaterFamilies, BuffersOfXieluAreThoseOfTransformers) {
  const ModelPtr model = read_config(golden("apertus_tiny"));
  Weights weights = load_weights(golden("apertus_tiny"), model, 1);
  const std::string beta = "model.layers.1.mlp.act_fn.beta";
  EXPECT_EQ(weights.values.at(beta), std::vector<float>{0.5F});
  save_weights(s_.path(), model, weights, ElementType::kBf16);
  EXPECT_NO_THROW(load_weights(s_.path(), model, 1));
  weights.values[beta] = {0.6F};
  save_weights(s_.path(), model, weights);
  EXPECT_TRUE(fails(Fault::kData, [&] { load_weights(s_.path(), model, 1); }, {beta, "0.6", "0.5"}));
}

// Files of the second generation may have the first one's type.
TEST_F(LaterFamilies, LingIsOfTwoGenerations) {
  EXPECT_EQ(read_config(golden("bailing_moe_tiny"))->family(), "Ling");
  reading("bailing_moe_v2_tiny", "model_type", "bailing_moe")();
  EXPECT_EQ(read_config(s_.path())->family(), "Ling 2");
  for (const auto& [key, value] : {std::pair<const char*, json>{"norm_head", true},
                                   {"multi_gate", true},
                                   {"score_function", "sigmoid"},
                                   {"embedding_dropout", 0.1},
                                   {"output_router_logits", true},
                                   {"use_sliding_window", true},
                                   {"num_key_value_heads", nullptr},
                                   {"first_k_dense_replace", 2}})
    EXPECT_TRUE(fails(Fault::kData, reading("bailing_moe_tiny", key, value), {key}));
  for (const auto& [key, value] : {std::pair<const char*, json>{"use_qk_norm", false},
                                   {"norm_topk_prob", false},
                                   {"moe_router_enable_expert_bias", false},
                                   {"score_function", "softmax"},
                                   {"routed_scaling_factor", nullptr},
                                   {"partial_rotary_factor", nullptr},
                                   {"n_group", 3}})
    EXPECT_TRUE(fails(Fault::kData, reading("bailing_moe_v2_tiny", key, value), {key}));
}

// Which layers see all tokens differs between releases of transformers, so the file must say.
TEST_F(LaterFamilies, ModernBertsDecoderListsItsLayers) {
  constexpr const char* kName = "modernbert-decoder_tiny";
  for (const auto& [key, value] :
       {std::pair<const char*, json>{"layer_types", nullptr},
        {"layer_types", {"full_attention", "full_attention", "sliding_attention", "full_attention"}},
        {"global_attn_every_n_layers", 0},
        {"local_attention", 1},
        {"sliding_window", 8},
        {"norm_bias", true},
        {"classifier_bias", true},
        {"classifier_activation", "relu"},
        {"attention_dropout", 0.1},
        {"embedding_dropout", 0.1},
        {"mlp_dropout", 0.1},
        {"hidden_activation", "silu"}})
    EXPECT_TRUE(fails(Fault::kData, reading(kName, key, value), {key}));
  reading(kName, "layer_types", {"sliding_attention", "full_attention", "sliding_attention", "full_attention"})();
  const AttentionArch attention = decoder_arch(read_config(s_.path())).block.attention;
  EXPECT_EQ(attention.window.of(0), 7);
  EXPECT_EQ(attention.window.of(1), 0);
  EXPECT_EQ(decoder_arch(read_config(golden(kName))).block.attention.window.of(0), 0);
}

// As their publishers' classes have it where a file does not say; where it does not divide, the file must.
TEST_F(LaterFamilies, HeadsOfKeysAreThoseOfThePublishersClass) {
  for (const auto& [name, heads] : {std::pair{"internlm3_tiny", 32}, {"orion_tiny", 40}}) {
    json file = read_json_file(golden(name) / "config.json");
    file.erase("num_key_value_heads");
    EXPECT_TRUE(
        fails(Fault::kData, [&] { read_config(s_.write("config.json", file.dump())); }, {"num_key_value_heads"}));
    file["num_attention_heads"] = 2 * heads;
    EXPECT_EQ(read_config(s_.write("config.json", file.dump()))->sizes().kv_heads, heads);
  }
  json file = read_json_file(golden("chatglm_tiny") / "config.json");
  file.erase("multi_query_group_num");
  EXPECT_EQ(read_config(s_.write("config.json", file.dump()))->sizes().kv_heads, 1);
  file["multi_query_attention"] = false;
  EXPECT_EQ(read_config(s_.write("config.json", file.dump()))->sizes().kv_heads, 4);
}

TEST_F(LaterFamilies, PartsOfMiniMaxThatAreNotBuiltInAreRefused) {
  for (const auto& [key, value] : {std::pair<const char*, nlohmann::json>{"attn_type_list", {1, 0}},
                                   {"qk_norm_type", "per_head"},
                                   {"use_routing_bias", false},
                                   {"scoring_func", "softmax"},
                                   {"output_router_logits", true},
                                   {"shared_intermediate_size", 8}})
    EXPECT_TRUE(fails(Fault::kData, reading("minimax_m2_tiny", key, value), {key}));
  EXPECT_TRUE(fails(Fault::kData, reading("openai_gpt_tiny", "afn", "relu"), {"afn"}));
  EXPECT_TRUE(
      fails(Fault::kData, reading("dinov2_with_registers_tiny", "num_register_tokens", 0), {"num_register_tokens"}));
}

// EmbeddingGemma is the encoder that a Gemma 3 without a causal mask is.
TEST_F(LaterFamilies, PartsOfEmbeddingGemmaThatAreNotBuiltInAreRefused) {
  const ModelPtr model = read_config(golden("embedding_gemma_tiny"));
  EXPECT_EQ(model->decoder(), nullptr);
  for (const auto& [key, value] : {std::pair<const char*, nlohmann::json>{"head_dim", 8},
                                   {"head_dim", nullptr},
                                   {"layer_types", {"full_attention", "sliding_attention", "sliding_attention"}},
                                   {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}},
                                   {"attn_logit_softcapping", 50.0},
                                   {"num_key_value_heads", 3}})
    EXPECT_TRUE(fails(Fault::kData, reading("embedding_gemma_tiny", key, value), {key}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->with({.head = Head::kMaskedTokens}); }, {"task", "EmbeddingGemma"}));
}

// A text's tokens have the same position in each direction of a picture: angles are those of the family.
TEST_F(LaterFamilies, TextModelsOfQwenVlAreQwen) {
  for (const auto& [name, type] : {std::pair{"qwen2_tiny", "qwen2_5_vl_text"}, {"qwen3_tiny", "qwen3_vl_text"}}) {
    nlohmann::json file = read_json_file(golden(name) / "config.json");
    const ModelPtr own = read_config(golden(name));
    file["model_type"] = type, file["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", {1, 1, 0}}};
    file.erase("architectures");
    const Scratch s;
    testing::internal::CaptureStderr();
    EXPECT_EQ(read_config(s.write("config.json", file.dump()))->config_json(), own->config_json());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

// Queries of Ministral 3 grow behind the positions that it was trained for first: sequences within have no tables of
// their own, and give the device no work more.
TEST_F(LaterFamilies, QueriesGrowBehindTheFirstPositionsAlone) {
  const RotaryArch rotary = read_config(golden("ministral3_tiny"))->info().decoder->block.rotary;
  const auto names = [&](std::int64_t length) {
    std::vector<std::string> out;
    for (const HostTable& table : rope_tables(rotary, length)) out.push_back(table.name);
    return out;
  };
  EXPECT_THAT(names(10), testing::ElementsAre("rope.cos", "rope.sin"));
  EXPECT_THAT(names(11), testing::ElementsAre("rope.cos", "rope.sin", "rope.query.cos", "rope.query.sin"));
  EXPECT_DOUBLE_EQ(rotary.query_size(9), 1);
  EXPECT_DOUBLE_EQ(rotary.query_size(20), 1 + 0.3 * std::log(3.0));
}

// Their layers are Llama's, under a model_type of their own.
TEST_F(LaterFamilies, SomeAreLlamasUnderAnotherName) {
  json file = read_json_file(golden("llama_tiny") / "config.json");
  const Scratch s;
  const auto parameters = [&](const char* type) {
    file["model_type"] = type;
    return parameter_count(read_config(s.write("config.json", file.dump()))->weights());
  };
  for (const char* type : {"aquila", "xverse", "Yi", "internlm3"})
    EXPECT_EQ(parameters(type), parameters("llama")) << type;
}

TEST_F(LaterFamilies, ExpertsAndLayersThatAreAnothersAreRefused) {
  EXPECT_TRUE(fails(Fault::kData, reading("dbrx_tiny", "attn_config", {{"kv_n_heads", 3}}), {"kv_n_heads", "3"}));
  for (const auto& [key, value] : {std::pair<const char*, json>{"interleave_moe_layer_step", 0},
                                   {"interleave_moe_layer_step", 5},
                                   {"moe_layers", {0, 1}},
                                   {"no_rope_layers", {1, 0, 1, 0}},
                                   {"layer_types", {"full_attention"}},
                                   {"attention_chunk_size", 0},
                                   {"floor_scale", -1}})
    EXPECT_TRUE(fails(Fault::kData, reading("llama4_text_tiny", key, value), {key}));
  for (const auto& [key, value] : {std::pair<const char*, json>{"moe_jitter_eps", 0.1},
                                   {"moe_top_k", 9},
                                   {"moe_normalize_expert_weights", 2},
                                   {"ffn_act_fn", {{"name", "gelu"}}}})
    EXPECT_TRUE(fails(Fault::kData, reading("dbrx_tiny", "ffn_config", {{"moe_num_experts", 8}, {key, value}}),
                      {"ffn_config", key == std::string_view{"ffn_act_fn"} ? "name" : key}));
}

}  // namespace
}  // namespace workloads
