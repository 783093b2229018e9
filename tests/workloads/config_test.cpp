#include "workloads/models/config.h"
#include "tests/workloads/models.h"

#include <gtest/gtest.h>

#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

TEST(Config, ReadsTheGoldenConfigurations) {
  const BertConfig c = read_bert_config(golden("bert_odd"));
  EXPECT_EQ(c.hidden_size, 192);
  EXPECT_EQ(c.num_hidden_layers, 3);
  EXPECT_EQ(c.intermediate_size, 320);
  EXPECT_EQ(c.num_labels(), 3);
  EXPECT_EQ(c.head_size(), 64);
  EXPECT_EQ(c.hidden_dropout_prob, 0);
  EXPECT_EQ(c.hidden_act, Activation::kGelu);
}

TEST(Config, EveryBadKeyIsNamed) {
  const Scratch s;
  const json good = read_json_file(golden("bert_tiny") / "config.json");
  const auto with = [&](const char* key, const json& value) {
    json file = good;
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                          "max_position_embeddings"}) {
    json file = good;
    file.erase(key);
    const auto path = s.write("config.json", file.dump());
    EXPECT_TRUE(fails(Fault::kData, [&] { read_config(path); }, {"config.json", "has no", key}));
    EXPECT_TRUE(fails(Fault::kData, with(key, 0), {key, "not in 1.."}));
    EXPECT_TRUE(fails(Fault::kData, with(key, "128"), {key, "whole number"}));
    EXPECT_TRUE(fails(Fault::kData, with(key, 12.5), {key, "whole number"}));
  }
  EXPECT_TRUE(
      fails(Fault::kData, with("hidden_act", "swish9"), {"hidden_act", "swish9", "gelu, gelu_pytorch_tanh, gelu_new"}));
  EXPECT_TRUE(fails(Fault::kData, with("num_attention_heads", 3), {"num_attention_heads", "divide", "128"}));
  EXPECT_TRUE(fails(Fault::kData, with("hidden_dropout_prob", 1.0), {"hidden_dropout_prob", "[0, 1)"}));
  EXPECT_TRUE(fails(Fault::kData, with("layer_norm_eps", -1e-12), {"layer_norm_eps"}));
  EXPECT_TRUE(fails(Fault::kData, with("num_hidden_layers", 10'000), {"num_hidden_layers", "not in 1..1024"}));
  EXPECT_TRUE(
      fails(Fault::kData, with("position_embedding_type", "relative_key"), {"position_embedding_type", "absolute"}));
  EXPECT_TRUE(fails(Fault::kData, with("is_decoder", true), {"is_decoder"}));
  for (const char* problem : {"regression", "multi_label_classification"})  // transformers computes another loss
    EXPECT_TRUE(fails(Fault::kData, with("problem_type", problem), {"problem_type", problem}));
  EXPECT_TRUE(fails(Fault::kData, with("pad_token_id", 201), {"pad_token_id"}));
  EXPECT_TRUE(fails(Fault::kData, with("id2label", {{"0", "a"}, {"2", "b"}}), {"id2label"}));
  EXPECT_TRUE(fails(Fault::kData, with("num_labels", 0), {"num_labels"}));
  EXPECT_TRUE(fails(Fault::kData, with("model_type", "xlnet"),
                    {"xlnet", "attention in two streams", "nearest built-in type is bert", "trnsim torch"}));
  EXPECT_TRUE(fails(Fault::kData, with("model_type", nullptr), {"model_type"}));
}

TEST(Config, TypesThatPyTorchHasNotOrThatNeedScalesAreRefused) {
  const Scratch s;
  const auto of_type = [&](const char* key, const json& type) {
    json file = read_json_file(golden("bert_tiny") / "config.json");
    file.erase("torch_dtype");
    file[key] = type;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  for (const char* type : {"bfloat16", "float16", "half", "float32", "float64", "auto"}) {
    EXPECT_NO_THROW(of_type("torch_dtype", type)());
    EXPECT_NO_THROW(of_type("dtype", type)());
  }
  EXPECT_NO_THROW(of_type("torch_dtype", nullptr)());
  EXPECT_TRUE(fails(Fault::kData, of_type("torch_dtype", "int3"), {"torch_dtype", "int3", "no type of PyTorch"}));
  EXPECT_TRUE(fails(Fault::kData, of_type("dtype", "bfloat61"), {"\"dtype\"", "write \"bfloat16\""}));
  EXPECT_TRUE(fails(Fault::kData, of_type("dtype", 16), {"\"dtype\" is 16", "bfloat16"}));
  EXPECT_TRUE(fails(Fault::kData, of_type("dtype", "float8_e4m3fn"), {"scales", "quantized"}));
  EXPECT_TRUE(fails(Fault::kData, of_type("dtype", "int32"), {"whole numbers"}));
}

TEST(Config, OldFilesGetHuggingFacesDefaults) {
  const Scratch s;
  const auto path =
      s.write("config.json", R"({"architectures": ["BertForMaskedLM"], "hidden_size": 128, "vocab_size": 30522,
    "num_attention_heads": 2, "max_position_embeddings": 512, "num_hidden_layers": 2, "intermediate_size": 512})");
  const BertConfig c = read_bert_config(path);
  EXPECT_EQ(c.layer_norm_eps, 1e-12);
  EXPECT_EQ(c.hidden_dropout_prob, 0.1);
  EXPECT_EQ(c.type_vocab_size, 2);
  EXPECT_EQ(c.num_labels(), 2);
}

TEST(Config, LlamaIsReadWithGroupedHeads) {
  const Scratch s;
  json file = {{"model_type", "llama"},    {"hidden_size", 192},
               {"num_hidden_layers", 3},   {"num_attention_heads", 6},
               {"num_key_value_heads", 2}, {"intermediate_size", 448},
               {"vocab_size", 264},        {"max_position_embeddings", 256},
               {"rms_norm_eps", 1e-5},     {"hidden_act", "silu"}};
  const LlamaConfig c = read_llama_config(s.write("config.json", file.dump()));
  EXPECT_EQ(c.num_key_value_heads, 2);
  EXPECT_EQ(c.head_dim, 32);
  EXPECT_EQ(c.rms_norm_eps, 1e-5);
  EXPECT_TRUE(fails(Fault::kData, [&] { read_bert_config(s.path()); }, {"is a Llama model"}));
  file["num_key_value_heads"] = 4;
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.write("config.json", file.dump())); }, {"num_key_value_heads"}));
  file["num_key_value_heads"] = 2;
  file["rope_scaling"] = {{"type", "ntk"}, {"factor", 2.0}};
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.write("config.json", file.dump())); }, {"rope_scaling"}));
}

TEST(Config, WrittenConfigurationIsReadAgain) {
  const Scratch s;
  BertConfig c = workloads_test::bert_preset("bert-small");
  c.label_names = {"sadness", "joy"};
  c.hidden_act = Activation::kGeluTanh;
  c.classifier_dropout = 0.2;
  c.vocab_size = 595;
  write_config(c, s.path());
  const BertConfig again = read_bert_config(s.path());
  EXPECT_EQ(workloads_test::config_json(again), workloads_test::config_json(c));
  EXPECT_EQ(again.label_names, c.label_names);
  EXPECT_EQ(again.classifier_dropout, 0.2);
  const json file = read_json_file(s / "config.json");
  EXPECT_EQ(file.at("architectures"), json::array({"BertForSequenceClassification"}));
  EXPECT_EQ(file.at("label2id").at("joy"), 1);
}

TEST(Config, PresetsAreThePublishedModels) {
  for (const Preset& preset : model_presets("bert")) preset.model->require_valid(preset.name);
  EXPECT_EQ(workloads_test::bert_preset("bert-large-uncased").intermediate_size, 4096);
  EXPECT_EQ(workloads_test::bert_preset("bert-base-cased").vocab_size, 28996);
  EXPECT_TRUE(fails(Fault::kUsage, [] { workloads_test::bert_preset("bert-base-uncase"); },
                    {"bert-base-uncase", "bert-base-uncased"}));
}

}  // namespace
}  // namespace workloads
