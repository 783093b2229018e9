#include "workloads/text/wordpiece_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using Counts = std::map<std::string, std::size_t, std::less<>>;

Counts count_words(const Dataset& dataset, const BertNormalizer& normalizer) {
  Counts counts;
  for (const Sample& sample : dataset.samples) {
    const std::string text = normalizer.apply(sample.text);
    for (const std::string_view word : split_words(text)) {
      const auto at = counts.find(word);
      if (at != counts.end())
        ++at->second;
      else
        counts.emplace(word, 1);
    }
  }
  return counts;
}

/// Where each character of a word starts.
std::vector<std::size_t> character_starts(std::string_view word) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < word.size(); next_code_point(word, at)) starts.push_back(at);
  return starts;
}

std::set<std::string> characters_of(const Counts& words) {
  std::set<std::string> characters;
  for (const auto& [word, count] : words)
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t start = at;
      next_code_point(word, at);
      characters.insert(word.substr(start, at - start));
    }
  return characters;
}

Counts count_endings(const Counts& words) {
  Counts endings;
  for (const auto& [word, count] : words) {
    const auto starts = character_starts(word);
    for (std::size_t length = 2; length <= 6 && length < starts.size(); ++length)
      ++endings["##" + word.substr(starts[starts.size() - length])];
  }
  std::erase_if(endings, [](const auto& ending) { return ending.second < 2; });
  return endings;
}

std::vector<std::string> most_frequent_first(const Counts& counts) {
  std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> names;
  for (auto& [name, count] : order) names.push_back(std::move(name));
  return names;
}

}  // namespace

std::vector<std::string> train_wordpiece(const Dataset& dataset, const BertNormalizer& normalizer,
                                         const SpecialTokens& special, std::size_t size) {
  const Counts counts = count_words(dataset, normalizer);
  std::vector<std::string> tokens{special.pad, special.unknown, special.classify, special.separator, special.mask};
  const auto characters = characters_of(counts);
  for (const std::string& character : characters) tokens.push_back(character);
  for (const std::string& character : characters) tokens.push_back("##" + character);
  if (tokens.size() > size) {
    throw base::Error{base::Fault::kUsage, "vocabulary size",
                      fmt::format("is {}, but the special tokens and characters alone are {}", size, tokens.size()),
                      fmt::format("set it to {} or more", tokens.size())};
  }
  std::set<std::string> taken(tokens.begin(), tokens.end());
  const auto take = [&](const std::string& token) {
    if (tokens.size() < size && taken.insert(token).second) tokens.push_back(token);
  };
  const auto words = most_frequent_first(counts), endings = most_frequent_first(count_endings(counts));
  for (std::size_t i = 0; i < words.size(); ++i) {
    take(words[i]);
    if (i % 3 == 2 && i / 3 < endings.size()) take(endings[i / 3]);
  }
  return tokens;
}

}  // namespace workloads
