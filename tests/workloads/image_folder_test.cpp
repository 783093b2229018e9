// Folders of PNG and JPEG files: reading, resizing, normalizing, and the text of each error.
#include "workloads/data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include <cstdlib>

#include "base/files.h"
#include "tests/workloads/support.h"
#include "workloads/data/pictures.h"
#include "workloads/tasks/classification.h"

namespace workloads {
namespace {

using base::Fault;
using testing::ElementsAre;
using testing::ElementsAreArray;
using workloads_test::fails;
using workloads_test::Scratch;

/// `channels`: 1 grey, 3 colours, 4 with transparency.
std::string png(std::uint32_t width, std::uint32_t height, int channels, const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width, image.height = height;
  image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string out(size, '\0');
  png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr);
  return out;
}

std::string jpeg(std::uint32_t width, std::uint32_t height, const std::vector<std::uint8_t>& rgb) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width, jpeg.image_height = height, jpeg.input_components = 3, jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < height) {
    auto* line = const_cast<std::uint8_t*>(&rgb[std::size_t{3} * width * jpeg.next_scanline]);
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string out(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return out;
}

std::vector<std::uint8_t> grey(std::size_t pixels, std::uint8_t value) {
  return std::vector<std::uint8_t>(3 * pixels, value);
}

TEST(Pictures, PngsOfAnyKindAreColours) {
  const Scratch s;
  EXPECT_THAT(read_picture(s.write("grey.png", png(2, 1, 1, {7, 200}))).rgb, ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(read_picture(s.write("rgb.png", png(1, 2, 3, {1, 2, 3, 4, 5, 6}))).rgb, ElementsAre(1, 2, 3, 4, 5, 6));
  // Transparent pixels keep their colour, as in Pillow's convert("RGB").
  EXPECT_THAT(read_picture(s.write("rgba.png", png(1, 1, 4, {10, 20, 30, 0}))).rgb, ElementsAre(10, 20, 30));
}

TEST(Pictures, AJpegIsReadWithinItsLoss) {
  const Scratch s;
  const Picture picture = read_picture(s.write("a.jpg", jpeg(16, 8, grey(128, 90))));
  EXPECT_EQ(picture.width, 16);
  EXPECT_EQ(picture.height, 8);
  for (const std::uint8_t x : picture.rgb) EXPECT_NEAR(x, 90, 2);  // one rounding of the mean, one of the colours
}

TEST(Pictures, TruncatedPicturesAreNamed) {
  const Scratch s;
  std::vector<std::uint8_t> noise;
  for (std::uint32_t i = 0; i < 3 * 32 * 32; ++i) noise.push_back(static_cast<std::uint8_t>(i * 2654435761U >> 24));
  const std::string whole = png(32, 32, 3, noise), compressed = jpeg(32, 32, noise);
  const auto refuses = [&](const char* name, const std::string& bytes, const char* why) {
    const auto file = s.write(name, bytes);
    EXPECT_TRUE(fails(Fault::kData, [&] { read_picture(file); }, {name, why}));
  };
  refuses("half.png", whole.substr(0, whole.size() / 2), "is not a complete PNG");
  refuses("head.png", whole.substr(0, 12), "is not a complete PNG");
  refuses("half.jpg", compressed.substr(0, compressed.size() / 2), "is not a complete JPEG");
  refuses("head.jpg", compressed.substr(0, 4), "is not a complete JPEG");
  std::string wide = compressed;  // 8,192 x 8,192, by its header
  wide.replace(wide.find("\xff\xc0") + 5, 4, std::string{"\x20\0\x20\0", 4});
  refuses("wide.jpg", wide, "more pixels than its bytes can hold");
  refuses("text.png", "not a picture", "is neither PNG nor JPEG");
  refuses("empty.jpeg", "", "is empty");
}

// Pillow's filter of a picture that is halved: new pixel 0 is centered on old 1.0 and reaches two pixels each way, over
// old pixels 0, 1, 2 with weights 3/4, 3/4, 1/4: of a white 2 and 3 it sees 1/7, and pixel 1 6/7.
TEST(Pictures, AreResizedAsPillowDoes) {
  Picture line{.width = 4, .height = 1};
  for (const std::uint8_t x : {0, 0, 255, 255}) line.rgb.insert(line.rgb.end(), {x, x, x});
  EXPECT_THAT(resized(line, 2, 1).rgb, ElementsAre(36, 36, 36, 219, 219, 219));
  Picture column = line;
  column.width = 1, column.height = 4;
  EXPECT_THAT(resized(column, 1, 2).rgb, ElementsAre(36, 36, 36, 219, 219, 219));
  // Enlarged twice, between two pixels: 0, 1/4, 3/4, 1 of the way; 63.75 and 191.25 are rounded.
  const Picture two{.width = 2, .height = 1, .rgb = {0, 0, 0, 255, 255, 255}};
  EXPECT_THAT(resized(two, 4, 1).rgb, ElementsAre(0, 0, 0, 64, 64, 64, 191, 191, 191, 255, 255, 255));
  EXPECT_THAT(resized(line, 4, 1).rgb, ElementsAreArray(line.rgb));
}

/// Two classes in three splits; black cats, white dogs.
void write_pets(const Scratch& s) {
  s.write("train/dog/1.png", png(4, 4, 3, grey(16, 255)));
  s.write("train/cat/1.JPEG", jpeg(8, 8, grey(64, 0)));
  s.write("train/cat/2.png", png(2, 2, 3, grey(4, 0)));
  s.write("train/cat/notes.txt", "no picture");
  s.write("validation/dog/1.png", png(4, 4, 3, grey(16, 255)));
  s.write("test/cat/1.png", png(4, 4, 3, grey(16, 0)));
}

constexpr ImageShape kColours{.size = 4, .channels = 3, .patch = 2};

TEST(ImageFolder, ClassesAreFoldersBelowTheirSplits) {
  const Scratch s;
  write_pets(s);
  ASSERT_TRUE(has_class_folders(s.path()));
  const ClassFolders read = read_class_folders(s.path(), kColours);
  EXPECT_THAT(read.train.label_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(read.train.labels, ElementsAre(0, 1, 0));  // in turns
  for (const float x : read.train.picture(0)) EXPECT_NEAR(x, -1, 0.02);
  for (const float x : read.train.picture(1)) EXPECT_FLOAT_EQ(x, 1);
  EXPECT_THAT(read.validation->labels, ElementsAre(1));
  EXPECT_THAT(read.test->labels, ElementsAre(0));
  EXPECT_EQ(read_class_folders(s.path(), kColours, {}, 2).train.labels.size(), 2u);
  EXPECT_EQ(count_class_folders(s.path()).train, 3u);
  EXPECT_EQ(count_class_folders(s.path()).eval, 1u);
}

TEST(ImageFolder, AModelThatKnowsTheClassesKeepsItsLabels) {
  const Scratch s;
  write_pets(s);
  EXPECT_THAT(read_class_folders(s.path(), kColours, {"dog", "fish", "cat"}).train.labels, ElementsAre(2, 0, 2));
  EXPECT_THAT(read_class_folders(s.path(), kColours, {"LABEL_0", "LABEL_1"}).train.labels, ElementsAre(0, 1, 0));
}

TEST(ImageFolder, WithoutSplitsEverythingIsForTraining) {
  const Scratch s;
  s.write("red/1.png", png(1, 1, 3, {255, 0, 0}));
  s.write("blue/1.png", png(1, 1, 3, {0, 0, 255}));
  const ClassFolders read = read_class_folders(s.path(), {.size = 1, .channels = 3, .patch = 1});
  EXPECT_FALSE(read.validation || read.test);
  EXPECT_THAT(read.train.pixels, ElementsAre(-1, -1, 1, 1, -1, -1));  // blue, then red; each channel by itself
  // 255 * 7471 / 65536 = 29.07 and 255 * 19595 / 65536 = 76.24, as Pillow's "L".
  const ClassFolders luma = read_class_folders(s.path(), {.size = 1, .channels = 1, .patch = 1});
  EXPECT_FLOAT_EQ(luma.train.pixels[0], (29.0F / 255 - 0.5F) / 0.5F);
  EXPECT_FLOAT_EQ(luma.train.pixels[1], (76.0F / 255 - 0.5F) / 0.5F);
}

TEST(ImageFolder, MistakesNameTheFile) {
  const Scratch s;
  write_pets(s);
  const auto read = [&] { read_class_folders(s.path(), kColours); };
  s.write("test/bird/1.png", png(1, 1, 3, {0, 0, 0}));
  EXPECT_TRUE(fails(Fault::kData, read, {"test/bird", "does not have"}));
  std::filesystem::remove_all(s / "test");
  s.write("train/cat/3.png", png(8, 8, 3, grey(64, 9)).substr(0, 40));
  EXPECT_TRUE(fails(Fault::kData, read, {"train/cat/3.png", "is not a complete PNG"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_class_folders(s.path(), {.size = 4, .channels = 5, .patch = 2}); },
                    {"5 channels"}));
  EXPECT_FALSE(has_class_folders(s / "train/cat"));
}

TEST(ImageFolder, IsTheDataOfAnImageClassifier) {
  const Scratch s;
  write_pets(s);
  DataOptions options;
  options.preset = "vit-mnist", options.dataset_path = s.path().string();
  const Classification c = load_classification(options);
  EXPECT_EQ(c.train_samples(), 3);
  EXPECT_EQ(c.validation_samples(), 1);
  EXPECT_THAT(c.config->label_names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(c.data().test->size(), 1u);
  EXPECT_EQ(count_images(s.path()).validation, 1);
}

}  // namespace
}  // namespace workloads
