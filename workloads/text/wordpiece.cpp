#include "workloads/text/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

std::size_t count_characters(std::string_view text) {  // UTF-8: bytes that do not continue a character
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The English spacing that Hugging Face mends. Source: transformers, clean_up_tokenization.
std::string cleaned_up(std::string text) {
  using Rule = std::pair<std::string_view, std::string_view>;
  constexpr std::array kRules = {Rule{" .", "."},     Rule{" ?", "?"},     Rule{" !", "!"},   Rule{" ,", ","},
                                 Rule{" ' ", "'"},    Rule{" n't", "n't"}, Rule{" 'm", "'m"}, Rule{" 's", "'s"},
                                 Rule{" 've", "'ve"}, Rule{" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
  return text;
}

}  // namespace

WordPiece::WordPiece(WordPieceModel model, std::string_view source) : model_{std::move(model)} {
  index_vocabulary(source);
  pad_ = require(model_.special.pad, source);
  unknown_ = require(model_.special.unknown, source);
  classify_ = require(model_.special.classify, source);
  separator_ = require(model_.special.separator, source);
  mask_ = require(model_.special.mask, source);
  whole_tokens_ = {model_.special.pad, model_.special.unknown, model_.special.classify, model_.special.separator,
                   model_.special.mask};
  for (const std::string& token : whole_tokens_) whole_.add(token, require(token, source));
  for (const std::string& token : model_.extra_whole_tokens) {
    if (whole_.add(token, require(token, source))) whole_tokens_.push_back(token);
  }
}

void WordPiece::index_vocabulary(std::string_view source) {
  if (model_.vocabulary.empty())
    throw Error{Fault::kData, source, "has no tokens", "use the vocab.txt or tokenizer.json of a BERT model"};
  for (std::size_t i = 0; i < model_.vocabulary.size(); ++i) {
    const std::string& token = model_.vocabulary[i];
    const auto id = static_cast<std::int32_t>(i);
    if (const auto [at, fresh] = ids_.emplace(token, id); !fresh) {
      throw Error{Fault::kData, source, fmt::format("token \"{}\" has two ids, {} and {}", token, at->second, id),
                  "remove one of them"};
    }
    longest_piece_ = std::max(longest_piece_, token.size());
    if (token.size() > model_.continuation.size() && token.starts_with(model_.continuation))
      continuations_.emplace(token.substr(model_.continuation.size()), id);
  }
}

std::int32_t WordPiece::require(const std::string& token, std::string_view source) const {
  if (const auto at = ids_.find(token); at != ids_.end()) return at->second;
  throw Error{Fault::kData, source, fmt::format("the vocabulary has no token \"{}\"", token),
              "use the vocabulary of a BERT model: it has [PAD], [UNK], [CLS], [SEP] and [MASK]"};
}

const std::string& WordPiece::token(std::int32_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < model_.vocabulary.size())
    return model_.vocabulary[static_cast<std::size_t>(id)];
  throw Error{Fault::kData, "tokenizer", fmt::format("token id {} is not in 0..{}", id, model_.vocabulary.size() - 1),
              "use the tokenizer that made the ids"};
}

std::vector<std::int32_t> WordPiece::tokenize(std::string_view text, std::string_view where) const {
  require_utf8(text, where);
  std::vector<std::int32_t> ids;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = whole_.at(text, at);
    if (!found) {
      ++at;
      continue;
    }
    tokenize_plain(text.substr(done, at - done), ids);
    ids.push_back(found->id);
    done = at += found->size;
  }
  tokenize_plain(text.substr(done), ids);
  return ids;
}

void WordPiece::tokenize_plain(std::string_view text, std::vector<std::int32_t>& ids) const {
  if (text.empty()) return;
  const std::string normalized = model_.normalizer.apply(text);
  for (const std::string_view word : split_words(normalized)) tokenize_word(word, ids);
}

/// Longest match first; a word with a part that matches nothing is unknown as a whole.
void WordPiece::tokenize_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t before = ids.size();
  bool known = word.size() <= model_.max_word_characters || count_characters(word) <= model_.max_word_characters;
  for (std::size_t start = 0; known && start < word.size();) {
    const Ids& pieces = start == 0 ? ids_ : continuations_;
    std::size_t end = std::min(word.size(), start + longest_piece_);
    auto found = pieces.end();
    for (; end > start; --end) {
      if (end < word.size() && continues_character(word[end])) continue;
      found = pieces.find(word.substr(start, end - start));
      if (found != pieces.end()) break;
    }
    known = found != pieces.end();
    if (known) ids.push_back(found->second);
    start = end;
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

Encoding WordPiece::with_special_tokens(std::span<const std::int32_t> first,
                                        std::optional<std::span<const std::int32_t>> second) const {
  Encoding encoding;
  encoding.ids.reserve(first.size() + (second ? second->size() : 0) + 3);
  encoding.ids.push_back(classify_);
  encoding.ids.insert(encoding.ids.end(), first.begin(), first.end());
  encoding.ids.push_back(separator_);
  if (second) encoding.ids.insert(encoding.ids.end(), model_.between - 1, separator_);
  encoding.token_types.assign(encoding.ids.size(), 0);
  if (second) {
    encoding.ids.insert(encoding.ids.end(), second->begin(), second->end());
    encoding.ids.push_back(separator_);
    encoding.token_types.resize(encoding.ids.size(), 1);
  }
  encoding.length = encoding.ids.size();
  return encoding;
}

bool WordPiece::is_special(std::int32_t id) const {
  return id == pad_ || id == unknown_ || id == classify_ || id == separator_ || id == mask_;
}

std::string WordPiece::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::string text;
  bool first = true;
  for (const std::int32_t id : ids) {
    std::string piece = token(id);
    if (skip_special_tokens && is_special(id)) continue;
    if (!first) piece = piece.starts_with(model_.continuation) ? piece.substr(model_.continuation.size()) : " " + piece;
    text += piece;
    first = false;
  }
  return cleaned_up(std::move(text));
}

}  // namespace workloads
