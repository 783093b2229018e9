#include "trnsim/run/tokenize.h"

#include "base/error.h"

namespace trnsim {

Tokens tokenize(const Tokenizer& tokenizer, std::string_view text, std::int64_t max_length, std::string_view where) {
  if (max_length < 0)
    throw base::Error{base::Fault::kUsage, "`max_length`", "is negative", "give 0 (never cut) or more"};
  Tokens out;
  out.ids = tokenizer.encode(text, static_cast<std::size_t>(max_length), where).ids;
  out.tokens = tokenizer.tokens(out.ids);
  return out;
}

}  // namespace trnsim
