// Keys of a config.json that nothing reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/registry.h"

namespace workloads {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using workloads_test::golden;
using workloads_test::Scratch;

/// The warnings of a golden model's file with another value of a key.
std::string reading(const char* name, const char* key, const json& value) {
  const Scratch s;
  json file = read_json_file(golden(name) / "config.json");
  file[key] = value;
  testing::internal::CaptureStderr();
  read_config(s.write("config.json", file.dump()));
  return testing::internal::GetCapturedStderr();
}

// A key that no one reads is one that another model has, unless its value is off or decides nothing.
TEST(UnreadKeys, AreNamedUnlessTheyAreOffOrInert) {
  for (const auto& [name, key, value] : {std::tuple<const char*, const char*, json>{"llama_tiny", "sliding_window", 8},
                                         {"llama_tiny", "attention_chunk_size", 8192},
                                         {"llama_tiny", "final_logit_softcapping", 30.0},
                                         {"qwen2_tiny", "dual_chunk_attention_config", {{"chunk_size", 64}}},
                                         {"bert_tiny", "attention_window", 64},
                                         {"opt_tiny", "rotary_dim", 4},
                                         {"llama_tiny", "scale_attn_weights", false},
                                         {"llama_tiny", "qkv_bias", true},
                                         {"phi3_tiny", "full_attn_mod", 2},
                                         {"vit_tiny", "layerscale_value", 0.1},
                                         {"deberta-v2_tiny", "conv_act", "gelu"},
                                         {"t5_tiny", "sliding_window", 4},
                                         {"whisper_tiny", "apply_spec_augment", true}})
    EXPECT_THAT(
        reading(name, key, value),
        AllOf(HasSubstr(fmt::format("trnsim ignores \"{}\" ({})", key, value.dump())), HasSubstr("trnsim torch")));
  for (const auto& [name, key, value] :
       {std::tuple<const char*, const char*, json>{"llama_tiny", "sliding_window", {}},
        {"llama_tiny", "attention_chunk_size", 0},
        {"llama_tiny", "logits_soft_cap", 0.0},
        {"llama_tiny", "pretraining_tp", 4},
        {"llama_tiny", "layer_types", {"full_attention", "full_attention"}},
        {"bert_tiny", "position_embedding_type", "absolute"},
        {"bert_tiny", "tie_word_embeddings", true},
        {"llama_tiny", "scale_attn_weights", true},
        {"llama_tiny", "is_llama_config", true},
        {"qwen_tiny", "use_logn_attn", true},
        {"chatglm_tiny", "original_rope", true},
        {"mobilebert_tiny", "layer_norm_eps", 1e-12},
        {"clip_tiny", "projection_dim", 512},
        {"gemma2_tiny", "sliding_window_size", 4096},
        {"phi3_tiny", "full_attn_mod", 1},
        {"phi3_tiny", "interpolate_factor", 1},
        {"deberta-v2_tiny", "legacy", true},
        {"m2m_100_tiny", "num_hidden_layers", 2},
        {"llama_linear_tiny", "rope_scaling", {{"rope_type", "linear"}, {"type", "linear"}, {"factor", 2.0}}},
        {"bert_tiny", "pooler_fc_size", 768}})
    EXPECT_EQ(reading(name, key, value), "") << key;
}

// Some keys change nothing in one family, or with one value.
TEST(UnreadKeys, OfOneFamilyOrOneValueAreNamed) {
  EXPECT_THAT(reading("deepseek_tiny", "aux_loss_alpha", 0.001), HasSubstr("aux_loss_alpha"));
  EXPECT_THAT(reading("hunyuan_v1_dense_tiny", "norm_type", "layer"), HasSubstr("norm_type"));
  EXPECT_EQ(reading("deepseek_v2_tiny", "aux_loss_alpha", 0.001), "");
  EXPECT_EQ(reading("hunyuan_v1_dense_tiny", "norm_type", "rms"), "");
}

// One inside an object that is read has the object's key in front.
TEST(UnreadKeys, OfAnObjectInsideAreNamed) {
  EXPECT_THAT(
      reading("llama_linear_tiny", "rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}, {"short_mscale", 1.25}}),
      HasSubstr("trnsim ignores \"rope_scaling.short_mscale\" (1.25)"));
}

// An encoder-decoder is modelled as it writes a text: a file of its encoder, or of a classifier, is another model.
TEST(UnreadKeys, AnotherHeadOfAnEncoderDecoderIsNamed) {
  for (const auto& [name, made] : {std::pair{"whisper_tiny", "WhisperForAudioClassification"},
                                   {"bart_tiny", "BartForSequenceClassification"},
                                   {"t5_tiny", "T5EncoderModel"}})
    EXPECT_THAT(reading(name, "architectures", json::array({made})), HasSubstr(fmt::format("not for {}", made)));
  for (const auto& [name, made] : {std::pair{"whisper_tiny", "WhisperForConditionalGeneration"},
                                   {"bart_tiny", "BartModel"},
                                   {"t5_tiny", "T5WithLMHeadModel"},
                                   {"marian_tiny", "MarianMTModel"}})
    EXPECT_EQ(reading(name, "architectures", json::array({made})), "") << made;
}

// A file that runs its publisher's code is no model of transformers' class of that type, unless the code is a copy of
// it.
// The answer is about the head that a family has here, whatever class a file was saved from.
TEST(UnreadKeys, AnotherHeadOfAnEncoderOrADecoderIsNamed) {
  for (const auto& [name, made] : {std::pair{"bert_tiny", "BertForQuestionAnswering"},
                                   {"roberta_tiny", "RobertaForMultipleChoice"},
                                   {"gpt_tiny", "GPT2ForSequenceClassification"},
                                   {"gpt_tiny", "GPT2DoubleHeadsModel"},
                                   {"opt_tiny", "OPTForSequenceClassification"},
                                   {"llama_tiny", "LlamaForTokenClassification"},
                                   {"qwen2_tiny", "Qwen2ForRewardModel"},
                                   {"dinov2_tiny", "Dinov2ForSemanticSegmentation"}})
    EXPECT_THAT(reading(name, "architectures", {made}),
                AllOf(HasSubstr("trnsim answers for"), HasSubstr(fmt::format("not for {}", made))))
        << name;
  for (const auto& [name, made] : {std::pair{"bert_tiny", "BertModel"},
                                   {"bert_tiny", "BertForMaskedLM"},
                                   {"roformer_tiny", "RoFormerModel"},
                                   {"gpt_tiny", "GPT2Model"},
                                   {"llama_tiny", "LlamaForSequenceClassification"},
                                   {"dinov2_tiny", "Dinov2Model"},
                                   {"vit_tiny", "ViTForMaskedImageModeling"}})
    EXPECT_EQ(reading(name, "architectures", {made}), "") << name;
}

TEST(UnreadKeys, ForeignCodeIsRefused) {
  const Scratch s;
  const auto reading_with = [&](const char* name, const char* code, const json& more) {
    json file = read_json_file(golden(name) / "config.json");
    file["auto_map"] = {{"AutoConfig", "configuration_x.Config"}, {"AutoModel", code}};
    file.update(more);
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  const auto fails_of = [](const auto& read, std::initializer_list<std::string_view> words) {
    return workloads_test::fails(base::Fault::kData, read, words);
  };
  EXPECT_TRUE(fails_of(reading_with("bert_tiny", "bert_layers.BertModel", {{"alibi_starting_size", 512}}),
                       {"auto_map", "alibi_starting_size", "trnsim torch", "leave out \"auto_map\""}));
  EXPECT_TRUE(fails_of(reading_with("bert_tiny", "jinaai/x--modeling_bert.JinaBertModel", json::object()),
                       {"JinaBertModel", "transformers' bert"}));
  // The class is looked at first: its keys have values that the family's own refuse.
  EXPECT_TRUE(fails_of(
      reading_with("bert_tiny", "jinaai/x--modeling_bert.JinaBertModel", {{"position_embedding_type", "alibi"}}),
      {"JinaBertModel"}));
  EXPECT_TRUE(fails_of(reading_with("esm_tiny", "modeling_fast.FastEsmModel", json::object()), {"FastEsmModel"}));
  EXPECT_NO_THROW(reading_with("phi3_tiny", "modeling_phi3.Phi3ForCausalLM", json::object())());
  EXPECT_NO_THROW(reading_with("mpt_tiny", "modeling_mpt.MPTForCausalLM", json::object())());
  EXPECT_NO_THROW(reading_with("gte_tiny", "modeling.NewModel", {{"own_key", 1}})());
  EXPECT_NO_THROW(reading_with("kimi_k2_tiny", "modeling_deepseek.DeepseekV3ForCausalLM", json::object())());
}

TEST(UnreadKeys, OfWindowsThatAreOffAreNot) {
  const Scratch s;
  json file = read_json_file(golden("qwen2_tiny") / "config.json");
  file["use_sliding_window"] = false, file["sliding_window"] = 131072, file["max_window_layers"] = 28;
  testing::internal::CaptureStderr();
  read_config(s.write("config.json", file.dump()));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace workloads
