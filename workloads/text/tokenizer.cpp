#include "workloads/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace workloads {
namespace {

/// How much of each text stays when both together may have `room` tokens. Source: Hugging Face tokenizers 0.13,
/// utils/truncation.rs, LongestFirst: the shorter is kept whole if it can be, else both get half.
std::pair<std::size_t, std::size_t> longest_first(std::size_t n1, std::size_t n2, std::size_t room) {
  if (n1 + n2 <= room) return {n1, n2};
  const bool swapped = n1 > n2;
  if (swapped) std::swap(n1, n2);
  n2 = n1 > room ? n1 : std::max(n1, room - n1);
  if (n1 + n2 > room) {
    n1 = room / 2;
    n2 = n1 + room % 2;
  }
  if (swapped) std::swap(n1, n2);
  return {n1, n2};
}

std::size_t room_for_text(std::size_t max_length, std::size_t added) {
  if (max_length > added) return max_length - added;
  throw base::Error{base::Fault::kUsage, "`max_length`",
                    fmt::format("is {}, but the special tokens alone take {}", max_length, added),
                    fmt::format("set it to {} or more", added + 1)};
}

}  // namespace

std::vector<std::int32_t> Encoding::attention_mask() const {
  std::vector<std::int32_t> mask(ids.size(), 0);
  std::fill_n(mask.begin(), length, 1);
  return mask;
}

Encoding Tokenizer::encode(std::string_view text, std::size_t max_length, std::string_view where) const {
  std::vector<std::int32_t> ids = tokenize(text, where);
  if (max_length > 0) ids.resize(std::min(ids.size(), room_for_text(max_length, added_tokens(false))));
  return with_special_tokens(ids, std::nullopt);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, std::size_t max_length,
                                std::string_view where) const {
  std::vector<std::int32_t> a = tokenize(first, where);
  std::vector<std::int32_t> b = tokenize(second, where);
  if (max_length > 0) {
    const auto [n1, n2] = longest_first(a.size(), b.size(), room_for_text(max_length, added_tokens(true)));
    a.resize(n1);
    b.resize(n2);
  }
  return with_special_tokens(a, b);
}

void Tokenizer::pad(Encoding& encoding, std::size_t length) const {
  base::ensure(encoding.ids.size() <= length, "tokenizer", "padding to less than the length");
  encoding.ids.resize(length, pad_id());
  encoding.token_types.resize(length, 0);
}

std::optional<std::int32_t> Tokenizer::mask_id() const {
  for (const char* name : {"[MASK]", "<mask>"})
    if (const auto ids = tokenize(name, "mask"); ids.size() == 1 && token(ids[0]) == name) return ids[0];
  return std::nullopt;
}

std::vector<std::string> Tokenizer::tokens(std::span<const std::int32_t> ids) const {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const std::int32_t id : ids) names.push_back(token(id));
  return names;
}

}  // namespace workloads
