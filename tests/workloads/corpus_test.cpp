#include "workloads/data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/tale.h"
#include "tests/workloads/support.h"
#include "workloads/training/batches.h"

namespace workloads {
namespace {

using base::Fault;
using testing::ElementsAre;
using testing::HasSubstr;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::Scratch;

std::unique_ptr<Tokenizer> stories() { return load_tokenizer(tests::tale()); }

TEST(Corpus, TheTemplateIsTheTutorials) {
  EXPECT_EQ(instruction_text({"Add.", "1 and 2", "3"}),
            "### Instruction\nAdd.\n\n### Context\n1 and 2\n\n### Answer\n3");
  EXPECT_EQ(instruction_text({"Hi", "", "Yo"}), "### Instruction\nHi\n\n### Answer\nYo");
  EXPECT_EQ(instruction_prompt({"Hi", "", "Yo"}), "### Instruction\nHi\n\n### Answer\n");
}

TEST(Corpus, InstructionsQuestionsAndTexts) {
  const Scratch s;
  const Corpus dolly = read_corpus(
      s.write("d.jsonl",
              "\xEF\xBB\xBF{\"instruction\":\"a\",\"context\":\"\",\"response\":\"b\",\"category\":\"qa\"}\r\n\n"
              "{\"instruction\":\"c\",\"context\":\"d\",\"response\":\"e\"}\n"));
  EXPECT_EQ(dolly.format, CorpusFormat::kInstructions);
  EXPECT_THAT(dolly.texts, ElementsAre(instruction_text({"a", "", "b"}), instruction_text({"c", "d", "e"})));
  // The first row of GSM8K's training file, as published.
  const Corpus gsm = read_corpus(s.write(
      "train.jsonl",
      R"({"question": "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. )"
      R"(How many clips did Natalia sell altogether in April and May?", "answer": "Natalia sold 48/2 = <<48/2=24>>24 )"
      R"(clips in May.\nNatalia sold 48+24 = <<48+24=72>>72 clips altogether in April and May.\n#### 72"})"));
  EXPECT_EQ(gsm.format, CorpusFormat::kQuestions);
  ASSERT_EQ(gsm.texts.size(), 1u);
  EXPECT_THAT(gsm.texts[0], testing::StartsWith("### Instruction\nNatalia sold clips"));
  EXPECT_THAT(gsm.texts[0], HasSubstr("April and May?\n\n### Answer\nNatalia sold 48/2"));
  EXPECT_EQ(read_corpus(s.path()).texts, gsm.texts);  // a folder
  EXPECT_THAT(read_corpus(s.write("t.jsonl", "{\"text\": \"x\"}\n{\"text\": \"y\"}")).texts, ElementsAre("x", "y"));
  EXPECT_THAT(read_corpus(s.write("p.txt", "one\ntwo\r\n\n<|endoftext|>\n\n<|endoftext|>\nthree")).texts,
              ElementsAre("one\ntwo", "three"));
  EXPECT_EQ(read_corpus(s / "t.jsonl", {.max_rows = 1}).texts.size(), 1u);
}

TEST(Corpus, MalformedRowsAreCountedOrRefused) {
  const Scratch s;
  const auto file = s.write("q.jsonl",
                            "{\"question\":\"a\",\"answer\":\"b\"}\nnot json\n{\"question\":\"a\"}\n"
                            "{\"question\":\"a\",\"answer\":7}\n{\"question\":\"\",\"answer\":\"b\"}\n"
                            "{\"question\":\"\xff\",\"answer\":\"b\"}\n[1]\n{\"question\":\"c\",\"answer\":\"d\"}\n");
  const Corpus corpus = read_corpus(file);
  EXPECT_EQ(corpus.texts.size(), 2u);
  EXPECT_EQ(corpus.skipped, 6u);
  const std::string report = describe_problems(corpus);
  for (const char* line : {"skipped 6 of 8 rows", "q.jsonl:2: is not a JSON object", "q.jsonl:3: has no \"answer\"",
                           "q.jsonl:4: \"answer\" is not a string", "q.jsonl:5: \"question\" is empty",
                           "q.jsonl:6: is not valid UTF-8", "q.jsonl:7: is not a JSON object"})
    EXPECT_THAT(report, HasSubstr(line));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_corpus(file, {.strict = true}); }, {"q.jsonl:2", "not a JSON object"}));
}

TEST(Corpus, UnusableFilesAreRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* content) {
    return [path = s.write(name, content)] { read_corpus(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("a.jsonl", "{\"prompt\":\"x\",\"output\":\"y\"}"),
                    {"a.jsonl:1", "output, prompt", "instruction and response"}));
  EXPECT_TRUE(fails(Fault::kData, reading("a.jsonl", "[{}]"), {"a.jsonl:1", "JSON array", "jq"}));
  EXPECT_TRUE(fails(Fault::kData, reading("a.jsonl", ""), {"no usable text"}));
  EXPECT_TRUE(fails(Fault::kData, reading("a.jsonl", "{\"text\": \"\"}"), {"no usable text", "a.jsonl:1", "is empty"}));
  EXPECT_TRUE(fails(Fault::kData, reading("a.txt", "\xff\xfe"), {"not valid UTF-8"}));
  EXPECT_TRUE(fails(Fault::kUsage, reading("a.csv", "x"), {"a.csv", ".jsonl"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_corpus(s / "none.jsonl"); }, {"none.jsonl"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_corpus(s.path()); }, {"no training file"}));
  s.write("train.txt", "x");
  s.write("train.jsonl", "x");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_corpus(s.path()); }, {"two files for one part"}));
}

TEST(Packing, JoinsCutsAndDropsTheRest) {
  const auto t = stories();
  const Corpus corpus{.source = "c", .texts = {"Once upon a time", "there was", "a girl"}};
  std::vector<std::int32_t> all;
  for (const std::string& text : corpus.texts) {
    const auto ids = t->tokenize(text, "t");
    all.push_back(1);
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(2);
  }
  const PackedDataset packed = pack(corpus, *t, 4);
  EXPECT_EQ(packed.size(), all.size() / 4);
  EXPECT_EQ(packed.dropped, all.size() % 4);
  EXPECT_EQ(packed.documents, 3u);
  EXPECT_EQ(packed.ids, std::vector(all.begin(), all.end() - static_cast<std::ptrdiff_t>(packed.dropped)));
  EXPECT_TRUE(std::ranges::equal(packed.sequence(1), std::span{all}.subspan(4, 4)));
  EXPECT_TRUE(fails(Fault::kData, [&] { pack(corpus, *t, 100); },
                    {"too few for a sequence of 100", std::to_string(all.size())}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { pack(corpus, *t, 1); }, {"sequence length"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { pack(corpus, *load_tokenizer(fixture("wordpiece/vocab.txt")), 4); },
                    {"end-of-sequence", "eos_token"}));
}

TEST(Packing, BatchesHaveTheirIdsAsLabels) {
  PackedDataset packed{.length = 3};
  packed.ids.resize(12);
  std::iota(packed.ids.begin(), packed.ids.end(), 10);
  const std::vector<std::uint32_t> picked = {2, 0};
  const Batch batch = make_batch(packed, picked, 3, 7);
  EXPECT_EQ(batch.samples, 2u);
  EXPECT_THAT(batch.input_ids, ElementsAre(16, 17, 18, 10, 11, 12, 7, 7, 7));
  constexpr std::int32_t kNone = Batch::kIgnoredLabel;
  EXPECT_THAT(batch.labels, ElementsAre(16, 17, 18, 10, 11, 12, kNone, kNone, kNone));
}

}  // namespace
}  // namespace workloads
