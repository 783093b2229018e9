#include "workloads/text/protein_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "workloads/text/utf8.h"

namespace workloads {

using base::Error;
using base::Fault;

ProteinTokenizer::ProteinTokenizer(std::vector<std::string> vocabulary, SpecialTokens special, std::string_view source)
    : vocabulary_{std::move(vocabulary)}, special_{std::move(special)} {
  for (std::size_t i = 0; i < vocabulary_.size(); ++i)
    if (!tokens_.add(vocabulary_[i], static_cast<std::int32_t>(i)))
      throw Error{Fault::kData, source,
                  fmt::format("token \"{}\" of line {} is empty or repeats an earlier one", vocabulary_[i], i + 1),
                  "remove one of them"};
  pad_ = require(special_.pad, source), unknown_ = require(special_.unknown, source);
  classify_ = require(special_.classify, source), end_ = require(special_.separator, source);
  mask_ = require(special_.mask, source);
}

std::int32_t ProteinTokenizer::require(const std::string& token, std::string_view source) const {
  const auto found = tokens_.at(token, 0);
  if (found && found->size == token.size()) return found->id;
  throw Error{Fault::kData, source, fmt::format("the vocabulary has no token \"{}\"", token),
              "use the vocabulary of an ESM model: it has <cls>, <pad>, <eos>, <unk> and <mask>"};
}

const std::string& ProteinTokenizer::token(std::int32_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < vocabulary_.size()) return vocabulary_[static_cast<std::size_t>(id)];
  throw Error{Fault::kData, "tokenizer", fmt::format("token id {} is not in 0..{}", id, vocabulary_.size() - 1),
              "use the tokenizer that made the ids"};
}

std::vector<std::int32_t> ProteinTokenizer::tokenize(std::string_view text, std::string_view where) const {
  require_utf8(text, where);
  std::vector<std::int32_t> ids;
  bool in_word = false;  // that no token is
  for (std::size_t at = 0; at < text.size();) {
    if (const auto found = tokens_.at(text, at)) {
      ids.push_back(found->id);
      at += found->size, in_word = false;
      continue;
    }
    const bool space = std::string_view{" \t\n\r\v\f"}.find(text[at++]) != std::string_view::npos;
    if (!space && !in_word) ids.push_back(unknown_);
    in_word = !space;
  }
  return ids;
}

Encoding ProteinTokenizer::with_special_tokens(std::span<const std::int32_t> first,
                                               std::optional<std::span<const std::int32_t>> second) const {
  Encoding out;
  out.ids.push_back(classify_);
  out.ids.insert(out.ids.end(), first.begin(), first.end());
  out.ids.push_back(end_);
  out.token_types.assign(out.ids.size(), 0);
  if (second) {
    out.ids.insert(out.ids.end(), second->begin(), second->end());
    out.ids.push_back(end_);
    out.token_types.resize(out.ids.size(), 1);
  }
  out.length = out.ids.size();
  return out;
}

bool ProteinTokenizer::is_special(std::int32_t id) const {
  return id == pad_ || id == unknown_ || id == classify_ || id == end_ || id == mask_;
}

std::string ProteinTokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string& piece = token(id);
    if (skip_special_tokens && is_special(id)) continue;
    text += text.empty() ? piece : " " + piece;
  }
  return text;
}

void ProteinTokenizer::save(const std::filesystem::path& folder) const {
  std::string lines;
  for (const std::string& token : vocabulary_) lines += token + "\n";
  base::write_file(folder / "vocab.txt", lines);
  const nlohmann::json config = {{"tokenizer_class", "EsmTokenizer"}, {"pad_token", special_.pad},
                                 {"unk_token", special_.unknown},     {"cls_token", special_.classify},
                                 {"eos_token", special_.separator},   {"mask_token", special_.mask}};
  base::write_file(folder / "tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace workloads
