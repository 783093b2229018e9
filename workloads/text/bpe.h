// Byte-pair encoding: a word's pieces are merged, the most frequent pair of the training text first.
// Source: Sennrich et al., arXiv:1508.07909; Hugging Face tokenizers, models/bpe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workloads/text/bpe_split.h"
#include "workloads/text/causal_tokenizer.h"

namespace workloads {

/// How text becomes pieces and pieces text again.
struct BpeStyle {
  enum class Prefix { kNever, kFirst, kAlways };  // a blank put in front: at the start of a text, or of every part

  bool byte_level = true;  // GPT-2: pieces are bytes, written as printable characters. Else Llama 2: blanks are U+2581
  std::vector<base::Pattern> splits{};  // byte-level: each cuts the words of the one before; none: the text is one word
  bool split_at_blanks = false;         // not byte-level: every U+2581 begins a word
  Prefix prefix = Prefix::kNever;
  bool prefix_once = false;    // no blank is put in front of one
  bool strip_prefix = false;   // decoding takes one blank away from the front
  bool nfc = false;            // text is normalised to composed characters first
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges would make of it
  bool byte_fallback = false;  // a character without token becomes its bytes, "<0x0A>"
  bool fuse_unknown = false;   // neighbouring unknown characters are one unknown token
  std::optional<std::int32_t> unknown{};
};

/// Two neighbours that become one; the place in the list is the rank, the first is merged first.
struct BpeMerge {
  std::int32_t left = 0, right = 0, result = 0;
};

class Bpe final : public CausalTokenizer {
 public:
  /// `source` names the file in errors. Errors: Fault::kData when a byte has neither a token nor an unknown token.
  Bpe(CausalParts parts, BpeStyle style, const std::vector<BpeMerge>& merges, std::string_view source);

 protected:
  void tokenize_plain(std::string_view text, bool first, std::vector<std::int32_t>& ids) const override;
  std::string decode_plain(std::span<const std::int32_t> ids, bool first) const override;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Ranked {
    std::int32_t rank = 0, result = 0;
  };

  void index_pieces(std::string_view source);
  std::string prepared(std::string_view text, bool first) const;
  void tokenize_word(std::string_view word, std::vector<std::int32_t>& ids) const;
  void append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const;
  void merge(std::vector<std::int32_t>& symbols) const;
  const Ranked* merge_of(std::int32_t left, std::int32_t right) const;
  std::string decode_with_bytes(std::span<const std::int32_t> ids) const;

  BpeStyle style_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> pieces_;  // as bytes of text
  std::array<std::int32_t, 256> byte_ids_{};                                     // -1: none
  std::vector<std::string> raw_;                                                 // bytes of each token
  std::unordered_map<std::uint64_t, Ranked> merges_;
};

/// GPT-2's printable stand-in for a byte, and back. Source: openai/gpt-2, encoder.py, bytes_to_unicode().
char32_t printable_for(unsigned char byte);
/// The bytes of a byte-level token; the token itself when it holds a character that stands for no byte.
std::string bytes_of_token(std::string_view token);

}  // namespace workloads
