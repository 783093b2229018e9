#include "workloads/text/bpe_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "workloads/text/bpe.h"
#include "workloads/text/tokenizer_json.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using nlohmann::json;

constexpr const char* kEnd = "<|endoftext|>";
constexpr std::size_t kBytes = 256;

/// A word as its pieces, and how often the texts have it.
struct Word {
  std::vector<std::int32_t> pieces;
  std::int64_t count = 0;
};
using Pair = std::pair<std::int32_t, std::int32_t>;

class BpeTrainer {
 public:
  explicit BpeTrainer(std::span<const std::string> texts) {
    for (std::size_t b = 0; b < kBytes; ++b) {
      names_.emplace_back();
      append_utf8(names_.back(), printable_for(static_cast<unsigned char>(b)));
    }
    std::map<std::string, std::int64_t, std::less<>> counts;
    const std::vector gpt2{split_pattern(kGpt2Split)};
    for (const std::string& text : texts)
      for (const std::string_view word : split_by(gpt2, text)) ++counts[std::string{word}];
    for (const auto& [text, count] : counts) {
      Word word{.pieces = {}, .count = count};
      for (const char c : text) word.pieces.push_back(static_cast<unsigned char>(c));
      words_.push_back(std::move(word));
    }
  }

  /// Merges until there are `pieces` pieces, or no pair occurs twice.
  void merge_up_to(std::size_t pieces) {
    while (names_.size() < pieces) {
      const auto best = most_frequent();
      if (!best) return;
      merges_.push_back(*best);
      const std::string both = name(best->first) + name(best->second);
      // Two pairs may make the same piece.
      const auto [at, fresh] = made_.emplace(both, static_cast<std::int32_t>(names_.size()));
      if (fresh) names_.push_back(both);
      const std::int32_t result = at->second;
      for (Word& word : words_) apply(*best, result, word.pieces);
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  json merges() const {
    json out = json::array();
    for (const auto& [left, right] : merges_) out.push_back(name(left) + " " + name(right));
    return out;
  }

 private:
  const std::string& name(std::int32_t piece) const { return names_[static_cast<std::size_t>(piece)]; }

  std::optional<Pair> most_frequent() const {
    std::map<Pair, std::int64_t> counts;
    for (const Word& word : words_)
      for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i)
        counts[{word.pieces[i], word.pieces[i + 1]}] += word.count;
    const Pair* best = nullptr;
    std::int64_t most = 1;
    for (const auto& [pair, count] : counts) {
      if (count <= most && !(count == most && best && before(pair, *best))) continue;
      best = &pair, most = count;
    }
    return best ? std::optional{*best} : std::nullopt;
  }

  bool before(const Pair& a, const Pair& b) const {
    return std::tie(name(a.first), name(a.second)) < std::tie(name(b.first), name(b.second));
  }

  static void apply(const Pair& pair, std::int32_t result, std::vector<std::int32_t>& pieces) {
    std::size_t to = 0;
    for (std::size_t from = 0; from < pieces.size(); ++to) {
      const bool found = from + 1 < pieces.size() && pieces[from] == pair.first && pieces[from + 1] == pair.second;
      pieces[to] = found ? result : pieces[from];
      from += found ? 2 : 1;
    }
    pieces.resize(to);
  }

  std::vector<std::string> names_;            // by piece: its bytes as printable characters
  std::map<std::string, std::int32_t> made_;  // by merges
  std::vector<Word> words_;
  std::vector<Pair> merges_;
};

json tokenizer_json(const BpeTrainer& trained) {
  json vocabulary = {{kEnd, 0U}};
  for (std::size_t i = 0; i < trained.names().size(); ++i) vocabulary[trained.names()[i]] = i + 1;
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", json::array({{{"id", 0U},
                                         {"content", kEnd},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", true}}})},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocabulary},
            {"merges", trained.merges()}}}};
}

}  // namespace

std::unique_ptr<Tokenizer> train_bpe(std::span<const std::string> texts, std::size_t size, std::string_view source) {
  if (size <= kBytes)
    throw base::Error{base::Fault::kUsage, "vocabulary size",
                      fmt::format("{} tokens cannot hold the {} bytes and the end-of-text token", size, kBytes),
                      fmt::format("use {} or more", kBytes + 1)};
  BpeTrainer trained{texts};
  trained.merge_up_to(size - 1);
  const json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"eos_token", kEnd}, {"pad_token", kEnd}};
  return load_bpe(fmt::format("tokenizer made from {}", source), tokenizer_json(trained), config.dump(2) + "\n");
}

}  // namespace workloads
