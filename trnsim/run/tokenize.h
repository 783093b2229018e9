// Texts as the tokens that a model sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/text/tokenizer.h"

namespace trnsim {

using workloads::load_tokenizer, workloads::Tokenizer;

struct Tokens {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> ids;
};

/// With the tokenizer's special tokens, cut to `max_length` (0: never). `where` names the text in errors (file:line).
/// Errors: as Tokenizer::encode().
Tokens tokenize(const Tokenizer& tokenizer, std::string_view text, std::int64_t max_length = 0,
                std::string_view where = "text");

}  // namespace trnsim
