// WordPiece as BERT does it. Source: Devlin et al., arXiv:1810.04805; Hugging Face tokenizers, models/wordpiece.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workloads/text/bert_text.h"
#include "workloads/text/tokenizer.h"
#include "workloads/text/whole_tokens.h"

namespace workloads {

/// The names of the tokens with a meaning; all of them must be in the vocabulary.
struct SpecialTokens {
  std::string pad = "[PAD]";
  std::string unknown = "[UNK]";
  std::string classify = "[CLS]";
  std::string separator = "[SEP]";
  std::string mask = "[MASK]";
};

/// Everything a WordPiece tokenizer is made of.
struct WordPieceModel {
  std::vector<std::string> vocabulary;  // token i has id i
  BertNormalizer normalizer;
  SpecialTokens special;
  std::vector<std::string> extra_whole_tokens;  // found in raw text and never split, besides the special ones
  std::size_t max_word_characters = 100;        // longer words are unknown
  std::string continuation = "##";
  std::size_t between = 1;  // separators between two texts
};

class WordPiece final : public Tokenizer {
 public:
  /// `source` names the vocabulary in errors. Errors: Fault::kData when the vocabulary is empty, repeats a token or
  /// lacks a special one.
  WordPiece(WordPieceModel model, std::string_view source);

  std::vector<std::int32_t> tokenize(std::string_view text, std::string_view where) const override;
  std::size_t added_tokens(bool pair) const override { return pair ? 2 + model_.between : 2; }
  Encoding with_special_tokens(std::span<const std::int32_t> first,
                               std::optional<std::span<const std::int32_t>> second) const override;
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override;
  std::int32_t pad_id() const override { return pad_; }
  std::size_t vocab_size() const override { return model_.vocabulary.size(); }
  const std::string& token(std::int32_t id) const override;
  void save(const std::filesystem::path& folder) const override;

  const WordPieceModel& model() const { return model_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Ids = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

  std::int32_t require(const std::string& token, std::string_view source) const;
  void index_vocabulary(std::string_view source);
  void tokenize_plain(std::string_view text, std::vector<std::int32_t>& ids) const;
  void tokenize_word(std::string_view word, std::vector<std::int32_t>& ids) const;
  bool is_special(std::int32_t id) const;

  WordPieceModel model_;
  Ids ids_;            // every token
  Ids continuations_;  // tokens that continue a word, without their "##"
  std::size_t longest_piece_ = 0;
  std::vector<std::string> whole_tokens_;
  WholeTokens whole_;  // the same, by their text
  std::int32_t pad_, unknown_, classify_, separator_, mask_;
};

/// One token a line. Errors: Fault::kData when the file is missing, empty, or a line is not UTF-8.
std::vector<std::string> read_vocabulary(const std::filesystem::path& path);

}  // namespace workloads
