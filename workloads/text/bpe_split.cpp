#include "workloads/text/bpe_split.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "workloads/text/utf8.h"

namespace workloads {
namespace {

struct Regex {
  SplitPattern pattern;
  std::string_view text;
};
constexpr std::array kRegexes = {
    Regex{SplitPattern::kGpt2, R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Regex{SplitPattern::kLlama3, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                 R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Regex{SplitPattern::kOneDigit, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                   R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};

enum class CharKind : std::uint8_t { kLetter, kNumber, kBlank, kNewline, kOther };

/// The property White_Space; "\r" and "\n" are told apart.
bool is_split_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

CharKind kind_of(char32_t c) {
  if (c == '\r' || c == '\n') return CharKind::kNewline;
  if (is_split_space(c)) return CharKind::kBlank;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return CharKind::kLetter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return CharKind::kNumber;
  return CharKind::kOther;
}

/// A text as kinds of characters; each function returns where a match that starts at `at` ends, or `at` for none.
class Matcher {
 public:
  Matcher(SplitPattern pattern, std::string_view text) : pattern_{pattern}, text_{text} {
    kinds_.reserve(text.size());
    offsets_.reserve(text.size() + 1);
    for (std::size_t at = 0; at < text.size();) {
      offsets_.push_back(static_cast<std::uint32_t>(at));
      const auto byte = static_cast<unsigned char>(text[at]);
      kinds_.push_back(byte < 0x80 ? ascii()[byte] : kind_of(next_code_point(text, at)));
      if (byte < 0x80) ++at;
    }
    offsets_.push_back(static_cast<std::uint32_t>(text.size()));
  }

  std::vector<std::string_view> split() const {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < kinds_.size();) {
      const std::size_t end = pattern_ == SplitPattern::kGpt2 ? match_gpt2(at) : match_llama3(at);
      words.push_back(text_.substr(offsets_[at], offsets_[end] - offsets_[at]));
      at = end;
    }
    return words;
  }

 private:
  static const std::array<CharKind, 128>& ascii() {
    static const std::array<CharKind, 128> kinds = [] {
      std::array<CharKind, 128> made{};
      for (char32_t c = 0; c < made.size(); ++c) made[c] = kind_of(c);
      return made;
    }();
    return kinds;
  }

  bool is(std::size_t at, CharKind kind) const { return at < kinds_.size() && kinds_[at] == kind; }
  bool is_space(std::size_t at) const { return is(at, CharKind::kBlank) || is(at, CharKind::kNewline); }
  std::size_t run(std::size_t at, CharKind kind) const {
    while (is(at, kind)) ++at;
    return at;
  }

  std::size_t match_gpt2(std::size_t at) const {
    if (const std::size_t end = contraction(at, false); end > at) return end;
    const std::size_t word = text_[offsets_[at]] == ' ' && at + 1 < kinds_.size() ? at + 1 : at;  // " ?"
    for (const CharKind kind : {CharKind::kLetter, CharKind::kNumber, CharKind::kOther})
      if (is(word, kind)) return run(word, kind);
    return spaces(at);
  }

  std::size_t match_llama3(std::size_t at) const {
    if (const std::size_t end = contraction(at, true); end > at) return end;
    if (is(at, CharKind::kLetter)) return run(at, CharKind::kLetter);
    const bool joins = is(at, CharKind::kBlank) || is(at, CharKind::kOther);
    if (joins && is(at + 1, CharKind::kLetter)) return run(at + 1, CharKind::kLetter);
    if (is(at, CharKind::kNumber)) {
      const std::size_t most = pattern_ == SplitPattern::kOneDigit ? 1 : 3;
      return std::min(run(at, CharKind::kNumber), at + most);
    }
    const std::size_t other = text_[offsets_[at]] == ' ' ? at + 1 : at;
    if (is(other, CharKind::kOther)) return run(run(other, CharKind::kOther), CharKind::kNewline);
    std::size_t newline = at;  // behind the last one in this run of white space
    for (std::size_t i = at; is_space(i); ++i)
      if (is(i, CharKind::kNewline)) newline = i + 1;
    return newline > at ? newline : spaces(at);
  }

  /// "\s+(?!\S)|\s+": before a word the last blank is left to it.
  std::size_t spaces(std::size_t at) const {
    std::size_t end = at;
    while (is_space(end)) ++end;
    return end < kinds_.size() && end > at + 1 ? end - 1 : end;
  }

  std::size_t contraction(std::size_t at, bool any_case) const {
    if (text_[offsets_[at]] != '\'') return at;
    constexpr std::array<std::string_view, 7> kEnds = {"s", "t", "re", "ve", "m", "ll", "d"};
    for (const std::string_view end : kEnds) {
      std::size_t i = 0;
      while (i < end.size() && at + 1 + i < kinds_.size() && letter(at + 1 + i, any_case) == end[i]) ++i;
      if (i == end.size()) return at + 1 + i;
    }
    return at;
  }

  /// An ASCII letter, in lower case if asked; U+017F is an "s" when case is ignored. Other characters: 0.
  char letter(std::size_t at, bool any_case) const {
    const std::string_view c = text_.substr(offsets_[at], offsets_[at + 1] - offsets_[at]);
    if (any_case && c == "\u017f") return 's';
    if (c.size() != 1) return 0;
    return any_case && c[0] >= 'A' && c[0] <= 'Z' ? static_cast<char>(c[0] - 'A' + 'a') : c[0];
  }

  SplitPattern pattern_;
  std::string_view text_;
  std::vector<CharKind> kinds_;
  std::vector<std::uint32_t> offsets_;  // of the characters, in bytes; one more at the end
};

}  // namespace

std::optional<SplitPattern> split_pattern(std::string_view regex) {
  const auto at = std::ranges::find(kRegexes, regex, &Regex::text);
  return at == kRegexes.end() ? std::nullopt : std::optional{at->pattern};
}

std::vector<std::string> split_pattern_regexes() {
  std::vector<std::string> texts;
  for (const Regex& regex : kRegexes) texts.emplace_back(regex.text);
  return texts;
}

std::vector<std::string_view> split_by(SplitPattern pattern, std::string_view text) {
  return Matcher{pattern, text}.split();
}

}  // namespace workloads
