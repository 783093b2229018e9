// Models by the names and sizes that published tables give them: ./dev columns guesses the columns that make them.
#include "validation/predict/model_of_row.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/error.h"
#include "tests/validation/converted.h"

namespace validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using workloads::ModelPtr;
using Found = std::variant<ModelPtr, std::string>;

/// A table's description of a model: its name, the notes, "layers,hidden,heads,kv_heads,ffn,vocab", tokens of a
/// sequence.
struct Said {
  std::string name, notes{};
  std::string sizes = ",,,,,";
  std::string length{};
};

const std::string kOwn = "4,64,4,4,128,10", kBase = "12,768,12,,3072,";

Found model_of(const Said& said, std::vector<std::string>& assumed) {
  const std::string row =
      fmt::format("id,infer,\"{}\",{},{},trn1,1,1,1,1,1,no,no,none,1,1,bf16,bf16,adamw,torch-xla,ms,1,1,1,1,-,\"{}\"\n",
                  said.name, said.sizes, said.length, said.notes);
  return model_of_row(parse_validation(tests::converted(tests::kTrainingHeader + row), "t.csv").at(0), assumed);
}

struct SaidPicture {
  Said said;
  std::int64_t size, patch, channels, hidden;
  std::size_t labels;

  friend void PrintTo(const SaidPicture& p, std::ostream* out) { *out << p.said.name << ", " << p.said.notes; }
};

class PublishedPictures : public testing::TestWithParam<SaidPicture> {};

TEST_P(PublishedPictures, AreReadFromWordsAndColumns) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const SaidPicture& want = GetParam();
  std::vector<std::string> assumed;
  const Found found = model_of(want.said, assumed);
  ASSERT_TRUE(std::holds_alternative<ModelPtr>(found)) << std::get<std::string>(found);
  const ModelPtr& model = std::get<ModelPtr>(found);
  ASSERT_NE(model->image(), nullptr);
  EXPECT_EQ(model->image()->size, want.size);
  EXPECT_EQ(model->image()->patch, want.patch);
  EXPECT_EQ(model->image()->channels, want.channels);
  EXPECT_EQ(model->sizes().hidden, want.hidden);
  EXPECT_EQ(model->label_names().size(), want.labels);
}

INSTANTIATE_TEST_SUITE_P(
    Published, PublishedPictures,
    testing::Values(SaidPicture{{"vit, image 28 patch 7", "", kOwn, "17"}, 28, 7, 1, 64, 10},
                    SaidPicture{{"ViT-Base", "", kBase, "197"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-Base, 224 pixels"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"vit-base-patch16-224"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"google/vit-base-patch32-384"}, 384, 32, 3, 768, 1000},
                    SaidPicture{{"ViT-B/16", "images of 384x384"}, 384, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-B/16", "50,000 images"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-L/16-512"}, 512, 16, 3, 1024, 1000},
                    SaidPicture{{"vit_b_32", "224 px; 100 classes"}, 224, 32, 3, 768, 100},
                    SaidPicture{{"ViT-H/14"}, 224, 14, 3, 1280, 1000},
                    SaidPicture{{"DeiT-Ti", "", ",,,,,", "198"}, 224, 16, 3, 192, 1000},
                    SaidPicture{{"deit-small, 16x16 patches, 224x224"}, 224, 16, 3, 384, 1000},
                    SaidPicture{{"vit", "CIFAR-10, 32x32 pixels, patch size 4", kOwn, "65"}, 32, 4, 3, 64, 10},
                    SaidPicture{{"vit, patch 8", "", kBase, "785"}, 224, 8, 3, 768, 1000},
                    SaidPicture{{"ViT-Large", "", ",,,,,", "50"}, 224, 32, 3, 1024, 1000},
                    SaidPicture{{"ViT-Large", "", ",,,,,", "577"}, 384, 16, 3, 1024, 1000},
                    SaidPicture{
                        {"Vision Transformer (base), resolution 256", "", ",,,,,", "257"}, 256, 16, 3, 768, 1000}));

class PublishedModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  }
  std::vector<std::string> assumed_;
};

TEST_F(PublishedModels, SizesThatContradictEachOtherAreRefused) {
  const auto wrong = [&](const Said& said, const char* why) {
    try {
      model_of(said, assumed_);
      ADD_FAILURE() << said.name;
    } catch (const base::Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  wrong({"vit-base, image 224 patch 16", "", ",,,,,", "128"}, "sequences of 197, not of 128");
  wrong({"vit-base, image 12 patch 16"}, "patch_size");
}

TEST_F(PublishedModels, UnsupportedModelsHaveAReason) {
  const auto why = [&](const Said& said) { return std::get<std::string>(model_of(said, assumed_)); };
  for (const char* name : {"t5-large", "longformer-base", "MobileViT-S", "swin-base"})
    EXPECT_THAT(why({name, "", kBase, "128"}), HasSubstr("is not modelled"));
  EXPECT_THAT(why({"bert-tiny", "", ",,,,,", "128"}), HasSubstr("a size"));
  EXPECT_THAT(why({"vit", "", ",,,,,", "197"}), HasSubstr("a size"));
}

TEST_F(PublishedModels, TheLongestWordTellsTheFamily) {
  const auto family = [&](const char* name) {
    return std::get<ModelPtr>(model_of({name, "", "2,64,2,2,128,100", "128"}, assumed_))->family();
  };
  EXPECT_EQ(family("XLM-RoBERTa"), "RoBERTa");
  EXPECT_EQ(family("SciBERT"), "BERT");
  EXPECT_EQ(family("ALBERT-base"), "ALBERT");
  EXPECT_EQ(family("Mistral-7B"), "Mistral");
  EXPECT_EQ(family("gpt-neox-20b"), "GPT-NeoX");
  EXPECT_EQ(family("gpt-j-6b"), "GPT-J");
  EXPECT_EQ(family("cerebras-gpt-1.3b"), "GPT");
  EXPECT_THAT(assumed_, Contains(HasSubstr("as a GPT")));
}

TEST(ModelOfRow, WithoutGuessesAModelIsAPresetOrLikeTheFamilyThatItsCellNames) {
  std::vector<std::string> assumed;
  const auto model = [&](const std::string& name, const std::string& like, const std::string& more = "") {
    const std::string header = tests::kTrainingHeader;
    return model_of_row(
        parse_validation("like,tied,labels," + header + like + "," + (more.empty() ? "," : more) +
                             fmt::format(",id,infer,{},2,64,2,2,128,100,128,trn1,1,1,1,1,1,no,no,none,1,1,bf16,bf16,"
                                         "adamw,torch-xla,ms,1,1,1,1,-,\n",
                                         name),
                         "t.csv")
            .at(0),
        assumed);
  };
  EXPECT_EQ(std::get<ModelPtr>(model("Llama2 7B", ""))->family(), "Llama");
  EXPECT_EQ(std::get<ModelPtr>(model("ours", "bert", ",3"))->label_names().size(), 3u);
  EXPECT_EQ(std::get<ModelPtr>(model("ours", "gpt2"))->sizes().hidden, 64);
  EXPECT_EQ(std::get<ModelPtr>(model("ours", "gpt2"))->sizes().positions, 128);  // the family, not the preset
  EXPECT_TRUE(std::get<ModelPtr>(model("ours", "gpt2"))->decoder()->head.tied);
  EXPECT_FALSE(std::get<ModelPtr>(model("ours", "gpt2", "no,"))->decoder()->head.tied);
  EXPECT_THAT(std::get<std::string>(model("llama-9b", "")), HasSubstr("model 'llama-9b' is not modelled"));
  EXPECT_THROW(model("ours", "xlnet"), base::Error);
}

}  // namespace
}  // namespace validation
