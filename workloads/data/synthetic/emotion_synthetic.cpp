#include "workloads/data/synthetic/emotion_synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "workloads/data/random.h"
#include "workloads/text/wordpiece_trainer.h"

namespace workloads {
namespace {

using grammar::Construction;

constexpr double kDistracted = 0.3;  // share of sentences with a clause about an unrelated feeling

/// An emotion, as often as the real data set has it; never `other_than`.
std::size_t draw_emotion(Random& random, std::size_t other_than = grammar::kEmotions) {
  const auto& weights = grammar::kPerSixteenThousand;
  int total = std::accumulate(weights.begin(), weights.end(), 0);
  if (other_than < grammar::kEmotions) total -= weights[other_than];
  auto left = static_cast<int>(random.below(static_cast<std::uint32_t>(total)));
  for (std::size_t emotion = 0;; ++emotion) {
    if (emotion == other_than) continue;
    left -= weights.at(emotion);
    if (left < 0) return emotion;
  }
}

Construction draw_construction(Random& random) {
  auto left = static_cast<int>(random.below(100));
  for (std::size_t i = 0;; ++i) {
    const auto construction = static_cast<Construction>(i);
    left -= grammar::percent_of(construction);
    if (left < 0) return construction;
  }
}

/// Fills the slots of one sentence.
class Writer {
 public:
  Writer(Random& random, std::size_t label) : random_{random}, label_{label}, other_{draw_emotion(random, label)} {}

  std::string write(Construction construction) {
    std::string text = fill(choose_pattern(construction).text);
    if (!random_.chance(kDistracted)) return text;
    other_ = draw_emotion(random_, label_);
    if (random_.chance(0.5)) return fill(pick(grammar::distractors_before())) + " " + text;
    return text + " " + fill(pick(grammar::distractors_behind()));
  }

 private:
  template <typename T>
  const T& pick(std::span<const T> items) {
    return random_.pick(items);
  }

  const grammar::Pattern& choose_pattern(Construction construction) {
    const bool twice =
        construction == Construction::kNegation && (grammar::denied_by(label_).empty() || random_.chance(0.5));
    return pick(twice ? grammar::double_negations() : grammar::patterns(construction));
  }

  std::string fill(std::string_view pattern) {
    std::string text;
    for (std::size_t at = 0; at < pattern.size();) {
      const std::size_t open = std::min(pattern.find('{', at), pattern.size());
      text += pattern.substr(at, open - at);
      if (open == pattern.size()) break;
      const std::size_t close = pattern.find('}', open);
      const std::string_view words = slot(pattern.substr(open + 1, close - open - 1));
      const bool vowel = !words.empty() && std::string_view{"aeiou"}.find(words.front()) != std::string_view::npos;
      if (vowel && (text == "a " || text.ends_with(" a "))) text.insert(text.size() - 1, 1, 'n');
      text += words;
      at = close + 1;
      if (words.empty() && at < pattern.size() && pattern[at] == ' ') ++at;  // "{very} sad" without the "very"
    }
    return text;
  }

  std::string_view slot(std::string_view name) {
    if (name == "+") return pick(grammar::feelings(label_));
    if (name == "-") return pick(grammar::feelings(other_));
    if (name == "one-") return single_word(grammar::feelings(other_));
    if (name == "!") return pick(grammar::feelings(pick(grammar::denied_by(label_))));
    if (name == "?") return pick(grammar::ambiguous_feelings());
    if (name == "event+") return pick(grammar::events(label_));
    if (name == "very") return pick(grammar::intensifiers());
    if (name == "who") return pick(grammar::people());
    if (name == "when") return pick(grammar::times());
    if (name == "topic") return pick(grammar::topics());
    base::ensure(false, "emotion grammar", fmt::format("unknown slot {{{}}}", name));
    return {};
  }

  std::string_view single_word(std::span<const std::string_view> words) {  // one that can precede a noun
    for (;;)
      if (const std::string_view word = pick(words); word.find(' ') == std::string_view::npos) return word;
  }

  Random& random_;
  std::size_t label_;
  std::size_t other_;
};

}  // namespace

SyntheticSample synthetic_sample(std::uint64_t seed, SyntheticSplit split, std::uint64_t index) {
  Random random{seed, (static_cast<std::uint64_t>(split) + 1) << 40 | index};
  SyntheticSample sample;
  const std::size_t label = draw_emotion(random);
  sample.construction = draw_construction(random);
  sample.text = Writer{random, label}.write(sample.construction);
  sample.meant = static_cast<std::int32_t>(label);
  sample.written = random.chance(kMislabelled) ? static_cast<std::int32_t>(draw_emotion(random, label)) : sample.meant;
  return sample;
}

Dataset synthetic_dataset(SyntheticSplit split, std::size_t count, std::uint64_t seed) {
  Dataset dataset{.source = std::string{kSyntheticName}, .label_names = emotion_label_names()};
  dataset.samples.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    SyntheticSample sample = synthetic_sample(seed, split, i);
    dataset.samples.push_back({std::move(sample.text), sample.written});
  }
  return dataset;
}

Splits synthetic_splits(std::size_t train, std::size_t validation, std::size_t test, std::uint64_t seed) {
  return {synthetic_dataset(SyntheticSplit::kTrain, train, seed),
          synthetic_dataset(SyntheticSplit::kValidation, validation, seed),
          synthetic_dataset(SyntheticSplit::kTest, test, seed)};
}

std::unique_ptr<WordPiece> train_tokenizer(const Dataset& dataset, std::size_t vocabulary_size) {
  WordPieceModel model;
  model.vocabulary = train_wordpiece(dataset, model.normalizer, model.special, vocabulary_size);
  return std::make_unique<WordPiece>(std::move(model), fmt::format("vocabulary trained on {}", dataset.source));
}

}  // namespace workloads
