#include "workloads/tasks/language_modelling.h"
#include "tests/workloads/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/tale.h"
#include "tests/workloads/support.h"
#include "workloads/data/synthetic/instruction_synthetic.h"
#include "workloads/text/bpe_trainer.h"

namespace workloads {
namespace {

using base::Fault;
using testing::HasSubstr;
using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::golden;
using workloads_test::Scratch;

TEST(BpeTrainer, MergesFrequentPairsAndLosesNothing) {
  const std::vector<std::string> texts{"low low low lower lowest", "new newer newest", "wide wider"};
  const auto small = train_bpe(texts, 300, "test");
  // "low" occurs five times: it is one piece, and so is its form with a leading blank.
  EXPECT_EQ(small->tokens(small->tokenize("low low", "t")), (std::vector<std::string>{"low", "\u0120low"}));
  const std::string odd = "Gr\u00fc\u00dfe, \U0001F600 low\n\n\t<|endoftext|>";
  EXPECT_EQ(small->decode(small->tokenize(odd, "t"), false), odd);
  EXPECT_EQ(small->tokenize("<|endoftext|>", "t"), std::vector<std::int32_t>{*small->eos_id()});
  EXPECT_LE(small->vocab_size(), 300u);
  const auto bytes = train_bpe({}, 257, "test");
  EXPECT_EQ(bytes->tokenize("low", "t").size(), 3u);
  EXPECT_TRUE(fails(Fault::kUsage, [] { train_bpe({}, 256, "test"); }, {"use 257 or more"}));
}

TEST(BpeTrainer, SavedFilesReadBack) {
  const Scratch s;
  const Corpus corpus = synthetic_corpus(SyntheticSplit::kTrain, 200);
  const auto made = train_bpe(corpus.texts, 512, corpus.source);
  EXPECT_GT(made->vocab_size(), 400u);
  made->save(s.path());
  const auto read = load_tokenizer(s.path());
  EXPECT_EQ(read->eos_id(), made->eos_id());
  for (const std::string& text : corpus.texts) EXPECT_EQ(read->tokenize(text, "t"), made->tokenize(text, "t"));
}

TEST(SyntheticInstructions, DependOnSeedSplitAndIndexAlone) {
  const Corpus few = synthetic_corpus(SyntheticSplit::kTrain, 10), many = synthetic_corpus(SyntheticSplit::kTrain, 500);
  EXPECT_TRUE(std::equal(few.texts.begin(), few.texts.end(), many.texts.begin()));
  EXPECT_NE(few.texts, synthetic_corpus(SyntheticSplit::kValidation, 10).texts);
  EXPECT_NE(few.texts, synthetic_corpus(SyntheticSplit::kTrain, 10, 7).texts);
  EXPECT_GT((std::set<std::string>{many.texts.begin(), many.texts.end()}.size()), 350u);
}

// The answer to "Who has the X?" is a sentence of the context, to a sum the sum.
TEST(SyntheticInstructions, AnswersAreRight) {
  int sums = 0, owners = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Instruction one = synthetic_instruction(42, SyntheticSplit::kTrain, i);
    int a = 0, b = 0, c = 0;
    if (std::sscanf(one.response.c_str(), "%d plus %d is %d.", &a, &b, &c) == 3) {
      EXPECT_EQ(a + b, c);
      ++sums;
    }
    if (one.response.find(" has the ") == std::string::npos) continue;
    EXPECT_THAT(one.context, HasSubstr(one.response));
    const std::string thing = one.response.substr(one.response.find("the ") + 4);
    EXPECT_THAT(one.instruction, HasSubstr(thing.substr(0, thing.size() - 1)));
    ++owners;
  }
  EXPECT_GT(sums, 20);
  EXPECT_GT(owners, 20);
}

TEST(LanguageModelling, ANewModelFitsItsVocabulary) {
  const LanguageModelling job =
      load_language_modelling({.preset = "llama-small", .length = 64, .max_train_samples = 300});
  const auto config = workloads_test::config_of<LlamaConfig>(job.config);
  EXPECT_TRUE(job.synthetic);
  EXPECT_GE(config.vocab_size, static_cast<std::int64_t>(job.tokenizer->vocab_size()));
  EXPECT_EQ(config.vocab_size % 64, 0);
  EXPECT_EQ(config.eos_token_ids, (std::vector<std::int64_t>{*job.tokenizer->eos_id()}));
  ASSERT_TRUE(job.validation);
  EXPECT_THAT(job.tokenizer->decode(job.train.sequence(0), false), HasSubstr("### Answer\n"));
}

TEST(LanguageModelling, OneOfTwentySequencesIsHeldOut) {
  const Scratch s;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + " ";
  DataOptions o{.preset = "llama-small", .dataset_path = s.write("t.txt", text), .length = 16};
  const LanguageModelling with = load_language_modelling(o);
  o.max_eval_samples = 2;
  const LanguageModelling two = load_language_modelling(o);
  o.hold_out = false;
  const LanguageModelling without = load_language_modelling(o);
  EXPECT_FALSE(without.validation);
  ASSERT_TRUE(with.validation);
  EXPECT_EQ(with.validation->size(), without.train.size() / 20);
  EXPECT_EQ(with.train.size() + with.validation->size(), without.train.size());
  EXPECT_TRUE(std::ranges::equal(with.validation->sequence(0), without.train.sequence(19)));
  EXPECT_TRUE(std::ranges::equal(with.train.sequence(19), without.train.sequence(20)));
  EXPECT_EQ(two.validation->size(), 2u);
  EXPECT_EQ(two.train.size(), with.train.size());
}

TEST(LanguageModelling, FilesOfAFolderAndTasksWithInstances) {
  const Scratch s;
  s.write("data/train.jsonl",
          R"({"instruction": "Add.", "instances": [{"input": "1 and 2", "output": "3"}, {"input": "", "output": "4"}]})"
          "\n"
          R"({"instruction": "Add.", "instances": []})");
  s.write("data/test.jsonl", R"({"question": "q", "answer": "a"})");
  const CorpusFiles files = corpus_files(s / "data");
  EXPECT_EQ(files.train.filename(), "train.jsonl");
  EXPECT_FALSE(files.validation);
  ASSERT_TRUE(files.test);
  const Corpus corpus = read_corpus(s / "data");
  EXPECT_EQ(corpus.format, CorpusFormat::kTasks);
  EXPECT_THAT(corpus.texts,
              testing::ElementsAre(instruction_text({"Add.", "1 and 2", "3"}), instruction_text({"Add.", "", "4"})));
  EXPECT_EQ(corpus.skipped, 1u);
}

TEST(LanguageModelling, RefusesMismatchedSettings) {
  const Scratch s;
  const auto with = [&](DataOptions o) { return [o] { load_language_modelling(o); }; };
  EXPECT_TRUE(fails(Fault::kData, with({.preset = "llama-small", .dataset_path = s.write("t.txt", "hi"), .length = 64}),
                    {"too few for a sequence of 64"}));
  EXPECT_TRUE(fails(Fault::kUsage, with({.model_folder = tests::tale(), .length = 1024}),
                    {"longer than the model's 512 positions", "use `max_length` 512"}));
  EXPECT_TRUE(fails(Fault::kData,
                    with({.model_folder = tests::tale(), .vocab = fixture("tokenizers/llama2.json"), .length = 64}),
                    {"the model's table 512"}));
  EXPECT_TRUE(fails(Fault::kData,
                    with({.preset = "llama-small", .dataset_path = s.write("t.jsonl", "{\"a\": 1}"), .length = 64}),
                    {"has the keys a", "instruction and response"}));
  EXPECT_TRUE(fails(Fault::kData,
                    with({.preset = "llama-small", .dataset_path = s.write("u.txt", "\xff\xfe"), .length = 64}),
                    {"no usable text", "not valid UTF-8"}));
}

TEST(LanguageModelling, CountsTokensAsPackingDoes) {
  const Scratch s;
  const auto file = s.write("q.jsonl",
                            "{\"question\": \"Once upon\", \"answer\": \"a time\"}\n"
                            "{\"question\": \"Who?\", \"answer\": \"Lily\"}\n");
  const TokenLengths counted = token_lengths(file, tests::tale(), 0, false);
  const PackedDataset packed = pack(read_corpus(file), *load_tokenizer(tests::tale()), 2);
  EXPECT_FALSE(counted.estimated);
  EXPECT_EQ(counted.tokens(), std::ssize(packed.ids) + static_cast<std::int64_t>(packed.dropped));
  EXPECT_EQ(counted.count(), 2);
  EXPECT_TRUE(token_lengths(file, "", 0, false).estimated);
}

}  // namespace
}  // namespace workloads
