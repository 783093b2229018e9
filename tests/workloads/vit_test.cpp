// Pictures and the model that looks at them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sanitized.h"
#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/data/image_files.h"
#include "workloads/data/synthetic/digits.h"
#include "workloads/models/presets.h"
#include "workloads/training/trainer.h"

namespace {

using namespace workloads;
using base::Fault;
using testing::ElementsAre;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::millions;
using workloads_test::Scratch;

// The published counts of parameters, in millions: Dosovitskiy et al., table 1 (with the head on 21k classes left out),
// and config.json's models on huggingface.co.
TEST(Vit, HasThePublishedSizes) {
  const auto millions = [](const char* name) {
    const auto labels = std::vector<std::string>(1000, "label");
    return static_cast<double>(parameter_count(model_preset(name)->with_labels(labels)->weights())) * 1e-6;
  };
  EXPECT_NEAR(millions("vit-base-patch16-224"), 86.6, 0.05);
  EXPECT_NEAR(millions("vit-large-patch16-224"), 304.3, 0.1);
  EXPECT_NEAR(millions("vit-small-patch16-224"), 22.1, 0.1);
  EXPECT_NEAR(millions("vit-tiny-patch16-224"), 5.7, 0.05);
}

// Counted with PyTorch's dispatch mode: of nn.MultiheadAttention's blocks 222 and 367 operations and 56 tensors for
// four layers, 273, 451 and 68 for five.
TEST(Vit, BlocksOfTorchAreTracedInFewerOperations) {
  const ModelPtr own = model_preset("vit-mnist");
  const auto counts = [](const ModelPtr& model) {
    const FrameworkOps ops = model->traced_ops({});
    return std::array{ops.forward, ops.backward, ops.tensors};
  };
  EXPECT_EQ(counts(own), (std::array{222.0, 367.0, 56.0}));
  EXPECT_EQ(counts(own->with_sizes({.layers = 5})), (std::array{273.0, 451.0, 68.0}));
  EXPECT_GT(counts(model_preset("vit-tiny-patch16-224")->with_sizes({.layers = 4}))[1], 450);
  EXPECT_NE(own->config_json().find("torch_multihead_attention"), std::string::npos);
}

TEST(Vit, ConfigIsWrittenAndReadAgain) {
  const Scratch s;
  const ModelPtr model = read_config(golden("vit_tiny"));
  EXPECT_EQ(model->family(), "ViT");
  EXPECT_EQ(model->label_names().size(), 5u);
  EXPECT_EQ(model->sizes().positions, 17);
  write_config(model, s.path());
  EXPECT_EQ(read_config(s.path())->config_json(), model->config_json());
  auto file = nlohmann::json::parse(model->config_json());
  file["patch_size"] = 17;
  s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.path()); }, {"patch_size", "image_size 16"}));
  file["patch_size"] = 4, file["qkv_bias"] = false;
  s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.path()); }, {"qkv_bias"}));
}

// Published counts of the vision model, without its last norm and projection: 87.85 M and 303.97 M parameters in all.
TEST(Vit, ClipsVisionModelClassifiesByTheMeanOfPatches) {
  const Scratch s;
  const ModelPtr model = read_config(golden("clip_tiny"));
  EXPECT_EQ(model->family(), "CLIP");
  EXPECT_EQ(model->sizes().positions, 17);
  write_config(model, s.path());
  EXPECT_EQ(read_config(s.path())->config_json(), model->config_json());
  auto file = nlohmann::json::parse(model->config_json());
  const auto vision = file["vision_config"];
  s.write("config.json", vision.dump());
  EXPECT_EQ(read_config(s.path())->weights().size(), model->weights().size());
  file["architectures"] = {"CLIPModel"};
  s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.path()); }, {"pictures", "vision_config.save_pretrained"}));
  file["architectures"] = {"CLIPForImageClassification"}, file["vision_config"]["patch_size"] = 17;
  s.write("config.json", file.dump());
  EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.path()); }, {"vision_config", "patch_size"}));
  EXPECT_NEAR(millions("clip-vision-base-patch32"), 87.46, 0.02);
  EXPECT_NEAR(millions("clip-vision-large-patch14"), 303.18, 0.1);
}

// Published counts: of DINOv2's encoders 22, 86, 300 and 1,100 M parameters; of SigLIP's so400m 428 M with the head
// that pools, of which 413 M are the layers and embeddings.
TEST(Vit, Dinov2AndSiglipHaveThePublishedSizes) {
  const Scratch s;
  for (const char* name : {"siglip_tiny", "dinov2_tiny", "dinov2_gated_tiny", "dinov2_with_registers_tiny",
                           "vit_msn_tiny", "ijepa_tiny", "dinov3_tiny", "dinov3_gated_tiny"}) {
    const ModelPtr model = read_config(golden(name));
    const Weights weights = load_weights(golden(name), model, 1);
    EXPECT_TRUE(weights.notes.empty()) << name;
    write_config(model, s.path());
    save_weights(s.path(), model, weights);
    EXPECT_EQ(read_config(s.path())->config_json(), model->config_json()) << name;
    EXPECT_EQ(Checkpoint::open(s.path()).names(), Checkpoint::open(golden(name)).names()) << name;
  }
  EXPECT_NEAR(millions("dinov2-small"), 21.7, 0.1);
  EXPECT_NEAR(millions("dinov2-base"), 85.8, 0.1);
  EXPECT_NEAR(millions("dinov2-large"), 303.4, 0.2);
  EXPECT_NEAR(millions("dinov2-giant"), 1135, 1);
  EXPECT_NEAR(millions("dinov2-with-registers-base"), 85.8, 0.1);
  EXPECT_NEAR(millions("vit-msn-small"), 21.7, 0.1);
  EXPECT_NEAR(millions("ijepa-vith14"), 630.8, 0.5);
  EXPECT_EQ(model_preset("dinov2-with-registers-base")->sizes().positions, 1 + 4 + 256);
  EXPECT_NEAR(millions("siglip-so400m-patch14-384"), 412.9, 0.2);
  EXPECT_EQ(model_preset("siglip-so400m-patch14-384")->sizes().positions, 27 * 27);
}

// Siméoni et al., arXiv:2508.10104, table 2: 21, 29, 86, 300, 840 and 6,716 M parameters; here with a head of two
// labels.
TEST(Vit, Dinov3HasThePublishedSizes) {
  EXPECT_NEAR(millions("dinov3-vits16"), 21, 1);
  EXPECT_NEAR(millions("dinov3-vits16plus"), 29, 0.5);
  EXPECT_NEAR(millions("dinov3-vitb16"), 86, 0.5);
  EXPECT_NEAR(millions("dinov3-vitl16"), 300, 4);
  EXPECT_NEAR(millions("dinov3-vith16plus"), 840, 1);
  EXPECT_NEAR(millions("dinov3-vit7b16"), 6716, 1);
  EXPECT_EQ(model_preset("dinov3-vitb16")->sizes().positions, 1 + 4 + 196);
}

// As its publisher's files are: without a head, names without a prefix, places that training scales at random.
TEST(Vit, Dinov3sPublishedFilesAreReadAndTrainOnlyWithFixedPlaces) {
  const Scratch s;
  auto file = read_json_file(golden("dinov3_tiny") / "config.json");
  file["pos_embed_rescale"] = 2.0, file.erase("id2label"), file.erase("label2id");
  const ModelPtr model = read_config(s.write("config.json", file.dump()));
  EXPECT_EQ(nlohmann::json::parse(model->config_json()).at("pos_embed_rescale"), 2.0);
  Step step{.plan = {.micro_batch = 1}, .kind = {.length = 20, .training = false}};
  EXPECT_NO_THROW(model->step(step));
  step.kind.training = true;
  EXPECT_TRUE(workloads_test::fails(base::Fault::kUsage, [&] { model->step(step); }, {"pos_embed_rescale", "null"}));
  for (const auto& [key, value] : {std::pair<const char*, nlohmann::json>{"key_bias", true},
                                   {"pos_embed_jitter", 1.1},
                                   {"num_attention_heads", 16}}) {
    auto other = file;
    other[key] = value;
    EXPECT_TRUE(
        workloads_test::fails(base::Fault::kData, [&] { read_config(s.write("config.json", other.dump())); }, {key}));
  }
}

// Source: transformers, configuration_NAME.py.
TEST(Vit, NormsOfEachKindHaveItsDefault) {
  const Scratch s;
  for (const auto& [name, eps] : {std::pair{"vit_tiny", 1e-12},
                                  {"ijepa_tiny", 1e-12},
                                  {"dinov2_tiny", 1e-6},
                                  {"dinov2_with_registers_tiny", 1e-6},
                                  {"vit_msn_tiny", 1e-6},
                                  {"dinov3_tiny", 1e-5}}) {
    auto file = nlohmann::json::parse(read_config(golden(name))->config_json());
    file.erase("layer_norm_eps");
    const ModelPtr read = read_config(s.write("config.json", file.dump()));
    EXPECT_EQ(nlohmann::json::parse(read->config_json()).at("layer_norm_eps"), eps) << name;
  }
}

// Rows and columns behind the last whole patch are left out, as a convolution without padding leaves them.
TEST(Images, APictureThatIsNoMultipleOfItsPatchesIsCut) {
  const ImageShape shape{.size = 5, .channels = 1, .patch = 2, .specials = 0};
  std::vector<float> picture(25), rows;
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i);
  append_patches(picture, shape, rows);
  EXPECT_EQ(shape.tokens(), 4);
  EXPECT_THAT(rows, ElementsAre(0, 1, 5, 6, 2, 3, 7, 8, 10, 11, 15, 16, 12, 13, 17, 18));
}

// Parameters of the distilled models as Touvron et al. have them, table 5: 87 M with the second token and head.
TEST(Vit, DeitIsARowWithATokenMore) {
  const Scratch s;
  for (const char* name : {"deit_tiny", "deit_teacher_tiny"}) {
    const ModelPtr model = read_config(golden(name));
    EXPECT_EQ(model->family(), "DeiT");
    EXPECT_EQ(model->sizes().positions, 18);
    write_config(model, s.path());
    EXPECT_EQ(read_config(s.path())->config_json(), model->config_json());
    EXPECT_EQ(model->with_labels({"a", "b"})->label_names().size(), 2u);
  }
  std::vector<std::string> labels;
  for (int i = 0; i < 1000; ++i) labels.push_back("LABEL_" + std::to_string(i));
  const ModelPtr base = model_preset("deit-base-distilled-patch16-224")->with_labels(labels);
  EXPECT_EQ(parameter_count(base->weights()), 87'338'192u);
}

TEST(Vit, RefusesPlansAndLengthsThatItDoesNotHave) {
  const ModelPtr model = read_config(golden("vit_tiny"));
  EXPECT_FALSE(model->refuses({.data = 4}));
  EXPECT_FALSE(model->refuses({.tensor = 2}));
  EXPECT_TRUE(model->refuses({.tensor = 2, .sequence = true}));
  EXPECT_TRUE(model->refuses({.tensor = 3}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->step({.kind = {.length = 16}}); }, {"16", "17"}));
}

// The multiplications of the program: by the textbook, but for the class token's row, of zeros, in front of the
// patches.
TEST(Vit, FlopsAreTheTextbooks) {
  const ModelPtr model = model_preset("vit-tiny-patch16-224")->with_sizes({.layers = 2});
  const Step step{.plan = {.micro_batch = 4, .numerics = runtime::numerics("bf16")},
                  .kind = {.length = model->sizes().positions}};
  const runtime::Compiled compiled = runtime::compile(model->step(step).graph, trn1_target(), {.name = "vit"});
  EXPECT_NEAR(compiled.program.model_flops / model->flops(step), 1, 0.03);
}

TEST(Images, PatchesGoRowByRowEachChannelByChannel) {
  const std::vector<float> picture{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  std::vector<float> rows;
  append_patches(picture, {.size = 4, .channels = 2, .patch = 2}, rows);
  ASSERT_EQ(rows.size(), 5u * 8);
  EXPECT_THAT((std::vector<float>{rows.begin(), rows.begin() + 8}), testing::Each(0));
  EXPECT_THAT((std::vector<float>{rows.begin() + 8, rows.begin() + 16}), ElementsAre(0, 1, 4, 5, 16, 17, 20, 21));
  EXPECT_THAT((std::vector<float>{rows.begin() + 32, rows.end()}), ElementsAre(10, 11, 14, 15, 26, 27, 30, 31));
}

TEST(Images, DigitsDependOnSeedAndPlaceAlone) {
  const ImageDataset few = synthetic_digits(SyntheticSplit::kTrain, 3),
                     more = synthetic_digits(SyntheticSplit::kTrain, 50);
  EXPECT_TRUE(std::equal(few.pixels.begin(), few.pixels.end(), more.pixels.begin()));
  EXPECT_NE(synthetic_digits(SyntheticSplit::kTest, 3).pixels, few.pixels);
  EXPECT_NE(synthetic_digits(SyntheticSplit::kTrain, 3, 43).pixels, few.pixels);
  for (std::int32_t digit = 0; digit < 10; ++digit) EXPECT_THAT(more.labels, testing::Contains(digit));
}

std::string idx_header(std::initializer_list<unsigned char> extents) {
  std::string out{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const unsigned char extent : extents) out += std::string(3, '\0') + static_cast<char>(extent);
  return out;
}

TEST(Images, MnistsFilesAreRead) {
  const Scratch s;
  s.write("train-images-idx3-ubyte", idx_header({2, 2, 2}) + std::string("\0\xff\0\0\0\0\0\xff", 8));
  s.write("train-labels-idx1-ubyte", idx_header({2}) + std::string("\x03\x01", 2));
  s.write("t10k-images-idx3-ubyte", idx_header({1, 2, 2}) + std::string(4, '\0'));
  s.write("t10k-labels-idx1-ubyte", idx_header({1}) + std::string(1, '\x02'));
  const ImageSplits splits = read_image_folder(s.path());
  EXPECT_EQ(splits.train.size, 2);
  EXPECT_THAT(splits.train.labels, ElementsAre(3, 1));
  EXPECT_EQ(splits.train.label_names.size(), 4u);
  EXPECT_NEAR(splits.train.picture(0)[1], (1 - 0.1307) / 0.3081, 1e-5);
  EXPECT_NEAR(splits.train.picture(1)[0], -0.1307 / 0.3081, 1e-5);
  EXPECT_EQ(splits.test.labels.size(), 1u);
  EXPECT_EQ(read_image_folder(s.path(), 1).train.labels.size(), 1u);
  s.write("train-images-idx3-ubyte", idx_header({2, 2, 2}) + std::string(7, '\0'));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_image_folder(s.path()); }, {"7 bytes", "says 8"}));
}

TEST(Images, CifarsFilesAreRead) {
  const Scratch s;
  std::string one(3073, '\0'), two(3073, '\xff');
  one[0] = 9, two[0] = 4;
  s.write("data_batch_1.bin", one + two);
  s.write("test_batch.bin", two);
  const ImageSplits splits = read_image_folder(s.path());
  EXPECT_THAT(splits.train.labels, ElementsAre(9, 4));
  EXPECT_EQ(splits.train.label_names[9], "truck");
  EXPECT_NEAR(splits.train.picture(1)[3 * 1024 - 1], (1 - 0.4465) / 0.2616, 1e-5);
  two[0] = 10;
  s.write("test_batch.bin", two);
  EXPECT_TRUE(fails(Fault::kData, [&] { read_image_folder(s.path()); }, {"label 10"}));
  s.write("test_batch.bin", "short");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_image_folder(s.path()); }, {"5 bytes"}));
}

// Chance is 0.1: the model has learnt held-out digits from others.
TEST(Vit, LearnsDigits) {
  const ImageDataset train = synthetic_digits(SyntheticSplit::kTrain, 2048),
                     test = synthetic_digits(SyntheticSplit::kTest, 256);
  const ModelPtr model = model_preset("vit-mnist")->with_sizes({.layers = 2})->with_labels(train.label_names);
  TrainerOptions o;
  o.target = trn1_target();
  o.step = {.plan = {.data = 2, .micro_batch = 16, .numerics = runtime::numerics("fp32")},
            .kind = {.length = model->sizes().positions},
            .optimizer = {.max_grad_norm = 1}};
  o.eval_batch = 64, o.epochs = without_slow() ? 1 : 8, o.learning_rate = 2e-3, o.warmup.ratio = 0.1,
  o.eval_each_epoch = false;
  const ImageShape& shape = *model->image();
  Trainer trainer{model,
                  initial_weights(model, 42),
                  {.train = labelled_pictures(&train, shape), .test = labelled_pictures(&test, shape)},
                  o};
  EXPECT_LT(std::get<double>(trainer.evaluate(workloads::Split::kTest).scores.at(0).second), 0.3);
  trainer.run();
  if (without_slow()) GTEST_SKIP() << "one of its epochs alone: " << kSlow;
  EXPECT_GT(std::get<double>(trainer.evaluate(workloads::Split::kTest).scores.at(0).second), 0.8);
}

TEST(Vit, PicturesMustBeOfTheModelsSize) {
  const ImageDataset digits = synthetic_digits(SyntheticSplit::kTrain, 1);
  const ImageShape other{.size = 32, .channels = 3, .patch = 4};
  EXPECT_TRUE(fails(Fault::kData, [&] { labelled_pictures(&digits, other); }, {"1 x 28 x 28", "3 x 32 x 32"}));
}

}  // namespace
