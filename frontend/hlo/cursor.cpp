#include "frontend/hlo/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace trnsim::frontend::hlo {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// A token for an error: no more than its beginning, without signs that a terminal would obey.
std::string shown(std::string_view text) {
  if (text.empty()) return "the end of the text";
  std::string out = "\"";
  for (const char c : text.substr(0, 30)) {
    if (c == '\n') break;
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out + "\"";
}

}  // namespace

void Cursor::skip() {
  for (;;) {
    while (pos_ < text_.size() && is_blank(text_[pos_])) ++pos_;
    const std::string_view rest = text_.substr(pos_, 2);
    if (rest == "//") {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (rest == "/*") {
      const std::size_t end = text_.find("*/", pos_ + 2);
      pos_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

char Cursor::peek() {
  skip();
  return here();
}

bool Cursor::accept(std::string_view symbol) {
  skip();
  if (!text_.substr(pos_).starts_with(symbol)) return false;
  const std::size_t end = pos_ + symbol.size();
  if (is_word(symbol.back()) && symbol.back() != '-' && end < text_.size() && is_word(text_[end])) return false;
  pos_ = end;
  return true;
}

void Cursor::expect(std::string_view symbol) {
  if (!accept(symbol))
    fail(fmt::format("has {} where \"{}\" is expected", shown(text_.substr(pos_)), symbol), "correct the text there");
}

std::string_view Cursor::peek_word() {
  skip();
  std::size_t end = pos_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(pos_, end - pos_);
}

std::string_view Cursor::name(std::string_view what) {
  skip();
  if (here() == '%') ++pos_;
  const std::string_view word = here() == '\0' || is_blank(here()) ? std::string_view{} : peek_word();
  if (word.empty())
    fail(fmt::format("has {} where {} is expected", shown(text_.substr(pos_)), what), "correct the text there");
  pos_ += word.size();
  return word;
}

std::int64_t Cursor::integer(std::string_view what) {
  skip();
  std::int64_t value = 0;
  const char* begin = text_.data() + pos_;
  const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (problem != std::errc{} || end == begin)
    fail(fmt::format("has {} where {} is expected", shown(text_.substr(pos_)), what),
         "write a whole number of 64 bits");
  pos_ += static_cast<std::size_t>(end - begin);
  return value;
}

double Cursor::real(std::string_view what) {
  skip();
  double value = 0;
  const char* begin = text_.data() + pos_;
  const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (problem == std::errc::invalid_argument || end == begin)
    fail(fmt::format("has {} where {} is expected", shown(text_.substr(pos_)), what), "write a number");
  pos_ += static_cast<std::size_t>(end - begin);
  return value;
}

std::string_view Cursor::number_text() {
  skip();
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && !is_blank(text_[pos_]) && text_[pos_] != ',' && text_[pos_] != '}' &&
         text_[pos_] != ')') {
    // A NaN with its bits: nan(0x7fc1).
    if (text_[pos_] == '(') pos_ = std::min(text_.find(')', pos_), text_.size() - 1);
    ++pos_;
  }
  return text_.substr(begin, pos_ - begin);
}

std::string Cursor::quoted(std::string_view what) {
  skip();
  if (here() != '"')
    fail(fmt::format("has {} where {} in quotes is expected", shown(text_.substr(pos_)), what), "put it in quotes");
  std::string out;
  for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_) {
    if (text_[pos_] != '\\' || pos_ + 1 >= text_.size()) {
      out += text_[pos_];
      continue;
    }
    const char c = text_[++pos_];
    if (c >= '0' && c <= '7') {  // up to three octal digits
      int value = 0, digits = 0;
      for (; digits < 3 && here() >= '0' && here() <= '7'; ++digits, ++pos_) value = value * 8 + (here() - '0');
      --pos_;
      out += static_cast<char>(value);
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  if (here() != '"') fail(fmt::format("{} has no closing quote", what), "close it");
  ++pos_;
  return out;
}

std::string_view Cursor::balanced(char open, char close) {
  skip();
  const std::size_t begin = pos_;
  std::int64_t depth = 0;
  for (; pos_ < text_.size(); ++pos_) {
    const char c = text_[pos_];
    if (c == '"') {
      for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_) pos_ += text_[pos_] == '\\' ? 1 : 0;
    } else if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      ++pos_;
      return text_.substr(begin, pos_ - begin);
    }
  }
  pos_ = std::min(pos_, text_.size());
  fail(fmt::format("a \"{}\" is never closed", open), "close it");
}

std::uint32_t Cursor::line() {
  skip();
  return line_here();
}

std::uint32_t Cursor::line_here() {
  if (counted_ > pos_) counted_ = 0, line_ = 1;
  const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(counted_);
  line_ += static_cast<std::uint32_t>(std::count(begin, text_.begin() + static_cast<std::ptrdiff_t>(pos_), '\n'));
  counted_ = pos_;
  return line_;
}

std::string Cursor::where() { return fmt::format("{}:{}", file_, line_here()); }

void Cursor::fail(std::string_view what, std::string_view fix) {
  throw base::Error{base::Fault::kData, where(), what, fix};
}

}  // namespace trnsim::frontend::hlo
