// The regular expressions with which byte-level tokenizers cut a text into words before merging, written out by hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

enum class SplitPattern {
  kGpt2,      // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  kLlama3,    // (?i:'s|...)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  kOneDigit,  // the same with \p{N}: Qwen 2
};

/// The pattern that is written so in tokenizer.json, if it is one of the above.
std::optional<SplitPattern> split_pattern(std::string_view regex);
/// All of them as written there, for error messages.
std::vector<std::string> split_pattern_regexes();

/// The matches, which cover the text; the views point into it. `text` must be valid UTF-8.
std::vector<std::string_view> split_by(SplitPattern pattern, std::string_view text);

}  // namespace workloads
