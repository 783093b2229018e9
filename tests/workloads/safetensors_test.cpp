#include "workloads/checkpoints/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <ctime>

#include "base/files.h"
#include "tests/workloads/support.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

/// A file with this header and data, and perhaps a length of its own in front.
std::string file_of(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(data_bytes, 'x');
}
std::string file_of(const std::string& header, std::size_t data_bytes) {
  return file_of(header, data_bytes, header.size());
}

struct Bad {
  const char* name;
  std::string content;
  std::vector<const char*> words;
};

TEST(Safetensors, DamagedFilesAreOneClearError) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string eight = R"({"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  const std::vector<Bad> all = {
      {"empty", "", {"truncated", "0 bytes"}},
      {"only_length", file_of("", 0).substr(0, 5), {"truncated"}},
      {"long_header", file_of(good, 8, 4000), {"4000 bytes long", "62"}},
      {"huge_header", file_of(good, 8, ~0ull), {"18446744073709551615"}},
      {"not_json", file_of("{\"a\": ", 8), {"header is not JSON"}},
      {"no_object", file_of("[1, 2]", 8), {"not a JSON object"}},
      {"truncated", file_of(good, 5), {"\"a\"", "0..8", "5 bytes", "truncated"}},
      {"too_long", file_of(good, 9), {"1 bytes at the end"}},
      {"overlap",
       file_of("{\"a\":" + eight + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", 8),
       {"\"b\"", "overlaps"}},
      {"hole", file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", 8), {"4 bytes before", "\"a\""}},
      {"wrong_size",
       file_of(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}})", 8),
       {"\"a\"", "holds 8 bytes", "F16", "[2]", "takes 4"}},
      {"overflow",
       file_of(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", 8),
       {"overflows"}},
      {"backwards", file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[8,0]}})", 8), {"8..0"}},
      {"twice", file_of("{\"a\":" + eight + ",\"a\":" + eight + "}", 8), {"two tensors named \"a\""}},
      {"dtype", file_of(R"({"a":{"dtype":"F4","shape":[8],"data_offsets":[0,8]}})", 8), {"\"F4\"", "BF16"}},
      {"negative", file_of(R"({"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})", 8), {"shape"}},
      {"no_offsets", file_of(R"({"a":{"dtype":"U8","shape":[8]}})", 8), {"\"a\"", "data_offsets"}},
      {"not_tensor", file_of(R"({"a":3})", 0), {"\"a\"", "dtype"}},
  };
  const Scratch scratch;
  for (const Bad& bad : all) {
    const auto path = scratch.write(std::string{bad.name} + ".safetensors", bad.content);
    EXPECT_TRUE(fails(Fault::kData, [&] { SafetensorsFile{path}; }, {bad.name}));
    for (const char* word : bad.words) EXPECT_TRUE(fails(Fault::kData, [&] { SafetensorsFile{path}; }, {word}));
  }
  EXPECT_TRUE(fails(Fault::kData, [&] { SafetensorsFile{scratch / "none"}; }, {"none"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { SafetensorsFile{scratch.path()}; }, {"not a regular file"}));
}

// Quadratic, the header alone would take a quarter of a minute.
TEST(Safetensors, ManyTensorsTakeTimeInProportion) {
  const Scratch scratch;
  std::string header = "{";
  for (int i = 0; i < 50'000; ++i)
    header += fmt::format(R"({}"n{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", i > 0 ? "," : "", i);
  base::write_file(scratch / "many.safetensors", file_of(header + "}", 0));
  const std::clock_t begin = std::clock();
  EXPECT_EQ(Checkpoint::open(scratch / "many.safetensors").names().size(), 50'000U);
  EXPECT_LT(std::clock() - begin, 8 * CLOCKS_PER_SEC);
}

TEST(Safetensors, WrittenFilesReadBack) {
  const Scratch scratch;
  const auto path = scratch / "m.safetensors";
  write_safetensors(
      path,
      {float_tensor("b.half", {2, 2}, {1, -2, 0.5f, 65504}, ElementType::kF16), float_tensor("z", {3}, {1, 2, 3}),
       float_tensor("a", {}, {7}), float_tensor("empty", {0, 4}, {}), integer_tensor("ids", {2}, {-5, 1LL << 40})},
      {{"epoch", "3"}});
  const SafetensorsFile file{path};
  std::map<std::string, std::string> metadata = file.metadata();
  EXPECT_EQ(metadata.erase("checksum"), 1u);
  EXPECT_EQ(metadata, (std::map<std::string, std::string>{{"epoch", "3"}, {"format", "pt"}}));
  EXPECT_NO_THROW(file.require_whole());
  const Checkpoint c = Checkpoint::open(path);
  EXPECT_EQ(c.floats("b.half"), (std::vector<float>{1, -2, 0.5f, 65504}));
  EXPECT_EQ(c.floats("z"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(c.floats("a"), (std::vector<float>{7}));
  EXPECT_TRUE(c.floats("empty").empty());
  EXPECT_EQ(c.integers("ids"), (std::vector<std::int64_t>{-5, 1LL << 40}));
  EXPECT_EQ(c.info("b.half").shape, (Shape{2, 2}));
  // Widest type first, then by name; the data starts on a multiple of 8.
  EXPECT_EQ(c.info("ids").begin % 8, 0u);
  EXPECT_LT(c.info("ids").begin, c.info("a").begin);
  EXPECT_LT(c.info("a").begin, c.info("z").begin);
  EXPECT_LT(c.info("z").begin, c.info("b.half").begin);
  EXPECT_TRUE(fails(Fault::kData, [&] { c.info("b.haf"); }, {"m.safetensors", "b.haf", "b.half"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { c.integers("z"); }, {"\"z\" is F32"}));
}

TEST(Safetensors, ReadsFilesOfTheReferenceImplementation) {
  const Checkpoint c = Checkpoint::open(golden("bert_tiny"));
  EXPECT_EQ(c.info("bert.embeddings.word_embeddings.weight").shape, (Shape{201, 128}));
  for (const float value : c.floats("bert.embeddings.LayerNorm.weight")) EXPECT_NEAR(value, 1, 0.2);
  const Checkpoint batches = Checkpoint::open(golden("bert_tiny") / "batches.safetensors");
  EXPECT_EQ(batches.info("step0.input_ids").shape, (Shape{8, 64}));
  for (const std::int64_t label : batches.integers("step0.labels")) EXPECT_TRUE(label >= 0 && label < 6);
}

TEST(Safetensors, AFailedWriteLeavesTheOldFile) {
  const Scratch scratch;
  const auto path = scratch / "m.safetensors";
  write_safetensors(path, {float_tensor("old", {1}, {1})});
  NewTensor broken = float_tensor("new", {1}, {1});
  broken.bytes = []() -> std::vector<std::byte> { throw std::runtime_error{"no more data"}; };
  EXPECT_THROW(write_safetensors(path, {std::move(broken)}), std::runtime_error);
  EXPECT_TRUE(Checkpoint::open(path).contains("old"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{scratch.path()}, {}), 1);  // nothing else is left
  EXPECT_TRUE(fails(Fault::kEnvironment, [&] { write_safetensors(scratch / "no/folder", {}); }, {"no/folder"}));
}

TEST(Safetensors, ShardsAreOneCheckpoint) {
  const Scratch s;
  write_safetensors(s / "model-1.safetensors", {float_tensor("a", {1}, {1})});
  write_safetensors(s / "model-2.safetensors", {float_tensor("b", {1}, {2}), float_tensor("c", {1}, {3})});
  const auto index = [&](const char* map) {
    s.write("model.safetensors.index.json", std::string{"{\"weight_map\": "} + map + "}");
  };
  index(R"({"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"})");
  const Checkpoint c = Checkpoint::open(s.path());
  EXPECT_EQ(c.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(c.floats("c"), (std::vector<float>{3}));
  EXPECT_EQ(c.file_of("a").filename(), "model-1.safetensors");
  const auto open = [&] { Checkpoint::open(s.path()); };
  index(R"({"a": "model-2.safetensors", "b": "model-1.safetensors"})");
  EXPECT_TRUE(fails(Fault::kData, open, {"\"a\" is in model-2.safetensors, but it is not there"}));
  index(R"({"a": "model-9.safetensors"})");
  EXPECT_TRUE(fails(Fault::kData, open, {"model-9.safetensors"}));
  index(R"({"a": "../model-1.safetensors"})");
  EXPECT_TRUE(fails(Fault::kData, open, {"not a file name"}));
  index("3");
  EXPECT_TRUE(fails(Fault::kData, open, {"weight_map"}));
}

TEST(Safetensors, AFolderWithoutWeightsSaysWhatToDo) {
  const Scratch s;
  s.write("pytorch_model.bin", "");
  EXPECT_TRUE(fails(Fault::kData, [&] { Checkpoint::open(s.path()); }, {"pytorch_model.bin", "safe_serialization"}));
}

}  // namespace
}  // namespace workloads
