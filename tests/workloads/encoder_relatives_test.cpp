// The relatives of BERT, and labels of tokens: PyTorch's trajectories, their folders, their presets, their data.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/layers/distances.h"
#include "workloads/models/presets.h"
#include "workloads/tasks/classification.h"
#include "workloads/tasks/metrics.h"
#include "workloads/training/trainer.h"
#include "workloads/training/verify.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using testing::ElementsAre;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

constexpr const char* kEncoders[] = {"roberta_tiny",
                                     "distilbert_tiny",
                                     "electra_tiny",
                                     "albert_tiny",
                                     "bert_tokens_tiny",
                                     "electra_tokens_tiny",
                                     "xlm-roberta_tiny",
                                     "esm_tiny",
                                     "esm_tokens_tiny",
                                     "esm_absolute_tiny",
                                     "mpnet_tiny",
                                     "modernbert_tiny",
                                     "modernbert_mean_tiny",
                                     "modernbert_tokens_tiny",
                                     "xlm-roberta-xl_tiny",
                                     "megatron-bert_tiny",
                                     "roberta-prelayernorm_tiny",
                                     "data2vec-text_tiny",
                                     "rembert_tiny",
                                     "ernie_tiny",
                                     "xlm_tiny",
                                     "flaubert_tiny",
                                     "roformer_tiny",
                                     "roformer_tokens_tiny",
                                     "deberta_tiny",
                                     "deberta-v2_tiny",
                                     "deberta-v2_apart_tiny",
                                     "deberta-v2_conv_tiny",
                                     "deberta-v2_tokens_tiny",
                                     "new_tiny",
                                     "new_tokens_tiny",
                                     "gte_tiny",
                                     "nomic_bert_tiny",
                                     "nomic_bert_biases_tiny",
                                     "eurobert_tiny",
                                     "eurobert_mean_tiny",
                                     "eurobert_tokens_tiny",
                                     "embedding_gemma_tiny",
                                     "embedding_gemma_tokens_tiny",
                                     "mobilebert_tiny",
                                     "mobilebert_wide_tiny",
                                     "mobilebert_tokens_tiny"};

struct EncoderPlan {
  const char* name;
  std::uint32_t data = 1;
  std::int64_t micro = 1, tensor = 1;
  bool all = false;  // ZeRO and recomputation too

  friend void PrintTo(const EncoderPlan& c, std::ostream* out) { *out << c.name; }
};

class EncoderRelatives : public testing::TestWithParam<std::tuple<const char*, EncoderPlan>> {};

TEST_P(EncoderRelatives, Fp32FollowsPyTorch) {
  const auto& [model, plan] = GetParam();
  runtime::Plan p;
  p.data = plan.data, p.micro_batches = plan.micro, p.tensor = plan.tensor, p.zero1 = plan.all;
  if (plan.all) p.recompute = runtime::Recompute::kFull;
  const ModelPtr read = read_config(golden(model));
  if (plan.tensor > 1 && (!read->shares_tensors() || read->sizes().kv_heads % plan.tensor != 0)) {
    EXPECT_TRUE(read->refuses(p));
    return;
  }
  workloads_test::expect_pytorch(model, p);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, EncoderRelatives,
    testing::Combine(
        testing::ValuesIn(kEncoders),
        testing::Values(EncoderPlan{.name = "one core"}, EncoderPlan{.name = "DP 2 x 2", .data = 2, .micro = 2},
                        EncoderPlan{.name = "TP 4", .tensor = 4},
                        EncoderPlan{.name = "TP 2 x DP 2 x 2", .data = 2, .micro = 2, .tensor = 2, .all = true})));

TEST(EncoderFolder, NamesAndKeysAreTheFilesBothWays) {
  for (const char* name : kEncoders) workloads_test::expect_same_folder(name, {"hidden_act"});
}

// A model of one task read for the other: its own head is left out, and one for the task is drawn.
TEST(EncoderFolder, TheHeadIsTheTasks) {
  for (const char* name : {"roberta_tiny", "distilbert_tiny", "electra_tiny", "albert_tiny"}) {
    const ModelPtr tokens = read_config(golden(name))->with_head(Head::kTokens);
    EXPECT_EQ(tokens->head(), Head::kTokens);
    for (const WeightSpec& w : tokens->weights()) EXPECT_EQ(w.name.find("pooler"), std::string::npos) << w.name;
    const Weights weights = load_weights(golden(name), tokens, 1);
    EXPECT_FALSE(weights.notes.empty()) << name;
    EXPECT_TRUE(weights.values.contains("classifier.weight"));
  }
  const Weights pooled = load_weights(golden("bert_tokens_tiny"),
                                      read_config(golden("bert_tokens_tiny"))->with_head(Head::kClassifier), 1);
  EXPECT_THAT(pooled.notes.front(), testing::HasSubstr("bert.pooler.dense"));
}

// Millions of parameters with a head of two labels: of the papers, and of config.json's models on huggingface.co.
void expect_millions(const std::vector<std::pair<const char*, double>>& want) {
  for (const auto& [name, millions] : want) {
    const ModelPtr model = model_preset(name);
    model->require_valid(name);
    EXPECT_NEAR(static_cast<double>(parameter_count(model->weights())) * 1e-6 / millions, 1, 0.01) << name;
  }
}

TEST(EncoderFolder, PresetsHaveTheirPublishedParameters) {
  expect_millions({{"roberta-base", 124.6},
                   {"roberta-large", 355.4},
                   {"xlm-roberta-base", 278.0},
                   {"xlm-roberta-large", 559.9},
                   {"distilbert-base-uncased", 67.0},
                   {"electra-small", 13.5},
                   {"electra-base", 109.5},
                   {"albert-base", 11.7},
                   {"albert-large", 17.7},
                   {"albert-xlarge", 58.7},
                   {"esm2_t33_650M", 652},
                   {"all-mpnet-base-v2", 109.5},
                   {"modernbert-base", 149.6},
                   {"modernbert-large", 395.8},
                   {"megatron-bert-345m", 333.6},
                   {"mobilebert-uncased", 24.6},
                   {"data2vec-text-base", 124.6},
                   {"rembert", 576},
                   {"xlm-mlm-en-2048", 667},
                   {"flaubert-base-cased", 138},
                   {"flaubert-large-cased", 373},
                   {"deberta-base", 139},
                   {"deberta-large", 406},
                   {"deberta-v3-xsmall", 70.8},
                   {"deberta-v3-small", 142},
                   {"deberta-v3-base", 184},
                   {"deberta-v3-large", 435},
                   {"deberta-v2-xlarge", 886}});
}

TEST(EncoderFolder, PresetsOfEmbeddingsHaveTheirPublishedParameters) {
  expect_millions({{"bge-small-en-v1.5", 33.4},
                   {"bge-base-en-v1.5", 109},
                   {"bge-large-en-v1.5", 335},
                   {"all-MiniLM-L6-v2", 22.7},
                   {"all-MiniLM-L12-v2", 33.4},
                   {"multilingual-e5-small", 118},
                   {"multilingual-e5-base", 278},
                   {"multilingual-e5-large", 560},
                   {"bge-m3", 568},
                   {"gte-base-en-v1.5", 137},
                   {"gte-large-en-v1.5", 434},
                   {"gte-multilingual-base", 305},
                   {"snowflake-arctic-embed-m-v2.0", 305},
                   {"nomic-embed-text-v1.5", 137}});
}

/// transformers' make_log_bucket_position, computed by PyTorch: 256 places of each side, up to 512 tokens.
TEST(Deberta, DistancesFallIntoThePlacesOfTransformers) {
  for (const auto& [distance, place] : {std::pair{-511, -255},
                                        {-300, -207},
                                        {-129, -129},
                                        {-128, -128},
                                        {-5, -5},
                                        {0, 0},
                                        {5, 5},
                                        {128, 128},
                                        {129, 129},
                                        {140, 137},
                                        {200, 169},
                                        {300, 207},
                                        {511, 255}})
    EXPECT_EQ(log_bucket_of(distance, {.count = 256, .most = 512}), place) << distance;
}

/// As the publisher's code rounds them up.
TEST(EncoderFolder, NomicsSizesAreMultiples) {
  json file = read_json_file(golden("nomic_bert_tiny") / "config.json");
  file["vocab_size"] = 30522, file["pad_vocab_size_multiple"] = 64, file["n_inner"] = 700;
  const Scratch s;
  const auto sizes = read_config(s.write("config.json", file.dump()))->sizes();
  EXPECT_EQ(sizes.vocabulary, 30528);
  EXPECT_EQ(sizes.ffn, 768);
}

// Without a table of its own in the file a classifier is the same; the head for hidden tokens would be another one.
TEST(EncoderFolder, AHeadWithATableOfItsOwnIsRefusedForHiddenTokens) {
  const Scratch s;
  for (const char* name : {"bert_tiny", "roberta_tiny", "distilbert_tiny", "xlm_tiny"}) {
    json file = read_json_file(golden(name) / "config.json");
    file["tie_word_embeddings"] = false;
    const ModelPtr model = read_config(s.write("config.json", file.dump()));
    EXPECT_EQ(parameter_count(model->weights()), parameter_count(read_config(golden(name))->weights())) << name;
    EXPECT_TRUE(fails(Fault::kUsage, [&] { model->with({.head = Head::kMaskedTokens}); }, {"tie_word_embeddings"}));
    EXPECT_EQ(json::parse(model->config_json()).at("tie_word_embeddings"), false);
  }
}

TEST(EncoderFolder, UnsupportedFeaturesAreRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("albert_tiny", "num_hidden_groups", 2), {"num_hidden_groups"}));
  EXPECT_TRUE(fails(Fault::kData, reading("distilbert_tiny", "sinusoidal_pos_embds", true), {"sinusoidal"}));
  EXPECT_TRUE(fails(Fault::kData, reading("roberta_tiny", "pad_token_id", 25), {"max_position_embeddings"}));
  EXPECT_TRUE(fails(Fault::kData, reading("electra_tiny", "embedding_size", -4), {"embedding_size"}));
  EXPECT_TRUE(fails(Fault::kData, reading("esm_tiny", "pad_token_id", nullptr), {"pad_token_id"}));
  EXPECT_TRUE(fails(Fault::kData, reading("esm_tiny", "mask_token_id", nullptr), {"mask_token_id"}));
  EXPECT_TRUE(fails(Fault::kData, reading("esm_tiny", "position_embedding_type", "relative_key"),
                    {"relative_key", "\"absolute\" and \"rotary\""}));
  EXPECT_TRUE(fails(Fault::kData, reading("bert_tokens_tiny", "position_embedding_type", "rotary"), {"rotary"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mpnet_tiny", "relative_attention_num_buckets", 16), {"num_buckets"}));
  EXPECT_TRUE(fails(Fault::kData, reading("modernbert_tiny", "attention_dropout", 0.1), {"attention_dropout"}));
  EXPECT_TRUE(fails(Fault::kData, reading("modernbert_tiny", "classifier_pooling", "max"), {"classifier_pooling"}));
  EXPECT_TRUE(fails(Fault::kData, reading("modernbert_tiny", "num_attention_heads", 16), {"num_attention_heads"}));
  EXPECT_TRUE(fails(Fault::kData, reading("new_tiny", "position_embedding_type", "absolute"), {"absolute"}));
  EXPECT_TRUE(fails(Fault::kData, reading("new_tiny", "rope_scaling", json{{"type", "linear"}, {"factor", 2}}),
                    {"\"linear\"", "\"ntk\""}));
  EXPECT_TRUE(fails(Fault::kData, reading("nomic_bert_tiny", "activation_function", "gelu"), {"gelu", "\"swiglu\""}));
  EXPECT_TRUE(fails(Fault::kData, reading("nomic_bert_tiny", "rotary_scaling_factor", 2), {"rotary_scaling_factor"}));
  EXPECT_TRUE(fails(Fault::kData, reading("xlm_tiny", "sinusoidal_embeddings", true), {"sinusoidal_embeddings"}));
  EXPECT_TRUE(fails(Fault::kData, reading("flaubert_tiny", "layerdrop", 0.2), {"layerdrop"}));
  EXPECT_TRUE(fails(Fault::kData, reading("deberta-v2_conv_tiny", "conv_kernel_size", 4), {"conv_kernel_size"}));
  EXPECT_TRUE(fails(Fault::kData, reading("deberta-v2_tiny", "pos_att_type", "c2p|p2p"), {"pos_att_type", "p2p"}));
  EXPECT_TRUE(fails(Fault::kData, reading("deberta-v2_tiny", "position_buckets", 60), {"position_buckets", "60"}));
  EXPECT_TRUE(fails(Fault::kData, reading("roberta_tiny", "model_type", "longformer"),
                    {"longformer", "a few global ones", "nearest built-in type is roberta"}));
}

// transformers 5 writes the period and the bases of rotary positions otherwise.
TEST(EncoderFolder, ModernBertIsReadAsTransformers5WritesIt) {
  const Scratch s;
  json file = read_json_file(golden("modernbert_tiny") / "config.json");
  const std::string want = read_config(golden("modernbert_tiny"))->config_json();
  file.erase("global_rope_theta"), file.erase("local_rope_theta");
  file["layer_types"] = {"full_attention", "sliding_attention", "full_attention"};
  file["rope_parameters"] = {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1000.0}}},
                             {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}}};
  EXPECT_EQ(read_config(s.write("config.json", file.dump()))->config_json(), want);
  file["layer_types"][1] = "full_attention";
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.write("config.json", file.dump())); }, {"layer_types"}));
}

// MPNet's positions begin after token 1, which a vocabulary of its own must have as padding.
TEST(EncoderFolder, AVocabularyThatPadsOtherwiseIsRefused) {
  const ModelPtr model = model_preset("mpnet-base");
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->with_tokens({.vocabulary = 100, .pad = 0}); }, {"pads with token 0"}));
  EXPECT_EQ(model->with_tokens({.vocabulary = 100, .pad = 1})->sizes().vocabulary, 100);
}

// seqeval's own counts: an I- behind another type begins an entity; B- always does; types and both ends must agree.
TEST(Entities, AreCountedAsSeqevalDoes) {
  EntityCounts c{{"B-LOC", "B-PER", "I-LOC", "I-PER", "O"}};
  const std::vector<std::int32_t> want{4, 1, 3, 4, 0, 2, 0, -100, 4, 4}, got{4, 1, 3, 4, 0, 0, 0, 3, 3, 4};
  c.add(want, got, 5);
  // There: PER 1-2, LOC 4; LOC 0, LOC 1. Found: PER 1-2, LOC 4; LOC 0, LOC 1, PER 2 (behind the one that is ignored).
  EXPECT_DOUBLE_EQ(c.precision(), 4.0 / 5);
  EXPECT_DOUBLE_EQ(c.recall(), 1);
  EXPECT_DOUBLE_EQ(c.f1(), 8.0 / 9);
  EXPECT_TRUE(c.tagged());
  EXPECT_FALSE((EntityCounts{{"LABEL_0", "LABEL_1"}}.tagged()));
}

TEST(WordLabels, AreReadFromConllAndFromJson) {
  const Scratch s;
  const auto conll = s.write("train.conll",
                             "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n"
                             "alone\n\nBerlin\tB-LOC\n");
  const Dataset data = read_dataset(conll);
  ASSERT_TRUE(data.of_words());
  ASSERT_EQ(data.samples.size(), 2u);
  EXPECT_THAT(data.label_names, ElementsAre("B-LOC", "B-ORG", "O"));
  EXPECT_THAT(data.samples[0].words, ElementsAre("EU", "rejects"));
  EXPECT_THAT(data.samples[0].word_labels, ElementsAre(1, 2));
  EXPECT_EQ(data.skipped, 1u);
  EXPECT_THAT(describe_problems(data), testing::HasSubstr("train.conll:6: line 7 has a word without a label"));
  const Dataset rows = read_dataset(s.write("a.jsonl",
                                            "{\"tokens\": [\"a\", \"b\"], \"ner_tags\": [0, 2]}\n"
                                            "{\"tokens\": [\"a\"], \"ner_tags\": [0, 2]}\n"
                                            "{\"text\": \"a\", \"label\": 1}\n"));
  ASSERT_EQ(rows.samples.size(), 1u);
  EXPECT_THAT(rows.samples[0].word_labels, ElementsAre(0, 2));
  EXPECT_EQ(rows.label_names.size(), 3u);
  EXPECT_EQ(rows.skipped, 2u);
  EXPECT_FALSE(read_dataset(s.write("b.jsonl", "{\"text\": \"a\", \"label\": 1}\n")).of_words());
}

/// Words whose label is their own, but for those that follow "the".
Classification small_tagging(const Scratch& s, const std::string& more = "") {
  std::string text;
  for (int i = 0; i < 48; ++i)
    text += fmt::format("{}\n{}\n{}\n\n", i % 3 ? "the O" : "a O", i % 3 ? "york B-LOC" : "york O",
                        i % 2 ? "sees O" : "runs O");
  s.write("data/train.conll", text + more);
  s.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\nyo\n##rk\nsees\nruns\n");
  DataOptions options;
  options.preset = "bert-small", options.dataset_path = (s / "data").string();
  options.vocab = (s / "vocab.txt").string(), options.length = 8;
  return load_classification(options);
}

TEST(WordLabels, TheFirstPieceOfAWordHasItsLabel) {
  const Scratch s;
  const Classification c = small_tagging(s);
  EXPECT_EQ(c.config->head(), Head::kTokens);
  EXPECT_THAT((std::vector<std::int32_t>{c.train.token_labels.begin(), c.train.token_labels.begin() + 6}),
              ElementsAre(-100, 1, 1, -100, 1, -100));  // [CLS] a yo ##rk runs [SEP]
  const auto texts = c.data().train;
  const std::vector<std::uint32_t> samples{1};
  EXPECT_THAT(texts->batch({.samples = samples, .rows = 2, .length = 7}).labels,
              ElementsAre(-100, 1, 0, -100, 1, -100, -100, -100, -100, -100, -100, -100, -100, -100));
}

TEST(WordLabels, AreLearned) {
  const Scratch s;
  Classification c = small_tagging(s);
  c.validation = c.train;
  TrainerOptions options;
  options.target = trn1_target(), options.eval_batch = 8, options.epochs = 6, options.learning_rate = 2e-3;
  options.step = {.plan = {.data = 2, .micro_batch = 4, .numerics = runtime::numerics("fp32")},
                  .kind = {.length = 8, .head = Head::kTokens}};
  Trainer trainer{c.config->without_dropout(), c.weights, c.data(), options};
  const TrainOutcome outcome = trainer.run();
  std::map<std::string, double> scores;
  for (const auto& [name, value] : outcome.evaluations.back().scores) scores[name] = std::get<double>(value);
  EXPECT_GT(scores.at("accuracy"), 0.99);
  EXPECT_GT(scores.at("f1"), 0.99);
  EXPECT_LT(outcome.evaluations.back().loss, 0.1);
}

TEST(WordLabels, ATaskThatTheDataIsNotForIsRefused) {
  const Scratch s;
  small_tagging(s);
  DataOptions options;
  options.preset = "bert-small", options.head = Head::kClassifier, options.dataset_path = (s / "data").string();
  EXPECT_TRUE(fails(Fault::kData, [&] { load_classification(options); }, {"a label for each word", "task"}));
  options.head = Head::kTokens, options.dataset_path = s.write("a.csv", "text,label\na,1\nb,0\n").string();
  EXPECT_TRUE(fails(Fault::kData, [&] { load_classification(options); }, {"a label for each text", "task"}));
}

}  // namespace
}  // namespace workloads
