// Models by the names and sizes that tables of published figures give them.
#include "workloads/models/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/error.h"

namespace workloads {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct SaidPicture {
  PublishedModel said;
  std::int64_t size, patch, channels, hidden, labels;

  friend void PrintTo(const SaidPicture& p, std::ostream* out) { *out << p.said.name << ", " << p.said.notes; }
};

class PublishedPictures : public testing::TestWithParam<SaidPicture> {};

TEST_P(PublishedPictures, AreReadFromWordsAndColumns) {
  const SaidPicture& want = GetParam();
  std::vector<std::string> assumed;
  const auto found = published_model(want.said, assumed);
  ASSERT_TRUE(std::holds_alternative<ModelPtr>(found)) << std::get<std::string>(found);
  const ModelPtr& model = std::get<ModelPtr>(found);
  ASSERT_NE(model->image(), nullptr);
  EXPECT_EQ(model->image()->size, want.size);
  EXPECT_EQ(model->image()->patch, want.patch);
  EXPECT_EQ(model->image()->channels, want.channels);
  EXPECT_EQ(model->sizes().hidden, want.hidden);
  EXPECT_EQ(static_cast<std::int64_t>(model->label_names().size()), want.labels);
}

const Sizes kOwn{.layers = 4, .hidden = 64, .heads = 4, .kv_heads = 4, .ffn = 128, .vocabulary = 10};
const Sizes kBase{.layers = 12, .hidden = 768, .heads = 12, .ffn = 3072};

INSTANTIATE_TEST_SUITE_P(
    Published, PublishedPictures,
    testing::Values(SaidPicture{{"vit, image 28 patch 7", "", kOwn, 17}, 28, 7, 1, 64, 10},
                    SaidPicture{{"ViT-Base", "", kBase, 197}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-Base, 224 pixels"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"vit-base-patch16-224"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"google/vit-base-patch32-384"}, 384, 32, 3, 768, 1000},
                    SaidPicture{{"ViT-B/16", "images of 384x384"}, 384, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-B/16", "50,000 images"}, 224, 16, 3, 768, 1000},
                    SaidPicture{{"ViT-L/16-512"}, 512, 16, 3, 1024, 1000},
                    SaidPicture{{"vit_b_32", "224 px; 100 classes"}, 224, 32, 3, 768, 100},
                    SaidPicture{{"ViT-H/14"}, 224, 14, 3, 1280, 1000},
                    SaidPicture{{"DeiT-Ti", "", {}, 198}, 224, 16, 3, 192, 1000},
                    SaidPicture{{"deit-small, 16x16 patches, 224x224"}, 224, 16, 3, 384, 1000},
                    SaidPicture{{"vit", "CIFAR-10, 32x32 pixels, patch size 4", kOwn, 65}, 32, 4, 3, 64, 10},
                    SaidPicture{{"vit, patch 8", "", kBase, 785}, 224, 8, 3, 768, 1000},
                    SaidPicture{{"ViT-Large", "", {}, 50}, 224, 32, 3, 1024, 1000},
                    SaidPicture{{"ViT-Large", "", {}, 577}, 384, 16, 3, 1024, 1000},
                    SaidPicture{{"Vision Transformer (base), resolution 256", "", {}, 257}, 256, 16, 3, 768, 1000}));

TEST(Published, SizesThatContradictEachOtherAreRefused) {
  std::vector<std::string> assumed;
  const auto wrong = [&](const PublishedModel& said, const char* why) {
    try {
      published_model(said, assumed);
      ADD_FAILURE() << said.name;
    } catch (const base::Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  wrong({"vit-base, image 224 patch 16", "", {}, 128}, "sequences of 197, not of 128");
  wrong({"vit-base, image 225 patch 16"}, "patch_size");
}

TEST(Published, WhatNoFamilyComputesHasAReason) {
  std::vector<std::string> assumed;
  for (const char* name : {"t5-large", "deberta-v3", "MobileViT-S", "swin-base"})
    EXPECT_THAT(std::get<std::string>(published_model({name, "", kBase, 128}, assumed)), HasSubstr("is not modelled"));
  EXPECT_THAT(std::get<std::string>(published_model({"bert-tiny", "", {}, 128}, assumed)), HasSubstr("a size"));
  EXPECT_THAT(std::get<std::string>(published_model({"vit", "", {}, 197}, assumed)), HasSubstr("a size"));
}

TEST(Published, TheLongestWordTellsTheFamily) {
  const Sizes sizes{.layers = 2, .hidden = 64, .heads = 2, .kv_heads = 2, .ffn = 128, .vocabulary = 100};
  const auto family = [&](const char* name) {
    std::vector<std::string> assumed;
    return std::get<ModelPtr>(published_model({name, "", sizes, 128}, assumed))->family();
  };
  EXPECT_EQ(family("XLM-RoBERTa"), "XLM-RoBERTa");
  EXPECT_EQ(family("SciBERT"), "BERT");
  EXPECT_EQ(family("ALBERT-base"), "ALBERT");
  EXPECT_EQ(family("Mistral-7B"), "Mistral");
  EXPECT_EQ(family("gpt-neox-20b"), "GPT");
  std::vector<std::string> assumed;
  published_model({"gpt-neox-20b", "", sizes, 128}, assumed);
  EXPECT_THAT(assumed, Contains(HasSubstr("as a GPT")));
}

}  // namespace
}  // namespace workloads
