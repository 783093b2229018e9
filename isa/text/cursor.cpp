#include "isa/text/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace isa::asm_text {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_label(char c) {
  return is_word(c) || (std::string_view{".:/-[]()"}.find(c) != std::string_view::npos);
}

}  // namespace

bool is_plain_label(std::string_view label) { return !label.empty() && std::ranges::all_of(label, is_label); }

void Cursor::fail_at(std::size_t pos, std::string_view what, std::string_view fix) const {
  const std::string_view before = text_.substr(0, std::min(pos, text_.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const auto newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? pos + 1 : pos - newline;
  throw base::Error{base::Fault::kProgram, fmt::format("{}:{}:{}", source_, line, column), what, fix};
}

void Cursor::skip_blanks() {
  while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r')) ++pos_;
  if (pos_ < text_.size() && text_[pos_] == '#') pos_ = std::min(text_.find('\n', pos_), text_.size());
}

char Cursor::peek() {
  skip_blanks();
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool Cursor::at_end_of_line() { return peek() == '\n' || peek() == '\0'; }

bool Cursor::next_line() {
  while (peek() == '\n') ++pos_;
  return pos_ < text_.size();
}

void Cursor::end_line() {
  if (!at_end_of_line()) fail_here("something follows that does not belong here", "put it on a line of its own");
}

bool Cursor::accept(std::string_view symbol) {
  skip_blanks();
  if (!text_.substr(pos_).starts_with(symbol)) return false;
  const std::size_t end = pos_ + symbol.size();
  if (is_word(symbol.back()) && end < text_.size() && is_word(text_[end])) return false;
  token_ = pos_;
  pos_ = end;
  return true;
}

void Cursor::expect(std::string_view symbol) {
  if (!accept(symbol)) fail_here(fmt::format("\"{}\" is missing", symbol), fmt::format("write \"{}\" here", symbol));
}

std::string_view Cursor::peek_word() {
  skip_blanks();
  std::size_t end = pos_;
  if (end < text_.size() && is_letter(text_[end]))
    while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(pos_, end - pos_);
}

std::string_view Cursor::word(std::string_view what) {
  const std::string_view found = peek_word();
  if (found.empty()) fail_here(fmt::format("{} is missing", what), fmt::format("write {} here", what));
  token_ = pos_;
  pos_ += found.size();
  return found;
}

std::string_view Cursor::plain_label() {
  skip_blanks();
  token_ = pos_;
  while (pos_ < text_.size() && is_label(text_[pos_])) ++pos_;
  if (pos_ == token_) fail_here("a label is missing", "write a label after \";\", or leave out the \";\"");
  return text_.substr(token_, pos_ - token_);
}

unsigned char Cursor::escaped() {
  const std::string_view rest = text_.substr(pos_);
  if (rest.starts_with('"') || rest.starts_with('\\')) return static_cast<unsigned char>(text_[pos_++]);
  unsigned value = 0;
  if (rest.starts_with('x') && rest.size() >= 3) {
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + 3, value, 16);
    if (error == std::errc{} && end == rest.data() + 3) {
      pos_ += 3;
      return static_cast<unsigned char>(value);
    }
  }
  fail_here("an escape must be \\\", \\\\ or \\xHH", "write the character as \\xHH");
}

std::string Cursor::string(std::string_view what) {
  skip_blanks();
  token_ = pos_;
  if (pos_ >= text_.size() || text_[pos_] != '"')
    fail_here(fmt::format("{} is missing", what), fmt::format("write {} in double quotes", what));
  std::string out;
  for (++pos_; pos_ < text_.size() && text_[pos_] != '\n';) {
    const char c = text_[pos_++];
    if (c == '"') return out;
    out += c == '\\' ? static_cast<char>(escaped()) : c;
  }
  fail("a string does not end on its line", "close it with a double quote");
}

std::uint64_t Cursor::digits(std::string_view what) {
  token_ = pos_;
  const bool hex = text_.substr(pos_).starts_with("0x");
  const char* const begin = text_.data() + pos_ + (hex ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) fail(fmt::format("{} is out of range", what), "write a smaller number");
  if (end == begin) fail(fmt::format("{} is missing", what), "write a whole number here, 12 or 0x0c");
  pos_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

std::string_view Cursor::number_text() {
  skip_blanks();
  token_ = pos_;
  while (pos_ < text_.size() &&
         (is_word(text_[pos_]) || std::string_view{"+-.:"}.find(text_[pos_]) != std::string_view::npos))
    ++pos_;
  return text_.substr(token_, pos_ - token_);
}

float Cursor::float_number() {
  const std::string_view text = number_text();
  const char* const last = text.data() + text.size();
  if (text.starts_with("nan:") && text.size() == 12) {
    std::uint32_t bits = 0;
    if (std::from_chars(text.data() + 4, last, bits, 16).ptr == last) return std::bit_cast<float>(bits);
  }
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || text.empty())
    fail(fmt::format("\"{}\" is not a number", text), "write a number such as 0.5, -1e-05, inf or nan:7fc00000");
  return value;
}

double Cursor::double_number() {
  const std::string_view text = number_text();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    fail(fmt::format("\"{}\" is not a number", text), "write a number such as 0.5 or 1e12");
  return value;
}

}  // namespace isa::asm_text
