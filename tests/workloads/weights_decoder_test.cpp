// Tensors of Llama, GPT and BERT's pre-training heads; llama2.c files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "tests/tale.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/llama2c.h"
#include "workloads/models/presets.h"
#include "workloads/models/weights.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;

LlamaConfig tiny_llama(bool tied) {
  LlamaConfig c;
  c.vocab_size = 40;
  c.hidden_size = 16;
  c.num_hidden_layers = 2;
  c.num_attention_heads = 4;
  c.num_key_value_heads = 2;
  c.head_dim = 4;
  c.intermediate_size = 24;
  c.max_position_embeddings = 32;
  c.tie_word_embeddings = tied;
  return c;
}

PlainConfig tiny_gpt() {
  PlainConfig c = blank(gpt_family());
  c.vocab_size = 40;
  c.bos_token_id = c.eos_token_id = 39;
  c.hidden_size = 16;
  c.num_hidden_layers = 2;
  c.num_attention_heads = 4;
  c.intermediate_size = 64;
  c.max_position_embeddings = 32;
  return c;
}

using Tensors = std::map<std::string, std::pair<Shape, std::vector<float>>>;

Tensors tensors_of(const ModelPtr& config, std::uint64_t seed) {
  const Weights weights = initial_weights(config, seed);
  Tensors tensors;
  for (const WeightSpec& spec : workloads_test::model_weights(config))
    tensors[spec.name] = {spec.shape, weights.values.at(spec.name)};
  return tensors;
}

std::filesystem::path write_model(const Scratch& scratch, const Tensors& tensors) {
  std::vector<NewTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(float_tensor(name, tensor.first, tensor.second));
  write_safetensors(scratch / "model.safetensors", std::move(list));
  return scratch.path();
}

TEST(WeightsDecoder, PublishedParameterCounts) {
  const std::map<std::string, std::size_t> published = {
      {"llama2-7b", 6'738'415'616},   {"llama2-13b", 13'015'864'320},   {"llama2-70b", 68'976'648'192},
      {"llama3-8b", 8'030'261'248},   {"llama3.1-70b", 70'553'706'496}, {"llama3.1-405b", 405'853'388'800},
      {"llama3.2-1b", 1'235'814'400}, {"llama3.2-3b", 3'212'749'824},   {"gpt2", 124'439'808},
      {"gpt2-medium", 354'823'168},   {"gpt2-large", 774'030'080},      {"gpt2-xl", 1'557'611'200},
  };  // the sums that huggingface.co shows beside the models
  for (const auto& [name, count] : published) EXPECT_EQ(parameter_count(model_preset(name)->weights()), count) << name;
  BertConfig bert = workloads_test::bert_preset("bert-base");
  bert.head = Head::kPretraining;
  EXPECT_EQ(parameter_count(bert_weights(bert)), 110'106'428u);  // BertForPreTraining, bert-base-uncased
  // The names say the size: 6.7, 23, 46 and 175 billion.
  EXPECT_NEAR(parameter_count(model_preset("gpt3-6.7b")->weights()) * 1e-9, 6.7, 0.05);
  EXPECT_NEAR(parameter_count(model_preset("gpt3-23b")->weights()) * 1e-9, 23, 0.05);
  EXPECT_NEAR(parameter_count(model_preset("gpt3-46b")->weights()) * 1e-9, 45.6, 0.1);
  EXPECT_NEAR(parameter_count(model_preset("gpt3-175b")->weights()) * 1e-9, 174.6, 0.1);
}

TEST(WeightsDecoder, LlamaNamesAndShapesAreHuggingFaces) {
  const json want = read_json_file(fixture("llama/gqa.json"));
  const Scratch s;
  const auto specs = llama_weights(read_llama_config(s.write("config.json", want.at("config").dump())));
  EXPECT_EQ(specs.size(), want.at("shapes").size());
  for (const WeightSpec& spec : specs) {
    EXPECT_EQ(json(spec.shape), want.at("shapes").at(spec.name)) << spec.name;
    EXPECT_EQ(spec.transposed, spec.shape.size() == 2 && spec.name != "model.embed_tokens.weight") << spec.name;
  }
}

TEST(WeightsDecoder, GptWeightsAreStoredAsTheDeviceWantsThem) {
  const auto specs = workloads_test::model_weights(tiny_gpt());
  const auto shape = [&](std::string_view name) {
    return std::ranges::find(specs, name, [](const WeightSpec& spec) { return std::string_view{spec.name}; })->shape;
  };
  EXPECT_EQ(shape("transformer.h.1.attn.c_attn.weight"), (Shape{16, 48}));
  EXPECT_EQ(shape("transformer.h.1.mlp.c_proj.weight"), (Shape{64, 16}));
  EXPECT_EQ(shape("transformer.wpe.weight"), (Shape{32, 16}));
  for (const WeightSpec& spec : specs) EXPECT_FALSE(spec.transposed) << spec.name;
}

TEST(WeightsDecoder, FirstValuesOfGptsOutputProjectionsShrinkWithDepth) {
  PlainConfig c = tiny_gpt();
  c.hidden_size = 128;
  c.intermediate_size = 512;
  c.num_hidden_layers = 8;
  const Weights w = initial_weights(c, 3);
  const auto deviation = [&](const std::string& name) {
    double squares = 0;
    for (const float v : w.values.at(name)) squares += double{v} * v;
    return std::sqrt(squares / static_cast<double>(w.values.at(name).size()));
  };
  // 65,536 draws: the deviation is known within 0.3 % (one sigma).
  EXPECT_NEAR(deviation("transformer.h.0.mlp.c_fc.weight"), 0.02, 0.02 * 0.015);
  EXPECT_NEAR(deviation("transformer.h.0.mlp.c_proj.weight"), 0.02 / 4, 0.005 * 0.015);
  EXPECT_EQ(deviation("transformer.h.0.mlp.c_fc.bias"), 0);
  EXPECT_EQ(w.values.at("transformer.ln_f.weight"), std::vector<float>(128, 1));
}

TEST(WeightsDecoder, SavedModelsOfEveryFamilyLoadAgain) {
  BertConfig bert = workloads_test::bert_preset("bert-small");
  bert.vocab_size = 40;
  bert.head = Head::kPretraining;
  for (const ModelPtr& config :
       {ModelPtr{tiny_llama(false)}, ModelPtr{tiny_llama(true)}, ModelPtr{tiny_gpt()}, ModelPtr{bert}}) {
    const Scratch s;
    const Weights w = initial_weights(config, 7);
    save_weights(s.path(), config, w);
    const Weights again = load_weights(s.path(), config, 1);
    EXPECT_EQ(again.values, w.values);
    EXPECT_TRUE(again.notes.empty());
    Weights back;
    for (const WeightSpec& spec : workloads_test::model_weights(config)) back.set_from_device(spec, w.for_device(spec));
    EXPECT_EQ(back.values, w.values);
  }
}

TEST(WeightsDecoder, NamesWithoutPrefixAndOldBuffersAreUnderstood) {
  const Scratch s;
  Tensors bare;
  for (auto& [name, tensor] : tensors_of(tiny_gpt(), 5)) bare[name.substr(std::strlen("transformer."))] = tensor;
  bare["h.0.attn.bias"] = {{1, 1, 2, 2}, {1, 0, 1, 1}};
  const Weights w = load_weights(write_model(s, bare), tiny_gpt(), 1);
  EXPECT_EQ(w.values, initial_weights(tiny_gpt(), 5).values);
  ASSERT_EQ(w.notes.size(), 1u);
  EXPECT_NE(w.notes[0].find("1 tensor"), std::string::npos);
  Tensors llama = tensors_of(tiny_llama(true), 5);
  llama["model.layers.0.self_attn.rotary_emb.inv_freq"] = {{2}, {1, 0.5}};
  auto embedding = llama.extract("model.embed_tokens.weight");
  embedding.key() = "embed_tokens.weight";
  llama.insert(std::move(embedding));
  EXPECT_EQ(load_weights(write_model(s, llama), tiny_llama(true), 1).values,
            initial_weights(tiny_llama(true), 5).values);
}

TEST(WeightsDecoder, ATiedHeadMayBeRepeatedButNotDiffer) {
  const Scratch s;
  Tensors t = tensors_of(tiny_llama(true), 5);
  t["lm_head.weight"] = t["model.embed_tokens.weight"];
  EXPECT_EQ(load_weights(write_model(s, t), tiny_llama(true), 1).values, initial_weights(tiny_llama(true), 5).values);
  t["lm_head.weight"].second[3] += 1;
  EXPECT_TRUE(fails(Fault::kData, [&] { load_weights(write_model(s, t), tiny_llama(true), 1); },
                    {"lm_head.weight", "differs", "tie_word_embeddings"}));
  t["lm_head.weight"] = t["model.embed_tokens.weight"];
  t.erase("model.embed_tokens.weight");  // files that keep the head alone
  EXPECT_EQ(load_weights(write_model(s, t), tiny_llama(true), 1).values, initial_weights(tiny_llama(true), 5).values);
}

TEST(WeightsDecoder, PretrainingTakesItsHeadsOrDrawsThem) {
  const Scratch s;
  BertConfig c = workloads_test::bert_preset("bert-small");
  c.vocab_size = 40;
  const Tensors classifier = tensors_of(c, 5);
  c.head = Head::kPretraining;
  const Weights drawn = load_weights(write_model(s, classifier), c, 9);
  EXPECT_EQ(drawn.notes.size(), 8u);  // one for "classifier.*", seven new tensors of cls
  EXPECT_EQ(drawn.values.at("cls.seq_relationship.weight"),
            initial_weights(c, 9).values.at("cls.seq_relationship.weight"));
  Tensors full = tensors_of(c, 5);
  full["cls.predictions.decoder.weight"] = full["bert.embeddings.word_embeddings.weight"];
  full["cls.predictions.decoder.bias"] = full["cls.predictions.bias"];
  const Weights loaded = load_weights(write_model(s, full), c, 9);
  EXPECT_TRUE(loaded.notes.empty());
  EXPECT_EQ(loaded.values, initial_weights(c, 5).values);
}

TEST(WeightsDecoder, BadTensorsOfLlamaAreNamed) {
  const Scratch s;
  const std::string key = "model.layers.1.self_attn.k_proj.weight";
  const auto load = [&](auto change) {
    Tensors t = tensors_of(tiny_llama(false), 5);
    change(t);
    return [&s, path = write_model(s, t)] { load_weights(path, tiny_llama(false), 1); };
  };
  EXPECT_TRUE(fails(Fault::kData, load([&](Tensors& t) { t[key].first = {16, 8}; }), {key, "[16, 8]", "[8, 16]"}));
  EXPECT_TRUE(fails(Fault::kData, load([&](Tensors& t) { t.erase(key); }), {key, "[8, 16]"}));
  EXPECT_TRUE(fails(Fault::kData, load([&](Tensors& t) { t["model.layers.1.self_attn.k_proj.bias"] = t[key]; }),
                    {"k_proj.bias", "does not belong to the Llama model", "k_proj.weight"}));
  EXPECT_TRUE(fails(Fault::kNumerics, load([&](Tensors& t) { t[key].second[3] = INFINITY; }), {key, "element 3"}));
}

TEST(Llama2c, ReadsTheShapesOfStories260K) {
  const Llama2cModel model = read_llama2c(tests::tale() / "tale.bin");
  const LlamaConfig& c = model.config;
  EXPECT_EQ(c.hidden_size, 64);
  EXPECT_EQ(c.intermediate_size, 172);
  EXPECT_EQ(c.num_hidden_layers, 5);
  EXPECT_EQ(c.num_attention_heads, 8);
  EXPECT_EQ(c.num_key_value_heads, 4);
  EXPECT_EQ(c.vocab_size, 512);
  EXPECT_EQ(c.max_position_embeddings, 512);
  EXPECT_TRUE(c.tie_word_embeddings);
  EXPECT_EQ(parameter_count(llama_weights(c)), 260'032u);
  EXPECT_EQ(model.weights.values.size(), llama_weights(c).size());
}

TEST(Llama2c, BadFilesAreRefused) {
  const Scratch s;
  std::string file = base::read_file(tests::tale() / "tale.bin");
  const auto reading = [&](const std::string& content) {
    return [path = s.write("m.bin", content)] { read_llama2c(path); };
  };
  const auto patched = [&](std::size_t at, std::uint32_t word) {
    std::string copy = file;
    std::memcpy(copy.data() + at, &word, sizeof word);
    return reading(copy);
  };
  EXPECT_TRUE(fails(Fault::kData, reading("abc"), {"m.bin", "28 bytes"}));
  EXPECT_TRUE(fails(Fault::kData, reading(file.substr(0, file.size() - 4)), {"1056536", "1056540"}));
  EXPECT_TRUE(fails(Fault::kData, patched(0, 0x616b3432), {"version"}));
  EXPECT_TRUE(fails(Fault::kData, patched(8, 0), {"num_hidden_layers"}));
  EXPECT_TRUE(fails(Fault::kNumerics, patched(28 + 8, 0x7fc00000), {"nan", "byte 36"}));
}

}  // namespace
}  // namespace workloads
