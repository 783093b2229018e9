#include "workloads/text/wordpiece.h"

#include <gtest/gtest.h>

#include <ctime>

#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;
using Ids = std::vector<std::int32_t>;

WordPiece small(BertNormalizer normalizer = {}) {
  WordPieceModel model;
  model.vocabulary = read_vocabulary(fixture("wordpiece/vocab.txt"));
  model.normalizer = normalizer;
  return WordPiece{std::move(model), "vocab.txt"};
}

// The ids and the decoded text are those of npm @huggingface/tokenizers 0.2.0 with the same vocabulary and normalizer.
TEST(WordPiece, AgreesWithHuggingFaceOnTrickyText) {
  const std::map<std::string, WordPiece> tokenizers = [] {
    std::map<std::string, WordPiece> made;
    made.emplace("uncased", small());
    made.emplace("cased", small({.strip_accents = {}, .lowercase = false}));
    made.emplace("accents", small({.strip_accents = false}));
    made.emplace("no_cjk", small({.handle_chinese_chars = false, .strip_accents = {}}));
    return made;
  }();
  const auto cases = read_json_file(fixture("wordpiece/cases.json"));
  ASSERT_GT(cases.size(), 200u);
  for (const auto& expected : cases) {
    const WordPiece& tokenizer = tokenizers.at(expected.at("settings"));
    const Encoding got = tokenizer.encode(expected.at("text").get<std::string>());
    EXPECT_EQ(got.ids, expected.at("ids").get<Ids>()) << expected.dump();
    EXPECT_EQ(tokenizer.decode(got.ids, true), expected.at("decoded")) << expected.dump();
  }
}

TEST(WordPiece, LongestMatchFirst) {
  const WordPiece t = small();
  EXPECT_EQ(t.tokens(t.tokenize("unaffable", "text")), (std::vector<std::string>{"un", "##aff", "##able"}));
  EXPECT_EQ(t.tokens(t.tokenize("wanted q", "text")), (std::vector<std::string>{"want", "##ed", "q"}));
  EXPECT_EQ(t.tokens(t.tokenize("wantq", "text")),
            (std::vector<std::string>{"[UNK]"}));  // no "##q": unknown as a whole
}

// 40,000 whole tokens beside 40,000 in the text: a look at each of them at each place would be a minute.
TEST(WordPiece, ManyWholeTokensTakeNoLonger) {
  WordPieceModel model;
  model.vocabulary = read_vocabulary(fixture("wordpiece/vocab.txt"));
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    model.vocabulary.push_back("<" + std::to_string(i) + ">");
    model.extra_whole_tokens.push_back(model.vocabulary.back());
    text += "[SEP]";
  }
  model.vocabulary.emplace_back();
  model.extra_whole_tokens.emplace_back();  // never found
  const std::clock_t begin = std::clock();
  const WordPiece t{std::move(model), "vocab.txt"};
  const Ids ids = t.tokenize(text + "<39999>a", "text");
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
  ASSERT_EQ(ids.size(), 40'002U);
  EXPECT_EQ(t.token(ids[40'000]), "<39999>");
}

TEST(WordPiece, PairsHaveTheirTokenTypes) {
  const WordPiece t = small();
  const Encoding pair = t.encode_pair("a b c", "x y");
  EXPECT_EQ(t.tokens(pair.ids), (std::vector<std::string>{"[CLS]", "a", "b", "c", "[SEP]", "x", "y", "[SEP]"}));
  EXPECT_EQ(pair.token_types, (Ids{0, 0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(t.encode_pair("a", "").token_types, (Ids{0, 0, 0, 1}));
}

TEST(WordPiece, CutsToALengthAndPads) {
  const WordPiece t = small();
  Encoding cut = t.encode("a b c d e f", 5);
  EXPECT_EQ(t.tokens(cut.ids), (std::vector<std::string>{"[CLS]", "a", "b", "c", "[SEP]"}));
  t.pad(cut, 7);
  EXPECT_EQ(cut.ids.size(), 7u);
  EXPECT_EQ(cut.ids[6], t.pad_id());
  EXPECT_EQ(cut.attention_mask(), (Ids{1, 1, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { t.encode("a", 2); }, {"max_length", "3 or more"}));
}

TEST(WordPiece, CutsTheLongerOfAPairFirst) {
  const WordPiece t = small();
  const auto lengths = [&](const char* first, const char* second, std::size_t room) {
    const Encoding e = t.encode_pair(first, second, room + 3);
    const auto types = std::ranges::count(e.token_types, 0);
    return std::pair{types - 2, static_cast<std::int64_t>(e.ids.size()) - types - 1};
  };
  EXPECT_EQ(lengths("a b", "c d e f g h", 5), std::pair(2L, 3L));
  EXPECT_EQ(lengths("c d e f g h", "a b", 5), std::pair(3L, 2L));
  EXPECT_EQ(lengths("a b c d e", "a b c d e", 5), std::pair(2L, 3L));
  EXPECT_EQ(lengths("a b", "c d", 5), std::pair(2L, 2L));
}

TEST(WordPiece, InvalidUtf8NamesThePlace) {
  const WordPiece t = small();
  for (const char* bad : {"caf\xE9", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "abc\xE2\x82"})
    EXPECT_TRUE(fails(Fault::kData, [&] { t.encode(bad, 0, "tweets.csv:7"); }, {"tweets.csv:7", "UTF-8"})) << bad;
}

TEST(WordPiece, VocabularyMustBeWhole) {
  WordPieceModel model;
  const auto build = [&] { WordPiece{model, "v.txt"}; };
  EXPECT_TRUE(fails(Fault::kData, build, {"v.txt", "no tokens"}));
  model.vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  EXPECT_TRUE(fails(Fault::kData, build, {"v.txt", "[MASK]"}));
  model.vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "a"};
  EXPECT_TRUE(fails(Fault::kData, build, {"\"a\" has two ids, 5 and 6"}));
}

TEST(TokenizerFiles, SavedTokenizerLoadsAgain) {
  const Scratch scratch;
  small({.strip_accents = false, .lowercase = true}).save(scratch.path());
  const std::string text = "Héllo CAFÉ 日本 [MASK] unaffable";
  const Ids want = small({.strip_accents = false}).encode(text).ids;
  EXPECT_EQ(load_tokenizer(scratch.path())->encode(text).ids, want);
  std::filesystem::remove(scratch / "tokenizer.json");  // remaining files: vocab.txt and tokenizer_config.json
  EXPECT_EQ(load_tokenizer(scratch.path())->encode(text).ids, want);
}

TEST(TokenizerFiles, DoLowerCaseIsRead) {
  const Scratch scratch;
  scratch.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nHello\n");
  EXPECT_EQ(load_tokenizer(scratch.path())->encode("Hello").ids, (Ids{2, 5, 3}));
  scratch.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(load_tokenizer(scratch / "vocab.txt")->encode("Hello").ids, (Ids{2, 6, 3}));
}

TEST(TokenizerFiles, MpnetHasTwoSeparatorsBetweenTexts) {
  const Scratch scratch, copy;
  scratch.write("vocab.txt", "<s>\n<pad>\n</s>\n[UNK]\n<mask>\na\nb\n");
  scratch.write("tokenizer_config.json",
                R"({"tokenizer_class": "MPNetTokenizer", "cls_token": "<s>", "sep_token": "</s>",
                    "pad_token": "<pad>", "mask_token": "<mask>"})");
  const auto t = load_tokenizer(scratch.path());
  const Encoding pair = t->encode_pair("a", "b");
  EXPECT_EQ(pair.ids, (Ids{0, 5, 2, 2, 6, 2}));
  EXPECT_EQ(pair.token_types, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(t->added_tokens(true), 4U);
  EXPECT_EQ(t->mask_id(), 4);
  t->save(copy.path());
  EXPECT_EQ(load_tokenizer(copy.path())->encode_pair("a", "b").ids, pair.ids);
}

// As EsmTokenizer: each token wherever it is, what is between them unknown by words, two ends for two texts.
TEST(TokenizerFiles, ProteinsAreTheirAminoAcids) {
  const Scratch scratch, copy;
  scratch.write("vocab.txt", "<cls>\n<pad>\n<eos>\n<unk>\nL\nA\n.\n<mask>\n");
  scratch.write("tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer", "eos_token": "<eos>"})");
  const auto t = load_tokenizer(scratch.path());
  EXPECT_EQ(t->encode("LAxy zL<mask>  A.").ids, (Ids{0, 4, 5, 3, 3, 4, 7, 5, 6, 2}));
  EXPECT_EQ(t->encode_pair("LLLL", "A", 6).ids, (Ids{0, 4, 4, 2, 5, 2}));
  EXPECT_EQ(t->mask_id(), 7);
  EXPECT_EQ(t->pad_id(), 1);
  EXPECT_EQ(t->decode(t->encode("LA<mask>").ids, true), "L A");
  t->save(copy.path());
  EXPECT_EQ(load_tokenizer(copy.path())->encode("LAxA").ids, t->encode("LAxA").ids);
  scratch.write("vocab.txt", "<cls>\n<pad>\n<unk>\nL\n<mask>\n");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(scratch.path()); }, {"<eos>"}));
  scratch.write("vocab.txt", "<cls>\n<pad>\n<eos>\n<unk>\nL\nL\n<mask>\n");
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(scratch.path()); }, {"\"L\"", "line 6"}));
}

TEST(TokenizerFiles, OtherTokenizersAreRefused) {
  const Scratch scratch;
  small().save(scratch.path());
  const auto good = read_json_file(scratch / "tokenizer.json");
  const auto load = [&] { load_tokenizer(scratch / "tokenizer.json"); };
  const auto broken = [&](const std::string& pointer, const nlohmann::json& value) {
    auto file = good;
    file[nlohmann::json::json_pointer{pointer}] = value;
    scratch.write("tokenizer.json", file.dump());
    return load;
  };
  EXPECT_TRUE(fails(Fault::kData, broken("/model/type", "Unigram"), {"tokenizer.json", "Unigram", "WordPiece", "BPE"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/normalizer/type", "NFC"), {"normalizer", "BertNormalizer"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/model/vocab/hello", 100000), {"hello", "100000"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/added_tokens/0/id", 7), {"[PAD]", "7"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/post_processor/single", nlohmann::json::array()), {"[CLS] A [SEP]"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/post_processor/pair", nlohmann::json::array()), {"two texts"}));
  EXPECT_TRUE(fails(Fault::kData, broken("/normalizer/lowercase", 3), {"lowercase", "true or false"}));
  scratch.write("tokenizer.json", "{\n  \"model\": }");
  EXPECT_TRUE(fails(Fault::kData, load, {"tokenizer.json:2:12", "not valid JSON"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { load_tokenizer(scratch / "nowhere"); }, {"nowhere"}));
}

}  // namespace
}  // namespace workloads
