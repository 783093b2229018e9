#include "workloads/models/weights.h"
#include "tests/workloads/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/workloads/support.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

/// The tensors of a golden model as they would be written again, to be changed by a test.
std::map<std::string, std::pair<Shape, std::vector<float>>> golden_tensors() {
  const Checkpoint c = Checkpoint::open(golden("bert_tiny"));
  std::map<std::string, std::pair<Shape, std::vector<float>>> tensors;
  for (const std::string& name : c.names()) tensors[name] = {c.info(name).shape, c.floats(name)};
  return tensors;
}

template <typename Map>
std::filesystem::path write_model(const Scratch& scratch, const Map& tensors, ElementType type = ElementType::kF32) {
  std::vector<NewTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(float_tensor(name, tensor.first, tensor.second, type));
  write_safetensors(scratch / "model.safetensors", std::move(list));
  return scratch.path();
}

BertConfig tiny() { return read_bert_config(golden("bert_tiny")); }

TEST(Weights, NamesAndShapesAreHuggingFaces) {
  for (const char* model : {"bert_tiny", "bert_odd"}) {
    const Checkpoint c = Checkpoint::open(golden(model));
    const auto specs = bert_weights(read_bert_config(golden(model)));
    EXPECT_EQ(specs.size(), c.names().size());
    for (const WeightSpec& spec : specs) EXPECT_EQ(c.info(spec.name).shape, spec.shape) << spec.name;
  }
}

TEST(Weights, PublishedParameterCounts) {
  BertConfig base = workloads_test::bert_preset("bert-base-uncased");
  // 109,482,240 in BertModel with pooler (huggingface.co), and the classifier for two labels.
  EXPECT_EQ(parameter_count(bert_weights(base)), 109'482'240u + 768 * 2 + 2);
  EXPECT_EQ(parameter_count(bert_weights(workloads_test::bert_preset("bert-large-uncased"))),
            335'141'888u + 1024 * 2 + 2);
}

TEST(Weights, GoldenModelLoadsUnchanged) {
  const Weights w = load_weights(golden("bert_tiny"), tiny(), 1);
  EXPECT_TRUE(w.notes.empty());
  for (const auto& [name, tensor] : golden_tensors()) EXPECT_EQ(w.values.at(name), tensor.second) << name;
}

TEST(Weights, LinearLayersAreTransposedForTheDevice) {
  const BertConfig c = tiny();
  const Weights w = load_weights(golden("bert_tiny"), c, 1);
  Weights back;
  for (const WeightSpec& spec : bert_weights(c)) back.set_from_device(spec, w.for_device(spec));
  EXPECT_EQ(back.values, w.values);
  const WeightSpec spec{"bert.encoder.layer.0.intermediate.dense.weight", {512, 128}, Init::kNormal, true};
  EXPECT_EQ(w.for_device(spec)[5 * 512 + 300], w.values.at(spec.name)[300 * 128 + 5]);
  EXPECT_EQ(transpose(std::vector<float>{1, 2, 3, 4, 5, 6}, 2, 3), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Weights, OldNamesAndOtherHeadsAreUnderstood) {
  auto tensors = golden_tensors();
  std::map<std::string, std::pair<Shape, std::vector<float>>> old;
  for (auto& [name, tensor] : tensors) {
    std::string changed = name.starts_with("bert.") ? name.substr(5) : name;
    if (const auto at = changed.find("LayerNorm.weight"); at != std::string::npos)
      changed.replace(at, 16, "LayerNorm.gamma");
    if (const auto at = changed.find("LayerNorm.bias"); at != std::string::npos)
      changed.replace(at, 14, "LayerNorm.beta");
    if (!name.starts_with("classifier.")) old[changed] = tensor;
  }
  old["cls.predictions.bias"] = {{201}, std::vector<float>(201)};
  const Scratch scratch;
  const Weights w = load_weights(write_model(scratch, old), tiny(), 1);
  for (const auto& [name, tensor] : tensors)
    if (!name.starts_with("classifier.")) {
      EXPECT_EQ(w.values.at(name), tensor.second) << name;
    }
  EXPECT_EQ(w.values.at("classifier.weight").size(), 6u * 128);
  ASSERT_EQ(w.notes.size(), 3u);
  EXPECT_NE(w.notes[0].find("1 tensor of other tasks"), std::string::npos);
  EXPECT_NE(w.notes[1].find("classifier.weight"), std::string::npos);
}

TEST(Weights, HalfPrecisionFilesAreRead) {
  const Scratch scratch;
  auto tensors = golden_tensors();
  const Weights w = load_weights(write_model(scratch, tensors, ElementType::kBf16), tiny(), 1);
  for (const auto& [name, tensor] : tensors)
    for (std::size_t i = 0; i < tensor.second.size(); ++i)
      ASSERT_NEAR(w.values.at(name)[i], tensor.second[i], std::abs(tensor.second[i]) * 0x1p-8f) << name;
}

TEST(Weights, WrongTensorsAreNamed) {
  const Scratch scratch;
  const std::string query = "bert.encoder.layer.1.attention.self.query.weight";
  const auto load = [&](auto change) {
    auto tensors = golden_tensors();
    change(tensors);
    return [&, path = write_model(scratch, tensors)] { load_weights(path, tiny(), 1); };
  };
  EXPECT_TRUE(fails(Fault::kData, load([&](auto& t) {
                      t[query].first = {64, 256};
                    }),
                    {query, "model.safetensors", "[64, 256]", "[128, 128]"}));
  EXPECT_TRUE(fails(Fault::kData, load([&](auto& t) { t.erase(query); }), {query, "[128, 128]"}));
  EXPECT_TRUE(fails(Fault::kData,
                    load([&](auto& t) { t["bert.encoder.layer.1.attention.self.qery.weight"] = t[query]; }),
                    {"self.qery.weight", "query.weight"}));
  EXPECT_TRUE(fails(Fault::kData, load([&](auto& t) { t[query.substr(5)] = t[query]; }), {"two names"}));
  EXPECT_TRUE(fails(Fault::kNumerics, load([&](auto& t) { t[query].second[3] = NAN; }), {query, "element 3"}));
}

TEST(Weights, FirstValuesAreHuggingFacesDistribution) {
  BertConfig c = tiny();
  const Weights w = initial_weights(c, 42);
  for (const WeightSpec& spec : bert_weights(c)) {
    const auto& values = w.values.at(spec.name);
    ASSERT_EQ(values.size(), element_count(spec.shape));
    const auto all = [&](float wanted) { return std::ranges::all_of(values, [=](float v) { return v == wanted; }); };
    EXPECT_EQ(spec.init == Init::kZeros, all(0)) << spec.name;
    EXPECT_EQ(spec.init == Init::kOnes, all(1)) << spec.name;
    if (spec.init != Init::kNormal) continue;
    double squares = 0;
    for (const float v : values) squares += double{v} * v;
    const double n = static_cast<double>(values.size());
    EXPECT_NEAR(std::sqrt(squares / n), 0.02, 5 * 0.02 / std::sqrt(2 * n)) << spec.name;
  }
  const auto& words = w.values.at("bert.embeddings.word_embeddings.weight");
  EXPECT_TRUE(std::all_of(words.begin(), words.begin() + 128, [](float v) { return v == 0; }));  // [PAD]
  EXPECT_NE(words[128], 0);
  EXPECT_EQ(initial_weights(c, 42).values, w.values);
  EXPECT_NE(initial_weights(c, 43).values, w.values);
}

TEST(Weights, SavedWeightsLoadAgain) {
  const Scratch scratch;
  const BertConfig c = tiny();
  const Weights w = initial_weights(c, 7);
  save_weights(scratch.path(), c, w);
  const Weights again = load_weights(scratch.path(), c, 1);
  EXPECT_EQ(again.values, w.values);
  EXPECT_TRUE(again.notes.empty());
}

}  // namespace
}  // namespace workloads
