// The regular expressions with which byte-level tokenizers cut a text into words before merging.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"

namespace workloads {

/// GPT-2's, which the pre-tokenizer "ByteLevel" has built in. Source: openai/gpt-2, encoder.py.
inline constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// An expression of tokenizer.json, which is written for Oniguruma; `where` names the file. Errors: Fault::kData when
/// it is invalid.
base::Pattern split_pattern(std::string_view regex, std::string_view where = {});

/// Matches and the text between them, in order, which they cover; each next pattern cuts the pieces of
/// the one before. The views point into `text`, which must be valid UTF-8.
std::vector<std::string_view> split_by(const std::vector<base::Pattern>& patterns, std::string_view text);

}  // namespace workloads
