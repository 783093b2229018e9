// The words and numbers of the assembler text, with the place of each for errors. Used by asm_*.cpp only.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace isa::asm_text {

/// Whether a label needs no quotes after `;`: letters, digits and _ . : / - [ ] ( ) only.
bool is_plain_label(std::string_view label);

/// Reads one text from front to back. Blanks and `#` comments separate; a newline is a token of its own.
class Cursor {
 public:
  Cursor(std::string_view text, std::string_view source) : text_{text}, source_{source} {}

  /// The next character, after blanks and comments: '\n' at the end of a line, '\0' at the end of the text.
  char peek();
  bool at_end_of_line();
  /// Passes empty lines; false at the end of the text.
  bool next_line();
  void end_line();

  bool accept(std::string_view symbol);  // punctuation, or a whole word
  void expect(std::string_view symbol);
  /// [A-Za-z_][A-Za-z0-9_]*; `what` names it in the error.
  std::string_view word(std::string_view what);
  std::string_view peek_word();
  std::string string(std::string_view what);
  std::string_view plain_label();
  float float_number();
  double double_number();

  /// Decimal or 0x hexadecimal, within [low, high] of T.
  template <typename T>
  T integer(std::string_view what) {
    skip_blanks();
    const std::size_t begin = pos_;
    const bool negative = std::numeric_limits<T>::is_signed && accept("-");
    const std::uint64_t size = digits(what);
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + (negative ? 1 : 0);
    if (size > limit) fail_at(begin, std::string{what} + " is out of range", "write a smaller number");
    return static_cast<T>(negative ? 0 - size : size);
  }

  /// Errors point at the token read last.
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const { fail_at(token_, what, fix); }
  [[noreturn]] void fail_here(std::string_view what, std::string_view fix) const { fail_at(pos_, what, fix); }

 private:
  [[noreturn]] void fail_at(std::size_t pos, std::string_view what, std::string_view fix) const;
  void skip_blanks();
  std::uint64_t digits(std::string_view what);
  std::string_view number_text();
  unsigned char escaped();

  std::string_view text_;
  std::string_view source_;
  std::size_t pos_ = 0;
  std::size_t token_ = 0;
};

}  // namespace isa::asm_text
