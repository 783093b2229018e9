#include "workloads/text/bert_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

/// Unicode's White_Space property.
bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d);
  switch (category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return c == 0x85;
  }
}

/// Unassigned code points stay, so that an emoji newer than our Unicode tables is not lost.
bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS: return true;
    default: return false;
  }
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return is_ascii_punctuation(c);
  const auto found = category(c);
  return found >= UTF8PROC_CATEGORY_PC && found <= UTF8PROC_CATEGORY_PO;
}

struct Range {
  char32_t first, last;
};
/// The ideograph blocks of tokenization.py; Hangul, Hiragana and Katakana are written with spaces or not at all split.
constexpr std::array kIdeographs = {Range{0x4E00, 0x9FFF},   Range{0x3400, 0x4DBF},   Range{0x20000, 0x2A6DF},
                                    Range{0x2A700, 0x2B73F}, Range{0x2B740, 0x2B81F}, Range{0x2B820, 0x2CEAF},
                                    Range{0xF900, 0xFAFF},   Range{0x2F800, 0x2FA1F}};
bool is_ideograph(char32_t c) {
  return std::ranges::any_of(kIdeographs, [c](const Range& r) { return c >= r.first && c <= r.last; });
}

std::string clean_and_space(std::string_view text, const BertNormalizer& settings) {
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (settings.clean_text && (c == 0 || c == 0xFFFD || is_control(c))) continue;
    if (settings.clean_text && is_white_space(c)) {
      out += ' ';
    } else if (settings.handle_chinese_chars && is_ideograph(c)) {
      out += ' ';
      append_utf8(out, c);
      out += ' ';
    } else {
      append_utf8(out, c);
    }
  }
  return out;
}

std::string decompose(const std::string& text) {
  utf8proc_uint8_t* raw = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &raw, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner{raw, &std::free};
  base::ensure(size >= 0, "bert_text", "NFD failed on valid UTF-8");
  return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size)};
}

std::string without_accents(const std::string& text) {
  const std::string decomposed = decompose(text);
  std::string out;
  out.reserve(decomposed.size());
  for (std::size_t at = 0; at < decomposed.size();) {
    const char32_t c = next_code_point(decomposed, at);
    if (category(c) != UTF8PROC_CATEGORY_MN) append_utf8(out, c);
  }
  return out;
}

std::string lower_case(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == 0x130) {  // the only character whose lower case is two characters
      out += "i\xCC\x87";
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return out;
}

/// All that the steps above can do to ASCII.
std::string normalized_ascii(std::string_view text, const BertNormalizer& settings) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (settings.clean_text && c != '\t' && c != '\n' && c != '\r' && (c < 0x20 || c == 0x7f)) continue;
    if (settings.clean_text && c < 0x20) {
      out += ' ';
    } else {
      out += settings.lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    }
  }
  return out;
}

}  // namespace

std::string BertNormalizer::apply(std::string_view text) const {
  if (is_ascii(text)) return normalized_ascii(text, *this);
  std::string out = clean_and_space(text, *this);
  if (strip_accents.value_or(lowercase)) out = without_accents(out);
  return lowercase ? lower_case(out) : out;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > start) words.push_back(text.substr(start, end - start));
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    const char32_t c = static_cast<unsigned char>(text[at]) < 0x80 ? static_cast<unsigned char>(text[at++])
                                                                   : next_code_point(text, at);
    const bool punctuation = is_punctuation(c);
    if (!punctuation && !is_white_space(c)) continue;
    end_word(here);
    if (punctuation) words.push_back(text.substr(here, at - here));
    start = at;
  }
  end_word(text.size());
  return words;
}

}  // namespace workloads
