// Shared by tokenizers of subwords without words before them: tokens that are never split, and special tokens around a
// text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/text/tokenizer.h"
#include "workloads/text/whole_tokens.h"

namespace workloads {

/// A token that is found in raw text and never split.
struct WholeToken {
  std::string text;
  bool special = true;  // left out by decode() when asked
  bool lstrip = false;  // takes the white space before it away
  bool rstrip = false;  // and after it
};

/// Everything but how plain text is cut.
struct CausalParts {
  std::vector<std::string> vocabulary{};       // by id
  std::map<std::int32_t, WholeToken> whole{};  // by id
  std::vector<std::int32_t> before{};          // around every text
  std::vector<std::int32_t> after{};
  std::optional<std::vector<std::int32_t>> between{};  // of the texts of a pair; none: `after` and `before`
  std::optional<std::int32_t> bos{}, eos{};
  std::int32_t pad = 0;
  std::map<std::string, std::string> files{};  // files of save(): name to content
};

class CausalTokenizer : public Tokenizer {
 public:
  explicit CausalTokenizer(CausalParts parts);

  std::vector<std::int32_t> tokenize(std::string_view text, std::string_view where) const override;
  std::size_t added_tokens(bool pair) const override;
  Encoding with_special_tokens(std::span<const std::int32_t> first,
                               std::optional<std::span<const std::int32_t>> second) const override;
  /// Bytes that make no UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override;
  std::int32_t pad_id() const override { return parts_.pad; }
  std::optional<std::int32_t> bos_id() const override { return parts_.bos; }
  std::optional<std::int32_t> eos_id() const override { return parts_.eos; }
  std::size_t vocab_size() const override { return parts_.vocabulary.size(); }
  const std::string& token(std::int32_t id) const override;
  void save(const std::filesystem::path& folder) const override;

 protected:
  /// Appends the tokens of `text`, which is valid UTF-8, not empty and without whole tokens. `first`: nothing before
  /// it.
  virtual void tokenize_plain(std::string_view text, bool first, std::vector<std::int32_t>& ids) const = 0;
  /// The text of ids without whole tokens among them. `first`: nothing before it.
  virtual std::string decode_plain(std::span<const std::int32_t> ids, bool first) const = 0;

 private:
  CausalParts parts_;
  WholeTokens whole_;
};

struct AddedToken;
/// Makes a token one that is never split; its id may be the next one behind the vocabulary.
/// Errors: Fault::kData when the id is another token's or leaves a hole.
void add_whole_token(const AddedToken& token, const std::filesystem::path& path, CausalParts& parts);

/// The ids of "bos_token", "eos_token", "pad_token" in a tokenizer_config.json (empty: none), "add_bos_token" and
/// "add_eos_token" for Llama's own classes, and "added_tokens_decoder". Appends tokens behind the vocabulary.
/// Errors: Fault::kData for a token that is not in the vocabulary, or an id that is another token's or leaves a hole.
void apply_tokenizer_config(const std::string& config, const std::filesystem::path& path, CausalParts& parts);

}  // namespace workloads
