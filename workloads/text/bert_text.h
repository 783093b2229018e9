// BERT's "basic tokenizer": from raw text to the words that WordPiece cuts up.
// Source: google-research/bert tokenization.py; Hugging Face tokenizers, normalizers/bert.rs, pre_tokenizers/bert.rs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

/// The fields of a BertNormalizer in tokenizer.json, with the values of the uncased models.
struct BertNormalizer {
  bool clean_text = true;               // drops control characters, U+0000 and U+FFFD; any white space becomes a blank
  bool handle_chinese_chars = true;     // blanks around every CJK ideograph
  std::optional<bool> strip_accents{};  // unset: as `lowercase`
  bool lowercase = true;

  /// `text` must be valid UTF-8. Lower case is taken character by character, as the fast tokenizers do: no final sigma.
  std::string apply(std::string_view text) const;
};

/// Splits at white space, which is dropped, and around every punctuation character, which is a word by itself. ASCII
/// characters other than letters, digits and blanks count as punctuation ("$", "^"). The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace workloads
