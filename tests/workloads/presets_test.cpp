// Presets are files: a new one needs no compiler.
#include "workloads/models/presets.h"
#include "workloads/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/workloads/support.h"

namespace workloads {
namespace {

using base::Fault;
using testing::Contains;
using testing::HasSubstr;
using workloads_test::fails;
using workloads_test::Scratch;

constexpr std::string_view kTwo = R"(model_type = "qwen3"
source = "ours"
vocab_size = 512
hidden_size = 64
num_attention_heads = 4
num_key_value_heads = 4
intermediate_size = 96
max_position_embeddings = 128

[[preset]]
name = "ours-2"
num_hidden_layers = 2

[[preset]]
name = "ours-4"
num_hidden_layers = 4
head_dim = 32
source = "ours, larger"
)";

/// A folder of data with one file of presets, for as long as it lives.
class OwnPresets {
 public:
  explicit OwnPresets(const std::string& text) {
    std::filesystem::create_directories(scratch_ / "workloads/models/presets");
    scratch_.write("workloads/models/presets/ours.toml", text);
    setenv("TRNSIM_HOME", scratch_.path().c_str(), 1);
  }
  ~OwnPresets() { unsetenv("TRNSIM_HOME"); }
  OwnPresets(const OwnPresets&) = delete;
  OwnPresets& operator=(const OwnPresets&) = delete;

 private:
  Scratch scratch_;
};

std::string with(std::string_view from, std::string_view to) {
  std::string text{kTwo};
  return text.replace(text.find(from), from.size(), to);
}

// A name of a hub leads to the preset with the model's sizes, and another size is never what was meant.
TEST(Presets, UnknownNamesLeadToThoseOfTheSameSize) {
  for (const auto& [typed, fix] : std::map<std::string, std::string>{
           {"meta-llama/Llama-2-7b-chat-hf", "write \"llama2-7b\", which has its sizes"},
           {"meta-llama/Meta-Llama-3.1-8B-Instruct", "write \"llama3.1-8b\", which has its sizes"},
           {"Qwen/Qwen2.5-32B-Instruct", "write \"qwen2.5-32b\", which has its sizes"},
           {"google/gemma-2b-it", "write \"gemma-2b\", which has its sizes"},
           {"openai/whisper-large-v3", "write \"whisper-large-v3\", which has its sizes"},
           {"whisper-turbo", "write \"whisper-large-v3-turbo\""},
           {"openai/whisper-large", "choose one of whisper-large-v2, whisper-large-v3, whisper-large-v3-turbo"},
           {"BAAI/bge-large-en-v1.5", "write \"bge-large-en-v1.5\", which has its sizes"},
           {"sentence-transformers/all-MiniLM-L6-v2", "write \"all-MiniLM-L6-v2\", which has its sizes"},
           {"qwem3-8b", "write \"qwen3-8b\""},
           {"FacebookAI/roberta-base", "write \"roberta-base\", which has its sizes"}})
    EXPECT_EQ(preset_fix(typed), fix);
  const std::string family = preset_fix("qwen3-9b");
  EXPECT_THAT(family, testing::StartsWith("give a folder with the model's config.json, or one of qwen2-0.5b"));
  EXPECT_THAT(family, HasSubstr("qwen3-8b"));
  // A name with its publisher is copied, so that another model's name is no slip of the keys.
  EXPECT_THAT(preset_fix("acme/gta-large-en-v1.5"), testing::StartsWith("give a folder with the model's config.json"));
  EXPECT_EQ(preset_fix("gta-large-en-v1.5"), "write \"gte-large-en-v1.5\"");
  EXPECT_THAT(preset_fix("openai/whisper-medium.en"), HasSubstr("or one of whisper-tiny"));
  EXPECT_EQ(preset_fix("wav2vec2-base"), "give a folder with the model's config.json, or a name of trnsim list models");
}

TEST(Presets, AFileBelowTrnsimHomeAddsSome) {
  const OwnPresets own{std::string{kTwo}};
  EXPECT_TRUE(is_model_preset("ours-2"));
  EXPECT_EQ(model_preset("ours-2")->family(), "Qwen3");
  EXPECT_EQ(model_preset("ours-2")->sizes().head, 128);  // Qwen3's, where no file says it
  EXPECT_EQ(model_preset("ours-4")->sizes().head, 32);
  EXPECT_EQ(model_preset("ours-4")->sizes().layers, 4);
  std::vector<std::string> names;
  for (const Preset& preset : model_presets("qwen3")) {
    names.push_back(preset.name + ": " + preset.source);
  }
  EXPECT_THAT(names, Contains("ours-2: ours"));
  EXPECT_THAT(names, Contains("ours-4: ours, larger"));
  EXPECT_THAT(model_preset_names(), Contains("llama2-7b"));  // and takes none away
}

TEST(Presets, WithoutTheFileTheyAreUnknown) {
  EXPECT_FALSE(is_model_preset("ours-2"));
  EXPECT_TRUE(fails(Fault::kUsage, [] { model_preset("ours-2"); }, {"ours-2"}));
}

TEST(Presets, AWrongFileIsNamed) {
  const auto reading = [](const std::string& text) {
    return [text] {
      const OwnPresets own{text};
      model_preset("ours-2");
    };
  };
  EXPECT_TRUE(fails(Fault::kData, reading(with("source = \"ours\"", "")), {"ours.toml", "no \"source\""}));
  EXPECT_TRUE(fails(Fault::kData, reading(with("hidden_size", "hiden_size")), {"ours-2", "has no \"hidden_size\""}));
  EXPECT_TRUE(fails(Fault::kData, reading(with("intermediate_size = 96", "intermediate_size = 96\nbias = true")),
                    {"ours-2", "\"bias\" is not a key of a Qwen3 model"}));
  EXPECT_TRUE(fails(Fault::kData, reading(with("ours-4", "ours-2")), {"ours.toml", "ours-2", "is also in"}));
  EXPECT_TRUE(fails(Fault::kData, reading("ours-2 = 1"), {"ours.toml", "no presets"}));
  EXPECT_TRUE(fails(Fault::kUsage, reading("[[preset]]\nname = \"ours-2"), {"ours.toml:2"}));
}

TEST(Presets, FamiliesStandInTheRegistrysOrder) {
  const std::vector<std::string> names = model_preset_names();
  const auto place = [&names](const char* name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_EQ(place("bert-base-uncased"), 0);
  EXPECT_LT(place("bert-large"), place("roberta-base"));
  EXPECT_LT(place("roberta-base"), place("llama2-7b"));
  EXPECT_LT(place("llama3.2-3b"), place("mistral-7b"));
}

}  // namespace
}  // namespace workloads
