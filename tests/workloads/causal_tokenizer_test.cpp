// Tokenizers of decoder models against their originals: Hugging Face tokenizers (Rust) for tokenizer.json,
// SentencePiece 0.1.97 for tiny.model, and llama2.c's encode() for tok512.bin; each encoded the texts of
// data/*/..cases.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "tests/tale.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/text/tokenizer.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using testing::ElementsAre;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;

std::filesystem::path data(const std::string& name) { return fixture("tokenizers/" + name); }

class AgreesWithHuggingFace : public testing::TestWithParam<const char*> {};

TEST_P(AgreesWithHuggingFace, OnTrickyTextBothWays) {
  const auto t = load_tokenizer(data(std::string{GetParam()} + ".json"));
  for (const json& c : read_json_file(data(std::string{GetParam()} + "_cases.json"))) {
    const std::string text = c.at("text");
    const std::vector<std::int32_t> want = c.at("ids");
    EXPECT_EQ(t->encode(text).ids, want) << text;
    EXPECT_EQ(t->decode(want, true), c.at("decoded")) << text;
    EXPECT_EQ(t->decode(want, false), c.at("raw")) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, AgreesWithHuggingFace, testing::Values("gpt2", "llama3", "llama2", "metaspace"),
                         [](const auto& param) { return std::string{param.param}; });

TEST(SentencePiece, AgreesWithTheLibraryAlone) {
  const auto t = load_tokenizer(data("tiny.model"));
  EXPECT_EQ(t->vocab_size(), 600u);
  EXPECT_EQ(t->bos_id(), 1);
  EXPECT_EQ(t->eos_id(), 2);
  EXPECT_EQ(t->pad_id(), 2);  // the model has no padding token
  for (const json& c : read_json_file(data("tiny_cases.json"))) {
    const std::string text = c.at("text");
    const std::vector<std::int32_t> want = c.at("ids");
    EXPECT_EQ(t->tokenize(text, "t"), want) << text;
    EXPECT_EQ(t->decode(want, false), c.at("decoded")) << text;
  }
}

TEST(SentencePiece, BosIsAddedAsTheConfigSays) {
  const Scratch s;
  std::filesystem::copy(data("tiny.model"), s / "tokenizer.model");
  const auto ids = [&](const json& config) {
    if (!config.is_null()) s.write("tokenizer_config.json", config.dump());
    return load_tokenizer(s.path())->encode("b").ids;
  };
  const std::vector<std::int32_t> plain = load_tokenizer(s.path())->tokenize("b", "t");
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_THAT(ids(nullptr), ElementsAre(1, plain[0]));
  EXPECT_THAT(ids({{"tokenizer_class", "LlamaTokenizer"},
                   {"eos_token", {{"content", "</s>"}}},
                   {"add_bos_token", false},
                   {"add_eos_token", true}}),
              ElementsAre(plain[0], 2));
  const json pad = {{"600", {{"content", "<pad>"}, {"special", true}}}};
  EXPECT_THAT(ids({{"added_tokens_decoder", pad}, {"pad_token", "<pad>"}}), ElementsAre(1, plain[0]));
  const auto t = load_tokenizer(s.path());
  EXPECT_EQ(t->vocab_size(), 601u);
  EXPECT_EQ(t->pad_id(), 600);
  EXPECT_EQ(t->decode(t->tokenize("a<pad>b", "t"), true), "a b");  // each part has its blank
  EXPECT_TRUE(fails(Fault::kData,
                    [&] {
                      ids({{"pad_token", "<none>"}});
                    },
                    {"tokenizer_config.json", "pad_token", "<none>"}));
  EXPECT_TRUE(fails(Fault::kData,
                    [&] {
                      ids({{"added_tokens_decoder", {{"900", {{"content", "x"}}}}}});
                    },
                    {"900", "gap"}));
  s.write("tokenizer.model", "not a model");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"tokenizer.model", "not a SentencePiece model"}));
}

// DeBERTa's files, and XLM-RoBERTa's: transformers, tokenization_deberta_v2.py and tokenization_xlm_roberta.py.
TEST(SentencePiece, EncodersSurroundOneTextAndTwo) {
  const Scratch s;
  std::filesystem::copy(data("tiny.model"), s / "spm.model");
  const auto deberta = load_tokenizer(s.path());
  const std::vector<std::int32_t> a = deberta->tokenize("a", "t"), b = deberta->tokenize("b", "t");
  ASSERT_EQ(a.size() + b.size(), 2u);
  EXPECT_THAT(deberta->encode("a").ids, ElementsAre(1, a[0], 2));
  EXPECT_THAT(deberta->encode_pair("a", "b").ids, ElementsAre(1, a[0], 2, b[0], 2));
  EXPECT_THAT(deberta->encode_pair("a", "b").token_types, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(deberta->mask_id(), 600);
  s.write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"do_lower_case"}));
  std::filesystem::remove(s / "tokenizer_config.json");
  std::filesystem::rename(s / "spm.model", s / "sentencepiece.bpe.model");
  const auto roberta = load_tokenizer(s.path());
  EXPECT_THAT(roberta->encode_pair("a", "b").ids, ElementsAre(0, a[0] + 1, 2, 2, b[0] + 1, 2));
  EXPECT_EQ(roberta->vocab_size(), 602u);
  EXPECT_EQ(roberta->mask_id(), 601);
  EXPECT_EQ(roberta->pad_id(), 1);
  EXPECT_EQ(roberta->decode(roberta->encode("a b").ids, true), "a b");
  s.write("config.json", R"({"model_type": "camembert"})");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"model_type", "camembert"}));
}

/// Further entries of a SentencePiece model, which no text is cut into: its proto3 form, piece by piece.
std::string control_pieces(std::initializer_list<std::string> texts) {
  std::string out;
  for (const std::string& text : texts) {
    const std::string piece = "\x0a" + std::string(1, static_cast<char>(text.size())) + text + "\x18\x03";
    out += "\x0a" + std::string(1, static_cast<char>(piece.size())) + piece;
  }
  return out;
}

// ALBERT's, transformers' tokenization_albert.py: lower case without accents, TeX's quotation marks, [CLS] and [SEP].
TEST(SentencePiece, AFileThatSeveralFamiliesHaveIsReadAsTheModelSays) {
  const Scratch s;
  s.write("spiece.model", base::read_file(data("tiny.model")) + control_pieces({"[CLS]", "[SEP]", "[MASK]"}));
  s.write("config.json", R"({"model_type": "albert"})");
  const auto albert = load_tokenizer(s.path());
  const std::vector<std::int32_t> plain = albert->tokenize("a \"b\" e", "t");
  std::vector<std::int32_t> around = plain;
  around.insert(around.begin(), 600), around.push_back(601);
  EXPECT_EQ(albert->encode("A ``b'' \xC3\x89").ids, around);
  EXPECT_EQ(albert->mask_id(), 602);
  s.write("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizer", "do_lower_case": false})");
  EXPECT_NE(load_tokenizer(s.path())->tokenize("A", "t"), load_tokenizer(s.path())->tokenize("a", "t"));
  std::filesystem::remove(s / "tokenizer_config.json");
  s.write("config.json", R"({"model_type": "t5"})");
  EXPECT_EQ(load_tokenizer(s.path())->tokenize("a \"b\" e", "t"), plain);
  s.write("config.json", R"({"model_type": "pegasus"})");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"model_type", "pegasus", "T5's or ALBERT's"}));
}

// RoBERTa's, and a template's, as Hugging Face tokenizers' processors/roberta.rs and template.rs have them.
TEST(BpeTokenizer, PairsAreSurroundedAsTheFileSays) {
  const Scratch s;
  json file = read_json_file(data("gpt2.json"));
  const auto pair = [&](const json& processor) {
    file["post_processor"] = processor;
    s.write("tokenizer.json", file.dump());
    const auto t = load_tokenizer(s.path());
    EXPECT_EQ(t->encode_pair("a", "b").ids.size(), 2 + t->added_tokens(true));
    std::vector<std::int32_t> ids = t->encode_pair("a", "b").ids;
    std::erase(ids, t->tokenize("a", "t").at(0)), std::erase(ids, t->tokenize("b", "t").at(0));
    return ids;
  };
  const json cls = {"x", 5}, sep = {"y", 6};
  EXPECT_THAT(pair({{"type", "RobertaProcessing"}, {"sep", sep}, {"cls", cls}}), ElementsAre(5, 6, 6, 6));
  EXPECT_THAT(pair({{"type", "BertProcessing"}, {"sep", sep}, {"cls", cls}}), ElementsAre(5, 6, 6));
  const auto special = [](const char* name) { return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; };
  const auto text = [](const char* name) { return json{{"Sequence", {{"id", name}, {"type_id", 0}}}}; };
  json both = {{"type", "TemplateProcessing"},
               {"single", {special("x"), text("A"), special("y")}},
               {"pair", {special("x"), text("A"), special("y"), text("B"), special("y")}},
               {"special_tokens", {{"x", {{"ids", {5}}}}, {"y", {{"ids", {6}}}}}}};
  EXPECT_THAT(pair(both), ElementsAre(5, 6, 6));
  both["pair"] = {special("x"), text("B"), special("y"), text("A"), special("y")};
  EXPECT_TRUE(fails(Fault::kData, [&] { pair(both); }, {"another order"}));
  both["pair"] = {text("A"), special("y"), text("B"), special("y")};
  EXPECT_TRUE(fails(Fault::kData, [&] { pair(both); }, {"around two texts"}));
}

TEST(Llama2cTokenizer, AgreesWithRunC) {
  if (tests::stories().empty()) GTEST_SKIP() << tests::kNoStories;
  const auto t = load_tokenizer(tests::stories());
  EXPECT_EQ(t->vocab_size(), 512u);
  EXPECT_EQ(t->token(0), "<unk>");
  EXPECT_EQ(t->bos_id(), 1);
  EXPECT_EQ(t->eos_id(), 2);
  for (const json& c : read_json_file(fixture("tokenizers/stories260K_cases.json"))) {
    const std::string text = c.at("text");
    const std::vector<std::int32_t> want = c.at("ids");
    EXPECT_EQ(t->tokenize(text, "t"), want) << text;
    EXPECT_EQ(t->decode(want, true), text);
  }
}

TEST(Llama2cTokenizer, BadFilesAreRefused) {
  const Scratch s;
  const std::string file = base::read_file(tests::tale() / "tok512.bin");
  const auto reading = [&](const std::string& content) {
    return [path = s.write("tok.bin", content)] { load_tokenizer(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading(file.substr(0, file.size() - 1)), {"tok.bin", "token 511", "does not fit"}));
  EXPECT_TRUE(fails(Fault::kData, reading("abcd"), {"256 bytes"}));
  std::string negative = file;
  std::memset(negative.data() + 8, 0xff, 4);
  EXPECT_TRUE(fails(Fault::kData, reading(negative), {"token 0"}));
}

TEST(CausalTokenizer, SavedTokenizersLoadAgain) {
  for (const auto& source :
       {data("llama3.json"), data("llama2.json"), data("tiny.model"), std::filesystem::path{tests::tale()}}) {
    const Scratch s;
    const auto t = load_tokenizer(source);
    t->save(s.path());
    const auto again = load_tokenizer(s.path());
    const std::string text = "He said: naïve 😀\n\n  12345 don't";
    EXPECT_EQ(again->encode(text).ids, t->encode(text).ids) << source;
    EXPECT_EQ(again->bos_id(), t->bos_id());
    EXPECT_EQ(again->eos_id(), t->eos_id());
    EXPECT_EQ(again->pad_id(), t->pad_id());
  }
}

TEST(CausalTokenizer, PairsCutAndPad) {
  const auto t = load_tokenizer(data("llama2.json"));
  const Encoding pair = t->encode_pair("a", "b");
  EXPECT_EQ(std::ranges::count(pair.ids, 1), 2);
  EXPECT_EQ(pair.token_types.front(), 0);
  EXPECT_EQ(pair.token_types.back(), 1);
  Encoding cut = t->encode("a b c d e f g", 4);
  EXPECT_EQ(cut.ids.size(), 4u);
  EXPECT_EQ(cut.ids[0], 1);
  t->pad(cut, 6);
  EXPECT_THAT(std::vector(cut.ids.end() - 2, cut.ids.end()), ElementsAre(2, 2));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { t->encode("a", 1); }, {"special tokens alone"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { t->tokenize("a\xff", "file.txt:3"); }, {"file.txt:3", "UTF-8"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { t->decode(std::vector<std::int32_t>{600}, false); }, {"600", "0..599"}));
}

TEST(CausalTokenizer, HalfCharactersBecomeReplacementCharacters) {
  const auto t = load_tokenizer(data("gpt2.json"));
  std::vector<std::int32_t> ids = t->tokenize("a\U0001F9FFb", "t");  // no merges: four bytes
  ASSERT_EQ(ids.size(), 6u);
  EXPECT_EQ(t->decode(ids, false), "a\U0001F9FFb");
  std::vector<std::int32_t> third_gone = ids, first_gone = ids;
  third_gone.erase(third_gone.begin() + 3);
  first_gone.erase(first_gone.begin() + 1);
  EXPECT_EQ(t->decode(third_gone, false), "a\uFFFDb");  // three bytes that could begin one character
  EXPECT_EQ(t->decode(first_gone, false), "a\uFFFD\uFFFD\uFFFDb");
  const auto fallback = load_tokenizer(data("llama2.json"));
  ids = fallback->tokenize("\U0001F9FF", "t");
  ids.pop_back();
  EXPECT_EQ(fallback->decode(ids, false), "\uFFFD\uFFFD\uFFFD");  // here every byte counts
}

/// The file of a tokenizer with one value changed.
std::function<void()> broken(const Scratch& s, const std::string& name, const std::string& pointer, const json& value) {
  json file = read_json_file(data(name));
  file[json::json_pointer{pointer}] = value;
  return [path = s.write("tokenizer.json", file.dump())] { load_tokenizer(path); };
}

TEST(BpeFiles, UnsupportedFeaturesAreRefused) {
  const Scratch s;
  const auto gpt2 = [&](const char* pointer, const json& value) { return broken(s, "gpt2.json", pointer, value); };
  const auto llama3 = [&](const char* pointer, const json& value) { return broken(s, "llama3.json", pointer, value); };
  const auto llama2 = [&](const char* pointer, const json& value) { return broken(s, "llama2.json", pointer, value); };
  const std::string split = "/pre_tokenizer/pretokenizers/0/";
  EXPECT_TRUE(fails(Fault::kData, gpt2("/model/dropout", 0.1), {"tokenizer.json", "dropout", "0.1"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/model/end_of_word_suffix", "</w>"), {"end_of_word_suffix"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/model/merges/3", "ab"), {"merge \"ab\""}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/model/merges/3", "q §"), {"q", "vocabulary"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/model/vocab/!", 9999), {"9999"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/normalizer", {{"type", "Lowercase"}}), {"Lowercase", "NFC"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/pre_tokenizer", {{"type", "Punctuation"}}), {"Punctuation", "ByteLevel"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/pre_tokenizer", nullptr), {"byte-level"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/added_tokens/0/id", 3), {"<|endoftext|>", "3"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/added_tokens/0/single_word", true), {"single_word"}));
  EXPECT_TRUE(fails(Fault::kData, gpt2("/post_processor", {{"type", "TurnedProcessing"}}), {"TurnedProcessing"}));
  EXPECT_TRUE(fails(Fault::kData, llama3((split + "pattern").c_str(), {{"Regex", "(\\w+"}}), {"(\\w+", "parenthes"}));
  EXPECT_TRUE(fails(Fault::kData, llama3((split + "behavior").c_str(), "Removed"), {"Isolated"}));
  EXPECT_TRUE(fails(Fault::kData, llama3("/post_processor/processors/1/special_tokens", json::object()),
                    {"<|begin_of_text|>"}));
  EXPECT_TRUE(fails(Fault::kData, llama2("/normalizer/normalizers/0/prepend", "_"), {"prepends"}));
  EXPECT_TRUE(fails(Fault::kData, llama2("/decoder/decoders/0/type", "WordPiece"), {"WordPiece"}));
  EXPECT_TRUE(fails(Fault::kData, llama2("/decoder", {{"type", "ByteLevel"}}), {"ByteLevel", "does not fit"}));
  EXPECT_TRUE(fails(Fault::kData, llama2("/model/unk_token", "<none>"), {"<none>"}));
}

TEST(CausalTokenizer, FoldersWithoutTokenizerAreRefused) {
  const Scratch s;
  EXPECT_TRUE(
      fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"tokenizer.json", "tokenizer.model", "vocab.txt"}));
  s.write("tok1.bin", "");
  s.write("tok2.bin", "");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(s.path()); }, {"more than one tok*.bin"}));
}

}  // namespace
}  // namespace workloads
