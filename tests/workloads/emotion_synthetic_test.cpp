#include "workloads/data/synthetic/emotion_synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "tests/workloads/support.h"
#include "workloads/data/random.h"

namespace workloads {
namespace {

using base::Fault;
using grammar::kEmotions;

/// Multinomial logistic regression on the set of words in a sentence, by AdaGrad.
class BagOfWords {
 public:
  explicit BagOfWords(const Dataset& train) {
    std::vector<std::vector<std::size_t>> samples;
    for (const Sample& sample : train.samples) samples.push_back(words_of(sample.text, true));
    weights_.assign(ids_.size() + 1, {});
    squares_.assign(ids_.size() + 1, {});
    for (std::uint64_t epoch = 0; epoch < 12; ++epoch)
      for (const std::uint32_t i : shuffled(samples.size(), 1, epoch)) learn(samples[i], train.samples[i].label);
  }

  double accuracy(const Dataset& test) {
    std::size_t right = 0;
    for (const Sample& sample : test.samples) {
      const auto scores = probabilities(words_of(sample.text, false));
      right += std::ranges::max_element(scores) - scores.begin() == sample.label;
    }
    return static_cast<double>(right) / static_cast<double>(test.samples.size());
  }

 private:
  using Row = std::array<double, kEmotions>;

  std::vector<std::size_t> words_of(const std::string& text, bool grow) {
    std::set<std::size_t> words{0};  // 0: the bias
    for (const std::string_view word : split_words(text)) {
      const std::string key{word};
      if (grow) ids_.try_emplace(key, ids_.size() + 1);
      if (const auto at = ids_.find(key); at != ids_.end()) words.insert(at->second);
    }
    return {words.begin(), words.end()};
  }

  Row probabilities(const std::vector<std::size_t>& words) const {
    Row scores{};
    for (const std::size_t word : words)
      for (std::size_t c = 0; c < kEmotions; ++c) scores[c] += weights_[word][c];
    double sum = 0;
    const double largest = *std::ranges::max_element(scores);
    for (double& score : scores) sum += score = std::exp(score - largest);
    for (double& score : scores) score /= sum;
    return scores;
  }

  void learn(const std::vector<std::size_t>& words, std::int32_t label) {
    const Row p = probabilities(words);
    for (std::size_t c = 0; c < kEmotions; ++c) {
      const double gradient = p[c] - (static_cast<std::int32_t>(c) == label);
      for (const std::size_t word : words) {
        squares_[word][c] += gradient * gradient;
        weights_[word][c] -= 0.2 * gradient / std::sqrt(squares_[word][c] + 1e-8);
      }
    }
  }

  std::map<std::string, std::size_t> ids_;
  std::vector<Row> weights_, squares_;
};

TEST(SyntheticEmotion, ABagOfWordsIsNotEnough) {
  const Splits splits = synthetic_splits(8000, 0, 2000);
  BagOfWords model{splits.train};
  const double held_out = model.accuracy(*splits.test);
  const double majority = grammar::kPerSixteenThousand[1] / 16000.0;
  EXPECT_LT(held_out, 0.75);            // far below what a reader of the structure gets: 0.96
  EXPECT_GT(held_out, majority + 0.2);  // but the words do say something
  RecordProperty("bag_of_words_accuracy", std::to_string(held_out));
}

TEST(SyntheticEmotion, LabelsAreTheMeaningButForTheStatedNoise) {
  std::size_t wrong = 0;
  constexpr std::size_t kSamples = 20000;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const SyntheticSample s = synthetic_sample(42, SyntheticSplit::kTrain, i);
    wrong += s.meant != s.written;
  }
  const double sigma = std::sqrt(kSamples * kMislabelled * (1 - kMislabelled));
  EXPECT_NEAR(static_cast<double>(wrong), kSamples * kMislabelled, 5 * sigma);
}

/// Reads a sentence as its structure demands, from the tables alone; -1 when the rule does not apply.
std::int32_t feeling_behind(const std::string& text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string::npos) return -1;
  std::string_view rest = std::string_view{text}.substr(at + marker.size());
  for (const std::string_view word : grammar::intensifiers())
    if (!word.empty() && rest.starts_with(std::string{word} + " ")) rest.remove_prefix(word.size() + 1);
  for (std::size_t emotion = 0; emotion < kEmotions; ++emotion)
    for (const std::string_view feeling : grammar::feelings(emotion))
      if (rest == feeling || rest.starts_with(std::string{feeling} + " ")) return static_cast<std::int32_t>(emotion);
  return -1;
}

TEST(SyntheticEmotion, StructureDecides) {
  std::map<std::string, int> checked;
  for (std::size_t i = 0; i < 20000; ++i) {
    const SyntheticSample s = synthetic_sample(7, SyntheticSplit::kTrain, i);
    for (const std::string marker :
         {"but now i feel ", "really i am ", "ended up ", "these days i feel ", "today i am "}) {
      if (s.text.find(marker) == std::string::npos) continue;
      EXPECT_EQ(feeling_behind(s.text, marker), s.meant) << s.text;
      ++checked[marker];
    }
    for (const std::string marker : {"i used to feel ", "i no longer feel ", "i pretend to be ", "i should feel "}) {
      if (s.text.find(marker) == std::string::npos) continue;
      const auto other = feeling_behind(s.text, marker);
      if (other < 0) continue;
      EXPECT_NE(other, s.meant) << s.text;
      ++checked[marker];
    }
  }
  EXPECT_EQ(checked.size(), 9u);
  for (const auto& [marker, count] : checked) EXPECT_GT(count, 100) << marker;
}

TEST(SyntheticEmotion, ProportionsAreThoseOfTheRealData) {
  std::array<int, kEmotions> counts{};
  for (std::size_t i = 0; i < 16000; ++i)
    ++counts[static_cast<std::size_t>(synthetic_sample(1, SyntheticSplit::kTrain, i).meant)];
  for (std::size_t c = 0; c < kEmotions; ++c) {
    const double p = grammar::kPerSixteenThousand[c] / 16000.0;
    EXPECT_NEAR(counts[c], grammar::kPerSixteenThousand[c], 5 * std::sqrt(16000 * p * (1 - p)));
  }
}

TEST(SyntheticEmotion, TablesAreSound) {
  int percent = 0;
  for (std::size_t i = 0; i < grammar::kConstructions; ++i) {
    const auto construction = static_cast<grammar::Construction>(i);
    percent += grammar::percent_of(construction);
    for (const auto& pattern : grammar::patterns(construction)) EXPECT_EQ(pattern.construction, construction);
  }
  EXPECT_EQ(percent, 100);
  std::set<std::string_view> seen;  // a word that names two feelings would make its plain sentences undecidable
  for (std::size_t emotion = 0; emotion < kEmotions; ++emotion) {
    for (const std::string_view word : grammar::feelings(emotion)) EXPECT_TRUE(seen.insert(word).second) << word;
    for (const std::string_view event : grammar::events(emotion)) EXPECT_TRUE(seen.insert(event).second) << event;
  }
}

TEST(SyntheticEmotion, SentencesAreCleanAndMostlyNew) {
  const Splits splits = synthetic_splits(16000, 0, 2000);
  std::set<std::string> train;
  for (const Sample& s : splits.train.samples) {
    train.insert(s.text);
    EXPECT_EQ(s.text.find_first_of("{}"), std::string::npos) << s.text;
    EXPECT_EQ(s.text.find("  "), std::string::npos) << s.text;
    EXPECT_EQ(s.text.find(" a a"), std::string::npos) << s.text;  // "a angry"
    EXPECT_NE(s.text.back(), ' ');
  }
  const auto known =
      std::ranges::count_if(splits.test->samples, [&](const Sample& s) { return train.contains(s.text); });
  EXPECT_LT(known, 2000 * 0.08);
}

TEST(SyntheticEmotion, ASampleDependsOnSeedSplitAndIndexAlone) {
  EXPECT_EQ(synthetic_sample(42, SyntheticSplit::kTrain, 0).text,
            "my roommate got broken because i feel so afraid in the garden");
  EXPECT_EQ(synthetic_dataset(SyntheticSplit::kTest, 10).samples[9].text,
            synthetic_dataset(SyntheticSplit::kTest, 500).samples[9].text);
  EXPECT_NE(synthetic_sample(42, SyntheticSplit::kTest, 0).text, synthetic_sample(42, SyntheticSplit::kTrain, 0).text);
}

TEST(WordPieceTrainer, VocabularyKnowsTheWholeDataSet) {
  const Splits splits = synthetic_splits(16000, 0, 2000);
  const auto tokenizer = train_tokenizer(splits.train);
  EXPECT_LE(tokenizer->vocab_size(), 1024u);
  std::size_t pieces = 0, words = 0;
  for (const Sample& s : splits.test->samples) {
    const auto ids = tokenizer->tokenize(s.text, "test");
    EXPECT_EQ(std::ranges::count(ids, 1), 0) << s.text;  // no [UNK]
    pieces += ids.size();
    words += split_words(s.text).size();
  }
  EXPECT_LT(static_cast<double>(pieces), 1.02 * static_cast<double>(words));
  EXPECT_EQ(train_tokenizer(splits.train)->model().vocabulary, tokenizer->model().vocabulary);
  // New words of known letters are cut into pieces.
  EXPECT_EQ(std::ranges::count(tokenizer->tokenize("gladness unloving", "test"), 1), 0);
}

TEST(WordPieceTrainer, ASmallVocabularyHoldsTheFrequentWords) {
  const Dataset train = synthetic_dataset(SyntheticSplit::kTrain, 2000);
  const auto tokenizer = train_tokenizer(train, 100);
  EXPECT_EQ(tokenizer->vocab_size(), 100u);
  EXPECT_EQ(tokenizer->tokens(tokenizer->tokenize("i feel", "test")), (std::vector<std::string>{"i", "feel"}));
  EXPECT_TRUE(workloads_test::fails(Fault::kUsage, [&] { train_tokenizer(train, 20); }, {"vocabulary size", "20"}));
}

}  // namespace
}  // namespace workloads
