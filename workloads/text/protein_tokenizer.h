// Amino acids and other tokens of a list, found wherever they are in a text. Source: transformers,
// tokenization_esm.py: EsmTokenizer, all of whose tokens are never split.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/text/tokenizer.h"
#include "workloads/text/whole_tokens.h"
#include "workloads/text/wordpiece.h"

namespace workloads {

class ProteinTokenizer final : public Tokenizer {
 public:
  /// `special.separator` ends a text. Errors: as WordPiece().
  ProteinTokenizer(std::vector<std::string> vocabulary, SpecialTokens special, std::string_view source);

  /// The longest token at each place; text between two of them is unknown, word by word.
  std::vector<std::int32_t> tokenize(std::string_view text, std::string_view where) const override;
  std::size_t added_tokens(bool pair) const override { return pair ? 3 : 2; }
  Encoding with_special_tokens(std::span<const std::int32_t> first,
                               std::optional<std::span<const std::int32_t>> second) const override;
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override;
  std::int32_t pad_id() const override { return pad_; }
  std::size_t vocab_size() const override { return vocabulary_.size(); }
  const std::string& token(std::int32_t id) const override;
  void save(const std::filesystem::path& folder) const override;

 private:
  std::int32_t require(const std::string& token, std::string_view source) const;
  bool is_special(std::int32_t id) const;

  std::vector<std::string> vocabulary_;  // token i has id i
  SpecialTokens special_;
  WholeTokens tokens_;
  std::int32_t pad_, unknown_, classify_, end_, mask_;
};

}  // namespace workloads
