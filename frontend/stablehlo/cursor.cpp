#include "frontend/stablehlo/cursor.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace trnsim::frontend::stablehlo {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
constexpr int kDeepest = 200;

}  // namespace

Cursor::Deeper::Deeper(Cursor& in) : in_{in} {
  if (++in_.depth_ > kDeepest) in_.fail(fmt::format("more than {} brackets are open", kDeepest));
}

void Cursor::skip_blanks_and_comments() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_, ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

char Cursor::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

void Cursor::skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

bool Cursor::at(std::string_view what) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(what)) return false;
  const std::size_t end = at_ + what.size();
  return !in_word(what.back()) || end >= text_.size() || !in_word(text_[end]);
}

bool Cursor::accept(std::string_view what) {
  if (!at(what)) return false;
  at_ += what.size();
  return true;
}

void Cursor::expect(std::string_view what) {
  if (!accept(what)) fail(fmt::format("expected \"{}\" at {}", what, here()));
}

std::string_view Cursor::word() {
  skip_blanks();
  const std::size_t begin = at_;
  if (at_ < text_.size() && is_letter(text_[at_]))
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view Cursor::name() {
  const std::size_t begin = at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    skip_quoted();
    return text_.substr(begin + 1, at_ - begin - 2);
  }
  while (at_ < text_.size() && (in_word(text_[at_]) || text_[at_] == '-')) {
    if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') break;
    ++at_;
  }
  if (at_ == begin) fail("expected a name at " + here());
  return text_.substr(begin, at_ - begin);
}

void Cursor::skip_quoted() {
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] == '\\') ++at_;
  }
  if (at_ >= text_.size()) {
    at_ = text_.size();
    fail("a quoted text does not end");
  }
  ++at_;
}

std::string Cursor::quoted() {
  if (peek() != '"') fail("expected quoted text at " + here());
  const std::size_t begin = at_ + 1;
  skip_quoted();
  return std::string{text_.substr(begin, at_ - begin - 1)};
}

std::string_view Cursor::number() {
  skip_blanks();
  const std::size_t begin = at_;
  if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
  if (at_ >= text_.size() || !is_digit(text_[at_])) {
    at_ = begin;
    fail("expected a number at " + here());
  }
  const bool hexadecimal = text_.substr(at_).starts_with("0x");
  while (at_ < text_.size()) {
    const char c = text_[at_], before = text_[at_ - (at_ > 0 ? 1 : 0)];
    const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && !hexadecimal;
    const bool letter = hexadecimal ? is_letter(c) : (c == 'e' || c == 'E');
    if (!is_digit(c) && c != '.' && !letter && !sign) break;
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

std::int64_t Cursor::integer() {
  const std::string_view text = number();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) fail(fmt::format("{} is not an integer", text));
  return value;
}

std::string_view Cursor::bracketed() {
  skip_blanks();
  const std::size_t begin = at_;
  int depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == '"') {
      skip_quoted();
      --at_;
    } else if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == '>' && (at_ == 0 || text_[at_ - 1] != '-')) || c == ')' || c == ']' || c == '}') {
      if (--depth == 0) {
        ++at_;
        return text_.substr(begin, at_ - begin);
      }
    }
  }
  fail("a bracket does not end");
}

std::string Cursor::where() const { return fmt::format("{}:{}", file_, line_); }

std::string Cursor::here() {
  skip_blanks();
  if (at_ >= text_.size()) return "the end";
  const std::string_view rest = text_.substr(at_, 24);
  return fmt::format("\"{}\"", rest.substr(0, rest.find('\n')));
}

void Cursor::fail(const std::string& what) const {
  throw base::Error{base::Fault::kData, where(), what, "write the program as StableHLO's text forms do"};
}

}  // namespace trnsim::frontend::stablehlo
