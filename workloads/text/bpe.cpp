#include "workloads/text/bpe.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <queue>

#include "base/error.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

constexpr std::string_view kBlankMark = "\u2581";  // SentencePiece's visible blank

bool prints(unsigned char byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::array<char32_t, 256> printable_table() {
  std::array<char32_t, 256> table{};
  char32_t next = 256;
  for (std::size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = prints(static_cast<unsigned char>(byte)) ? static_cast<char32_t>(byte) : next++;
  return table;
}

std::string composed(std::string_view text) {
  utf8proc_uint8_t* buffer = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &buffer, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  base::ensure(size >= 0, "tokenizer", "utf8proc refused valid UTF-8");
  std::string out{reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(size)};
  std::free(buffer);
  return out;
}

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

/// The byte that "<0x0A>" stands for.
std::optional<unsigned char> byte_of_fallback(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  const std::string digits{token.substr(3, 2)};
  if (digits.find_first_not_of("0123456789ABCDEF") != std::string::npos) return std::nullopt;
  return static_cast<unsigned char>(std::stoi(digits, nullptr, 16));
}

}  // namespace

char32_t printable_for(unsigned char byte) {
  static const std::array<char32_t, 256> table = printable_table();
  return table[byte];
}

std::string bytes_of_token(std::string_view token) {
  static const std::map<char32_t, char> bytes = [] {
    std::map<char32_t, char> made;
    for (int byte = 0; byte < 256; ++byte)
      made[printable_for(static_cast<unsigned char>(byte))] = static_cast<char>(byte);
    return made;
  }();
  std::string out;
  for (std::size_t at = 0; at < token.size();) {
    const auto found = bytes.find(next_code_point(token, at));
    if (found == bytes.end()) return std::string{token};
    out += found->second;
  }
  return out;
}

Bpe::Bpe(CausalParts parts, BpeStyle style, const std::vector<BpeMerge>& merges, std::string_view source)
    : CausalTokenizer{std::move(parts)}, style_{style} {
  index_pieces(source);
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    merges_.try_emplace(key_of(merges[rank].left, merges[rank].right),
                        Ranked{static_cast<std::int32_t>(rank), merges[rank].result});
}

void Bpe::index_pieces(std::string_view source) {
  byte_ids_.fill(-1);
  pieces_.reserve(vocab_size());
  for (std::size_t i = 0; i < vocab_size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const auto byte = style_.byte_level ? std::nullopt : byte_of_fallback(token(id));
    raw_.push_back(style_.byte_level ? bytes_of_token(token(id)) : token(id));
    if (byte) byte_ids_[*byte] = id;
    if (style_.byte_level && raw_.back().size() == 1) byte_ids_[static_cast<unsigned char>(raw_.back()[0])] = id;
    pieces_.try_emplace(raw_.back(), id);
  }
  const auto missing = std::ranges::find(byte_ids_, -1);
  if (missing == byte_ids_.end() || (!style_.byte_level && !style_.byte_fallback) || style_.unknown) return;
  throw base::Error{base::Fault::kData, source,
                    fmt::format("byte 0x{:02X} has no token, and there is no unknown token",
                                static_cast<unsigned>(missing - byte_ids_.begin())),
                    "use a vocabulary that holds all 256 bytes, or name its unk_token"};
}

std::string Bpe::prepared(std::string_view text, bool first) const {
  std::string out = style_.nfc ? composed(text) : std::string{text};
  const bool wanted =
      style_.prefix == BpeStyle::Prefix::kAlways || (style_.prefix == BpeStyle::Prefix::kFirst && first);
  const bool there = out.starts_with(' ') || (!style_.byte_level && out.starts_with(kBlankMark));
  if (wanted && !(style_.prefix_once && there)) out.insert(out.begin(), ' ');
  if (style_.byte_level) return out;
  std::string marked;
  for (const char c : out) {
    if (c == ' ')
      marked += kBlankMark;
    else
      marked += c;
  }
  return marked;
}

void Bpe::tokenize_plain(std::string_view text, bool first, std::vector<std::int32_t>& ids) const {
  const std::string whole = prepared(text, first);
  if (style_.byte_level && !style_.splits.empty()) {
    for (const std::string_view word : split_by(style_.splits, whole)) tokenize_word(word, ids);
  } else if (style_.split_at_blanks) {
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = std::min(whole.find(kBlankMark, at + 1), whole.size());
      tokenize_word(std::string_view{whole}.substr(at, end - at), ids);
      at = end;
    }
  } else {
    tokenize_word(whole, ids);
  }
}

void Bpe::tokenize_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (style_.ignore_merges) {
    if (const auto whole = pieces_.find(word); whole != pieces_.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  std::vector<std::int32_t> symbols;
  symbols.reserve(word.size());
  append_symbols(word, symbols);
  merge(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

void Bpe::append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const {
  bool after_unknown = false;
  const auto append_unknown = [&] {
    if (style_.unknown && !(after_unknown && style_.fuse_unknown)) symbols.push_back(*style_.unknown);
    after_unknown = true;
  };
  for (std::size_t at = 0; at < word.size();) {
    std::size_t end = at + 1;
    if (!style_.byte_level) next_code_point(word, end = at);
    const std::string_view character = word.substr(at, end - at);
    at = end;
    if (style_.byte_level) {
      const std::int32_t id = byte_ids_[static_cast<unsigned char>(character[0])];
      id < 0 ? append_unknown() : symbols.push_back(id);
      after_unknown = id < 0;
      continue;
    }
    const auto known = pieces_.find(character);
    const bool bytes = known == pieces_.end() && style_.byte_fallback && std::ranges::all_of(character, [this](char c) {
                         return byte_ids_[static_cast<unsigned char>(c)] >= 0;
                       });
    if (known == pieces_.end() && !bytes) {
      append_unknown();
      continue;
    }
    after_unknown = false;
    if (!bytes) symbols.push_back(known->second);
    for (const char c : bytes ? character : std::string_view{})
      symbols.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  }
}

const Bpe::Ranked* Bpe::merge_of(std::int32_t left, std::int32_t right) const {
  const auto at = merges_.find(key_of(left, right));
  return at == merges_.end() ? nullptr : &at->second;
}

/// The pair of lowest rank first, of equal ones the leftmost; a heap, so that a long text without words stays n log n.
void Bpe::merge(std::vector<std::int32_t>& symbols) const {
  struct Candidate {
    std::int32_t rank;
    std::uint32_t left, right;
    std::int32_t left_id, right_id;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };
  const auto size = static_cast<std::uint32_t>(symbols.size());
  std::vector<std::uint32_t> next(size), previous(size);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t left, std::uint32_t right) {
    if (const Ranked* found = merge_of(symbols[left], symbols[right]))
      queue.push({found->rank, left, right, symbols[left], symbols[right]});
  };
  for (std::uint32_t i = 0; i < size; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;  // of the first: never a place
    if (i + 1 < size) offer(i, i + 1);
  }
  constexpr std::int32_t kGone = -1;
  while (!queue.empty()) {
    const Candidate pair = queue.top();
    queue.pop();
    if (symbols[pair.left] != pair.left_id || symbols[pair.right] != pair.right_id || next[pair.left] != pair.right)
      continue;  // one of them was merged with another neighbour
    symbols[pair.left] = merge_of(pair.left_id, pair.right_id)->result;
    symbols[pair.right] = kGone;
    next[pair.left] = next[pair.right];
    if (next[pair.left] < size) {
      previous[next[pair.left]] = pair.left;
      offer(pair.left, next[pair.left]);
    }
    if (previous[pair.left] < size) offer(previous[pair.left], pair.left);
  }
  std::erase(symbols, kGone);
}

std::string Bpe::decode_plain(std::span<const std::int32_t> ids, bool first) const {
  std::string text;
  if (style_.byte_level) {
    for (const std::int32_t id : ids) text += raw_[static_cast<std::size_t>(id)];
    text = lossy_utf8(text);
  } else {
    text = decode_with_bytes(ids);
  }
  if (first && style_.strip_prefix && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

/// Neighbouring byte tokens make characters together; if they do not, each is U+FFFD.
std::string Bpe::decode_with_bytes(std::span<const std::int32_t> ids) const {
  std::string text, bytes;
  const auto flush = [&] {
    if (!first_invalid_utf8(bytes))
      text += bytes;
    else
      for (std::size_t i = 0; i < bytes.size(); ++i) append_utf8(text, 0xFFFD);
    bytes.clear();
  };
  for (const std::int32_t id : ids) {
    std::string_view piece = raw_[static_cast<std::size_t>(id)];
    if (const auto byte = style_.byte_fallback ? byte_of_fallback(piece) : std::nullopt) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    flush();
    for (std::size_t at = piece.find(kBlankMark); at != std::string_view::npos; at = piece.find(kBlankMark)) {
      text.append(piece.substr(0, at)).append(1, ' ');
      piece.remove_prefix(at + kBlankMark.size());
    }
    text += piece;
  }
  flush();
  return text;
}

}  // namespace workloads
